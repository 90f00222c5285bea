#!/usr/bin/env python3
"""Runs `chat-template dataset` under Ray Data, and compares the rows with those of a single machine.

    python3 tests/engines/ray.py

The cluster is local. One of its workers is killed before it returns its block.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import common

KILLED_AT = '{"id": 60000,'


def kill_once(mark):
    """Kills this worker, unless one was killed already."""
    try:
        open(mark, "x").close()
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def render(batch, binary, model, mark):
    """Renders a block of lines. A line of the result is a row of the output, or a line of the errors."""
    lines = list(batch["text"])
    with tempfile.TemporaryDirectory() as folder:
        errors = f"{folder}/errors.jsonl"
        command = [binary, "dataset", "--model", model, "--jobs", "1", "--errors", errors]
        text = "".join(f"{line}\n" for line in lines).encode()
        done = subprocess.run(command, input=text, stdout=subprocess.PIPE)
        if any(line.startswith(KILLED_AT) for line in lines):
            kill_once(mark)
        # The status 1 says that some rows failed.
        if done.returncode not in (0, 1):
            raise RuntimeError(f"chat-template dataset ended with status {done.returncode}")
        rows = done.stdout.decode().split("\n")[:-1]
        bad = pathlib.Path(errors).read_text(encoding="utf-8").split("\n")[:-1]
    return {"line": rows + bad, "is_bad": [False] * len(rows) + [True] * len(bad)}


def main():
    common.enter_environment("ray", "ray[data]")
    path = common.make_input()
    single = common.run_single(path)

    import pyarrow
    import ray

    folder = common.WORK / "ray"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    mark = str(folder / "killed")
    start = time.monotonic()
    ray.init(num_cpus=2, include_dashboard=False, logging_level="error", object_store_memory=1 << 30)
    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    lines = pyarrow.table({"text": common.read_lines(path)})
    blocks = ray.data.from_arrow(lines).repartition(common.PARTITIONS).materialize()
    count = blocks.num_blocks()
    assert count >= common.PARTITIONS
    arguments = {"binary": str(common.BINARY), "model": str(common.MODEL), "mark": mark}
    done = blocks.map_batches(render, batch_size=None, fn_kwargs=arguments).materialize()
    rows, bad = [], []
    for row in done.iter_rows():
        (bad if row["is_bad"] else rows).append(row["line"])
    seconds = time.monotonic() - start
    print(f"Ray {ray.__version__}, Python {sys.version.split()[0]}: {count} blocks, {seconds:.1f} s with the start of the cluster")
    assert os.path.exists(mark), "a worker was killed"
    common.compare("Ray", rows, bad, single)
    ray.shutdown()


if __name__ == "__main__":
    main()
