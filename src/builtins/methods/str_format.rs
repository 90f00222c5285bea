//! `str.format` and `str.format_map`, as the sandbox wraps them.
//!
//! ```text
//! {{ "{0.name} {1[key]:>5}".format(user, d) }}
//! ```
//!
//! [`crate::value::format`] reads the format. Fields look up attributes and items as templates do (jinja2 3.1.6 `sandbox.py`,
//! `wrap_str_format` and `SandboxedFormatter`), so an unsafe attribute prints as nothing. The sandbox's wrapper names no parameter, so a
//! keyword can have any name.

use crate::builtins::table::built_ins;
use crate::error::{Error, ErrorKind, Result};
use crate::value::format::{self, Fields};
use crate::value::{Runtime, Str, Type, Value, ops, print};

/// The arguments that the fields of a format refer to.
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

built_ins! { METHODS:
    /// Fills in the fields of a format.
    Python "str.format" | "Markup.format"[1].with_type(Type::Function).with_unnamed(1)
    fn format(runtime, &format: Str, *args[Any, Any], **kwargs) -> Text {
        let fields = FormatArguments {
            positional: args,
            named: Named::Keywords(kwargs),
        };
        format::format_str(runtime, &format, &fields)
    }

    /// Fills in the fields of a format from a dict.
    Python "str.format_map" | "Markup.format_map"[1].with_type(Type::Function).with_unnamed(1)
    fn format_map(runtime, &format: Str, *args[Dict], **kwargs) -> Text {
        if !kwargs.is_empty() {
            return Err(Error::type_error("format_map() takes no keyword arguments"));
        }
        let count = args.len();
        match <[Value<'_>; 1]>::try_from(args) {
            Ok([mapping]) => {
                let fields = FormatArguments {
                    positional: Vec::new(),
                    named: Named::Mapping(mapping),
                };
                format::format_str(runtime, &format, &fields)
            }
            Err(_) => Err(Error::type_error(format!(
                "format_map() takes exactly one argument ({count} given)"
            ))),
        }
    }
}
