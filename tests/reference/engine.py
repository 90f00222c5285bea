"""The template engine of transformers 5.24.0, with a clock that can be set.

    render("{{ x }}", {"x": 1})                                            # "1"
    render_with_spans("{{ x }}{% generation %}y{% endgeneration %}", {"x": 1})   # ("1y", [(1, 2)])

Templates are compiled and rendered by transformers' own code. Only its clock is replaced.
"""

import datetime
import importlib.metadata
import os
import sys

# transformers would warn on import that there is no torch, which is not needed here.
os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")

from transformers.utils import chat_template_utils

# The versions that the answers of the suite come from.
VERSIONS = {"transformers": "5.24.0", "jinja2": "3.1.6", "markupsafe": "3.0.4"}


class Clock:
    """Takes the place of the class `datetime` in transformers, which calls only its `now`."""

    def __init__(self):
        self.fixed = None

    def set(self, text):
        """Stops the clock at a local time in ISO format; `None` follows the system's clock."""
        self.fixed = None if text is None else datetime.datetime.fromisoformat(text)

    def now(self):
        return self.fixed or datetime.datetime.now()


clock = chat_template_utils.datetime = Clock()


def require_versions():
    """Exits unless this process is the reference: CPython 3.13 with the packages in requirements.txt.

    `upgrade` sets the variable CHAT_TEMPLATE_ANY_REFERENCE, because it asks other versions.
    """
    if "CHAT_TEMPLATE_ANY_REFERENCE" in os.environ:
        return
    if sys.implementation.name != "cpython" or sys.version_info[:2] != (3, 13):
        sys.exit("the reference is CPython 3.13")
    for package, version in VERSIONS.items():
        if (found := importlib.metadata.version(package)) != version:
            sys.exit(f"the reference is {package} {version}, and {found} is installed")


def mirrored():
    """The versions that the bounds of cases, `since` and `until`, are about."""
    return {"transformers": importlib.metadata.version("transformers"), "python": f"{sys.version_info[0]}.{sys.version_info[1]}"}


def is_before(version, other):
    numbers = lambda text: [int(number) for number in text.split(".")]
    return numbers(version) < numbers(other)


def holds(case):
    """Whether the answer of a case is that of this process: not before `since`, and before `until`."""
    versions = mirrored()
    since, until = case.get("since", {}).items(), case.get("until", {}).items()
    return not any(is_before(versions[name], bound) for name, bound in since) and all(is_before(versions[name], bound) for name, bound in until)


def compile_template(source):
    """The compiled template. transformers caches the templates that it compiled last."""
    return chat_template_utils._compile_jinja_template(source)


def render(source, context):
    return compile_template(source).render(context)


def render_with_spans(source, context):
    """The output and the spans of the `generation` blocks, tracked as transformers' `_render_with_assistant_indices` does.

    That function itself always passes messages, tools and documents, which this context may lack.
    """
    template = compile_template(source)
    blocks, spans = [], []
    with template.environment.activate_tracker(blocks, spans):
        for block in template.generate(context):
            blocks.append(block)
        return "".join(blocks), spans
