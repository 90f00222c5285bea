"""Makes rows for the trials: conversations of six messages, the same for each run.

    python3 tests/outside/engines/rows.py 200000 > rows.jsonl
    python3 tests/outside/engines/rows.py 200000 --bad 123456 > rows.jsonl    # this row has no messages
"""

import argparse
import json
import random
import sys

WORDS = (
    "the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which one you were her "
    "all she there would their we him been has when who will more no if out so said what up its about into than them can only other new "
    "some could time these two may then do first any my now such like our over man me even most made after also did many before must"
).split()

ROLES = ("system", "user", "assistant", "user", "assistant", "user")


def make_text(rng, least, most):
    """Returns a text of `least` to `most` words. Some texts have characters outside ASCII or characters that JSON escapes."""
    text = " ".join(rng.choices(WORDS, k=rng.randint(least, most)))
    return text + rng.choice(("", "", "", " é…", '\n"quoted"'))


def make_row(index, bad):
    rng = random.Random(index)
    if index == bad:
        return {"id": index, "messages": "none"}
    sizes = {"system": (12, 12), "user": (5, 40), "assistant": (20, 80)}
    messages = [{"role": role, "content": make_text(rng, *sizes[role])} for role in ROLES]
    return {"id": index, "messages": messages, "source": f"s{index % 7}"}


def write_rows(file, count, bad=None):
    for index in range(count):
        file.write(json.dumps(make_row(index, bad), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--bad", type=int)
    arguments = parser.parse_args()
    write_rows(sys.stdout, arguments.count, arguments.bad)
