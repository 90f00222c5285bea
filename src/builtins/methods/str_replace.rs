//! The methods of `str` that replace characters: `replace`, `translate` and `maketrans`.
//!
//! ```text
//! {{ "abc".replace("", "-", 2) }}                     -a-bc
//! {{ "abc".translate({97: "x", 98: none}) }}          xc
//! {{ "".maketrans("ab", "xy") }}                      {97: 120, 98: 121}
//! ```
//!
//! The replacing is in [`crate::text::replace`]. The size of its result is checked before. The errors are those of CPython 3.13
//! (`unicode_replace_impl`, `charmaptranslate_lookup`, `unicode_maketrans_impl`). A Markup escapes the replacement (markupsafe 3.0.4
//! `Markup.replace`), but not a translation.

use crate::builtins::arguments::{read_size, require_clinic_str};
use crate::builtins::table::{Absent, built_ins};
use crate::error::{Error, ErrorKind, Result};
use crate::meter::Claim;
use crate::text::replace;
use crate::text::slice::char_count;
use crate::unsupported::SURROGATE;
use crate::value::{Entries, Runtime, Str, Value, markup, ops};

built_ins! { METHODS:
    /// Replaces a string by another one.
    Clinic "str.replace" | "Markup.replace"[4].with_unnamed(3)
    fn replace(runtime, &whole: Str, old: Text, new: Text, count: Count = -1) -> Text {
        let new = if whole.is_markup() { Value::Str(markup::escape(runtime, &new)?) } else { new };
        let old = require_clinic_str(old, "replace() argument 1")?;
        let new = require_clinic_str(new, "replace() argument 2")?;
        let count = read_size(&count)?;
        let (old, new_text) = (old.as_str(), new);
        let new = new_text.as_str();
        runtime.meter.charge_scan(whole.as_str().len() + old.len())?;
        let replaced = replace::count_replaced(whole.as_str(), old, count);
        runtime.meter.charge(replaced as u64 / 4)?;
        let len = replace::replaced_len(whole.as_str(), old, new, replaced).unwrap_or(usize::MAX);
        runtime.meter.check_size(len)?;
        runtime.meter.charge_scan(len)?;
        if replaced == 0 {
            return Ok(Value::Str(whole));
        }
        let replaced = runtime.composed_text(len, &[&whole, &new_text], |mut output| {
            replace::write_replaced(&mut output, whole.as_str(), old, new, replaced)
        })?;
        Ok(Value::Str(replaced.with_markup(whole.is_markup())))
    }

    /// Replaces each character by what a table has for it. A character that is not in the table stays.
    OneArgument "str.translate" | "Markup.translate"[2] fn translate(runtime, &whole: Str, table: Dict) {
        let mut output = String::new();
        for character in whole.as_str().chars() {
            // A character that is not in the table is an error to the lookup.
            runtime.meter.charge(4)?;
            let code = Value::Int(i64::from(u32::from(character)));
            match ops::get_item(runtime, &table, &code) {
                Ok(Value::None) => {}
                Ok(Value::Str(text)) => {
                    runtime.meter.charge_scan(text.as_str().len())?;
                    runtime.meter.check_size(output.len() + text.as_str().len())?;
                    output.push_str(text.as_str());
                }
                Ok(Value::Big(_)) => return Err(not_a_character()),
                Ok(other) => match other.as_int() {
                    Some(code) => output.push(to_character(code)?),
                    None => return Err(Error::type_error("character mapping must return integer, None or str")),
                },
                Err(error) if matches!(error.kind(), ErrorKind::Key | ErrorKind::Index) => output.push(character),
                Err(error) => return Err(error),
            }
        }
        let translated = runtime.text(output)?;
        Ok(Value::Str(translated.with_markup(whole.is_markup())))
    }

    /// Returns a dict from code points to replacements, for `translate`.
    Positional "str.maketrans" fn maketrans(runtime, &_text: Str, x, y = Absent, z = Absent) {
        let (mut entries, mut claim) = (Entries::default(), None);
        match y {
            None => add_entries_of_dict(runtime, &x, &mut entries, &mut claim)?,
            Some(y) => {
                // Argument Clinic checks the second and third argument; the first one is checked after that.
                let to = require_clinic_str(y, "maketrans() argument 2")?;
                let deleted = z.map(|z| require_clinic_str(z, "maketrans() argument 3")).transpose()?;
                let Value::Str(from) = x else {
                    return Err(Error::type_error(
                        "first maketrans argument must be a string if there is a second argument",
                    ));
                };
                add_pairs_of_characters(runtime, [&from, &to], deleted.as_ref(), &mut entries, &mut claim)?;
            }
        }
        drop(claim);
        Ok(Value::Dict(runtime.dict(entries)?))
    }
}

#[cold]
fn not_a_character() -> Error {
    Error::value("character mapping must be in range(0x110000)")
}

fn to_character(code: i64) -> Result<char> {
    let code = u32::try_from(code).map_err(|_| not_a_character())?;
    match char::from_u32(code) {
        Some(character) => Ok(character),
        None if code <= u32::from(char::MAX) => Err(SURROGATE.error()),
        None => Err(not_a_character()),
    }
}

fn add_pairs_of_characters<'a>(
    runtime: &mut Runtime<'a>,
    [from, to]: [&Str<'a>; 2],
    deleted: Option<&Str<'a>>,
    entries: &mut Entries<'a>,
    claim: &mut Option<Claim>,
) -> Result<()> {
    let (from, to) = (from.as_str(), to.as_str());
    let deleted = deleted.map_or("", Str::as_str);
    runtime.meter.charge_scan(from.len() + to.len() + deleted.len())?;
    if char_count(from) != char_count(to) {
        return Err(Error::value("the first two maketrans arguments must have equal length"));
    }
    let code = |character: char| Value::Int(i64::from(u32::from(character)));
    for (old, new) in from.chars().zip(to.chars()) {
        runtime.insert(entries, claim, code(old), code(new))?;
    }
    for character in deleted.chars() {
        runtime.insert(entries, claim, code(character), Value::None)?;
    }
    Ok(())
}

fn add_entries_of_dict<'a>(
    runtime: &mut Runtime<'a>,
    table: &Value<'a>,
    entries: &mut Entries<'a>,
    claim: &mut Option<Claim>,
) -> Result<()> {
    let Value::Dict(table) = table else {
        return Err(Error::type_error(
            "if you give only one argument to maketrans it must be a dict",
        ));
    };
    for (key, value) in table.iter() {
        let key = match &key {
            Value::Str(text) => {
                let mut characters = text.as_str().chars();
                match (characters.next(), characters.next()) {
                    (Some(character), None) => Value::Int(i64::from(u32::from(character))),
                    _ => return Err(Error::value("string keys in translate table must be of length 1")),
                }
            }
            Value::Int(_) | Value::Bool(_) | Value::Big(_) => key,
            _ => return Err(Error::type_error("keys in translate table must be strings or integers")),
        };
        runtime.insert(entries, claim, key, value)?;
    }
    Ok(())
}
