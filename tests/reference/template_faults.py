"""Faults of constructs that at least 50 real templates use, and three that the suite did not see before version 6.0.0."""

from jinja2 import nodes

from faults import filter_fault, method_fault, node_fault, source_fault, test_fault


def swap_comparisons(node):
    """A chain of comparisons compares every operand with the first."""
    if isinstance(node, nodes.Compare) and len(node.ops) == 2:
        first = nodes.Compare(node.expr, [node.ops[0]], lineno=node.lineno)
        second = nodes.Compare(node.expr, [node.ops[1]], lineno=node.lineno)
        node.expr, node.ops = nodes.And(first, second, lineno=node.lineno), []


def minus_one(node):
    if isinstance(node.arg, nodes.Slice) and isinstance(node.arg.start, nodes.Const) and node.arg.start.value == 1:
        node.arg.start.value = 0


filter_fault("dictsort by value minds case", lambda f, v, case_sensitive=False, by="key", reverse=False: f(v, case_sensitive or by == "value", by, reverse), "dictsort")
filter_fault("round floor truncates", lambda f, v, precision=0, method="common": float(int(v * 10**precision)) / 10**precision if method == "floor" else f(v, precision, method), "round")
source_fault("minus keeps U+00A0", lambda source: source.replace("-%}\u00a0", "%}\u00a0").replace("\u00a0{%-", "\u00a0{%"))
filter_fault("trim strips to the right only", lambda f, s, chars=None: str(s).rstrip(chars), "trim")
filter_fault("length counts bytes", lambda f, v: len(v.encode()) if isinstance(v, str) else f(v), "length")
filter_fault("length is one more for a list", lambda f, v: len(v) + 1 if isinstance(v, list) else f(v), "length")
filter_fault("string is repr of a dict's values", lambda f, v: str(list(v.values())) if isinstance(v, dict) else f(v), "string")
filter_fault("list drops the last of many", lambda f, v: f(v)[:3], "list")
filter_fault("default takes what is false", lambda f, v, d="", b=False: f(v, d, True), "default")
filter_fault("join without a separator", lambda f, *a, **k: f(a[0], a[1], "") if len(a) > 2 else f(*a, **k), "join")
filter_fault("items of an undefined value fail", lambda f, v: iter(dict(v).items()), "items")
filter_fault("upper is title", lambda f, s: str(s).title(), "upper")
filter_fault("safe trims", lambda f, v: f(str(v).strip()), "safe")
filter_fault("tojson sorts keys", lambda f, x, **k: f(x, **{**k, "sort_keys": True}), "tojson")
filter_fault("tojson has no blanks", lambda f, x, **k: f(x, **{"separators": (",", ":"), **k}), "tojson")
test_fault("string is true of numbers", lambda f, v: f(v) or isinstance(v, int), "string")
test_fault("iterable is false of strings", lambda f, v: f(v) and not isinstance(v, str), "iterable")
test_fault("none is true of undefined", lambda f, v: not v and not isinstance(v, (int, str, list, dict)), "none")
method_fault("str.split keeps one piece", str, "split", lambda f, *a: f(*a)[:1])
method_fault("str.startswith minds no case", str, "startswith", lambda f, p, *a: f.__self__.lower().startswith(p.lower() if isinstance(p, str) else p, *a))
method_fault("str.endswith takes no blanks", str, "endswith", lambda f, p, *a: f.__self__.rstrip().endswith(p, *a))
method_fault("dict.get returns the default for none", dict, "get", lambda f, k, d=None: f(k, d) if f(k, d) is not None else d)
method_fault("dict.items are sorted", dict, "items", lambda f: sorted(f(), key=str))
node_fault("comparison chains begin with the first", nodes.Compare, swap_comparisons)
node_fault("a slice from one begins at nought", nodes.Getitem, minus_one)
