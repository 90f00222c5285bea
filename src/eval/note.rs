//! What an error says of the value that caused it: its type, and where it stands in the input.
//!
//! `{{ message.content + 1 }}` with a list there: "`message.content` is a list, at `/messages/3/content` of the input". Only paths are
//! described (names, attributes, items): to evaluate them once more changes nothing.

use std::fmt::Write;

use super::Evaluator;
use crate::ast::{Expr, ExprKind, For, TargetKind};
use crate::builtins::access;
use crate::error::{Error, ErrorKind, Step};
use crate::resolve::operate;
use crate::value::{Str, Value};

/// How many values of the input are looked at to find the one in question.
const MAX_LOOKS: usize = 20_000;

impl<'a> Evaluator<'a, '_> {
    /// Adds what is known of the operands of a failed expression.
    #[cold]
    pub(super) fn explain(&mut self, error: Error, expr: &'a Expr) -> Error {
        let mut operands = Vec::new();
        collect_paths(expr, &mut operands);
        self.describe(error, &operands)
    }

    /// Adds what is known of what a loop iterates, where that failed before the first round: later another value may have its name. What
    /// a recursive loop iterates when it is called is not what stands there.
    #[cold]
    pub(super) fn explain_iterated(&mut self, error: Error, node: &'a For, round: u64) -> Error {
        if round > 0 || node.recursive || error.has_place() || error.kind() == ErrorKind::Limit {
            return error;
        }
        let error = error.at(node.iter.span);
        match &node.iter.kind {
            ExprKind::Filter(_) => self.explain(error, &node.iter),
            _ if is_path(&node.iter) => self.describe(error, &[&node.iter]),
            _ => error,
        }
    }

    /// Adds the types of paths that have a value, and where those stand in the input.
    fn describe(&mut self, error: Error, paths: &[&'a Expr]) -> Error {
        let mut notes = Vec::new();
        for path in paths {
            let Some(value) = self.peek(path) else { continue };
            let text = self.render.source.slice(path.span);
            let mut note = format!("`{text}` is of type {}", value.ty().name());
            if let Some(pointer) = self.path(path, &value) {
                let _ = write!(note, ", at `{pointer}` of the input");
            }
            notes.push(note);
        }
        match notes.is_empty() {
            true => error,
            false => error.with_note(notes.join("\n")),
        }
    }

    /// Adds which message of the conversation a loop was at, where its items are messages.
    #[cold]
    pub(super) fn name_message(&self, error: Error, node: &'a For) -> Error {
        let TargetKind::Name { slot, .. } = &node.target.kind else {
            return error;
        };
        let input = self.runtime.heap.input.as_ref();
        let messages = input.and_then(|input| input.get_str("messages"));
        let (Some(item @ Value::Dict(_)), Some(Value::List(messages))) = (self.get(slot), messages) else {
            return error;
        };
        let total = messages.len();
        match messages.iter().position(|message| message.shares_storage(item)) {
            Some(index) => error.within(Step::Message {
                number: index.saturating_add(1),
                total,
            }),
            None => error,
        }
    }

    /// The value of a path, if it has one.
    fn peek(&mut self, expr: &'a Expr) -> Option<Value<'a>> {
        match &expr.kind {
            ExprKind::Name(name) => self.get(&name.slot).cloned(),
            ExprKind::Attribute(attribute) => {
                let object = self.peek(&attribute.object)?;
                let value = access::attribute(self.runtime, &object, &Str::from(&*attribute.name)).ok()?;
                (!value.is_undefined()).then_some(value)
            }
            ExprKind::Item(operands) => {
                let [object, index] = &**operands;
                let object = self.peek(object)?;
                let index = self.index(index)?;
                let value = access::item(self.runtime, &object, &index).ok()?;
                (!value.is_undefined()).then_some(value)
            }
            _ => None,
        }
    }

    fn index(&mut self, expr: &'a Expr) -> Option<Value<'a>> {
        match &expr.kind {
            ExprKind::Literal(literal) => Some(operate::literal(literal)),
            _ => self.peek(expr),
        }
    }

    /// Where a value stands in the input, as a JSON pointer. A number or the like has no identity: its container says where it is.
    fn path(&mut self, expr: &'a Expr, value: &Value<'a>) -> Option<String> {
        let has_identity = match value {
            Value::Str(text) => text.borrowed().is_some_and(|text| !text.is_empty()),
            Value::List(_) | Value::Dict(_) => true,
            _ => false,
        };
        if has_identity {
            return self.find(value);
        }
        let (object, key) = match &expr.kind {
            ExprKind::Attribute(attribute) => (&attribute.object, Value::text(&attribute.name)),
            ExprKind::Item(operands) => {
                let [object, index] = &**operands;
                (object, self.index(index)?)
            }
            ExprKind::Name(name) => {
                let name = self.render.template.symbols.name(name.symbol);
                let given = self.runtime.heap.input.as_ref()?.get_str(name)?;
                return given.shares_storage(value).then(|| pointer(&Value::text(name)));
            }
            _ => return None,
        };
        let container = self.peek(object)?;
        // A method is no piece of the input.
        let key = match (value, &container, key) {
            (
                Value::None | Value::Bool(_) | Value::Int(_) | Value::Big(_) | Value::Float(_) | Value::Str(_),
                Value::Dict(_),
                key,
            ) => key,
            (_, Value::List(items), Value::Int(index)) if index < 0 => {
                Value::Int(index.saturating_add_unsigned(items.len() as u64))
            }
            (_, Value::List(_), key @ Value::Int(_)) => key,
            _ => return None,
        };
        let path = self.find(&container)?;
        Some(path + &pointer(&key))
    }

    /// The path of a value in the input, if it is an object of it.
    fn find(&self, target: &Value<'a>) -> Option<String> {
        let input = Value::Dict(self.runtime.heap.input.clone()?);
        find_below(&input, target, &mut MAX_LOOKS.clone(), 0)
    }
}

/// The paths among the operands of an expression.
fn collect_paths<'t>(expr: &'t Expr, operands: &mut Vec<&'t Expr>) {
    let mut add = |operand: &'t Expr| {
        if is_path(operand) {
            operands.push(operand);
        }
    };
    match &expr.kind {
        ExprKind::Unary(_, operand) => add(operand),
        ExprKind::Binary(_, pair) => pair.iter().for_each(add),
        ExprKind::Compare(compare) => {
            add(&compare.first);
            compare.links().for_each(|(_, operand)| add(operand));
        }
        ExprKind::Attribute(attribute) => add(&attribute.object),
        ExprKind::Item(pair) => pair.iter().for_each(add),
        ExprKind::Slice(slice) => slice.object.iter().for_each(add),
        ExprKind::Filter(filter) => filter.input.iter().for_each(add),
        ExprKind::Test(test) => add(&test.input),
        ExprKind::Call(call) => match &call.callee.kind {
            ExprKind::Attribute(attribute) => add(&attribute.object),
            _ => add(&call.callee),
        },
        _ => {}
    }
}

