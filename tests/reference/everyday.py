"""Writes the cases of the area `everyday`, without answers: each template of tests/cases/everyday with each of its conversations.

    python tests/reference/everyday.py && python tests/reference/answer.py --write everyday
    python tests/reference/everyday.py --corpus FOLDER    # shows constructs that no template of the same family in a corpus has
"""

import json
import pathlib
import sys

from schema import write_cases
from tiers import constructs

CASES = pathlib.Path(__file__).resolve().parent.parent / "cases"
# The families of the templates whose names do not begin with that of their family.
FAMILIES = {"lfm2": "lfm", "lfm2-training": "lfm", "smolvlm": "smollm", "command-r": "cohere"}

NOW = "2026-03-04T05:06:07"


def main():
    conversations = json.loads((CASES / "everyday" / "conversations.json").read_text(encoding="utf-8"))
    templates = {path.stem: path.read_bytes().decode() for path in sorted((CASES / "everyday").glob("*.jinja"))}
    if sys.argv[1:2] == ["--corpus"]:
        folder, real = pathlib.Path(sys.argv[2]), {}
        for line in (folder / "manifest.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            found = constructs((folder / "templates" / f"{row['slug']}.jinja").read_bytes().decode()) or set()
            real.setdefault(row["family"], set()).update(found)
        for name, template in templates.items():
            family = FAMILIES.get(name) or next(family for family in real if name.startswith(family))
            unused = sorted(constructs(template) - real[family])
            if unused:
                print(f"{name}: no template of the family {family} has {', '.join(unused)}")
        return
    cases = []
    for name, template in templates.items():
        for conversation in conversations:
            rule = f"A template in the manner of {name} writes {conversation['description']}."
            # The order of a line is that of schema.py.
            cases.append({"id": f"everyday/{name}/{conversation['name']}", "rule": rule, "template": template, "context": conversation["context"], "now": NOW})
    write_cases(CASES / "everyday.jsonl", cases)


if __name__ == "__main__":
    main()
