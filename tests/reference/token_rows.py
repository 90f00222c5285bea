#!/usr/bin/env python3
"""Answers the rows of `tests/tool/dataset/tokens.json` with transformers: the tokens and the labels of each.

    token_rows.py --write     # writes the answers
    token_rows.py --check     # fails if an answer differs

The template has `{% generation %}` blocks, so the reference has a mask of its own.
"""

import json
import pathlib
import sys

from transformers import PreTrainedTokenizerFast

TESTS = pathlib.Path(__file__).resolve().parent.parent
CASES = TESTS / "tool/dataset/tokens.json"


def main():
    cases = json.loads(CASES.read_text(encoding="utf-8"))
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(TESTS / "outside/tokenizers/tokenizer.json"))
    before = json.dumps(cases)
    for row in cases["rows"]:
        answer = tokenizer.apply_chat_template(
            row["messages"], chat_template=cases["template"], return_dict=True, return_assistant_tokens_mask=True
        )
        ids, mask = answer["input_ids"], answer["assistant_masks"]
        row["input_ids"] = ids
        row["labels"] = [token if is_marked else -100 for token, is_marked in zip(ids, mask, strict=True)]
    if sys.argv[1:] == ["--write"]:
        lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in cases["rows"])
        CASES.write_text(f'{{"template": {json.dumps(cases["template"])},\n"rows": [\n{lines}\n]}}\n', encoding="utf-8")
    elif json.dumps(cases) != before:
        raise SystemExit(f"{CASES}: an answer differs from the reference's")


if __name__ == "__main__":
    main()
