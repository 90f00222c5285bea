//! `str.format` and `str.format_map`, as the sandbox wraps them.
//!
//! ```text
//! {{ "{0.name} {1[key]:>5}".format(user, d) }}
//! ```
//!
//! The walk over the format is in the value floor; here fields get their attributes and items as templates do (jinja2 3.1.6
//! `sandbox.py`, `wrap_str_format` and `SandboxedFormatter`), so an unsafe one prints as nothing.

use crate::builtins::access;
use crate::builtins::c_arguments::receiver;
use crate::builtins::table::{Body, row, unnamed};
use crate::error::{Error, Result};
use crate::value::format::{self, Fields};
use crate::value::{Arguments, Code, Function, Parameter, Runtime, Str, Style, Type, Value, ops, print};

/// The wrapper has no parameters of its own, so that every name is free.
const SELF: &[Parameter] = &[unnamed("self")];

/// The rows.
pub(super) static METHODS: [Function; 2] = [format_row("str.format"), format_map_row("str.format_map")];

/// `format` under the name of its type.
pub(super) const fn format_row(name: &'static str) -> Function {
    wrapped("format", name, format)
}

/// `format_map` under the name of its type.
pub(super) const fn format_map_row(name: &'static str) -> Function {
    wrapped("format_map", name, format_map)
}

/// A method that the sandbox replaces by a function, which takes anything.
const fn wrapped(name: &'static str, python: &'static str, body: Body) -> Function {
    row(name, python, Type::Function, Style::Python, SELF, Code::Run(body))
        .with_star()
        .with_double_star()
}

/// Where the fields of a format get their values from.
struct Given<'a> {
    positional: Vec<Value<'a>>,
    named: Named<'a>,
}

/// Where names are looked up.
enum Named<'a> {
    Keywords(Vec<(Str<'a>, Value<'a>)>),
    Mapping(Value<'a>),
}

impl<'a> Fields<'a> for Given<'a> {
    fn positional(&self, index: usize) -> Option<Value<'a>> {
        self.positional.get(index).cloned()
    }

    fn named(&self, runtime: &mut Runtime<'a>, name: Str<'a>) -> Result<Value<'a>> {
        match &self.named {
            Named::Keywords(keywords) => {
                let found = keywords.iter().find(|(keyword, _)| keyword.as_str() == name.as_str());
                match found {
                    Some((_, value)) => Ok(value.clone()),
                    None => Err(Error::new(
                        crate::error::ErrorKind::Key,
                        print::repr(runtime, &Value::Str(name))?,
                    )),
                }
            }
            Named::Mapping(mapping) => ops::get_item(runtime, mapping, &Value::Str(name)),
        }
    }

    fn attribute(&self, runtime: &mut Runtime<'a>, value: &Value<'a>, name: &Str<'a>) -> Result<Value<'a>> {
        access::attribute(runtime, value, name)
    }

    fn item(&self, runtime: &mut Runtime<'a>, value: &Value<'a>, key: &Value<'a>) -> Result<Value<'a>> {
        access::item(runtime, value, key)
    }
}

/// `str.format(*args, **kwargs)`
fn format<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let format = receiver(&mut arguments)?;
    let given = Given {
        positional: arguments.take_from(1),
        named: Named::Keywords(arguments.take_keywords()),
    };
    format::format_str(runtime, &format, &given)
}

/// `str.format_map(mapping)`
fn format_map<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let format = receiver(&mut arguments)?;
    if !arguments.keywords().is_empty() {
        return Err(Error::type_error("format_map() takes no keyword arguments"));
    }
    let mut positional = arguments.take_from(1);
    let given = positional.len();
    match positional.pop() {
        Some(mapping) if given == 1 => {
            let given = Given {
                positional: Vec::new(),
                named: Named::Mapping(mapping),
            };
            format::format_str(runtime, &format, &given)
        }
        _ => Err(Error::type_error(format!(
            "format_map() takes exactly one argument ({given} given)"
        ))),
    }
}
