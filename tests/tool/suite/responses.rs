//! The cases of the area `response`: a text is parsed as a whole and in parts of one, two and seven characters, with the same result.

use chat_template::json::{Data, Object};
use chat_template::response::{ParseOptions, ResponseParser, ResponseTemplate};
use chat_template::{Error, Result};
use chat_template_cli::conformance::{Answer, Case, Failure, Reply};

/// The numbers of characters of a part.
const PARTS: [usize; 3] = [1, 2, 7];

/// Parses the text of a case.
pub fn reply(case: &Case, response: &Object<'_>) -> Reply {
    let value = |key: &str| {
        response
            .get(key)
            .map_or(serde_json::Value::Null, |value| serde_json::to_value(value).unwrap())
    };
    let (description, prefix, text, tools) = (value("template"), value("prefix"), value("text"), value("tools"));
    let (prefix, text) = (prefix.as_str().unwrap(), text.as_str().unwrap());
    let parse = |part: usize| -> Result<Object<'static>> {
        let template = ResponseTemplate::new(&description)?;
        let options = ParseOptions::default().with_prefix(prefix).with_tools(&tools);
        if part == 0 {
            return template.parse(text, &options);
        }
        let mut parser = ResponseParser::new(&template, &options)?;
        let chars: Vec<char> = text.chars().collect();
        for part in chars.chunks(part) {
            parser.feed(&part.iter().collect::<String>())?;
        }
        parser.finish().map(|(message, _)| message)
    };
    let whole = answer(parse(0));
    for part in PARTS {
        assert_eq!(whole, answer(parse(part)), "{}: in parts of {part}", case.id);
    }
    Reply::Answer(whole)
}

fn answer(parsed: Result<Object<'static>, Error>) -> Answer {
    match parsed {
        Ok(message) => {
            let mut text = String::new();
            chat_template::internal::write_data(&Data::Object(message), &mut text).expect("a string takes the JSON");
            Answer::Output {
                text,
                generation: None,
                segments: None,
            }
        }
        Err(error) => Answer::Error(Failure {
            kind: error.kind().name().to_owned(),
            message: error.message().to_owned(),
            line: Some(error.line().map(u64::from)),
        }),
    }
}
