//! Renders the conversations of experiments, and keeps the best outcome of each with the conversation that shows it.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::LazyLock;

use foldhash::fast::RandomState;
use serde_json::Value;

use super::conversation::{Conversation, arrange};
use super::plant::{self, Form, PLANT, SPARE};
use crate::chat::{ApplyOptions, AssistantOptions, ChatTemplate, Prompt, find_line};
use crate::clock::LocalTime;
use crate::error::{Error, ErrorClass, Result};
use crate::limits::{Limit, Limits};
use crate::meter::Meter;
use crate::report::{Outcome, Witness};
use crate::trace::Keeps;

/// The maximum number of bytes of an experiment's prompt, which a witness may keep. Prompts of real templates have some thousand.
const MAX_OUTPUT: u64 = 1 << 16;

/// The maximum number of bytes of all prompts and errors that are remembered, with [`SEGMENT`] for each segment and error.
const MAX_REMEMBERED: usize = 8 << 20;

/// The number of bytes that a segment takes.
const SEGMENT: usize = 128;

/// The number of conversations that most templates are tried with, for which memory is reserved.
const USUAL_COUNT: usize = 300;

/// The clock of all experiments. A report does not depend on when it is made.
static CLOCK: LazyLock<Option<LocalTime>> = LazyLock::new(|| LocalTime::new([2026, 1, 2], [3, 4, 5], 0).ok());

/// The note on an error of a limit that experiments reached.
pub const NOTE: &str = "the limits apply to all experiments of a report together";

/// The prompt or the error of one render. Reaching a limit of the caller is another error, outside of this one.
pub type Rendered = std::result::Result<Prompt, Error>;

/// A number of steps for work that ends early, without an error, when they are used up.
pub struct Budget<'t> {
    meter: Meter<'t>,
    /// Whether some work was not allowed. After that no work is allowed, and the meter is not called again, because it would make an error
    /// each time.
    is_spent: bool,
}

impl Budget<'_> {
    /// Counts steps of work before it is done, and returns whether it is allowed.
    pub fn spend(&mut self, steps: usize) -> bool {
        self.is_spent = self.is_spent || self.meter.charge(steps as u64).is_err();
        !self.is_spent
    }

    /// Returns whether no more work is allowed.
    pub fn is_spent(&self) -> bool {
        self.is_spent
    }

    /// Returns whether enough of the call stack is left.
    pub fn has_stack(&self) -> bool {
        self.meter.check_stack().is_ok()
    }
}

/// The template under experiment, with what is left of the limits, and the prompts so far.
///
/// No verdict depends on the limits of the caller: an experiment that reaches one lower than [`Experiments::usual_limits`] is an error.
pub struct Experiments<'t> {
    pub template: &'t ChatTemplate,
    /// The conversation that shows each verdict, by the path of the verdict in the report.
    pub shown: BTreeMap<String, Conversation>,
    /// The tools that each conversation without tools gets, if the template needs them. They are found out before the first render.
    tools: Option<Option<Rc<Value>>>,
    /// The limits, the deadline and the flag of the caller. The experiments share its steps.
    meter: Meter<'t>,
    rendered: HashMap<Conversation, Rc<Rendered>, RandomState>,
    /// The number of bytes that are left for prompts that are remembered.
    bytes_left: usize,
}

impl<'t> Experiments<'t> {
    /// Returns experiments that together have the limits, the deadline and the flag of a meter.
    pub fn new(template: &'t ChatTemplate, meter: &Meter<'t>) -> Self {
        let limits = meter.limits().at_most(&Self::usual_limits());
        let limits = limits
            .with_steps(meter.limits().steps)
            .with_milliseconds(meter.limits().milliseconds);
        Self::with_meter(template, meter.renew_with(limits).share_steps())
    }

    fn with_meter(template: &'t ChatTemplate, meter: Meter<'t>) -> Self {
        Self {
            template,
            shown: BTreeMap::new(),
            tools: None,
            meter,
            rendered: HashMap::with_capacity_and_hasher(USUAL_COUNT, RandomState::default()),
            bytes_left: MAX_REMEMBERED,
        }
    }

    fn usual_limits() -> Limits {
        Limits::default().with_output(MAX_OUTPUT)
    }

    /// Returns experiments with a number of steps of their own, at most as many as are left. They pass no tools to a template that needs
    /// some. [`Experiments::settle`] must follow.
    pub fn lend(&self, steps: u64) -> Self {
        let meter = self.meter.fork(steps.min(self.meter.steps_left()));
        let mut lent = Self::with_meter(self.template, meter.share_steps());
        lent.tools = Some(None);
        lent
    }

