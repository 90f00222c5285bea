"""Groups answers that differ from those of the reference, and prints one example of each group.

A group is a pair of outcomes, such as "type: 'int' object is not iterable" and "an output": the values in the texts of errors do
not count.
"""

import json
import re

VALUE = re.compile(r"'[^']*'|\"[^\"]*\"|\[.*\]|\{.*\}|\b(None|True|False|nan|inf)\b|-?\b\d+(\.\d+)?(e[+-]?\d+)?")


# How much of an error's text decides its group. Long texts end in values.
LONGEST = 80


def without_values(text):
    """The text with signs in place of its values."""
    return VALUE.sub("…", text)


def outcome(answer):
    """What an answer is, without its values."""
    if answer is None:
        return "no answer"
    if "error" in answer:
        error = answer["error"]
        return f"{error.get('kind', 'an')} error: {without_values(error.get('message', ''))[:LONGEST]}"
    return " and ".join(sorted(answer))


class Differences:
    """The differences from the reference, by group."""

    def __init__(self):
        self.groups = {}

    def add(self, what, reference, other, group=""):
        """Adds a pair of answers to the request `what`. A text names the group more closely than the outcomes do."""
        name = f"reference: {outcome(reference)}; other: {outcome(other)}{group and f' ({group})'}"
        example = [what, reference, other]
        self.groups.setdefault(name, []).append(example)

    def lines(self):
        """The groups, the largest first, each with its shortest example."""
        lines = []
        for name, examples in sorted(self.groups.items(), key=lambda group: -len(group[1])):
            what, reference, other = (json.dumps(part, ensure_ascii=False) for part in min(examples, key=lambda example: len(str(example))))
            lines += [f"{len(examples)} differ: {name}", f"  for example {what}", f"    reference  {reference}", f"    other      {other}"]
        return lines

    def report(self):
        """Prints the groups, and returns how many differences there are."""
        print(*self.lines(), sep="\n", end="\n" if self.groups else "")
        return sum(map(len, self.groups.values()))


def changed_lines(path, text):
    """A sentence for each line in which a file differs from the text that the reference makes."""
    old, new = path.read_text(encoding="utf-8").splitlines(True), text.splitlines(True)
    faults = [f"{path.name} has a line that the reference does not make: {line.rstrip()}" for line in old if line not in new]
    faults += [f"{path.name} does not have a line that the reference makes: {line.rstrip()}" for line in new if line not in old]
    return faults or ([f"{path.name} has the lines of the reference in another order"] if old != new else [])
