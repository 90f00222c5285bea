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
/// let template = ChatTemplate::from_source("{% for m in messages %}{{ m.content }}{% endfor %}", &[]);
/// let report = template.inspect()?;
/// // This renders conversations.
/// let roles = report.roles()?;
/// // This renders nothing, and the other parts are not made.
/// assert!(std::ptr::eq(roles, template.inspect()?.roles()?));
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

/// All parts, in the order of the report.
#[derive(Serialize)]
struct Parts<'r> {
    roles: &'r Roles,
    media: &'r Media,
    system: &'r System,
    alternation: &'r Alternation,
    tools: &'r Tools,
    calls: &'r Calls,
    takes: &'r Takes,
    reasoning: &'r Reasoning,
    generation_prompt: &'r GenerationPrompt,
    switches: &'r [Switch],
    reads: &'r Reads,
    prefix: &'r Prefix,
    lint: &'r [Finding],
    witnesses: &'r BTreeMap<String, Witness>,
}

#[expect(
    clippy::missing_errors_doc,
    reason = "the errors of all functions are in the docs of the type"
)]
impl<'o> Report<'o> {
    /// Makes parts, or reads them, within the bounds of one call.
    fn read<'r, T>(&'r self, read: impl FnOnce(&mut Inspection<'r, '_>) -> Result<T>) -> Result<T> {
        let deadline = self.bounds.start();
        let meter = Meter::within(self.bounds, &deadline);
        read(&mut Inspection::new(&self.template, &meter))
    }

    /// Returns the forms of the content of each role's messages.
    pub fn roles(&self) -> Result<&Roles> {
        self.read(|inspection| Ok(&inspection.basics()?.verdicts.roles))
    }

    /// Returns the verdicts on images, audio and video in the content of a user message.
    pub fn media(&self) -> Result<&Media> {
        self.read(|inspection| Ok(&inspection.media()?.verdicts))
    }

    /// Returns the places at which a system message is possible.
    pub fn system(&self) -> Result<&System> {
        self.read(|inspection| Ok(&inspection.orders()?.verdicts.0))
    }

    /// Returns the orders of roles that the template takes.
    pub fn alternation(&self) -> Result<&Alternation> {
        self.read(|inspection| Ok(&inspection.orders()?.verdicts.1))
    }

    /// Returns the verdicts on the tools that a conversation can use.
    pub fn tools(&self) -> Result<&Tools> {
        self.read(|inspection| Ok(&inspection.basics()?.verdicts.tools))
    }

    /// Returns the verdicts on calls of tools and their results.
    pub fn calls(&self) -> Result<&Calls> {
        self.read(|inspection| Ok(&inspection.basics()?.verdicts.calls))
    }

    /// Returns what whole conversations can have. [`ChatTemplate::prepare`] goes by it.
    pub fn takes(&self) -> Result<&Takes> {
        self.read(|inspection| Ok(&inspection.takes()?.verdicts))
    }

    /// Returns the verdicts on the reasoning of assistant messages.
    pub fn reasoning(&self) -> Result<&Reasoning> {
        self.read(|inspection| Ok(&inspection.reasoning()?.verdicts))
    }

    /// Returns the text that `add_generation_prompt` appends.
    pub fn generation_prompt(&self) -> Result<&GenerationPrompt> {
        self.read(|inspection| Ok(&inspection.generation_prompt()?.verdicts))
    }

    /// Returns the variables of the caller that change the prompt.
    pub fn switches(&self) -> Result<&[Switch]> {
        self.read(|inspection| Ok(inspection.switches()?.verdicts.as_slice()))
    }

    /// Returns the names that the source of the template reads.
    pub fn reads(&self) -> Result<&Reads> {
        self.read(|inspection| Ok(&inspection.reads()?.verdicts))
    }

    /// Returns whether the prompt stays a prefix when the conversation grows.
    pub fn prefix(&self) -> Result<&Prefix> {
        self.read(|inspection| Ok(&inspection.prefix()?.verdicts))
    }

    /// Returns faults in the sources of the templates.
    pub fn lint(&self) -> Result<&[Finding]> {
        self.read(|inspection| Ok(inspection.lint()?.verdicts.as_slice()))
    }

    /// Returns the conversation that shows a verdict, by the path of the verdict in the report: `roles.user.parts`.
    pub fn witness(&self, path: &str) -> Result<Option<Witness>> {
        self.read(|inspection| inspection.witness(path))
    }

    /// Returns the conversation that shows each verdict, by the path of the verdict in the report. This makes all parts with experiments.
    pub fn witnesses(&self) -> Result<&BTreeMap<String, Witness>> {
        self.read(|inspection| inspection.witnesses())
    }

    /// Makes all parts, within the limits for all of them together.
    pub fn complete(&self) -> Result<()> {
        self.parts().map(drop)
    }

    fn parts(&self) -> Result<Parts<'_>> {
        self.read(|inspection| {
            let reads = &inspection.reads()?.verdicts;
            let (basics, orders) = (&inspection.basics()?.verdicts, &inspection.orders()?.verdicts);
            Ok(Parts {
                roles: &basics.roles,
                media: &inspection.media()?.verdicts,
                system: &orders.0,
                alternation: &orders.1,
                tools: &basics.tools,
                calls: &basics.calls,
                takes: &inspection.takes()?.verdicts,
                reasoning: &inspection.reasoning()?.verdicts,
                generation_prompt: &inspection.generation_prompt()?.verdicts,
                switches: &inspection.switches()?.verdicts,
                reads,
                witnesses: inspection.witnesses()?,
                prefix: &inspection.prefix()?.verdicts,
                lint: &inspection.lint()?.verdicts,
            })
        })
    }
}

impl Serialize for Report<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let parts = self.parts().map_err(S::Error::custom)?;
        parts.serialize(serializer)
    }
}
