//! Python's `str.format`, and `format(value, specification)`.
//!
//! ```text
//! '{0[a].b!r:>{1}}'   the `repr` of attribute `b` of item `a` of argument 0, right-aligned in a width, which is argument 1
//! ```
//!
//! [`crate::number::spec`] applies a specification to a number or a string. The rules are those of
//! CPython 3.13 `Objects/stringlib/unicode_format.h` (the parts of a replacement field) and `Lib/string.py` (`Formatter`, which the sandbox
//! uses), and of markupsafe 3.0.4 `EscapeFormatter`.

use super::replacement::{FieldName, Part, Replacement, next_part};
use crate::error::{Error, ErrorKind, Result};
use crate::number::NumberRef;
use crate::number::digits;
use crate::number::spec::{self, SpecRules};
use crate::unicode::{self, decimal_value};
use crate::value::{Runtime, Str, Value, markup, ops, print};

/// The arguments that the fields of a format refer to.
pub struct Fields<'a> {
    /// The positional arguments.
    pub positional: Vec<Value<'a>>,
    /// The arguments with names.
    pub named: Named<'a>,
}

/// The arguments with names.
pub enum Named<'a> {
    /// The keywords of `str.format`.
    Keywords(Vec<(Str<'a>, Value<'a>)>),
    /// The argument of `str.format_map`.
    Mapping(Value<'a>),
}

impl<'a> Fields<'a> {
    fn positional(&self, index: usize) -> Result<Value<'a>> {
        let value = self.positional.get(index).cloned();
        value.ok_or_else(|| Error::new(ErrorKind::Index, "tuple index out of range"))
    }

    fn named(&self, runtime: &mut Runtime<'a>, name: Str<'a>) -> Result<Value<'a>> {
        match &self.named {
            Named::Keywords(keywords) => {
                runtime.meter.charge_names(name.as_str(), keywords.len())?;
                if let Some((_, value)) = keywords.iter().find(|(keyword, _)| keyword.as_str() == name.as_str()) {
                    return Ok(*value);
                }
                Err(Error::new(ErrorKind::Key, print::repr(runtime, &Value::Str(name))?))
            }
            Named::Mapping(mapping) => ops::get_item(runtime, mapping, &Value::Str(name)),
        }
    }
}

/// How fields are numbered: `{} {}` takes the arguments in order, `{1} {0}` by index, and one format cannot do both.
#[derive(Clone, Copy)]
enum Numbering {
    /// Fields without a number take the arguments from this index on.
    Automatic(usize),
    /// A field had a number. A field without one is now an error.
    Manual,
}

/// The maximum number of levels of formats within specifications: `{:{}}` has two.
const DEPTH: u8 = 2;

/// Returns `format.format(…)`. A Markup escapes the values.
pub fn format_str<'a>(runtime: &mut Runtime<'a>, format: &Str<'a>, fields: &Fields<'a>) -> Result<Value<'a>> {
    let mut numbering = Numbering::Automatic(0);
    let text =
        runtime.capture_text(|runtime, output| write_format(runtime, format, fields, &mut numbering, Some(DEPTH), output))?;
    Ok(Value::Str(text.with_markup(format.is_markup())))
}

fn write_format<'a>(
    runtime: &mut Runtime<'a>,
    format: &Str<'a>,
    fields: &Fields<'a>,
    numbering: &mut Numbering,
    depth: Option<u8>,
    output: &mut String,
) -> Result<()> {
    let Some(depth) = depth else {
        return Err(Error::value("Max string recursion exceeded"));
    };
    runtime.meter.charge_scan(format.as_str().len())?;
    let mut rest = format.as_str();
    while !rest.is_empty() {
        runtime.meter.charge(1)?;
        let Part { literal, replacement } = next_part(&mut rest)?;
        runtime.push(&format.piece(literal), output)?;
        if let Some(replacement) = replacement {
            write_replacement(runtime, format, &replacement, fields, numbering, depth, output)?;
        }
        runtime.meter.check_size(output.len())?;
    }
    Ok(())
}

fn write_replacement<'a>(
    runtime: &mut Runtime<'a>,
    format: &Str<'a>,
    replacement: &Replacement<'_>,
    fields: &Fields<'a>,
    numbering: &mut Numbering,
    depth: u8,
    output: &mut String,
) -> Result<()> {
    let value = get_field(runtime, format, replacement.field, fields, numbering)?;
    let value = convert(runtime, value, replacement.conversion)?;
    let mut specification = String::new();
    let nested = format.piece(replacement.specification);
    runtime.with_own_text(|runtime| write_format(runtime, &nested, fields, numbering, depth.checked_sub(1), &mut specification))?;
    if !format.is_markup() {
        if specification.is_empty() {
            return print::write_str(runtime, &value, output);
        }
        let text = format_value(runtime, &value, &specification)?;
        let text = runtime.text(text)?;
        runtime.meter.charge_bytes(text.as_str().len())?;
        return runtime.push(&text, output);
    }
    let filled = match &value {
        Value::Str(text) if text.is_markup() && specification.is_empty() => *text,
        Value::Str(text) if text.is_markup() => {
            return Err(Error::value("Unsupported format specification for Markup."));
        }
        _ => {
            let text = format_value(runtime, &value, &specification)?;
            let text = runtime.text(text)?;
            markup::escape_text(runtime, &text)?
        }
    };
    runtime.meter.charge_bytes(filled.as_str().len())?;
    runtime.push(&filled, output)
}

