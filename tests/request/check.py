"""Plants words in the texts of request bodies, and looks for them in the prompts that the port makes of the bodies.

    python3 tests/request/check.py PORT CORPUS [--bodies FILE] [--templates FILE] [--only NAME] [--shape NAME] [--show N]

PORT is the binary, whose command `port` is asked. CORPUS is a folder with templates (`*.jinja`), of which FILE lists those to use. The
bodies are those of FILE, one a line as `{"name": …, "body": …}`, or else 18 shapes in three formats. Templates that do not print a plain
conversation are skipped.

The checker knows the template, the body and the answer, and nothing of how the answer was made. Each answer counts as one of these, the
worst that fits:

    request     an error about the body                    refused, failed   the template raises an error, or fails in another way
    silent      a word is neither in the prompt nor under the path of a change of the kind `dropped`
    repr        a part of the content as Python or JSON prints it, or the data of a medium
    double      a key of arguments or parameters in JSON text that was encoded twice, or in double braces
    speaker     a text of another role directly after the header of the assistant
    echo        a header with the name of a role that the template does not know
    order       messages in another order
    false       a change says that a text is dropped, and the prompt has it
    named       a text, a call, a tool, a medium or reasoning is dropped, and a change says so
    whole       nothing is lost
"""

import argparse
import collections
import copy
import json
import pathlib
import re
import subprocess
import sys

# The shares of the bodies that templates may refuse or fail with, and that may have one of the faults in RARE.
MOST_REFUSED = 0.02
MOST_RARE = 0.005
RARE = ["failed", "repr", "speaker", "echo"]
FAULTS = ["request", "failed", "silent", "repr", "double", "speaker", "echo", "order", "false"]
GRADES = [*FAULTS, "refused", "named", "whole"]

TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
NOW = "2026-01-02T03:04:05"

# Keys whose values are no texts for the model: identifiers, settings, and data that only the maker of the body can read.
CONTROL = """type role id call_id tool_call_id tool_use_id status model signature encrypted_content encrypted_index cache_control media_type
detail format file_id approval_request_id phase server_label server_name annotations citations logprobs caller fingerprint environment
container_id syntax mode strict extra_content thought_signature index exclude required enum additionalProperties $schema
acknowledged_safety_checks pending_safety_checks""".split()
MEDIA = ["image", "image_url", "input_image", "input_audio", "audio", "audio_url", "video", "video_url", "file", "input_file"]
LISTS = ["instructions", "system", "messages", "input", "tools", "functions", "documents"]
SCHEMAS = ["parameters", "input_schema"]
PART = re.compile(
    r"""['"]type\\?['"]: ?\\?['"](text|\w+_text|refusal|thinking|tool_use|tool_result|document|"""
    + "|".join(MEDIA)
    + r""")\\?['"]|['"](image_url|input_audio|file_data|media_type)\\?['"]:"""
)

Word = collections.namedtuple("Word", "text path kind role turn")


