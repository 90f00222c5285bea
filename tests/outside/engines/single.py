#!/usr/bin/env python3
"""Trials of `chat-template dataset` on a single machine that are too large for `cargo test`. Needs Linux.

    python3 tests/outside/engines/single.py                       # all trials without transformers
    python3 tests/outside/engines/single.py kill full
    PYTHON_WITH_TRANSFORMERS tests/outside/engines/single.py transformers masks

- speed: 1 000 000 rows of six messages on one core and on two; rate, memory, equal outputs.
- kill: SIGKILL at ten random moments, each followed by `--resume`, plain and compressed; equal files.
- full: a disk that becomes full in the middle of a run, which goes on when there is space (needs root for a tmpfs).
- hard: a row of 100 MiB, invalid UTF-8 and an input that is cut in the middle of a row, in one file.
- transformers: 20 000 rows in one process of transformers and in one thread of the command; texts and CPU seconds.
- masks: 50 000 rows as texts alone in one process of transformers, and with both kinds of masks in one thread of the command.
"""

import argparse
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import common
import rows

FOLDER = common.WORK / "single"


def command(*arguments, cores=None):
    pin = ["taskset", "-c", cores] if cores else []
    return [*pin, str(common.BINARY), "dataset", "--model", str(common.MODEL), *map(str, arguments)]


def run(*arguments, cores=None, status=0):
    """Runs the command. Returns the seconds, the CPU seconds, the peak memory in MiB and the message."""
    start = time.monotonic()
    child = subprocess.Popen(command(*arguments, cores=cores), stderr=subprocess.PIPE, text=True)
    message = child.stderr.read()
    _, code, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(code)
    assert child.returncode == status, message
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, message


def make(count):
    path = FOLDER / f"{count}.jsonl"
    if not path.exists():
        with open(FOLDER / "part", "w", encoding="utf-8") as file:
            rows.write_rows(file, count)
        os.replace(FOLDER / "part", path)
    return path


def remove(path):
    for end in ("", ".errors.jsonl", ".journal"):
        pathlib.Path(f"{path}{end}").unlink(missing_ok=True)


def equal(left, right):
    return subprocess.run(["cmp", left, right]).returncode == 0


def speed():
    path = make(1_000_000)
    print(f"rows of {path.stat().st_size / 1e6:.0f} bytes on average; load of the machine {os.getloadavg()[0]:.1f}")
    # The outputs go to /dev/null first, so that the disk is not part of the rate.
    times = {}
    for cores in ("0", "0,1"):
        tries = [run("--input", path, "--errors", "/dev/null", "--output", "/dev/null", "--jobs", cores.count(",") + 1, cores=cores)
                 for _ in range(3)]
        seconds, cpu, memory, _ = min(tries)
        times[cores] = seconds
        print(f"cores {cores}: {seconds:.2f} s, {1e6 / seconds:.0f} rows/s; {cpu:.2f} CPU s, {1e6 / cpu:.0f} rows per CPU s; "
              f"peak {max(memory for _, _, memory, _ in tries):.0f} MiB")
    print(f"two cores are {times['0'] / times['0,1']:.2f} times one")
    for jobs in (1, 2):
        remove(FOLDER / f"out{jobs}.jsonl")
        seconds, cpu, memory, _ = run("--input", path, "--output", FOLDER / f"out{jobs}.jsonl", "--jobs", jobs)
        print(f"to the disk with {jobs} jobs: {seconds:.2f} s, {cpu:.2f} CPU s, peak {memory:.0f} MiB")
    assert equal(FOLDER / "out1.jsonl", FOLDER / "out2.jsonl")
    print("the outputs are equal")


def kill():
    path = make(1_000_000)
    seed = random.randrange(1 << 32)
    rng = random.Random(seed)
    for end in ("", ".gz", ".zst"):
        whole, cut = FOLDER / f"whole.jsonl{end}", FOLDER / f"cut.jsonl{end}"
        remove(whole)
        remove(cut)
        seconds = run("--input", path, "--output", whole)[0]
        kills = []
        arguments = command("--input", path, "--output", cut, "--resume")
        while len(kills) < 10:
            child = subprocess.Popen(arguments, stderr=subprocess.DEVNULL)
            time.sleep(rng.uniform(0, seconds / 4))
            if child.poll() is not None:
                # It ended before the kill: start again, and keep the count.
                assert child.returncode == 0 and equal(whole, cut)
                remove(cut)
                continue
            child.send_signal(signal.SIGKILL)
            child.wait()
            kills.append(cut.stat().st_size if cut.exists() else 0)
        message = run("--input", path, "--output", cut, "--resume")[3]
        assert equal(whole, cut), "the files differ"
        sizes = ", ".join(f"{100 * size / whole.stat().st_size:.0f} %" for size in kills)
        print(f"cut.jsonl{end}: killed with {sizes} written (seed {seed}); byte for byte the output of an undisturbed run: {message.strip()}")


