"""Answers an `apply` request of the protocol by transformers' own `apply_chat_template`; port.py calls it.

    call({"template": "{{ tools }}", "messages": [{}]}, False)   # {"output": "None"}

It needs no torch and no model: the tokenizer is the base class, with the template and the special tokens of the request.
A request for spans takes the path that tokenizes, and stops it with an exception where the rendered text would be tokenized.
"""

import sys

from transformers import tokenization_utils_base as base

# The special tokens that every tokenizer has as attributes. A token of another name belongs to the model.
STANDARD = set(base.PreTrainedTokenizerBase.SPECIAL_TOKENS_ATTRIBUTES)

# The arguments of `apply_chat_template` that a request names as the call does.
PASSED = ("tools", "documents", "add_generation_prompt", "continue_final_message")


class Rendered(Exception):
    """Stops the path that tokenizes, and carries the rendered text and its spans."""


class Tokenizer(base.PreTrainedTokenizerBase):
    """The base class, which has no vocabulary."""

    def __call__(self, text, **options):
        # Before there are tokens, the spans are only in a local variable of the caller.
        raise Rendered(text, sys._getframe(1).f_locals["generation_indices"])


def tokenizer_of(request):
    tokens = request.get("special_tokens") or {}
    named = {name: token for name, token in tokens.items() if name in STANDARD}
    others = {name: token for name, token in tokens.items() if name not in STANDARD and token is not None}
    if others:
        named["extra_special_tokens"] = others
    return Tokenizer(chat_template=request["template"], **named)


def call(request, wants_spans):
    """The answer of `apply_chat_template` to a request."""
    tokenizer = tokenizer_of(request)
    arguments = {name: request[name] for name in PASSED if name in request}
    arguments |= {"chat_template": request.get("template_name"), **(request.get("variables") or {})}
    if not wants_spans:
        return {"output": tokenizer.apply_chat_template(request["messages"], tokenize=False, **arguments)}
    try:
        tokenizer.apply_chat_template(request["messages"], return_assistant_tokens_mask=True, **arguments)
    except Rendered as rendered:
        text, spans = rendered.args
        # A batch has a text and spans for each conversation.
        return {"output": text, "generation": spans if isinstance(text, list) else spans[0]}
