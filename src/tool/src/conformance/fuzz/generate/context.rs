//! Random contexts: a variable's name determines its type.
//!
//! ```text
//! {"text": "a long sentence …", "n": 1023, "words": ["b", "A", "b"], "messages": […], "nested": {…}}
//! ```

use std::borrow::Cow;

use num_bigint::BigInt;

use super::rng::Rng;
use chat_template::internal::Entry;
use chat_template::json::{Data, Object};

/// Strings that values have.
const TEXTS: [&str; 34] = [
    "",
    "a",
    "b",
    "ab",
    "Hello World",
    "hello",
    "x",
    "1",
    "-7",
    "2.5",
    " a  b \n",
    "a,b,c",
    "a b c",
    "<b>&'\"",
    "&lt;b&gt; &amp;",
    "line\nline\r\nlast",
    "\t\u{b}\u{c}\u{1c}\u{85}\u{2028}x",
    "\u{0}\u{7f}",
    "é",
    "e\u{301}",
    "ﬁ ß İ ǆ",
    "Straße ΑΣ",
    "😀👨\u{200d}👩",
    "日本語",
    "%s",
    "%d|%5.1f|%r",
    "{} {0!r:>4} {a}",
    "{{ x }}",
    "http://example.com/?a=b&c",
    "it's",
    "user",
    "٣",
    "\u{a0}x\u{3000}",
    "the quick-brown fox",
];

const WORDS: [&str; 26] = [
    "a",
    "A",
    "the",
    "The",
    "of",
    "Of",
    "to",
    "quick",
    "Brown",
    "fox",
    "well-known",
    "state-of-the-art",
    "élan",
    "Straße",
    "日本語",
    "extraordinarily",
    "Donaudampfschifffahrt",
    "it's",
    "<b>",
    "&",
    "x1",
    "42",
    "3.5",
    "b",
    "B",
    "e\u{301}",
];

/// Integers around the thresholds of formats and of number types.
const NUMBERS: [i64; 28] = [
    0, 1, 2, 3, 7, 9, 10, 11, 12, 63, 64, 99, 100, 101, 127, 128, 255, 256, 999, 1000, 1023, 1024, 65_536, 1_000_000, 1_234_567,
    -1, -2, -10,
];

const NAMES: [&str; 7] = ["b", "A", "a", "B", "c", "C", ""];

/// Returns the variables of a round.
pub fn context(random: &mut Rng) -> Vec<Entry<'static>> {
    let mut context: Vec<Entry<'static>> = Vec::new();
    let mut add = |random: &mut Rng, name: &'static str, make: fn(&mut Rng) -> Data<'static>| {
        if random.happens(60) {
            context.push((Cow::Borrowed(name), make(random)));
        }
    };
    add(random, "text", text);
    add(random, "name", text);
    add(random, "long", long_text);
    add(random, "n", integer);
    add(random, "m", integer);
    add(random, "small", small);
    add(random, "f", number);
    add(random, "flag", |random| Data::Bool(random.happens(50)));
    add(random, "nothing", |_| Data::None);
    add(random, "words", |random| many(random, 3, 7, word));
    add(random, "texts", |random| many(random, 3, 5, text));
    add(random, "ints", |random| many(random, 3, 7, small));
    add(random, "items", |random| many(random, 3, 6, item));
    add(random, "messages", |random| many(random, 2, 5, message));
    add(random, "d", dict);
    add(random, "flat", flat);
    add(random, "nested", |random| nested(random, 3));
    add(random, "tools", |random| many(random, 0, 3, |random| nested(random, 2)));
    context
}

fn string(text: impl Into<Cow<'static, str>>) -> Data<'static> {
    Data::Str(text.into())
}

fn object(entries: Vec<(&'static str, Data<'static>)>) -> Data<'static> {
    let entries = entries
        .into_iter()
        .map(|(name, value)| (Cow::Borrowed(name), value))
        .collect();
    Data::Object(Object::new(entries))
}

/// Returns a list of at least `least` and at most `most` items.
fn many(random: &mut Rng, least: usize, most: usize, make: fn(&mut Rng) -> Data<'static>) -> Data<'static> {
    let count = least + random.below(most.saturating_sub(least) + 1);
    Data::List((0..count).map(|_| make(random)).collect())
}

fn text(random: &mut Rng) -> Data<'static> {
    match random.below(4) {
        0 => string(random.text(&TEXTS)),
        1 => word(random),
        _ => long_text(random),
    }
}

