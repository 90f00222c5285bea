"""Prepares bodies of 17 shapes and three formats for each template of a corpus, and checks that no planted word is lost in silence.

    python3 tests/door/check.py PORT CORPUS [--only NAME] [--show N]

PORT is the binary, whose command `port` is asked. CORPUS is a folder with templates (`*.jinja`). Templates that do not print a plain
conversation are skipped. Each text of a body has a unique word; a word that the prompt does not have must be in a change `dropped`.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

# The share of bodies that templates may refuse.
MOST_REFUSED = 0.02

BOS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}


class Words:
    """Makes unique words, and remembers the path of each."""

    def __init__(self):
        self.count = 0

    def __call__(self, prefix="w"):
        self.count += 1
        return f"{prefix}{self.count}zq{(self.count * 7919) % 1000:03d}"


def tool(name, words, extra=None):
    parameters = {"type": "object", "properties": {words("p"): {"type": "string", "description": words("d")}}, "required": []}
    return {"name": name, "description": f"It finds {words('t')}.", "parameters": parameters}


def wrapped(function):
    return {"type": "function", "function": function}


def call(index, name, arguments):
    return {"id": f"call{index:05d}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def image():
    return {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def text(value):
    return {"type": "text", "text": value}


def result(index, content):
    return {"role": "tool", "tool_call_id": f"call{index:05d}", "content": content}


def chat_bodies():
    """Yields a name and a body of Chat Completions for each shape."""
    w = Words()
    user = lambda: {"role": "user", "content": f"Say {w()} now"}
    assistant = lambda: {"role": "assistant", "content": f"I say {w()}."}
    system = lambda: {"role": "system", "content": f"Be {w()}."}
    find = lambda: tool(f"find_{w('f')}", w)
    calls = lambda *indices: [call(i, "find_it", {w("k"): w(), "n": 3}) for i in indices]
    yield "strings", {"messages": [system(), user(), assistant(), user()]}
    yield "parts", {"messages": [{"role": role, "content": [text(f"Say {w()}")]} for role in ("system", "user", "assistant", "user")]}
    yield "several_parts", {"messages": [{"role": "user", "content": [text(w()), text(w())]}, {"role": "assistant", "content": [text(w()), text(w())]}, {"role": "user", "content": [text(w()), text(w()), text(w())]}]}
    yield "images", {"messages": [{"role": "user", "content": [text(f"See {w()}"), image(), text(f"and {w()}"), image(), text(w())]}]}
    yield "developer", {"messages": [{"role": "developer", "content": f"Be {w()}."}, user(), assistant(), user()]}
    yield "system_in_middle", {"messages": [system(), user(), assistant(), system(), user()]}
    yield "two_systems", {"messages": [system(), system(), user(), assistant(), user()]}
    yield "two_users", {"messages": [system(), user(), user(), assistant(), user()]}
    yield "text_arguments", {"messages": [user(), {"role": "assistant", "content": w(), "tool_calls": calls(1)}, result(1, w()), assistant(), user()], "tools": [wrapped(find())]}
    yield "parallel_calls", {"messages": [system(), user(), {"role": "assistant", "content": "", "tool_calls": calls(1, 2)}, result(1, w()), result(2, w())], "tools": [wrapped(find())]}
    yield "results_as_parts", {"messages": [user(), {"role": "assistant", "content": None, "tool_calls": calls(1)}, result(1, [text(w()), text(w())])], "tools": [wrapped(find())]}
    yield "reasoning", {"messages": [user(), dict(assistant(), reasoning_content=f"Hm {w()}"), user(), {"role": "assistant", "reasoning_content": w(), "content": None, "tool_calls": calls(1)}, result(1, w())], "tools": [wrapped(find())]}
    yield "empty_and_null", {"messages": [user(), {"role": "assistant", "content": None, "tool_calls": calls(1)}, result(1, ""), {"role": "assistant", "content": ""}, {"role": "user", "content": ""}, {"role": "assistant", "content": None}, user()], "tools": [wrapped(find())]}
    yield "tools_flat_and_wrapped", {"messages": [system(), user()], "tools": [dict(find(), type="function"), wrapped(find()), find()]}
    yield "tool_choice_none", {"messages": [user(), assistant(), user()], "tools": [wrapped(find())], "tool_choice": "none"}
    yield "documents", {"messages": [system(), user()], "documents": [{"title": w(), "text": w()}, {"doc_id": 2, "title": w(), "text": w(), "note": w()}]}
    yield "further_keys", {"messages": [dict(user(), name=w(), note=w()), dict(assistant(), refusal=w(), function_call={"name": w(), "arguments": "{}"}), dict(user(), details=[{"type": "text", "text": w()}])]}


def to_text(content):
    return content if isinstance(content, str) else content and [dict(part) for part in content]


def to_responses(body):
    """Returns a body of Chat Completions as one of Responses."""
    items = []
    for message in body["messages"]:
        role, content = message["role"], message.get("content")
        kind = "output_text" if role == "assistant" else "input_text"
        if isinstance(content, list):
            content = [
                {"type": kind, "text": part["text"]} if part["type"] == "text" else {"type": "input_image", "image_url": part["image_url"]["url"], "detail": "auto"}
                for part in content
            ]
        if role == "tool":
            items.append({"type": "function_call_output", "call_id": message["tool_call_id"], "output": content})
            continue
        if message.get("reasoning_content"):
            items.append({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": message["reasoning_content"]}]})
        if content is not None:
            if role == "assistant" and isinstance(content, str):
                content = [{"type": "output_text", "text": content, "annotations": []}]
            items.append({"type": "message", "role": role, "content": content})
        for each in message.get("tool_calls", []):
            items.append({"type": "function_call", "call_id": each["id"], "name": each["function"]["name"], "arguments": each["function"]["arguments"]})
    answer = {"model": "m", "input": items}
    if body["messages"][0]["role"] == "system" and isinstance(body["messages"][0]["content"], str):
        answer["instructions"] = body["messages"][0]["content"]
        del items[0]
    if "tools" in body:
        answer["tools"] = [dict(t.get("function", t), type="function") for t in body["tools"]]
    answer |= {key: body[key] for key in ("tool_choice", "documents") if key in body}
    return answer


def to_messages(body):
    """Returns a body of Chat Completions as one of Anthropic's Messages."""
    messages, system = [], None
    for index, message in enumerate(body["messages"]):
        role, content = message["role"], message.get("content")
        if isinstance(content, list):
            content = [
                part if part["type"] == "text" else {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
                for part in content
            ]
        if index == 0 and role in ("system", "developer"):
            system = content
            continue
        if role == "tool":
            block = {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": content}
            if messages and messages[-1]["role"] == "user" and isinstance(messages[-1]["content"], list):
                messages[-1]["content"].append(block)
            else:
                messages.append({"role": "user", "content": [block]})
            continue
        blocks = []
        if message.get("reasoning_content"):
            blocks.append({"type": "thinking", "thinking": message["reasoning_content"], "signature": "AAAA"})
        if isinstance(content, str) and content:
            blocks.append(text(content))
        elif content:
            blocks += content
        for each in message.get("tool_calls", []):
            blocks.append({"type": "tool_use", "id": each["id"], "name": each["function"]["name"], "input": json.loads(each["function"]["arguments"])})
        is_plain = len(blocks) == 1 and isinstance(content, str) and blocks[0]["type"] == "text"
        messages.append({"role": role, "content": content if is_plain else blocks})
    answer = {"model": "m", "max_tokens": 100, "messages": messages}
    if system is not None:
        answer["system"] = system
    if "tools" in body:
        tools = [t.get("function", t) for t in body["tools"]]
        answer["tools"] = [{"name": t["name"], "description": t["description"], "input_schema": t["parameters"]} for t in tools]
    if "tool_choice" in body:
        answer["tool_choice"] = {"type": "none"}
    if "documents" in body:
        answer["documents"] = body["documents"]
    return answer


def bodies():
    """Yields the format, the shape and the body of each request."""
    for shape, body in chat_bodies():
        yield "chat_completions", shape, body
        yield "responses", shape, to_responses(body)
        yield "messages", shape, to_messages(body)


WORD = re.compile(r"[a-z]\d+zq\d{3}")


def find_words(value, path=""):
    """Yields each planted word with the JSON pointer of its string. Arguments and tools are values as a whole."""
    if isinstance(value, str):
        for word in WORD.findall(value):
            yield word, path
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from find_words(item, f"{path}/{index}")
    elif isinstance(value, dict):
        for key, item in value.items():
            for word in WORD.findall(key):
                yield word, f"{path}/{key}"
            yield from find_words(item, f"{path}/{key}")


def judge(body, answer):
    """Returns the faults of an answer."""
    faults = []
    output = answer["output"]
    dropped = [change["path"] for change in answer["changes"] if change["what"] == "dropped"]
    for word, path in find_words(body):
        if word not in output and not any(path == other or path.startswith(other + "/") for other in dropped):
            faults.append(f"lost {path}")
    if re.search(r"['\"]type\\?['\"]: ?\\?['\"](text|input_text|output_text)", output):
        faults.append("repr")
    if re.search(r'\\"[kp]\d+zq|\{\{"k\d+zq', output):
        faults.append("double")
    for change in answer["changes"]:
        if change["what"] == "dropped":
            is_tool = change["path"].startswith("/tools")
            is_in = lambda path: path == change["path"] or is_tool and path.startswith(change["path"] + "/")
            strings = [word for word, path in find_words(body) if is_in(path)]
            if strings and all(word in output for word in strings):
                faults.append(f"falsely dropped {change['path']}")
    return faults


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("port")
    arguments.add_argument("corpus", type=pathlib.Path)
    arguments.add_argument("--only")
    arguments.add_argument("--shape")
    arguments.add_argument("--show", type=int, default=5)
    arguments = arguments.parse_args()
    port = subprocess.Popen([arguments.port, "port"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(request):
        port.stdin.write(json.dumps(request).encode() + b"\n")
        port.stdin.flush()
        return json.loads(port.stdout.readline())

    usable, asked, failures, groups = 0, 0, collections.Counter(), collections.defaultdict(list)
    dropped = collections.Counter()
    requests = list(bodies())
    for path in sorted(arguments.corpus.rglob("*.jinja")):
        if arguments.only and arguments.only not in path.name:
            continue
        template = path.read_bytes().decode("utf-8", "surrogateescape")
        chat = {"template": template, "special_tokens": BOS}

        def is_taken(make):
            says = [{"role": role, "content": make(f"w{index}zq000")} for index, role in enumerate(("user", "assistant", "user"))]
            output = ask({"id": 0, "apply": dict(chat, messages=says, add_generation_prompt=True)}).get("output", "")
            return "w0zq000" in output and "w2zq000" in output

        if not is_taken(str) and not is_taken(lambda word: [text(word)]):
            continue
        usable += 1
        for kind, shape, body in requests:
            if arguments.shape and shape != arguments.shape:
                continue
            asked += 1
            answer = ask({"id": 1, "chat": dict(chat, body=body)})
            if "output" not in answer:
                error = answer.get("error") or answer
                cause = f"{error.get('class')}/{error.get('kind')}"
                failures[cause] += 1
                groups[f"{cause} {shape}"].append((path.name, kind, error.get("message")))
                continue
            for fault in judge(body, answer):
                failures[fault.split()[0]] += 1
                groups[f"{fault} {kind} {shape}"].append((path.name, kind, answer["output"][-1500:], answer["changes"]))
            for change in answer["changes"]:
                dropped[change["what"], re.sub(r"\d+", "N", change["path"]) if change["what"] == "dropped" else ""] += 1
    port.stdin.close()
    print(f"{usable} usable templates, {asked} bodies; {dict(failures)}")
    for name, examples in sorted(groups.items(), key=lambda group: -len(group[1])):
        print(f"{len(examples):6} {name}")
        for example in examples[: arguments.show]:
            print("        ", *example, sep=" ")
    if arguments.show:
        for name, count in dropped.most_common(40):
            print(count, *name)
    # A template raises an error, or fails at a value that it does not take.
    refused = failures.pop("refused/raised", 0) + failures.pop("mismatch/type", 0)
    return bool(failures) or refused > MOST_REFUSED * asked


if __name__ == "__main__":
    sys.exit(main())