fn is_path(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Name(_) | ExprKind::Attribute(_) | ExprKind::Item(_))
}

/// `/key` of a JSON pointer (RFC 6901).
fn pointer(key: &Value<'_>) -> String {
    match key {
        Value::Str(text) => format!("/{}", text.as_str().replace('~', "~0").replace('/', "~1")),
        Value::Int(int) => format!("/{int}"),
        _ => "/?".to_owned(),
    }
}

/// Deeper data is not searched.
const MAX_DEPTH: usize = 32;

/// The path of the value in a container of the input that is the same object; the depth is that of the caller's data, and bounded.
fn find_below<'a>(container: &Value<'a>, target: &Value<'a>, looks: &mut usize, depth: usize) -> Option<String> {
    if is_same_piece(container, target) {
        return Some(String::new());
    }
    *looks = looks.checked_sub(1).filter(|_| depth < MAX_DEPTH)?;
    match container {
        Value::Dict(dict) => dict.iter().find_map(|(key, value)| {
            let below = find_below(&value, target, looks, depth.saturating_add(1))?;
            Some(pointer(&key) + &below)
        }),
        Value::List(items) => items.iter().enumerate().find_map(|(index, value)| {
            let below = find_below(&value, target, looks, depth.saturating_add(1))?;
            Some(format!("/{index}{below}"))
        }),
        _ => None,
    }
}

