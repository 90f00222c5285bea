//! The classes `ResponseTemplate` and `ResponseParser`.

use chat_template::json::Data;
use chat_template::response::{ParseOptions, ResponseParser, ResponseTemplate};
use self_cell::self_cell;
use serde_json::json;
use wasm_bindgen::prelude::*;

use crate::options::Options;
use crate::template::JsChatTemplate;
use crate::text::{Result, Thrown, read_value, write};

/// A description of what a model writes.
#[wasm_bindgen]
pub struct JsResponseTemplate {
    template: ResponseTemplate,
}

#[wasm_bindgen]
impl JsResponseTemplate {
    /// Compiles a description.
    #[wasm_bindgen(constructor)]
    pub fn new(description: &str, options: &str) -> Result<Self> {
        let template = ResponseTemplate::new_with(&read_value(description)?, Options::read(options)?.bounds())?;
        Ok(Self { template })
    }

    /// Returns the message that a model wrote.
    pub fn parse(&self, text: &str, options: &str) -> Result<String> {
        write(&self.template.parse(text, &parse_options(&Options::read(options)?))?)
    }

    /// Returns a parser that gets the text in parts.
    pub fn stream(&self, options: &str) -> Result<JsResponseParser> {
        let owner = (self.template.clone(), Options::read(options)?);
        let cell = Cell::try_new(owner, |(template, options)| {
            ResponseParser::new(template, &parse_options(options)).map(Some)
        })?;
        Ok(JsResponseParser { cell })
    }
}

#[wasm_bindgen]
impl JsChatTemplate {
    /// Returns the description that the model's files declare.
    pub fn response_template(&self) -> Result<Option<JsResponseTemplate>> {
        let template = self.template.response_template()?.cloned();
        Ok(template.map(|template| JsResponseTemplate { template }))
    }
}

fn parse_options(options: &Options) -> ParseOptions<'_> {
    ParseOptions::default()
        .with_prefix(&options.prefix)
        .with_tools(options.tools.as_ref())
        .with_lenient(options.lenient)
        .with_bounds(options.bounds())
}

type Owner = (ResponseTemplate, Options);
type Parser<'t> = Option<ResponseParser<'t>>;

self_cell! {
    struct Cell {
        owner: Owner,
        #[not_covariant]
        dependent: Parser,
    }
}

/// A parser that gets the text in parts, as a model writes it.
#[wasm_bindgen]
pub struct JsResponseParser {
    cell: Cell,
}

#[wasm_bindgen]
impl JsResponseParser {
    /// Parses the next part of the text, and returns what was found. The first call also returns what was found in the prefix.
    pub fn feed(&mut self, text: &str) -> Result<String> {
        self.cell.with_dependent_mut(|_, parser| {
            let parser = parser.as_mut().ok_or_else(ended)?;
            let mut events = parser.take_first_events();
            events.extend(parser.feed(text)?);
            write(&events)
        })
    }

    /// Returns the message after the last part of the text, and what was found at its end.
    pub fn finish(&mut self) -> Result<String> {
        self.cell.with_dependent_mut(|_, parser| {
            let (message, events) = parser.take().ok_or_else(ended)?.finish()?;
            write(&json!({"message": Data::Object(message), "events": events}))
        })
    }
}

fn ended() -> Thrown {
    Thrown::Argument("the parser has finished".to_owned())
}
