//! Properties of single characters in CPython.
//!
//! ```text
//! is_digit('²')       true     is_decimal('²')        false
//! is_printable(' ')   true     is_printable('\u{a0}') false
//! decimal_value('٣')  Some(3)
//! ```
//!
//! The predicates of strings are in `predicates.rs`, the case mappings in `case.rs`. The rules are CPython's `unicodectype.c`.

use super::tables::{
    ALPHA, CASE_IGNORABLE, DECIMAL, DECIMAL_ZEROS, DIGIT, FLAGS, LOWERCASE, NAME, NUMERIC, PRINTABLE, RUNS, TITLECASE, UPPERCASE,
    XID_CONTINUE, XID_START,
};

/// Returns the flags of all classes that a character belongs to.
fn classes(char: char) -> u32 {
    let code = u32::from(char);
    let after = RUNS.partition_point(|run| run >> 8 <= code);
    let run = after.checked_sub(1).and_then(|index| RUNS.get(index)).copied().unwrap_or(0);
    let flags = FLAGS.get((run & 0xff) as usize).copied().unwrap_or(0);
    // The flags of even distances are in the upper half.
    if (code ^ run >> 8) & 1 == 0 { flags >> 16 } else { flags }
}

/// Returns whether a character belongs to at least one of the classes.
fn belongs(char: char, flags: u32) -> bool {
    classes(char) & flags != 0
}

/// Returns whether a character has a property. `is_ascii_member` decides for ASCII characters, and the classes for the others.
#[inline]
fn has_property(char: char, is_ascii_member: impl Fn(&char) -> bool, flags: u32) -> bool {
    if char.is_ascii() {
        is_ascii_member(&char)
    } else {
        belongs(char, flags)
    }
}

/// Returns whether a character is alphabetic for `str.isalpha`: a letter (categories L*), never a mark.
pub fn is_alpha(char: char) -> bool {
    has_property(char, char::is_ascii_alphabetic, ALPHA)
}

/// Returns whether a character is decimal for `str.isdecimal`: a digit of a positional system.
pub fn is_decimal(char: char) -> bool {
    has_property(char, char::is_ascii_digit, DECIMAL)
}

/// Returns whether a character is a digit for `str.isdigit`: decimal digits, superscripts, circled digits.
pub fn is_digit(char: char) -> bool {
    has_property(char, char::is_ascii_digit, DIGIT)
}

/// Returns whether a character is numeric for `str.isnumeric`: digits, fractions, Roman and CJK numbers.
pub fn is_numeric(char: char) -> bool {
    has_property(char, char::is_ascii_digit, NUMERIC)
}

/// Returns whether a character is alphanumeric for `str.isalnum`: alphabetic, decimal, digit or numeric.
pub fn is_alnum(char: char) -> bool {
    has_property(char, char::is_ascii_alphanumeric, ALPHA | DECIMAL | DIGIT | NUMERIC)
}

/// Returns whether `\w` in Python's `re` matches a character.
pub fn is_word(char: char) -> bool {
    char == '_' || is_alnum(char)
}

/// Returns whether a character is whitespace for `str.isspace` and for `\s` in Python's `re`.
///
/// The characters are listed here instead of looked up, because splitting and stripping test each character.
pub fn is_whitespace(char: char) -> bool {
    matches!(
        char,
        '\t'..='\r'
            | '\u{1c}'..=' '
            | '\u{85}'
            | '\u{a0}'
            | '\u{1680}'
            | '\u{2000}'..='\u{200a}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{202f}'
            | '\u{205f}'
            | '\u{3000}'
    )
}

/// Returns whether `repr` shows a character unescaped.
pub fn is_printable(char: char) -> bool {
    has_property(char, |char| (' '..='~').contains(char), PRINTABLE)
}

/// Returns whether a character has the derived property Lowercase.
pub fn is_lowercase(char: char) -> bool {
    has_property(char, char::is_ascii_lowercase, LOWERCASE)
}

/// Returns whether a character has the derived property Uppercase.
pub fn is_uppercase(char: char) -> bool {
    has_property(char, char::is_ascii_uppercase, UPPERCASE)
}

/// Returns whether a character has the category Lt, such as `ǅ`.
pub fn is_titlecase(char: char) -> bool {
    !char.is_ascii() && belongs(char, TITLECASE)
}

/// Returns whether a character is lower, upper or title case.
pub fn is_cased(char: char) -> bool {
    has_property(char, char::is_ascii_alphabetic, LOWERCASE | UPPERCASE | TITLECASE)
}

/// Returns whether the rule of the final sigma skips a character. It skips marks and apostrophes, for example.
pub fn is_case_ignorable(char: char) -> bool {
    belongs(char, CASE_IGNORABLE)
}

/// Returns whether a character may start an identifier. The underscore, which Python adds, is not included.
pub fn is_xid_start(char: char) -> bool {
    has_property(char, char::is_ascii_alphabetic, XID_START)
}

/// Returns whether a character may continue an identifier. The underscore is included.
pub fn is_xid_continue(char: char) -> bool {
    has_property(char, |char| *char == '_' || char.is_ascii_alphanumeric(), XID_CONTINUE)
}

/// Returns whether a character may be in a name of a template: whether `\w` or the pattern in jinja2 3.1.6 `_identifier.py` matches it.
pub fn is_name(char: char) -> bool {
    has_property(char, |char| *char == '_' || char.is_ascii_alphanumeric(), NAME)
}

/// Returns the value of a decimal digit for `int` and `float`.
pub fn decimal_value(char: char) -> Option<u32> {
    if char.is_ascii() {
        return char.to_digit(10);
    }
    let code = u32::from(char);
    let after = DECIMAL_ZEROS.partition_point(|&zero| zero <= code);
    let zero = DECIMAL_ZEROS.get(after.checked_sub(1)?)?;
    code.checked_sub(*zero).filter(|&value| value < 10)
}
