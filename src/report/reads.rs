//! The names that the source of a template reads.

use serde::Serialize;

/// The names that the source of a template reads. A read that no render reaches is listed too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reads {
    /// The variables of the context.
    pub variables: Vec<Read>,
    /// The fields of messages: `content`.
    pub messages: Vec<Read>,
    /// The fields of calls of tools: `function.name`.
    pub calls: Vec<Read>,
    /// The fields of tools: `function.parameters`.
    pub tools: Vec<Read>,
    /// The function that reads the clock, `strftime_now`.
    pub clock: Vec<Read>,
}

/// A name with the line that reads it first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Read {
    /// The name of the variable, or the path of the field.
    pub name: String,
    /// The line, from 1.
    pub line: usize,
    /// The name of the template, or its beginning if it is long, if the model has several.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub template: String,
}