    /// Subtracts the steps of other experiments from those that are left.
    ///
    /// # Errors
    /// If the others had fewer than the wanted steps, and used them up.
    pub fn settle(&mut self, lent: &Self, wanted: u64) -> Result<()> {
        self.meter.add_done(lent.steps());
        let is_short = lent.meter.limits().steps < wanted && lent.steps_left() == 0;
        self.meter.charge(u64::from(is_short)).map_err(|error| error.with_note(NOTE))
    }

    /// Returns the number of steps that are left.
    pub fn steps_left(&self) -> u64 {
        self.meter.steps_left()
    }

    /// Returns the number of steps of the experiments so far.
    pub fn steps(&self) -> u64 {
        self.meter.steps()
    }

    /// Finds out whether the template renders a user message only if there are tools. If so, all conversations get tools.
    fn find_needed_tools(&mut self) -> Result<()> {
        self.tools = Some(None);
        let trials = arrange(&[Form::String, Form::Part], &["u"], |_| []);
        for tools in [None, Some(plant::tools(SPARE))] {
            for trial in &trials {
                if self.render(&trial.clone().with_tools(tools.clone()))?.is_ok() {
                    if tools.is_some() {
                        self.rendered.clear();
                        self.tools = Some(tools.map(Rc::new));
                    }
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Renders a conversation, unless that was done before.
    ///
    /// # Errors
    /// If an experiment reaches a limit of the caller, or if the caller cancels.
    pub fn render(&mut self, conversation: &Conversation) -> Result<Rc<Rendered>> {
        self.render_with(conversation, false, None)
    }

    /// Renders a conversation with the spans of what the model writes.
    pub fn find_written(&mut self, conversation: &Conversation, options: AssistantOptions<'_>) -> Result<Rc<Rendered>> {
        self.render_with(conversation, false, Some(options))
    }

    /// Renders a conversation, and returns the text unless the render fails.
    pub fn text(&mut self, conversation: &Conversation) -> Result<Option<String>> {
        let rendered = self.render(conversation)?;
        Ok(rendered.as_ref().as_ref().ok().map(|prompt| prompt.text.clone()))
    }

    /// Renders a conversation with segments, unless that was done before.
    pub fn trace(&mut self, conversation: &Conversation) -> Result<Rc<Rendered>> {
        self.render_with(conversation, true, None)
    }

    /// Renders a conversation with segments if `trace` is set, and with the spans of the model if it has options for them.
    fn render_with(
        &mut self,
        conversation: &Conversation,
        trace: bool,
        assistant: Option<AssistantOptions<'_>>,
    ) -> Result<Rc<Rendered>> {
        if self.tools.is_none() {
            self.find_needed_tools()?;
        }
        let is_enough = |known: &&Rc<Rendered>| match &***known {
            Ok(prompt) => !trace || !prompt.trace.parts().is_empty(),
            Err(_) => true,
        };
        let known = self.rendered.get(conversation).filter(|_| assistant.is_none());
        if let Some(known) = known.filter(is_enough) {
            return Ok(Rc::clone(known));
        }
        let tools = conversation
            .tools
            .as_deref()
            .or(self.tools.iter().flatten().next().map(|tools| &**tools));
        let mut options = ApplyOptions::default()
            .with_generation_prompt(true)
            .with_tools(&tools)
            .with_documents(&conversation.documents)
            .with_variables(&conversation.variables)
            .with_add_generation_prompt(conversation.add_generation_prompt)
            .with_trace(trace)
            .with_assistant(assistant);
        if let Some(clock) = &*CLOCK {
            options = options.with_clock(clock);
        }
        let messages: Vec<&Value> = conversation.messages.iter().map(|message| &**message).collect();
        let rendered = self
            .template
            .apply_within(messages.as_slice(), &options, Keeps::Nothing, &self.meter);
        if let Some(error) = rendered.as_ref().err().and_then(|error| self.find_stop(error)) {
            return Err(error);
        }
        let (text, segments) = match &rendered {
            Ok(prompt) => (prompt.text.len(), prompt.trace.parts().len()),
            Err(error) => (error.message().len(), 1),
        };
        let bytes = text.saturating_add(segments.saturating_mul(SEGMENT));
        let rendered = Rc::new(rendered);
        if let Some(left) = self.bytes_left.checked_sub(bytes).filter(|_| assistant.is_none()) {
            self.bytes_left = left;
            self.rendered.insert(conversation.clone(), Rc::clone(&rendered));
        }
        Ok(rendered)
    }

    /// Returns the error of an experiment if it says that a limit of the caller was reached, or that the caller cancels.
    pub fn find_stop(&self, error: &Error) -> Option<Error> {
        let reached = error.reached()?;
        let is_of_caller = match reached.limit {
            Limit::Steps | Limit::Milliseconds | Limit::Cancel => true,
            limit => self.meter.limits().is_lower(&Self::usual_limits(), limit),
        };
        let error = Error::limit(reached);
        is_of_caller.then(|| match reached.limit {
            Limit::Cancel => error,
            _ => error.with_note(NOTE),
        })
    }

    /// Returns a meter for other work, which shares the steps of the experiments.
    pub fn renew_meter(&self) -> Meter<'t> {
        self.meter.renew()
    }

    /// Returns a meter for other work, with a number of steps of its own.
    pub fn meter(&self, steps: u64) -> Meter<'t> {
        self.meter.fork(steps)
    }

    /// Returns a number of steps for work other than renders. They are used up at the deadline of the caller.
    pub fn budget(&self, steps: u64) -> Budget<'t> {
        Budget {
            meter: self.meter(steps),
            is_spent: false,
        }
    }

    /// Returns an error if the deadline of the caller has passed.
    pub fn check_time(&self) -> Result<()> {
        self.meter.check_time().map_err(|error| error.with_note(NOTE))
    }

    /// Renders conversations until one has the best outcome, and keeps the best. `judge` returns the outcome of a prompt; an error is an
    /// outcome too.
    pub fn ask(
        &mut self,
        path: &str,
        trials: impl IntoIterator<Item: Borrow<Conversation>>,
        judge: impl Fn(&str) -> Outcome,
    ) -> Result<Outcome> {
        self.ask_with(path, trials, |_, _, rendered| {
            Ok(Some(match rendered {
                Ok(prompt) => judge(&prompt.text),
                Err(error) => outcome_of(error),
            }))
        })
    }

    /// Renders conversations until one has the best outcome, and keeps the best. `judge` returns the outcome of a render, if it counts.
    pub fn ask_with(
        &mut self,
        path: &str,
        trials: impl IntoIterator<Item: Borrow<Conversation>>,
        judge: impl Fn(&mut Self, &Conversation, &Rendered) -> Result<Option<Outcome>>,
    ) -> Result<Outcome> {
        let mut best = None;
        for trial in trials {
            let trial = trial.borrow();
            let rendered = self.render(trial)?;
            let Some(outcome) = judge(self, trial, &rendered)? else {
                continue;
            };
            self.keep_best(path, trial, outcome, &mut best);
            if outcome == Outcome::Printed {
                break;
            }
        }
        Ok(best.unwrap_or_default())
    }

    /// Keeps an outcome and its conversation, if the outcome is better than the best one so far.
    pub fn keep_best(&mut self, path: &str, trial: &Conversation, outcome: Outcome, best: &mut Option<Outcome>) {
        if best.is_none_or(|best| outcome < best) {
            *best = Some(outcome);
            self.show(path, trial);
        }
    }

    /// Keeps the conversation that shows a verdict.
    pub fn show(&mut self, path: &str, conversation: &Conversation) {
        let mut shown = conversation.clone();
        shown.tools = shown.tools.or_else(|| self.tools.clone().flatten());
        self.shown.insert(path.to_owned(), shown);
    }

    /// Renders the conversation of a witness, and adds to it the prompt or the error, and the line of the template.
    pub fn explain(&mut self, witness: &Witness) -> Result<Witness> {
        let mut witness = witness.clone();
        match &*self.trace(&Conversation::from(&witness))? {
            Ok(prompt) => {
                let end = prompt.text.find(PLANT).unwrap_or(prompt.text.len());
                witness.line = find_line(prompt, |segment| segment.bytes().start < end);
                witness.output = Some(prompt.text.clone());
            }
            Err(error) => {
                witness.line = error.line().map(|line| line as usize);
                witness.error = Some(error.message().to_owned());
            }
        }
        Ok(witness)
    }
}

/// Returns the outcome of a render that failed.
pub fn outcome_of(error: &Error) -> Outcome {
    match error.class() {
        ErrorClass::Refused => Outcome::Refused,
        _ => Outcome::Failed,
    }
}

/// Returns [`Outcome::Printed`] if all words are in a prompt, and [`Outcome::Lost`] otherwise.
pub fn find_words(text: &str, words: &[&str]) -> Outcome {
    if words.iter().all(|word| text.contains(word)) {
        Outcome::Printed
    } else {
        Outcome::Lost
    }
}
