//! What an error says of the value that caused it: its type, and where it stands in the input.
//!
//! `{{ message.content + 1 }}` with a list there: "`message.content` is a list, at `/messages/3/content` of the input". Only paths are
//! described (names, attributes, items): to evaluate them once more changes nothing.

use std::fmt::Write;

use super::Evaluator;
use crate::ast::{Expr, ExprKind, For, TargetKind};
use crate::builtins::access;
use crate::error::{Error, Step};
use crate::resolve::operate;
use crate::value::{Str, Value, is_identical};

/// How many values of the input are looked at to find the one in question.
const MAX_LOOKS: usize = 20_000;

impl<'a> Evaluator<'a, '_> {
    /// Adds what is known of the operands of a failed expression.
    #[cold]
    pub(super) fn explain(&mut self, error: Error, expr: &'a Expr) -> Error {
        let mut notes = Vec::new();
        let mut operands = Vec::new();
        collect_paths(expr, &mut operands);
        for operand in operands {
            let Some(value) = self.peek(operand) else { continue };
            let text = self.render.source.slice(operand.span);
            let mut note = format!("`{text}` is of type {}", value.ty().name());
            if let Some(path) = self.path(operand, &value) {
                let _ = write!(note, ", at `{path}` of the input");
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
        match messages.iter().position(|message| is_identical(&message, item)) {
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
                return is_identical(&given, value).then(|| pointer(&Value::text(name)));
            }
            _ => return None,
        };
        let container = self.peek(object)?;
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
        if matches!(operand.kind, ExprKind::Name(_) | ExprKind::Attribute(_) | ExprKind::Item(_)) {
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
        (Value::List(_), Value::List(_)) | (Value::Dict(_), Value::Dict(_)) => is_identical(left, right),
        _ => false,
    }
}
