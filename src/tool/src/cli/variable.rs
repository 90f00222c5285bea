//! Parses the variables of `--var`, and warns of those that no template reads.

use crate::conformance::nearest;
use chat_template::json::{self, Data};

/// The names that are not variables, and the options that set them.
const OPTIONS: [(&str, &str); 5] = [
    ("messages", "--messages"),
    ("tools", "--tools"),
    ("documents", "--documents"),
    ("chat_template", "--template or --name"),
    ("continue_final_message", "--continue-final-message"),
];

/// Parses `NAME=JSON`.
pub fn parse(argument: &str) -> Result<(String, Data<'static>), String> {
    let (name, text) = argument
        .split_once('=')
        .ok_or("expected NAME=JSON, such as enable_thinking=false")?;
    if name.is_empty() {
        return Err("there is no name before the =".to_owned());
    }
    if let Some((_, option)) = OPTIONS.iter().find(|(other, _)| *other == name) {
        return Err(format!("{name} is not a variable; use the option {option}"));
    }
    let value = json::read(text).map_err(|error| match text {
        "True" | "False" => format!("the value must be JSON; write {name}={}", text.to_lowercase()),
        "None" => format!("the value must be JSON; write {name}=null"),
        "" => format!("the value is empty; write {name}='\"\"' for an empty string"),
        // The shell removes the quotes of a string.
        text if text.chars().all(|char| char.is_alphanumeric() || " _-./".contains(char)) => {
            format!("a string in JSON has quotes; write {name}='\"{text}\"'")
        }
        text => {
            let excerpt = error.excerpt(text).unwrap_or_default();
            format!("the value is not JSON: {error}\n{excerpt}")
        }
    })?;
    Ok((name.to_owned(), value.into_owned()))
}

/// Returns a warning for each variable that is not among the names that the templates read.
pub fn warn_of_unread(variables: &[(String, Data<'_>)], read: &[&str]) -> Vec<String> {
    let unread = variables.iter().filter(|(name, _)| !read.contains(&name.as_str()));
    let warning = |(name, _): &(String, _)| {
        let meant = match nearest(name, read) {
            Some(nearest) => format!("; did you mean {nearest}?"),
            None => String::new(),
        };
        format!("warning: the template does not read the variable {name}{meant}")
    };
    unread.map(warning).collect()
}

#[cfg(test)]
mod tests {
    use super::{Data, parse, warn_of_unread};

    #[test]
    fn a_variable_is_a_name_and_json() {
        assert_eq!(parse("a=false"), Ok(("a".to_owned(), Data::Bool(false))));
        assert_eq!(parse("a=\"x=y\""), Ok(("a".to_owned(), Data::Str("x=y".into()))));
        for (argument, message) in [
            ("a", "expected NAME=JSON, such as enable_thinking=false"),
            ("=1", "there is no name before the ="),
            ("a=", "the value is empty; write a='\"\"' for an empty string"),
            ("a=False", "the value must be JSON; write a=false"),
            ("a=None", "the value must be JSON; write a=null"),
            ("a=high", "a string in JSON has quotes; write a='\"high\"'"),
            (
                "a=[1,",
                "the value is not JSON: Expecting value: line 1 column 4 (char 3)\n1 | [1,\n  |    ^",
            ),
            ("messages=[]", "messages is not a variable; use the option --messages"),
        ] {
            assert_eq!(parse(argument), Err(message.to_owned()), "{argument}");
        }
    }

    #[test]
    fn there_is_a_warning_for_a_name_that_is_not_read() {
        let variables = ["enable_thinkng", "bos_token", "q"].map(|name| (name.to_owned(), Data::None));
        assert_eq!(
            warn_of_unread(&variables, &["messages", "bos_token", "enable_thinking"]),
            [
                "warning: the template does not read the variable enable_thinkng; did you mean enable_thinking?",
                "warning: the template does not read the variable q"
            ]
        );
    }
}
