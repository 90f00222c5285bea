"""Makes the seeds and the dictionary for fuzzing.

    python3 fuzz/seeds.py           writes a folder of seeds for each target, and the dictionary, to fuzz/corpus
    python3 fuzz/seeds.py --keep    writes the inputs of fuzz/corpus that are not from tests/cases to fuzz/kept

Seeds come from the templates, contexts and requests of tests/cases, and from fuzz/kept. A file in fuzz/kept has one input on each line, as
a JSON string in which each character is one byte. The words of the dictionary come from the cases and from the tables of built-ins.
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


def read_cases():
    names = families.named()
    for path in sorted((ROOT.parent / "tests" / "cases").rglob("*.jsonl")):
        for line in path.read_text().splitlines():
            if line.startswith("{"):
                yield families.spelled_out(json.loads(line), names)


def seeds_of_cases():
    """Yields pairs of a target and a text."""
    requests = []
    for case in read_cases():
        template = case.get("template")
        if isinstance(template, str):
            yield from ((target, template) for target in SOURCE_TARGETS)
            expressions = re.findall(r"\{\{(.*?)\}\}", template)
            for start in range(0, len(expressions), 2):
                yield "values", "\n".join((expressions[start:] * 3)[:3])
        if isinstance(case.get("context"), dict):
            yield "json", json.dumps(case["context"])
        apply = case.get("apply")
        if isinstance(apply, dict):
            if isinstance(apply.get("template"), str):
                yield from ((target, apply["template"]) for target in SOURCE_TARGETS)
                yield "apply", json.dumps({**apply, "generation": True})
        requests.append(json.dumps({key: case[key] for key in ("id", "template", "context", "apply", "now") if key in case}))
    for start in range(0, len(requests), 3):
        yield "port", "\n".join(requests[start : start + 3])


def find_words(text):
    return re.findall(r"[A-Za-z_]\w+|\{[%{#]-?|-?[%}#]\}|[^\w\s]{2,3}", text)


def make_dictionary():
    words = {word for case in read_cases() if isinstance(case.get("template"), str) for word in find_words(case["template"])}
    words.update(re.findall(r"`([a-z_]{3,})`", (ROOT.parent / "grammar" / "reachable.md").read_text()))
    return sorted(word for word in words if word.isascii() and word.isprintable())


def make_seeds():
    """Returns the seeds of each target from the cases, as bytes."""
    seeds = {target: set() for target in TARGETS}
    for target, text in seeds_of_cases():
        seeds[target].add(text.encode(errors="surrogatepass"))
    return seeds


def kept_file(target):
    return ROOT / "kept" / f"{target}.jsonl"


def write_corpus():
    for target, seeds in make_seeds().items():
        if kept_file(target).exists():
            seeds.update(json.loads(line).encode("latin-1") for line in kept_file(target).read_text().splitlines())
        folder = ROOT / "corpus" / target
        folder.mkdir(parents=True, exist_ok=True)
        for seed in seeds:
            (folder / hashlib.sha1(seed).hexdigest()).write_bytes(seed)
    quoted = "".join('"{}"\n'.format(word.replace("\\", "\\\\").replace('"', '\\"')) for word in make_dictionary())
    (ROOT / "corpus" / "dictionary").write_text(quoted)


def write_kept():
    for target, seeds in make_seeds().items():
        folder = ROOT / "corpus" / target
        found = {path.read_bytes() for path in folder.iterdir()} - seeds if folder.exists() else set()
        kept_file(target).parent.mkdir(exist_ok=True)
        lines = (json.dumps(seed.decode("latin-1")) + "\n" for seed in sorted(found, key=lambda seed: (len(seed), seed)))
        kept_file(target).write_text("".join(lines))


write_kept() if sys.argv[1:] == ["--keep"] else write_corpus()
