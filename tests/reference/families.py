"""Cases of whole conversations, whose templates are files and whose conversations are shared.

In a case of tests/cases/families, a string that begins with `@` names a file of that folder or a value of its shared.json.
It can be an argument or a value of an object, and not an item of a list.
"""

import json
import pathlib

FAMILIES = pathlib.Path(__file__).resolve().parent.parent / "cases" / "families"


def named():
    """The value of each name."""
    shared = json.loads((FAMILIES / "shared.json").read_text(encoding="utf-8"))
    # Bytes, because reading text would translate line ends.
    templates = {path.name: path.read_bytes().decode() for path in FAMILIES.glob("*.jinja")}
    return {f"@{name}": value for name, value in {**shared, **templates}.items()}


def spelled_out(case, names):
    """A case with values in place of its names. An unknown name is a KeyError. Other areas have no names."""
    if not case["id"].startswith("families/"):
        return case

    def value(argument):
        if isinstance(argument, dict):
            return {key: value(inner) for key, inner in argument.items()}
        return names[argument] if isinstance(argument, str) and argument.startswith("@") else argument

    return {key: value(inner) if key in ("template", "context", "apply") else inner for key, inner in case.items()}
