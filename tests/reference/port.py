"""The reference as a port: one JSON request a line on standard input, one answer a line on standard output.

    $ echo '{"id": 1, "template": "{{ 1/0 }}", "context": {}}' | python tests/reference/port.py
    {"id": 1, "error": {"kind": "zero_division", "message": "division by zero", "line": 1}}

transformers answers all kinds of request: engine.py a `render`, apply.py an `apply`, and `parse_response` a `response`. errors.py finds the kind and the line of
an exception. A syntax error names its line; an error at run time has the line of the innermost frame that belongs to the template.
"""

import json
import sys

try:
    import resource
except ImportError:
    resource = None

import jinja2
import transformers
from transformers.utils.chat_parsing import parse_response

import engine
import apply
from errors import error_of

def answer_by(function, *arguments):
    """The answer of a function, or the error that it raises."""
    try:
        return function(*arguments)
    except Exception as error:
        return error_of(error)


def render(request):
    template, context = request["template"], request["context"]
    if not request.get("generation"):
        return {"output": engine.render(template, context)}
    output, spans = engine.render_with_spans(template, context)
    return {"output": output, "generation": spans}


def respond(request):
    return {"message": parse_response(request["text"], request["template"], prefix=request["prefix"], tools=request.get("tools"))}


def port():
    jinja2_on = f"jinja2 {jinja2.__version__} on {sys.implementation.name} {sys.version.split()[0]}"
    return {
        "name": "transformers",
        "version": f"{transformers.__version__} with {jinja2_on}",
        "language": "Python",
        "homepage": "https://huggingface.co/docs/transformers",
        "requests": ["render", "apply", "generation", "response"],
        "mirrors": engine.mirrored(),
        "limits": "off",
    }


def fault(message):
    return {"error": {"kind": "request", "message": message, "line": None}}


def answer(line):
    try:
        request = json.loads(line)
    except ValueError as error:
        return {"id": None, **fault(str(error))}
    if not isinstance(request, dict):
        return {"id": None, **fault("the request is not an object")}
    reply = {"id": request.get("id")}
    if request.get("describe"):
        return {**reply, "port": port()}
    engine.clock.set(request.get("now"))
    if "apply" in request:
        arguments = request["apply"]
        if not isinstance(arguments, dict) or not isinstance(arguments.get("template"), (str, dict)) or "messages" not in arguments:
            return {**reply, **fault("an apply has a template, which is a string or an object, and messages")}
        return {**reply, **answer_by(apply.call, arguments, bool(request.get("generation")))}
    if "response" in request:
        arguments = request["response"]
        if not isinstance(arguments, dict) or "template" not in arguments or not all(isinstance(arguments.get(key), str) for key in ("prefix", "text")):
            return {**reply, **fault("a response has a template, and a prefix and a text, which are strings")}
        return {**reply, **answer_by(respond, arguments)}
    if not isinstance(request.get("template"), str) or not isinstance(request.get("context"), dict):
        return {**reply, **fault("a request has a template, which is a string, and a context, which is an object")}
    return {**reply, **answer_by(render, request)}


# A template that needs more bytes than this raises a MemoryError, on systems that can limit memory.
MEMORY = 2 << 30


def limit_memory():
    if resource is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard), hard))


def main():
    engine.require_versions()
    limit_memory()
    for line in sys.stdin.buffer:
        print(json.dumps(answer(line)), flush=True)


if __name__ == "__main__":
    main()
