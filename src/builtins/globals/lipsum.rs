//! The global function `lipsum`: paragraphs of words by chance, other ones in each render.
//!
//! ```text
//! {{ lipsum(n=1, html=false, min=3, max=4) }}    Dictum mauris sem.
//! ```
//!
//! After jinja2 3.1.6 `utils.py`, `generate_lorem_ipsum`, and CPython 3.11 `random.py`, `randrange`, from which its complaints are.

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};

use crate::error::{Error, Result};
use crate::unicode::capitalize;
use crate::value::{Arguments, Parameter, Runtime, Value, not_an_index};

/// The parameters.
pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::optional("n"),
    Parameter::optional("html"),
    Parameter::optional("min"),
    Parameter::optional("max"),
];

/// `lipsum(n=5, html=True, min=20, max=100)`
pub(super) fn lipsum<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let count = arguments.take(0).unwrap_or(Value::Int(5));
    let is_html = arguments.take(1).unwrap_or(Value::Bool(true));
    let least = arguments.take(2).unwrap_or(Value::Int(20));
    let bound = arguments.take(3).unwrap_or(Value::Int(100));
    let count = count.clamped_index().ok_or_else(|| not_an_index(&count))?;
    let mut paragraphs = Vec::new();
    for _ in 0..count {
        let words = words_between(runtime, &least, &bound)?;
        let paragraph = paragraph(runtime, words)?;
        runtime
            .meter
            .check_size(paragraphs.len().saturating_mul(size_of::<String>()))?;
        paragraphs.push(paragraph);
    }
    let is_html = runtime.truth(&is_html)?;
    let text = if is_html {
        let paragraphs: Vec<String> = paragraphs.iter().map(|text| format!("<p>{text}</p>")).collect();
        paragraphs.join("\n")
    } else {
        paragraphs.join("\n\n")
    };
    runtime.meter.charge_bytes(text.len())?;
    Ok(Value::Str(runtime.text(text)?.with_markup(is_html)))
}

/// `randrange(least, bound)`, brought into 64 bits: no text has more words.
fn words_between<'a>(runtime: &mut Runtime<'a>, least: &Value<'a>, bound: &Value<'a>) -> Result<i64> {
    let start = integer(runtime, least, "arg 1")?;
    let (first, width) = match bound {
        Value::None if start.is_positive() => (BigInt::ZERO, start),
        Value::None => return Err(Error::value("empty range for randrange()")),
        bound => {
            let stop = integer(runtime, bound, "stop")?;
            let width = stop.checked_sub(&start).unwrap_or_default();
            if !width.is_positive() {
                return Err(Error::value(format!(
                    "empty range for randrange() ({start}, {stop}, {width})"
                )));
            }
            (start, width)
        }
    };
    let further = BigInt::from(runtime.chance(width.to_u64().unwrap_or(u64::MAX)));
    let chosen = first.checked_add(&further).unwrap_or_default();
    let end = if chosen.is_negative() { 0 } else { i64::MAX };
    Ok(chosen.to_i64().unwrap_or(end))
}

/// An argument of `randrange`, which takes a float where that is whole.
fn integer<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, which: &str) -> Result<BigInt> {
    runtime.charge_numbers(value, value)?;
    let int = runtime.int(value)?;
    let whole = Value::from(int.clone());
    match runtime.equal(&whole, value)? {
        true => Ok(int.as_ref().to_big().into_owned()),
        false => Err(Error::value(format!("non-integer {which} for randrange()"))),
    }
}

