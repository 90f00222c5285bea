//! JSON text, read and written as by Python (`json.jsonl`, which `reference/json_rows.py` answers), and trees of `Serialize` values.

use std::collections::BTreeMap;

use chat_template::json::{Data, JsonErrorKind, Object, read, to_data};
use chat_template::{Deadline, RenderOptions, Template};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// The least number of bytes of a document whose reading is timed.
const TIMED: usize = 64 << 10;

#[test]
fn texts_are_read_and_written_as_by_python() {
    for row in include_str!("json.jsonl").lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        let hex = row["bytes"].as_str().unwrap_or_default();
        let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        let bytes = match row["text"].as_str() {
            Some(text) => text.as_bytes().to_vec(),
            None => (0..hex.len()).step_by(2).map(byte).collect(),
        };
        let answer = match Data::read_within(&bytes, &Deadline::new(None)) {
            Ok(data) => json!({"written": data.to_string()}),
            Err(error) => json!({"error": error.to_string()}),
        };
        assert_eq!(answer, row["expect"], "{row}");
    }
    assert!(matches!(read("\"a\""), Ok(Data::Str(std::borrow::Cow::Borrowed("a")))));
    assert_eq!(read("9223372036854775807"), Ok(Data::Int(i64::MAX)));
}

#[test]
fn a_lone_surrogate_is_an_error() {
    let error = read(r#"["\ud83d\u0041"]"#).unwrap_err();
    assert_eq!(error.kind(), JsonErrorKind::LoneSurrogate);
    assert_eq!(
        error.to_string(),
        "Lone surrogate \\ud83d is not supported: line 1 column 3 (char 2)"
    );
}

#[test]
fn floats_of_many_digits_are_rounded_as_by_the_standard_library() {
    let mut state = 1_u64;
    let mut draw = |end: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    for _ in 0..20_000 {
        // The exact value between two neighbours, and numbers close to it.
        let float = f64::from_bits(draw(0x7FE) << 52 | draw(1 << 31) << 21 | draw(1 << 21));
        let digits = format!("{:.*e}", draw(40) as usize + 15, float * 1.000_000_000_000_000_1);
        let (mantissa, exponent) = digits.split_once('e').unwrap();
        let zeros = "0".repeat(draw(30) as usize);
        for text in [
            digits.clone(),
            format!("{mantissa}{zeros}1e{exponent}"),
            format!("{mantissa}5e{exponent}"),
        ] {
            assert_eq!(read(&text), Ok(Data::Float(text.parse().unwrap())), "{text}");
        }
    }
}

#[test]
fn floats_are_written_as_templates_print_them() {
    let thousandths = (0..20_000).map(|step| f64::from(step) * 49_999.0 / 1e3);
    // These bits are floats of all magnitudes.
    let all = (0_u64..20_000).map(|step| f64::from_bits(step.wrapping_mul(0x0003_4567_89AB_CDEF)));
    let floats: Vec<f64> = all.chain(thousandths).filter(|float| float.is_finite()).collect();
    let written: Vec<String> = floats.iter().map(|float| Data::Float(*float).to_string()).collect();
    assert_eq!(render("{{ x|join(' ') }}", &json!(floats)), written.join(" "));
}

/// Renders a template with a variable.
fn render(source: &str, x: &Value) -> String {
    let template = Template::compile(source).unwrap();
    template.render(&json!({"x": x}), &RenderOptions::default()).unwrap().text
}

#[test]
fn each_byte_of_a_string_is_written_and_read_at_each_offset() {
    let mut texts = vec![String::from("12345678901\u{1}\u{2}\""), String::new()];
    for byte in 0..0x80_u8 {
        for place in 0..50 {
            for length in [place + 1, 50] {
                let mut text = vec![b'~'; length];
                text[place] = byte;
                texts.push(String::from_utf8(text).unwrap());
            }
        }
    }
    for length in [1, 63, 64, 65, 200] {
        for step in [1, 2, 7, 63, 64, 65] {
            let special = (0..length).map(|at| {
                if at % step == 0 {
                    ['"', '\\', '\0', '\u{1F}'][at / step % 4]
                } else {
                    '~'
                }
            });
            texts.push(special.collect());
        }
    }
    let written: Vec<String> = texts.iter().map(|text| Data::Str(text.into()).to_string()).collect();
    let expected: Vec<String> = texts.iter().map(|text| serde_json::to_string(text).unwrap()).collect();
    assert_eq!(written, expected);
    let document = format!("[{}]", written.join(","));
    assert_eq!(read(&document).unwrap(), to_data(&texts).unwrap());
    let ascii = render("{{ x|tojson(ensure_ascii=true) }}", &json!(texts));
    assert!(ascii.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
    assert_eq!(read(&ascii).unwrap(), to_data(&texts).unwrap());
}

#[test]
fn depth_is_bounded() {
    let nest = |levels| "[".repeat(levels) + &"]".repeat(levels);
    let deepest = nest(Data::MAX_DEPTH);
    let data = read(&deepest).unwrap();
    assert!(to_data(&data).is_ok());
    assert_eq!(to_data(&Data::List(vec![data])).unwrap_err().kind(), JsonErrorKind::TooDeep);
    let error = read(&nest(Data::MAX_DEPTH + 1)).unwrap_err().to_string();
    assert!(
        error.ends_with(": 513 levels, at most 512: line 1 column 513 (char 512)"),
        "{error}"
    );
}

#[test]
fn the_time_limit_stops_long_arrays_and_long_strings() {
    let no_time = Deadline::new(0);
    let long = format!("[0{}]", ",0".repeat(TIMED / 2));
    let error = Data::read_within(&long, &no_time).unwrap_err();
    assert_eq!(
        error.to_string(),
        "limit reached: milliseconds: 0, at most 0: line 1 column 3 (char 2)"
    );
    assert_eq!(Data::read_within(&long, &Deadline::new(None)), read(&long));
    for text in ["[0]", &format!("\"{}\"", "\\n".repeat(4 * TIMED))] {
        assert_eq!(Data::read_within(text, &no_time).unwrap_err().kind(), JsonErrorKind::TimedOut);
    }
}

#[test]
fn small_and_large_objects_find_their_keys() {
    let alphabet: String = ('A'..='z').collect();
    for count in 0..20 {
        let keys: Vec<&str> = (0..count).map(|length| &alphabet[..length * 3]).collect();
        let entries = (0..).zip(&keys).map(|(place, key)| ((*key).into(), Data::Int(place)));
        let object = Object::new(entries.collect());
        for (place, key) in (0..).zip(&keys) {
            assert_eq!(object.get(key), Some(&Data::Int(place)));
            for at in 0..key.len() {
                let mut other = key.to_string();
                other.replace_range(at..=at, "-");
                assert_eq!(object.get(&other), None, "byte {at} of {key}");
            }
        }
        assert_eq!(object.get("AB"), None);
    }
}

#[test]
fn data_is_small_and_send() {
    fn sent<T: Send + Sync>() {}
    fn shortened<'short>(data: Data<'static>, _: &'short str) -> Data<'short> {
        data
    }
    sent::<Data<'_>>();
    assert_eq!(size_of::<Data<'_>>(), 32);
    assert_eq!(shortened(Data::Int(1), ""), Data::Int(1));
}

struct Endless;

impl Serialize for Endless {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(std::iter::repeat("a".repeat(1 << 20)))
    }
}

#[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
enum Shape {
    Unit,
    One(u8),
    Two(u8, char),
    Named { a: Option<()>, b: bool },
}

#[derive(Serialize)]
struct Wrapped(f32);

#[derive(Serialize)]
struct Pair(i8, i16);

#[test]
fn a_tree_is_that_of_the_text() {
    let shapes = [
        Shape::Unit,
        Shape::One(1),
        Shape::Two(2, 'é'),
        Shape::Named { a: None, b: true },
    ];
    let keys = (
        BTreeMap::from([(true, 1)]),
        BTreeMap::from([(-7_i128, 2)]),
        BTreeMap::from([('x', 3)]),
    );
    let numbers = (
        u64::MAX,
        i128::MIN,
        -1_i128,
        1_f64,
        -0.0_f64,
        f64::MAX,
        [f64::NAN, f64::INFINITY],
    );
    let value = (
        shapes,
        keys,
        Wrapped(1.5),
        Pair(-1, 2),
        (),
        BTreeMap::from([(Shape::Unit, [0_u8; 0])]),
        numbers,
    );
    let text = serde_json::to_string(&value).unwrap();
    assert_eq!(to_data(&value), Ok(read(&text).unwrap()));
    assert_eq!(to_data(&0.1_f32), Ok(Data::Float(f64::from(0.1_f32))));
    let text = r#"{"b": [1, 18446744073709551616, -0.0, 2.5, "x\u0000\"é", null, true], "a": {"z": {}, "": []}}"#;
    let data = read(text).unwrap();
    assert_eq!(to_data(&data), Ok(data.clone()));
    let value: Value = serde_json::from_str(&text.replace("18446744073709551616", "7")).unwrap();
    assert_eq!(to_data(&value), Ok(read(&value.to_string()).unwrap()));
}

#[test]
fn a_value_that_is_no_tree_is_refused() {
    let error = to_data(&BTreeMap::from([((), 0)])).unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (JsonErrorKind::Refused, "key must be a string")
    );
    assert_eq!(to_data(&Endless).unwrap_err().kind(), JsonErrorKind::TooLarge);
}

/// If a dependent crate enables the feature `arbitrary_precision` of serde_json, its numbers are stored as text.
#[test]
fn numbers_of_serde_json_are_read() {
    for text in ["18446744073709551615", "1.50", "-7"] {
        let number: serde_json::Number = serde_json::from_str(text).unwrap();
        assert_eq!(to_data(&number), Ok(read(text).unwrap()));
    }
}
