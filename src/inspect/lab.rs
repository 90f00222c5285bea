//! Renders the conversations of experiments, and keeps the best outcome of each with its witness.

use std::collections::BTreeMap;

use serde_json::Value;

use super::plant::{self, Form, PLANT, SPARE, USER};
use crate::chat::{ApplyOptions, ChatTemplate, Prompt};
use crate::clock::{FixedClock, LocalTime};
use crate::error::{Error, ErrorClass, Result};
use crate::limits::Limit;
use crate::meter::Meter;
use crate::report::{Outcome, Witness};
use crate::trace::Origin;

/// The maximum number of bytes of an experiment's prompt, which a witness may keep. Prompts of real templates have some thousand.
const MAX_OUTPUT: u64 = 1 << 16;

/// A conversation that is rendered.
#[derive(Clone, Debug, Default)]
pub struct Trial {
    pub messages: Vec<Value>,
    pub tools: Option<Value>,
    pub documents: Option<Value>,
    pub variables: Option<Value>,
    pub add_generation_prompt: bool,
}

impl Trial {
    pub fn new(messages: impl Into<Vec<Value>>) -> Self {
        Self {
            messages: messages.into(),
            ..Self::default()
        }
    }

    /// Sets the tools.
    pub fn with_tools(mut self, tools: Option<Value>) -> Self {
        self.tools = tools;
        self
    }

    /// Adds the generation prompt to the prompt.
    pub fn prompted(mut self) -> Self {
        self.add_generation_prompt = true;
        self
    }

    /// Sets the variables of the caller.
    pub fn with_variables(mut self, variables: Option<Value>) -> Self {
        self.variables = variables;
        self
    }

    fn witness(&self, rendered: &Rendered, word: &str) -> Witness {
        let mut witness = Witness {
            messages: Value::from(self.messages.clone()),
            tools: self.tools.clone(),
            documents: self.documents.clone(),
            variables: self.variables.clone(),
            add_generation_prompt: self.add_generation_prompt,
            ..Witness::default()
        };
        match rendered {
            Ok(prompt) => {
                witness.line = line_before(prompt, word);
                witness.output = Some(prompt.text.clone());
            }
            Err(error) => {
                witness.line = error.line().map(|line| line as usize);
                witness.error = Some(error.message().to_owned());
            }
        }
        witness
    }
}

/// Takes the conversation of a witness, to render it again.
impl From<&Witness> for Trial {
    fn from(witness: &Witness) -> Self {
        Self {
            messages: witness.messages.as_array().cloned().unwrap_or_default(),
            tools: witness.tools.clone(),
            documents: witness.documents.clone(),
            variables: witness.variables.clone(),
            add_generation_prompt: witness.add_generation_prompt,
        }
    }
}

/// Returns the line of the template that wrote the last literal text before a word. Without the word, it is that of the last literal text.
fn line_before(prompt: &Prompt, word: &str) -> Option<usize> {
    let end = prompt.text.find(word).unwrap_or(prompt.text.len());
    let segments = prompt.segments.iter().take_while(|segment| segment.bytes().start < end);
    let lines = segments.filter_map(|segment| match segment.origin() {
        Origin::Template { line } => Some(line),
        _ => None,
    });
    lines.last()
}

/// The prompt or the error of one render. Reaching a limit of the whole report is another error, outside of this one.
pub type Rendered = std::result::Result<Prompt, Error>;

/// A question about the renders of several trials. The answer is the best outcome of the trials that it applies to.
pub struct Question<'q> {
    /// The path of the verdict in the report.
    pub path: &'q str,
    /// Returns the outcome of a prompt, or `None` if the trial does not apply to the question.
    pub judge: &'q dyn Fn(&Trial, &Prompt) -> Option<Outcome>,
    /// Returns whether an error of a trial applies to the question.
    pub counts_error: &'q dyn Fn(&Trial) -> bool,
}

