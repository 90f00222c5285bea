"""Groups answers that differ from those of the reference, and prints one example of each group.

A group is a pair of outcomes, such as "type: 'int' object is not iterable" and "an output": the values in the texts of errors do
not count.
"""

import json
import re

VALUE = re.compile(r"'[^']*'|\"[^\"]*\"|\[.*\]|\{.*\}|\b(None|True|False|nan|inf)\b|-?\b\d+(\.\d+)?(e[+-]?\d+)?")


# How much of an error's text decides its group. Long texts end in values.
LONGEST = 80


def outcome(answer):
    """What an answer is, without its values."""
    if answer is None:
        return "no answer"
    if "error" in answer:
        error = answer["error"]
        return f"{error.get('kind', 'error')} error: {VALUE.sub('…', error.get('message', ''))[:LONGEST]}"
    return " and ".join(sorted(answer))


class Differences:
    """The differences from the reference, by group."""

    def __init__(self):
        self.groups = {}

    def add(self, what, reference, other, group=""):
        """Adds a pair of answers to the request `what`. A text names the group more closely than the outcomes do."""
        outcomes = f"reference: {outcome(reference)}; other: {outcome(other)}"
        size = len(json.dumps([what, reference, other]))
        count, example = self.groups.get((outcomes, group), (0, None))
        if example is None or size < example[0]:
            example = size, what, reference, other
        self.groups[outcomes, group] = count + 1, example

    def report(self):
        """Prints the groups, the largest first, and returns how many differences there are."""
        for (outcomes, group), (count, example) in sorted(self.groups.items(), key=lambda item: -item[1][0]):
            _, what, reference, other = example
            print(f"{count} differ: {outcomes}{group and f', {group}'}")
            print(f"  for example {what if isinstance(what, str) else json.dumps(what, ensure_ascii=False)}")
            print(f"    reference  {json.dumps(reference, ensure_ascii=False)}")
            print(f"    other      {json.dumps(other, ensure_ascii=False)}")
        return sum(count for count, _ in self.groups.values())
