//! The options of a grammar, and the grammar.

use serde::Serialize;
use serde_json::Value;

use crate::deadline::Bounds;
use crate::request::ToolChoice;
use crate::response::ResponseTemplate;
use crate::setters::setters;

/// The notation of a grammar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum GrammarFormat {
    /// GBNF, of llama.cpp.
    #[default]
    Gbnf,
    /// Lark, of llguidance. The special tokens of the model are written by their names.
    Lark,
    /// A structural tag of xgrammar, as JSON.
    StructuralTag,
}

impl GrammarFormat {
    /// The names of the notations, as requests give them.
    pub const NAMES: [(&'static str, Self); 3] = [
        ("gbnf", Self::Gbnf),
        ("lark", Self::Lark),
        ("structural_tag", Self::StructuralTag),
    ];

    /// Returns the notation with a name.
    pub fn find(name: &str) -> Option<Self> {
        Self::NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, format)| *format)
    }
}

/// What a model may write, and in which notation the grammar is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct GrammarOptions<'o> {
    /// The notation.
    pub format: GrammarFormat,
    /// The tools as they are passed to the template: a list.
    pub tools: Option<&'o Value>,
    /// Which tools the model may call.
    pub tool_choice: ToolChoice<'o>,
    /// Whether a message may have several calls, if the template can write several.
    pub parallel_calls: bool,
    /// The JSON schema of the answer.
    pub json_schema: Option<&'o Value>,
    /// Whether the model may reason before its call or answer. If the prompt has already begun the reasoning, the model always continues it.
    pub reasoning: bool,
    /// The variables of the request, such as `enable_thinking`: an object.
    pub variables: Option<&'o Value>,
    /// How the model writes a message. Without it, the description that the model's files declare. The calls that the grammar lets through
    /// are read by it.
    pub description: Option<&'o ResponseTemplate>,
    /// The limits, the deadline and the flag that cancels.
    pub bounds: Bounds<'o>,
}

impl Default for GrammarOptions<'_> {
    fn default() -> Self {
        Self {
            format: GrammarFormat::Gbnf,
            tools: None,
            tool_choice: ToolChoice::Auto,
            parallel_calls: true,
            json_schema: None,
            reasoning: true,
            variables: None,
            description: None,
            bounds: Bounds::default(),
        }
    }
}

setters! { GrammarOptions<'o>:
    with_format(GrammarFormat) = @format;
    with_tools(impl Into<Option<&'o Value>>) = @tools;
    with_tool_choice(ToolChoice<'o>) = @tool_choice;
    with_parallel_calls(bool) = @parallel_calls;
    with_json_schema(impl Into<Option<&'o Value>>) = @json_schema;
    with_reasoning(bool) = @reasoning;
    with_variables(impl Into<Option<&'o Value>>) = @variables;
    with_description(impl Into<Option<&'o ResponseTemplate>>) = @description;
    with_bounds(impl Into<Bounds<'o>>) = @bounds;
}

/// A grammar of what a model may write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Grammar {
    /// The grammar. The stop tokens are no part of it.
    pub text: String,
    /// The strings that begin a call in text that is free. A grammar in GBNF is for what begins with one of them; the others are for the
    /// whole message. Without triggers, each grammar is for the whole message.
    pub triggers: Vec<String>,
    /// The keywords that the grammar does not enforce, each after the JSON pointer of its schema. A pointer begins with `/tools` or
    /// `/json_schema`; of a request, it is that in the body.
    pub lost: Vec<(String, String)>,
}
