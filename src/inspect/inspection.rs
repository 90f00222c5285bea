//! Makes the parts of a report, each when it is first needed.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::conversation::Conversation;
use super::experiments::Experiments;
use super::roles::list_forms;
use super::{lint, prefix, reads, reasoning, response, roles, switches};
use crate::chat::ChatTemplate;
use crate::error::Result;
use crate::meter::Meter;
use crate::report::{
    Alternation, Basics, Finding, GenerationPrompt, Media, Prefix, Reads, Reasoning, Response, Switch, System, Witness,
};

/// Declares the parts of a report and the functions that return them. A row is a part with the type of its verdicts, and how it is made.
macro_rules! parts {
    ($($name:ident: $type:ty = |$parts:ident| $make:expr;)*) => {
        /// The parts of a template's report that were made so far. None of them depends on the limits of the call that made it.
        #[derive(Debug, Default)]
        struct Made {
            $($name: OnceLock<Part<$type>>,)*
            /// The witnesses of all parts, with their prompts or their errors.
            witnesses: OnceLock<BTreeMap<String, Witness>>,
        }

        impl<'r> Inspection<'r, '_> {
            $(pub fn $name(&mut self) -> Result<&'r Part<$type>> {
                self.part(&self.made.$name, |$parts| $make)
            })*
        }
    };
}

parts! {
    basics: Basics = |parts| roles::inspect(parts.experiments());
    orders: (System, Alternation) = |parts| {
        let forms = list_forms(&parts.basics()?.verdicts.roles);
        roles::inspect_orders(parts.experiments(), forms)
    };
    media: Media = |parts| {
        let basics = parts.basics()?;
        let shown = basics.witnesses.get("roles.user.parts").map(Conversation::from);
        roles::inspect_media(parts.experiments(), basics.verdicts.roles.user.parts, shown.as_ref())
    };
    reasoning: Reasoning = |parts| {
        let (reads, basics) = (&parts.reads()?.verdicts.messages, &parts.basics()?.verdicts);
        reasoning::inspect(parts.experiments(), reads, basics)
    };
    generation_prompt: GenerationPrompt = |parts| {
        let forms = list_forms(&parts.basics()?.verdicts.roles);
        reasoning::inspect_generation_prompt(parts.experiments(), forms)
    };
    response: Response = |parts| {
        let basics = &parts.basics()?.verdicts;
        response::inspect(parts.experiments(), basics)
    };
    switches: Vec<Switch> = |parts| {
        let reads = &parts.reads()?.verdicts.variables;
        let has_documents = reads.iter().any(|read| read.name == "documents");
        let (basics, media) = (&parts.basics()?.verdicts, &parts.media()?.verdicts);
        switches::inspect(parts.experiments(), basics, (has_documents, media.image.types.first()))
    };
    reads: Reads = |parts| reads::find(parts.template, parts.experiments());
    prefix: Prefix = |parts| prefix::inspect(parts.experiments());
    lint: Vec<Finding> = |parts| lint::inspect(parts.experiments());
}

/// Verdicts, each with the conversation that shows it.
#[derive(Debug)]
pub struct Part<T> {
    pub verdicts: T,
    witnesses: BTreeMap<String, Witness>,
}

/// One call that reads parts of a template's report, and makes those that no earlier call made. All its experiments share the limits of a
/// meter.
pub struct Inspection<'r, 'm> {
    made: &'r Made,
    template: &'m ChatTemplate,
    meter: &'m Meter<'m>,
    /// The experiments. They begin when the first part has to be made.
    experiments: Option<Experiments<'m>>,
}

impl<'r, 'm> Inspection<'r, 'm> {
    pub fn new(template: &'r ChatTemplate, meter: &'m Meter<'m>) -> Self
    where
        'r: 'm,
    {
        Self {
            made: template.kept(),
            template,
            meter,
            experiments: None,
        }
    }

    fn experiments(&mut self) -> &mut Experiments<'m> {
        self.experiments
            .get_or_insert_with(|| Experiments::new(self.template, self.meter))
    }

    /// Returns a part of the report. If no earlier call made it, `make` does. It first reads the parts on which its own depends, and then
    /// begins its experiments.
    fn part<T>(&mut self, place: &'r OnceLock<Part<T>>, make: impl FnOnce(&mut Self) -> Result<T>) -> Result<&'r Part<T>> {
        if let Some(part) = place.get() {
            return Ok(part);
        }
        let verdicts = make(self)?;
        let shown = std::mem::take(&mut self.experiments().shown);
        let witnesses = shown.iter().map(|(path, shown)| (path.clone(), shown.to_witness())).collect();
        Ok(place.get_or_init(|| Part { verdicts, witnesses }))
    }

    /// Returns the witnesses of a part, which have no prompt and no error yet. Returns `None` if there is no such part.
    fn part_witnesses(&mut self, part: &str) -> Result<Option<&'r BTreeMap<String, Witness>>> {
        Ok(Some(match part {
            "roles" | "tools" | "calls" => &self.basics()?.witnesses,
            "system" | "alternation" => &self.orders()?.witnesses,
            "media" => &self.media()?.witnesses,
            "reasoning" => &self.reasoning()?.witnesses,
            "generation_prompt" => &self.generation_prompt()?.witnesses,
            "response" => &self.response()?.witnesses,
            "switches" => &self.switches()?.witnesses,
            _ => return Ok(None),
        }))
    }

    /// Returns the witness of a verdict, with its prompt or its error.
    pub fn witness(&mut self, path: &str) -> Result<Option<Witness>> {
        let (part, _) = path.split_once('.').unwrap_or((path, ""));
        let witness = self.part_witnesses(part)?.and_then(|witnesses| witnesses.get(path));
        witness.map(|witness| self.experiments().explain(witness)).transpose()
    }

    /// Returns the witnesses of all verdicts, with their prompts or their errors.
    pub fn witnesses(&mut self) -> Result<&'r BTreeMap<String, Witness>> {
        let place = &self.made.witnesses;
        if let Some(known) = place.get() {
            return Ok(known);
        }
        let mut all = BTreeMap::new();
        let parts = [
            "roles",
            "system",
            "media",
            "reasoning",
            "generation_prompt",
            "response",
            "switches",
        ];
        for part in parts {
            for (path, witness) in self.part_witnesses(part)?.into_iter().flatten() {
                all.insert(path.clone(), self.experiments().explain(witness)?);
            }
        }
        Ok(place.get_or_init(|| all))
    }
}
