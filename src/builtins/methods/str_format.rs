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
use crate::error::Error;
use crate::value::format::{self, Fields, Named};
use crate::value::{Str, Type, Value};

built_ins! { METHODS:
    /// Fills in the fields of a format.
    Python "str.format" | "Markup.format"[1].with_type(Type::Function).with_unnamed(1)
    fn format(runtime, &format: Str, *args[Any, Any], **kwargs) -> Text {
        let fields = Fields {
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
                let fields = Fields {
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
