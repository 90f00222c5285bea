"""Compares the reports of `inspect` with what transformers renders: inspect_templates.py [--only WORD] FOLDER -- COMMAND ...

    python tests/reference/inspect_templates.py ../shared/corpus/templates -- target/release/chat-template port

It asks transformers with its own words and its own conversations, and knows nothing of how the crate comes to its verdicts. For each
template of the folder it compares `roles.*.content`, `calls.arguments` and the switches that change the generation prompt, and prints each
difference.
The exit status is 1 if fewer than 99.5 % of the verdicts are equal or if a switch is missing or false.
"""

import argparse
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import jinja2
import jinja2.meta

import apply
import engine

engine.clock.set("2026-01-02T03:04:05")

TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}

WORD, KEY, VALUE, FUNCTION = "Marmalade", "riverbank", "Lighthouse", "find_ferry"

TOOLS = [{"type": "function", "function": {
    "name": FUNCTION, "description": "Finds the next ferry.",
    "parameters": {"type": "object", "properties": {KEY: {"type": "string", "description": "Where to."}}, "required": [KEY]}}}]


def render(source, messages, **arguments):
    """The prompt and None, or None and the exception."""
    try:
        request = {"template": source, "messages": messages, "special_tokens": TOKENS, **arguments}
        return apply.call(request, False)["output"], None
    except Exception as error:
        return None, error


def says(role, text, parts=False):
    return {"role": role, "content": [{"type": "text", "text": text}] if parts else text}


def calling(arguments, content, call_id="c4Ll7xYz9", **more):
    message = {"role": "assistant", "tool_calls": [
        {"id": call_id, "type": "function", "function": {"name": FUNCTION, "arguments": arguments}}], **more}
    return message if content is None else message | {"content": content}


def frames(role, planted, parts):
    """Conversations around a message."""
    user, answer, system = says("user", "When?", parts), says("assistant", "At noon.", parts), says("system", "Be short.", parts)
    again = says("user", "And then?", parts)
    if role == "system":
        return [[planted, user], [planted, user, answer, again], [planted], [planted, user, answer], [user, planted], [user, answer, planted, again]]
    if role == "developer":
        return [[planted, user], [planted, user, answer], [planted], [user, planted], [system, planted, user], [user, answer, planted, again], [user, planted, again]]
    if role == "user":
        return [[planted], [user, answer, planted], [system, planted], [system, user, answer, planted], [planted, answer], [planted, answer, again]]
    if role == "assistant":
        return [[user, planted], [user, planted, again], [system, user, planted], [system, user, planted, again], [user, answer, again, planted], [planted], [planted, user]]
    found = []
    for given, content in itertools.product(({KEY: VALUE}, json.dumps({KEY: VALUE})), (None, "", "I look.")):
        call = calling(given, content if not (parts and content) else [{"type": "text", "text": content}])
        found += [[user, call, planted], [user, call, planted, answer], [system, user, call, planted], [user, call, planted, answer, again]]
    return found


ORDER = ["printed", "repr", "double", "lost", "failed"]


def judge_role(source, role, as_parts):
    message = says(role, WORD, as_parts)
    if role == "tool":
        message |= {"tool_call_id": "c4Ll7xYz9", "name": FUNCTION}
    best = "failed"
    for tools, around in itertools.product((None, TOOLS), (False, True)):
        # A template may need tools.
        if tools and role != "tool" and best != "failed":
            break
        alone = [[says("user", "When?", around), message], [message]] if role == "tool" and not tools else []
        for messages in frames(role, message, around) + alone:
            text, error = render(source, messages, tools=tools)
            best = min(best, outcome_of(text, as_parts), key=ORDER.index)
            if best == "printed":
                return best
    return best


def outcome_of(text, as_parts):
    if text is None:
        return "failed"
    if WORD not in text:
        return "lost"
    # A printed part has its own key `text` before the word.
    if as_parts and re.search(r"""['"]text\\*['"]\s*:\s*\\*['"]""" + WORD, text):
        return "repr"
    return "printed"


def judge_arguments(source, as_text):
    arguments = json.dumps({KEY: VALUE}) if as_text else {KEY: VALUE}
    best = "failed"
    for tools, parts, content in itertools.product((TOOLS, None), (False, True), (None, "", "I look.")):
        if parts and content:
            content = [{"type": "text", "text": content}]
        user, answer, system = says("user", "When?", parts), says("assistant", "At noon.", parts), says("system", "Be short.", parts)
        call = calling(arguments, content)
        result = says("tool", "14:05", parts) | {"tool_call_id": "c4Ll7xYz9", "name": FUNCTION}
        for messages in ([user, call], [user, call, result], [user, call, result, answer], [user, call, result, answer, user],
                         [system, user, call, result], [system, user, call, result, answer]):
            # The name of a parameter is also in the tools.
            shown = [{**TOOLS[0], "function": {**TOOLS[0]["function"], "parameters": {"type": "object", "properties": {}}}}] if tools else None
            text, error = render(source, messages, tools=shown)
            if text is None:
                outcome = "failed"
            elif KEY not in text or VALUE not in text:
                outcome = "lost"
            elif as_text and (f'\\"{KEY}' in text or re.search(r"\{\s*\{\s*\"" + KEY, text)):
                outcome = "double"
            else:
                outcome = "printed"
            best = min(best, outcome, key=ORDER.index)
            if best == "printed":
                return best
    return best


