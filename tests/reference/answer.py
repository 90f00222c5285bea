"""Answers the cases in tests/cases by transformers itself.

    python tests/reference/answer.py --check    # fails if an answer is not that of transformers
    python tests/reference/answer.py --write    # fills in and refreshes `expect`
    python tests/reference/answer.py --write loops chat/llama-2-system

Areas and ids after the option select cases. Runs under CPython 3.13 with the packages in requirements.txt.
A child process answers, and a case that makes it hang or crash loses only its own answer. `--check` also
fails if the reference has a filter, a test, a global or an attribute that no case names.
"""

import json
import pathlib
import select
import subprocess
import sys

import coverage
from engine import holds, require_versions
from schema import ANOTHER_TIME, FaultyCase, read_cases, write_cases

HERE = pathlib.Path(__file__).resolve().parent
CASES = HERE.parent / "cases"

# How long one answer may take. The slowest case takes some hundredths of a second.
SECONDS = 20


class Reference:
    """The reference in a child process, restarted after each case that it did not answer."""

    def __init__(self, python=sys.executable):
        self.python, self.child = python, None

    def ask(self, case):
        """The answer, or `None` if the child died or did not answer in time."""
        if self.child is None:
            command = [self.python, str(HERE / "port.py")]
            # Without a buffer in this process, `select` sees all that can be read.
            self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        request = ANOTHER_TIME | {key: case[key] for key in ("id", "describe", "template", "context", "apply", "response", "now", "generation") if key in case}
        try:
            self.child.stdin.write(json.dumps(request).encode() + b"\n")
            answer = json.loads(self.read_line())
        except (OSError, ValueError):
            self.stop()
            return None
        del answer["id"]
        return answer

    def read_line(self):
        line = b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self.child.stdout], [], [], SECONDS)
            piece = self.child.stdout.read(1 << 16) if ready else b""
            if not piece:
                return b""
            line += piece
        return line

    def stop(self):
        if self.child is not None:
            self.child.kill()
            self.child.wait()
            self.child = None


def main():
    require_versions()
    mode, wanted = sys.argv[1:2], set(sys.argv[2:])
    if mode not in (["--check"], ["--write"]):
        sys.exit(__doc__.split("\n\n")[1])
    try:
        files = {path: read_cases(path) for path in sorted(CASES.glob("*.jsonl"))}
    except FaultyCase as fault:
        sys.exit(str(fault))
    write = mode == ["--write"]
    reference, asked, faults = Reference(), 0, []
    for path, cases in files.items():
        for case in cases:
            if (wanted and not wanted & {path.stem, case["id"]}) or not holds(case):
                continue
            asked += 1
            answer = reference.ask(case)
            if answer is None:
                faults.append(f"{case['id']}: no answer")
            elif write:
                case["expect"] = answer
            elif answer != case.get("expect"):
                faults.append(f"{case['id']}: the reference answers {json.dumps(answer)}, the case says {json.dumps(case.get('expect'))}")
        if write:
            write_cases(path, cases)
    reference.stop()
    if not write and not wanted:
        faults += coverage.missing(case for cases in files.values() for case in cases)
    print("\n".join(faults + [f"{asked} cases asked, {len(faults)} faults"]))
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
