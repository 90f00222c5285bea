"""Tokens and labels for training.

    dataset = dataset.map(sft.tokenize(template, tokenizer, max_length=4096), batched=True, remove_columns=dataset.column_names)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ._native import ChatTemplate, Options, TemplateError

__all__ = ["NO_LABEL", "tokenize"]

NO_LABEL = -100
"""The label of a token that is not trained, which PyTorch ignores."""

_COLUMNS = (
    *("messages", "conversations", "conversation", "prompt", "completion", "chosen", "rejected", "instruction", "input", "output"),
    *("system", "history", "tools", "functions", "documents", "chat_template_kwargs"),
)


def tokenize(
    template: ChatTemplate,
    tokenizer: Any,
    *,
    format: Literal["messages", "sharegpt", "alpaca"] | None = None,
    roles: Sequence[str] = ("assistant",),
    reasoning: bool = True,
    last_turn_only: bool = False,
    end_token: bool = True,
    content_only: bool = False,
    trailing_space: bool = False,
    next_marker: bool | None = None,
    control_tokens: Literal["leave", "refuse", "split"] = "leave",
    remove_null: bool = True,
    json_arguments: bool = False,
    max_length: int | None = None,
    truncate: Literal["turn", "token", "never"] = "turn",
    packing: bool = False,
    verdict_column: str | None = "verdict",
) -> _Tokenize:
    """Returns a function for `datasets.Dataset.map`, with or without `batched=True`.

    A row has `messages`, or `prompt` and `completion`, of which only the completion is trained, each as messages or as text. It can be in
    the format of ShareGPT or Alpaca, which the first row of a batch shows. It can have `tools`, `documents` and `chat_template_kwargs`,
    also as JSON text. The result has `input_ids`, `attention_mask` and `labels`, which are -100 outside of what the model writes.

    - With `chosen` and `rejected`, the result has `prompt_ids`, `chosen_ids` and `rejected_ids`, as TRL's DPOTrainer makes them.
    - With `prompt` alone, it has `input_ids` and `attention_mask` of the prompt, which ends with the beginning of the answer.

    `tokenizer` is a `tokenizers.Tokenizer`, or a tokenizer of transformers that is based on one. `roles` to `next_marker` say which text is
    trained: by default, the line break after the end token is not, and `trailing_space` trains it. If the template writes the end token with
    the next message, as `inspect` finds out, that token is trained unless `next_marker` is false. `control_tokens` says what happens
    if the row writes one: "split" makes ordinary text of it. `remove_null` removes the keys that `datasets` has filled with null, and
    `json_arguments` reads the arguments of calls that are JSON text.

    A row of more than `max_length` tokens is cut where a turn ends, at that token, or never. With `packing`, rows of a batch are
    put together, as long as they have at most `max_length` tokens; `position_ids` and `seq_lengths` say where each row begins. It needs
    `batched=True`, and `remove_columns`.

    The verdict of a row is empty, or says what is wrong. It begins with `error: ` if the row has nothing to train, and with `warning: ` if
    it can be trained. Without a column for verdicts, a row that cannot be read or rendered raises its exception; with one, it has no tokens,
    and the other rows are as they would be without it.
    """
    if truncate not in ("turn", "token", "never"):
        raise ValueError(f'truncate is {truncate!r}, and must be "turn", "token" or "never"')
    if packing and max_length is None:
        raise ValueError("packing needs max_length")
    if max_length is not None and not isinstance(max_length, int):
        raise TypeError(f"max_length is of type {type(max_length).__name__}, and must be an int or None")
    _find_backend(tokenizer)
    if next_marker is None:
        next_marker = end_token and not content_only and _writes_end_late(template)
    options = Options(
        roles=list(roles),
        reasoning=reasoning,
        last_turn_only=last_turn_only,
        end_token=end_token,
        content_only=content_only,
        trailing_space=trailing_space,
        next_marker=next_marker,
        control_tokens=control_tokens,
    )
    reading = {"format": format, "remove_null": remove_null, "json_arguments": json_arguments}
    return _Tokenize(template, tokenizer, options, reading, (max_length, truncate, packing), verdict_column)


class _Tokenize:
    def __init__(self, template, tokenizer, options, reading, length, verdict_column):
        self.template = template
        self.tokenizer = tokenizer
        self.options = options
        self.reading = reading
        self.max_length, self.truncate, self.packing = length
        self.verdict_column = verdict_column

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        if not isinstance(batch, Mapping):
            raise TypeError(f"the rows are of type {type(batch).__name__}, and must be a dict of columns, as `datasets` passes them")
        columns = {name: batch[name] for name in _COLUMNS if name in batch}
        is_batch = _is_batch(batch, columns)
        rows = [dict(zip(columns, values)) for values in zip(*columns.values())] if is_batch else [columns]
        results = self.template._render_rows(rows, self.options, **self.reading)
        encodings = iter(self._encode([answer for result in results if isinstance(result, list) for answer in result]))
        out: list[dict[str, Any]] = []
        for result in results:
            encoded = [next(encodings) for _ in result] if isinstance(result, list) else []
            out.append(self._make_row(result, encoded, columns))
        if self.packing and is_batch:
            out = self._pack(out)
        names = out[0] if out else self._empty(columns)
        return {name: [row[name] for row in out] for name in names} if is_batch else out[0]

    def _empty(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """Returns a row without tokens, whose keys are those of all rows."""
        if "chosen" in columns and "rejected" in columns:
            names = ["prompt_ids", "chosen_ids", "rejected_ids"]
        elif "prompt" in columns and not {"messages", "completion"} & set(columns):
            names = ["input_ids", "attention_mask"]
        else:
            names = ["input_ids", "attention_mask", "labels"]
        verdict = {} if self.verdict_column is None else {self.verdict_column: ""}
        return {name: [] for name in names} | verdict

    def _make_row(self, result: Any, encodings: list[Any], columns: Mapping[str, Any]) -> dict[str, Any]:
        row, verdict = self._empty(columns), []
        try:
            for fault in (result, *encodings):
                if isinstance(fault, Exception):
                    raise fault
            answers = [_Tokens(answer, encoding) for answer, encoding in zip(result, encodings)]
            for answer in answers:
                verdict += [text for text in answer.verdict if text not in verdict]
            if len(answers) == 2:
                self._split_pair(row, answers, verdict)
            elif "labels" in row:
                self._cut(answers[0], verdict)
                row["labels"] = answers[0].labels
            if "input_ids" in row:
                row |= {"input_ids": answers[0].ids, "attention_mask": [1] * len(answers[0].ids)}
        except Exception as error:
            if self.verdict_column is None:
                raise
            row, verdict = self._empty(columns), [f"error: {error}"]
        if self.verdict_column is not None:
            row[self.verdict_column] = "; ".join(sorted(verdict, key=lambda text: text.startswith("warning")))
        return row

    def _encode(self, answers: list[Any]) -> list[Any]:
        """Returns the encoding of each answer, or the exception of one that the tokenizer does not take."""
        backend = _find_backend(self.tokenizer)
        truncation, padding = backend.truncation, backend.padding
        backend.no_truncation()
        backend.no_padding()
        try:
            encodings = _encode_all(backend, [answer[0] for answer in answers])
            for index, (*_, pieces, _) in enumerate(answers):
                if pieces and not isinstance(encodings[index], Exception):
                    encodings[index] = _Joined(backend, pieces)
            return encodings
        finally:
            if truncation is not None:
                backend.enable_truncation(**truncation)
            if padding is not None:
                backend.enable_padding(**padding)

    def _cut(self, tokens: _Tokens, verdict: list[str]) -> None:
        """Cuts a row of too many tokens."""
        count, most = len(tokens.ids), self.max_length
        if most is None or count <= most:
            return
        if self.truncate == "never":
            verdict.append(f"warning: {count} tokens, more than {most}")
            return
        kept = most if self.truncate == "token" else tokens.find_cut(most)
        del tokens.ids[kept or most :], tokens.labels[kept or most :]
        if not kept:
            tokens.labels = [NO_LABEL] * most
            verdict.append(f"error: no turn ends within {most} of {count} tokens")
        elif set(tokens.labels) == {NO_LABEL}:
            verdict.append(f"error: nothing is trained within {kept} of {count} tokens")
        else:
            verdict.append(f"warning: cut to {kept} of {count} tokens")

    def _split_pair(self, row: dict[str, Any], answers: list[_Tokens], verdict: list[str]) -> None:
        """Splits two answers from their prompt, which ends where an answer begins or the two differ."""
        chosen, rejected = answers
        same = next((at for at, pair in enumerate(zip(chosen.ids, rejected.ids)) if pair[0] != pair[1]), len(chosen.ids))
        end = min(same, *(answer.find_start() for answer in answers))
        row |= {"prompt_ids": chosen.ids[:end], "chosen_ids": chosen.ids[end:], "rejected_ids": rejected.ids[end:]}
        count = max(len(chosen.ids), len(rejected.ids))
        if chosen.ids == rejected.ids:
            verdict.append("error: the two answers are the same")
        elif self.max_length is not None and count > self.max_length:
            verdict.append(f"warning: {count} tokens, more than {self.max_length}")

    def _pack(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Puts rows together, the longest first, each where the least room is left. A row with an error stays alone."""
        if rows and "labels" not in rows[0]:
            raise ValueError("packing needs rows with an answer, and these are pairs or prompts alone")
        verdict = self.verdict_column
        packs: list[list[dict[str, Any]]] = []
        room: list[int] = []
        for row in sorted(rows, key=lambda row: -len(row["input_ids"])):
            length = len(row["input_ids"])
            is_alone = verdict is not None and row[verdict].startswith("error")
            fits = [index for index, left in enumerate(room) if left >= length and not is_alone]
            if fits:
                best = min(fits, key=room.__getitem__)
            else:
                best = len(packs)
                packs.append([])
                room.append(0 if is_alone else self.max_length)
            packs[best].append(row)
            room[best] -= length
        return [self._join(pack) for pack in packs]

    def _join(self, pack: list[dict[str, Any]]) -> dict[str, Any]:
        lengths = [len(row["input_ids"]) for row in pack]
        joined: dict[str, Any] = {name: [item for row in pack for item in row[name]] for name in pack[0] if name != self.verdict_column}
        joined |= {"position_ids": [at for length in lengths for at in range(length)], "seq_lengths": lengths}
        if self.verdict_column is not None:
            verdicts = dict.fromkeys(row[self.verdict_column] for row in pack)
            joined[self.verdict_column] = "; ".join(text for text in verdicts if text)
        return joined


