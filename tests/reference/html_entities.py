"""Writes src/text/entities.rs from the `html.entities` of the Python that runs it.

    /path/to/python3.11 tests/reference/html_entities.py

The reference is CPython 3.11, whose `html.unescape` knows these names, those with a final semicolon
and the few that do without.
"""

import html.entities
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = ROOT / "src" / "text" / "entities.rs"


def main():
    assert sys.version_info[:2] == (3, 11), "the reference is CPython 3.11"
    entities = sorted(html.entities.html5.items())
    growth = max(len(value.encode()) / (len(name) + 1) for name, value in entities)
    assert growth <= 2, "what unescape says about the length of its result"
    lines = [
        "//! The character references of HTML 5 that have a name.",
        "//!",
        "//! Written by `tests/reference/html_entities.py` from the reference's `html.entities`; do not edit.",
        "//! The function over this table is in `unescape.rs`.",
        "",
        "/// Names without the ampersand, sorted by their bytes, and what they stand for.",
        "#[rustfmt::skip]",
        f"pub(super) static ENTITIES: [(&str, &str); {len(entities)}] = [",
    ]
    line = "   "
    for name, value in entities:
        escaped = "".join(f"\\u{{{ord(char):x}}}" for char in value)
        entry = f' ("{name}", "{escaped}"),'
        if len(line) + len(entry) > 100:
            lines.append(line)
            line = "   "
        line += entry
    lines.append(line)
    lines.append("];")
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
