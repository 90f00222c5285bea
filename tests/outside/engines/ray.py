#!/usr/bin/env python3
"""Runs `ray_job.py`, the recipe of the README, on Ray Data, and compares the rows with those of a single machine.

    python3 tests/outside/engines/ray.py

The cluster is local. One of its workers is killed before it returns its block.
"""

import os
import pathlib
import shutil
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import common
import ray_job

KILLED_AT = '{"id": 60000,'


def kill_once(mark):
    """Kills this worker, unless one was killed already."""
    try:
        open(mark, "x").close()
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def render_killed(batch, binary, model, mark):
    """Renders a block, and kills the worker once after that."""
    rendered = ray_job.render(batch, binary, model)
    if any(line.startswith(KILLED_AT) for line in batch["text"]):
        kill_once(mark)
    return rendered


def main():
    common.enter_environment("ray", "ray[data]")
    path = common.make_input()
    single = common.run_single(path)

    import pyarrow
    import ray
    from ray import cloudpickle

    folder = common.WORK / "ray"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    mark = str(folder / "killed")
    start = time.monotonic()
    ray.init(num_cpus=2, include_dashboard=False, logging_level="error", object_store_memory=1 << 30)
    # The workers do not have this folder on their path.
    cloudpickle.register_pickle_by_value(ray_job)
    ray_job.keep_order()
    ray.data.DataContext.get_current().enable_progress_bars = False
    lines = pyarrow.table({"text": common.read_lines(path)})
    blocks = ray.data.from_arrow(lines).repartition(common.PARTITIONS).materialize()
    count = blocks.num_blocks()
    assert count >= common.PARTITIONS
    done = ray_job.render_all(blocks, str(common.BINARY), str(common.MODEL), render_killed, mark=mark).materialize()
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
