#!/usr/bin/env python3
"""Asks the WebAssembly port the whole suite: check.py NATIVE_BINARY WASM.

Exits with 1 if an answer differs from that of the native port, under wasmtime (PyPI) or, if there is a `node`, in Node.js.
"""
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent


def main():
    native, wasm = sys.argv[1:]
    suite = subprocess.run([native, "conformance", "export"], stdout=subprocess.PIPE, check=True).stdout
    hosts = {"native": [native, "port"], "wasmtime": [sys.executable, HERE / "render.py", wasm]}
    if node := shutil.which("node"):
        hosts["node"] = [node, "--no-warnings", HERE / "render.mjs", wasm]
    answers = {
        host: subprocess.run(command, input=suite, stdout=subprocess.PIPE, check=True).stdout.splitlines()
        for host, command in hosts.items()
    }
    expected = answers.pop("native")
    if len(expected) != len(suite.splitlines()):
        sys.exit("the native port did not answer every case")
    for host, lines in answers.items():
        different = [pair for pair in zip(expected, lines) if pair[0] != pair[1]]
        if different or len(lines) != len(expected):
            sys.exit(f"{host}: {len(different)} of {len(expected)} answers differ, the first: {different[:1]}")
        print(f"{host}: {len(lines)} answers equal those of the native port")


if __name__ == "__main__":
    main()