class _Tokens:
    """The tokens of a prompt, and their labels."""

    def __init__(self, answer: tuple[Any, ...], encoding: Any):
        _, trained, self.ends, self.start, _, verdict = answer
        self.encoding = encoding
        self.ids = list(encoding.ids)
        self.labels = [NO_LABEL] * len(self.ids)
        self.verdict = [f"{'error' if is_error else 'warning'}: {text}" for is_error, text in verdict]
        for start, end in trained:
            tokens = _find_tokens(encoding, len(self.ids), start, end)
            self.labels[tokens] = self.ids[tokens]

    def find_start(self) -> int:
        """Returns the number of tokens before the answer."""
        if self.start is None:
            return next((at for at, label in enumerate(self.labels) if label != NO_LABEL), len(self.labels))
        return next((at for at, (_, end) in enumerate(self.encoding.offsets) if end > self.start), len(self.ids))

    def find_cut(self, most: int) -> int:
        """Returns the number of tokens up to the last end of a turn within a length, or 0."""
        offsets = self.encoding.offsets
        found = length = 0
        for end in self.ends:
            while length < len(offsets) and offsets[length][1] <= end:
                length += 1
            if length > most:
                break
            found = length
        return found


class _Joined:
    """The encodings of the pieces of a text. In some of them, control tokens are ordinary text."""

    def __init__(self, backend: Any, pieces: list[tuple[str, bool]]):
        self.ids: list[int] = []
        self.offsets: list[tuple[int, int]] = []
        before = backend.encode_special_tokens
        at = 0
        try:
            for text, has_control_tokens in pieces:
                backend.encode_special_tokens = not has_control_tokens
                # After a line break, no tokenizer inserts a space at the beginning of the piece.
                encoding = backend.encode(f"\n{text}" if at else text, add_special_tokens=False)
                shift = at - 1 if at else 0
                for token, (start, end) in zip(encoding.ids, encoding.offsets):
                    if start + shift >= at:
                        self.ids.append(token)
                        self.offsets.append((start + shift, end + shift))
                at += len(text)
        finally:
            backend.encode_special_tokens = before

    def char_to_token(self, at: int) -> int | None:
        return next((token for token, (start, end) in enumerate(self.offsets) if start <= at < end), None)

    def token_to_chars(self, token: int) -> tuple[int, int]:
        return self.offsets[token]


