"""Compares this crate's masks with those of transformers over random spans and random offsets of tokens.

    cargo build --release --example masks
    python tests/reference/random_masks.py [--seed N] [--count N] [--masks target/release/examples/masks]

transformers' own `apply_chat_template` makes the mask: only the render before it, whose spans are random, and the tokenizer, whose
offsets are random, are replaced.
"""

import argparse
import json
import random
import subprocess
import sys

import engine
import errors
from differences import Differences
from tokenizers import Encoding
from transformers import tokenization_utils_base as base

# No text of a round is longer.
LENGTH = 40


class Tokenizer(base.PreTrainedTokenizerBase):
    """A tokenizer whose tokens have the given offsets."""

    offsets = []

    def __call__(self, text, **options):
        count = len(self.offsets)
        state = json.loads(Encoding().__getstate__()) | {"offsets": self.offsets, "tokens": ["a"] * count, "words": [None] * count}
        state |= {key: [0] * count for key in ("ids", "type_ids", "special_tokens_mask", "attention_mask")}
        encoding = Encoding()
        encoding.__setstate__(json.dumps(state).encode())
        return base.BatchEncoding({"input_ids": [0] * count}, encoding=[encoding])


def reference_mask(tokenizer, request):
    tokenizer.offsets = request["tokens"]
    base.render_jinja_template = lambda **options: ([""], [request["spans"]])
    try:
        return {"mask": tokenizer.apply_chat_template([{}], return_assistant_tokens_mask=True)["assistant_masks"]}
    except Exception as error:
        return errors.error_of(error)


def random_tokens(rng):
    """Offsets in the order of the text: contiguous, with gaps, repeated, empty or overlapping; cut, padded or shuffled."""
    tokens, at = [], 0
    length = rng.randint(0, LENGTH)
    odd = rng.choice([0, 0.1, 0.4])
    while at < length:
        start, end = at, min(at + rng.randint(1, rng.choice([2, 5, 12])), length)
        if rng.random() < odd:
            match rng.choice(["gap", "empty", "overlap", "repeated"]):
                case "gap":
                    start = end = min(at + rng.randint(1, 4), length)
                    at = end
                    continue
                case "empty":
                    end = start
                case "overlap":
                    start = max(0, start - rng.randint(1, 3))
                case "repeated":
                    tokens += [[start, end]] * rng.randint(1, 3)
        tokens.append([start, end])
        at = max(at, end)
    cut = lambda: rng.randint(0, len(tokens)) if rng.random() < 0.25 else 0
    tokens = tokens[cut():]
    tokens = tokens[: len(tokens) - cut()]
    if rng.random() < 0.2:
        padding = [[0, 0]] * rng.randint(1, 3)
        tokens = padding + tokens if rng.random() < 0.5 else tokens + padding
    if rng.random() < 0.05:
        rng.shuffle(tokens)
    return tokens


def random_spans(rng):
    """Spans as a render counts them: in order, contiguous or apart, empty, nested with the inner one first, or without order."""
    points = sorted(rng.choices(range(LENGTH + 3), k=2 * rng.randint(0, 4)))
    spans = [[start, end] for start, end in zip(points[::2], points[1::2], strict=True)]
    if rng.random() < 0.2:
        # Each one begins where the one before ends.
        spans = [[start, end] for start, end in zip(points, points[1:])]
    if spans and rng.random() < 0.2:
        at = rng.randrange(len(spans))
        start, end = spans[at]
        outer = [rng.randint(0, start), rng.randint(end, LENGTH + 3)]
        # The spans of nested blocks that are not at the root of a template begin at one place.
        spans.insert(at + 1, rng.choice([outer, [start, outer[1]]]))
    if rng.random() < 0.2:
        rng.shuffle(spans)
    return spans


def difference(reference, other):
    """Says which tokens differ, for the name of a group."""
    if "mask" not in reference:
        return ""
    pairs = list(zip(reference["mask"], other["mask"]))
    one_side = [side for side, pair in (("the reference", (1, 0)), ("the other", (0, 1))) if pair in pairs]
    return "only " + " and only ".join(f"{side} marks some tokens" for side in one_side)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--masks", default="target/release/examples/masks", help="the program that makes this crate's masks")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20000)
    arguments = parser.parse_args()
    engine.require_versions()
    rng = random.Random(arguments.seed)
    requests = [{"spans": random_spans(rng), "tokens": random_tokens(rng)} for _ in range(arguments.count)]
    lines = "".join(json.dumps([request["spans"], request["tokens"]]) + "\n" for request in requests)
    child = subprocess.run([arguments.masks], input=lines, stdout=subprocess.PIPE, text=True, check=True)
    tokenizer, differences, marked = Tokenizer(chat_template="{% generation %}{% endgeneration %}"), Differences(), 0
    for request, line in zip(requests, child.stdout.splitlines(), strict=True):
        reference, other = reference_mask(tokenizer, request), {"mask": json.loads(line)}
        marked += 1 in reference.get("mask", ())
        if reference != other:
            differences.add(request, reference, other, difference(reference, other))
    faults = differences.report()
    print(f"{len(requests)} masks of seed {arguments.seed} compared, {marked} mark a token, {faults} differ")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
