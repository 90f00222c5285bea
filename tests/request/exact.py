"""Compares the policy `exact` with transformers on random bodies of Chat Completions.

    python3 tests/request/exact.py PORT CORPUS [--count N] [--seed S]

Run it with the Python of the reference. PORT is the binary. Outputs must be equal; where transformers fails, the
texts of the errors must be equal.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys

NOW = "2026-01-02T03:04:05"
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
TEXTS = ["Hi", "", " a\n", "é<|im_end|>", "{{ x }}", "<think>a</think>b", "'\"\\"]


def some_text(random):
    return random.choice(TEXTS)


def some_content(random):
    part = lambda: random.choice([{"type": "text", "text": some_text(random)}, {"type": "image"}, {"type": "image_url", "image_url": {"url": "u"}}, {"type": "x"}])
    return random.choice([lambda: some_text(random)] * 8 + [lambda: None, lambda: [part() for _ in range(random.randrange(3))]])()


def some_message(random):
    message = {"role": random.choice(["system", "user", "user", "user", "assistant", "assistant", "assistant", "tool"])}
    if random.random() < 0.95:
        message["content"] = some_content(random)
    if message["role"] == "assistant" and random.random() < 0.4:
        arguments = random.choice(['{"a": 1}', {"a": [1, None]}, "no", ""])
        message["tool_calls"] = [{"id": f"c{random.randrange(3)}", "type": "function", "function": {"name": "f", "arguments": arguments}} for _ in range(random.randrange(3))]
    if message["role"] == "tool" and random.random() < 0.8:
        message["tool_call_id"] = f"c{random.randrange(3)}"
    for key in ("reasoning_content", "thinking", "reasoning", "name"):
        if random.random() < 0.1:
            message[key] = some_text(random)
    return message


def some_body(random):
    body = {"model": "m", "temperature": 0.5, "messages": [some_message(random) for _ in range(random.randrange(6))]}
    function = {"name": "f", "description": some_text(random), "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}
    if random.random() < 0.4:
        body["tools"] = random.choice([[], None, [function], [{"type": "function", "function": function}], [{"type": "function", "function": function}]])
    if random.random() < 0.2:
        body["documents"] = random.choice([[], None, [{"title": "t", "text": some_text(random)}]])
    if random.random() < 0.3:
        body["chat_template_kwargs"] = random.choice([{}, None, {"enable_thinking": random.choice([True, False])}, {"thinking": True, "custom": [1.5]}])
    if random.random() < 0.2:
        body["add_generation_prompt"] = random.choice([True, False])
    if random.random() < 0.15:
        body["continue_final_message"] = random.choice([True, False, "content", "reasoning_content"])
    if random.random() < 0.1:
        body["reasoning_effort"] = "low"
    if random.random() < 0.1:
        body["tool_choice"] = "none"
    return body


def to_apply(body):
    """Returns the arguments of `apply_chat_template` that a body stands for."""
    variables = dict(body.get("chat_template_kwargs") or {})
    if "reasoning_effort" in body:
        variables.setdefault("reasoning_effort", body["reasoning_effort"])
    continued = body.get("continue_final_message", False)
    return {
        "messages": body["messages"],
        "tools": body.get("tools"),
        "documents": body.get("documents"),
        "variables": variables,
        "add_generation_prompt": body.get("add_generation_prompt", not continued),
        "continue_final_message": continued,
    }


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("port")
    arguments.add_argument("corpus", type=pathlib.Path)
    arguments.add_argument("--count", type=int, default=4000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments = arguments.parse_args()
    reference = [sys.executable, str(pathlib.Path(__file__).parent.parent / "reference" / "port.py")]
    ports = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for command in ([arguments.port, "port"], reference)]

    def ask(port, request):
        port.stdin.write(json.dumps(request).encode() + b"\n")
        port.stdin.flush()
        return json.loads(port.stdout.readline())

    some = random.Random(arguments.seed)
    paths = sorted(arguments.corpus.rglob("*.jinja"))
    paths = some.sample(paths, min(len(paths), arguments.count // 20))
    differences, failed = [], 0
    for index in range(arguments.count):
        template = paths[index // 20 % len(paths)].read_bytes().decode("utf-8")
        body = some_body(some)
        chat = {"template": template, "special_tokens": TOKENS}
        ours = ask(ports[0], {"id": 1, "chat": dict(chat, body=body, format="chat_completions", policy="exact"), "now": NOW})
        theirs = ask(ports[1], {"id": 1, "apply": dict(chat, **to_apply(body)), "now": NOW})
        key = lambda answer: answer.get("output", (answer.get("error") or {}).get("message", answer))
        failed += "error" in theirs
        if ("error" in ours) != ("error" in theirs) or key(ours) != key(theirs):
            differences.append((paths[index // 20 % len(paths)].name, body, key(ours), key(theirs)))
    for port in ports:
        port.stdin.close()
    for difference in differences[:5]:
        print(*difference, sep="\n  ")
    print(f"{arguments.count} bodies, {failed} of which transformers refuses: {len(differences)} differences")
    return bool(differences)


if __name__ == "__main__":
    sys.exit(main())