class Planter:
    """Puts unique words into a copy of a body. Each is remembered with the path and the kind of its text."""

    def __init__(self, body):
        self.words, self.calls, self.media, self.role, self.turn = [], {}, [], None, 0
        self.body = copy.deepcopy(body)
        choice = body.get("tool_choice")
        self.has_tools = choice != "none" and not (isinstance(choice, dict) and choice.get("type") == "none")
        for key in LISTS:
            if body.get(key) is not None:
                self.role = {"tools": "tool", "functions": "tool", "documents": "document", "input": "user"}.get(key, "system")
                self.body[key] = self.plant(self.body[key], f"/{key}", "tool" if self.role == "tool" else "content")

    def word(self, path, kind):
        count = len(self.words) + 1
        word = f"w{count}zq{count * 7919 % 1000:03d}"
        self.words.append(Word(word, path, kind, self.role, self.turn))
        return word

    def text(self, text, path, kind):
        if not text.strip():
            return text
        first = self.word(path, kind)
        return f"{first} {text} {self.word(path, kind)}" if " " in text else f"{first} {text}"

    def name(self, name, path, kind):
        return f"{name}_{self.word(path, kind)}"

    def arguments(self, value, path, key=None):
        """Plants words in the keys and strings of arguments."""
        if isinstance(value, str):
            return self.text(value, path, "call")
        if isinstance(value, list):
            return [self.arguments(item, path) for item in value]
        if isinstance(value, dict):
            return {self.name(key, path, "key"): self.arguments(item, path) for key, item in value.items()}
        return value

    def arguments_text(self, text, path):
        try:
            value = json.loads(text)
        except ValueError:
            return self.text(text, path, "call")
        return json.dumps(self.arguments(value, path)) if value else text

    def schema(self, value, path, is_properties=False):
        if isinstance(value, list):
            return [self.schema(item, f"{path}/{index}") for index, item in enumerate(value)]
        if not isinstance(value, dict):
            return value
        answer = {}
        for key, item in value.items():
            under = f"{path}/{key}"
            if key == "description" and isinstance(item, str):
                item = self.text(item, under, "tool")
            elif isinstance(item, (dict, list)) and (is_properties or key not in CONTROL):
                item = self.schema(item, under, key == "properties" and not is_properties)
            answer[self.name(key, path, "tool_key") if is_properties else key] = item
        return answer

    def medium(self, part, path):
        """Plants a word in the data of a medium. It must not be printed."""
        self.media.append(path)

        def mark(value):
            if isinstance(value, dict):
                return {key: item if key in CONTROL or key == "filename" else mark(item) for key, item in value.items()}
            return value.split(",")[0] + ",QUFBzqDATA" if isinstance(value, str) and len(value) > 3 else value

        return {key: value if key == "type" else mark(value) for key, value in part.items()}

    def plant(self, value, path, kind):
        if isinstance(value, str):
            return self.text(value, path, kind)
        if isinstance(value, list):
            return [self.plant(item, f"{path}/{index}", kind) for index, item in enumerate(value)]
        if not isinstance(value, dict):
            return value
        outer = self.role, self.turn
        if self.role != "document" and path.count("/") == 2 and not path.startswith(("/tools", "/functions", "/system")):
            self.turn = len(self.words) + 1
            self.role = value.get("role") or ("tool" if "output" in value.get("type", "") else "assistant")
        answer = self.object(value, path, kind)
        self.role, self.turn = outer
        return answer

    def object(self, value, path, kind):
        form = value.get("type") or ""
        if form in MEDIA or form == "document" and value["source"]["type"] in ("base64", "url"):
            return self.medium(value, path)
        if form == "image_generation_call":
            return value
        is_call = form.endswith(("_use", "_call")) or set(value) & {"arguments", "input"} and "name" in value
        is_result = form.endswith(("_result", "_output")) or value.get("role") in ("tool", "function")
        if is_result and self.role == "user":
            self.role = "tool"
        if kind == "tool" and "function" not in value and "custom" not in value and not set(value) & set(SCHEMAS):
            kind = "tool" if form == "custom" or path.endswith("/custom") or form == "function" else "setting"
        answer = {}
        for key, item in value.items():
            under = f"{path}/{key}"
            if key in SCHEMAS and kind == "tool":
                item = self.schema(item, under)
            elif key in ("arguments", "input", "action", "operation") and is_call:
                is_text = isinstance(item, str)
                plain = is_text and (form.startswith("custom") or path.endswith("/custom"))
                action = {k: v for k, v in item.items() if k == "type"} if isinstance(item, dict) and key[0] in "ao" else {}
                rest = {k: v for k, v in item.items() if k not in action} if isinstance(item, dict) else item
                planted = self.text(item, under, "call") if plain else self.arguments_text(item, under) if is_text else self.arguments(rest, under)
                item = {**action, **planted} if isinstance(planted, dict) else planted
            elif key == "name" and isinstance(item, str):
                if is_result:
                    item = self.calls.get(item, item)
                elif is_call:
                    self.calls[item] = item = self.name(item, under, "call")
                elif kind in ("tool", "setting"):
                    item = self.name(item, under, kind)
                else:
                    item = self.text(item, under, "setting")
            elif key == "data" and value.get("type") == "text":
                item = self.text(item, under, kind)
            elif key in CONTROL or key == "data" or key == "namespace" or (key == "filename" and is_result):
                pass
            elif key in ("reasoning_content", "reasoning", "thinking", "thinking_blocks", "reasoning_details", "summary"):
                item = self.plant(item, under, "reasoning")
            elif key == "content" and isinstance(item, int):
                item = self.plant_number(under)
            else:
                item = self.plant(item, under, "reasoning" if form in ("reasoning", "thinking") else kind)
            answer[key] = item
        return answer

    def plant_number(self, path):
        number = 100_000 + 7919 * (len(self.words) + 1)
        self.words.append(Word(str(number), path, "content", self.role, self.turn))
        return number

    def deduplicate(self):
        """Gives equal reasoning in two fields of one message one word, as clients send it twice."""
        for message in self.body.get("messages", []):
            details = message.get("reasoning_details") if isinstance(message, dict) else None
            own = message.get("reasoning") or message.get("reasoning_content") if details else None
            for detail in details or []:
                plain = lambda text: re.sub(r"w\d+zq\d+ ?", "", text).strip()
                if isinstance(detail.get("text"), str) and isinstance(own, str) and plain(detail["text"]) == plain(own):
                    self.words = [word for word in self.words if word.text not in detail["text"]]
                    detail["text"] = own
        return self