/// The steps of work that ends early, without an error, when they are used up.
pub struct Budget<'t> {
    meter: Meter<'t>,
    /// Whether some work was not allowed. No work is allowed after it, and the meter is not asked, because it would make an error each time.
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

/// The template under experiment, with what is left of the limits of the whole report.
pub struct Lab<'t> {
    pub template: &'t ChatTemplate,
    pub witnesses: BTreeMap<String, Witness>,
    /// The tools that each conversation without tools gets, if the template needs them.
    tools: Option<Value>,
    /// The limits, the deadline and the flag of the whole report. The experiments share its steps.
    meter: Meter<'t>,
    clock: Option<FixedClock>,
    /// Whether an experiment reached a limit other than that of the steps, so that the report depends on the limits.
    pub is_limited: bool,
    /// Whether there were fewer steps than the experiments wanted, so that the report depends on the limit of the steps.
    pub is_short_of_steps: bool,
}

impl<'t> Lab<'t> {
    /// Returns a lab whose experiments together have the limits, the deadline and the flag of a meter.
    pub fn new(template: &'t ChatTemplate, meter: &Meter<'t>) -> Self {
        let limits = meter.limits().clone();
        let output = limits.output.min(MAX_OUTPUT);
        Self {
            template,
            witnesses: BTreeMap::new(),
            tools: None,
            meter: meter.renew_with(limits.with_output(output)).share_steps(),
            is_limited: false,
            is_short_of_steps: false,
            // A report does not depend on when it is made.
            clock: LocalTime::new([2026, 1, 2], [3, 4, 5], 0).ok().map(FixedClock),
        }
    }

