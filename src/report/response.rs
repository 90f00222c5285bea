//! How the model writes its message, as the template prints messages.

use serde::Serialize;
use serde_json::Value;

/// The description of how the model writes a message, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Response {
    /// A description that transformers reads as `response_template`. The messages of the experiments come back by it.
    Template(Value),
    /// Why no description was found.
    Reason(String),
}
