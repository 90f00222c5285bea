#!/usr/bin/env python3
"""Measures `append` on templates: samples that end with the template's token, without it, with the tokenizer's end-of-sequence token and with
the token that begins the next turn; and loops of twenty turns, in which what was sampled differs from what the template prints.

    python3 tests/python/measure_append.py FOLDER [--every N] [--show N]      in an environment with the wheel

The templates are the files `*.jinja` in the folder, of which `--every` takes each Nth. A template counts if it keeps its own prefix.
"""

import argparse
import collections
import datetime
import pathlib
import re

from chat_template import ChatTemplate, Options, TemplateError

NOW = Options(now=datetime.datetime(2026, 1, 2, 3, 4, 5))
EOS = "</s>"
TOKENS = {"bos_token": "<s>", "eos_token": EOS, "pad_token": "<pad>", "unk_token": "<unk>"}
TURNS = 20

CITY = {"type": "object", "properties": {"city": {"type": "string", "description": "The city"}}, "required": ["city"]}
TOOLS = [{"type": "function", "function": {"name": "get_weather", "description": "Weather", "parameters": CITY}}]
USER = {"role": "user", "content": "Hello"}
ANSWER = {"role": "assistant", "content": "An answer"}
CALLS = [{"id": "call00001", "type": "function", "function": {"name": "get_weather", "arguments": {"city": "Paris"}}}]
CALL = {"role": "assistant", "content": "", "tool_calls": CALLS}
RESULT = {"role": "tool", "tool_call_id": "call00001", "name": "get_weather", "content": "Sunny"}
MORE = {"role": "user", "content": "Again"}
# The messages before an answer, the answer, the messages after it, and the tools.
SCENES = {
    "text": ([USER], ANSWER, [MORE], None),
    "second answer": ([USER, {"role": "assistant", "content": "First"}, MORE], ANSWER, [USER], None),
    "call": ([USER], CALL, [RESULT], TOOLS),
    "after a result": ([USER, CALL, RESULT], ANSWER, [MORE], TOOLS),
}
TOKEN = r"(<[^<>\s]{1,62}>|\[[^\[\]\s]{1,62}\])"


def render(template, messages, tools, is_prompted):
    try:
        return template.apply_chat_template(messages, tools=tools, add_generation_prompt=is_prompted, options=NOW)
    except TemplateError:
        return None


def append(template, messages, seen, sampled, tools):
    try:
        return template.append(messages, seen, sampled, tools=tools, add_generation_prompt=True, options=NOW)
    except TemplateError as error:
        return error


def make_samples(template, scene):
    """Returns the prompt before an answer, and for each kind a sample and the pieces that are right after it."""
    before, answer, after, tools = scene
    seen = render(template, before, tools, True)
    answered = render(template, [*before, answer], tools, False)
    whole = render(template, [*before, answer, *after], tools, True)
    if not seen or not answered or not whole or not answered.startswith(seen) or seen == render(template, before, tools, False):
        return None
    turn = answered[len(seen) :].rstrip()
    if not turn or not whole.startswith(seen + turn):
        return None
    token = re.search(TOKEN + "$", turn)
    is_close = token and answer is CALL and ("/" in token[0] or token[0] == "<tool_call|>")
    end = token[0] if token and not is_close else ""
    text, rest = turn.removesuffix(end), whole[len(seen) + len(turn) :]
    # The template can write the end of a turn only before another turn.
    own = re.match(TOKEN, rest)
    replaced = [rest] if end or not own else [rest, rest[own.end() :]]
    samples = {"without a token": (text, [end + rest]), "end of sequence": (text + EOS, replaced)}
    if end:
        samples["own token"] = (turn, [rest])
    if marker := re.match(r"\s*" + TOKEN, rest):
        samples["next marker"] = (text + marker[1], [rest if end else rest[marker.end() :]])
    return seen, samples


def measure_samples(template, name, count, shown, show):
    for scene_name, scene in SCENES.items():
        made = make_samples(template, scene)
        for kind, (sampled, pieces) in made[1].items() if made else ():
            before, answer, after, tools = scene
            piece = append(template, [*before, answer, *after], made[0], sampled, tools)
            verdict = "none" if isinstance(piece, TemplateError) else "right" if piece in pieces else "wrong"
            count[kind][verdict] += 1
            if verdict != "right" and shown[kind, verdict] < show:
                shown[kind, verdict] += 1
                print(f"{verdict}: {name}, {scene_name}, {kind}: {sampled[-60:]!r}\n  {str(piece)[:90]!r}\n  {pieces[-1][:90]!r}")


def make_turns(has_calls):
    for number in range(TURNS):
        if has_calls and number % 3 == 0:
            yield CALL, RESULT
        else:
            yield {"role": "assistant", "content": f"answer {number}"}, {"role": "user", "content": f"more {number}"}


def measure_loop(template, tools):
    """Returns the error of a loop, `None` if it has none, and `False` if the template does not keep its own prefix."""
    messages, answers = [USER], []
    seen = before = render(template, messages, tools, True)
    for answer, after in make_turns(tools):
        answered = render(template, [*messages, answer], tools, False)
        messages += [answer, after]
        longer = render(template, messages, tools, True)
        if not before or not answered or not longer or not answered.startswith(before) or not longer.startswith(answered.rstrip()):
            return False
        answers.append(answered[len(before) :].rstrip())
        before = longer
    messages = [USER]
    for number, (turn, text) in enumerate(zip(make_turns(tools), answers)):
        messages += turn
        sampled = text if number % 2 else text.replace("answer", "Answer  ")
        piece = append(template, messages, seen, sampled, tools)
        if isinstance(piece, TemplateError):
            return f"turn {number}: {piece}"
        seen += sampled + piece
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--show", type=int, default=0)
    arguments = parser.parse_args()
    count, shown = collections.defaultdict(collections.Counter), collections.Counter()
    for path in sorted(arguments.folder.rglob("*.jinja"))[:: arguments.every]:
        try:
            template = ChatTemplate.from_source(path.read_bytes().decode(), **TOKENS)
        except TemplateError:
            continue
        measure_samples(template, path.name, count, shown, arguments.show)
        for tools in (None, TOOLS):
            error = measure_loop(template, tools)
            if error is not False:
                count["loop of twenty turns"]["none" if error else "right"] += 1
                if error and shown["loop"] < arguments.show:
                    shown["loop"] += 1
                    print(f"loop: {path.name}: {error}")
    for kind, verdicts in sorted(count.items()):
        total = verdicts.total()
        print(f"{kind}: {total}, wrong {verdicts['wrong'] / total:.1%}, without a piece {verdicts['none'] / total:.1%}")


if __name__ == "__main__":
    main()
