#!/usr/bin/env python3
"""Answers the cases of `tests/library/answers.jsonl` with transformers, which has no lenient mode: the message or the error of each.

    strict_answers.py --write     # writes the answers
    strict_answers.py --check     # fails if an answer differs
"""

import json
import pathlib
import sys

import port

CASES = pathlib.Path(__file__).resolve().parent.parent / "library/answers.jsonl"


def main():
    before = CASES.read_text(encoding="utf-8")
    lines = [json.loads(line) for line in before.splitlines()]
    descriptions = {line["name"]: line["template"] for line in lines if "name" in line}
    cases = [line for line in lines if "case" in line]
    for case in cases:
        response = {"template": descriptions[case["by"]], "prefix": case.get("prefix", ""), "text": case["text"]}
        if "tools" in case:
            response["tools"] = case["tools"]
        answer = json.loads(json.dumps(port.answer(json.dumps({"response": response}))))
        case["strict"] = answer["message"] if "message" in answer else {"error": answer["error"]["message"]}
    after = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    if "--write" in sys.argv:
        CASES.write_text(after, encoding="utf-8")
    print(f"{len(cases)} answers asked")
    sys.exit("--write" not in sys.argv and before != after)


if __name__ == "__main__":
    main()
