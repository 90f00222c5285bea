"""Answers the cases in tests/cases/contract and tests/cases/families by transformers itself.

    python tests/reference/answer_contract.py --check    # asks afresh, and fails on any difference
    python tests/reference/answer_contract.py --write    # fills in and refreshes `expect`
    python tests/reference/answer_contract.py --write apply qwen3

Names of files after the option limit it to these. A case is a request of port.py or of folder_port.py, by the file it is in,
with the rule that it shows and the answer. families.py replaces the names that cases of families use.
Runs under CPython 3.13 with the packages in requirements.txt.
"""

import json
import pathlib
import subprocess
import sys

import families
from engine import holds, require_versions
from schema import ANOTHER_TIME, visible

HERE = pathlib.Path(__file__).resolve().parent
CONTRACT = HERE.parent / "cases" / "contract"
FILES = {
    "port.py": [CONTRACT / "apply.jsonl", *sorted(families.FAMILIES.glob("*.jsonl"))],
    "folder_port.py": [CONTRACT / "folders.jsonl", CONTRACT / "models.jsonl"],
}
KEYS = ["id", "rule", "tier", "uses", "since", "until", "model", "template", "context", "apply", "files", "processor", "now", "generation", "trace", "expect"]


def answers(port, cases):
    names = families.named()
    requests = "".join(json.dumps(ANOTHER_TIME | families.spelled_out(case, names)) + "\n" for case in cases)
    command = [sys.executable, str(HERE / port)]
    child = subprocess.run(command, input=requests, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return [json.loads(line) for line in child.stdout.splitlines()]


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def write(path, cases):
    lines = [json.dumps({key: case[key] for key in KEYS if key in case}, ensure_ascii=False) for case in cases]
    path.write_text("".join(visible(line) + "\n" for line in lines), encoding="utf-8")


def main():
    require_versions()
    mode, wanted = sys.argv[1:2], set(sys.argv[2:])
    if mode not in (["--check"], ["--write"]):
        sys.exit(__doc__.split("\n\n")[1])
    faults, asked = [], 0
    for port, paths in FILES.items():
        files = {path: read(path) for path in paths if not wanted or path.stem in wanted}
        cases = [case for cases in files.values() for case in cases if holds(case)]
        for case, answer in zip(cases, answers(port, cases), strict=True):
            asked += 1
            assert answer.pop("id") == case["id"] and not case.keys() - set(KEYS), case["id"]
            if mode == ["--check"] and answer != case.get("expect"):
                faults.append(f"{case['id']}: the reference answers {json.dumps(answer)}, the case says {json.dumps(case.get('expect'))}")
            case["expect"] = answer
        if mode == ["--write"]:
            for path, cases in files.items():
                write(path, cases)
    print("\n".join(faults + [f"{asked} cases asked, {len(faults)} faults"]))
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
