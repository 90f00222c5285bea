"""How a file of cases is read and written: one JSON object a line, with these keys and no others.

    {"id": "loops/first", "rule": "…", "template": "…", "context": {}, "expect": {"output": "…"}}

Characters that one does not see are written as escapes, so that a line shows all that it holds.
"""

import json

KEYS = {"id": str, "rule": str, "template": str, "context": dict, "now": str, "generation": bool, "expect": dict}
OPTIONAL = {"now", "generation", "expect"}

# Where a case does not say what time it is, the reference is told this: an answer that has the time in it is nobody else's.
ANOTHER_TIME = {"now": "1987-06-05T04:03:02"}


class FaultyCase(Exception):
    """A line that is no case, and where it stands."""


def read_cases(path):
    cases, ids = [], set()
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not line:
            continue
        place = f"{path}:{number}"
        try:
            case = json.loads(line)
        except ValueError as error:
            raise FaultyCase(f"{place}: {error}") from None
        for key, value in case.items():
            if not isinstance(value, KEYS.get(key, ())):
                raise FaultyCase(f"{place}: unknown key or value of the wrong type: {key!r}")
        lacking = KEYS.keys() - OPTIONAL - case.keys()
        if lacking:
            raise FaultyCase(f"{place}: lacks {sorted(lacking)}")
        if not case["id"].startswith(f"{path.stem}/") or case["id"] in ids:
            raise FaultyCase(f"{place}: the id {case['id']!r} is not of this area, or stands here twice")
        ids.add(case["id"])
        cases.append(case)
    return cases


def write_cases(path, cases):
    lines = [json.dumps({key: case[key] for key in KEYS if key in case}, ensure_ascii=False) for case in cases]
    text = "".join(visible(line) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")


def visible(line):
    """What is not ASCII stands inside strings only, where an escape means the same."""
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in line)
