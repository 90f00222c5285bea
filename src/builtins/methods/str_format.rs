//! `str.format` and `str.format_map`, as the sandbox wraps them.
//!
//! ```text
//! {{ "{0.name} {1[key]:>5}".format(user, d) }}
//! ```
//!
//! [`crate::value::format`] reads the format. Fields look up attributes and items as templates do (jinja2 3.1.6 `sandbox.py`,
//! `wrap_str_format` and `SandboxedFormatter`), so an unsafe attribute prints as nothing.

use crate::builtins::arguments::take_str_receiver;
use crate::builtins::table::{Body, row, unnamed};
use crate::error::{Error, ErrorKind, Result};
use crate::value::format::{self, Fields};
use crate::value::{Arguments, Code, Function, Parameter, Runtime, Str, Style, Type, Value, ops, print};

/// The parameters of the sandbox's wrapper. It names none, so a keyword can have any name.
const SELF: &[Parameter] = &[unnamed("self")];

/// Creates the row of `format` with the given name in messages.
pub(super) const fn format_row(name: &'static str) -> Function {
    wrapped("format", name, format)
}

/// Creates the row of `format_map` with the given name in messages.
pub(super) const fn format_map_row(name: &'static str) -> Function {
    wrapped("format_map", name, format_map)
}

/// Creates a row for a method that the sandbox replaces by a function of any arguments.
const fn wrapped(name: &'static str, python: &'static str, body: Body) -> Function {
    row(name, python, Type::Function, Style::Python, SELF, Code::Run(body))
        .with_star()
        .with_double_star()
}

/// The arguments of the format, which its fields name.
struct FormatArguments<'a> {
    positional: Vec<Value<'a>>,
    named: Named<'a>,
}

/// The arguments with names.
enum Named<'a> {
    Keywords(Vec<(Str<'a>, Value<'a>)>),
    Mapping(Value<'a>),
}

impl<'a> Fields<'a> for FormatArguments<'a> {
    fn positional(&self, index: usize) -> Option<Value<'a>> {
        self.positional.get(index).cloned()
    }

    fn named(&self, runtime: &mut Runtime<'a>, name: Str<'a>) -> Result<Value<'a>> {
        match &self.named {
            Named::Keywords(keywords) => {
                runtime.meter.charge_names(name.as_str(), keywords.len())?;
                if let Some((_, value)) = keywords.iter().find(|(keyword, _)| keyword.as_str() == name.as_str()) {
                    return Ok(value.clone());
                }
                Err(Error::new(ErrorKind::Key, print::repr(runtime, &Value::Str(name))?))
            }
            Named::Mapping(mapping) => ops::get_item(runtime, mapping, &Value::Str(name)),
        }
    }

    fn attribute(&self, runtime: &mut Runtime<'a>, value: &Value<'a>, name: &Str<'a>) -> Result<Value<'a>> {
        (runtime.lookups.attribute)(runtime, value, name)
    }

    fn item(&self, runtime: &mut Runtime<'a>, value: &Value<'a>, key: &Value<'a>) -> Result<Value<'a>> {
        (runtime.lookups.item)(runtime, value, key)
    }
}

/// `str.format(*args, **kwargs)`
fn format<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let format = take_str_receiver(&mut arguments)?;
    let fields = FormatArguments {
        positional: arguments.take_from(1),
        named: Named::Keywords(arguments.take_keywords()),
    };
    format::format_str(runtime, &format, &fields)
}

/// `str.format_map(mapping)`
fn format_map<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let format = take_str_receiver(&mut arguments)?;
    if !arguments.keywords().is_empty() {
        return Err(Error::type_error("format_map() takes no keyword arguments"));
    }
    let mut positional = arguments.take_from(1);
    let count = positional.len();
    match positional.pop() {
        Some(mapping) if count == 1 => {
            let fields = FormatArguments {
                positional: Vec::new(),
                named: Named::Mapping(mapping),
            };
            format::format_str(runtime, &format, &fields)
        }
        _ => Err(Error::type_error(format!(
            "format_map() takes exactly one argument ({count} given)"
        ))),
    }
}
