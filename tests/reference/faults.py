"""Faults to plant in the reference, each of which changes one thing of jinja2 or transformers.

    FAULTS["loop.revindex0"]()

A fault is a function without arguments. It changes the classes of jinja2, or adds a change of every environment or every source to the
lists below. mutants plants each in a process of its own.
"""

import jinja2.compiler
import jinja2.lexer
import jinja2.nodes
import jinja2.runtime
import jinja2.sandbox
import markupsafe
from jinja2 import filters as jinja_filters
from jinja2 import tests as jinja_tests
from jinja2.runtime import LoopContext, Macro, Undefined
from jinja2.utils import Cycler, Joiner, Namespace

# Each fault by its name.
FAULTS = {}

# The changes to each compiled template's environment, and to each source before it is compiled.
environment_changes, source_changes = [], []


def fault(name):
    def add(function):
        assert name not in FAULTS, name
        FAULTS[name] = function
        return function

    return add


def wrapped(original, change):
    def changed(*args, **kwargs):
        return change(original, *args, **kwargs)

    # An attribute marks the functions that take the environment or the context.
    changed.__dict__.update(getattr(original, "__dict__", {}))
    return changed


def filter_fault(name, change, *filter_names):
    """Adds a fault of a filter: `change` gets the original filter and the call's arguments."""

    def plant():
        def on_environment(environment):
            for filter_name in filter_names:
                environment.filters[filter_name] = wrapped(environment.filters[filter_name], change)

        environment_changes.append(on_environment)

    FAULTS[f"filter {name}"] = plant


def test_fault(name, change, *test_names):
    """Adds a fault of a test: `change` gets the original test and the call's arguments."""

    def plant():
        def on_environment(environment):
            for test_name in test_names:
                environment.tests[test_name] = wrapped(environment.tests[test_name], change)

        environment_changes.append(on_environment)

    FAULTS[f"test {name}"] = plant


def loop_fault(name, function):
    FAULTS[f"loop.{name}"] = lambda: setattr(LoopContext, name.split()[0], function)


def method_fault(name, type_, method, change):
    """Adds a fault of a method: `change` gets the original method and the call's arguments."""

    def plant():
        original = jinja2.sandbox.SandboxedEnvironment.call

        def call(self, context, function, *args, **kwargs):
            if getattr(function, "__name__", "") == method and type(getattr(function, "__self__", None)) is type_:
                return original(self, context, lambda *a, **k: change(function, *a, **k), *args, **kwargs)
            return original(self, context, function, *args, **kwargs)

        jinja2.sandbox.SandboxedEnvironment.call = call

    FAULTS[f"method {name}"] = plant


def operator_fault(name, operator, function):
    """Adds a fault of a binary operator, which the sandbox calls."""

    def plant():
        def on_environment(environment):
            environment.intercepted_binops = frozenset({operator})
            environment.binop_table = {**environment.binop_table, operator: function}

        environment_changes.append(on_environment)

    FAULTS[f"operator {name}"] = plant


def source_fault(name, change):
    """Adds a fault that changes the source of each template."""
    FAULTS[f"source {name}"] = lambda: source_changes.append(change)


def attribute_fault(name, owner, attribute, value):
    FAULTS[name] = lambda: setattr(owner, attribute, value)


# --- Filters