/// Whether both are the same object of the input; a string is told by its address.
fn is_same_piece<'a>(left: &Value<'a>, right: &Value<'a>) -> bool {
    match (left, right) {
        (Value::Str(left), Value::Str(right)) => match (left.borrowed(), right.borrowed()) {
            (Some(left), Some(right)) => std::ptr::eq(left, right),
            _ => false,
        },
        (Value::List(_), Value::List(_)) | (Value::Dict(_), Value::Dict(_)) => left.shares_storage(right),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::error::{Error, ErrorKind};
    use crate::template::Template;

    const INPUT: &str = r#"{"messages": [{"content": "hi", "n": 1}, {"content": [{"text": "a/b"}], "n": [2, 3], "a/b~": null}]}"#;

    fn failed(source: &str) -> Error {
        let rendered = Template::compile(source).and_then(|template| template.render_json(INPUT));
        rendered.expect_err(source)
    }

    fn assert_note(source: &str, note: Option<&str>) {
        assert_eq!(failed(source).note(), note, "{source}");
    }

    #[test]
    fn an_operand_is_found_in_the_input() {
        let cases = [
            (
                "{{ messages[1].content + 1 }}",
                "`messages[1].content` is of type list, at `/messages/1/content` of the input",
            ),
            (
                "{{ messages[0].n + 'a' }}",
                "`messages[0].n` is of type int, at `/messages/0/n` of the input",
            ),
            (
                "{{ messages[-1].n[-2] + 'a' }}",
                "`messages[-1].n[-2]` is of type int, at `/messages/1/n/0` of the input",
            ),
            (
                "{{ messages[1]['a/b~'] + 1 }}",
                "`messages[1]['a/b~']` is of type NoneType, at `/messages/1/a~1b~0` of the input",
            ),
            (
                "{% set x = messages[1].content %}{{ x + 1 }}",
                "`x` is of type list, at `/messages/1/content` of the input",
            ),
        ];
        for (source, note) in cases {
            assert_note(source, Some(note));
        }
    }

    #[test]
    fn what_is_not_in_the_input_has_no_place_there() {
        let cases = [
            (
                "{{ messages[0].keys + 1 }}",
                "`messages[0].keys` is of type builtin_function_or_method",
            ),
            (
                "{{ messages[0].content.lstrip + 1 }}",
                "`messages[0].content.lstrip` is of type builtin_function_or_method",
            ),
            (
                "{{ messages.index + 1 }}",
                "`messages.index` is of type builtin_function_or_method",
            ),
            ("{% set x = 5 %}{{ x + 'a' }}", "`x` is of type int"),
        ];
        for (source, note) in cases {
            assert_note(source, Some(note));
        }
        assert_note("{{ 1 + 'a' }}", None);
    }

    #[test]
    fn a_loop_says_what_it_iterates() {
        let cases = [
            (
                "{% for k, v in messages[0].content|items %}{% endfor %}",
                "`messages[0].content` is of type str, at `/messages/0/content` of the input",
            ),
            (
                "{% for k, v in messages[0].content|items if v %}{% endfor %}",
                "`messages[0].content` is of type str, at `/messages/0/content` of the input",
            ),
            (
                "{% for x in messages[0].n %}{{ loop.index }}{% endfor %}",
                "`messages[0].n` is of type int, at `/messages/0/n` of the input",
            ),
            (
                "{% for x in messages[0].n if x %}{% endfor %}",
                "`messages[0].n` is of type int, at `/messages/0/n` of the input",
            ),
        ];
        for (source, note) in cases {
            assert_note(source, Some(note));
        }
    }

    #[test]
    fn a_later_round_or_another_place_says_nothing_of_what_is_iterated() {
        assert_note(
            "{% for x in messages if x.n > 0 %}{% endfor %}",
            Some("`x.n` is of type list, at `/messages/1/n` of the input"),
        );
        assert_note("{% for x in [messages[0]] recursive %}{{ loop(x.n) }}{% endfor %}", None);
        assert_note("{% for a, b in [1] %}{% endfor %}", None);
        assert_note("{% for x in [1, 2]|map('abs')|list + 1 %}{% endfor %}", None);
    }

    #[test]
    fn a_failed_loop_is_shown_where_it_iterates() {
        let source = "a\n{%- for k, v in\n messages[0].content|items %}{% endfor %}";
        let error = failed(source);
        let place = error.position().map(|position| (position.line, position.column));
        assert_eq!((error.kind(), error.line(), place), (ErrorKind::Type, Some(2), Some((3, 2))));
    }
}
