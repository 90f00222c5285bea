"""Renders each counterexample on prefixes with transformers.

    python tests/reference/prefix.py FOLDER target/release/chat-template

FOLDER has templates as `NAME.jinja`. The reports come from the port's `inspect` request. A counterexample is reproduced if transformers
renders both conversations to the texts of the report, and the first is no prefix of the second.
"""

import datetime
import json
import subprocess
import sys
from pathlib import Path
from unittest import mock

from transformers.utils import chat_template_utils

TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}


class Clock(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2026, 1, 2, 3, 4, 5)


def render(source, messages, found, wants_prompt):
    # What apply_chat_template does to messages before it renders them.
    cleaned = [{key: value for key, value in message.items() if value is not None} for message in messages]
    cleaned = chat_template_utils._alias_reasoning_fields(cleaned)
    rendered = chat_template_utils.render_jinja_template(
        conversations=[cleaned],
        tools=found.get("tools"),
        chat_template=source,
        add_generation_prompt=wants_prompt,
        **TOKENS,
        **found.get("variables", {}),
    )
    return rendered[0][0] if isinstance(rendered, tuple) else rendered[0]


def main():
    sources = {path.stem: path.read_bytes().decode() for path in sorted(Path(sys.argv[1]).glob("*.jinja"))}
    requests = [{"id": name, "inspect": {"template": source, "special_tokens": TOKENS}} for name, source in sources.items()]
    text = "".join(json.dumps(request) + "\n" for request in requests)
    done = subprocess.run([sys.argv[2], "port"], input=text, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.split("\n") if line]
    count, failed = 0, 0
    with mock.patch.object(chat_template_utils, "datetime", Clock):
        for answer in answers:
            for way, found in answer.get("report", {}).get("prefix", {}).items():
                if found["verdict"] != "broken":
                    continue
                count += 1
                source = sources[answer["id"]]
                try:
                    before = render(source, found["messages"], found, way == "generation_prompt")
                    after = render(source, found["messages"] + [found["appended"]], found, False)
                except Exception as error:  # the report is wrong, whatever transformers raises
                    before, after = repr(error), None
                if (before, after) != (found["before"], found["after"]) or after.startswith(before):
                    failed += 1
                    print(f"{answer['id']}: {way}: {before!r}")
    print(f"{count} counterexamples, {failed} not reproduced")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
