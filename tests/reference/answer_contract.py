"""Answers the cases in tests/cases/contract by transformers itself.

    python tests/reference/answer_contract.py --check    # asks afresh, and fails on any difference
    python tests/reference/answer_contract.py --write    # fills in and refreshes `expect`

A case is a request of apply_port.py or of folder_port.py, by the file it is in, with the rule that it shows and the answer.
Runs under CPython 3.11 with what requirements-apply.txt lists.
"""

import json
import pathlib
import subprocess
import sys

from schema import visible

HERE = pathlib.Path(__file__).resolve().parent
CASES = HERE.parent / "cases" / "contract"
PORTS = {"apply.jsonl": "apply_port.py", "folders.jsonl": "folder_port.py", "models.jsonl": "folder_port.py"}
KEYS = ["id", "rule", "model", "apply", "files", "processor", "now", "generation", "expect"]


def answers(port, cases):
    requests = "".join(json.dumps(case) + "\n" for case in cases)
    command = [sys.executable, str(HERE / port)]
    child = subprocess.run(command, input=requests, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return [json.loads(line) for line in child.stdout.splitlines()]


def main():
    assert sys.version_info[:2] == (3, 11), "the reference is CPython 3.11"
    if sys.argv[1:] not in (["--check"], ["--write"]):
        sys.exit(__doc__.split("\n\n")[1])
    faults, asked = [], 0
    for name, port in PORTS.items():
        path = CASES / name
        cases = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
        for case, answer in zip(cases, answers(port, cases), strict=True):
            asked += 1
            assert answer.pop("id") == case["id"] and not case.keys() - set(KEYS), case["id"]
            if sys.argv[1] == "--check" and answer != case.get("expect"):
                faults.append(f"{case['id']}: the reference answers {json.dumps(answer)}, the case says {json.dumps(case.get('expect'))}")
            case["expect"] = answer
        if sys.argv[1] == "--write":
            lines = [json.dumps({key: case[key] for key in KEYS if key in case}, ensure_ascii=False) for case in cases]
            path.write_text("".join(visible(line) + "\n" for line in lines), encoding="utf-8")
    print("\n".join(faults + [f"{asked} cases asked, {len(faults)} faults"]))
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