    /// Adds tools to all conversations, if the template renders a user message only with tools.
    ///
    /// # Errors
    /// See [`Lab::render`].
    pub fn add_needed_tools(&mut self) -> Result<()> {
        let trials = [Form::String, Form::Parts].map(|form| Trial::new([plant::say("user", form, USER)]));
        for tools in [None, Some(plant::tools(SPARE))] {
            for trial in &trials {
                if self.render_text(&trial.clone().with_tools(tools.clone()))?.is_some() {
                    self.tools = tools;
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Renders a trial.
    ///
    /// # Errors
    /// If the report as a whole has used up its steps or its time, or if it is cancelled.
    pub fn render(&mut self, trial: &Trial) -> Result<Rendered> {
        self.render_with(trial, true)
    }

    /// Renders a trial without a trace, which is quicker, and returns the text unless the render fails.
    ///
    /// # Errors
    /// See [`Lab::render`].
    pub fn render_text(&mut self, trial: &Trial) -> Result<Option<String>> {
        let rendered = self.render_with(trial, false)?;
        Ok(rendered.ok().map(|prompt| prompt.text))
    }

    /// Renders a trial, with a trace or without.
    fn render_with(&mut self, trial: &Trial, trace: bool) -> Result<Rendered> {
        let mut options = ApplyOptions {
            tools: trial.tools.as_ref().or(self.tools.as_ref()).map(|tools| tools as _),
            documents: trial.documents.as_ref().map(|documents| documents as _),
            variables: trial.variables.as_ref().map(|variables| variables as _),
            add_generation_prompt: trial.add_generation_prompt,
            trace,
            ..ApplyOptions::default()
        };
        if let Some(clock) = &self.clock {
            options.clock = clock;
        }
        let rendered = self.template.apply_within(&trial.messages, &options, &self.meter);
        if let Some(reached) = rendered.as_ref().err().and_then(Error::reached) {
            match reached.limit {
                Limit::Steps | Limit::Milliseconds => return Err(Error::limit(reached).with_note(NOTE)),
                Limit::Cancel => return Err(Error::limit(reached)),
                _ => self.is_limited = true,
            }
        }
        Ok(rendered)
    }

    /// Returns a meter for other work, with a number of steps of its own.
    pub fn meter(&self, steps: u64) -> Meter<'t> {
        self.meter.fork(steps)
    }

    /// Returns a meter for other renders, with at most a number of the steps that are left. [`Lab::spend`] must follow.
    pub fn lend(&mut self, steps: u64) -> Meter<'t> {
        let left = self.meter.steps_left();
        self.is_short_of_steps |= left < steps;
        self.meter.fork(steps.min(left))
    }

    /// Returns a number of steps for work other than renders. They are used up at the deadline of the whole report.
    pub fn budget(&self, steps: u64) -> Budget<'t> {
        Budget {
            meter: self.meter(steps),
            is_spent: false,
        }
    }

    /// Subtracts steps from those that are left.
    pub fn spend(&mut self, steps: u64) {
        self.meter.add_done(steps);
    }

    /// Returns an error if the deadline of the whole report has passed.
    pub fn check_time(&self) -> Result<()> {
        self.meter.check_time().map_err(|error| error.with_note(NOTE))
    }

    /// Renders trials until each question has the best outcome, and returns the outcomes in the order of the questions. Questions other
    /// than the first `main` ones do not keep the experiment going after `least` trials.
    ///
    /// # Errors
    /// See [`Lab::render`].
    pub fn ask_all<const N: usize>(
        &mut self,
        trials: impl IntoIterator<Item = Trial>,
        questions: [Question<'_>; N],
        (main, least): (usize, usize),
    ) -> Result<[Outcome; N]> {
        let mut best: [Option<Outcome>; N] = [None; N];
        for (index, trial) in trials.into_iter().enumerate() {
            let wanted = if index < least { N } else { main };
            if best.iter().take(wanted).all(|outcome| *outcome == Some(Outcome::Printed)) {
                break;
            }
            let rendered = self.render(&trial)?;
            for (best, question) in best.iter_mut().zip(&questions) {
                let outcome = match &rendered {
                    Ok(prompt) => (question.judge)(&trial, prompt),
                    Err(error) => (question.counts_error)(&trial).then(|| outcome_of(error)),
                };
                if let Some(outcome) = outcome.filter(|outcome| best.is_none_or(|best| *outcome < best)) {
                    *best = Some(outcome);
                    self.keep(question.path, &trial, &rendered);
                }
            }
        }
        Ok(best.map(Option::unwrap_or_default))
    }

    /// Renders trials until one has the best outcome.
    ///
    /// # Errors
    /// See [`Lab::render`].
    pub fn ask(&mut self, path: &str, trials: impl IntoIterator<Item = Trial>, judge: impl Fn(&str) -> Outcome) -> Result<Outcome> {
        let question = Question {
            path,
            judge: &|_, prompt| Some(judge(&prompt.text)),
            counts_error: &|_| true,
        };
        self.ask_all(trials, [question], (1, 0)).map(|[outcome]| outcome)
    }

    /// Keeps the witness of a verdict.
    pub fn keep(&mut self, path: impl Into<String>, trial: &Trial, rendered: &Rendered) {
        let mut witness = trial.witness(rendered, PLANT);
        witness.tools = witness.tools.or_else(|| self.tools.clone());
        self.witnesses.insert(path.into(), witness);
    }
}

/// The note on an error of a limit that a report reached.
pub const NOTE: &str = "the limits apply to all experiments of a report together";

/// Returns the outcome of a render that failed.
pub fn outcome_of(error: &Error) -> Outcome {
    match error.class() {
        ErrorClass::Refused => Outcome::Refused,
        _ => Outcome::Failed,
    }
}

/// Returns [`Outcome::Printed`] if all words are in a prompt, and [`Outcome::Lost`] otherwise.
pub fn find_words(text: &str, words: &[&str]) -> Outcome {
    match words.iter().all(|word| text.contains(word)) {
        true => Outcome::Printed,
        false => Outcome::Lost,
    }
}
