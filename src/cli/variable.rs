//! The variables of `--var`: how they are read, and which of them no template takes.

use chat_template::conformance::nearest;
use chat_template::json::{self, Data};

/// The options that give what looks like a variable.
const OPTIONS: [(&str, &str); 5] = [
    ("messages", "--messages"),
    ("tools", "--tools"),
    ("documents", "--documents"),
    ("chat_template", "--template or --name"),
    ("continue_final_message", "--continue-final-message"),
];

/// Reads `NAME=JSON`.
pub fn parse(argument: &str) -> Result<(String, Data<'static>), String> {
    let (name, text) = argument.split_once('=').ok_or("it must be NAME=JSON")?;
    if let Some((_, option)) = OPTIONS.iter().find(|(other, _)| *other == name) {
        return Err(format!("{name} is no variable: it comes by {option}"));
    }
    let value = json::read(text, json::DEPTH).map_err(|error| match text {
        "True" | "False" => format!("the value is JSON: write {name}={}", text.to_lowercase()),
        "None" => format!("the value is JSON: write {name}=null"),
        "" => format!("the value is empty: write {name}='\"\"' for an empty text"),
        // A word, which the shell took the quotes from.
        text if text.chars().all(|char| char.is_alphanumeric() || " _-./".contains(char)) => {
            format!("the value is not JSON, where text has quotes: write {name}='\"{text}\"'")
        }
        text => {
            let excerpt = error.excerpt(text).unwrap_or_default();
            format!("the value is not JSON: {error}\n{excerpt}")
        }
    })?;
    Ok((name.to_owned(), value.into_owned()))
}

/// Returns a warning for each variable that is not among the names that the templates take.
pub fn warnings(variables: &[(String, Data<'_>)], read: &[&str]) -> Vec<String> {
    let unread = variables.iter().filter(|(name, _)| !read.contains(&name.as_str()));
    let warning = |(name, _): &(String, _)| {
        let meant = match nearest(name, read) {
            Some(nearest) => format!("; did you mean {nearest}?"),
            None => String::new(),
        };
        format!("warning: the template takes no variable {name}{meant}")
    };
    unread.map(warning).collect()
}

#[cfg(test)]
mod tests {
    use super::{Data, parse, warnings};

    #[test]
    fn a_variable_is_a_name_and_json() {
        assert_eq!(parse("a=false"), Ok(("a".to_owned(), Data::Bool(false))));
        assert_eq!(parse("a=\"x=y\""), Ok(("a".to_owned(), Data::Str("x=y".into()))));
        for (argument, message) in [
            ("a", "it must be NAME=JSON"),
            ("a=", "the value is empty: write a='\"\"' for an empty text"),
            ("a=False", "the value is JSON: write a=false"),
            ("a=None", "the value is JSON: write a=null"),
            ("a=high", "the value is not JSON, where text has quotes: write a='\"high\"'"),
            (
                "a=[1,",
                "the value is not JSON: Expecting value: line 1 column 4 (char 3)\n1 | [1,\n  |    ^",
            ),
            ("messages=[]", "messages is no variable: it comes by --messages"),
        ] {
            assert_eq!(parse(argument), Err(message.to_owned()), "{argument}");
        }
    }

    #[test]
    fn a_name_that_is_not_read_gives_a_warning() {
        let variables = ["enable_thinkng", "bos_token", "q"].map(|name| (name.to_owned(), Data::None));
        assert_eq!(
            warnings(&variables, &["messages", "bos_token", "enable_thinking"]),
            [
                "warning: the template takes no variable enable_thinkng; did you mean enable_thinking?",
                "warning: the template takes no variable q"
            ]
        );
    }
}
