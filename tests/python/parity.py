#!/usr/bin/env python3
"""Compares the segments, turns and assistant spans of the package with those of the port, which reads the same conversations from JSON.

    python3 tests/python/parity.py PORT FOLDER... [--every N]      in an environment with the wheel

PORT is the binary. The templates are the files `*.jinja` in the folders, of which `--every` takes each Nth. Python has one object for equal
short strings, and a conversation here has the same dict twice, words of the roles and keys as contents, and tools made of such words.
"""

import argparse
import datetime
import json
import pathlib
import subprocess
import sys

from chat_template import ChatTemplate, Options, TemplateError

NOW = "2026-01-02T03:04:05"
TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
WORDS = "role content type text user assistant system tool function name arguments parameters properties string object".split()


def call(name, arguments, key="c1"):
    return {"id": key, "type": "function", "function": {"name": name, "arguments": arguments}}


def tool(name, *properties):
    schema = {"type": "object", "properties": {word: {"type": "string", "description": word} for word in properties}, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "description": name, "parameters": schema}}


def make_conversations():
    same = {"role": "user", "content": "user"}
    answer = {"role": "assistant", "content": "assistant"}
    yield [same]
    yield [same, answer, same]
    yield [same, answer, same, answer]
    yield [{"role": "user", "content": "Which role?"}, {"role": "assistant", "content": "user"}]
    yield [{"role": "system", "content": "system"}, same, {"role": "assistant", "content": "role"}]
    for word in WORDS:
        yield [{"role": "user", "content": word}, {"role": "assistant", "content": word}, {"role": "user", "content": "Thanks"}]
    for arguments in ({"type": "string", "name": "user"}, {}, {"content": ["text", "text"]}):
        called = {"role": "assistant", "content": "", "tool_calls": [call("function", arguments)]}
        result = {"role": "tool", "tool_call_id": "c1", "name": "function", "content": "object"}
        yield [same, called]
        yield [same, called, result]
        yield [same, called, result, {"role": "assistant", "content": "text"}]
        yield [same, {**called, "content": "tool"}, result, {"role": "assistant", "content": "name"}, same]
    twice = call("name", {"type": "type"})
    yield [same, {"role": "assistant", "content": None, "tool_calls": [twice, twice]}, {"role": "tool", "content": "tool", "tool_call_id": "c1"}]
    parts = [{"type": "text", "text": "text"}, {"type": "text", "text": "type"}]
    yield [{"role": "user", "content": parts}, {"role": "assistant", "content": parts}]
    yield [{"role": "user", "content": [parts[0], parts[0]]}, answer]
    for key in ("reasoning_content", "reasoning", "thinking"):
        yield [same, {"role": "assistant", "content": "content", key: "reasoning"}, same, {"role": "assistant", "content": "user", key: "user"}]
    yield [same] * 2
    yield [{"role": "system", "content": "x"}, {"role": "system", "content": "x"}, same, answer]


TOOLS = [tool("function", "type", "name"), tool("user", "user"), tool("function", "type", "name")]


def make_requests():
    for number, messages in enumerate(make_conversations()):
        for tools in (None, TOOLS):
            yield {"messages": messages, "tools": tools, "add_generation_prompt": number % 3 == 0}


def ask_port(port, lines):
    done = subprocess.run([port, "port"], input=lines, capture_output=True, check=True, encoding="utf-8")
    return [json.loads(line) for line in done.stdout.splitlines()]


def shape(answer):
    """Returns what the two must have in common."""
    assistant = answer.get("assistant")
    return {
        "output": answer["output"],
        "segments": answer["segments"],
        "turns": answer["turns"],
        "assistant": [] if isinstance(assistant, dict) else assistant,
        "unknown": [[turn["message"], turn["unknown"]] for turn in answer.get("unknown_turns", [])],
    }


def render(template, request, options):
    adds = request["add_generation_prompt"]
    prompt = template.render(request["messages"], tools=request["tools"], add_generation_prompt=adds, options=options)
    pairs = lambda spans: [list(span) for span in spans]
    turns = [
        {"message": turn["message"], **{part: pairs(turn[part]) for part in ("header", "body", "close")},
         "fields": [{"name": name, "spans": pairs(spans)} for name, spans in turn["fields"]]}
        for turn in prompt.turns
    ]  # fmt: skip
    return {
        "output": prompt.text,
        "segments": prompt.segments,
        "turns": turns,
        "assistant": pairs(prompt.assistant_spans),
        "unknown": [[message, reason] for message, reason in prompt.unknown_turns if message is not None],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("port")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--show", type=int, default=3)
    arguments = parser.parse_args()
    paths = sorted(path for folder in arguments.folders for path in folder.rglob("*.jinja"))[:: arguments.every]
    requests = list(make_requests())
    options = Options(now=datetime.datetime.fromisoformat(NOW))
    count = renders = different = 0
    for path in paths:
        source = path.read_bytes().decode()
        try:
            template = ChatTemplate.from_source(source, **TOKENS)
        except TemplateError:
            continue
        lines = [
            json.dumps({"apply": {"template": source, "special_tokens": TOKENS, **request}, "now": NOW, "trace": True, "turns": True, "assistant": True})
            for request in requests
        ]
        for request, answer in zip(requests, ask_port(arguments.port, "\n".join(lines)), strict=True):
            count += 1
            try:
                own = render(template, request, options)
            except TemplateError as error:
                if "error" not in answer or answer["error"]["message"] != error.message:
                    different += 1
                    print(path.name, json.dumps(request["messages"]), "error", error.message, answer.get("error"))
                continue
            renders += 1
            expected = shape(answer) if "output" in answer else answer
            if own != expected:
                different += 1
                if different <= arguments.show:
                    keys = [key for key in own if own[key] != expected.get(key)]
                    print(path.name, json.dumps(request), *((key, own[key], expected.get(key)) for key in keys), sep="\n  ")
    print(f"{len(paths)} templates, {count} requests, {renders} rendered, {different} differ")
    return 1 if different or not renders else 0


if __name__ == "__main__":
    sys.exit(main())
