//! JSON text: arguments, results and errors.

use chat_template::Error;
use chat_template::json::{self, Data};
use serde::Serialize;
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    type TypeError;

    #[wasm_bindgen(constructor)]
    fn new(message: &str) -> TypeError;
}

/// The result of a function of the package.
pub type Result<T> = std::result::Result<T, Thrown>;

/// What a function throws.
pub enum Thrown {
    /// An error of the library. It is thrown as JSON text, of which `lib/classes.js` makes a `TemplateError`.
    Library(Box<Error>),
    /// What is wrong with the type of an argument.
    Argument(String),
}

impl<E: Into<Error>> From<E> for Thrown {
    fn from(error: E) -> Self {
        Self::Library(Box::new(error.into()))
    }
}

impl From<Thrown> for JsValue {
    fn from(thrown: Thrown) -> Self {
        match thrown {
            Thrown::Library(error) => json!({"fields": *error, "rendered": error.to_string()}).to_string().into(),
            Thrown::Argument(message) => TypeError::new(&message).into(),
        }
    }
}

/// Reads an argument. `None` if it is missing or null.
pub fn read(text: &str) -> Result<Option<Data<'_>>> {
    if text.is_empty() {
        return Ok(None);
    }
    Ok(Some(json::read(text)?).filter(|value| !matches!(value, Data::None)))
}

/// Reads an argument as a value of `serde_json`.
pub fn read_value(text: &str) -> Result<Value> {
    serde_json::to_value(read(text)?).map_err(|error| Thrown::Argument(error.to_string()))
}

/// Writes a result.
pub fn write<T: Serialize + ?Sized>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::internal(error.to_string()).into())
}
