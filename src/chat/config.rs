//! The templates that a JSON file of a model holds.
//!
//! ```text
//! {"chat_template": "{{ x }}"}                                       ->   one template
//! {"chat_template": [{"name": "default", "template": "{{ x }}"}]}    ->   a named one
//! {"chat_template": {"default": "{{ x }}", "rag": "{{ y }}"}}        ->   two named ones
//! ```
//!
//! The rule is transformers 5.23.0 `tokenization_utils_base.py` `__init__`: of equal names in a list the last one counts, and other keys
//! of an entry are ignored. Where a template is no text the reference fails once it is asked for; that is an error here at once.
//! Files and special tokens are not known here.

use crate::error::{Error, Result};
use crate::json::{Data, Object};
use crate::limits::{Limit, Reached};
use crate::value::Value;

use super::templates::{NamedTemplate, Templates};

/// How many templates a model may have by name. The most that is known is five.
const MAX_TEMPLATES: usize = 1000;

/// What the key `chat_template` of a configuration holds; `origin` is the file it was read from.
pub(super) fn templates(config: &Object<'_>, origin: Option<&str>) -> Result<Templates> {
    let template = |name: &str, source: &Data<'_>| match source {
        Data::Str(source) => {
            let template = NamedTemplate::new(name, &**source);
            Ok(match origin {
                Some(origin) => template.in_file(origin),
                None => template,
            })
        }
        other => Err(not_text(name, other)),
    };
    match config.get("chat_template") {
        None | Some(Data::None) => Ok(Templates::None),
        Some(source @ Data::Str(_)) => Ok(Templates::One(template("", source)?)),
        Some(Data::List(entries)) => {
            check_count(entries.len())?;
            let named: Result<Vec<_>> = entries.iter().map(|entry| named(entry, template)).collect();
            Ok(Templates::named(named?))
        }
        Some(Data::Object(entries)) => {
            check_count(entries.len())?;
            let named: Result<Vec<_>> = entries
                .entries()
                .iter()
                .map(|(name, source)| template(name, source))
                .collect();
            Ok(Templates::named(named?))
        }
        Some(other) => Err(not_text("", other)),
    }
}

/// Each is compiled, and takes some kilobytes.
fn check_count(templates: usize) -> Result<()> {
    match templates > MAX_TEMPLATES {
        true => Err(Error::limit(Reached::from_sizes(Limit::Templates, templates, MAX_TEMPLATES))),
        false => Ok(()),
    }
}

fn named<T>(entry: &Data<'_>, template: impl Fn(&str, &Data<'_>) -> Result<T>) -> Result<T> {
    match entry {
        Data::Object(entry) => match (entry.get("name"), entry.get("template")) {
            (Some(Data::Str(name)), Some(source)) => template(name, source),
            _ => Err(Error::type_error(
                "an entry of chat_template has no name, which is a string, or no template",
            )),
        },
        other => {
            let name = Value::from(other).ty().name();
            Err(Error::type_error(format!(
                "an entry of chat_template is of type {name}, and must be an object"
            )))
        }
    }
}

fn not_text(name: &str, found: &Data<'_>) -> Error {
    let found = Value::from(found).ty().name();
    Error::type_error(match name {
        "" => format!("chat_template is of type {found}, and must be a string, a list or an object"),
        name => format!("the chat template named {name} is of type {found}, and must be a string"),
    })
}

#[cfg(test)]
mod tests {
    use super::templates;
    use crate::json;
    use crate::json::Data;

    fn names(config: &str) -> Option<Vec<String>> {
        let Ok(Data::Object(config)) = json::read(config, json::DEPTH) else {
            return None;
        };
        let templates = templates(&config, None).ok()?;
        Some(templates.all().iter().map(|template| template.name.clone()).collect())
    }

    #[test]
    fn each_form_gives_its_names() {
        assert_eq!(names("{}"), Some(Vec::new()));
        assert_eq!(names(r#"{"chat_template": null}"#), Some(Vec::new()));
        assert_eq!(names(r#"{"chat_template": "x"}"#), Some(vec![String::new()]));
        let list = r#"{"chat_template": [{"name": "a", "template": "1"}, {"name": "b", "template": "2"}, {"name": "a", "template": "3"}]}"#;
        assert_eq!(names(list), Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(
            names(r#"{"chat_template": {"default": "x"}}"#),
            Some(vec!["default".to_owned()])
        );
    }

    #[test]
    fn what_is_no_text_is_an_error() {
        for config in ["1", "[1]", r#"[{"name": "a"}]"#, r#"[{"template": "a"}]"#, r#"{"a": null}"#] {
            assert_eq!(names(&format!(r#"{{"chat_template": {config}}}"#)), None, "{config}");
        }
    }
}
