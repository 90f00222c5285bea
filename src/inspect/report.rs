//! The report on a template, whose parts are made when they are first read.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer, ser::Error as _};

use super::inspection::Inspection;
use crate::chat::ChatTemplate;
use crate::deadline::Bounds;
use crate::error::Result;
use crate::meter::Meter;
use crate::report::{
    Alternation, Calls, Finding, GenerationPrompt, Media, Prefix, Reads, Reasoning, Roles, Switch, System, Takes, Tools, Witness,
};

/// What a template takes, as experiments with small conversations show.
///
/// A part is made when it is first read, and then shared by all reports on the template and its clones. Each verdict of an experiment has a
/// witness: the conversation that shows it.
///
/// ```
/// use chat_template::ChatTemplate;
///
/// let template = ChatTemplate::from_source("{% for m in messages %}{{ m.content }}{% endfor %}", &[])?;
/// let report = template.inspect(Bounds::default())?;
/// // This renders conversations.
/// let roles = report.roles()?;
/// // This renders nothing, and the other parts are not made.
/// assert!(std::ptr::eq(roles, template.inspect(Bounds::default())?.roles()?));
/// # Ok::<(), chat_template::Error>(())
/// ```
///
/// # Errors
/// Each function fails if it has to make a part and reaches a limit of [`ChatTemplate::inspect_with`]. The limits count from zero for each
/// call, and include the parts on which the part depends. A part that is made does not depend on the limits.
///
/// Serializing a report makes all parts. Call [`Report::complete`] before, which returns the error of a limit.
#[derive(Clone, Debug)]
pub struct Report<'o> {
    pub(super) template: ChatTemplate,
    pub(super) bounds: Bounds<'o>,
}

/// Declares the functions that return the parts, and the struct of all parts, from a table. A row is a part with its docs, its type, and
/// where an inspection has it. The rows are in the order of the report.
macro_rules! parts {
    ($($(#[$docs:meta])* $name:ident: $type:ty = $part:ident $(.$field:tt)?;)*) => {
        #[expect(clippy::missing_errors_doc, reason = "the errors of all functions are in the docs of the type")]
        impl Report<'_> {
            $(
                $(#[$docs])*
                pub fn $name(&self) -> Result<&$type> {
                    self.read(|inspection| Ok(&inspection.$part()?.verdicts$(.$field)?))
                }
            )*

            fn parts(&self) -> Result<Parts<'_>> {
                self.read(|inspection| {
                    Ok(Parts {
                        $($name: &inspection.$part()?.verdicts$(.$field)?,)*
                        witnesses: inspection.witnesses()?,
                    })
                })
            }
        }

        #[derive(Serialize)]
        struct Parts<'r> {
            $($name: &'r $type,)*
            witnesses: &'r BTreeMap<String, Witness>,
        }
    };
}

parts! {
    /// Returns the forms of the content of each role's messages.
    roles: Roles = basics.roles;
    /// Returns the verdicts on images, audio and video in the content of a user message.
    media: Media = media;
    /// Returns the places at which a system message is possible.
    system: System = orders.0;
    /// Returns the orders of roles that the template takes.
    alternation: Alternation = orders.1;
    /// Returns the verdicts on the tools that a conversation can use.
    tools: Tools = basics.tools;
    /// Returns the verdicts on calls of tools and their results.
    calls: Calls = basics.calls;
    /// Returns what whole conversations can have. [`ChatTemplate::prepare`] goes by it.
    takes: Takes = takes;
    /// Returns the verdicts on the reasoning of assistant messages.
    reasoning: Reasoning = reasoning;
    /// Returns the text that `add_generation_prompt` appends.
    generation_prompt: GenerationPrompt = generation_prompt;
    /// Returns the variables of the caller that change the prompt.
    switches: Vec<Switch> = switches;
    /// Returns the names that the source of the template reads.
    reads: Reads = reads;
    /// Returns whether the prompt stays a prefix when the conversation grows.
    prefix: Prefix = prefix;
    /// Returns faults in the sources of the templates.
    lint: Vec<Finding> = lint;
}

#[expect(
    clippy::missing_errors_doc,
    reason = "the errors of all functions are in the docs of the type"
)]
impl Report<'_> {
    /// Makes parts, or reads them, within the bounds of one call.
    fn read<'r, T>(&'r self, read: impl FnOnce(&mut Inspection<'r, '_>) -> Result<T>) -> Result<T> {
        let deadline = self.bounds.start();
        let meter = Meter::within(self.bounds, &deadline);
        read(&mut Inspection::new(&self.template, &meter))
    }

    /// Returns the conversation that shows a verdict, by the path of the verdict in the report: `roles.user.parts`.
    pub fn witness(&self, path: &str) -> Result<Option<Witness>> {
        self.read(|inspection| inspection.witness(path))
    }

    /// Returns the conversation that shows each verdict, by the path of the verdict. This makes all parts with experiments.
    pub fn witnesses(&self) -> Result<&BTreeMap<String, Witness>> {
        self.read(|inspection| inspection.witnesses())
    }

    /// Makes all parts, within the limits for all of them together.
    pub fn complete(&self) -> Result<()> {
        self.parts().map(drop)
    }
}

impl Serialize for Report<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let parts = self.parts().map_err(S::Error::custom)?;
        parts.serialize(serializer)
    }
}
