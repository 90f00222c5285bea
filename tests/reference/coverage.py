"""Finds the names that templates can reach in the reference and that no case mentions. Names in src/unsupported.rs do not count.

It reads the templates of the cases as text: `|name` or the name in quotes for a filter, `is name`
or the name in quotes for a test, `.name` for an attribute of any kind of value, the bare word for a global.
"""

import re

from engine import compile_template
from reachable import all_attributes, filters, global_names


def missing(cases):
    """One sentence for each name that no case mentions."""
    text = "\n".join(case.get("template", "") for case in cases)
    environment = compile_template("").environment
    wanted = [
        ("filter", filters(environment), r"\|\s*{0}\b|filter {0}\b|['\"]{0}['\"]"),
        ("test", sorted(environment.tests), r"\bis (not )?{0}\b|['\"]{0}['\"]"),
        ("global", global_names(environment), r"\b{0}\b"),
        ("attribute", sorted(all_attributes()), r"\.{0}\b|attr\('{0}'\)"),
    ]
    return [
        f"no case names this {what}: {name}"
        for what, names, pattern in wanted
        for name in names
        if not re.search(pattern.format(re.escape(name)), text)
    ]
