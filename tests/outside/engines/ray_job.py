#!/usr/bin/env python3
"""Renders JSON Lines with `chat-template dataset` on a cluster of Ray.

    python3 ray_job.py s3://bucket/chats s3://bucket/prompts --binary ./chat-template --model Qwen3-8B

The binary and the folder of the model are on each machine, or in the `working_dir` of Ray's runtime environment. The rows that failed have
`is_bad`, and are the lines of the file of errors.
"""

import argparse
import pathlib
import subprocess
import tempfile


def render(batch, binary, model):
    """Renders a block of lines. A line of the result is a row of the output, or a line of the errors."""
    with tempfile.TemporaryDirectory() as folder:
        errors = f"{folder}/errors.jsonl"
        command = [binary, "dataset", "--model", model, "--jobs", "1", "--errors", errors]
        text = "".join(f"{line}\n" for line in batch["text"]).encode()
        done = subprocess.run(command, input=text, stdout=subprocess.PIPE)
        # The status 1 says that some rows failed.
        if done.returncode not in (0, 1):
            raise RuntimeError(f"chat-template dataset ended with status {done.returncode}")
        rows = done.stdout.decode().split("\n")[:-1]
        bad = pathlib.Path(errors).read_text(encoding="utf-8").split("\n")[:-1]
    return {"line": rows + bad, "is_bad": [False] * len(rows) + [True] * len(bad)}


def keep_order():
    """Keeps the order of the rows of each data set that is made after this. A data set keeps the options of the moment it is made."""
    import ray

    ray.data.DataContext.get_current().execution_options.preserve_order = True


def render_all(lines, binary, model, function=render, **arguments):
    """Renders a data set of lines."""
    return lines.map_batches(function, batch_size=None, fn_kwargs={"binary": binary, "model": model, **arguments})


def main():
    import ray

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input")
    parser.add_argument("output")
    parser.add_argument("--binary", required=True)
    parser.add_argument("--model", required=True)
    arguments = parser.parse_args()
    keep_order()
    render_all(ray.data.read_text(arguments.input), arguments.binary, arguments.model).write_json(arguments.output)


if __name__ == "__main__":
    main()
