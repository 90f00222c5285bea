//! Searches for the plan with which a template prints everything that a request says.

use std::collections::{HashMap, HashSet};

use super::judge::{self, Faults};
use super::memory::Found;
use super::normal::Role;
use super::plan::{self, CHOICES, Choice, Kinds, OPERATORS, Plan, kind, value};
use super::prepared::Request;
use super::quick;
use super::write::{Given, Written};
use crate::chat::{ApplyOptions, Prompt};
use crate::error::{Error, ErrorKind, Result};
use crate::json::{DEPTH, Data, Object};
use crate::meter::Meter;

/// The most renders of a search before the cautious plans, and with them.
const BUDGET: usize = 150;
const MOST: usize = 190;

/// How much of a request is lost: the lower, the better.
type Score = (u32, u32, u32, u32);

/// What a plan leads to.
#[derive(Clone)]
pub struct Outcome {
    pub plan: Plan,
    pub faults: Faults,
    pub refusal: Option<Refusal>,
    /// Whether it takes a trace to judge the prompt.
    needs_trace: bool,
    /// Refused, garbled, lost, echoes.
    score: Score,
}

/// The error with which a template refuses a request.
#[derive(Clone)]
pub struct Refusal {
    /// The error, with places in the body.
    pub error: Error,
    /// The index of the message at which it is.
    message: Option<usize>,
}

impl Outcome {
    fn is_perfect(&self) -> bool {
        self.score == (0, 0, 0, 0)
    }

    /// Returns whether the template fails or garbles the request.
    fn is_bad(&self) -> bool {
        self.score.0 > 0 || self.score.1 > 0
    }

    pub fn kinds(&self) -> Kinds {
        kinds_of(&self.faults)
    }

    /// Returns the plan, with what it takes to judge its prompts.
    pub fn found(&self) -> Found {
        Found {
            plan: self.plan,
            faults: self.kinds(),
            needs_trace: self.needs_trace,
            is_of_sketch: false,
        }
    }

    /// Returns whether content or calls are lost.
    fn is_grave(&self, source: &str) -> bool {
        let calls = if source.contains("tool_calls") { kind::CALL } else { 0 };
        self.kinds() & (kind::CONTENT | calls) != 0
    }
}

pub struct Search<'s, 'b, 'm> {
    request: &'s Request<'b>,
    options: &'s ApplyOptions<'s>,
    meter: &'s mut Meter<'m>,
    source: &'s str,
    known: HashMap<Plan, Outcome>,
    /// The error of the first limit that was reached.
    limit: Option<Error>,
    /// The number of renders so far.
    pub renders: usize,
}

impl<'s, 'b, 'm> Search<'s, 'b, 'm> {
    pub fn new(request: &'s Request<'b>, options: &'s ApplyOptions<'s>, meter: &'s mut Meter<'m>) -> Self {
        Self {
            request,
            options,
            meter,
            source: request.template.source().unwrap_or_default(),
            known: HashMap::new(),
            limit: None,
            renders: 0,
        }
    }

    /// Returns the outcome of a plan.
    fn try_plan(&mut self, plan: Plan) -> Outcome {
        if let Some(outcome) = self.known.get(&plan) {
            return outcome.clone();
        }
        let outcome = match self.request.write(&plan, self.meter) {
            Ok(written) => self.evaluate(plan, &written).0,
            Err(error) => self.refuse(plan, error, &Written::default()),
        };
        self.known.insert(plan, outcome.clone());
        outcome
    }

    /// Renders what a plan wrote. Returns the outcome, and the prompt unless the template refuses the request.
    pub fn evaluate(&mut self, plan: Plan, written: &Written<'b>) -> (Outcome, Option<Prompt>) {
        let (faults, prompt, needs_trace) = match self.judge(written) {
            Ok(judged) => judged,
            Err(error) => return (self.refuse(plan, error, written), None),
        };
        let outcome = Outcome {
            plan,
            score: score_of(&faults),
            faults,
            refusal: None,
            needs_trace,
        };
        (outcome, Some(prompt))
    }

    /// Returns the outcome of a plan by an error of the template.
    fn refuse(&mut self, plan: Plan, error: Error, written: &Written<'b>) -> Outcome {
        if error.kind() == ErrorKind::Limit {
            // No other plan can be tried, and what was found so far may not be the best.
            self.renders = self.renders.saturating_add(MOST);
            self.limit.get_or_insert_with(|| error.clone());
        }
        let path = error.input_path().and_then(|path| path.strip_prefix("/messages/"));
        let refusal = Refusal {
            message: path.and_then(|path| path.split('/').next()?.parse().ok()),
            error: self.request.locate(error, written),
        };
        Outcome {
            plan,
            faults: Faults::new(),
            refusal: Some(refusal),
            needs_trace: false,
            score: (1, 0, 0, 0),
        }
    }

