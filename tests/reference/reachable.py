"""All that a template can reach in the reference, as a document.

    python tests/reference/reachable.py --write     writes grammar/reachable.md
    python tests/reference/reachable.py             fails where it would be another

An attribute is reached when it does not begin with an underscore and the sandbox lets it through.
"""

import sys
from pathlib import Path

from engine import compile_template

PATH = Path(__file__).parents[2] / "grammar" / "reachable.md"

# What each kind of value is called, and an expression for one. The rest of the template is around them.
VALUES = [
    ("a string", "'a'"),
    ("a Markup", "('a'|e)"),
    ("bytes", "'a'.encode()"),
    ("an integer", "1"),
    ("a bool", "true"),
    ("a float", "1.5"),
    ("a complex number", "((-1) ** 0.5)"),
    ("none", "none"),
    ("a list", "[1]"),
    ("a tuple", "(1,)"),
    ("a group of `groupby`", "([{'a': 1}]|groupby('a')|first)"),
    ("a dict", "{'a': 1}"),
    ("the keys of a dict", "{'a': 1}.keys()"),
    ("the values of a dict", "{'a': 1}.values()"),
    ("the items of a dict", "{'a': 1}.items()"),
    ("the `mapping` of these", "{'a': 1}.keys().mapping"),
    ("a set", "({'a': 1}.keys() - [])"),
    ("a range", "range(3)"),
    ("an undefined value", "nope"),
    ("a generator", "([1]|map('string'))"),
    ("what `reverse` gives", "([1]|reverse)"),
    ("a loop", "loop"),
    ("a macro", "m"),
    ("a namespace", "namespace()"),
    ("a cycler", "cycler(1)"),
    ("a joiner", "joiner()"),
    ("the blocks of a template", "self"),
    ("a block", "self.b"),
    ("a function", "raise_exception"),
    ("the function `dict`", "dict"),
    ("the class `namespace`", "namespace"),
    ("a method", "'a'.upper"),
]

# What is left out: it steers a generator or changes a value.
LEFT_OUT = {
    "a generator": "close gi_running gi_suspended gi_yieldfrom send throw".split(),
    "a set": ["intersection_update"],
}

AROUND = "{% macro m() %}{% endmacro %}{% block b %}{% endblock %}{% for i in [1, 2, 3] %}{{ take(EXPRESSION, loop.index) }}{% endfor %}"


def attributes(what, expression):
    """The names that the sandbox gives, in the second round of a loop."""
    names = []

    def take(value, index):
        if index == 2:
            for name in dir(value):
                if not name.startswith("_") and name not in LEFT_OUT.get(what, []) and environment.is_safe_attribute(value, name, None) and hasattr(value, name):
                    names.append(name)
        return ""

    template = compile_template(AROUND.replace("EXPRESSION", expression))
    environment = template.environment
    template.render(take=take)
    return names


def all_attributes():
    """The names that any kind of value has."""
    return {name for value in VALUES for name in attributes(*value)}


def document():
    environment = compile_template("").environment
    quoted = lambda names: " ".join(f"`{name}`" for name in names) or "nothing"
    lines = [
        "# What a template can reach",
        "",
        "All of it: a template has no other names than these and those of its context, and a value no other attributes, but its items and",
        "the attributes that a template gave a namespace. No name that begins with an underscore is reached, and nothing that changes a",
        "list, a dict or a set. Made by `tests/reference/reachable.py` from the reference, of which this is left out: the insides of a",
        "generator are not reached, nor `intersection_update` of a set, which changes it. Each name has a case in `tests/cases`. What",
        "`random` and `lipsum` give is another thing in each render.",
        "",
        "## Global names",
        "",
        quoted(sorted(environment.globals)),
        "",
        "## Filters",
        "",
        quoted(sorted(environment.filters)),
        "",
        "## Tests",
        "",
        quoted(sorted(environment.tests)),
        "",
        "## Attributes",
        "",
    ]
    lines += [f"- {what}, `{expression}`: {quoted(attributes(what, expression))}" for what, expression in VALUES]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    text = document()
    if "--write" in sys.argv:
        PATH.write_text(text, encoding="utf-8")
    elif PATH.read_text(encoding="utf-8") != text:
        sys.exit(f"{PATH} is not what the reference offers; write it anew with --write")
