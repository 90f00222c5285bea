"""Makes what fuzzing begins with: `python3 fuzz/seeds.py` writes fuzz/corpus, a folder for each target, and the dictionary.

Seeds come from the templates, contexts and requests of tests/cases, and from fuzz/kept, where `python3 fuzz/seeds.py --keep` puts what
fuzzing has found beyond them: an input a line, its bytes as the characters up to U+00FF of a JSON string. Words of the dictionary come
from the cases and from the tables of built-ins.
"""

import hashlib
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).parent
sys.path.insert(0, str(ROOT.parent / "tests" / "reference"))

import families  # noqa: E402

TARGETS = "lex", "parse", "render", "values", "apply", "json", "port"
SOURCE_TARGETS = "lex", "parse", "render"


def cases():
    names = families.named()
    for path in sorted((ROOT.parent / "tests" / "cases").rglob("*.jsonl")):
        for line in path.read_text().splitlines():
            if line.startswith("{"):
                yield families.spelled_out(json.loads(line), names)


def seeds_of_cases():
    """Pairs of a target and a text."""
    requests = []
    for case in cases():
        template = case.get("template")
        if isinstance(template, str):
            yield from ((target, template) for target in SOURCE_TARGETS)
            expressions = re.findall(r"\{\{(.*?)\}\}", template)
            for place in range(0, len(expressions), 2):
                yield "values", "\n".join((expressions[place:] * 3)[:3])
        if isinstance(case.get("context"), dict):
            yield "json", json.dumps(case["context"])
        apply = case.get("apply")
        if isinstance(apply, dict):
            if isinstance(apply.get("template"), str):
                yield from ((target, apply["template"]) for target in SOURCE_TARGETS)
                yield "apply", json.dumps({**apply, "generation": True})
        requests.append(json.dumps({key: case[key] for key in ("id", "template", "context", "apply", "now") if key in case}))
    for place in range(0, len(requests), 3):
        yield "port", "\n".join(requests[place : place + 3])


def words_of(text):
    return re.findall(r"[A-Za-z_]\w+|\{[%{#]-?|-?[%}#]\}|[^\w\s]{2,3}", text)


def dictionary():
    words = {word for case in cases() if isinstance(case.get("template"), str) for word in words_of(case["template"])}
    for table in (ROOT.parent / "src" / "builtins").rglob("*.rs"):
        words.update(re.findall(r'"([a-z_]{3,})"', table.read_text()))
    return sorted(word for word in words if word.isascii() and word.isprintable())


def made():
    """The seeds of each target, as bytes."""
    seeds = {target: set() for target in TARGETS}
    for target, text in seeds_of_cases():
        seeds[target].add(text.encode(errors="surrogatepass"))
    return seeds


def kept_file(target):
    return ROOT / "kept" / f"{target}.jsonl"


def unpack():
    for target, seeds in made().items():
        if kept_file(target).exists():
            seeds.update(json.loads(line).encode("latin-1") for line in kept_file(target).read_text().splitlines())
        folder = ROOT / "corpus" / target
        folder.mkdir(parents=True, exist_ok=True)
        for seed in seeds:
            (folder / hashlib.sha1(seed).hexdigest()).write_bytes(seed)
    quoted = "".join('"{}"\n'.format(word.replace("\\", "\\\\").replace('"', '\\"')) for word in dictionary())
    (ROOT / "corpus" / "dictionary").write_text(quoted)


def keep():
    for target, seeds in made().items():
        folder = ROOT / "corpus" / target
        found = {path.read_bytes() for path in folder.iterdir()} - seeds if folder.exists() else set()
        kept_file(target).parent.mkdir(exist_ok=True)
        lines = (json.dumps(seed.decode("latin-1")) + "\n" for seed in sorted(found, key=lambda seed: (len(seed), seed)))
        kept_file(target).write_text("".join(lines))


keep() if sys.argv[1:] == ["--keep"] else unpack()
