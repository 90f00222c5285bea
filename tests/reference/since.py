"""Writes into each case from which version of transformers and of CPython on its answer holds.

    python tests/reference/since.py PYTHON…

Each PYTHON is that of an environment in which one of the two is older than in the reference. Of the versions whose answer differs from
that of the case, `since` is the next one among these environments and the reference. Cases with `until` stay as they are.
"""

import json
import os
import sys

import engine
import families
from answer import CASES, Reference
from schema import visible


def ask_all(python, cases):
    """The versions of an environment, and the ids of the cases that it answers in another way."""
    reference, names = Reference(python), families.named()
    versions = reference.ask({"id": 0, "describe": True})["port"]["mirrors"]
    different = {case["id"] for case in cases if "until" not in case and reference.ask(families.spelled_out(case, names)) != case["expect"]}
    reference.stop()
    return versions, different


def since(case, current, answered):
    """The first versions from which on all environments give the answer of a case."""
    bounds = {}
    for name, newest in current.items():
        others = [(versions[name], different) for versions, different in answered if versions[name] != newest]
        wrong = [version for version, different in others if case["id"] in different]
        later = [version for version in [newest, *(version for version, _ in others)] if all(engine.is_before(bad, version) for bad in wrong)]
        if wrong:
            bounds[name] = min(later, key=lambda version: [int(number) for number in version.split(".")])
    return bounds


def main():
    engine.require_versions()
    # The environments are no reference, and answer all the same.
    os.environ["CHAT_TEMPLATE_ANY_REFERENCE"] = "1"
    paths = [*sorted(CASES.glob("*.jsonl")), CASES / "contract" / "apply.jsonl", *sorted((CASES / "families").glob("*.jsonl"))]
    files = {path: [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line] for path in paths}
    answered = [ask_all(python, [case for cases in files.values() for case in cases]) for python in sys.argv[1:]]
    for path, cases in files.items():
        for place, case in enumerate(cases):
            bounds = since(case, engine.mirrored(), answered)
            head = {key: case[key] for key in ("id", "rule", "tier", "uses") if key in case}
            rest = {key: value for key, value in case.items() if key not in head and key != "since"}
            cases[place] = head | ({"since": bounds} if bounds else {}) | rest
        path.write_text("".join(visible(json.dumps(case, ensure_ascii=False)) + "\n" for case in cases), encoding="utf-8")
    print(f"{sum('since' in case for cases in files.values() for case in cases)} cases have `since`")


if __name__ == "__main__":
    main()
