#!/usr/bin/env python3
"""Asks the matchers of xgrammar and llama.cpp what the grammars of chat templates let through.

    chat-template-grammars --rows FOLDER > rows.jsonl
    python3 others.py rows.jsonl                          # xgrammar: pip install xgrammar, which needs torch
    python3 others.py rows.jsonl --llama vendor/llama.cpp # the sources of llama.cpp, which the sdist of llama-cpp-python has; needs g++

A set of tools is exact if every witness is let through and nothing that is broken. The exit status is 1 if less than 99 % of them are.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = ["llama-grammar.cpp", "unicode.cpp", "unicode-data.cpp"]


def ask_llama(sources, rows):
    """Yields a list of answers for each row, or `None` if llama.cpp cannot read its grammar."""
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/matcher"
        files = [HERE / "llama_matcher.cpp", *(sources / "src" / name for name in SOURCES)]
        includes = [f"-I{sources / part}" for part in ("src", "include", "ggml/include")]
        # Functions that no grammar calls are left out, because they need the rest of llama.cpp.
        flags = ["-O1", "-std=c++17", "-ffunction-sections", "-Wl,--gc-sections"]
        subprocess.run(["g++", *flags, *includes, *files, "-o", program], check=True)
        request = bytearray()
        for row in rows:
            grammar, texts = row["gbnf"].encode(), [text.encode() for text in row["witnesses"] + row["broken"]]
            request += b"%d %d\n%b" % (len(grammar), len(texts), grammar)
            for text in texts:
                request += b"%d\n%b" % (len(text), text)
        answers = subprocess.run([program], input=request, capture_output=True, check=True).stdout.splitlines()
        for answer in answers:
            yield None if answer == b"error" else [char == ord("1") for char in answer]


def ask_xgrammar(kind, rows):
    """Yields a list of answers for each row, or `None` if xgrammar cannot read its grammar."""
    import xgrammar

    # A vocabulary of bytes, in which zero is the stop token.
    info = xgrammar.TokenizerInfo([bytes([byte]) for byte in range(256)], vocab_type=xgrammar.VocabType.RAW, stop_token_ids=[0])
    compiler = xgrammar.GrammarCompiler(info, max_threads=1)
    compile = compiler.compile_grammar if kind == "gbnf" else compiler.compile_structural_tag

    def accepts(grammar, text):
        matcher = xgrammar.GrammarMatcher(grammar)
        return all(matcher.accept_token(byte) for byte in [*text.encode(), 0])

    for row in rows:
        try:
            grammar = compile(row[kind])
        except Exception as error:
            print(f"{row['template']}, {row['set']}: {error}", file=sys.stderr)
            yield None
            continue
        yield [accepts(grammar, text) for text in row["witnesses"] + row["broken"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=pathlib.Path)
    parser.add_argument("--llama", type=pathlib.Path, metavar="DIR", help="the sources of llama.cpp")
    arguments = parser.parse_args()
    rows = [json.loads(line) for line in arguments.rows.open(encoding="utf-8")]
    engines = {"llama.cpp, gbnf": ask_llama(arguments.llama, rows)} if arguments.llama else {
        f"xgrammar, {kind}": ask_xgrammar(kind, rows) for kind in ("gbnf", "structural_tag")
    }
    is_exact = True
    for name, answers in engines.items():
        counts = collections.Counter()
        for row, answer in zip(rows, answers, strict=True):
            counts["sets"] += 1
            if answer is None:
                counts["not read"] += 1
                continue
            witnesses = answer[: len(row["witnesses"])]
            broken = answer[len(witnesses) :]
            counts += collections.Counter(refused=witnesses.count(False), passed=broken.count(True))
            counts["exact"] += all(witnesses) and not any(broken)
            for text, accepted in zip(row["witnesses"] + row["broken"], answer, strict=True):
                if accepted != (text in row["witnesses"]):
                    print(f"{row['template']}, {row['set']}: {text!r} is {'let through' if accepted else 'refused'}", file=sys.stderr)
        print(f"{name}: {dict(counts)}")
        is_exact &= counts["exact"] * 100 >= counts["sets"] * 99
    sys.exit(not is_exact)


if __name__ == "__main__":
    main()
