"""Plants random faults in the source of the reference, and shows which of them the cases of a suite see.

    chat-template conformance export > suite.jsonl
    python tests/reference/random_faults.py suite.jsonl --seed 1 --count 40

A fault changes one operator, constant, condition or statement in the functions below. These implement what at least 50 real templates
use: loops, conditions, assignments, macros, slices, and so on. Each fault is planted in a process of its own before jinja2 and transformers
are imported, and that process answers the cases until an answer differs. A fault that no case sees is printed with its place; it may change
nothing that a template can show.
"""

import argparse
import ast
import copy
import importlib.machinery
import importlib.util
import json
import pathlib
import random
import subprocess
import sys

FUNCTIONS = {
    "jinja2/filters.py": "do_trim do_default sync_do_join sync_do_list sync_do_selectattr do_selectattr select_or_reject prepare_select_or_reject make_attrgetter _prepare_attribute_parts",
    "jinja2/tests.py": "test_defined test_string test_none test_mapping test_iterable test_sequence",
    "jinja2/runtime.py": "last first length index _peek_next __next__ __init__ __call__ _invoke resolve_or_missing call _undefined_message __getattr__ __bool__ __eq__ __iter__ __len__ __str__",
    "jinja2/compiler.py": "visit_Output _output_child_to_const _output_const_repr _output_child_pre visit_Const visit_For visit_If visit_Getitem visit_Getattr visit_Assign visit_AssignBlock visit_Compare visit_Operand visit_Call signature _filter_test_common visit_CondExpr visit_Macro macro_body visit_Slice visit_List visit_Tuple visit_NSRef visit_Name visit_Concat visit_Scope enter_frame pop_assign_tracking visit_Dict",
    "jinja2/nodes.py": "as_const args_as_const",
    "jinja2/parser.py": "parse_compare parse_if parse_for parse_set parse_macro parse_signature parse_postfix parse_postfix_expr parse_unary parse_subscript parse_subscribed parse_condexpr parse_or parse_and parse_not parse_math1 parse_math2 parse_concat parse_filter parse_test parse_call_args parse_primary parse_tuple parse_list parse_assign_target subparse",
    "jinja2/lexer.py": "__init__ tokeniter wrap _normalize_newlines",
    "jinja2/idtracking.py": "branch_update load store _define_symbol find_ref visit_For visit_If visit_Macro visit_Assign",
    "jinja2/sandbox.py": "getitem getattr call safe_range wrap_str_format is_safe_attribute",
    "transformers/utils/chat_template_utils.py": "render_jinja_template _cached_compile_jinja_template",
}
# A line of Python's traceback, which depends on the depth of the stack.
CHANGING = {"python_artefacts/endless-loop-line"}
OPPOSITES = {ast.Eq: ast.NotEq, ast.Lt: ast.LtE, ast.Gt: ast.GtE, ast.In: ast.NotIn, ast.Is: ast.IsNot, ast.And: ast.Or, ast.Add: ast.Sub}
OPPOSITES |= {new: old for old, new in OPPOSITES.items()}


def change(node):
    """The node with a fault, or `None` if there is none for its kind. It is changed in place."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in OPPOSITES:
            node.ops = [OPPOSITES[type(op)]()]
        case ast.BoolOp(op=op) | ast.BinOp(op=op) if type(op) in OPPOSITES:
            node.op = OPPOSITES[type(op)]()
        case ast.UnaryOp(op=ast.Not()):
            return node.operand
        case ast.Constant(value=bool()):
            node.value = not node.value
        case ast.Constant(value=int()):
            node.value += 1
        case ast.If() | ast.IfExp() | ast.While():
            node.test = ast.UnaryOp(ast.Not(), node.test)
        case ast.Assign() | ast.AugAssign() | ast.Expr(value=ast.Call()) | ast.Continue() | ast.Break():
            return ast.copy_location(ast.Pass(), node)
        case _:
            return None
    return node


class Planter(ast.NodeTransformer):
    """Plants the fault of one number in the functions of these names; without a number it counts the faults."""

    def __init__(self, functions, wanted=None):
        self.functions, self.wanted, self.count, self.is_inside, self.place = functions, wanted, 0, False, ""

    def visit_FunctionDef(self, node):
        outside, self.is_inside = self.is_inside, self.is_inside or node.name in self.functions
        node.body = [self.visit(statement) for statement in node.body]
        self.is_inside = outside
        return node

    def visit(self, node):
        node = super().visit(node)
        if self.is_inside and change(copy.copy(node)) is not None:
            if self.count == self.wanted:
                before = ast.unparse(node).split("\n")[0]
                node = change(node)
                self.place = f"{getattr(node, 'lineno', '?')}: {before} -> {ast.unparse(node).split(chr(10))[0]}"
            self.count += 1
        return node


def source_of(module):
    package = importlib.util.find_spec(module.split("/")[0]).submodule_search_locations[0]
    return pathlib.Path(package).parent / module


def planted(module, number=None):
    """The changed syntax tree of a module, and the planter."""
    planter = Planter(FUNCTIONS[module].split(), number)
    tree = planter.visit(ast.parse(source_of(module).read_text(encoding="utf-8")))
    return ast.fix_missing_locations(tree), planter


def first_difference(module, number, path):
    """The id of the first case whose answer a fault changes, or `None`. The fault is planted in this process."""
    changed, original = str(source_of(module)), importlib.machinery.SourceFileLoader.get_code
    importlib.machinery.SourceFileLoader.get_code = lambda loader, name: (
        compile(planted(module, number)[0], changed, "exec") if loader.path == changed else original(loader, name)
    )
    try:
        import port

        port.limit_memory()
    except Exception:
        return "the import"
    for line in path.read_text(encoding="utf-8").split("\n"):
        case = json.loads(line or "{}")
        if "response" not in case and case and port.engine.holds(case) and case["id"] not in CHANGING:
            request = {key: case[key] for key in ("id", "template", "context", "apply", "now", "generation") if key in case}
            if json.loads(json.dumps(port.answer(json.dumps(request)))) != {"id": case["id"], **case["expect"]}:
                return case["id"]
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("suite", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--one", nargs=2, metavar=("MODULE", "NUMBER"), help="plants only this fault")
    arguments = parser.parse_args()
    if arguments.one:
        print(first_difference(arguments.one[0], int(arguments.one[1]), arguments.suite))
        return
    faults = [(module, number) for module in FUNCTIONS for number in range(planted(module)[1].count)]
    unseen = 0
    for module, number in random.Random(arguments.seed).sample(faults, arguments.count):
        command = [sys.executable, __file__, str(arguments.suite), "--one", module, str(number)]
        # A fault that ends the process or takes too long is seen.
        child = subprocess.run(["timeout", "120", *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        is_unseen = child.stdout == "None\n"
        unseen += is_unseen
        print(f"{'unseen' if is_unseen else child.stdout.strip() or 'no answer':<50}  {module}:{planted(module, number)[1].place}", flush=True)
    print(f"{arguments.count - unseen} of {arguments.count} faults of {len(faults)} are seen")
    sys.exit(bool(unseen))


if __name__ == "__main__":
    main()