def covers(paths, path):
    return any(path == other or path.startswith(other + "/") for other in paths)


def find_headers(ask, chat):
    """Returns how the template opens an assistant's text, or None if it does not print a plain conversation."""
    for make in (str, lambda word: [{"type": "text", "text": word}]):
        says = [{"role": role, "content": make(f"w{index}zq000")} for index, role in enumerate(("user", "assistant", "user"))]
        output = ask({"apply": {**chat, "messages": says, "add_generation_prompt": True}}).get("output", "")
        found = re.fullmatch(r".*?w0zq000(.*)w1zq000(.*)w2zq000(.*)", output, re.S)
        if found:
            before_answer, before_user, tail = found.groups()
            pieces = {after_common(before_answer, before_user), after_common(tail, before_user)}
            return {piece for piece in pieces if piece and not before_user.rstrip().endswith(piece)}
        if "w0zq000" in output and "w2zq000" in output:
            return set()
    return None


def after_common(piece, other):
    """Returns what a piece has after the beginning that it shares with another one."""
    count = next((index for index, (a, b) in enumerate(zip(piece, other)) if a != b), min(len(piece), len(other)))
    return piece[count:].strip()


def judge(source, headers, planter, answer, render):
    """Returns the faults of an answer, each with its path. `render` returns the prompt of another body."""
    output = answer["output"]
    kinds = lambda change: change.get("kind") or change.get("what")
    dropped = [change["path"] for change in answer["changes"] if kinds(change) == "dropped"]
    faults, named = [], []
    for word in planter.words:
        if not re.search(rf"{word.text}(?!\d)", output):
            if not covers(dropped, word.path):
                faults.append(f"silent {word.path}")
            elif word.kind != "setting" and (planter.has_tools or not word.kind.startswith("tool")):
                named.append(f"named {word.path}")
    for path in planter.media:
        if covers(dropped, path):
            named.append(f"named {path}")
        elif render(remove(planter.body, path)) == output:
            faults.append(f"silent {path}")
    found = PART.search(output)
    if found:
        faults.append(f"repr {output[max(0, found.start() - 40) : found.end() + 40]!r}")
    if "zqDATA" in output:
        faults.append("repr data")
    for word in planter.words:
        if word.kind in ("key", "tool_key") and re.search(r'(\\"|\{\{")\w*' + word.text, output):
            faults.append(f"double {word.path}")
    faults += find_speakers(source, headers, planter, output)
    faults += find_order(planter, output)
    for path in dropped:
        is_whole = path.startswith(("/tools", "/messages", "/input"))
        words = [word for word in planter.words if word.path == path or is_whole and word.path.startswith(path + "/")]
        # A result can have the name of a call that is dropped.
        words = [word.text for word in words if word.path == path or not (word.kind == "call" and word.path.endswith("/name"))]
        if words and all(word in output for word in words):
            faults.append(f"false {path}")
    return faults + named


def find_speakers(source, headers, planter, output):
    places = sorted((output.index(word.text), word) for word in planter.words if word.text in output)
    last, spoken = 0, set()
    for start, word in places:
        piece = output[last:start].rstrip()
        last = start + len(word.text)
        if word.kind != "content" or not word.turn or word.path in spoken:
            continue
        spoken.add(word.path)
        if word.role != "assistant" and any(piece.endswith(header) for header in headers):
            yield f"speaker {word.path} {piece[-60:]!r}"
        role = re.search(r"(?:[^\w\s]|\n|^)(developer|tool|function)\W*$", piece[-60:])
        if role and not re.search(rf"\b{role[1]}\b", source):
            yield f"echo {word.path} {piece[-60:]!r}"


def find_order(planter, output):
    firsts = {}
    for word in planter.words:
        if word.text in output and word.kind == "content" and word.role in ("user", "assistant") and word.turn:
            firsts[word.turn] = min(firsts.get(word.turn, (len(output), "")), (output.index(word.text), word.path))
    last = -1
    for turn in sorted(firsts):
        place, path = firsts[turn]
        if place < last:
            yield f"order {path}"
        last = max(last, place)


def remove(body, path):
    """Returns a body without the value at a path, or the body itself if the value is no item of a list."""
    changed = copy.deepcopy(body)
    *keys, last = path[1:].split("/")
    value = changed
    for key in keys:
        value = value[int(key) if isinstance(value, list) else key]
    if not isinstance(value, list):
        return body
    del value[int(last)]
    return changed


