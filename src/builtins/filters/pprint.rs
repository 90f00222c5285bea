//! The filter `pprint`: Python's `pprint.pformat` with its defaults, 80 columns and sorted keys.
//!
//! ```text
//! {{ {"b": 1, "a": [1, 2]}|pprint }}    {'a': [1, 2], 'b': 1}
//! ```
//!
//! What fits on a line is written on it; lists, tuples, dicts and sets that do not fit get a line for each item, and long strings are
//! cut at blanks. The rules are those of CPython 3.11 `pprint.py`, `PrettyPrinter`: `_format`, `_safe_repr` and what they dispatch to.

use super::given;
use crate::error::{ErrorKind, Result};
use crate::text::lines::split_lines;
use crate::text::measure::written;
use crate::text::quote::write_repr;
use crate::text::slice::char_count;
use crate::unicode::is_whitespace;
use crate::value::{Arguments, Dict, Runtime, Value, sorted};

/// The columns of a line.
const WIDTH: usize = 80;

/// The value laid out for people to read.
///
/// `{{ {"b": 1, "a": 2}|pprint }} -> {'a': 2, 'b': 1}`
pub(super) fn pprint<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let value = given(&mut arguments, 0);
    let mut printer = Printer {
        runtime,
        output: String::new(),
    };
    printer.format(
        &value,
        Place {
            indent: 0,
            allowance: 0,
            level: 0,
        },
    )?;
    let output = printer.output;
    runtime.str(output)
}

/// Where a value is written.
#[derive(Clone, Copy)]
struct Place {
    /// The column of what is written.
    indent: usize,
    /// How many columns are needed behind it, for brackets and commas.
    allowance: usize,
    /// How many containers are around it; a string that stands alone is put in parentheses.
    level: usize,
}

struct Printer<'a, 'r> {
    runtime: &'r mut Runtime<'a>,
    output: String,
}

