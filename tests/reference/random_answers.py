"""Compares a port with transformers over random texts of models, by the descriptions of the cases.

    python tests/reference/random_answers.py [--seed N] [--count N] [--port 'target/release/chat-template port']

A text is made of pieces of the texts of a case and of other strings, and is sometimes cut off. The messages are compared, or the kinds and
texts of errors.
"""

import argparse
import json
import pathlib
import random
import re
import shlex
import sys

import engine
import port
from differences import Differences
from masks import ask

CASES = pathlib.Path(__file__).parent.parent / "cases" / "response.jsonl"
PIECES = ["\n", " ", "", "Hello", "{", "}", "[]", '{"a": 1}', '"', "'", ",", ":", "é", "\\", "<", ">", "1", "true", "</", "<|", "\n\n", "x = 1 < 2", "null"]
# The parts into which a text is split: tags, words, and other characters.
PART = re.compile(r"<[^<>\s]*>|\[/?[A-Z_]+\]|\w+|\s+|[^\w\s]")


def random_text(rng, texts):
    pieces = [piece for text in rng.choices(texts, k=2) for piece in PART.findall(text)]
    for _ in range(rng.randint(0, 4)):
        at = rng.randint(0, len(pieces))
        match rng.randint(0, 3):
            case 0:
                del pieces[at : at + rng.randint(1, 3)]
            case 1:
                pieces.insert(at, rng.choice(PIECES))
            case 2:
                pieces[at:at] = pieces[at : at + rng.randint(1, 12)]
            case 3:
                pieces = pieces[: rng.randint(0, len(pieces))]
    return "".join(pieces)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--port", default="target/release/chat-template port", help="the command of the port")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=5000)
    arguments = parser.parse_args()
    engine.require_versions()
    rng = random.Random(arguments.seed)
    cases = [json.loads(line)["response"] for line in CASES.read_text().splitlines() if line.startswith("{")]
    texts = {}
    for case in cases:
        texts.setdefault(json.dumps(case["template"]), []).append(case["text"])
    requests = []
    for number in range(arguments.count):
        case = rng.choice(cases)
        text = random_text(rng, texts[json.dumps(case["template"])])
        requests.append({"id": number, "response": {**case, "text": text}})
    others = ask(requests, shlex.split(arguments.port))
    differences, errors = Differences(), 0
    for request in requests:
        reference = json.loads(json.dumps(port.answer(json.dumps(request))))
        other = others[request["id"]]
        errors += "error" in reference
        for answer in (reference, other):
            for key in ("line", "note", "class", "reached"):
                answer.get("error", {}).pop(key, None)
        if reference.get("message") != other.get("message") or reference.get("error") != other.get("error"):
            differences.add(request, reference, other)
    faults = differences.report()
    print(f"{len(requests)} texts of seed {arguments.seed} compared, {errors} with errors, {faults} differ")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
