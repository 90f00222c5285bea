//! The `repr` of objects that are not data: namespaces, loops, macros, functions, iterators.
//!
//! `<Namespace {'a': 1}>`, `<LoopContext 1/3>`, `<Macro 'm'>`. The reference prints the memory address of many objects, which differs in
//! each run. [`ADDRESS`] replaces all of them.

use super::repr;
use super::repr::Enclosing;
use crate::error::Result;
use crate::value::{BoundMethod, Function, NamespaceId, Runtime, Type, Value};

/// The address in the `repr` of every object.
const ADDRESS: &str = "0x7f0000000000";

/// Appends `<Namespace {…}>`. The attributes of a namespace within itself are `{...}`, as those of a dict within itself would be.
pub(super) fn write_namespace<'a>(
    runtime: &mut Runtime<'a>,
    id: NamespaceId,
    value: &Value<'a>,
    enclosing: Option<&Enclosing<'_, 'a>>,
    out: &mut String,
) -> Result<()> {
    runtime.meter.check_stack()?;
    repr::write_piece(runtime, "<Namespace ", out)?;
    match repr::find_dots(runtime, enclosing, value)? {
        Some(dots) => repr::write_piece(runtime, dots, out)?,
        None => {
            let attributes = runtime.namespace_items(id)?;
            // An attribute can be another namespace, whose attributes are copied too.
            let _claim = runtime.meter.claim(size_of_val(attributes.as_slice()))?;
            repr::write_dict(runtime, attributes.into_iter(), &Enclosing::new(value, enclosing), out)?;
        }
    }
    repr::write_piece(runtime, ">", out)
}

/// Appends the `repr` of a value that is neither a scalar nor a container.
pub(super) fn write_object<'a>(
    runtime: &mut Runtime<'a>,
    value: &Value<'a>,
    enclosing: Option<&Enclosing<'_, 'a>>,
    out: &mut String,
) -> Result<()> {
    let text = match value {
        Value::Loop(context) => {
            let (index0, length) = (context.index0(), context.length(runtime)?);
            format!("<LoopContext {}/{length}>", index0.saturating_add(1))
        }
        Value::Macro(called) => match called.name {
            Some(name) => {
                repr::write_piece(runtime, "<Macro ", out)?;
                repr::write_nested(runtime, &Value::text(name), enclosing, out)?;
                ">".to_owned()
            }
            None => "<Macro anonymous>".to_owned(),
        },
        Value::Function(function) => function_repr(function),
        Value::Method(method) => return write_method(runtime, method, enclosing, out),
        Value::Iterator(iterator) if iterator.ty() == Type::Generator => {
            format!("<generator object {} at {ADDRESS}>", iterator.name())
        }
        _ => format!("<{} at {ADDRESS}>", value.ty().object_name()),
    };
    repr::write_piece(runtime, &text, out)
}

fn write_method<'a>(
    runtime: &mut Runtime<'a>,
    method: &BoundMethod<'a>,
    enclosing: Option<&Enclosing<'_, 'a>>,
    out: &mut String,
) -> Result<()> {
    let BoundMethod { receiver, function } = method;
    if function.ty == Type::BuiltinFunction {
        let name = function.name;
        // A static method belongs to the class.
        let ty = if name == "maketrans" { "type" } else { receiver.ty().name() };
        return repr::write_piece(runtime, &format!("<built-in method {name} of {ty} object at {ADDRESS}>"), out);
    }
    // The sandbox wraps `str.format` and `str.format_map`.
    if function.ty == Type::Function {
        return repr::write_piece(runtime, &function_repr(function), out);
    }
    repr::write_piece(runtime, &format!("<bound method {} of ", function.python), out)?;
    if function.python == "Markup.escape" {
        return repr::write_piece(runtime, "<class 'markupsafe.Markup'>>", out);
    }
    repr::write_nested(runtime, receiver, enclosing, out)?;
    repr::write_piece(runtime, ">", out)
}

fn function_repr(function: &Function) -> String {
    match function.ty {
        Type::Class => format!("<class '{}'>", class_path(function.name)),
        Type::Missing => "missing".to_owned(),
        Type::TemplateDict => format!("<{} object at {ADDRESS}>", class_path(function.name)),
        Type::Function => format!("<function {} at {ADDRESS}>", function.python),
        ty => format!("<{} at {ADDRESS}>", ty.object_name()),
    }
}

/// Returns the qualified name of the class that is the global of this name.
pub fn class_path(name: &str) -> &str {
    match name {
        "dict" => "transformers.utils.chat_template_utils._cached_compile_jinja_template.<locals>.TemplateDict",
        "cycler" => "jinja2.utils.Cycler",
        "joiner" => "jinja2.utils.Joiner",
        "namespace" => "transformers.utils.chat_template_utils._cached_compile_jinja_template.<locals>.TemplateNamespace",
        _ => name,
    }
}
