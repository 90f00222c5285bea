//! The templates of a model, and the choice of the one that renders a request.
//!
//! ```text
//! {default, tool_use}, no argument, tools given   ->   tool_use
//! {default, tool_use}, "default"                  ->   default
//! {default, tool_use}, "{{ messages }}"           ->   the argument is the source
//! ```
//!
//! The rule is transformers 5.23.0 `tokenization_utils_base.py`, `get_chat_template`.

use indexmap::IndexMap;

use super::refused;
use crate::error::{Error, ErrorKind, Result};
use crate::template::Template;
use crate::text::quote;

/// The templates of a model.
#[derive(Clone, Debug)]
pub(crate) enum Templates {
    /// No template: a request must bring its own.
    None,
    /// A single template, which has no name.
    One(NamedTemplate),
    /// Templates with different names, in order.
    Named(Vec<NamedTemplate>),
}

/// A template with its name and the file it was read from.
#[derive(Clone, Debug)]
pub(crate) struct NamedTemplate {
    /// The name, which is empty for a single template.
    pub name: String,
    /// The text of the template.
    pub source: String,
    /// The path of the file, which errors name.
    pub origin: Option<String>,
    /// The compiled template or its syntax error, which is returned when a request needs the template.
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

    /// Sets the path of the template's file.
    pub fn in_file(mut self, origin: impl Into<String>) -> Self {
        self.origin = Some(origin.into());
        self
    }

    /// Returns the compiled template.
    ///
    /// # Errors
    /// The syntax error, if it does not compile.
    pub fn compiled(&self) -> Result<&Template> {
        self.compiled.as_ref().as_ref().map_err(|error| self.name_in(error.clone()))
    }

    /// Returns an error that names the template.
    pub fn name_in(&self, error: Error) -> Error {
        match (&self.origin, self.name.as_str()) {
            (None, "") => error,
            (Some(origin), "") => error.in_template(origin),
            (None, name) => error.in_template(&quote::repr(name)),
            (Some(origin), name) => error.in_template(&format!("{} of {origin}", quote::repr(name))),
        }
    }
}

/// The template that renders a request.
pub(super) enum Chosen<'t> {
    /// A template of the model.
    Own(&'t NamedTemplate),
    /// The template that the request brings.
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
    /// Collects templates by name. The last of equal names takes the place of the first, as in a Python dict.
    pub fn from_named(templates: impl IntoIterator<Item = NamedTemplate>) -> Self {
        let templates = templates.into_iter().map(|template| (template.name.clone(), template));
        let named: IndexMap<String, NamedTemplate> = templates.collect();
        Self::Named(named.into_values().collect())
    }

    /// Returns all templates, in order.
    pub fn all(&self) -> &[NamedTemplate] {
        match self {
            Self::None => &[],
            Self::One(template) => std::slice::from_ref(template),
            Self::Named(templates) => templates,
        }
    }

    /// Chooses a template by the argument of the request, or by whether it has tools.
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
            Self::None => Err(refused(ErrorKind::Value, NO_TEMPLATE)
                .with_note("the model has no template; pass one as `ApplyOptions::chat_template`")),
            Self::Named(_) => {
                let tool_use = if has_tools { find("tool_use") } else { None };
                tool_use.or_else(|| find("default")).ok_or_else(|| self.no_default())
            }
        }
    }

    fn no_default(&self) -> Error {
        let mut names: Vec<String> = self.all().iter().map(|template| template.name.clone()).collect();
        names.sort_unstable();
        let names: Vec<String> = names.iter().map(|name| quote::repr(name)).collect();
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
