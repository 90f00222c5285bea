//! The templates of a model, and the choice of the one that renders a request.
//!
//! ```text
//! {default, tool_use}, no argument, tools given   ->   tool_use
//! {default, tool_use}, "default"                  ->   default
//! {default, tool_use}, "{{ messages }}"           ->   the argument is the source
//! ```
//!
//! The rule is transformers 5.24.0 `tokenization_utils_base.py`, `get_chat_template`.

use std::cell::Cell;
use std::sync::Arc;

use indexmap::IndexMap;

use super::refused;
use crate::error::{Error, ErrorClass, ErrorKind, Result};
use crate::limits::{Limit, LimitExceeded};
use crate::meter::Meter;
use crate::template::Template;
use crate::text::message::{MAX_MESSAGE, elide};
use crate::text::quote;

/// The templates of a model. The default is none: a request must bring its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Templates {
    list: Vec<NamedTemplate>,
    /// Whether the templates have names, which then differ. A single template may have none.
    are_named: bool,
}

/// A template with its name and the file it was read from.
#[derive(Clone, Debug)]
pub(crate) struct NamedTemplate {
    /// The name, which is empty for a single template.
    pub name: String,
    /// The text of the template. It is empty if the templates of the model are too large together.
    pub source: String,
    /// The path of the file, which errors name.
    pub origin: Option<String>,
    /// The compiled template or its syntax error, which is returned when a request needs the template.
    compiled: Arc<Result<Template>>,
}

impl NamedTemplate {
    fn new(name: impl Into<String>, source: String, compiled: Result<Template>) -> Self {
        Self {
            name: name.into(),
            source,
            origin: None,
            compiled: Arc::new(compiled),
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

/// The maximum number of templates that a model may have. Known models have up to five.
pub const MAX_TEMPLATES: usize = 1000;

/// The largest total size of the sources of a model's templates, in bytes. Those of known models have up to 60 thousand.
pub const MAX_SOURCES: usize = 4 << 20;

/// Compiles the templates of one model, with one deadline and one number of steps for all, and a limit on the sum of their sources.
#[derive(Debug)]
pub(super) struct Compiler<'o> {
    /// The total size of the sources so far, in bytes.
    bytes: Cell<usize>,
    /// A meter with the limits, the deadline and the steps.
    pub(super) meter: Meter<'o>,
}

impl<'o> Compiler<'o> {
    /// Makes a compiler with the limits and the deadline of a meter.
    pub fn new(meter: Meter<'o>) -> Self {
        Self {
            bytes: Cell::new(0),
            meter: meter.share_steps(),
        }
    }

    /// Compiles a template.
    pub fn compile(&self, name: impl Into<String>, source: impl Into<String>) -> NamedTemplate {
        let source = source.into();
        let bytes = self.bytes.get() + source.len();
        self.bytes.set(bytes);
        if bytes > MAX_SOURCES {
            let error = Error::limit(LimitExceeded::from_sizes(Limit::Sources, bytes, MAX_SOURCES)).without_line();
            return NamedTemplate::new(name, String::new(), Err(error.with_class(ErrorClass::Template)));
        }
        let compiled = Template::compile_metered(&source, self.meter.renew());
        NamedTemplate::new(name, source, compiled)
    }
}

/// Returns an error if a model has too many templates: each takes some kilobytes of memory.
pub(super) fn check_count(templates: usize) -> Result<()> {
    if templates > MAX_TEMPLATES {
        return Err(Error::limit(LimitExceeded::from_sizes(
            Limit::Templates,
            templates,
            MAX_TEMPLATES,
        )));
    }
    Ok(())
}

/// The template that renders a request: one of the model's, or another.
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
        Self {
            list: named.into_values().collect(),
            are_named: true,
        }
    }

