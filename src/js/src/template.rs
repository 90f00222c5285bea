//! The classes `ChatTemplate` and `Template`.

use chat_template::json::Data;
use chat_template::request::Change;
use chat_template::{Append, ChatTemplate, ControlToken, Prompt, Template};
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

use crate::options::{Options, borrow, list_strings};
use crate::text::{Result, Thrown, read, read_value, write};

/// The compiled chat templates of a model with its special tokens.
#[wasm_bindgen]
pub struct JsChatTemplate {
    pub(crate) template: ChatTemplate,
}

#[wasm_bindgen]
impl JsChatTemplate {
    /// Makes a template from its source, or from an object of named sources.
    pub fn from_sources(source: Option<String>, named: &str, tokens: &str, options: &str) -> Result<Self> {
        let (named, tokens, options) = (read_value(named)?, read_value(tokens)?, Options::read(options)?);
        let (named, tokens) = (list_strings(&named)?, list_strings(&tokens)?);
        let template = match source {
            Some(source) => ChatTemplate::from_source_with(source, &tokens, options.bounds())?,
            None => ChatTemplate::from_named_with(&named, &tokens, options.bounds())?,
        };
        Ok(Self { template })
    }

    /// Loads a `tokenizer_config.json`.
    pub fn from_config(config: &str, options: &str) -> Result<Self> {
        let template = ChatTemplate::from_config_with(&read_value(config)?, Options::read(options)?.bounds())?;
        Ok(Self { template })
    }

    /// Loads the metadata at the start of a GGUF file.
    pub fn from_gguf(bytes: &[u8], options: &str) -> Result<Self> {
        let template = ChatTemplate::from_gguf_bytes(bytes, Options::read(options)?.bounds())?;
        Ok(Self { template })
    }

    /// Returns the prompt of a conversation.
    pub fn apply(&self, messages: &str, tools: &str, documents: &str, variables: &str, options: &str) -> Result<String> {
        let prompt = self.prompt(messages, [tools, documents, variables], &Options::read(options)?)?;
        Ok(prompt.text)
    }

    /// Returns the prompt of a conversation with its spans.
    pub fn render(&self, messages: &str, tools: &str, documents: &str, variables: &str, options: &str) -> Result<String> {
        let options = Options::read(options)?;
        let prompt = self.prompt(messages, [tools, documents, variables], &options)?;
        write_prompt(&prompt, &self.template, None, &options)
    }

    /// Returns the text to append after what the model has seen and written.
    pub fn append(&self, messages: &str, tools: &str, documents: &str, variables: &str, options: &str) -> Result<String> {
        let (messages, own) = (read(messages)?.unwrap_or(Data::None), Options::read(options)?);
        let append = own.with_arguments([tools, documents, variables], |options| {
            self.template.append(&messages, &own.seen, own.sampled.as_deref(), options)
        })?;
        write_append(&append, None)
    }

    /// Returns the sources, the tokens and the variables.
    pub fn describe(&self) -> Result<String> {
        let template = &self.template;
        let sources = template.names().into_iter().map(|name| (name, template.named_source(name)));
        write(&json!({
            "source": template.source(),
            "sources": sources.collect::<Vec<_>>(),
            "special_tokens": template.special_tokens(),
            "control_tokens": template.control_tokens(),
            "variables": template.variables(),
            "has_generation": template.has_generation(),
        }))
    }

    /// Throws the error of the first template that does not compile.
    pub fn check(&self) -> Result<()> {
        Ok(self.template.check()?)
    }

    /// Returns the strings at which a server stops the model, each with its sources.
    pub fn stop_tokens(&self) -> Result<String> {
        write(&self.template.stop_tokens()?)
    }
}

impl JsChatTemplate {
    fn prompt(&self, messages: &str, values: [&str; 3], options: &Options) -> Result<Prompt> {
        let messages = read(messages)?.unwrap_or(Data::None);
        options.with_arguments(values, |options| self.template.apply(&messages, options))
    }
}

/// Writes a prompt as the command `render --json` does, with the control tokens if it is traced, and the changes of its request.
pub fn write_prompt(prompt: &Prompt, template: &ChatTemplate, changes: Option<&[Change]>, options: &Options) -> Result<String> {
    let mut tokens = borrow(&options.control_tokens.tokens);
    tokens.extend(template.control_tokens());
    let found = options.trace.then(|| prompt.control_tokens(&tokens, options.bounds()));
    let mut written = json!(prompt);
    written["control_tokens"] = found.transpose()?.as_deref().map(list_tokens).into();
    written["untrusted"] = list_tokens(&prompt.untrusted).into();
    written["changes"] = json!(changes);
    write(&written)
}

/// Returns control tokens with their places in code points.
fn list_tokens(tokens: &[ControlToken]) -> Vec<Value> {
    let write = |token: &ControlToken| {
        let (place, origin) = (&token.code_points, token.origin.name());
        json!({"start": place.start, "end": place.end, "origin": origin, "path": token.path.as_deref(), "message": token.message})
    };
    tokens.iter().map(write).collect()
}

/// Writes the piece to append, or why there is none.
pub fn write_append(append: &Append, changes: Option<&[Change]>) -> Result<String> {
    let (piece, broken) = match append {
        Append::Piece(piece) => (Some(piece.text()), None),
        Append::Broken(broken) => (None, Some((broken, broken.to_string(), &*broken.prompt.text))),
    };
    write(&json!({"piece": piece, "broken": broken, "changes": changes}))
}

/// Jinja with the extensions of transformers, without the contract of `apply_chat_template`.
#[wasm_bindgen]
pub struct JsTemplate {
    template: Template,
}

#[wasm_bindgen]
impl JsTemplate {
    /// Compiles a source.
    #[wasm_bindgen(constructor)]
    pub fn new(source: &str, options: &str) -> Result<Self> {
        let template = Template::compile_with(source, Options::read(options)?.bounds())?;
        Ok(Self { template })
    }

    /// Renders with a context, an object, and returns the output in the shape of a prompt.
    pub fn render(&self, context: &str, options: &str) -> Result<String> {
        let context = read(context)?.ok_or_else(|| Thrown::Argument("the context must be an object".to_owned()))?;
        let output = Options::read(options)?.with_prompt(|options| self.template.render(&context, &options.render))?;
        write(&json!({
            "text": output.text,
            "reference_spans": output.reference_spans,
            "generation_spans": output.generation_spans,
            "segments": output.segments(),
            "steps": output.steps,
        }))
    }
}
