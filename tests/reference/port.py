"""The reference as a port: one JSON request a line on standard input, one answer a line on standard output.

    $ echo '{"id": 1, "template": "{{ 1/0 }}", "context": {}}' | python tests/reference/port.py
    {"id": 1, "error": {"kind": "zero_division", "message": "division by zero", "line": 1}}

It renders; it does not know `apply` requests. What is told apart here and nowhere else is the kind of
an exception and the line that it belongs to: a syntax error names its own, and an error at run time
has the line of the innermost frame that jinja2 rewrote into one of the template.
"""

import json
import sys

import jinja2

from environment import Clock, compile_template

# The first class that fits gives the kind.
KINDS = [
    (jinja2.TemplateSyntaxError, "syntax"),
    (SyntaxError, "syntax"),
    (jinja2.UndefinedError, "undefined"),
    (jinja2.exceptions.SecurityError, "security"),
    (jinja2.TemplateRuntimeError, "runtime"),
    (RecursionError, "limit"),
    (MemoryError, "limit"),
    (TypeError, "type"),
    (ValueError, "value"),
    (KeyError, "key"),
    (IndexError, "index"),
    (AttributeError, "attribute"),
    (OverflowError, "overflow"),
    (ZeroDivisionError, "zero_division"),
]

# What jinja2 calls the file of a template that came as a string.
FILE = "<template>"


def kind_of(error):
    # Only `raise_exception` raises the base class itself.
    if type(error) is jinja2.TemplateError:
        return "raised"
    return next((kind for kind_class, kind in KINDS if isinstance(error, kind_class)), "runtime")


def line_of(error):
    if isinstance(error, jinja2.TemplateSyntaxError):
        return error.lineno
    line, frame = None, error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == FILE:
            line = frame.tb_lineno
        frame = frame.tb_next
    return line


def message_of(error):
    # CPython goes on with where it noticed, which depends on how deep the caller stood.
    if isinstance(error, RecursionError):
        return "maximum recursion depth exceeded"
    # The `str` of a syntax error adds the place and the line to the message.
    return error.message if isinstance(error, jinja2.TemplateSyntaxError) else str(error)


def render(request, clock):
    clock.set(request.get("now"))
    try:
        chat = compile_template(request["template"], clock)
        if not request.get("generation"):
            return {"output": chat.render(request["context"])}
        output, spans = chat.render_with_spans(request["context"])
        return {"output": output, "generation": spans}
    except Exception as error:
        return {"error": {"kind": kind_of(error), "message": message_of(error), "line": line_of(error)}}


def port():
    version = f"{jinja2.__version__} on {sys.implementation.name} {sys.version.split()[0]}"
    return {
        "name": "jinja2",
        "version": version,
        "language": "Python",
        "homepage": "https://jinja.palletsprojects.com",
        "requests": ["render", "generation"],
        "limits": "off",
    }


def fault(message):
    return {"error": {"kind": "request", "message": message, "line": None}}


def answer(line, clock):
    try:
        request = json.loads(line)
    except ValueError as error:
        return {"id": None, **fault(str(error))}
    if not isinstance(request, dict):
        return {"id": None, **fault("the request is no object")}
    reply = {"id": request.get("id")}
    if request.get("describe"):
        return {**reply, "port": port()}
    if "apply" in request:
        return {**reply, "unsupported": "this port renders templates; it does not know the contract around them"}
    if not isinstance(request.get("template"), str) or not isinstance(request.get("context"), dict):
        return {**reply, **fault("a request has a template, which is a string, and a context, which is an object")}
    return {**reply, **render(request, clock)}


def main():
    clock = Clock()
    for line in sys.stdin.buffer:
        print(json.dumps(answer(line, clock)), flush=True)


if __name__ == "__main__":
    main()
