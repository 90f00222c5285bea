"""The environment in which transformers 5.23.0 renders a chat template, rebuilt on jinja2 3.1.6.

    chat = compile_template("{{ x }}{% generation %}y{% endgeneration %}", clock)
    chat.render({"x": 1})              # "1y"
    chat.render_with_spans({"x": 1})   # ("1y", [(1, 2)])

The rule is `_cached_compile_jinja_template` of transformers' utils/chat_template_utils.py. Error
texts show the names of its classes and functions, so that those here bear the same names and the
same module. transformers itself is not needed, and nothing here knows its
`apply_chat_template`.
"""

import datetime
import json

import jinja2
import jinja2.ext
import jinja2.nodes
import jinja2.sandbox
import jinja2.utils

# Where the reference's classes live, as `'… object' has no attribute` and the like print it.
MODULE = "transformers.utils.chat_template_utils"


class Clock:
    """What `datetime.now()` gives: the system's time, unless one is set."""

    def __init__(self):
        self.fixed = None

    def set(self, text):
        self.fixed = None if text is None else datetime.datetime.fromisoformat(text)

    def now(self):
        return self.fixed or datetime.datetime.now()


class Chat:
    """A compiled template and the extension that keeps its spans."""

    def __init__(self, template, tracker):
        self.template = template
        self.tracker = tracker

    def render(self, context):
        return self.template.render(context)

    def render_with_spans(self, context):
        """The output, and where the `generation` blocks are: by what the root had written so far."""
        written, spans = [], []
        self.tracker.begin(written, spans)
        for piece in self.template.generate(context):
            written.append(piece)
        return "".join(written), spans


def _cached_compile_jinja_template(source, clock):
    """The reference's function; its name is part of the names of all that is defined in it."""

    class AssistantTracker(jinja2.ext.Extension):
        __module__ = MODULE
        tags = {"generation"}

        def __init__(self, environment):
            super().__init__(environment)
            self.written = self.spans = None

        def begin(self, written, spans):
            self.written, self.spans = written, spans

        def parse(self, parser):
            line = next(parser.stream).lineno
            body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
            call = self.call_method("_generation_support")
            return jinja2.nodes.CallBlock(call, [], [], body).set_lineno(line)

        @jinja2.pass_eval_context
        def _generation_support(self, context, caller):
            text = caller()
            if self.written is not None:
                start = sum(map(len, self.written))
                self.spans.append((start, start + len(text)))
            return text

    def raise_exception(message):
        raise jinja2.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def strftime_now(format):
        return clock.now().strftime(format)

    class TemplateDict:
        __module__ = MODULE

        def __call__(self, *args, **kwargs):
            return dict(*args, **kwargs)

        def fromkeys(self, *args, **kwargs):
            return dict.fromkeys(*args, **kwargs)

    class TemplateNamespace(jinja2.utils.Namespace):
        __module__ = MODULE

        # The signature lets a template pass an attribute that is called `self`.
        def __init__(*args, **kwargs):
            namespace, *rest = args
            attributes = dict(*rest, **kwargs)
            for name in attributes:
                refuse_underscore(name)
            jinja2.utils.Namespace.__init__(namespace, attributes)

        def __setitem__(self, name, value):
            refuse_underscore(name)
            super().__setitem__(name, value)

    def refuse_underscore(name):
        if isinstance(name, str) and name.startswith("_"):
            raise jinja2.exceptions.SecurityError(
                "Chat templates cannot store underscore-prefixed attributes on a namespace, "
                f"but got {name!r}. Please rename the attribute."
            )

    for function in (raise_exception, tojson, strftime_now):
        function.__module__ = MODULE

    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[AssistantTracker, jinja2.ext.loopcontrols]
    )
    environment.filters["tojson"] = tojson
    environment.globals.update(
        raise_exception=raise_exception, strftime_now=strftime_now, dict=TemplateDict(), namespace=TemplateNamespace
    )
    template = environment.from_string(source)
    return Chat(template, environment.extensions[AssistantTracker.identifier])


compile_template = _cached_compile_jinja_template
