//! Case mappings: `lower`, `upper`, `title`, `capitalize`, `swapcase` and `casefold` of Python's `str`.
//!
//! ```text
//! to_upper("ß")       "SS"     one character may become several
//! to_lower("ΑΣ ΣΑ")   "ας σα"  a sigma at the end of a word is final
//! capitalize("ǆX")    "ǅx"     title case differs from upper case
//! ```
//!
//! As in Python, there are no locale rules, such as the Turkish dotless i. The rules are CPython's `unicodeobject.c`: `do_upper_or_lower`,
//! `handle_capital_sigma`, `do_title`, `do_capitalize`, `do_swapcase`, `do_casefold`.

use super::class::{is_case_ignorable, is_cased, is_lowercase, is_uppercase};
use super::tables::{FOLD_LONG, FOLD_RUNS, LOWER_LONG, LOWER_RUNS, TITLE_LONG, TITLE_RUNS, UPPER_LONG, UPPER_RUNS};

/// Runs of characters that are mapped by adding a constant to the code point. Each is given by its first and last code point, its step, and
/// the constant.
type Runs = [(u32, u32, u32, i32)];
/// Characters that map to several characters, sorted by code point.
type Long = [(u32, &'static str)];

/// What a character is mapped to.
enum Mapped {
    Same,
    One(char),
    Many(&'static str),
}

/// Looks up a character in a pair of tables. The result is `None` if neither has it.
fn look_up(runs: &Runs, long: &Long, char: char) -> Option<Mapped> {
    let code = u32::from(char);
    let after = runs.partition_point(|&(first, ..)| first <= code);
    if let Some(&(first, last, step, delta)) = after.checked_sub(1).and_then(|at| runs.get(at)) {
        let remainder = code.checked_sub(first).and_then(|offset| offset.checked_rem(step));
        if code <= last && remainder == Some(0) {
            let mapped = code.checked_add_signed(delta).and_then(char::from_u32);
            return Some(mapped.map_or(Mapped::Same, Mapped::One));
        }
    }
    let found = long.binary_search_by_key(&code, |&(key, _)| key).ok()?;
    long.get(found).map(|&(_, text)| Mapped::Many(text))
}

fn map_lower(char: char) -> Mapped {
    if char.is_ascii() {
        return Mapped::One(char.to_ascii_lowercase());
    }
    look_up(&LOWER_RUNS, &LOWER_LONG, char).unwrap_or(Mapped::Same)
}

fn map_upper(char: char) -> Mapped {
    if char.is_ascii() {
        return Mapped::One(char.to_ascii_uppercase());
    }
    look_up(&UPPER_RUNS, &UPPER_LONG, char).unwrap_or(Mapped::Same)
}

/// Returns the title case of a character. Its tables have only the differences from upper case.
fn map_title(char: char) -> Mapped {
    look_up(&TITLE_RUNS, &TITLE_LONG, char).unwrap_or_else(|| map_upper(char))
}

fn push_mapped(output: &mut String, char: char, mapped: Mapped) {
    match mapped {
        Mapped::Same => output.push(char),
        Mapped::One(one) => output.push(one),
        Mapped::Many(many) => output.push_str(many),
    }
}

/// Returns whether a capital sigma between two strings is at the end of a word.
///
/// The search stops at the next sigma, so a string of many sigmas is scanned only twice.
fn is_final_sigma(before: &str, after: &str) -> bool {
    let previous = before.chars().rev().find(|&char| !is_case_ignorable(char));
    let next = after.chars().find(|&char| !is_case_ignorable(char));
    previous.is_some_and(is_cased) && !next.is_some_and(is_cased)
}

/// Appends the lower case of the character at byte offset `at` of a string.
fn push_lower_at(output: &mut String, text: &str, at: usize, char: char) {
    if char != 'Σ' {
        return push_mapped(output, char, map_lower(char));
    }
    let before = text.get(..at).unwrap_or_default();
    let after = text.get(at + char.len_utf8()..).unwrap_or_default();
    output.push(if is_final_sigma(before, after) { 'ς' } else { 'σ' });
}

/// `str.lower`: converts a string to lower case.
pub fn to_lower(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut output = String::with_capacity(text.len());
    for (at, char) in text.char_indices() {
        push_lower_at(&mut output, text, at, char);
    }
    output
}

/// `str.upper`: converts a string to upper case.
pub fn to_upper(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_uppercase();
    }
    let mut output = String::with_capacity(text.len());
    text.chars().for_each(|char| push_mapped(&mut output, char, map_upper(char)));
    output
}

/// `str.title`: title case after uncased characters, lower case after cased ones.
pub fn to_title(text: &str) -> String {
    let mut previous_is_cased = false;
    if text.is_ascii() {
        let in_title = |char: char| {
            let follows = std::mem::replace(&mut previous_is_cased, char.is_ascii_alphabetic());
            if follows {
                char.to_ascii_lowercase()
            } else {
                char.to_ascii_uppercase()
            }
        };
        return text.chars().map(in_title).collect();
    }
    let mut output = String::with_capacity(text.len());
    for (at, char) in text.char_indices() {
        if previous_is_cased {
            push_lower_at(&mut output, text, at, char);
        } else {
            push_mapped(&mut output, char, map_title(char));
        }
        previous_is_cased = is_cased(char);
    }
    output
}

/// `str.capitalize`: title case for the first character, lower case for the rest.
pub fn capitalize(text: &str) -> String {
    if text.is_ascii() {
        let mut output = text.to_ascii_lowercase();
        output.get_mut(..1).map(str::make_ascii_uppercase);
        return output;
    }
    let mut output = String::with_capacity(text.len());
    for (at, char) in text.char_indices() {
        if at == 0 {
            push_mapped(&mut output, char, map_title(char));
        } else {
            push_lower_at(&mut output, text, at, char);
        }
    }
    output
}

/// `str.swapcase`: exchanges upper and lower case.
pub fn swapcase(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    for (at, char) in text.char_indices() {
        if is_uppercase(char) {
            push_lower_at(&mut output, text, at, char);
        } else if is_lowercase(char) {
            push_mapped(&mut output, char, map_upper(char));
        } else {
            output.push(char);
        }
    }
    output
}

/// `str.casefold`: folds the case of a string for comparison without case. The tables have only the differences from the lower case of the
/// upper case, in which no sigma is final.
pub fn casefold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let (mut output, mut upper) = (String::with_capacity(text.len()), String::new());
    for char in text.chars() {
        match look_up(&FOLD_RUNS, &FOLD_LONG, char) {
            Some(mapped) => push_mapped(&mut output, char, mapped),
            None => {
                upper.clear();
                push_mapped(&mut upper, char, map_upper(char));
                upper
                    .chars()
                    .for_each(|upper| push_mapped(&mut output, upper, map_lower(upper)));
            }
        }
    }
    output
}

#[cfg(test)]
mod tests {
    use super::super::{digest, reference_digest};
    use super::*;

    #[test]
    fn mappings_agree_with_the_reference_for_all_code_points() {
        type Mapping = fn(&str) -> String;
        let mappings: [(&str, Mapping); 4] = [
            ("LOWER", to_lower),
            ("UPPER", to_upper),
            ("TITLE", to_title),
            ("FOLD", casefold),
        ];
        for (name, mapping) in mappings {
            let changes = ('\0'..=char::MAX).flat_map(|char| {
                let mut buffer = [0; 4];
                let text: &str = char.encode_utf8(&mut buffer);
                let mapped = mapping(text);
                assert!(mapped.len() <= text.len() * 3);
                let kept = if mapped == *text {
                    String::new()
                } else {
                    format!("{char}{mapped}")
                };
                kept.chars().map(u32::from).collect::<Vec<_>>()
            });
            assert_eq!(digest(changes), reference_digest(name), "{name}");
        }
    }
}
