"""Makes seeds and a dictionary for all targets from tests/cases: `python3 fuzz/seeds.py` from the root of the repository."""

import hashlib
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).parent
sys.path.insert(0, str(ROOT.parent / "tests" / "reference"))

import families  # noqa: E402

names = families.named()
words = set()


def seed(target, text):
    folder = ROOT / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / hashlib.sha1(text.encode()).hexdigest()[:16]).write_text(text)


for path in sorted((ROOT.parent / "tests" / "cases").rglob("*.jsonl")):
    for line in path.read_text().splitlines():
        if not line.startswith("{"):
            continue
        case = families.spelled_out(json.loads(line), names)
        template = case.get("template")
        if isinstance(template, str):
            seed("parse", template)
            seed("render", template)
            words.update(re.findall(r"[A-Za-z_]\w+|\{[%{#]-?|-?[%}#]\}|[^\w\s]{2,3}", template))
            expressions = re.findall(r"\{\{(.*?)\}\}", template)
            for left, right in zip(expressions, expressions[1:] or expressions):
                seed("values", f"{left}\n{right}")
        if isinstance(case.get("context"), dict):
            seed("json", json.dumps(case["context"]))
        apply = case.get("apply")
        if isinstance(apply, dict) and isinstance(apply.get("template"), str):
            seed("apply", json.dumps({**apply, "generation": True}))

for row in (ROOT.parent / "src" / "builtins").rglob("*.rs"):
    words.update(re.findall(r'"([a-z_]{3,})"', row.read_text()))

quoted = (json.dumps(word, ensure_ascii=True) for word in sorted(words) if word.isascii())
(ROOT / "corpus" / "dictionary").write_text("".join(f"{word}\n" for word in quoted if "\\u" not in word))
