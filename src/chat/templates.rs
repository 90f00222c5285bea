//! The templates of a model, and which of them a request means.
//!
//! ```text
//! {default, tool_use}, no argument, tools given   ->   tool_use
//! {default, tool_use}, "default"                  ->   default
//! {default, tool_use}, "{{ messages }}"           ->   the argument itself
//! ```
//!
//! The rule is transformers 5.23.0 `tokenization_utils_base.py`, `get_chat_template`. Where templates come from is not known here.

use std::collections::HashMap;

use super::refused;
use crate::error::{Error, ErrorKind, Result};
use crate::template::Template;
use crate::text::quote;

/// What a model has.
#[derive(Clone, Debug)]
pub(crate) enum Templates {
    /// Nothing: only an argument can be rendered.
    None,
    /// A template without a name.
    One(NamedTemplate),
    /// Templates by name, in order, no name twice.
    Named(Vec<NamedTemplate>),
}

/// A template with its name, the empty one for a single template, and the file that it was read from.
#[derive(Clone, Debug)]
pub(crate) struct NamedTemplate {
    /// The name, empty for a single template.
    pub name: String,
    /// The text, as it was given.
    pub source: String,
    /// The file, for errors.
    pub origin: Option<String>,
    /// The compiled template; what went wrong is raised when a request comes to it.
    compiled: std::sync::Arc<Result<Template>>,
}

impl NamedTemplate {
    /// Compiles a template.
    pub fn new(name: impl Into<String>, source: impl Into<String>) -> Self {
        let source = source.into();
        Self {
            name: name.into(),
            compiled: std::sync::Arc::new(Template::compile(&source)),
            source,
            origin: None,
        }
    }

    /// The same template, read from a file.
    pub fn in_file(mut self, origin: impl Into<String>) -> Self {
        self.origin = Some(origin.into());
        self
    }

    /// The compiled template, or why it does not compile.
    pub fn compiled(&self) -> Result<&Template> {
        self.compiled.as_ref().as_ref().map_err(|error| self.name_in(error.clone()))
    }

    /// What an error calls the template.
    pub fn name_in(&self, error: Error) -> Error {
        match (&self.origin, self.name.as_str()) {
            (None, "") => error,
            (Some(origin), "") => error.in_template(origin),
            (None, name) => error.in_template(&quote::repr(name)),
            (Some(origin), name) => error.in_template(&format!("{} of {origin}", quote::repr(name))),
        }
    }
}

/// The template that a request means.
pub(super) enum Chosen<'t> {
    /// One of the model's.
    Own(&'t NamedTemplate),
    /// The argument of the request.
    Argument(NamedTemplate),
}

impl Chosen<'_> {
    pub fn template(&self) -> &NamedTemplate {
        match self {
            Self::Own(template) => template,
            Self::Argument(template) => template,
        }
    }
}

impl Templates {
    /// Templates by name; of equal names the last one counts, in the place of the first, as in a Python dict.
    pub fn named(templates: impl IntoIterator<Item = NamedTemplate>) -> Self {
        let mut named: Vec<NamedTemplate> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for template in templates {
            match places.get(&template.name).and_then(|place| named.get_mut(*place)) {
                Some(place) => *place = template,
                None => {
                    places.insert(template.name.clone(), named.len());
                    named.push(template);
                }
            }
        }
        Self::Named(named)
    }

    /// The templates, in order.
    pub fn all(&self) -> &[NamedTemplate] {
        match self {
            Self::None => &[],
            Self::One(template) => std::slice::from_ref(template),
            Self::Named(templates) => templates,
        }
    }

    /// Chooses by the argument, or by whether there are tools.
    pub(super) fn choose(&self, argument: Option<&str>, has_tools: bool) -> Result<Chosen<'_>> {
        let named = match self {
            Self::Named(templates) => templates.as_slice(),
            Self::None | Self::One(_) => &[],
        };
        let find = |name: &str| named.iter().find(|template| template.name == name).map(Chosen::Own);
        if let Some(argument) = argument {
            return Ok(find(argument).unwrap_or_else(|| Chosen::Argument(NamedTemplate::new("", argument))));
        }
        match self {
            Self::One(template) => Ok(Chosen::Own(template)),
            Self::None => Err(refused(ErrorKind::Value, NO_TEMPLATE)),
            Self::Named(_) => {
                let tool_use = if has_tools { find("tool_use") } else { None };
                tool_use.or_else(|| find("default")).ok_or_else(|| self.no_default())
            }
        }
    }

    fn no_default(&self) -> Error {
        let mut names: Vec<&str> = self.all().iter().map(|template| template.name.as_str()).collect();
        names.sort_unstable();
        let names: Vec<String> = names.into_iter().map(quote::repr).collect();
        let message = format!(
            "This model has multiple chat templates with no default specified! Please either pass a chat template or the name of \
             the template you wish to use to the `chat_template` argument. Available template names are [{}].",
            names.join(", ")
        );
        refused(ErrorKind::Value, message)
    }
}

const NO_TEMPLATE: &str = "Cannot use chat template functions because tokenizer.chat_template is not set and no template argument was \
                           passed! For information about writing templates and setting the tokenizer.chat_template attribute, \
                           please see the documentation at https://huggingface.co/docs/transformers/main/en/chat_templating";
