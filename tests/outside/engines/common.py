"""What the trials on engines share: a virtual environment, the rows, the run on a single machine, and the comparison with it."""

import json
import os
import pathlib
import subprocess
import sys
import time

import rows

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
WORK = TARGET / "engines"
MODEL = ROOT / "tests/models/jinja"
BINARY = TARGET / "release/chat-template"

COUNT = 200_000
BAD_ROW = 123_456
PARTITIONS = 8


def enter_environment(name, *packages):
    """Makes a virtual environment with the packages, and starts this script again in it."""
    folder = WORK / f"venv-{name}"
    python = folder / "bin/python"
    if pathlib.Path(sys.prefix) == folder:
        # The folder of the scripts has a module with the name of the engine.
        sys.path[:] = [entry for entry in sys.path if pathlib.Path(entry or ".").resolve() != HERE]
        return
    if not (folder / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages], check=True)
        (folder / "complete").touch()
    os.execv(python, [str(python), *sys.argv])


def make_input():
    """Returns the file of rows, one of which is bad, and builds the command."""
    subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "chat-template-cli", "--locked"], cwd=ROOT, check=True)
    path = WORK / "rows.jsonl"
    if not path.exists():
        WORK.mkdir(parents=True, exist_ok=True)
        with open(WORK / "rows.part", "w", encoding="utf-8") as file:
            rows.write_rows(file, COUNT, BAD_ROW)
        os.replace(WORK / "rows.part", path)
    return path


def run_single(path):
    """Runs the command on the whole file on this machine. Returns the rows and the bad rows."""
    output = WORK / "single.jsonl"
    start = time.monotonic()
    status = subprocess.run([BINARY, "dataset", "--model", MODEL, "--input", path, "--output", output]).returncode
    assert status == 1, "one row is bad"
    print(f"single machine: {time.monotonic() - start:.1f} s", flush=True)
    return read_lines(output), read_lines(f"{output}.errors.jsonl")


def read_lines(path):
    # `splitlines` would also split at other separators.
    return pathlib.Path(path).read_text(encoding="utf-8").split("\n")[:-1]


def compare(name, rows, bad, single):
    """Compares the rows in their order, and the bad rows without their line numbers, which are those of a partition."""
    expected_rows, expected_bad = single
    assert len(rows) == len(expected_rows), f"{len(rows)} rows instead of {len(expected_rows)}"
    different = [index for index, pair in enumerate(zip(rows, expected_rows)) if pair[0] != pair[1]]
    assert not different, f"rows differ: {different[:10]}"

    def content(lines):
        return [(row["error"], row["row"]) for row in map(json.loads, lines) if "error" in row]

    assert content(bad) == content(expected_bad), bad
    print(f"{name}: {len(rows)} rows and {len(bad)} bad row, equal to those of a single machine, row by row")
