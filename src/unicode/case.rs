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

use unicode_normalization::char::compose;

use super::class::{is_case_ignorable, is_cased, is_lowercase, is_printable, is_titlecase, is_uppercase};

/// Appends the characters that the standard library maps a character to, or the character itself if Unicode 15.1 does not have them. A
/// mapping between characters of one version of Unicode is the same in all later ones.
fn push_mapped(output: &mut String, char: char, mapped: impl Iterator<Item = char> + Clone) {
    if mapped.clone().next() != Some(char) && is_printable(char) && mapped.clone().all(is_printable) {
        output.extend(mapped);
    } else {
        output.push(char);
    }
}

fn push_lower(output: &mut String, char: char) {
    push_mapped(output, char, char.to_lowercase());
}

fn push_upper(output: &mut String, char: char) {
    push_mapped(output, char, char.to_uppercase());
}

/// Appends the title case of a character. Of the characters of its upper case it has the first, and the others in lower case. A final iota
/// becomes the mark U+0345, if possible in one character with the first.
fn push_title(output: &mut String, char: char) {
    let mut upper = char.to_uppercase();
    match (upper.len(), char) {
        (_, '\u{1C4}' | '\u{1C6}') => output.push('\u{1C5}'),
        (_, '\u{1C7}' | '\u{1C9}') => output.push('\u{1C8}'),
        (_, '\u{1CA}' | '\u{1CC}') => output.push('\u{1CB}'),
        (_, '\u{1F1}' | '\u{1F3}') => output.push('\u{1F2}'),
        // Words in Georgian begin with small letters.
        (_, '\u{10D0}'..='\u{10FF}') => output.push(char),
        _ if is_titlecase(char) || !is_printable(char) => output.push(char),
        (1, _) | (_, '\u{149}') => push_upper(output, char),
        (length, _) => {
            let first = upper.next().unwrap_or(char);
            match compose(first, '\u{345}') {
                Some(composed) if length == 2 && upper.clone().next() == Some('\u{399}') => output.push(composed),
                _ => {
                    output.push(first);
                    upper.for_each(|char| match char {
                        '\u{399}' => output.push('\u{345}'),
                        _ => push_lower(output, char),
                    });
                }
            }
        }
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
        return push_lower(output, char);
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
    text.chars().for_each(|char| push_upper(&mut output, char));
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
            push_title(&mut output, char);
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
            push_title(&mut output, char);
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
            push_upper(&mut output, char);
        } else {
            output.push(char);
        }
    }
    output
}

/// `str.casefold`: folds the case of a string for comparison without case. Except for some characters, this is the lower case of the upper
/// case, in which no sigma is final.
pub fn casefold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let (mut output, mut upper) = (String::with_capacity(text.len()), String::new());
    for char in text.chars() {
        match char {
            '\u{131}' => output.push(char),
            '\u{1E9E}' => output.push_str("ss"),
            // Cherokee.
            '\u{13A0}'..='\u{13FD}' | '\u{AB70}'..='\u{ABBF}' => push_upper(&mut output, char),
            _ => {
                upper.clear();
                push_upper(&mut upper, char);
                upper.chars().for_each(|upper| push_lower(&mut output, upper));
            }
        }
    }
    output
}
