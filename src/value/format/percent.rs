//! Python's `%` on strings: `'%s has %d' % ('a', 3)`.
//!
//! ```text
//! '%(k)05.1f' % {'k': 2.25}        002.2
//! ('%s'|safe) % '<'                &lt;       a Markup escapes its arguments
//! ```
//!
//! This file finds the conversions in the format and their arguments, and converts arguments that are not numbers. A single conversion is
//! in [`conversion`](super::conversion). The rules are those of CPython 3.13 `unicodeobject.c` `PyUnicode_Format`, and of markupsafe 3.0.4
//! `Markup.__mod__`, which wraps each argument in a `_MarkupEscapeHelper`.

use super::conversion::{Conversion, format_number};
use crate::error::{Error, Result};
use crate::number::digits;
use crate::number::parse::{parse_float, parse_int};
use crate::number::{Int, NumberRef};
use crate::text::slice::split_at_char;
use crate::value::number::number_text;
use crate::value::{Runtime, Seq, Str, Value, markup, ops, print};

/// The arguments of the conversions.
pub(super) struct Source<'r, 'a> {
    pub(super) runtime: &'r mut Runtime<'a>,
    mapping: Option<Value<'a>>,
    arguments: ArgumentsLeft<'a>,
    /// Whether the format is a Markup, which wraps its arguments.
    is_markup: bool,
}

/// The arguments that no conversion has used yet.
enum ArgumentsLeft<'a> {
    /// The items of a tuple, and the index of the next one.
    Tuple(Seq<'a>, usize),
    /// A single argument, until a conversion uses it.
    One(Option<Value<'a>>),
}

pub fn format_percent<'a>(runtime: &mut Runtime<'a>, format: &Str<'a>, arguments: &Value<'a>) -> Result<Value<'a>> {
    let text = runtime.capture_text(|runtime, output| write_formatted(runtime, format, arguments, output))?;
    Ok(Value::Str(text.with_markup(format.is_markup())))
}

/// Writes the format with its conversions replaced by the arguments.
fn write_formatted<'a>(runtime: &mut Runtime<'a>, whole: &Str<'a>, arguments: &Value<'a>, output: &mut String) -> Result<()> {
    let format = whole.as_str();
    runtime.meter.charge_scan(format.len())?;
    let given = match arguments {
        Value::Tuple(items) => ArgumentsLeft::Tuple(*items, 0),
        one => ArgumentsLeft::One(Some(*one)),
    };
    let mut source = Source {
        runtime,
        mapping: is_mapping(arguments).then_some(*arguments),
        arguments: given,
        is_markup: whole.is_markup(),
    };
    let mut rest = format;
    while let Some((literal, conversion)) = rest.split_once('%') {
        source.runtime.meter.charge(1)?;
        source.runtime.push(&whole.piece(literal), output)?;
        let index = format.len() - conversion.len();
        let length = source.write_conversion(format, index, conversion, output)?;
        rest = conversion.get(length..).unwrap_or_default();
        source.runtime.meter.check_size(output.len())?;
    }
    source.runtime.push(&whole.piece(rest), output)?;
    if source.mapping.is_none() && source.arguments.is_left() {
        return Err(Error::type_error("not all arguments converted during string formatting"));
    }
    Ok(())
}

/// Returns whether a value has `__getitem__` and is neither a tuple nor a string: `%` does not require that all its items are used.
fn is_mapping(value: &Value<'_>) -> bool {
    matches!(value, Value::Dict(_) | Value::List(_) | Value::Range(_) | Value::Undefined(_))
}

impl ArgumentsLeft<'_> {
    fn is_left(&self) -> bool {
        match self {
            Self::Tuple(items, next) => *next < items.len(),
            Self::One(one) => one.is_some(),
        }
    }
}

