"""Plain jinja2 as a port, set up as servers without transformers do: one JSON request a line, one answer a line.

    $ echo '{"id": 1, "template": "{{ x|tojson }}", "context": {"x": "<"}}' | python tests/ports/jinja2/adapter.py
    {"id": 1, "output": "\"\\u003c\""}

The environment is a sandbox with `trim_blocks`, `lstrip_blocks`, `raise_exception` and `strftime_now`. The rest is jinja2's own: a `tojson`
for HTML, which escapes and sorts, and neither loop controls nor a tag for generation.
"""

import datetime
import json
import pathlib
import sys

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

sys.path.append(str(pathlib.Path(__file__).parents[2] / "reference"))

from errors import error_of


def raise_exception(message):
    raise jinja2.TemplateError(message)


def environment(now):
    made = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = lambda form: (datetime.datetime.fromisoformat(now) if now else datetime.datetime.now()).strftime(form)
    return made


def fault(message):
    return {"error": {"kind": "request", "message": message, "line": None}}


def answer(line):
    try:
        request = json.loads(line)
        reply = {"id": request.get("id")}
    except (ValueError, AttributeError) as error:
        return {"id": None, **fault(str(error))}
    if request.get("describe"):
        port = {"name": "jinja2", "version": jinja2.__version__, "language": "Python", "homepage": "https://jinja.palletsprojects.com"}
        return {**reply, "port": {**port, "requests": ["render"], "limits": "off"}}
    if "apply" in request or request.get("generation"):
        return {**reply, "unsupported": "it renders, and has no spans"}
    if not isinstance(request.get("template"), str) or not isinstance(request.get("context"), dict):
        return {**reply, **fault("a template and a context are missing")}
    try:
        return {**reply, "output": environment(request.get("now")).from_string(request["template"]).render(request["context"])}
    except Exception as error:
        return {**reply, **error_of(error)}


for line in sys.stdin:
    print(json.dumps(answer(line)), flush=True)
