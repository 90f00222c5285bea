#!/usr/bin/env python3
"""Renders rows with the Python package under Ray Data or Spark, and compares them with those of a single process.

    python3 tests/outside/engines/wheel.py ray dist/chat_template-*.whl
    python3 tests/outside/engines/wheel.py spark dist/chat_template-*.whl

The clusters are local. It needs CPython 3.11 and a network; Spark also needs a Java runtime.
"""

import json
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import common
import rows


def make_render():
    """Returns a function over batches."""
    from chat_template import ChatTemplate

    template = ChatTemplate.from_pretrained(common.MODEL)

    def render(batch):
        # Arrow has lists as arrays.
        return {"id": list(batch["id"]), "text": template.apply_chat_template([list(messages) for messages in batch["messages"]])}

    return render


def read_rows(count):
    path = common.WORK / f"wheel-{count}.jsonl"
    if not path.exists():
        common.WORK.mkdir(parents=True, exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            rows.write_rows(file, count, None)
    return [json.loads(line) for line in common.read_lines(path)]


def run_ray(items):
    import pyarrow
    import ray

    ray.init(num_cpus=2, include_dashboard=False, logging_level="error", object_store_memory=1 << 30)
    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    table = pyarrow.Table.from_pylist([{"id": item["id"], "messages": item["messages"]} for item in items])
    blocks = ray.data.from_arrow(table).repartition(common.PARTITIONS)
    done = blocks.map_batches(make_render(), batch_size=1000).take_all()
    ray.shutdown()
    return f"Ray {ray.__version__}", {row["id"]: row["text"] for row in done}


def run_spark(items):
    import pandas
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    schema = "id long, messages array<struct<role: string, content: string>>"
    data = [(item["id"], [(message["role"], message["content"]) for message in item["messages"]]) for item in items]
    frame = session.createDataFrame(data, schema).repartition(common.PARTITIONS)
    render = make_render()

    def render_frames(frames):
        for batch in frames:
            batch["messages"] = [[message if isinstance(message, dict) else message.asDict() for message in row] for row in batch["messages"]]
            yield pandas.DataFrame(render(batch))

    done = frame.mapInPandas(render_frames, "id long, text string").collect()
    version = session.version
    session.stop()
    return f"Spark {version}", {row["id"]: row["text"] for row in done}


def main():
    engine, wheel = sys.argv[1:3]
    wheel = str(pathlib.Path(wheel).resolve())
    packages = {"ray": ["ray[data]"], "spark": ["pyspark", "pandas", "pyarrow", "setuptools"]}[engine]
    common.enter_environment(f"{engine}-wheel", wheel, *packages)
    count = int(os.environ.get("ROWS", common.COUNT))
    items = read_rows(count)
    start = time.monotonic()
    version, found = {"ray": run_ray, "spark": run_spark}[engine](items)
    seconds = time.monotonic() - start
    expected = make_render()({"id": [item["id"] for item in items], "messages": [item["messages"] for item in items]})
    assert found == dict(zip(expected["id"], expected["text"])), "the rows differ"
    print(f"{version}, Python {sys.version.split()[0]}: {count} rows equal to those of a single process; {seconds:.0f} s with its start")


if __name__ == "__main__":
    main()