impl<'a> Printer<'a, '_> {
    fn format(&mut self, value: &Value<'a>, place: Place) -> Result<()> {
        self.runtime.meter.check_stack()?;
        let room = WIDTH.checked_sub(place.indent.saturating_add(place.allowance));
        if self.format_on_a_line(value, room)? {
            return self.runtime.meter.check_size(self.output.len());
        }
        let inner = Place {
            level: place.level.saturating_add(1),
            ..place
        };
        match value {
            Value::Dict(dict) => self.format_dict(dict, inner)?,
            Value::Proxy(dict) => self.format_proxy(dict, inner)?,
            Value::List(items) => self.format_items("[", items.len(), items.iter(), "]", inner)?,
            Value::Tuple(items) => {
                let end = if items.len() == 1 { ",)" } else { ")" };
                self.format_items("(", items.len(), items.iter(), end, inner)?;
            }
            Value::Set(set) => {
                let items: Vec<_> = set.iter().collect();
                let order = safe_order(self.runtime, &items)?;
                let items = order.into_iter().filter_map(|index| items.get(index).cloned());
                self.format_items("{", set.len(), items, "}", inner)?;
            }
            Value::Str(text) => self.format_text(text.as_str(), inner)?,
            _ => {}
        }
        self.runtime.meter.check_size(self.output.len())
    }

    /// Writes what fits into the room, or has no other form; says whether it did. The line is gone before the form with many lines is
    /// made, so that not each level keeps one.
    fn format_on_a_line(&mut self, value: &Value<'a>, room: Room) -> Result<bool> {
        let mut line = String::new();
        safe_repr(self.runtime, value, &mut line)?;
        self.runtime.meter.charge_scan(line.len())?;
        let has_lines = match value {
            Value::Dict(_) | Value::Proxy(_) | Value::List(_) => true,
            Value::Tuple(items) => !items.is_group(),
            Value::Set(set) => !set.is_empty(),
            Value::Str(text) => !text.is_markup(),
            _ => false,
        };
        let is_written = !has_lines || fits(&line, room);
        if is_written {
            self.output.push_str(&line);
        }
        Ok(is_written)
    }

    fn format_items(
        &mut self,
        open: &str,
        len: usize,
        items: impl Iterator<Item = Value<'a>>,
        close: &str,
        place: Place,
    ) -> Result<()> {
        self.output.push_str(open);
        let indent = place.indent.saturating_add(1);
        for (number, item) in items.enumerate() {
            if number > 0 {
                self.output.push(',');
                break_line(&mut self.output, indent);
            }
            let is_last = number.saturating_add(1) == len;
            let allowance = if is_last {
                place.allowance.saturating_add(close.len())
            } else {
                1
            };
            self.format(
                &item,
                Place {
                    indent,
                    allowance,
                    ..place
                },
            )?;
        }
        self.output.push_str(close);
        Ok(())
    }

    fn format_dict(&mut self, dict: &Dict<'a>, place: Place) -> Result<()> {
        self.output.push('{');
        let entries = sorted_entries(self.runtime, dict)?;
        let indent = place.indent.saturating_add(1);
        for (number, (key, value)) in entries.iter().enumerate() {
            if number > 0 {
                self.output.push(',');
                break_line(&mut self.output, indent);
            }
            let is_last = number.saturating_add(1) == entries.len();
            let allowance = if is_last { place.allowance.saturating_add(1) } else { 1 };
            let mut key_repr = String::new();
            safe_repr(self.runtime, key, &mut key_repr)?;
            self.output.push_str(&key_repr);
            self.output.push_str(": ");
            let indent = indent.saturating_add(char_count(&key_repr)).saturating_add(2);
            self.format(
                value,
                Place {
                    indent,
                    allowance,
                    ..place
                },
            )?;
        }
        self.output.push('}');
        Ok(())
    }

    fn format_proxy(&mut self, dict: &Dict<'a>, place: Place) -> Result<()> {
        const OPEN: &str = "mappingproxy(";
        self.output.push_str(OPEN);
        let within = Place {
            indent: place.indent.saturating_add(OPEN.len()),
            allowance: place.allowance.saturating_add(1),
            ..place
        };
        self.format(&Value::Dict(dict.clone()), within)?;
        self.output.push(')');
        Ok(())
    }

    fn format_text(&mut self, text: &str, place: Place) -> Result<()> {
        self.runtime.meter.charge_scan(text.len().saturating_mul(6))?;
        let stands_alone = place.level == 1;
        let indent = place.indent.saturating_add(usize::from(stands_alone));
        let allowance = place.allowance.saturating_add(usize::from(stands_alone));
        let most = self.most();
        // What is in one piece is written as it is, though it may be too long.
        let mut pieces = Pieces::new(&mut self.output, indent, stands_alone, most);
        pieces.add_text(text, WIDTH.checked_sub(indent), allowance);
        let count = pieces.count;
        if count > 1 && stands_alone {
            self.output.push(')');
        }
        self.runtime.meter.charge_items(count.saturating_mul(2))
    }

    /// Bytes after which nothing more is written, for the result is refused.
    fn most(&self) -> usize {
        usize::try_from(self.runtime.meter.limits().value).unwrap_or(usize::MAX)
    }
}

fn break_line(output: &mut String, indent: usize) {
    output.push('\n');
    output.extend(std::iter::repeat_n(' ', indent));
}

/// The pieces that a long string is cut into, written one below the other: kept, those of a long text would take many
/// times its memory.
struct Pieces<'o> {
    output: &'o mut String,
    indent: usize,
    /// Whether a parenthesis opens before the first where there is a second.
    opens: bool,
    start: usize,
    count: usize,
    most: usize,
}

impl<'o> Pieces<'o> {
    fn new(output: &'o mut String, indent: usize, opens: bool, most: usize) -> Self {
        Self {
            start: output.len(),
            output,
            indent,
            opens,
            count: 0,
            most,
        }
    }

    fn add(&mut self, repr: &str) {
        if self.output.len() > self.most {
            return;
        }
        if self.count == 1 && self.opens {
            self.output.insert(self.start, '(');
        }
        if self.count > 0 {
            break_line(self.output, self.indent);
        }
        self.output.push_str(repr);
        self.count = self.count.saturating_add(1);
    }

    /// The lines of a string, and those that are too long cut at blanks.
    fn add_text(&mut self, text: &str, room: Room, allowance: usize) {
        let mut lines = split_lines(text, true).peekable();
        while let Some(line) = lines.next() {
            let is_last_line = lines.peek().is_none();
            let room_for_line = if is_last_line { less(room, allowance) } else { room };
            let repr = repr_of_text(line);
            if fits(&repr, room_for_line) {
                self.add(&repr);
                continue;
            }
            let mut parts = words_with_blanks(line).peekable();
            let (mut current, mut current_end) = (0, 0);
            while let Some(part) = parts.next() {
                let candidate_end = part.len().saturating_add(current_end);
                let is_last = is_last_line && parts.peek().is_none();
                let candidate = repr_of_text(line.get(current..candidate_end).unwrap_or_default());
                if !fits(&candidate, if is_last { less(room, allowance) } else { room }) {
                    if current < current_end {
                        self.add(&repr_of_text(line.get(current..current_end).unwrap_or_default()));
                    }
                    current = current_end;
                }
                current_end = candidate_end;
            }
            if current < current_end {
                self.add(&repr_of_text(line.get(current..current_end).unwrap_or_default()));
            }
        }
    }
}

