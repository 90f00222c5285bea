"""Checks what the model writes, in real templates, by two methods that need no trace.

    python tests/reference/masks.py tags CASES.jsonl -- chat-template port
    python tests/reference/masks.py turns CASES.jsonl -- chat-template port

The cases have real templates with conversations in the form of the conformance suite.

`tags` takes the `{% generation %}` tags out of templates, and compares the answers with the spans of the reference.
`turns` takes all templates. For each assistant's message, two checks look for the text that the model writes:

- By prefixes: it is the text that the prompt of the messages up to this one has after the prompt of the messages before it with a
  generation prompt. This is not possible where the first prompt does not begin with the second one.
- By replacement: another text in the message's content changes only characters that the model writes.

Each difference has a group, which says what it consists of. A difference in the group `other` is a fault.
"""

import collections
import copy
import json
import re
import subprocess
import sys
import tempfile

TAG = re.compile(r"\{%([-+]?)\s*(end)?generation\s*([-+]?)%\}")
CONTROL = re.compile(r"<[^<>\s]+>|\[[^\[\]\s]+\]")
OTHER_TEXT = "ZQx replacement 7"
MOST_SHOWN = 3
NO_END = "the prefix has no end of the turn"


def ask(requests, command):
    """The answers of a port by the ids of the requests."""
    with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as out:
        for request in requests:
            asked.write(json.dumps(request).encode() + b"\n")
        asked.seek(0)
        subprocess.run(command, stdin=asked, stdout=out, check=True)
        out.seek(0)
        return {answer["id"]: answer for answer in map(json.loads, out)}


def without_tags(template):
    """The template with `{% if true %}` in place of `{% generation %}`."""
    return TAG.sub(lambda tag: f"{{%{tag[1]} {'endif' if tag[2] else 'if true'} {tag[3]}%}}", template)


def trim(text, start, end):
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def characters(spans, length):
    """The indexes of the characters in spans."""
    return {at for start, end in spans for at in range(start, min(end, length))}


def runs(indexes, text):
    """The ranges of indexes that follow each other, without white space at their ends."""
    found = []
    for at in sorted(indexes):
        if found and found[-1][1] == at:
            found[-1][1] += 1
        else:
            found.append([at, at + 1])
    trimmed = (trim(text, *run) for run in found)
    return [run for run in trimmed if run[0] < run[1]]


class Report:
    """The number of cases in each group, and some of them."""

    def __init__(self):
        self.counts, self.templates, self.shown = collections.Counter(), collections.defaultdict(set), collections.Counter()

    def add(self, group, case, detail=None):
        self.counts[group] += 1
        self.templates[group].add(case["id"].split("/")[0])
        if group == "other" and self.shown[case["id"].split("/")[0]] < MOST_SHOWN:
            self.shown[case["id"].split("/")[0]] += 1
            print("other:", case["id"], *(repr(part)[:200] for part in detail))

    def print(self):
        total = sum(self.counts.values())
        for group, count in self.counts.most_common():
            print(f"{count:6} {100 * count / total:6.2f} %  {group}  ({len(self.templates[group])} templates)")


def check_tags(cases, command):
    report = Report()
    cases = [case for case in cases if TAG.search(case["template"]) and "generation" in case["expect"]]
    requests = [
        {"id": case["id"], "template": without_tags(case["template"]), "context": case["context"], "now": case["now"], "assistant": True, "turns": True}
        for case in cases
    ]
    answers = ask(requests, command)
    for case in cases:
        answer, text, want = answers[case["id"]], case["expect"]["output"], case["expect"]["generation"]
        messages = case["context"]["messages"]
        if answer.get("output") != text:
            report.add("the reference prints another text without the tags", case)
        elif not want and not any(message.get("role") == "assistant" for message in messages):
            report.add("no message of the assistant", case)
        elif isinstance(answer["assistant"], dict):
            report.add("unknown", case)
        else:
            for group, detail in compare_tags(answer, want, messages, text):
                report.add(group, case, detail)
                break
    report.print()


def compare_tags(answer, want, messages, text):
    """Yields each group of an answer with what differs, the gravest first."""
    want, got = characters(want, len(text)), characters(answer["assistant"], len(text))
    owner = {at: turn for turn in answer["turns"] for part in ("header", "body", "close") for at in characters(turn[part], len(text))}
    headers, bodies = ({at for turn in answer["turns"] for at in characters(turn[part], len(text))} for part in ("header", "body"))
    found = []
    for start, end in runs(want - got, text):
        message = messages[owner[start]["message"]] if start in owner else {}
        part = text[start:end]
        if message.get("role") == "assistant" and start in headers:
            found.append((1, "equal, and the tags count the header"))
        elif message.get("role") == "assistant" and CONTROL.fullmatch(part):
            found.append((1, "equal, and the tags count one more token"))
        elif message.get("role") == "assistant":
            found.append((3, "other", ("not found", part)))
        else:
            found.append((2, "the tags are also around text that is no assistant's", part))
    for start, end in runs(got - want, text):
        message = messages[owner[start]["message"]] if start in owner else {}
        part = text[start:end]
        if CONTROL.fullmatch(part):
            found.append((1, "equal, and the tags count one token less"))
        elif message.get("role") == "assistant" and start in bodies:
            found.append((2, "the tags leave out content or calls of the assistant"))
        else:
            found.append((3, "other", ("found", part)))
    for _, group, *detail in sorted(found, key=lambda each: -each[0]):
        yield group, detail
    yield "equal", ()