fn word(random: &mut Rng) -> Data<'static> {
    string(random.text(&WORDS))
}

/// Returns a string of 2 to 25 words, which may have several lines.
fn long_text(random: &mut Rng) -> Data<'static> {
    let mut text = String::new();
    let has_lines = random.happens(35);
    for _ in 0..random.below(24) + 2 {
        text.push_str(random.text(&WORDS));
        let space = match random.below(14) {
            0 if has_lines => "\n",
            1 if has_lines => "\n\n  ",
            2 if has_lines => "\r\n",
            3 => "  ",
            4 => ", ",
            5 => " -- ",
            _ => " ",
        };
        text.push_str(space);
    }
    if random.happens(70) {
        text.truncate(text.trim_end().len());
    }
    string(text)
}

fn integer(random: &mut Rng) -> Data<'static> {
    Data::Int(random.pick(&NUMBERS).copied().unwrap_or_default())
}

fn small(random: &mut Rng) -> Data<'static> {
    Data::Int(i64::try_from(random.below(9)).unwrap_or_default().saturating_sub(2))
}

fn item(random: &mut Rng) -> Data<'static> {
    let mut entries = vec![
        ("name", string(random.text(&NAMES))),
        ("n", Data::Int(i64::try_from(random.below(4)).unwrap_or_default())),
        ("ok", Data::Bool(random.happens(50))),
        ("tags", many(random, 1, 3, word)),
        ("sub", object(vec![("x", small(random))])),
    ];
    if random.happens(40) {
        entries.push(("extra", text(random)));
    }
    object(entries)
}

fn message(random: &mut Rng) -> Data<'static> {
    let role = random.text(&["system", "user", "assistant", "tool"]);
    object(vec![("role", string(role)), ("content", text(random))])
}

fn dict(random: &mut Rng) -> Data<'static> {
    let mut entries = vec![("a", text(random)), ("b", integer(random))];
    if random.happens(50) {
        entries.push(("C", many(random, 0, 3, word)));
    }
    if random.happens(50) {
        entries.push(("é", number(random)));
    }
    object(entries)
}

fn flat(random: &mut Rng) -> Data<'static> {
    object(vec![
        ("b", small(random)),
        ("A", small(random)),
        ("a", small(random)),
        ("C", small(random)),
    ])
}

/// Returns nested lists and objects, with empty and long strings among them.
fn nested(random: &mut Rng, depth: usize) -> Data<'static> {
    let inner = depth.saturating_sub(1);
    let value = |random: &mut Rng| match random.below(if depth > 0 { 10 } else { 6 }) {
        0 => text(random),
        1 => integer(random),
        2 => number(random),
        3 => Data::None,
        4 => Data::Bool(random.happens(50)),
        5 => string(""),
        6 | 7 => Data::List((0..random.below(4)).map(|_| nested(random, inner)).collect()),
        _ => nested(random, inner),
    };
    let keys = ["b", "type", "a", "A", "description", "é", "", "x y"];
    let entries = (0..random.below(4) + usize::from(depth > 1))
        .map(|_| (random.text(&keys), value(random)))
        .collect();
    object(entries)
}

/// Returns a number. An integer is small or larger than any memory: a template that repeats a string a billion times would exhaust the
/// reference's memory.
fn number(random: &mut Rng) -> Data<'static> {
    const FLOATS: [f64; 18] = [
        0.0,
        -0.0,
        0.5,
        1.0,
        1.5,
        2.5,
        -2.5,
        0.1,
        1e16,
        1e-5,
        123456.789,
        1e300,
        5e-324,
        1e22,
        -1e-7,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    const LARGE: [i128; 8] = [
        i64::MAX as i128,
        i64::MIN as i128,
        i64::MAX as i128 + 1,
        i64::MIN as i128 - 1,
        u64::MAX as i128,
        -(1 << 80),
        1 << 70,
        i128::MAX,
    ];
    const SMALL: [i64; 12] = [-3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8];
    match random.pick_weighted(&[60, 8, 22]) {
        0 => Data::Int(random.pick(&SMALL).copied().unwrap_or_default()),
        1 => {
            let large = random.pick(&LARGE).copied().unwrap_or_default();
            i64::try_from(large).map_or_else(|_| Data::BigInt(Box::new(BigInt::from(large))), Data::Int)
        }
        _ => Data::Float(random.pick(&FLOATS).copied().unwrap_or_default()),
    }
}