def _writes_end_late(template: ChatTemplate) -> bool:
    """Returns whether the template writes the token that ends an answer with the next message."""
    try:
        return any(finding["rule"] == "untrained-stop" for finding in template.inspect()["lint"])
    except TemplateError:
        return False


def _is_batch(batch: Mapping[str, Any], columns: Mapping[str, Any]) -> bool:
    """Returns whether a function of `map` gets many rows: each column is a list with the value of each row."""
    kind = type(batch).__name__
    if kind in ("LazyBatch", "LazyRow"):
        return kind == "LazyBatch"
    if not columns:
        raise ValueError("the rows have no `messages`, `prompt` or other column with a conversation")
    name, first = next(iter(columns.items()))
    if name == "instruction":
        return not isinstance(first, str)
    return isinstance(first, Sequence) and not isinstance(first, str) and not (first and isinstance(first[0], Mapping))


def _find_backend(tokenizer: Any) -> Any:
    """Returns the `tokenizers.Tokenizer` of a tokenizer."""
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if not hasattr(backend, "encode_batch"):
        raise TypeError(f"the tokenizer is of type {type(tokenizer).__name__}, and must be based on `tokenizers`")
    return backend


def _encode_all(backend: Any, texts: list[str]) -> list[Any]:
    try:
        return list(backend.encode_batch(texts, add_special_tokens=False))
    except Exception as error:
        return [error] if len(texts) == 1 else [encoding for text in texts for encoding in _encode_all(backend, [text])]


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
