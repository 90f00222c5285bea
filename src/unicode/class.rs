//! What CPython knows about one character.
//!
//! ```text
//! is_digit('²')       true     is_decimal('²')       false
//! is_printable(' ')   true     is_printable('\u{a0}') false
//! decimal_value('٣')  Some(3)
//! ```
//!
//! Strings are in `predicates.rs`, mappings in `case.rs`. The rules are those of CPython's
//! `unicodectype.c`; `str.isalpha` and its family apply them to each character.

use super::tables::{
    ALPHA, CASE_IGNORABLE, CLASSES, DECIMAL, DECIMAL_ZEROS, DIGIT, LOWERCASE, NUMERIC, PRINTABLE, TITLECASE, UPPERCASE,
    XID_CONTINUE, XID_START,
};

/// The flags of all classes that the character belongs to.
fn classes(char: char) -> u16 {
    let code = u32::from(char);
    let after = CLASSES.partition_point(|&(start, _)| start <= code);
    let run = after.checked_sub(1).and_then(|index| CLASSES.get(index));
    run.map_or(0, |&(_, flags)| flags)
}

/// Whether the character belongs to at least one of the classes.
fn belongs(char: char, flags: u16) -> bool {
    classes(char) & flags != 0
}

/// Whether `str.isalpha` holds for the character: a letter (categories L*), never a mark.
pub fn is_alpha(char: char) -> bool {
    if char.is_ascii() {
        char.is_ascii_alphabetic()
    } else {
        belongs(char, ALPHA)
    }
}

/// Whether `str.isdecimal` holds for the character: a digit of a positional system.
pub fn is_decimal(char: char) -> bool {
    if char.is_ascii() {
        char.is_ascii_digit()
    } else {
        belongs(char, DECIMAL)
    }
}

/// Whether `str.isdigit` holds for the character: decimal digits, superscripts, circled digits.
pub fn is_digit(char: char) -> bool {
    if char.is_ascii() {
        char.is_ascii_digit()
    } else {
        belongs(char, DIGIT)
    }
}

/// Whether `str.isnumeric` holds for the character: digits, fractions, Roman and CJK numbers.
pub fn is_numeric(char: char) -> bool {
    if char.is_ascii() {
        char.is_ascii_digit()
    } else {
        belongs(char, NUMERIC)
    }
}

/// Whether `str.isalnum` holds for the character: alphabetic, decimal, digit or numeric.
pub fn is_alnum(char: char) -> bool {
    if char.is_ascii() {
        char.is_ascii_alphanumeric()
    } else {
        belongs(char, ALPHA | DECIMAL | DIGIT | NUMERIC)
    }
}

/// Whether `\w` of Python's `re` matches the character.
pub fn is_word(char: char) -> bool {
    char == '_' || is_alnum(char)
}

/// Whether `str.isspace` holds for the character; also what `\s` of Python's `re` matches.
///
/// Written out rather than looked up, because splitting and stripping ask it of every character.
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

/// Whether `repr` shows the character as it is.
pub fn is_printable(char: char) -> bool {
    if char.is_ascii() {
        (' '..='~').contains(&char)
    } else {
        belongs(char, PRINTABLE)
    }
}

/// Whether the character has the derived property Lowercase.
pub fn is_lowercase(char: char) -> bool {
    if char.is_ascii() {
        char.is_ascii_lowercase()
    } else {
        belongs(char, LOWERCASE)
    }
}

/// Whether the character has the derived property Uppercase.
pub fn is_uppercase(char: char) -> bool {
    if char.is_ascii() {
        char.is_ascii_uppercase()
    } else {
        belongs(char, UPPERCASE)
    }
}

/// Whether the character is of category Lt, such as `ǅ`.
pub fn is_titlecase(char: char) -> bool {
    !char.is_ascii() && belongs(char, TITLECASE)
}

/// Whether the character is lower, upper or title case.
pub fn is_cased(char: char) -> bool {
    if char.is_ascii() {
        char.is_ascii_alphabetic()
    } else {
        belongs(char, LOWERCASE | UPPERCASE | TITLECASE)
    }
}

/// Whether a final sigma is recognised across the character, as across marks and apostrophes.
pub fn is_case_ignorable(char: char) -> bool {
    belongs(char, CASE_IGNORABLE)
}

/// Whether the character may begin an identifier; `_`, which Python adds, is not among them.
pub fn is_xid_start(char: char) -> bool {
    if char.is_ascii() {
        char.is_ascii_alphabetic()
    } else {
        belongs(char, XID_START)
    }
}

/// Whether the character may continue an identifier; `_` is among them.
pub fn is_xid_continue(char: char) -> bool {
    if char.is_ascii() {
        char == '_' || char.is_ascii_alphanumeric()
    } else {
        belongs(char, XID_CONTINUE)
    }
}

/// The value of a decimal digit, as `int` and `float` read it.
pub fn decimal_value(char: char) -> Option<u32> {
    if char.is_ascii() {
        return char.to_digit(10);
    }
    let code = u32::from(char);
    let after = DECIMAL_ZEROS.partition_point(|&zero| zero <= code);
    let zero = DECIMAL_ZEROS.get(after.checked_sub(1)?)?;
    code.checked_sub(*zero).filter(|&value| value < 10)
}

#[cfg(test)]
mod tests {
    use super::super::{digest, reference_digest};
    use super::*;

    #[test]
    fn every_property_is_the_references_over_all_code_points() {
        type Property = fn(char) -> bool;
        let properties: [(&str, Property); 14] = [
            ("ALPHA", is_alpha),
            ("DECIMAL", is_decimal),
            ("DIGIT", is_digit),
            ("NUMERIC", is_numeric),
            ("PRINTABLE", is_printable),
            ("LOWERCASE", is_lowercase),
            ("UPPERCASE", is_uppercase),
            ("TITLECASE", is_titlecase),
            ("CASE_IGNORABLE", is_case_ignorable),
            ("XID_START", is_xid_start),
            ("XID_CONTINUE", is_xid_continue),
            ("WHITESPACE", is_whitespace),
            ("CASED", is_cased),
            ("WORD", is_word),
        ];
        for (name, property) in properties {
            let members = ('\0'..=char::MAX).filter(|&char| property(char));
            assert_eq!(digest(members.map(u32::from)), reference_digest(name), "{name}");
        }
    }

    #[test]
    fn decimal_values_are_the_references_over_all_code_points() {
        let values = ('\0'..=char::MAX)
            .filter_map(|char| Some([u32::from(char), decimal_value(char)?]))
            .flatten();
        assert_eq!(digest(values), reference_digest("DECIMAL_VALUE"));
    }

    #[test]
    fn alphanumeric_is_the_union_of_its_parts() {
        assert!(
            ('\0'..=char::MAX)
                .all(|char| { is_alnum(char) == (is_alpha(char) || is_decimal(char) || is_digit(char) || is_numeric(char)) })
        );
    }
}