def full():
    disk = FOLDER / "disk"
    disk.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=50m", "tmpfs", disk], check=True)
    try:
        path = make(200_000)
        whole, output = FOLDER / "whole.jsonl", disk / "out.jsonl"
        remove(whole)
        run("--input", path, "--output", whole)
        message = run("--input", path, "--output", output, status=2)[3]
        print(f"full disk: {message.strip()}")
        written = output.stat().st_size
        with open(whole, "rb") as file:
            assert file.read(written) == output.read_bytes()
        print(f"the {written} bytes that were written are the beginning of the output")
        subprocess.run(["mount", "-o", "remount,size=1g", disk], check=True)
        message = run("--input", path, "--output", output, "--resume")[3]
        assert equal(whole, output)
        print(f"resumed with space: equal; {message.strip()}")
    finally:
        subprocess.run(["umount", disk], check=True)


def hard():
    path, output = FOLDER / "hard.jsonl", FOLDER / "hard-out.jsonl"
    good = json.dumps(rows.make_row(0, None)).encode() + b"\n"
    with open(path, "wb") as file:
        file.write(good * 1000 + b'{"messages": "')
        # The memory of this process would count as that of the command, which starts as its copy.
        for _ in range(100):
            file.write(b"x" * (1 << 20))
        file.write(b'"}\n' + good * 1000 + b'{"messages": "\xff"}\n' + good + good[:100])
    remove(output)
    _, _, memory, message = run("--input", path, "--output", output, status=1)
    bad = [json.loads(line) for line in common.read_lines(f"{output}.errors.jsonl")]
    print(message.strip(), f"peak {memory:.0f} MiB")
    for row in bad:
        print(f"  line {row['line']}: {row['error']}")
    assert [row["line"] for row in bad] == [1001, 2002, 2004] and len(common.read_lines(output)) == 2001


def to_line(row):
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"


def render_by_transformers(path, reference):
    """Writes the rows with their texts. Returns the CPU seconds."""
    from transformers import PreTrainedTokenizerFast
    from tokenizers import Tokenizer, models

    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()))
    tokenizer.chat_template = (common.MODEL / "chat_template.jinja").read_text(encoding="utf-8")
    spent = []
    for _ in range(3):
        start = time.process_time()
        with open(path, encoding="utf-8") as file, open(reference, "w", encoding="utf-8") as out:
            for line in file:
                row = json.loads(line)
                row["text"] = tokenizer.apply_chat_template(row.pop("messages"), tokenize=False)
                out.write(to_line(row))
        spent.append(time.process_time() - start)
    return min(spent)


def compare(count, *options):
    """Renders rows with transformers, as texts alone, and with the command and options. Compares the texts and the CPU seconds."""
    path, reference, output = make(count), FOLDER / "reference.jsonl", FOLDER / "output.jsonl"
    theirs = render_by_transformers(path, reference)
    own = []
    for _ in range(5):
        remove(output)
        own.append(run("--input", path, "--output", output, "--jobs", "1", *options)[1])
    ours = min(own)
    with open(reference, encoding="utf-8") as left, open(output, encoding="utf-8") as right:
        for expected, line in zip(left, right, strict=True):
            row = json.loads(line)
            masks = [row.pop(key) for key in ("generation", "assistant") if key in row]
            assert to_line(row) == expected, "the rows differ"
            assert len(masks) == len(options) and all(masks), "a row has no mask"
    print(f"{count} rows, all equal byte for byte: transformers {theirs:.2f} CPU s, {count / theirs:.0f} rows per CPU s; "
          f"chat-template {ours:.3f} CPU s, {count / ours:.0f} rows per CPU s; {theirs / ours:.1f} times")


def transformers():
    compare(20_000)


def masks():
    compare(50_000, "--spans", "--assistant")


if __name__ == "__main__":
    TRIALS = {trial.__name__: trial for trial in (speed, kill, full, hard, transformers, masks)}
    ALONE = [name for name in TRIALS if name not in ("transformers", "masks")]
    parser = argparse.ArgumentParser()
    parser.add_argument("trial", nargs="*", choices=[*TRIALS, []], default=ALONE)
    chosen = parser.parse_args().trial
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in chosen:
        print(f"== {name}", flush=True)
        TRIALS[name]()
