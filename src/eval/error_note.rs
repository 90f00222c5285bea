//! Adds a note to an error: the type, the keys and the place in the input of the value that caused it.
//!
//! If `message.content` is a list, `{{ message.content + 1 }}` fails with the note "`message.content` is of type list, at
//! `/messages/3/content` of the input". Only names, attributes and items are described, because evaluating them again has no effect.

use std::fmt::Write;

use super::Evaluator;
use crate::ast::{Expr, ExprKind, For, TargetKind};
use crate::builtins::access;
use crate::error::{Error, ErrorKind, TraceFrame};
use crate::json::escape_key;
use crate::resolve::operators;
use crate::text::message::elide;
use crate::text::quote;
use crate::value::{Dict, Str, Value};

/// The maximum number of operands that a note describes.
const MAX_OPERANDS: usize = 8;

/// The maximum number of keys of a dict that a note lists.
const MAX_KEYS: usize = 8;

/// The maximum number of characters that a note shows of a key.
const MAX_KEY: usize = 40;

/// The maximum number of characters that a note shows of the source of an operand, or of its place in the input.
const MAX_TEXT: usize = 200;

impl<'a> Evaluator<'a, '_> {
    /// Adds a note about the operands of a failed expression.
    #[cold]
    pub(super) fn explain(&mut self, error: Error, expr: &'a Expr) -> Error {
        if let ExprKind::Call(call) = &expr.kind {
            let is_attribute = matches!(call.callee.kind, ExprKind::Attribute(_));
            if !is_attribute && self.reread(&call.callee).is_some_and(|callee| is_callable(&callee)) {
                return error;
            }
        }
        let mut operands = Vec::new();
        collect_paths(expr, &mut operands);
        self.describe(error, &operands)
    }

    /// Adds a note about the object of a failed attribute.
    #[cold]
    pub(super) fn explain_object(&mut self, error: Error, object: &'a Expr) -> Error {
        if is_path(object) {
            self.describe(error, &[object])
        } else {
            error
        }
    }

    /// Adds a note about the iterable of a loop that failed before its first round. After that, its name may have another value. A
    /// recursive loop may also iterate over another value.
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

    /// Adds the types of expressions and their places in the input. If an expression is undefined, the container that lacks it is described
    /// instead.
    fn describe(&mut self, mut error: Error, paths: &[&'a Expr]) -> Error {
        let mut notes = Vec::new();
        let mut pointers = [const { Vec::new() }; 3];
        let is_undefined = error.kind() == ErrorKind::Undefined;
        for path in paths.iter().take(MAX_OPERANDS) {
            let candidates = [(false, Some(*path)), (true, container(path))];
            let found = candidates
                .into_iter()
                .find_map(|(lacks, path)| Some((lacks, path?, self.reread(path?)?)));
            let Some((lacks, path, value)) = found else { continue };
            let text = self.render.source.slice(path.span);
            let mut note = format!("`{}` is of type {}", elide(text, MAX_TEXT), value.ty().name());
            if let Some(pointer) = self.path(path, &value) {
                let _ = write!(note, ", at `{}` of the input", elide(&pointer, MAX_TEXT));
                // Templates build strings, so if one operand is a string and the other is not, the text is seldom the wrong one.
                let [first, second, last] = &mut pointers;
                let rank = match lacks {
                    true => first,
                    false if matches!(value, Value::Str(_)) => last,
                    false => second,
                };
                rank.push(pointer);
            }
            if let Value::Dict(dict) = &value {
                if is_undefined || lacks {
                    note.push_str(&list_keys(dict));
                }
            }
            notes.push(note);
        }
        for pointer in pointers.into_iter().flatten() {
            error = error.about_input(pointer);
        }
        if notes.is_empty() {
            error
        } else {
            error.with_note(notes.join("\n"))
        }
    }

    /// Adds the number of the message in the conversation, from 1, if the items of the loop are messages.
    #[cold]
    pub(super) fn name_message(&mut self, error: Error, node: &'a For) -> Error {
        let TargetKind::Name { slot, .. } = &node.target.kind else {
            return error;
        };
        if error.trail().iter().any(|step| matches!(step, TraceFrame::Message { .. })) {
            return error;
        }
        let messages = self.runtime.heap.frames.input.get("messages");
        let (Some(Value::Dict(item)), Some(Value::List(messages))) = (self.get(slot).cloned(), messages) else {
            return error;
        };
        let total = messages.len();
        match self.runtime.find_message(&item) {
            Some(index) => error.within(TraceFrame::Message {
                number: index + 1,
                total,
            }),
            None => error,
        }
    }

    /// Evaluates an expression again. Returns its value if it is a name, an attribute or an item that exists.
    fn reread(&mut self, expr: &'a Expr) -> Option<Value<'a>> {
        match &expr.kind {
            ExprKind::Name(name) => self.get(&name.slot).cloned(),
            ExprKind::Attribute(attribute) => {
                let object = self.reread(&attribute.object)?;
                let value = access::get_attribute(self.runtime, &object, &Str::from(&*attribute.name)).ok()?;
                (!value.is_undefined()).then_some(value)
            }
            ExprKind::Item(operands) => {
                let [object, index] = &**operands;
                let object = self.reread(object)?;
                let index = self.index(index)?;
                let value = access::get_item(self.runtime, &object, &index).ok()?;
                (!value.is_undefined()).then_some(value)
            }
            _ => None,
        }
    }

    fn index(&mut self, expr: &'a Expr) -> Option<Value<'a>> {
        match &expr.kind {
            ExprKind::Literal(literal) => Some(operators::literal(literal)),
            _ => self.reread(expr),
        }
    }

    /// Returns the JSON pointer of the value of an expression in the input. A number has no place of its own, so its pointer is that of its
    /// container and its key.
    fn path(&mut self, expr: &'a Expr, value: &Value<'a>) -> Option<String> {
        let has_identity = match value {
            Value::Str(text) => text.borrowed().is_some_and(|text| !text.is_empty()),
            Value::List(_) | Value::Dict(_) => true,
            _ => false,
        };
        if has_identity {
            return self.runtime.find_pointer(value).or_else(|| self.path_of_text(expr));
        }
        let (object, key) = match &expr.kind {
            ExprKind::Attribute(attribute) => (&attribute.object, Value::text(&attribute.name)),
            ExprKind::Item(operands) => {
                let [object, index] = &**operands;
                (object, self.index(index)?)
            }
            ExprKind::Name(name) => {
                let name = self.render.template.symbols.name(name.symbol);
                let given = self.runtime.heap.frames.input.get(name)?;
                return given.shares_storage(value).then(|| pointer(&Value::text(name)));
            }
            _ => return None,
        };
        let container = self.reread(object)?;
        // A method is not a part of the input.
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
        let path = self.runtime.find_pointer(&container)?;
        Some(path + &pointer(&key))
    }

    /// Returns the JSON pointer of the string in an expression such as `name[0]`, whose value is one character of it.
    fn path_of_text(&mut self, path: &'a Expr) -> Option<String> {
        let text = container(path)?;
        match self.reread(text)? {
            value @ Value::Str(_) => self.path(text, &value),
            _ => None,
        }
    }
}

/// Collects the operands of an expression that can be described.
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
        ExprKind::Slice(slice) => add(&slice.object),
        ExprKind::Filter(filter) => filter.input.iter().for_each(add),
        ExprKind::Test(test) => add(&test.input),
        ExprKind::Call(call) => match &call.callee.kind {
            ExprKind::Attribute(attribute) => add(&attribute.object),
            _ => add(&call.callee),
        },
        _ => {}
    }
}

