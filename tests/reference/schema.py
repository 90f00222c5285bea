"""How a file of cases is read and written: one JSON object a line, with these keys and no others.

    {"id": "loops/first", "rule": "…", "template": "…", "context": {}, "expect": {"output": "…"}}
    {"id": "response/int", "rule": "…", "response": {"template": {}, "prefix": "…", "text": "…"}, "expect": {"message": {}}}

Invisible characters are written as escapes.
"""

import json

KEYS = {"id": str, "rule": str, "tier": str, "uses": int, "since": dict, "until": dict, "template": str, "context": dict, "response": dict, "now": str, "generation": bool, "trace": bool, "expect": dict}
OPTIONAL = {"tier", "uses", "since", "until", "now", "generation", "trace", "expect"}

# The time for cases that do not set one. It differs from every other time in the tests, so that an answer that depends on it is noticed.
ANOTHER_TIME = {"now": "1987-06-05T04:03:02"}


class FaultyCase(Exception):
    """A line that is not a case, with its file and line number."""


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
        other = {"template", "context"} if "response" in case else {"response"}
        lacking = KEYS.keys() - OPTIONAL - other - case.keys()
        if lacking:
            raise FaultyCase(f"{place}: lacks {sorted(lacking)}")
        if not case["id"].startswith(f"{path.stem}/") or case["id"] in ids:
            raise FaultyCase(f"{place}: the id {case['id']!r} is not of this area, or is here twice")
        ids.add(case["id"])
        cases.append(case)
    return cases


def write_cases(path, cases):
    lines = [json.dumps({key: case[key] for key in KEYS if key in case}, ensure_ascii=False) for case in cases]
    text = "".join(visible(line) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")


def visible(line):
    """Escapes invisible characters. They occur only in strings, where an escape means the same."""
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in line)
