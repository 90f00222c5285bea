"""Measures the rules of the group `portable`: how many templates without a finding, and how many with one, another Jinja renders as the
reference does.

    python3 tests/ports/portable.py CORPUS target/release/chat-template 'target/adapters/release/adapter-minijinja --plain'

CORPUS is a folder with `templates/NAME.jinja`, `conversations.json` and the reference's answers in `expected.jsonl`. Only conversations
that the reference renders are compared. A difference in the notation of a value that a template prints by mistake is counted separately:
the reference's prompt has a part in Python's notation, such as `{'type': 'text'`, or `None`.
"""

import json
import re
import shlex
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

PYTHON = re.compile(r"\{'|\['|\[\{|None|True|False|\[\]")


def ask(command, requests):
    text = "".join(json.dumps(request) + "\n" for request in requests)
    done = subprocess.run(shlex.split(command), input=text, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.split("\n") if line]


def main():
    corpus, own, other = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    sources = {path.stem: path.read_bytes().decode() for path in sorted((corpus / "templates").glob("*.jinja"))}
    conversations = {entry["name"]: entry["context"] for entry in json.loads((corpus / "conversations.json").read_text())}
    tokens = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    requests = [{"id": name, "inspect": {"template": source, "special_tokens": tokens}} for name, source in sources.items()]
    findings = {answer["id"]: answer["report"]["lint"] for answer in ask(f"{own} port", requests) if "report" in answer}
    expected = defaultdict(dict)
    for line in (corpus / "expected.jsonl").read_text().split("\n"):
        if not line:
            continue
        case = json.loads(line)
        if "output" in case["expect"]:
            expected[case["template"]][case["conversation"]] = case["expect"]["output"]
    renders = [
        {"id": [name, conversation], "template": sources[name], "context": conversations[conversation], "now": "2026-01-02T03:04:05"}
        for name in findings
        for conversation in expected[name]
    ]
    answers = defaultdict(dict)
    for answer in ask(other, renders):
        name, conversation = answer["id"]
        answers[name][conversation] = answer
    groups, reasons, rules = defaultdict(Counter), Counter(), Counter()
    for name, found in findings.items():
        portable = {finding["rule"] for finding in found if finding["group"] == "portable"}
        wrong = {}
        for conversation, output in expected[name].items():
            answer = answers[name][conversation]
            # serde_json writes 1e-7 for Python's 1e-07: the adapter's `tojson` differs, not the template.
            if answer.get("output", "").replace("1e-7", "1e-07") != output:
                notation = PYTHON.search(output) and not PYTHON.search(sources[name])
                wrong[conversation] = "notation" if notation else answer.get("error", {}).get("message", "another text")
        real = {conversation: why for conversation, why in wrong.items() if why != "notation"}
        group = "with a finding" if portable else "without a finding"
        verdict = "differs" if real else "differs in notation" if wrong else "equal"
        groups[group][verdict] += 1
        rules.update((rule, verdict) for rule in portable)
        if real and not portable:
            reasons.update({re.sub(r"`[^`]*`|\d+", "…", why) for why in real.values()})
            if "--show" in sys.argv:
                print(name, real)
    for group, counts in groups.items():
        total = sum(counts.values())
        print(f"{group}: {total} templates; " + ", ".join(f"{verdict} {count} ({100 * count / total:.1f} %)" for verdict, count in counts.items()))
    print("differences without a finding:")
    for reason, count in reasons.most_common():
        print(f"  {count} templates: {reason}")
    for (rule, verdict), count in sorted(rules.items()):
        print(f"  {rule}: {verdict} {count}")


if __name__ == "__main__":
    main()