/// So many words, of which no two neighbours are the same, with commas and full stops.
fn paragraph(runtime: &mut Runtime<'_>, words: i64) -> Result<String> {
    let all: Vec<&str> = WORDS.split_whitespace().collect();
    let between = |runtime: &mut Runtime<'_>, start: i64, stop: u64| {
        let chosen = runtime.chance(stop.saturating_sub(start.unsigned_abs()));
        start.saturating_add(i64::try_from(chosen).unwrap_or(0))
    };
    let mut text = String::new();
    let mut last = None;
    let (mut last_comma, mut last_stop, mut begins) = (0, 0, true);
    for index in 0..words {
        runtime.meter.charge(2)?;
        runtime.meter.check_size(text.len())?;
        let word = loop {
            let word = usize::try_from(runtime.chance(all.len() as u64)).unwrap_or(0);
            if last != Some(word) {
                break word;
            }
        };
        last = Some(word);
        let word = all.get(word).copied().unwrap_or_default();
        if index > 0 {
            text.push(' ');
        }
        match begins {
            true => text.push_str(&capitalize(word)),
            false => text.push_str(word),
        }
        begins = false;
        if index.saturating_sub(between(runtime, 3, 8)) > last_comma {
            last_comma = index;
            last_stop = i64::saturating_add(last_stop, 2);
            text.push(',');
        }
        if index.saturating_sub(between(runtime, 10, 20)) > last_stop {
            (last_comma, last_stop) = (index, index);
            text.push('.');
            begins = true;
        }
    }
    if text.ends_with(',') {
        text.pop();
    }
    if !text.ends_with('.') {
        text.push('.');
    }
    Ok(text)
}

/// The words of jinja2 3.1.6 `constants.py`.
const WORDS: &str = "
a ac accumsan ad adipiscing aenean aliquam aliquet amet ante aptent arcu at auctor augue bibendum blandit class commodo
condimentum congue consectetuer consequat conubia convallis cras cubilia cum curabitur curae cursus dapibus diam dictum dictumst
dignissim dis dolor donec dui duis egestas eget eleifend elementum elit enim erat eros est et etiam eu euismod facilisi facilisis
fames faucibus felis fermentum feugiat fringilla fusce gravida habitant habitasse hac hendrerit hymenaeos iaculis id imperdiet in
inceptos integer interdum ipsum justo lacinia lacus laoreet lectus leo libero ligula litora lobortis lorem luctus maecenas magna
magnis malesuada massa mattis mauris metus mi molestie mollis montes morbi mus nam nascetur natoque nec neque netus nibh nisi nisl
non nonummy nostra nulla nullam nunc odio orci ornare parturient pede pellentesque penatibus per pharetra phasellus placerat
platea porta porttitor posuere potenti praesent pretium primis proin pulvinar purus quam quis quisque rhoncus ridiculus risus
rutrum sagittis sapien scelerisque sed sem semper senectus sit sociis sociosqu sodales sollicitudin suscipit suspendisse taciti
tellus tempor tempus tincidunt torquent tortor tristique turpis ullamcorper ultrices ultricies urna ut varius vehicula vel velit
venenatis vestibulum vitae vivamus viverra volutpat vulputate
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;
    use crate::limits::Limits;

    #[test]
    fn paragraphs_are_of_sentences() {
        let mut runtime = Runtime::new(Limits::default(), &SystemClock);
        let texts: Vec<String> = (0..50).map(|_| paragraph(&mut runtime, 60).unwrap()).collect();
        for text in &texts {
            let words: Vec<&str> = text.split(' ').collect();
            assert_eq!(words.len(), 60);
            assert!(text.starts_with(|first: char| first.is_ascii_uppercase()) && text.ends_with('.'));
            let plain: Vec<String> = words
                .iter()
                .map(|word| word.trim_matches(['.', ',']).to_lowercase())
                .collect();
            assert!(plain.iter().all(|word| WORDS.split_whitespace().any(|known| known == word)));
            assert!(plain.windows(2).all(|pair| pair.first() != pair.last()));
            for pair in words.windows(2) {
                let [before, after] = pair else { continue };
                assert_eq!(
                    before.ends_with('.'),
                    after.starts_with(|first: char| first.is_ascii_uppercase()),
                    "{text}"
                );
            }
        }
        assert!(texts.iter().any(|text| text.contains(',')) && texts.windows(2).any(|pair| pair.first() != pair.last()));
        assert_eq!(paragraph(&mut runtime, -1).unwrap(), ".");
    }
}