/// Room for so many columns, less what is needed at the end; None where there is none at all.
type Room = Option<usize>;

fn fits(repr: &str, room: Room) -> bool {
    room.is_some_and(|room| char_count(repr) <= room)
}

fn less(room: Room, allowance: usize) -> Room {
    room.and_then(|room| room.checked_sub(allowance))
}

/// Words, each with the whitespace behind it: `\S*\s*`.
fn words_with_blanks(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let word_end = rest.find(is_whitespace).unwrap_or(rest.len());
        let blanks = rest.get(word_end..)?.find(|char| !is_whitespace(char));
        let end = blanks.map_or(rest.len(), |blanks| word_end.saturating_add(blanks));
        let (part, next) = rest.split_at_checked(end)?;
        rest = next;
        (!part.is_empty()).then_some(part)
    })
}

fn repr_of_text(text: &str) -> String {
    written(|output| write_repr(output, text))
}

/// The repr on one line, in which the keys of dicts are sorted.
fn safe_repr<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, output: &mut String) -> Result<()> {
    runtime.meter.check_stack()?;
    runtime.meter.charge(1)?;
    match value {
        Value::Dict(dict) => {
            output.push('{');
            for (number, (key, value)) in sorted_entries(runtime, dict)?.iter().enumerate() {
                if number > 0 {
                    output.push_str(", ");
                }
                safe_repr(runtime, key, output)?;
                output.push_str(": ");
                safe_repr(runtime, value, output)?;
            }
            output.push('}');
        }
        Value::List(items) => safe_repr_items(runtime, "[", items.iter(), "]", output)?,
        Value::Tuple(items) if !items.is_group() => {
            let close = if items.len() == 1 { ",)" } else { ")" };
            safe_repr_items(runtime, "(", items.iter(), close, output)?;
        }
        other => runtime.write_repr(other, output)?,
    }
    runtime.meter.check_size(output.len())
}

fn safe_repr_items<'a>(
    runtime: &mut Runtime<'a>,
    open: &str,
    items: impl Iterator<Item = Value<'a>>,
    close: &str,
    output: &mut String,
) -> Result<()> {
    output.push_str(open);
    for (number, item) in items.enumerate() {
        if number > 0 {
            output.push_str(", ");
        }
        safe_repr(runtime, &item, output)?;
    }
    output.push_str(close);
    Ok(())
}

/// The entries of a dict by their keys.
fn sorted_entries<'a>(runtime: &mut Runtime<'a>, dict: &Dict<'a>) -> Result<Vec<(Value<'a>, Value<'a>)>> {
    // The keys and the entries, and these once more in their order.
    runtime
        .meter
        .check_size(dict.len().saturating_mul(size_of::<[Value<'_>; 3]>()))?;
    let entries: Vec<_> = dict.iter().collect();
    let keys: Vec<_> = dict.keys().collect();
    let order = safe_order(runtime, &keys)?;
    Ok(order.into_iter().filter_map(|index| entries.get(index).cloned()).collect())
}

/// The order of values of which some may have none: those go by the names of their types. Within a type the reference goes by their
/// addresses then, which nobody can know; here they stay where they are.
fn safe_order<'a>(runtime: &mut Runtime<'a>, values: &[Value<'a>]) -> Result<Vec<usize>> {
    sorted(runtime, values.len(), false, &mut |runtime, left, right| {
        let (Some(left), Some(right)) = (values.get(left), values.get(right)) else {
            return Ok(false);
        };
        match runtime.less(left, right) {
            Err(error) if error.kind() == ErrorKind::Type => Ok(class_name(left) < class_name(right)),
            less => less,
        }
    })
}

/// What `str(type(value))` is told apart by.
fn class_name<'v>(value: &'v Value<'_>) -> &'v str {
    match value {
        Value::None => "NoneType",
        other => other.ty().described().trim_end_matches(" object"),
    }
}
