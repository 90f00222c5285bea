//! Compares the classes and case mappings of all code points with digests of those of the reference.

use chat_template::internal::unicode::*;

type Property = fn(char) -> bool;

const PROPERTIES: [(&str, Property); 15] = [
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
    ("NAME", is_name),
    ("WHITESPACE", is_whitespace),
    ("CASED", is_cased),
    ("WORD", is_word),
];

/// Returns the numbers of which `tests/reference/unicode_tables.py` takes the digest of a name.
fn list_numbers(name: &str) -> Vec<u32> {
    let chars = '\0'..=char::MAX;
    let codes = |text: String| text.chars().map(u32::from).collect::<Vec<_>>();
    let mapping: fn(&str) -> String = match name {
        "DECIMAL_VALUE" => {
            return chars
                .filter_map(|char| Some([char.into(), decimal_value(char)?]))
                .flatten()
                .collect();
        }
        "NFKC" => {
            let normal = |char| codes(nfkc(&String::from(char)).into_owned());
            return chars.filter(|char| is_xid_continue(*char)).flat_map(normal).collect();
        }
        "LOWER" => to_lower,
        "UPPER" => to_upper,
        "TITLE" => to_title,
        "FOLD" => casefold,
        _ => {
            let (_, property) = PROPERTIES
                .iter()
                .find(|(other, _)| *other == name)
                .expect("the property is known");
            return chars.filter(|char| property(*char)).map(u32::from).collect();
        }
    };
    let mapped = chars.map(|char| (char, mapping(&String::from(char))));
    let changed = mapped.filter(|(char, mapped)| *mapped != String::from(*char));
    changed.flat_map(|(char, mapped)| codes(format!("{char}{mapped}"))).collect()
}

#[test]
fn all_code_points_are_those_of_the_reference() {
    for line in include_str!("unicode.tsv").lines() {
        let (name, digest) = line.split_once('\t').expect("a line has two cells");
        let found = list_numbers(name)
            .into_iter()
            .fold(0xcbf2_9ce4_8422_2325, |state: u64, number| {
                (state ^ u64::from(number)).wrapping_mul(0x100_0000_01b3)
            });
        assert_eq!(format!("{found:016x}"), digest, "{name}");
    }
}