CONTRACT = {"messages", "tools", "documents", "add_generation_prompt", "raise_exception", "strftime_now", "range", "dict", "namespace",
            "cycler", "joiner", "lipsum", "self", "loop", "caller", "varargs", "kwargs", "continue_final_message", "tokenize", "padding",
            "chat_template", "conversation", "conversations", "truncation", "max_length", "return_tensors", "return_dict", "tokenizer_kwargs",
            "return_assistant_tokens_mask", "sanitize_control_tokens", "compiled_template"}

SWITCHED = [
    ([says("user", "When?")], None),
    ([says("system", "Be short."), says("user", "When?")], None),
    ([says("user", "When?")], TOOLS),
    ([says("user", "When?"), calling({KEY: VALUE}, ""), says("tool", "14:05") | {"tool_call_id": "c4Ll7xYz9", "name": FUNCTION}], TOOLS),
]


def find_switches(source):
    """The variables that change the generation prompt."""
    try:
        tree = engine.compile_template(source).environment.parse(source)
    except jinja2.TemplateError:
        return set()
    literals = {node.value for node in tree.find_all(jinja2.nodes.Const) if isinstance(node.value, str) and len(node.value) < 40}
    names = sorted(jinja2.meta.find_undeclared_variables(tree) - CONTRACT - set(TOKENS))
    names = [name for name in names if not name.endswith("_token")]
    values = [True, False, None, 0, 1, 7, "oyster", ["oyster"], {"name": "oyster"}, *sorted(literals)[:150]]

    def prompt(messages, tools, variables):
        without = render(source, messages, tools=tools, variables=variables)[0]
        with_it = render(source, messages, tools=tools, variables=variables, add_generation_prompt=True)[0]
        if without is None or with_it is None:
            return None
        # A template may write more after the generation prompt.
        start = len(os.path.commonprefix([without, with_it]))
        rest = without[start:]
        return with_it[start:len(with_it) - len(rest)] if with_it[start:].endswith(rest) else None

    found = set()
    for messages, tools in SWITCHED:
        plain = prompt(messages, tools, {})
        for name in names:
            for value in values:
                if name not in found and plain is not None:
                    changed = prompt(messages, tools, {name: value})
                    if changed is not None and changed != plain:
                        found.add(name)
    # A variable may only matter beside another one.
    for name, other in itertools.permutations(names, 2):
        if name in found or len(names) > 12:
            continue
        for value, beside in itertools.product((True, False, "low", "high", 7), (True, False)):
            messages, tools = SWITCHED[0]
            plain, changed = prompt(messages, tools, {other: beside}), prompt(messages, tools, {other: beside, name: value})
            if None not in (plain, changed) and plain != changed:
                found.add(name)
    return found


def find_all(path):
    source = pathlib.Path(path).read_bytes().decode()
    roles = {}
    for role in ("system", "user", "assistant", "tool", "developer"):
        forms = [judge_role(source, role, as_parts) for as_parts in (False, True)]
        roles[role] = (*forms, content_of(*(form == "printed" for form in forms)))
    forms = [judge_arguments(source, as_text) for as_text in (False, True)]
    arguments = {(True, True): "both", (True, False): "object", (False, True): "string"}.get(tuple(form == "printed" for form in forms), "neither")
    return roles, (*forms, arguments), find_switches(source)


def content_of(string, parts):
    return {(True, True): "both", (True, False): "string", (False, True): "parts"}.get((string, parts), "neither")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--only", default="")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    paths = [str(path) for path in sorted(pathlib.Path(arguments.folder).iterdir()) if arguments.only in path.name]
    lines = [json.dumps({"id": path, "inspect": {"template": pathlib.Path(path).read_bytes().decode(), "special_tokens": TOKENS}}) for path in paths]
    done = subprocess.run(arguments.command, input="\n".join(lines), capture_output=True, text=True, check=True)
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        truths = pool.map(find_all, paths, chunksize=4)
        verdicts = differences = wrong_switches = errors = 0
        for path, (roles, calls, switches) in zip(paths, truths):
            name = pathlib.Path(path).name
            if "report" not in answers[path]:
                errors += 1
                print(f"{name}: no report: {answers[path]['error']['message'][:100]}")
                continue
            report = answers[path]["report"]
            for role, truth in roles.items():
                own = report["roles"][role]
                verdicts += 1
                if own["content"] != truth[2]:
                    differences += 1
                    print(f"{name}: roles.{role}: {own['string']}, {own['parts']}, {own['content']}; transformers: {', '.join(truth)}")
            verdicts += 1
            own = report["calls"]
            if own["arguments"] != calls[2]:
                differences += 1
                print(f"{name}: calls: {own['object']}, {own['string']}, {own['arguments']}; transformers: {', '.join(calls)}")
            named = {switch["name"] for switch in report["switches"] if "generation_prompt" in switch["changes"]}
            for switch in switches - named:
                wrong_switches += 1
                print(f"{name}: the switch {switch} is missing")
            for switch in named - switches:
                wrong_switches += 1
                print(f"{name}: the switch {switch} is not found by transformers")
    share = 100 * (verdicts - differences) / max(verdicts, 1)
    print(f"{verdicts} verdicts, {differences} differ: {share:.2f} % are equal; {wrong_switches} switches differ; {errors} without a report")
    sys.exit(share < 99.5 or wrong_switches > 0)


if __name__ == "__main__":
    main()