def check_turns(cases, command):
    prefixes, replaced, turns = Report(), Report(), Report()
    cases = [
        case
        for case in cases
        if "output" in case["expect"] and any(message.get("role") == "assistant" for message in case["context"]["messages"])
    ]
    answers = ask((request for case in cases for request in turn_requests(case)), command)
    for case in cases:
        answer, text, messages = answers[case["id"]], case["expect"]["output"], case["context"]["messages"]
        assert answer["output"] == text, case["id"]
        unknown = {turn["message"] for turn in answer.get("unknown_turns", [])}
        own = {turn["message"]: turn["header"] + turn["body"] + turn["close"] for turn in answer["turns"]}
        for index, message in enumerate(messages):
            if message.get("role") != "assistant":
                continue
            turns.add("unknown" if index in unknown else "known", case)
            if index in unknown or isinstance(answer["assistant"], dict):
                continue
            stretches = own.get(index, [])
            spans = [trim(text, *span) for span in answer["assistant"] if any(start <= span[0] < end for start, end in stretches)]
            spans = [span for span in spans if span[0] < span[1]]
            opened, closed = (answers[f"{case['id']}#{sort}{index}"].get("output") for sort in "oc")
            prefixes.add(*compare_prefix(case, text, spans, opened, closed))
            if f"{case['id']}#r{index}" in answers:
                replaced.add(*compare_replaced(case, text, spans, answers[f"{case['id']}#r{index}"].get("output")))
    for name, report in (("turns", turns), ("turns by prefixes", prefixes), ("turns by replacement", replaced)):
        print(f"{name}:")
        report.print()


def turn_requests(case):
    messages = case["context"]["messages"]

    def request(name, **changes):
        return {"id": case["id"] + name, "template": case["template"], "context": case["context"] | changes, "now": case["now"]}

    yield request("") | {"assistant": True, "turns": True}
    for index, message in enumerate(messages):
        if message.get("role") != "assistant":
            continue
        yield request(f"#o{index}", messages=messages[:index], add_generation_prompt=True)
        yield request(f"#c{index}", messages=messages[: index + 1], add_generation_prompt=False)
        if isinstance(message.get("content"), str) and message["content"].strip():
            others = copy.deepcopy(messages)
            others[index]["content"] = OTHER_TEXT
            yield request(f"#r{index}", messages=others)


def compare_prefix(case, text, spans, opened, closed):
    if TAG.search(case["template"]):
        return "the template has tags", case
    if opened is None or closed is None or not closed.startswith(opened) or not text.startswith(closed.rstrip()):
        return "not possible", case
    start, end = trim(text, len(opened), len(closed.rstrip()))
    if not spans and start >= end:
        return "equal", case
    spans = spans or [(start, start)]
    begin, until = spans[0][0], spans[-1][1]
    detail = (text[start:end], [text[a:b] for a, b in spans])
    if (start, end) == (begin, until):
        return "equal", case
    if end <= begin < until and CONTROL.fullmatch(text[begin:until]):
        return NO_END, case
    if start < begin:
        return "the prefix has the header, or text before it that depends on the next message", case
    if start > begin:
        return "other", case, detail
    if end > until:
        return "the prefix has text after the turn: a generation prompt, the end of the text, or the start of a tool's result", case
    return (NO_END if CONTROL.fullmatch(text[end:until].strip()) else "other"), case, detail


def compare_replaced(case, text, spans, other):
    if other is None:
        return "the template refuses the other text", case
    if other == text:
        return "the content is not printed", case
    before = next((at for at, (one, two) in enumerate(zip(text, other)) if one != two), min(len(text), len(other)))
    most = min(len(text), len(other)) - before
    after = next((at for at in range(most) if text[-1 - at] != other[-1 - at]), most)
    start, end = trim(text, before, len(text) - after)
    if any(a <= start and end <= b for a, b in spans) or (start >= end and any(a <= start <= b for a, b in spans)):
        return "confirmed", case
    if TAG.search(case["template"]):
        return "the template has tags", case
    if any(a < end and start < b for a, b in spans) and re.search(r"think", text[:end][start:]):
        return "the content begins with the thought that the generation prompt opens", case
    return "other", case, (text[start:end], [text[a:b] for a, b in spans])


def main():
    if len(sys.argv) < 5 or sys.argv[1] not in ("tags", "turns") or sys.argv[3] != "--":
        sys.exit(__doc__.split("\n\n")[1])
    with open(sys.argv[2], encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    {"tags": check_tags, "turns": check_turns}[sys.argv[1]](cases, sys.argv[4:])


if __name__ == "__main__":
    main()
