#!/usr/bin/env python3
"""Writes a table of the everyday families on which ports differ: families.py REPORT.json..."""
import json
import sys


def wrong_families(report):
    """Returns the families of a report, and those with a wrong answer, each with the number of its wrong cases."""
    families = {}
    for case in report["cases"]:
        area, *rest = case["id"].split("/")
        if area == "families":
            families.setdefault(rest[0], 0)
            families[rest[0]] += case["verdict"] not in ("right", "unsupported")
    return families, {family: count for family, count in families.items() if count}


def main():
    print("| port | differs on | of these families, with the number of wrong conversations |")
    print("|---|--:|---|")
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        families, wrong = wrong_families(report)
        listed = ", ".join(f"{family} {count}" for family, count in sorted(wrong.items(), key=lambda item: -item[1]))
        print(f"| {report['port']['name']} {report['port']['version']} | {len(wrong)} of {len(families)} | {listed or '–'} |")


if __name__ == "__main__":
    main()
