//! Reads the description of what a model writes from its configuration, and parses the text of a model by it.

use super::ChatTemplate;
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Data, Object};
use crate::meter::Meter;
use crate::response::{ParseOptions, ResponseTemplate};

/// Compiles the description in a `tokenizer_config.json`. An error is kept until the description is used.
pub(super) fn read_response_template(config: &Object<'_>, meter: &Meter<'_>) -> Option<Result<ResponseTemplate>> {
    match config.get("response_template") {
        None | Some(Data::None) => None,
        Some(description) => Some(ResponseTemplate::load(description, &mut meter.renew())),
    }
}

impl ChatTemplate {
    /// Returns the description that the model's `tokenizer_config.json` declares under `response_template`, if it does.
    ///
    /// # Errors
    /// Those of [`ResponseTemplate::new`].
    pub fn response_template(&self) -> Result<Option<&ResponseTemplate>> {
        self.parts
            .response
            .as_ref()
            .map(|response| response.as_ref().map_err(Clone::clone))
            .transpose()
    }

    /// Parses the text of a model to a message, by the description that the model's files declare. [`ParseOptions::prefix`] is the prompt.
    ///
    /// ```
    /// use chat_template::ChatTemplate;
    /// use chat_template::response::ParseOptions;
    ///
    /// let template = ChatTemplate::from_config(&serde_json::json!({
    ///     "chat_template": "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}<|assistant|>",
    ///     "response_template": {
    ///         "start_anchor": "<|assistant|>",
    ///         "defaults": {"role": "assistant"},
    ///         "fields": {"thinking": {"open": "<think>", "close": "</think>"}, "content": {"close": "<|end|>"}},
    ///     },
    /// }))?;
    /// let options = ParseOptions::default().with_prefix("<|user|>Hi<|end|><|assistant|>");
    /// let message = template.parse_response("<think>Greet.</think>Hello!<|end|>", &options)?;
    /// assert_eq!(
    ///     serde_json::to_value(message).unwrap(),
    ///     serde_json::json!({"role": "assistant", "thinking": "Greet.", "content": "Hello!"})
    /// );
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the model declares no description, and those of [`ResponseTemplate::new`] and [`ResponseTemplate::parse`].
    pub fn parse_response(&self, text: &str, options: &ParseOptions<'_>) -> Result<Object<'static>> {
        let template = self.response_template()?.ok_or_else(|| {
            let message = "This tokenizer does not have a `response_template` for parsing chat responses!";
            Error::new(ErrorKind::Attribute, message)
        })?;
        template.parse(text, options)
    }
}