    /// Collects the templates of a model's files. If all are named `default`, only the last one is kept, without its name.
    pub fn from_files(mut named: Vec<NamedTemplate>) -> Self {
        if named.iter().any(|template| template.name != "default") {
            return Self::from_named(named);
        }
        named.pop().map_or_else(Self::default, |mut template| {
            template.name.clear();
            Self::one(template)
        })
    }

    /// Returns a single template without a name.
    pub fn one(template: NamedTemplate) -> Self {
        Self {
            list: vec![template],
            are_named: false,
        }
    }

    /// Returns whether there is no template, not even an empty list of named ones.
    pub fn is_none(&self) -> bool {
        self.list.is_empty() && !self.are_named
    }

    /// Replaces the special forms of expressions by the general one, in each template that no other value shares.
    #[cfg(feature = "internal")]
    pub fn generalize(&mut self) {
        for template in &mut self.list {
            if let Some(Ok(template)) = Arc::get_mut(&mut template.compiled) {
                template.generalize();
            }
        }
    }

    /// Returns all templates, in order.
    pub fn all(&self) -> &[NamedTemplate] {
        &self.list
    }

    /// Returns the templates that have names, in order.
    pub fn named(&self) -> &[NamedTemplate] {
        if self.are_named { &self.list } else { &[] }
    }

    /// Returns the template that renders a request without tools: the only one, or the one named `default`.
    pub fn main(&self) -> Option<&NamedTemplate> {
        match self.are_named {
            true => self.list.get(self.find_named(None, false)?),
            false => self.list.first(),
        }
    }

    /// Returns the index of the named template that renders a request, or `None` if there is none.
    pub(super) fn find_named(&self, argument: Option<&str>, has_tools: bool) -> Option<usize> {
        let find = |name: &str| self.named().iter().position(|template| template.name == name);
        match argument {
            Some(name) => find(name),
            None => has_tools.then(|| find("tool_use")).flatten().or_else(|| find("default")),
        }
    }

    /// Chooses a template by the argument of the request, or by whether it has tools. An argument that is a source is compiled within the
    /// limits and the deadline of the meter.
    pub(super) fn choose(&self, argument: Option<&str>, has_tools: bool, meter: &Meter<'_>) -> Result<Chosen<'_>> {
        let named = self.find_named(argument, has_tools).and_then(|index| self.list.get(index));
        match (named, argument) {
            (Some(template), _) => Ok(Chosen::Own(template)),
            (None, Some(source)) => {
                let compiled = Template::compile_metered(source, meter.renew());
                Ok(Chosen::Argument(NamedTemplate::new("", source.to_owned(), compiled)))
            }
            (None, None) if self.are_named => Err(self.no_default()),
            (None, None) => self.list.first().map(Chosen::Own).ok_or_else(|| {
                let note = "the model has no template; pass one as `ApplyOptions::chat_template`";
                refused(ErrorKind::Value, NO_TEMPLATE).with_note(note)
            }),
        }
    }

    fn no_default(&self) -> Error {
        let mut names: Vec<&str> = self.all().iter().map(|template| template.name.as_str()).collect();
        names.sort_unstable();
        let mut listed = String::new();
        for (index, name) in names.into_iter().enumerate() {
            // The message is cut before this place.
            if listed.len() > MAX_MESSAGE {
                break;
            }
            if index > 0 {
                listed.push_str(", ");
            }
            listed.push_str(&quote::repr(&elide(name, MAX_MESSAGE)));
        }
        let message = format!(
            "This model has multiple chat templates with no default specified! Please either pass a chat template or the name of \
             the template you wish to use to the `chat_template` argument. Available template names are [{listed}]."
        );
        refused(ErrorKind::Value, message)
    }
}

const NO_TEMPLATE: &str = "Cannot use chat template functions because tokenizer.chat_template is not set and no template argument was \
                           passed! For information about writing templates and setting the tokenizer.chat_template attribute, \
                           please see the documentation at https://huggingface.co/docs/transformers/main/en/chat_templating";