impl<'a> Source<'_, 'a> {
    /// Fails with `format requires a mapping` if the right operand is not a mapping. This is called where a key starts.
    pub(super) fn expect_mapping(&mut self) -> Result<()> {
        match self.mapping {
            Some(_) => Ok(()),
            None => Err(Error::type_error("format requires a mapping")),
        }
    }

    /// Looks up a key. Its value becomes the argument of this conversion.
    pub(super) fn pick_key(&mut self, key: &str) -> Result<()> {
        let key = self.runtime.str(key.to_owned())?;
        let mapping = self.mapping.unwrap_or(Value::None);
        let value = ops::get_item(self.runtime, &mapping, &key)?;
        self.arguments = ArgumentsLeft::One(Some(value));
        Ok(())
    }

    /// Takes the next argument as the width or the precision of a conversion that has a `*` there. Returns `None` if it is not an integer.
    pub(super) fn next_star(&mut self) -> Result<Option<Int>> {
        let argument = self.next()?;
        // A wrapped integer is not an integer to CPython.
        if self.is_markup {
            return Ok(None);
        }
        Ok(match argument.as_number() {
            Some(NumberRef::Int(int)) => Some(int.to_int()),
            _ => None,
        })
    }

    fn next(&mut self) -> Result<Value<'a>> {
        self.runtime.meter.charge(1)?;
        let next = match &mut self.arguments {
            ArgumentsLeft::Tuple(items, next) => {
                let item = items.get(*next);
                *next += 1;
                item
            }
            ArgumentsLeft::One(one) => one.take(),
        };
        next.ok_or_else(|| Error::type_error("not enough arguments for format string"))
    }

    /// Writes the conversion that starts at the byte `index` of the format. Returns its length in bytes.
    fn write_conversion(&mut self, format: &str, index: usize, text: &str, output: &mut String) -> Result<usize> {
        let conversion = Conversion::read(text, self)?;
        if conversion.length == 1 && conversion.spec.letter == '%' {
            output.push('%');
            return Ok(conversion.length);
        }
        let argument = self.next()?;
        let max_width = self.runtime.meter.limits().width;
        let is_wrapped = self.is_markup;
        let formatted = match conversion.spec.letter {
            's' | 'r' | 'a' => {
                let text = self.text(conversion.spec.letter, &argument)?;
                let whole = text.as_str();
                let mut end = whole.len();
                if let Some(precision) = conversion.spec.precision {
                    self.runtime.meter.charge_scan(end.min(precision.saturating_mul(4)))?;
                    end = split_at_char(whole, precision).0.len();
                }
                let cut = text.slice(0..end);
                if !conversion.has_width {
                    self.runtime.meter.charge_bytes(end)?;
                    self.runtime.push(&cut, output)?;
                    return Ok(conversion.length);
                }
                conversion.pad_text(cut.as_str(), max_width)?
            }
            'd' | 'i' | 'u' | 'o' | 'x' | 'X' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' if is_wrapped => {
                self.wrapped_number(&conversion, &argument, max_width)?
            }
            'd' | 'i' | 'u' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' => {
                if let Value::Undefined(undefined) = &argument {
                    return Err(undefined.error());
                }
                number(self.runtime, &conversion, &argument, max_width)?
            }
            'o' | 'x' | 'X' => number(self.runtime, &conversion, &argument, max_width)?,
            'c' => self.character(&conversion, &argument, max_width)?,
            letter => {
                let at = (index + conversion.length).saturating_sub(letter.len_utf8());
                let before = format.get(..at).unwrap_or_default();
                return Err(conversion.unsupported_letter(before.chars().count()));
            }
        };
        self.runtime.meter.charge_scan(formatted.len())?;
        if self.runtime.tape.is_some() {
            let range = output.len()..output.len() + formatted.len();
            self.runtime.record_made_from(&argument, range)?;
        }
        output.push_str(&formatted);
        Ok(conversion.length)
    }

    /// Returns the text of `%s`, `%r` and `%a`.
    fn text(&mut self, letter: char, argument: &Value<'a>) -> Result<Str<'a>> {
        let is_wrapped = self.is_markup;
        let text = match letter {
            's' if is_wrapped => return markup::escape(self.runtime, argument),
            's' => return print::to_str(self.runtime, argument),
            'a' if !is_wrapped => print::ascii(self.runtime, argument)?,
            _ => print::repr(self.runtime, argument)?,
        };
        let text = self.runtime.text(text)?;
        if !is_wrapped {
            return Ok(text);
        }
        // The `repr` of a wrapped value is its escaped `repr`, in which `%a` then escapes characters beyond ASCII.
        let escaped = markup::escape_text(self.runtime, &text)?;
        if letter == 'a' {
            let ascii = print::escape_non_ascii(self.runtime, escaped.as_str())?;
            return self.runtime.text(ascii);
        }
        Ok(escaped)
    }

    /// Returns the text of `%c`, whose argument is a string of one character or a number.
    fn character(&mut self, conversion: &Conversion, argument: &Value<'a>, max_width: usize) -> Result<String> {
        match argument {
            _ if self.is_markup => Err(conversion.number_required("")),
            Value::Str(text) => {
                let mut characters = text.as_str().chars();
                match (characters.next(), characters.next()) {
                    (Some(_), None) => Ok(conversion.pad_text(text.as_str(), max_width)?),
                    _ => Err(conversion.number_required("")),
                }
            }
            other => number(self.runtime, conversion, other, max_width),
        }
    }

    /// Returns the text of a number in a Markup, which calls Python's `int()` or `float()` on the value and so accepts strings too.
    fn wrapped_number(&mut self, conversion: &Conversion, argument: &Value<'a>, max_width: usize) -> Result<String> {
        let is_integer = match conversion.spec.letter {
            'o' | 'x' | 'X' => return Err(conversion.number_required("_MarkupEscapeHelper")),
            letter => matches!(letter, 'd' | 'i' | 'u'),
        };
        if let Value::Undefined(undefined) = argument {
            return Err(undefined.error());
        }
        let parsed = match number_text(argument) {
            Some((text, repr)) => {
                self.runtime.meter.charge_scan(text.len())?;
                if is_integer {
                    self.runtime.int(parse_int(text, 10, repr)?)?
                } else {
                    Value::Float(parse_float(text, repr)?)
                }
            }
            None if argument.as_number().is_some() => *argument,
            None if is_integer => return Err(conversion.number_required("_MarkupEscapeHelper")),
            None => {
                let ty = argument.ty().name();
                return Err(Error::type_error(format!(
                    "float() argument must be a string or a real number, not '{ty}'"
                )));
            }
        };
        number(self.runtime, conversion, &parsed, max_width)
    }
}

fn number(runtime: &mut Runtime<'_>, conversion: &Conversion, argument: &Value<'_>, max_width: usize) -> Result<String> {
    if let Some(int) = argument.as_integer() {
        runtime.meter.charge((int.bit_length() >> 3).saturating_add(1))?;
    }
    match argument.as_number() {
        Some(number) => {
            let formatted = format_number(conversion, number, max_width)?;
            // The limits on widths and integers bound the text, so it can be charged afterwards.
            runtime.meter.charge(digits::count_steps(formatted.len()))?;
            Ok(formatted)
        }
        None => Err(conversion.number_required(argument.ty().name())),
    }
}
