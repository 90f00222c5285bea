//! Characters by name, as `\N{...}` in a string literal finds them.
//!
//! ```text
//! lookup_name("white smiling face")          Some('☺')    case does not matter
//! lookup_name("LF")                          Some('\n')   an alias
//! lookup_name("KEYCAP DIGIT ONE")            None         names of sequences do not count
//! ```
//!
//! The door of the crate `unicode_names2`, which knows a later Unicode and compares loosely; both are
//! taken back here. The rule is that of CPython's `unicodedata.c`, `_getcode`.

use super::class::is_assigned;
use super::tables::ALIASES;

/// The longest name that CPython looks up.
const MAX_NAME_LEN: usize = 256;

// Names that follow from the code point; CPython compares them with their case, all others without.
const HANGUL: &str = "HANGUL SYLLABLE ";
const IDEOGRAPH: &str = "CJK UNIFIED IDEOGRAPH-";

/// The character that Unicode 14 gives the name or one of its aliases to.
pub fn lookup_name(name: &str) -> Option<char> {
    // The crate's comparison is loose, and in a debug build it panics at a leading hyphen; so only
    // what has the form of a name gets there.
    let is_name_like = name.len() <= MAX_NAME_LEN
        && name.starts_with(|char: char| char.is_ascii_alphabetic())
        && name
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || matches!(char, ' ' | '-'));
    if !is_name_like {
        return None;
    }
    if let Some(digits) = name.strip_prefix(IDEOGRAPH) {
        return find_ideograph(digits);
    }
    let upper = name.to_ascii_uppercase();
    if let Ok(found) = ALIASES.binary_search_by_key(&upper.as_str(), |&(alias, _)| alias) {
        return ALIASES.get(found).and_then(|&(_, code)| char::from_u32(code));
    }
    let char = unicode_names2::character(&upper)?;
    let official = official_name(char)?;
    let is_derived = official.starts_with(HANGUL) || official.starts_with(IDEOGRAPH);
    let spelling = if is_derived { name } else { upper.as_str() };
    (official == spelling).then_some(char)
}

/// The unified ideograph whose code point the digits give; one leading zero is allowed.
fn find_ideograph(digits: &str) -> Option<char> {
    let are_digits = digits.chars().all(|char| matches!(char, '0'..='9' | 'A'..='F'));
    if !are_digits || !matches!(digits.len(), 4 | 5) {
        return None;
    }
    let char = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)?;
    official_name(char)?.starts_with(IDEOGRAPH).then_some(char)
}

/// The name of the character in Unicode 14; names never change, they are only added.
pub fn official_name(char: char) -> Option<String> {
    let name = unicode_names2::name(char).filter(|_| is_assigned(char))?;
    Some(name.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::{digest, reference_digest};
    use super::*;

    #[test]
    fn every_character_of_the_reference_is_found_by_its_name() {
        let names = ('\0'..=char::MAX).flat_map(|char| {
            let name = official_name(char).filter(|name| lookup_name(name) == Some(char));
            let code = name.is_some().then_some(u32::from(char));
            code.into_iter()
                .chain(name.unwrap_or_default().into_bytes().into_iter().map(u32::from))
        });
        assert_eq!(digest(names), reference_digest("NAME"));
    }

    #[test]
    fn every_alias_is_found() {
        for (alias, code) in ALIASES {
            assert_eq!(lookup_name(alias).map(u32::from), Some(code), "{alias}");
        }
    }

    #[test]
    fn only_derived_names_depend_on_case() {
        assert_eq!(lookup_name("snowman"), Some('☃'));
        assert_eq!(lookup_name("lf"), Some('\n'));
        assert_eq!(lookup_name("HANGUL SYLLABLE GAG"), Some('각'));
        assert_eq!(lookup_name("hangul syllable gag"), None);
        assert_eq!(lookup_name("CJK UNIFIED IDEOGRAPH-4E00"), Some('一'));
        assert_eq!(lookup_name("CJK UNIFIED IDEOGRAPH-04E00"), Some('一'));
        assert_eq!(lookup_name("cjk unified ideograph-4e00"), None);
    }

    #[test]
    fn near_misses_are_not_found() {
        for name in [
            "",
            "-",
            "SNOW MAN",
            "SNOWMAN ",
            " SNOWMAN",
            "LATIN-SMALL LETTER A",
            "Low_Line",
        ] {
            assert_eq!(lookup_name(name), None, "{name}");
        }
        // A sequence, a range without names in CPython, and a character of Unicode 15.
        for name in ["KEYCAP DIGIT ONE", "TANGUT IDEOGRAPH-17000", "SHAKING FACE"] {
            assert_eq!(lookup_name(name), None, "{name}");
        }
    }
}
