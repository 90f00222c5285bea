"""Writes grammar/reachable.md: all that a template can reach in the reference and in this crate.

    python tests/reference/reachable.py --write     writes the document
    python tests/reference/reachable.py             fails if the document is not up to date

An attribute is reached if it does not begin with an underscore, the sandbox allows it, and src/unsupported.rs does not list it.
"""

import sys
from pathlib import Path

from differences import changed_lines
from engine import compile_template
from line import unsupported

PATH = Path(__file__).parents[2] / "grammar" / "reachable.md"

# The name of each kind of value, and an expression that makes one inside the template AROUND.
VALUES = [
    ("a string", "'a'"),
    ("a Markup", "('a'|e)"),
    ("an integer", "1"),
    ("a bool", "true"),
    ("a float", "1.5"),
    ("none", "none"),
    ("a list", "[1]"),
    ("a tuple", "(1,)"),
    ("a group of `groupby`", "([{'a': 1}]|groupby('a')|first)"),
    ("a dict", "{'a': 1}"),
    ("the keys of a dict", "{'a': 1}.keys()"),
    ("the values of a dict", "{'a': 1}.values()"),
    ("the items of a dict", "{'a': 1}.items()"),
    ("a range", "range(3)"),
    ("an undefined value", "nope"),
    ("a generator", "([1]|map('string'))"),
    ("the iterator of `reverse`", "([1]|reverse)"),
    ("a loop", "loop"),
    ("a macro", "m"),
    ("a namespace", "namespace()"),
    ("a cycler", "cycler(1)"),
    ("a joiner", "joiner()"),
    ("a function", "raise_exception"),
    ("the function `dict`", "dict"),
    ("the class `namespace`", "namespace"),
    ("a method", "'a'.upper"),
]

# The owner of each kind's attributes in src/unsupported.rs; a Markup also has those of a string.
OWNERS = {
    "a string": "str",
    "a Markup": "str",
    "an integer": "int",
    "a bool": "int",
    "a float": "float",
    "a dict": "dict",
    "the function `dict`": "dict",
    "the keys of a dict": "view",
    "the values of a dict": "view",
    "the items of a dict": "view",
    "a range": "range",
    "a generator": "generator",
}

AROUND = "{% macro m() %}{% endmacro %}{% for i in [1, 2, 3] %}{{ take(EXPRESSION, loop.index) }}{% endfor %}"


def attributes(what, expression):
    """The attributes of a value that a template reaches, in the second iteration of a loop."""
    names = []
    left_out = unsupported("Attribute", OWNERS[what]) if what in OWNERS else set()
    if what == "a Markup":
        left_out |= unsupported("Attribute", "Markup")

    def take(value, index):
        if index == 2:
            for name in dir(value):
                if not name.startswith("_") and name not in left_out and environment.is_safe_attribute(value, name, None) and hasattr(value, name):
                    names.append(name)
        return ""

    template = compile_template(AROUND.replace("EXPRESSION", expression))
    environment = template.environment
    template.render(take=take)
    return names


def all_attributes():
    """The attributes of all kinds of values."""
    return {name for value in VALUES for name in attributes(*value)}


def filters(environment):
    """The filters of the reference that this crate has."""
    return sorted(set(environment.filters) - unsupported("Filter"))


def global_names(environment):
    """The global names of the reference that this crate has."""
    return sorted(set(environment.globals) - unsupported("Variable"))


def document():
    environment = compile_template("").environment
    quoted = lambda names: " ".join(f"`{name}`" for name in names) or "nothing"
    lines = [
        "# What a template can reach",
        "",
        "These are all the names that a template can use, besides the names of its context, the items of values and the attributes that",
        "it sets on a namespace. It cannot use a name that begins with an underscore, or a method that changes a list or a dict. A name",
        "that `src/unsupported.rs` lists is an error of kind `unsupported`.",
        "",
        "`tests/reference/reachable.py` writes this document from the reference. Each name in it has a case in `tests/cases`.",
        "",
        "## Global names",
        "",
        quoted(global_names(environment)),
        "",
        "## Filters",
        "",
        quoted(filters(environment)),
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
    elif faults := changed_lines(PATH, text):
        print(*faults, sep="\n")
        sys.exit(1)