fn get_field<'a>(
    runtime: &mut Runtime<'a>,
    format: &Str<'a>,
    field: &str,
    fields: &Fields<'a>,
    numbering: &mut Numbering,
) -> Result<Value<'a>> {
    let mixed = "cannot switch from manual field specification to automatic field numbering";
    if field.is_empty() {
        let Numbering::Automatic(index) = *numbering else {
            return Err(Error::value(mixed));
        };
        *numbering = Numbering::Automatic(index + 1);
        return fields.positional(index);
    }
    if unicode::has_only(field, unicode::is_digit) {
        if matches!(numbering, Numbering::Automatic(1..)) {
            return Err(Error::value(mixed));
        }
        *numbering = Numbering::Manual;
    }
    let (first, mut rest) = FieldName::split(field);
    let plain = |piece: &str| format.piece(piece).with_markup(false);
    let mut value = match parse_index(first)? {
        Some(index) => fields.positional(index)?,
        None => fields.named(runtime, plain(first))?,
    };
    while let Some(step) = rest.next_step()? {
        runtime.meter.charge(1)?;
        value = match step {
            FieldName::Attribute(name) => (runtime.lookups.attribute)(runtime, &value, &plain(name))?,
            FieldName::Item(key) => {
                let key = match parse_index(key)? {
                    Some(index) => Value::from(index),
                    None => Value::Str(plain(key)),
                };
                (runtime.lookups.item)(runtime, &value, &key)?
            }
        };
    }
    Ok(value)
}

fn convert<'a>(runtime: &mut Runtime<'a>, value: Value<'a>, conversion: Option<char>) -> Result<Value<'a>> {
    match conversion {
        None => Ok(value),
        Some('s') => Ok(Value::Str(print::to_str(runtime, &value)?.with_markup(false))),
        Some('r') => {
            let repr = print::repr(runtime, &value)?;
            runtime.str(repr)
        }
        Some('a') => {
            let ascii = print::ascii(runtime, &value)?;
            runtime.str(ascii)
        }
        Some(other) => Err(Error::value(format!("Unknown conversion specifier {other}"))),
    }
}

pub fn format_value<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, specification: &str) -> Result<String> {
    if specification.is_empty() {
        let mut output = String::new();
        runtime.with_own_text(|runtime| print::write_str(runtime, value, &mut output))?;
        return Ok(output);
    }
    runtime.meter.charge_scan(specification.len())?;
    let rules = SpecRules {
        type_name: value.ty().name(),
        max_width: runtime.meter.limits().width,
    };
    if let Value::Str(text) = value {
        runtime.meter.charge_scan(text.as_str().len())?;
        let formatted = spec::format_str(text.as_str(), specification, &rules)?;
        runtime.meter.charge_scan(formatted.len())?;
        return Ok(formatted);
    }
    let formatted = match value.as_number() {
        Some(NumberRef::Int(int)) => {
            runtime.meter.charge((int.bit_length() >> 3).saturating_add(1))?;
            spec::format_int(int, specification, &rules)?
        }
        Some(NumberRef::Float(float)) => spec::format_float(float, specification, &rules)?,
        None => {
            let ty = value.ty().name();
            return Err(Error::type_error(format!(
                "unsupported format string passed to {ty}.__format__"
            )));
        }
    };
    // The limits on widths and integers bound the text, so it can be charged afterwards.
    runtime.meter.charge(digits::count_steps(formatted.len()))?;
    runtime.meter.charge_scan(formatted.len())?;
    Ok(formatted)
}

/// Returns a field name as an index, if it consists of decimal digits of any script.
fn parse_index(name: &str) -> Result<Option<usize>> {
    let mut index: i64 = 0;
    for character in name.chars() {
        let Some(digit) = decimal_value(character) else {
            return Ok(None);
        };
        let grown = index.checked_mul(10).and_then(|index| index.checked_add(i64::from(digit)));
        index = grown.ok_or_else(|| Error::value("Too many decimal digits in format string"))?;
    }
    Ok(if name.is_empty() { None } else { usize::try_from(index).ok() })
}
