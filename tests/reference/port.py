"""The reference as a port: one JSON request a line on standard input, one answer a line on standard output.

    $ echo '{"id": 1, "template": "{{ 1/0 }}", "context": {}}' | python tests/reference/port.py
    {"id": 1, "error": {"kind": "zero_division", "message": "division by zero", "line": 1}}

It renders by jinja2, and where transformers is installed, an `apply` is answered by that. What is told apart here and nowhere
else is the kind of an exception and the line that it belongs to: a syntax error names its own, and an error at run time has the
line of the innermost frame that jinja2 rewrote into one of the template.
"""

import importlib.metadata
import importlib.util
import json
import sys

try:
    import resource
except ImportError:
    resource = None

import jinja2

from environment import Clock, compile_template

HAS_TRANSFORMERS = importlib.util.find_spec("transformers") is not None

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


def error_of(error):
    return {"error": {"kind": kind_of(error), "message": message_of(error), "line": line_of(error)}}


def render(request, clock):
    try:
        chat = compile_template(request["template"], clock)
        if not request.get("generation"):
            return {"output": chat.render(request["context"])}
        output, spans = chat.render_with_spans(request["context"])
        return {"output": output, "generation": spans}
    except Exception as error:
        return error_of(error)


def apply(request, clock):
    # It takes seconds to import, and most that is asked has no need of it.
    import apply as contract

    contract.follow(clock)
    try:
        return contract.call(request["apply"], bool(request.get("generation")))
    except Exception as error:
        return error_of(error)


def port():
    name, version = "jinja2", f"{jinja2.__version__} on {sys.implementation.name} {sys.version.split()[0]}"
    if HAS_TRANSFORMERS:
        name, version = "transformers", f"{importlib.metadata.version('transformers')} with jinja2 {version}"
    return {
        "name": name,
        "version": version,
        "language": "Python",
        "homepage": "https://huggingface.co/docs/transformers" if HAS_TRANSFORMERS else "https://jinja.palletsprojects.com",
        "requests": ["render", "apply", "generation"] if HAS_TRANSFORMERS else ["render", "generation"],
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
    clock.set(request.get("now"))
    if "apply" in request:
        arguments = request["apply"]
        if not HAS_TRANSFORMERS:
            return {**reply, "unsupported": "transformers is not installed here"}
        if not isinstance(arguments, dict) or not isinstance(arguments.get("template"), (str, dict)) or "messages" not in arguments:
            return {**reply, **fault("an apply has a template, which is a string or an object, and messages")}
        return {**reply, **apply(request, clock)}
    if not isinstance(request.get("template"), str) or not isinstance(request.get("context"), dict):
        return {**reply, **fault("a request has a template, which is a string, and a context, which is an object")}
    return {**reply, **render(request, clock)}


# Where the system can, a template that asks for more bytes than this is answered with a MemoryError, and the machine goes on.
MEMORY = 2 << 30


def limit_memory():
    if resource is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard), hard))


def main():
    limit_memory()
    clock = Clock()
    for line in sys.stdin.buffer:
        print(json.dumps(answer(line, clock)), flush=True)


if __name__ == "__main__":
    main()
