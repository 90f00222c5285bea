"""The kind, the text and the line of an exception in an answer of the protocol."""

import jinja2

# The first class that an exception is an instance of decides its kind.
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

# The file name that jinja2 gives to a template that was compiled from a string.
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
    # The rest of CPython's text says where it noticed, which depends on the depth of the caller.
    if isinstance(error, RecursionError):
        return "maximum recursion depth exceeded"
    # The `str` of a syntax error adds the place and the line to the message.
    return error.message if isinstance(error, jinja2.TemplateSyntaxError) else str(error)


def error_of(error):
    return {"error": {"kind": kind_of(error), "message": message_of(error), "line": line_of(error)}}
