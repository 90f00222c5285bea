#!/usr/bin/env python3
"""Runs `chat-template dataset` under Spark's `pipe`, and compares the rows with those of a single machine.

    python3 tests/outside/engines/spark.py

The cluster is local, with two executors as processes of their own. One of them is killed in the middle of a partition.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import common

# `sh` turns the status 1, some rows failed, into success. Any other failure fails the task, which Spark repeats. A file of errors has a
# name of its own, and is complete only if the command has ended.
FILTER = """
errors=$(mktemp "{folder}/XXXXXX.part")
"{binary}" dataset --model "{model}" --jobs 1 --errors "$errors" || [ $? -eq 1 ] || exit
mv "$errors" "${{errors%.part}}.jsonl"
"""


def kill_executor():
    """Kills the executor that this Python worker belongs to."""
    pid = os.getpid()
    while pid > 1:
        if b"CoarseGrainedExecutorBackend" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(pid, signal.SIGKILL)
            return
        pid = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    raise RuntimeError("this worker belongs to no executor")


def kill_once(index, rows, mark):
    """Kills the executor once, in the middle of a partition."""
    for number, row in enumerate(rows):
        if index == 3 and number == 10_000:
            try:
                open(mark, "x").close()
            except FileExistsError:
                pass
            else:
                kill_executor()
                time.sleep(60)
        yield row


def main():
    if shutil.which("java") is None:
        apt = [] if os.geteuid() == 0 else ["sudo"]
        subprocess.run([*apt, "apt-get", "install", "--yes", "--no-install-recommends", "default-jre-headless"], check=True)
    common.enter_environment("spark", "pyspark")
    path = common.make_input()
    single = common.run_single(path)

    import pyspark

    folder = common.WORK / "spark"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    mark = str(folder / "killed")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    conf = pyspark.SparkConf().setMaster("local-cluster[2,1,1024]").setAppName("chat-template")
    conf.set("spark.executor.memory", "1g").set("spark.ui.enabled", "false")
    conf.set("spark.local.dir", str(folder / "local")).set("spark.log.level", "ERROR")
    start = time.monotonic()
    with pyspark.SparkContext(conf=conf) as context:
        command = FILTER.format(folder=folder, binary=common.BINARY, model=common.MODEL)
        (folder / "filter.sh").write_text(command)
        lines = context.textFile(str(path), minPartitions=common.PARTITIONS)
        partitions = lines.getNumPartitions()
        assert partitions >= common.PARTITIONS
        killed = lines.mapPartitionsWithIndex(lambda index, rows: kill_once(index, rows, mark))
        piped = killed.pipe(f"sh {folder / 'filter.sh'}", checkCode=True)
        piped.saveAsTextFile(str(folder / "out"))
        versions = f"Spark {context.version}, Java {context._jvm.System.getProperty('java.version')}"
    print(f"{versions}: {partitions} partitions, {time.monotonic() - start:.1f} s with the start of the cluster")
    assert os.path.exists(mark), "an executor was killed"
    rows = [row for part in sorted((folder / "out").glob("part-*")) for row in common.read_lines(part)]
    # A task that ran twice has written its errors twice.
    bad = {row for part in folder.glob("*.jsonl") for row in common.read_lines(part)}
    common.compare("Spark", rows, sorted(bad), single)


if __name__ == "__main__":
    main()
