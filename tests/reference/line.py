"""The names that this crate does not support, read from the table in src/unsupported.rs."""

import re
from pathlib import Path

TABLE = Path(__file__).parents[2] / "src" / "unsupported.rs"

ROW = re.compile(r'row\(\s*Site::(\w+)(?:\("(\w+)"\))?,\s*&\[([^]]*)\]')


def unsupported(place, owner=""):
    """The names of a place: "Filter", "Variable", or "Attribute" with the type that has the attribute."""
    rows = ROW.findall(TABLE.read_text(encoding="utf-8"))
    return {name for row in rows if row[:2] == (place, owner) for name in re.findall(r'"([^"]+)"', row[2])}