    /// Renders the request and returns what is lost.
    fn judge(&mut self, written: &Written<'b>) -> Result<(Faults, Prompt, bool)> {
        self.meter.charge_items(written.atoms.len())?;
        self.renders = self.renders.saturating_add(1);
        let prompt = self.request.render(written, self.options, (true, true), self.meter)?;
        let needs_trace = quick::judge(self.request, &prompt, written, self.meter)?.is_none();
        let mut faults = judge::judge(self.request, &prompt, written, self.meter)?;
        self.add_media(&prompt, written, &mut faults);
        faults.extend(&written.given_up);
        Ok((faults, prompt, needs_trace))
    }

    /// Adds media for which nothing stands in the prompt: without them, it is the same.
    fn add_media(&mut self, prompt: &Prompt, written: &Written<'b>, faults: &mut Faults) {
        if written.media.is_empty() || faults.iter().any(|(kind, _)| *kind == kind::LEAK) {
            return;
        }
        let media = written.atoms.iter().filter(|atom| atom.kind == kind::MEDIUM);
        let paths: HashSet<String> = media.clone().map(|atom| written.paths.pointer(atom.path)).collect();
        let Given::List(messages) = &written.messages else { return };
        let messages = messages.iter().enumerate();
        let without = Written {
            messages: Given::List(messages.map(|(index, message)| without(message, index, &paths)).collect()),
            tools: written.tools.clone(),
            variables: written.variables.clone(),
            ..Written::default()
        };
        self.renders = self.renders.saturating_add(1);
        let other = self.request.render(&without, self.options, (false, false), self.meter);
        if other.is_ok_and(|other| other.text == prompt.text) {
            faults.extend(media.map(|atom| (kind::MEDIUM, atom.place)));
        }
    }

    /// Returns the best outcome that is found. The plan of an earlier request is kept if it loses nothing.
    ///
    /// # Errors
    /// If a limit was reached.
    pub fn run(mut self, earlier: Option<Plan>) -> Result<Outcome> {
        let outcome = self.find(earlier);
        self.limit.map_or(Ok(outcome), Err)
    }

    fn find(&mut self, earlier: Option<Plan>) -> Outcome {
        if let Some(earlier) = earlier {
            let outcome = self.try_plan(earlier);
            if outcome.is_perfect() {
                return outcome;
            }
        }
        let mut current = self.try_plan(self.request.settings.plan());
        let mut seen: HashSet<String> = current
            .refusal
            .iter()
            .map(|refusal| refusal.error.message().to_owned())
            .collect();
        for gives_up in [false, true] {
            if gives_up && !current.is_bad() && !current.is_grave(self.source) {
                break;
            }
            for _ in 0..8 {
                if current.is_perfect() {
                    break;
                }
                let Some(next) = self.step(&current, gives_up, &mut seen) else {
                    break;
                };
                current = next;
            }
            if current.is_bad() || current.is_grave(self.source) {
                for plan in plan::cautious(gives_up) {
                    if self.renders > MOST {
                        break;
                    }
                    let other = self.try_plan(plan);
                    if other.score < current.score {
                        current = other;
                    }
                    if !current.is_bad() && !current.is_grave(self.source) {
                        break;
                    }
                }
            }
        }
        let base = self.request.settings.plan();
        if matches!(current.plan.get(Choice::Systems), value::ALL_AS_USER | value::INTO_USER) {
            let system = current.plan.with(Choice::Developer, value::AS_SYSTEM);
            for systems in [value::MERGED, value::LATER_AS_USER] {
                self.keep_better(&mut current, system.with(Choice::Systems, systems));
            }
        }
        for index in 0..CHOICES {
            let plan = current.plan.undo(index, &base);
            self.keep_better(&mut current, plan);
        }
        current
    }

    /// Replaces an outcome by that of a plan with fewer changes, unless that is worse.
    fn keep_better(&mut self, current: &mut Outcome, plan: Plan) {
        if plan != current.plan && self.renders < MOST {
            let other = self.try_plan(plan);
            if other.score <= current.score {
                *current = other;
            }
        }
    }