/// Returns the expression before the last attribute or index.
fn container(path: &Expr) -> Option<&Expr> {
    match &path.kind {
        ExprKind::Attribute(attribute) => Some(&attribute.object),
        ExprKind::Item(pair) => pair.first(),
        _ => None,
    }
}

/// Returns the end of a note that lists the keys of a dict: `; its keys are 'role', 'content'`.
fn list_keys(dict: &Dict<'_>) -> String {
    let keys = dict.iter().take(MAX_KEYS).map(|(key, _)| match &key {
        Value::Str(text) => quote::repr(&elide(text.as_str(), MAX_KEY)),
        Value::Int(int) => int.to_string(),
        _ => "…".to_owned(),
    });
    let keys: Vec<String> = keys.collect();
    let more = dict.len().saturating_sub(keys.len());
    match (keys.as_slice(), more) {
        ([], _) => "; it has no keys".to_owned(),
        ([key], _) => format!("; its only key is {key}"),
        (keys, 0) => format!("; its keys are {}", keys.join(", ")),
        (keys, more) => format!("; its keys are {} and {more} more", keys.join(", ")),
    }
}

/// Returns whether a value can be called, so that its type does not explain why a call of it failed.
fn is_callable(value: &Value<'_>) -> bool {
    matches!(
        value,
        Value::Function(_) | Value::Macro(_) | Value::Method(_) | Value::Loop(_) | Value::Joiner(_) | Value::Undefined(_)
    )
}

fn is_path(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Name(_) | ExprKind::Attribute(_) | ExprKind::Item(_))
}

/// Returns a step of a JSON pointer (RFC 6901): `/key`.
fn pointer(key: &Value<'_>) -> String {
    match key {
        Value::Str(text) => format!("/{}", escape_key(text.as_str())),
        Value::Int(int) => format!("/{int}"),
        _ => "/?".to_owned(),
    }
}
