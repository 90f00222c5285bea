//! The templates in the key `chat_template` of a JSON file.
//!
//! ```text
//! {"chat_template": "{{ x }}"}                                       ->   one template
//! {"chat_template": [{"name": "default", "template": "{{ x }}"}]}    ->   one named template
//! {"chat_template": {"default": "{{ x }}", "rag": "{{ y }}"}}        ->   two named templates
//! ```
//!
//! The rule is transformers 5.24.0 `tokenization_utils_base.py` `__init__`: the last of equal names counts, and other keys of an entry are
//! ignored. A template that is not a string is an error at once; the reference fails when a request needs it.

use crate::error::{Error, Result};
use crate::json::{Data, Object};
use crate::value::Value;

use crate::chat::templates::{Compiler, Templates, check_count};

/// Returns the templates of a configuration. `origin` is the path of its file.
pub(super) fn read_templates(config: &Object<'_>, origin: Option<&str>, compiler: &Compiler<'_>) -> Result<Templates> {
    let template = |name: &str, source: &Data<'_>| match source {
        Data::Str(source) => {
            let template = compiler.compile(name, &**source);
            Ok(match origin {
                Some(origin) => template.in_file(origin),
                None => template,
            })
        }
        other => Err(not_text(name, other)),
    };
    match config.get("chat_template") {
        None | Some(Data::None) => Ok(Templates::default()),
        Some(source @ Data::Str(_)) => Ok(Templates::one(template("", source)?)),
        Some(Data::List(entries)) => {
            check_count(entries.len())?;
            let named: Result<Vec<_>> = entries.iter().map(|entry| read_entry(entry, template)).collect();
            Ok(Templates::from_named(named?))
        }
        Some(Data::Object(entries)) => {
            check_count(entries.len())?;
            let named = entries.entries().iter().map(|(name, source)| template(name, source));
            let named: Result<Vec<_>> = named.collect();
            Ok(Templates::from_named(named?))
        }
        Some(other) => Err(not_text("", other)),
    }
}

fn read_entry<T>(entry: &Data<'_>, template: impl Fn(&str, &Data<'_>) -> Result<T>) -> Result<T> {
    match entry {
        Data::Object(entry) => match (entry.get("name"), entry.get("template")) {
            (Some(Data::Str(name)), Some(source)) => template(name, source),
            _ => Err(Error::type_error(
                "an entry of chat_template must have a name, which is a string, and a template",
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