filter_fault("abs keeps the sign", lambda f, x: x if isinstance(x, int) else f(x), "abs")
filter_fault("batch fills nothing", lambda f, v, n, fill_with=None: f(v, n), "batch")
filter_fault("capitalize leaves the rest", lambda f, s: str(s)[:1].upper() + str(s)[1:], "capitalize")
filter_fault("center rounds to the left", lambda f, s, width=80: str(s).rjust((width + len(str(s))) // 2).ljust(width), "center")
filter_fault("default ignores boolean", lambda f, value, default_value="", boolean=False: f(value, default_value), "default", "d")
filter_fault("dictsort is case-sensitive", lambda f, v, case_sensitive=False, by="key", reverse=False: f(v, True, by, reverse), "dictsort")
filter_fault("dictsort never reverses", lambda f, v, case_sensitive=False, by="key", reverse=False: f(v, case_sensitive, by), "dictsort")
filter_fault("escape leaves the apostrophe", lambda f, s: markupsafe.Markup(str(f(s)).replace("&#39;", "'")), "escape", "e")
filter_fault("forceescape escapes once", lambda f, s: markupsafe.escape(s), "forceescape")
filter_fault("filesizeformat ignores binary", lambda f, v, binary=False: f(v), "filesizeformat")
filter_fault("filesizeformat begins at 1001", lambda f, v, binary=False: f(v, binary) if float(v) != 1000 else "1000 Bytes", "filesizeformat")
filter_fault("first is the second of many", lambda f, e, s: f(e, s[1:] if isinstance(s, (list, str)) and len(s) > 3 else s), "first")
filter_fault("float defaults to 1", lambda f, v, default=0.0: f(v, default or 1.0), "float")
filter_fault("format takes %r for %s", lambda f, v, *a, **k: f(str(v).replace("%s", "%r"), *a, **k), "format")
filter_fault("groupby is case-sensitive", lambda f, e, v, attribute, default=None, case_sensitive=False: f(e, v, attribute, default, True), "groupby")
filter_fault("groupby has no default", lambda f, e, v, attribute, default=None, case_sensitive=False: f(e, v, attribute, None, case_sensitive), "groupby")
filter_fault("indent leaves blank lines when asked", lambda f, s, width=4, first=False, blank=False: f(s, width, first, False), "indent")
filter_fault("indent never indents the first line", lambda f, s, width=4, first=False, blank=False: f(s, width, False, blank), "indent")
filter_fault("int ignores the base", lambda f, v, default=0, base=10: f(v, default), "int")
filter_fault("int rounds", lambda f, v, default=0, base=10: round(v) if isinstance(v, float) and abs(v) < 1e9 else f(v, default, base), "int")
filter_fault("items sorts", lambda f, v: sorted(f(v), key=str), "items")
filter_fault("join leaves out empty items", lambda f, e, v, d="", attribute=None: f(e, [i for i in v if i != ""], d, attribute), "join")
filter_fault("last is the first of many", lambda f, e, s: f(e, s[:3] if isinstance(s, (list, str)) else s), "last")
filter_fault("length of a dict counts one less", lambda f, v: f(v) - (isinstance(v, dict) and len(v) > 1), "length", "count")
filter_fault("lower knows ASCII only", lambda f, s: "".join(c.lower() if c < "\x80" else c for c in str(s)), "lower")
filter_fault("map ignores its default", lambda f, c, v, *a, **k: f(c, v, *a, **{n: x for n, x in k.items() if n != "default"}), "map")
filter_fault("max is the last of the greatest", lambda f, e, v, case_sensitive=False, attribute=None: f(e, reversed(list(v)), case_sensitive, attribute), "max")
filter_fault("min is case-sensitive", lambda f, e, v, case_sensitive=False, attribute=None: f(e, v, True, attribute), "min")
filter_fault("reject keeps the first", lambda f, c, v, *a, **k: f(c, list(v)[:-1], *a, **k), "reject")
filter_fault("rejectattr is selectattr", lambda f, c, v, *a, **k: c.environment.filters["selectattr"](c, v, *a, **k), "rejectattr")
filter_fault("replace ignores the count", lambda f, e, s, old, new, count=None: f(e, s, old, new), "replace")
filter_fault("reverse of a text leaves it", lambda f, v: v if isinstance(v, str) else f(v), "reverse")
filter_fault("round halves up", lambda f, v, precision=0, method="common": f(v + 1e-9 if isinstance(v, float) and method == "common" else v, precision, method), "round")
filter_fault("round ceil is floor", lambda f, v, precision=0, method="common": f(v, precision, "floor" if method == "ceil" else method), "round")
filter_fault("safe is not safe", lambda f, s: str(s), "safe")
filter_fault("select keeps all but the first", lambda f, c, v, *a, **k: list(f(c, v, *a, **k))[1:], "select")
filter_fault("selectattr stops at three", lambda f, c, v, *a, **k: list(f(c, v, *a, **k))[:2], "selectattr")
filter_fault("slice fills nothing", lambda f, v, slices, fill_with=None: f(v, slices), "slice")
filter_fault("slice fills the first", lambda f, v, slices, fill_with=None: list(f(v, slices, fill_with))[::-1], "slice")


def unstable_sort(original, environment, value, reverse=False, case_sensitive=False, attribute=None):
    items = original(environment, value, False, case_sensitive, attribute)
    return items[::-1] if reverse else items


filter_fault("sort reversed is not stable", unstable_sort, "sort")
filter_fault("sort is case-sensitive", lambda f, e, v, reverse=False, case_sensitive=False, attribute=None: f(e, v, reverse, True, attribute), "sort")
filter_fault("sort knows one attribute", lambda f, e, v, reverse=False, case_sensitive=False, attribute=None: f(e, v, reverse, case_sensitive, attribute and attribute.split(",")[0]), "sort")
filter_fault("string quotes", lambda f, s: f(s) + " " if isinstance(s, float) else f(s), "string")
filter_fault("sum ignores the start", lambda f, e, v, attribute=None, start=0: f(e, v, attribute), "sum")
filter_fault("title begins words after an apostrophe", lambda f, s: str(s).title(), "title")
filter_fault("trim ignores its characters", lambda f, v, chars=None: f(v), "trim")
filter_fault("truncate ignores the leeway", lambda f, e, s, length=255, killwords=False, end="...", leeway=None: f(e, s, length, killwords, end, 0), "truncate")
filter_fault("truncate kills words", lambda f, e, s, length=255, killwords=False, end="...", leeway=None: f(e, s, length, True, end, leeway), "truncate")
filter_fault("unique is case-sensitive", lambda f, e, v, case_sensitive=False, attribute=None: f(e, v, True, attribute), "unique")
filter_fault("upper keeps ß", lambda f, s: "ß".join(part.upper() for part in str(s).split("ß")), "upper")
filter_fault("wordcount splits at blanks", lambda f, s: len(str(s).split()), "wordcount")
filter_fault("wordwrap never breaks long words", lambda f, e, s, width=79, break_long_words=True, wrapstring=None, break_on_hyphens=True: f(e, s, width, False, wrapstring, break_on_hyphens), "wordwrap")
filter_fault("wordwrap never breaks at hyphens", lambda f, e, s, width=79, break_long_words=True, wrapstring=None, break_on_hyphens=True: f(e, s, width, break_long_words, wrapstring, False), "wordwrap")
filter_fault("attr reads items", lambda f, e, o, name: o.get(name, f(e, o, name)) if isinstance(o, dict) else f(e, o, name), "attr")
filter_fault("list of a text is its words", lambda f, v: v.split() if isinstance(v, str) and " " in v else f(v), "list")
filter_fault("tojson escapes what is not ASCII", lambda f, x, ensure_ascii=False, **k: f(x, True, **k), "tojson")
filter_fault("tojson ignores sort_keys", lambda f, x, *a, sort_keys=False, **k: f(x, *a, **k), "tojson")
filter_fault("tojson indents empty lists", lambda f, x, *a, **k: f(x, *a, **k).replace("[]", "[\n]") if k.get("indent") else f(x, *a, **k), "tojson")
filter_fault("tojson ignores the separators", lambda f, x, *a, separators=None, **k: f(x, *a, **k), "tojson")

# --- Tests

test_fault("boolean is true of 1", lambda f, v: f(v) or (type(v) is int and v == 1), "boolean")
test_fault("divisibleby negates", lambda f, v, n: not f(v, n), "divisibleby")
test_fault("defined is true of none only", lambda f, v: f(v) and v is not None, "defined")
test_fault("escaped is true of texts", lambda f, v: isinstance(v, str), "escaped")
test_fault("even is true of 1", lambda f, v: v == 1 or f(v), "even")
test_fault("filter knows no aliases", lambda f, e, v: v != "upper" and f(e, v), "filter")
test_fault("float is true of integers", lambda f, v: isinstance(v, (int, float)), "float")
test_fault("in compares by identity", lambda f, v, seq: any(v is item for item in seq), "in")
test_fault("integer is true of booleans", lambda f, v: isinstance(v, int), "integer")
test_fault("iterable is false of texts", lambda f, v: not isinstance(v, str) and f(v), "iterable")
test_fault("lower is false of digits", lambda f, v: f(v) and not any(c.isdigit() for c in str(v)), "lower")
test_fault("mapping is true of lists", lambda f, v: isinstance(v, (dict, list)), "mapping")
test_fault("number is false of booleans", lambda f, v: f(v) and not isinstance(v, bool), "number")
test_fault("odd is false of negative numbers", lambda f, v: f(v) and v > 0, "odd")
test_fault("sameas compares by value", lambda f, v, o: v == o, "sameas")
test_fault("sequence is false of dicts", lambda f, v: f(v) and not isinstance(v, dict), "sequence")
test_fault("string is false of Markup", lambda f, v: type(v) is str, "string")
test_fault("true is truth", lambda f, v: bool(v), "true")
test_fault("undefined is true of none", lambda f, v: f(v) or v is None, "undefined")
test_fault("upper is false of blanks", lambda f, v: f(v) and " " not in str(v), "upper")
test_fault("gt is ge", lambda f, a, b: a >= b, "gt", "greaterthan", ">")
test_fault("eq is sameas for floats", lambda f, a, b: f(a, b) and type(a) is type(b), "eq", "equalto", "==")
test_fault("callable is false", lambda f, v: False, "callable")

# --- Loops

loop_fault("index starts at 0 in long loops", property(lambda self: self.index0 + (self.index0 < 3)))
loop_fault("index0 counts to 2", property(lambda self: min(self.__dict__.get("index0", 0), 2)))
loop_fault("revindex", property(lambda self: self.length - self.index))
loop_fault("revindex0", property(lambda self: self.length - self.index + 1))
loop_fault("first is true twice", property(lambda self: self.index0 < 2))
loop_fault("last is the third", property(lambda self: self.index0 == 2))
loop_fault("length is at most 3", property(lambda self: min(len(list(self._iterable)) if hasattr(self._iterable, "__len__") else 9, 3)))
loop_fault("previtem", property(lambda self: self._undefined("there is no previous item") if self.index0 < 2 else self._before))
loop_fault("nextitem", property(lambda self: self._undefined("there is no next item") if self.index0 > 0 else self._peek_next()))
loop_fault("depth", property(lambda self: self.depth0))
loop_fault("cycle", lambda self, *args: args[self.index % len(args)])
loop_fault("changed", lambda self, *value: True)


@fault("loop.previtem is the one before the previous")
def previtem():
    original = LoopContext.__next__
    LoopContext._older = None

    def following(self):
        self._older = getattr(self, "_before", None)
        return original(self)

    LoopContext.__next__ = following
    LoopContext.previtem = property(lambda self: self._older if self.index0 > 1 else self._before)


# --- Methods

method_fault("str.split drops empty pieces", str, "split", lambda f, *a, **k: [piece for piece in f(*a, **k) if piece])
method_fault("str.split ignores maxsplit", str, "split", lambda f, sep=None, maxsplit=-1: f(sep))
method_fault("str.rsplit is split", str, "rsplit", lambda f, *a, **k: f.__self__.split(*a, **k))
method_fault("str.strip strips one", str, "strip", lambda f, *a: f.__self__[1:-1] if f(*a) != f.__self__ else f.__self__)
method_fault("str.lstrip strips both", str, "lstrip", lambda f, *a: f.__self__.strip(*a))
method_fault("str.rstrip strips both", str, "rstrip", lambda f, *a: f.__self__.strip(*a))
method_fault("str.replace ignores the count", str, "replace", lambda f, old, new, count=-1: f(old, new))
method_fault("str.title", str, "title", lambda f: " ".join(w.capitalize() for w in f.__self__.split(" ")))
method_fault("str.capitalize", str, "capitalize", lambda f: f.__self__[:1].upper() + f.__self__[1:])
method_fault("str.swapcase", str, "swapcase", lambda f: f.__self__.upper())
method_fault("str.casefold is lower", str, "casefold", lambda f: f.__self__.lower())
method_fault("str.center", str, "center", lambda f, width, char=" ": f.__self__.rjust((width + len(f.__self__)) // 2, char).ljust(width, char))
method_fault("str.ljust", str, "ljust", lambda f, width, char=" ": f(width))
method_fault("str.rjust", str, "rjust", lambda f, width, char=" ": f(width + 1, char))
method_fault("str.zfill ignores the sign", str, "zfill", lambda f, width: f.__self__.rjust(width, "0"))
method_fault("str.find counts from 1", str, "find", lambda f, *a: f(*a) + (f(*a) > 0))
method_fault("str.rfind is find", str, "rfind", lambda f, *a: f.__self__.find(*a))
method_fault("str.index ignores the start", str, "index", lambda f, sub, *a: f(sub))
method_fault("str.count overlaps", str, "count", lambda f, sub, *a: sum(f.__self__.startswith(sub, i) for i in range(len(f.__self__))))
method_fault("str.startswith takes no tuple", str, "startswith", lambda f, prefix, *a: f(prefix[0] if isinstance(prefix, tuple) else prefix, *a))
method_fault("str.endswith ignores the bounds", str, "endswith", lambda f, suffix, *a: f(suffix))
method_fault("str.partition is from the right", str, "partition", lambda f, sep: f.__self__.rpartition(sep))
method_fault("str.rpartition is from the left", str, "rpartition", lambda f, sep: f.__self__.partition(sep))
method_fault("str.removeprefix removes all", str, "removeprefix", lambda f, p: f.__self__.lstrip(p))
method_fault("str.removesuffix removes nothing", str, "removesuffix", lambda f, p: f.__self__)
method_fault("str.expandtabs is 4 wide", str, "expandtabs", lambda f, tabsize=4: f(tabsize))
method_fault("str.splitlines splits at line feeds", str, "splitlines", lambda f, keepends=False: f.__self__.split("\n"))
method_fault("str.join", str, "join", lambda f, items: f(reversed(list(items))))
method_fault("str.translate", str, "translate", lambda f, table: f({k: v for k, v in table.items() if v is not None}))
method_fault("str.isdigit is isdecimal", str, "isdigit", lambda f: f.__self__.isdecimal())
method_fault("str.isalpha is isalnum", str, "isalpha", lambda f: f.__self__.isalnum())
method_fault("str.isspace is true of nothing", str, "isspace", lambda f: not f.__self__.strip())
method_fault("str.isupper is true of nothing", str, "isupper", lambda f: f.__self__ == f.__self__.upper())
method_fault("str.istitle", str, "istitle", lambda f: f.__self__[:1].isupper())
method_fault("str.isidentifier refuses keywords", str, "isidentifier", lambda f: f() and f.__self__ != "class")
method_fault("str.isprintable", str, "isprintable", lambda f: True)
method_fault("str.isascii", str, "isascii", lambda f: bool(f.__self__) and f())
method_fault("dict.get ignores the default", dict, "get", lambda f, key, default=None: f(key))
method_fault("dict.items sorts", dict, "items", lambda f: sorted(f(), key=str))
method_fault("dict.values", dict, "values", lambda f: list(f()))
method_fault("list.index ignores the start", list, "index", lambda f, x, *a: f(x))
method_fault("list.count", list, "count", lambda f, x: min(f(x), 1))
method_fault("tuple.count", tuple, "count", lambda f, x: min(f(x), 1))
method_fault("Markup.join escapes nothing", markupsafe.Markup, "join", lambda f, items: markupsafe.Markup(str(f.__self__).join(map(str, items))))
method_fault("Markup.strip forgets", markupsafe.Markup, "strip", lambda f, *a: str(f(*a)))

# --- Operators

operator_fault("// truncates", "//", lambda a, b: int(a / b) if isinstance(a, int) and isinstance(b, int) and abs(a) < 2**50 and b else a // b)
operator_fault("% takes the sign of the dividend", "%", lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1) if isinstance(a, int) and isinstance(b, int) and b else a % b)
operator_fault("/ of integers is an integer if exact", "/", lambda a, b: a // b if isinstance(a, int) and isinstance(b, int) and b and a % b == 0 else a / b)
operator_fault("+ of lists drops the last", "+", lambda a, b: a + b[:-1] if isinstance(a, list) and isinstance(b, list) else a + b)
operator_fault("- is absolute", "-", lambda a, b: abs(a - b) if isinstance(a, int) and isinstance(b, int) else a - b)
operator_fault("* of texts by negative numbers", "*", lambda a, b: a * abs(b) if isinstance(a, str) and isinstance(b, int) else a * b)
operator_fault("** is from the left", "**", lambda a, b: a**b + (b == 0) if isinstance(a, int) and isinstance(b, int) else a**b)
operator_fault("+ of Markup escapes nothing", "+", lambda a, b: type(a)(str(a) + str(b)) if isinstance(a, markupsafe.Markup) else a + b)


@fault("operator ~ leaves out none")
def concat():
    def change(concat):
        none = jinja2.nodes.Const(None)
        concat.nodes = [node for node in concat.nodes if node != none]

    change_nodes(jinja2.nodes.Concat, change)


def change_nodes(node_class, change):
    """Changes each node of a class once, after the template is parsed."""
    original = jinja2.Environment._parse

    def parse(self, *args):
        template = original(self, *args)
        for node in list(template.find_all(node_class)):
            change(node)
        return template

    jinja2.Environment._parse = parse


def node_fault(name, node_class, change):
    """Adds a fault that changes the nodes of a class."""
    FAULTS[name] = lambda: change_nodes(node_class, change)


def change_operator(old, new):
    def change(compare):
        for operand in compare.ops:
            if operand.op == old:
                operand.op = new

    return change


node_fault("operator < is <=", jinja2.nodes.Compare, change_operator("lt", "lteq"))
node_fault("operator >= is >", jinja2.nodes.Compare, change_operator("gteq", "gt"))
node_fault("operator not in is in", jinja2.nodes.Compare, change_operator("notin", "in"))
node_fault("operator chains stop", jinja2.nodes.Compare, lambda node: node.ops.__delitem__(slice(1, None)))


def change_slice(node):
    node.step = None


node_fault("slices have no step", jinja2.nodes.Slice, change_slice)


def change_conditional(node):
    if node.expr2 is None:
        node.expr2 = jinja2.nodes.Const("none")


node_fault("a conditional without else is a text", jinja2.nodes.CondExpr, change_conditional)


def exchange(node):
    node.left, node.right = node.right, node.left


node_fault("operator or prefers the right", jinja2.nodes.Or, exchange)
node_fault("operator and prefers the left", jinja2.nodes.And, exchange)
node_fault("a loop's else is lost", jinja2.nodes.For, lambda node: setattr(node, "else_", []))
node_fault("a loop's filter is lost", jinja2.nodes.For, lambda node: setattr(node, "test", None))
node_fault("a test's not is lost", jinja2.nodes.Not, lambda node: setattr(node, "node", jinja2.nodes.Not(node.node)) if isinstance(node.node, jinja2.nodes.Test) else None)

# --- Texts of values, and formats


def finalize_fault(name, change):
    """Adds a fault of the output of an expression."""

    def plant():
        original = jinja2.compiler.CodeGenerator._make_finalize

        def make(self):
            if self.environment.finalize is None:
                self.environment.finalize = change
            return original(self)

        jinja2.compiler.CodeGenerator._make_finalize = make

    FAULTS[f"output {name}"] = plant


finalize_fault("true is lower-case", lambda value: "true" if value is True else value)
finalize_fault("none is empty", lambda value: "" if value is None else value)
finalize_fault("floats without a point", lambda value: int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value)
finalize_fault("large floats are integers", lambda value: int(value) if isinstance(value, float) and 1e16 <= abs(value) < 1e300 else value)
finalize_fault("small floats have no exponent", lambda value: f"{value:f}" if isinstance(value, float) and 0 < abs(value) < 1e-4 else value)
finalize_fault("negative zero is zero", lambda value: 0.0 if isinstance(value, float) and value == 0 else value)
finalize_fault("lists of one have no brackets", lambda value: value[0] if isinstance(value, list) and len(value) == 1 else value)
finalize_fault("tuples of one have no comma", lambda value: f"({value[0]!r})" if type(value) is tuple and len(value) == 1 else value)
finalize_fault("lists quote with double quotes", lambda value: repr(value).replace("'", '"') if isinstance(value, list) else value)
finalize_fault("dicts sort their keys", lambda value: dict(sorted(value.items(), key=str)) if type(value) is dict else value)


def formatter_fault(name, change):
    """Adds a fault of `str.format`."""

    def plant():
        original = jinja2.sandbox.SandboxedFormatter.format_field
        jinja2.sandbox.SandboxedFormatter.format_field = lambda self, value, spec: change(lambda v, s: original(self, v, s), value, spec)

    FAULTS[f"format {name}"] = plant


formatter_fault(":, has no separator", lambda f, value, spec: f(value, spec.replace(",", "")))
formatter_fault(":x is upper-case", lambda f, value, spec: f(value, spec).upper() if spec.endswith("x") else f(value, spec))
formatter_fault(":^ pads to the left", lambda f, value, spec: f(value, spec.replace("^", ">")))
formatter_fault(":.2f has one digit", lambda f, value, spec: f(value, spec.replace(".2f", ".1f")))
formatter_fault(":e has a short exponent", lambda f, value, spec: f(value, spec).replace("e+0", "e+"))
formatter_fault(":08 fills with blanks", lambda f, value, spec: f(value, spec).replace("000", "  0", 1))


@fault("format !r is !s")
def conversion():
    original = jinja2.sandbox.SandboxedFormatter.convert_field
    jinja2.sandbox.SandboxedFormatter.convert_field = lambda self, value, kind: original(self, value, "s" if kind == "r" else kind)


def percent_fault(name, change):
    operator_fault(f"% of texts: {name}", "%", lambda a, b: change(a, b) if isinstance(a, str) else a % b)


percent_fault("%5s pads to the right", lambda a, b: a.replace("%5", "%-5") % b)
percent_fault("%x is upper-case", lambda a, b: a.replace("%x", "%X") % b)
percent_fault("%.2f has one digit", lambda a, b: a.replace(".2f", ".1f") % b)
percent_fault("%g is %f", lambda a, b: a.replace("%g", "%f") % b)
percent_fault("%+d has no sign", lambda a, b: a.replace("%+", "%") % b)

# --- Globals and objects

attribute_fault("joiner separates from the start", Joiner, "__call__", lambda self: self.sep)
attribute_fault("cycler.next skips", Cycler, "next", lambda self: (setattr(self, "pos", (self.pos + 2) % len(self.items)), self.items[self.pos])[1])
attribute_fault("cycler.reset does nothing", Cycler, "reset", lambda self: None)


@fault("namespace ignores its first argument")
def namespace():
    original = Namespace.__init__
    Namespace.__init__ = lambda *args, **kwargs: original(args[0], **kwargs)


@fault("macros ignore defaults")
def macro_defaults():
    original = Macro._invoke
    Macro._invoke = lambda self, arguments, autoescape: original(self, [None if a is jinja2.runtime.missing else a for a in arguments], autoescape)


@fault("macros lose varargs")
def varargs():
    original = Macro._invoke

    def invoke(self, arguments, autoescape):
        return original(self, [() if self.catch_varargs and a == arguments[-1] and type(a) is tuple else a for a in arguments], autoescape)

    Macro._invoke = invoke


@fault("undefined prints its name")
def undefined():
    Undefined.__str__ = lambda self: self._undefined_name or ""


@fault("undefined is true")
def truth():
    Undefined.__bool__ = lambda self: True


@fault("strftime_now has no padding")
def padding():
    def plant(environment):
        original = environment.globals["strftime_now"]
        environment.globals["strftime_now"] = lambda text: original(text.replace("%d", "%-d"))

    environment_changes.append(plant)


@fault("range excludes its start")
def range_start():
    environment_changes.append(lambda environment: environment.globals.update(range=lambda *a: range(*a)[1:]))


@fault("dict ignores named arguments")
def dict_names():
    environment_changes.append(lambda environment: environment.globals.update(dict=lambda *a, **k: dict(*a)))


# --- Whitespace


def flag_fault(name, flag):
    """Adds a fault that inverts a flag of the environment."""
    FAULTS[f"whitespace {name}"] = lambda: environment_changes.append(lambda environment: setattr(environment, flag, not getattr(environment, flag)))


flag_fault("trim_blocks is off", "trim_blocks")
flag_fault("lstrip_blocks is off", "lstrip_blocks")
flag_fault("keep_trailing_newline is on", "keep_trailing_newline")
source_fault("-%} keeps the blanks", lambda source: source.replace("-%}", "%}"))
source_fault("{%- keeps the blanks", lambda source: source.replace("{%-", "{%"))
source_fault("{%+ is {%", lambda source: source.replace("{%+", "{%"))
source_fault("+%} is %}", lambda source: source.replace("+%}", "%}"))
source_fault("{{- keeps the blanks", lambda source: source.replace("{{-", "{{"))
source_fault("-}} keeps the blanks", lambda source: source.replace("-}}", "}}"))
source_fault("a comment ends its line", lambda source: source.replace("#}\n", "#}"))
source_fault("carriage returns stay", lambda source: source.replace("\r\n", "\n\n"))


def plant_nothing():
    """Plants what all faults have in common: rounds whose answer this changes say nothing about a fault."""
    originals = dict(FAULTS)
    same = lambda f, *args, **kwargs: f(*args, **kwargs)
    filter_fault("no", same, *jinja_filters.FILTERS)
    test_fault("no", same, *jinja_tests.TESTS)
    for kind, methods in [(str, dir(str)), (dict, dir(dict)), (list, dir(list)), (tuple, dir(tuple)), (markupsafe.Markup, dir(str))]:
        for method in methods:
            if not method.startswith("_") and method not in ("format", "format_map"):
                method_fault(f"no {kind} {method}", kind, method, same)
    finalize_fault("no", lambda value: value)
    formatter_fault("no", same)
    node_fault("no", jinja2.nodes.Concat, lambda node: None)
    for name in FAULTS.keys() - originals.keys():
        FAULTS.pop(name)()
    operators = jinja2.sandbox.SandboxedEnvironment.default_binop_table
    environment_changes.append(lambda environment: setattr(environment, "intercepted_binops", frozenset(operators)))