def call(index):
    return {"id": f"call{index:05d}", "type": "function", "function": {"name": "find_it", "arguments": json.dumps({"key": "value", "n": 3})}}


def text(value):
    return {"type": "text", "text": value}


def chat_bodies():
    """Yields a name and a body of Chat Completions for each shape."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    system, user, assistant = ({"role": role, "content": f"I say something as {role}."} for role in ("system", "user", "assistant"))
    parts = [text("Say it"), text("twice"), text("and again")]
    find = {"name": "find_it", "description": "It finds.", "parameters": {"type": "object", "properties": {"key": {"type": "string", "description": "A key."}}, "required": []}}
    tools = [{"type": "function", "function": find}]
    caller = lambda *indices, **fields: {"role": "assistant", "content": "", **fields, "tool_calls": [call(index) for index in indices]}
    result = lambda index, content="Found it": {"role": "tool", "tool_call_id": f"call{index:05d}", "content": content}
    thinks = lambda message: {**message, "reasoning_content": "I think so"}
    with_tools = lambda *messages: {"messages": list(messages), "tools": tools}
    yield "strings", {"messages": [system, user, assistant, user]}
    yield "parts", {"messages": [{"role": role, "content": parts[:1]} for role in ("system", "user", "assistant", "user")]}
    yield "several_parts", {"messages": [{"role": "user", "content": parts[:2]}, {"role": "assistant", "content": parts[:2]}, {"role": "user", "content": parts}]}
    yield "images", {"messages": [{"role": "user", "content": [parts[0], image, parts[1], image, parts[2]]}]}
    yield "developer", {"messages": [{**system, "role": "developer"}, user, assistant, user]}
    yield "system_in_middle", {"messages": [system, user, assistant, system, user]}
    yield "two_systems", {"messages": [system, system, user, assistant, user]}
    yield "two_users", {"messages": [system, user, user, assistant, user]}
    yield "text_arguments", with_tools(user, caller(1, content="Looking"), result(1), assistant, user)
    yield "parts_and_call", with_tools(user, caller(1, content=parts[:1]), result(1), assistant, user)
    yield "parallel_calls", with_tools(system, user, caller(1, 2), result(1), result(2))
    yield "results_as_parts", with_tools(user, caller(1, content=None), result(1, parts[:2]))
    yield "reasoning", with_tools(user, thinks(assistant), user, thinks(caller(1, content=None)), result(1))
    yield "empty_and_null", with_tools(user, caller(1, content=None), result(1, ""), {"role": "assistant", "content": ""}, {"role": "user", "content": ""}, {"role": "assistant", "content": None}, user)
    yield "tools_flat_and_wrapped", {"messages": [system, user], "tools": [{**find, "type": "function"}, tools[0], find]}
    yield "tool_choice_none", {**with_tools(user, assistant, user), "tool_choice": "none"}
    yield "documents", {"messages": [system, user], "documents": [{"title": "One", "text": "First text"}, {"doc_id": 2, "title": "Two", "text": "Second text", "note": "Noted"}]}
    yield "further_keys", {"messages": [{**user, "name": "ann", "note": "noted"}, {**assistant, "refusal": "I refuse"}, {**user, "details": parts[:1]}]}


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
            items.append({"type": "function_call", "call_id": each["id"], **each["function"]})
    answer = {"model": "m", "input": items}
    if body["messages"][0]["role"] == "system" and isinstance(body["messages"][0]["content"], str):
        answer["instructions"] = body["messages"][0]["content"]
        del items[0]
    if "tools" in body:
        answer["tools"] = [dict(tool.get("function", tool), type="function") for tool in body["tools"]]
    return answer | {key: body[key] for key in ("tool_choice", "documents") if key in body}


def to_messages(body):
    """Returns a body of Chat Completions as one of Anthropic's Messages."""
    answer, messages = {"model": "m", "max_tokens": 100}, []
    for index, message in enumerate(body["messages"]):
        role, content = message["role"], message.get("content")
        if isinstance(content, list):
            source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
            content = [part if part["type"] == "text" else {"type": "image", "source": source} for part in content]
        if index == 0 and role in ("system", "developer"):
            answer["system"] = content
            continue
        if role == "tool":
            block = {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": content}
            if messages[-1]["role"] == "user" and isinstance(messages[-1]["content"], list):
                messages[-1]["content"].append(block)
            else:
                messages.append({"role": "user", "content": [block]})
            continue
        blocks = []
        if message.get("reasoning_content"):
            blocks.append({"type": "thinking", "thinking": message["reasoning_content"], "signature": "AAAA"})
        if content:
            blocks += [text(content)] if isinstance(content, str) else content
        for each in message.get("tool_calls", []):
            blocks.append({"type": "tool_use", "id": each["id"], "name": each["function"]["name"], "input": json.loads(each["function"]["arguments"])})
        is_plain = len(blocks) == 1 and isinstance(content, str) and blocks[0]["type"] == "text"
        messages.append({"role": role, "content": content if is_plain else blocks})
    answer["messages"] = messages
    if "tools" in body:
        tools = [tool.get("function", tool) for tool in body["tools"]]
        answer["tools"] = [{"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]} for tool in tools]
    if "tool_choice" in body:
        answer["tool_choice"] = {"type": "none"}
    return answer | {key: body[key] for key in ("documents",) if key in body}


def read_bodies(path):
    """Yields the name and the body of each request."""
    if path:
        for line in path.read_text().splitlines():
            yield (request := json.loads(line))["name"], request["body"]
        return
    for shape, body in chat_bodies():
        yield f"{shape} chat", body
        yield f"{shape} responses", to_responses(body)
        yield f"{shape} messages", to_messages(body)


def has_wrong_content(body):
    """Whether the content of a message is a number, a bool or an object, which is refused."""
    contents = [message.get("content") for message in body.get("messages") or [] if isinstance(message, dict)]
    return any(isinstance(content, (bool, int, float, dict)) for content in contents)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("port")
    arguments.add_argument("corpus", type=pathlib.Path)
    arguments.add_argument("--bodies", type=pathlib.Path)
    arguments.add_argument("--templates", type=pathlib.Path)
    arguments.add_argument("--only", default="")
    arguments.add_argument("--shape", default="")
    arguments.add_argument("--show", type=int, default=3)
    arguments = arguments.parse_args()
    port = subprocess.Popen([arguments.port, "port"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(request):
        port.stdin.write(json.dumps({"id": 1, "now": NOW, **request}).encode() + b"\n")
        port.stdin.flush()
        return json.loads(port.stdout.readline())

    paths = sorted(arguments.corpus.rglob("*.jinja"))
    if arguments.templates:
        names = arguments.templates.read_text().split()
        paths = [path for path in paths if path.name in names]
    requests = [(name, Planter(body).deduplicate()) for name, body in read_bodies(arguments.bodies) if arguments.shape in name]
    usable, grades, groups = 0, collections.Counter(), collections.defaultdict(list)
    for path in paths:
        if arguments.only not in path.name:
            continue
        source = path.read_bytes().decode("utf-8", "surrogateescape")
        chat = {"template": source, "special_tokens": TOKENS}
        headers = find_headers(ask, chat)
        if headers is None and not arguments.templates:
            continue
        usable += 1
        for name, planter in requests:
            answer = ask({"chat": {**chat, "body": planter.body}})
            if "output" not in answer:
                error = answer.get("error") or answer
                kind = error.get("class")
                is_wrong = kind == "request" and has_wrong_content(planter.body)
                faults = [] if is_wrong else [f"{kind if kind in ('request', 'refused') else 'failed'} {error.get('message')}"]
            else:
                render = lambda body: ask({"chat": {**chat, "body": body}}).get("output")
                faults = judge(source, headers or set(), planter, answer, render)
            found = {fault.split()[0] for fault in faults} or {"whole"}
            grade = next(grade for grade in GRADES if grade in found)
            grades[grade] += 1
            if faults:
                details = [answer.get("output", "")[-1500:], answer.get("changes")] if grade in FAULTS else []
                groups[f"{grade} {name}"].append((path.name, [fault for fault in faults if fault.startswith(grade)], *details))
    port.stdin.close()
    total = sum(grades.values())
    shown = lambda grade: f"{grade} {grades[grade]} ({100 * grades[grade] / max(total, 1):.1f} %)"
    for name, examples in sorted(groups.items(), key=lambda group: (GRADES.index(group[0].split()[0]), -len(group[1]))):
        print(f"{len(examples):6} {name}")
        for example in examples[: arguments.show]:
            print("        ", *example, sep=" ")
    print(f"{usable} templates, {total} bodies: {', '.join(shown(grade) for grade in reversed(GRADES) if grades[grade])}")
    most_refused = 1 if arguments.templates else MOST_REFUSED * total
    rare = sum(grades[grade] for grade in RARE)
    is_faulty = any(grades[grade] for grade in FAULTS if grade not in RARE) or rare > MOST_RARE * total
    return is_faulty or grades["refused"] > most_refused


if __name__ == "__main__":
    sys.exit(main())
