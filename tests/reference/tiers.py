"""Writes the tier of each case into tests/cases, and how many real templates use its rarest construct.

    python tests/reference/tiers.py --write
    python tests/reference/tiers.py --check             # fails if a tier is not the one that the rules give
    python tests/reference/tiers.py --count FOLDER      # counts the constructs of FOLDER/templates, and writes constructs.json

A construct is a kind of node of the syntax tree, an operator, or the name of a filter, a test, a method or a global function. The tier is
the first that applies:

    extensions     the case asks for spans, segments or a message of the model
    everyday       the area `everyday`: ordinary conversations, and templates whose constructs real ones have
    errors         the reference fails
    conversation   a whole conversation with an unusual template or message
    artefacts      the areas that show Python itself: repr, numbers, markup, generated code
    core           at least ten real templates have each construct of the case
    edge           the rest
"""

import json
import pathlib
import sys

import jinja2
import jinja2.ext
from jinja2 import nodes

from families import named, spelled_out
from schema import KEYS, visible

HERE = pathlib.Path(__file__).resolve().parent
CASES = HERE.parent / "cases"
COUNTS = HERE / "constructs.json"
ARTEFACTS = {"repr", "numbers", "markup", "python_artefacts"}
CONVERSATIONS = {"families", "chat", "apply"}
# A case of `core` has no construct that fewer real templates have.
COMMON = 10

GLOBALS = {"range", "dict", "lipsum", "cycler", "joiner", "namespace", "raise_exception", "strftime_now"}


class Generation(jinja2.ext.Extension):
    """The statement `generation`, as transformers has it."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.Scope(body, lineno=line)


ENVIRONMENT = jinja2.Environment(extensions=[Generation, jinja2.ext.loopcontrols], trim_blocks=True, lstrip_blocks=True)


def constructs(source):
    """The constructs of a template, or `None` if it does not parse."""
    try:
        tree = ENVIRONMENT.parse(source)
    except (jinja2.TemplateError, RecursionError, ValueError, OverflowError, SyntaxError):
        return None
    found = set()
    for node in tree.find_all(nodes.Node):
        kind = type(node).__name__
        found.add(kind)
        match node:
            case nodes.Filter():
                found.add(f"filter {node.name}")
            case nodes.Test():
                found.add(f"test {node.name}")
            case nodes.Operand():
                found.add(f"operator {node.op}")
            case nodes.Call(node=nodes.Getattr(attr=attribute)):
                found.add(f"method {attribute}")
            case nodes.Call(node=nodes.Name(name=name)) if name in GLOBALS:
                found.add(f"global {name}")
            case nodes.For() if node.else_ or node.recursive:
                found.add("for with else" if node.else_ else "recursive for")
            case nodes.Getattr(node=nodes.Name(name="loop"), attr=attribute):
                found.add(f"loop {attribute}")
    return found


def rarest(case, counts):
    """How many real templates have the rarest construct of a case."""
    template = case.get("template", case.get("apply", {}).get("template"))
    sources = list(template.values()) if isinstance(template, dict) else [template]
    found = set()
    for source in sources:
        own = constructs(source) if isinstance(source, str) else None
        if own is None:
            return 0
        found |= own
    return min((counts.get(construct, 0) for construct in found), default=0)


def tier_of(case, uses):
    area = case["id"].split("/")[0]
    if "response" in case or case.get("generation") or case.get("trace"):
        return "extensions"
    if area == "everyday":
        return "everyday"
    if "error" in case["expect"]:
        return "errors"
    if area in CONVERSATIONS:
        return "conversation"
    if area in ARTEFACTS:
        return "artefacts"
    return "core" if uses >= COMMON else "edge"


def count(folder):
    """The number of templates of a folder that have each construct."""
    counts = {}
    for path in sorted(pathlib.Path(folder, "templates").glob("*.jinja")):
        for construct in constructs(path.read_bytes().decode()) or ():
            counts[construct] = counts.get(construct, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def main():
    mode = sys.argv[1:2]
    if mode == ["--count"]:
        COUNTS.write_text(json.dumps(count(sys.argv[2]), indent=0) + "\n", encoding="utf-8")
        return
    if mode not in (["--check"], ["--write"]):
        sys.exit(__doc__.split("\n\n")[1])
    counts, names, faults = json.loads(COUNTS.read_text(encoding="utf-8")), named(), 0
    paths = [*sorted(CASES.glob("*.jsonl")), CASES / "contract" / "apply.jsonl", *sorted((CASES / "families").glob("*.jsonl"))]
    for path in paths:
        lines = []
        for line in path.read_text(encoding="utf-8").split("\n"):
            if not line:
                continue
            case = json.loads(line)
            uses = rarest(spelled_out(case, names), counts)
            new = {"id": case["id"], "rule": case.pop("rule", ""), "tier": tier_of(case, uses), "uses": uses}
            faults += any(case.get(key) != new[key] for key in ("tier", "uses"))
            if not new["rule"]:
                del new["rule"]
            lines.append(visible(json.dumps(new | {key: value for key, value in case.items() if key not in new}, ensure_ascii=False)) + "\n")
        if mode == ["--write"]:
            path.write_text("".join(lines), encoding="utf-8")
    print(f"{faults} tiers differ")
    sys.exit(mode == ["--check"] and bool(faults))


if __name__ == "__main__":
    main()
