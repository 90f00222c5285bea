"""What transformers' own `apply_chat_template` gives for an `apply` of the protocol; port.py asks it.

    call({"template": "{{ tools }}", "messages": [{}]}, False)   # {"output": "None"}

It needs transformers 5.23.0, no torch and no model: the tokenizer is the base class, with the template and the special
tokens of the request. Where spans are asked for, the tokenizing path is taken up to the place where the text would be
tokenized; what it had rendered until then is the answer. The only thing that is put in the reference's way is its clock.
"""

import sys

from transformers import tokenization_utils_base as base
from transformers.utils import chat_template_utils

# What the seven attributes of a tokenizer are called; a token of another name is one of the model's own.
STANDARD = set(base.PreTrainedTokenizerBase.SPECIAL_TOKENS_ATTRIBUTES)

# The arguments of the call that a request may give, under the same names.
PASSED = ("tools", "documents", "add_generation_prompt", "continue_final_message")


class Rendered(Exception):
    """Stops the tokenizing path where it would tokenize, with what was rendered until then."""


class Tokenizer(base.PreTrainedTokenizerBase):
    """The base class, which has no vocabulary to tokenize with."""

    def __call__(self, text, **options):
        # The spans are known to the caller alone, until there are tokens.
        raise Rendered(text, sys._getframe(1).f_locals["generation_indices"])


class Datetime:
    """Stands for the class `datetime` in the reference's module, where nothing but `now` is asked of it."""

    def __init__(self, clock):
        self.now = clock.now


def follow(clock):
    """Puts a clock in the place of the system's."""
    chat_template_utils.datetime = Datetime(clock)


def tokenizer_of(request):
    tokens = request.get("special_tokens") or {}
    named = {name: token for name, token in tokens.items() if name in STANDARD}
    others = {name: token for name, token in tokens.items() if name not in STANDARD and token is not None}
    if others:
        named["extra_special_tokens"] = others
    return Tokenizer(chat_template=request["template"], **named)


def call(request, wants_spans):
    """What `apply_chat_template` gives for a request."""
    tokenizer = tokenizer_of(request)
    arguments = {name: request[name] for name in PASSED if name in request}
    arguments |= {"chat_template": request.get("template_name"), **(request.get("variables") or {})}
    if not wants_spans:
        return {"output": tokenizer.apply_chat_template(request["messages"], tokenize=False, **arguments)}
    try:
        tokenizer.apply_chat_template(request["messages"], return_assistant_tokens_mask=True, **arguments)
    except Rendered as rendered:
        text, [spans] = rendered.args
        return {"output": text, "generation": spans}
