//! Requests of the conformance protocol with the key `response`.
//!
//! ```text
//! {"template": {"start_anchor": "<|assistant|>", "fields": {"content": {}}}, "prefix": "", "text": "Hello", "tools": [], "lenient": true}
//! ```

use chat_template::json::{Data, Object};
use chat_template::response::{ParseOptions, ResponseTemplate};
use chat_template::{Bounds, Error};

/// A message, and what of the text is unread.
pub struct Parsed {
    pub message: Data<'static>,
    pub unread: Option<Data<'static>>,
}

impl Parsed {
    fn new(message: Object<'static>, lenient: bool) -> Self {
        let (unread, message): (Vec<_>, Vec<_>) = message
            .into_entries()
            .into_iter()
            .partition(|(key, value)| lenient && key == "unread" && matches!(value, Data::List(_)));
        let unread = unread.into_iter().map(|(_, places)| places).next();
        Self {
            message: Data::Object(Object::new(message)),
            unread: lenient.then(|| unread.unwrap_or_else(|| Data::List(Vec::new()))),
        }
    }
}

/// Answers requests with `response`. The last description stays compiled.
#[derive(Default)]
pub struct Responder {
    compiled: Option<(Data<'static>, Result<ResponseTemplate, Error>)>,
}

impl Responder {
    /// Parses a text, and returns the message and what of the text is unread if the request is lenient. The outer error is about the form of
    /// the request, and the inner error is that of the description or the text.
    pub fn parse(&mut self, request: &Object<'_>, bounds: Bounds<'_>) -> Result<Result<Parsed, Error>, String> {
        let Some(description) = request.get("template") else {
            return Err("`response` must have `template`".to_owned());
        };
        let text = |key: &str| match request.get(key) {
            Some(Data::Str(text)) => Ok(&**text),
            Some(other) => Err(format!("`{key}` must be a string, and this is {}", other.describe())),
            None => Err(format!("`response` must have `{key}`")),
        };
        let (prefix, text) = (text("prefix")?, text("text")?);
        let tools = request.get("tools").map(serde_json::to_value).transpose();
        let tools = tools.map_err(|error| format!("`tools`: {error}"))?;
        let compiled = match self.compiled.take().filter(|(other, _)| other == description) {
            Some(compiled) => self.compiled.insert(compiled),
            None => {
                let template = serde_json::to_value(description).map_err(|error| format!("`template`: {error}"))?;
                let template = match ResponseTemplate::new_with(&template, bounds) {
                    Err(error) if error.reached().is_some() => return Ok(Err(error)),
                    template => template,
                };
                self.compiled.insert((description.clone().into_owned(), template))
            }
        };
        let lenient = match request.get("lenient") {
            None => false,
            Some(Data::Bool(lenient)) => *lenient,
            Some(other) => return Err(format!("`lenient` must be a bool, and this is {}", other.describe())),
        };
        let options = ParseOptions::default()
            .with_lenient(lenient)
            .with_prefix(prefix)
            .with_tools(tools.as_ref())
            .with_bounds(bounds);
        Ok(match compiled {
            (_, Ok(template)) => template.parse(text, &options).map(|message| Parsed::new(message, lenient)),
            (_, Err(error)) => Err(error.clone()),
        })
    }
}
