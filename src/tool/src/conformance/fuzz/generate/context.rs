//! Random contexts for wild templates: variables with values of every type of JSON.
//!
//! ```text
//! {"x": [1, "<é>"], "messages": [{"role": "user", "content": null}], "n": -9223372036854775809}
//! ```
//!
//! Integers are small or larger than any memory. A template that repeats a string a billion times would exhaust the reference's memory.

use std::borrow::Cow;

use num_bigint::BigInt;

use super::rng::Rng;
use chat_template::internal::Entry;
use chat_template::json::{Data, Object};

/// Names of variables. Some are also names of the engine.
const NAMES: [&str; 23] = [
    "x", "y", "z", "n", "s", "d", "l", "items", "user", "name", "value", "tools", "text", "data", "flag", "messages", "messages",
    "tools", "loop", "caller", "range", "varargs", "é",
];

/// Keys of objects. Some are also names of methods.
const KEYS: [&str; 16] = [
    "a", "b", "x", "role", "content", "name", "items", "keys", "type", "text", "get", "A", "", "1", "a b", "é",
];

/// Strings that values have.
pub const TEXTS: [&str; 34] = [
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

/// Returns the variables of a round.
pub fn context(random: &mut Rng) -> Vec<Entry<'static>> {
    let mut context: Vec<Entry<'static>> = Vec::new();
    for _ in 0..random.below(7) + 2 {
        let name = random.text(&NAMES);
        let value = match name {
            "messages" => messages(random),
            "d" | "user" => object(random, 2),
            "l" | "items" | "tools" => list(random, 2),
            "s" | "text" | "name" => text(random),
            "n" => number(random),
            _ => value(random, 3),
        };
        context.push((Cow::Borrowed(name), value));
    }
    Object::new(context).entries().to_vec()
}

fn value(random: &mut Rng, depth: usize) -> Data<'static> {
    let nested = if depth == 0 { 0 } else { 24 };
    match random.pick_weighted(&[6, 8, 22, 26, nested, nested]) {
        0 => Data::None,
        1 => Data::Bool(random.happens(50)),
        2 => number(random),
        3 => text(random),
        4 => list(random, depth.saturating_sub(1)),
        _ => object(random, depth.saturating_sub(1)),
    }
}

fn text(random: &mut Rng) -> Data<'static> {
    Data::Str(Cow::Borrowed(random.text(&TEXTS)))
}

pub fn number(random: &mut Rng) -> Data<'static> {
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
    match random.pick_weighted(&[60, 8, 22]) {
        0 => small(random),
        1 => {
            let large = random.pick(&LARGE).copied().unwrap_or_default();
            i64::try_from(large).map_or_else(|_| Data::BigInt(Box::new(BigInt::from(large))), Data::Int)
        }
        _ => Data::Float(random.pick(&FLOATS).copied().unwrap_or_default()),
    }
}

fn small(random: &mut Rng) -> Data<'static> {
    const SMALL: [i64; 12] = [-3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8];
    Data::Int(random.pick(&SMALL).copied().unwrap_or_default())
}

fn list(random: &mut Rng, depth: usize) -> Data<'static> {
    let length = random.below(5);
    let items = match random.below(4) {
        0 => (0..length).map(|_| value(random, depth)).collect(),
        1 => (0..length).map(|_| text(random)).collect(),
        2 => (0..length).map(|_| small(random)).collect(),
        _ => (0..length).map(|_| object(random, depth.min(1))).collect(),
    };
    Data::List(items)
}

fn object(random: &mut Rng, depth: usize) -> Data<'static> {
    let key = |random: &mut Rng| Cow::Borrowed(random.text(&KEYS));
    let entries = (0..random.below(5)).map(|_| (key(random), value(random, depth))).collect();
    Data::Object(Object::new(entries))
}

fn messages(random: &mut Rng) -> Data<'static> {
    const ROLES: [&str; 5] = ["system", "user", "assistant", "tool", "Odd"];
    let message = |random: &mut Rng| {
        let content = match random.below(5) {
            0 => Data::None,
            1 => Data::List(vec![Data::Object(Object::new(vec![
                (Cow::Borrowed("type"), Data::Str(Cow::Borrowed("text"))),
                (Cow::Borrowed("text"), text(random)),
            ]))]),
            _ => text(random),
        };
        let role = Data::Str(Cow::Borrowed(random.text(&ROLES)));
        let mut entries = vec![(Cow::Borrowed("role"), role), (Cow::Borrowed("content"), content)];
        if random.happens(20) {
            entries.push((Cow::Borrowed("tool_calls"), list(random, 1)));
        }
        Data::Object(Object::new(entries))
    };
    Data::List((0..random.below(4)).map(|_| message(random)).collect())
}
