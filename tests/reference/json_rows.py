"""Answers the rows of tests/library/json.jsonl by Python's `json`: the value on one line without blanks, or the message of the error.

    python3.13 tests/reference/json_rows.py
"""

import json
import pathlib

ROWS = pathlib.Path(__file__).resolve().parents[1] / "library" / "json.jsonl"


def answer(row):
    try:
        text = bytes.fromhex(row["bytes"]).decode() if "bytes" in row else row["text"]
        value = json.loads(text)
    except ValueError as error:
        return {"error": str(error)}
    return {"written": json.dumps(value, separators=(",", ":"), ensure_ascii=False)}


rows = [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]
lines = [json.dumps({**row, "expect": answer(row)}) + "\n" for row in rows]
ROWS.write_text("".join(lines), encoding="utf-8")