    /// Returns the operators that may help, with their plans.
    fn operators(&self, current: &Outcome, gives_up: bool) -> Vec<(&'static plan::Operator, Plan)> {
        let mut kinds = current.kinds();
        let as_text = self.request.settings.tools_as_text;
        for (word, kind) in [("tools", kind::TOOL), ("tool_calls", kind::CALL)] {
            if !self.source.contains(word) && !as_text {
                kinds &= !kind;
            }
        }
        for (fault, mends) in [(kind::REPR, kind::CONTENT), (kind::SPEAKER, kind::RESULT | kind::ECHO)] {
            if kinds & fault != 0 {
                kinds |= mends;
            }
        }
        let is_of_use = |operator: &&plan::Operator| {
            let is_last = match operator.choice {
                Choice::Drops => !as_text,
                Choice::Media | Choice::Thoughts => operator.value == value::DROPPED,
                _ => false,
            };
            let into_content = operator.choice == Choice::Thoughts && operator.value == value::CONTENT;
            let mends = match operator.choice {
                Choice::Drops if as_text => kind::TOOL | kind::CALL,
                Choice::Media if self.request.settings.media_placeholder.is_some() => operator.mends | kind::MEDIUM,
                _ => operator.mends,
            };
            let is_held = is_last && !gives_up && (operator.choice != Choice::Media || current.refusal.is_some());
            let is_new = current.plan.get(operator.choice) != operator.value && (operator.applies)(&self.request.normal);
            let may_mend = current.refusal.is_some() || mends & kinds != 0;
            let is_read = !into_content || self.source.contains("<think>") && self.thinks_last();
            is_new && may_mend && is_read && !is_held
        };
        let operators = OPERATORS.iter().filter(is_of_use);
        operators
            .map(|operator| (operator, current.plan.with(operator.choice, operator.value)))
            .collect()
    }

    /// Returns whether there is reasoning after the last message of the user. A template cuts earlier reasoning on purpose.
    fn thinks_last(&self) -> bool {
        let turns = &self.request.normal.turns;
        let last = turns
            .iter()
            .rposition(|turn| turn.role == Role::User)
            .map_or(0, |last| last.saturating_add(1));
        turns.iter().skip(last).any(|turn| !turn.thoughts.is_empty())
    }

    /// Tries operators on a plan that loses something, or with which the template fails. Then an error at a later message is progress, and
    /// so is one whose message was not seen, unless another plan does not fail.
    fn step(&mut self, current: &Outcome, gives_up: bool, seen: &mut HashSet<String>) -> Option<Outcome> {
        let at = current.refusal.as_ref().and_then(|refusal| refusal.message);
        let (has_failed, most) = if current.refusal.is_some() { (true, 2) } else { (false, 1) };
        let (mut best, mut second): (Option<Outcome>, Option<Outcome>) = (None, None);
        for (operator, plan) in self.operators(current, gives_up) {
            if self.renders > BUDGET {
                break;
            }
            let other = self.try_plan(plan);
            if let Some(Refusal { error, message, .. }) = &other.refusal {
                if at.is_some() && *message > at {
                    seen.insert(error.message().to_owned());
                    return Some(other);
                }
                if has_failed && second.is_none() && !seen.contains(error.message()) {
                    second = Some(other);
                }
                continue;
            }
            let is_better = other.score < best.as_ref().map_or(current.score, |best| best.score);
            let ends = other.is_perfect() || operator.cost <= most;
            if is_better {
                best = Some(other);
            }
            if ends && (is_better || has_failed) {
                break;
            }
        }
        if best.is_none() {
            let second = second.iter().filter_map(|second| second.refusal.as_ref());
            seen.extend(second.map(|refusal| refusal.error.message().to_owned()));
        }
        best.or(second)
    }
}

/// Returns the kinds of faults.
pub fn kinds_of(faults: &Faults) -> Kinds {
    faults.iter().fold(0, |kinds, (kind, _)| kinds | kind)
}

/// Returns the score of faults.
fn score_of(faults: &Faults) -> Score {
    let weight = |wanted: fn(Kinds) -> u32| {
        let weights = faults.iter().map(|(kind, _)| wanted(*kind));
        weights.fold(0, u32::saturating_add)
    };
    let garbled = weight(|kind| u32::from(kind & kind::GARBLED != 0));
    (0, garbled, weight(weigh), weight(|kind| u32::from(kind == kind::ECHO)))
}

/// Returns how much a loss weighs.
fn weigh(kind: Kinds) -> u32 {
    match kind {
        kind::CALL => 150,
        kind::TOOL => 10,
        kind::THOUGHT => 3,
        kind::MEDIUM => 2,
        kind::FIELD => 0,
        kind if kind & kind::CONTENT != 0 => 100,
        _ => 0,
    }
}

/// Returns a message without the parts at some paths.
fn without<'b>(message: &Given<'b>, index: usize, paths: &HashSet<String>) -> Given<'b> {
    let message = match message {
        Given::Kept(node) => node.to_data(DEPTH),
        Given::Made(data) => data.clone(),
        Given::List(_) => return message.clone(),
    };
    let Data::Object(object) = message else {
        return Given::Made(message);
    };
    let is_kept = |number: usize| !paths.contains(format!("/messages/{index}/content/{number}").as_str());
    let entries = object.into_entries().into_iter().map(|(key, value)| match value {
        Data::List(parts) if key == "content" => {
            let kept = parts.into_iter().enumerate().filter(|(number, _)| is_kept(*number));
            (key, Data::List(kept.map(|(_, part)| part).collect()))
        }
        value => (key, value),
    });
    Given::Made(Data::Object(Object::new(entries.collect())))
}
