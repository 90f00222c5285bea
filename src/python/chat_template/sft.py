"""Tokens and labels for supervised fine-tuning.

    dataset = dataset.map(sft.tokenize(template, tokenizer, max_length=4096), batched=True, remove_columns=dataset.column_names)
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ._native import ChatTemplate, Options, Prompt

__all__ = ["NO_LABEL", "tokenize"]

NO_LABEL = -100
"""The label of a token that is not trained, which PyTorch ignores."""


def tokenize(
    template: ChatTemplate,
    tokenizer: Any,
    *,
    roles: Sequence[str] = ("assistant",),
    reasoning: bool = True,
    last_turn_only: bool = False,
    end_token: bool = True,
    max_length: int | None = None,
    verdict_column: str | None = "verdict",
) -> _Tokenize:
    """Returns a function for `datasets.Dataset.map(batched=True)`.

    A row has `messages`, or `prompt` and `completion`, of which only the completion is trained; and it can have `tools` and
    `chat_template_kwargs`. The result has `input_ids`, `attention_mask` and `labels`, which are -100 outside of what the model writes.

    `tokenizer` is a `tokenizers.Tokenizer`, or a tokenizer of transformers that is based on one. A row of more than `max_length` tokens
    ends where a turn ends. The verdict of a row says what is wrong with it, and is empty if nothing is. Without a column for verdicts, a row
    that cannot be read or rendered raises its exception; with one, it has no tokens, and the other rows are as they would be without it.
    """
    options = Options(roles=list(roles), reasoning=reasoning, last_turn_only=last_turn_only, end_token=end_token)
    arguments = {"roles": list(roles), "reasoning": reasoning, "last_turn_only": last_turn_only, "end_token": end_token}
    return _Tokenize(template, tokenizer, options, arguments, max_length, verdict_column)


class _Tokenize:
    def __init__(self, template, tokenizer, options, arguments, max_length, verdict_column):
        self.template = template
        self.tokenizer = tokenizer
        self.options = options
        self.arguments = arguments
        self.max_length = max_length
        self.verdict_column = verdict_column

    # `datasets` pickles the function, to start processes and to name its cache.
    def __getstate__(self):
        return {key: value for key, value in self.__dict__.items() if key != "options"}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.options = Options(**self.arguments)

    def __call__(self, batch: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
        rows = _read_rows(batch)
        rendered = iter(self.template._render_rows([row[:3] for row in rows if not isinstance(row, Exception)], self.options))
        results = [row if isinstance(row, Exception) else next(rendered) for row in rows]
        encodings = iter(self._encode([result.text for result in results if isinstance(result, Prompt)]))
        out: dict[str, list[Any]] = {"input_ids": [], "attention_mask": [], "labels": []}
        verdicts = []
        for row, result in zip(rows, results):
            try:
                if not isinstance(result, Prompt):
                    raise result
                ids, labels, verdict = self._label(result, next(encodings), row)
            except Exception as error:
                if self.verdict_column is None:
                    raise
                ids, labels, verdict = [], [], [f"error: {error}"]
            out["input_ids"].append(ids)
            out["attention_mask"].append([1] * len(ids))
            out["labels"].append(labels)
            verdicts.append("; ".join(verdict))
        if self.verdict_column is not None:
            out[self.verdict_column] = verdicts
        return out

    def _encode(self, texts: list[str]) -> list[Any]:
        """Returns the encoding of each text, or the exception of a text that the tokenizer does not take."""
        backend = getattr(self.tokenizer, "backend_tokenizer", self.tokenizer)
        if not hasattr(backend, "encode_batch"):
            raise TypeError(f"the tokenizer is of type {type(self.tokenizer).__name__}, and must be based on `tokenizers`")
        truncation, padding = backend.truncation, backend.padding
        backend.no_truncation()
        backend.no_padding()
        try:
            return backend.encode_batch(texts, add_special_tokens=False)
        except Exception as error:
            return [error] if len(texts) == 1 else [encoding for text in texts for encoding in self._encode([text])]
        finally:
            if truncation is not None:
                backend.enable_truncation(**truncation)
            if padding is not None:
                backend.enable_padding(**padding)

    def _label(self, prompt: Prompt, encoding: Any, row: tuple[Any, Any, Any, int]) -> tuple[list[int], list[int], list[str]]:
        if isinstance(encoding, Exception):
            raise encoding
        messages, _, _, first = row
        ids = encoding.ids
        verdict = []
        for message, reason in prompt.unknown_turns:
            if message is None or message >= first:
                verdict.append(f"mask unknown{'' if message is None else f' at message {message}'}: {reason}")
        verdict += [f"message {message} not in the prompt" for message in prompt._missing(len(messages))]
        bos = self._special_id("bos")
        if bos is not None and bos != self._special_id("eos") and ids.count(bos) > 1:
            verdict.append("a second BOS")
        labels = [NO_LABEL] * len(ids)
        for start, end in prompt._spans_from(first):
            tokens = _find_tokens(encoding, len(ids), start, end)
            labels[tokens] = ids[tokens]
        if self.max_length is not None and len(ids) > self.max_length:
            length = self._find_cut(prompt, encoding, len(ids))
            if length:
                verdict.append(f"cut to {length} of {len(ids)} tokens")
                ids, labels = ids[:length], labels[:length]
            else:
                verdict.append(f"no turn ends within {self.max_length} tokens")
                ids, labels = ids[: self.max_length], [NO_LABEL] * self.max_length
        return ids, labels, verdict

    def _special_id(self, name: str) -> int | None:
        own = getattr(self.tokenizer, f"{name}_token_id", None)
        if own is not None:
            return own
        token = self.template.special_tokens.get(f"{name}_token")
        backend = getattr(self.tokenizer, "backend_tokenizer", self.tokenizer)
        return None if token is None else backend.token_to_id(token)

    def _find_cut(self, prompt: Prompt, encoding: Any, count: int) -> int:
        """Returns the number of tokens up to the last end of a turn within the greatest length, or 0."""
        offsets = encoding.offsets
        found = length = 0
        for end in prompt._turn_ends():
            while length < count and offsets[length][1] <= end:
                length += 1
            if length > self.max_length:
                break
            found = length
        return found


def _read_rows(batch: Mapping[str, Sequence[Any]]) -> list[tuple[Any, Any, Any, int] | Exception]:
    """Returns of each row the messages, tools and variables, and the index of the first message that can be trained; or why it has none."""
    names = ["messages"] if "messages" in batch else ["prompt", "completion"]
    if not all(name in batch for name in names):
        raise ValueError("a row has neither `messages` nor `prompt` and `completion`")
    nothing = [None] * len(batch[names[0]])
    extra = (batch.get("tools", nothing), batch.get("chat_template_kwargs", nothing))
    return [_read_row(parts, tools, variables) for *parts, tools, variables in zip(*(batch[name] for name in names), *extra)]


def _read_row(parts: list[Any], tools: Any, variables: Any) -> tuple[Any, Any, Any, int] | Exception:
    try:
        messages, first = (parts[0], 0) if len(parts) == 1 else ([*parts[0], *parts[1]], len(parts[0]))
        return messages, _read_json(tools), _read_json(variables), first
    except Exception as error:
        return error


def _read_json(value: Any) -> Any:
    """Reads a column that can be JSON text, because the rows of a data set must have the same keys."""
    return json.loads(value) if isinstance(value, str) else value


def _find_tokens(encoding: Any, count: int, start: int, end: int) -> slice:
    """Returns the tokens that overlap a span. The tokens are found by characters, because the list of all offsets is slow to make."""
    first = next((token for at in range(start, end) if (token := encoding.char_to_token(at)) is not None), None)
    if first is None:
        return slice(0, 0)
    last = next(token for at in range(end - 1, start - 1, -1) if (token := encoding.char_to_token(at)) is not None)
    # Several tokens can have the bytes of one character.
    while last + 1 < count and (span := encoding.token_to_chars(last + 1)) is not None and span[0] < end and span[1] > start:
        last += 1
    while first > 0 and (span := encoding.token_to_chars(first - 1)) is not None and span[1] > start and span[0] < end:
        first -= 1
    return slice(first, last + 1)
