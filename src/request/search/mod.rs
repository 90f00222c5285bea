//! Searches for the plan with which a template prints everything that a request says.

mod effect;

use std::collections::{HashMap, HashSet};

use effect::LostMedia;

use super::judge::Faults;
use super::memory::Found;
use super::normal::{BodyTurn, Role};
use super::operators::{OPERATORS, Operator, cautious};
use super::plan::{Alternated, Content, Developer, Kinds, Plan, Systems, ThoughtForm, UNDO, kind};
use super::prepared::Request;
use super::reasons::{Score, score_of};
use super::write::Written;
use crate::chat::PromptOptions;
use crate::error::{Error, ErrorKind, Result};
use crate::meter::Meter;
use crate::trace::Keeps;

/// The most renders of a search before the cautious plans, and with them.
const BUDGET: usize = 210;
const MOST: usize = 260;

/// The most renders from one beginning, and from the plan of a sketch.
const CLIMB: usize = 90;
const FEW: usize = 16;

/// What a plan leads to.
#[derive(Clone)]
pub struct Outcome {
    pub plan: Plan,
    pub faults: Faults,
    pub refusal: Option<Refusal>,
    lost_media: LostMedia,
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
        self.score == [0; 4]
    }

    /// Returns whether the template fails or garbles the request.
    fn is_bad(&self) -> bool {
        let [refused, garbled, ..] = self.score;
        refused > 0 || garbled > 0
    }

    pub fn kinds(&self) -> Kinds {
        kinds_of(&self.faults)
    }

    /// Returns the plan, with what it takes to judge its prompts.
    pub fn found(&self) -> Found {
        Found {
            plan: self.plan,
            faults: self.kinds(),
            lost_media: self.lost_media.groups,
            judges_media: self.lost_media.is_mixed(),
            ..Found::default()
        }
    }

    /// Returns the outcome, or the error with which the template refuses the request.
    pub fn check(self) -> Result<Self> {
        self.refusal.clone().map_or(Ok(self), |refusal| Err(refusal.error))
    }

    /// Returns whether the template fails, garbles the request, or loses content or calls.
    fn is_grave(&self, source: &str) -> bool {
        let calls = if source.contains("tool_calls") { kind::CALL } else { 0 };
        self.is_bad() || self.kinds() & (kind::CONTENT | calls) != 0
    }
}

pub struct Search<'s, 'b, 'm> {
    request: &'s Request<'b>,
    options: &'s PromptOptions<'s>,
    meter: &'s mut Meter<'m>,
    source: &'s str,
    known: HashMap<Plan, Outcome>,
    /// The error of the first limit that was reached.
    limit: Option<Error>,
    /// Whether the template refuses the request as it is.
    pub refuses_neutral: bool,
    /// The number of renders so far.
    pub renders: usize,
}

impl<'s, 'b, 'm> Search<'s, 'b, 'm> {
    pub fn new(request: &'s Request<'b>, options: &'s PromptOptions<'s>, meter: &'s mut Meter<'m>) -> Self {
        Self {
            request,
            options,
            meter,
            source: request.template.source().unwrap_or_default(),
            known: HashMap::new(),
            limit: None,
            refuses_neutral: false,
            renders: 0,
        }
    }

    /// Returns the outcome of a plan.
    fn try_plan(&mut self, plan: Plan) -> Outcome {
        if let Some(outcome) = self.known.get(&plan) {
            return outcome.clone();
        }
        let (written, error) = match self.request.write(&plan, self.meter) {
            Ok(written) => (written, None),
            Err(error) => (Written::default(), Some(error)),
        };
        let outcome = error.map_or_else(|| self.evaluate(plan, &written), Err);
        let outcome = outcome.unwrap_or_else(|error| self.refuse(plan, error, &written));
        self.known.insert(plan, outcome.clone());
        outcome
    }

    /// Renders what a plan wrote, and judges the prompt.
    fn evaluate(&mut self, plan: Plan, written: &Written<'b>) -> Result<Outcome> {
        self.meter.charge_items(written.atoms.len())?;
        self.renders = self.renders.saturating_add(1);
        let (prompt, faults) = self.request.judge(written, self.options, Keeps::Sources, self.meter)?;
        let mut faults = faults.unwrap_or_default();
        let lost_media = match kinds_of(&faults) & kind::LEAK {
            0 => self.find_lost_media(&prompt, written),
            _ => LostMedia::default(),
        };
        faults.extend(&lost_media.faults);
        Ok(Outcome {
            plan,
            score: score_of(&faults),
            faults,
            refusal: None,
            lost_media,
        })
    }

    /// Returns the outcome of a plan by an error of the template.
    fn refuse(&mut self, plan: Plan, error: Error, written: &Written<'b>) -> Outcome {
        if error.kind() == ErrorKind::Limit {
            // No other plan can be tried, and what was found so far may not be the best.
            self.renders = self.renders.saturating_add(MOST);
            self.limit.get_or_insert_with(|| error.clone());
        }
        let path = error.input_path().and_then(|path| path.strip_prefix("/messages/"));
        let message = path.and_then(|path| path.split('/').next()?.parse().ok());
        let error = self.request.locate(error, written);
        Outcome {
            plan,
            faults: Faults::new(),
            refusal: Some(Refusal { error, message }),
            lost_media: LostMedia::default(),
            score: [1, 0, 0, 0],
        }
    }

    /// Returns the best outcome that is found. The plan of an earlier request is kept if it loses nothing.
    ///
    /// # Errors
    /// If a limit was reached.
    pub fn run(&mut self, earlier: Option<Plan>) -> Result<Outcome> {
        let mut outcome = self.find(earlier);
        self.fit_settings(&mut outcome);
        self.limit.take().map_or(Ok(outcome), Err)
    }

    /// Returns the outcome of the plan of a sketch, or one that a few operators make better. If the template refuses or garbles the request
    /// so, all plans are searched.
    ///
    /// # Errors
    /// If a limit was reached.
    pub fn improve(&mut self, plan: Plan) -> Result<Outcome> {
        let outcome = self.try_plan(plan);
        if outcome.is_bad() {
            return self.run(Some(plan));
        }
        let outcome = self.climb(outcome, false, FEW);
        self.limit.take().map_or(Ok(outcome), Err)
    }

    fn find(&mut self, earlier: Option<Plan>) -> Outcome {
        let base = self.request.settings.plan();
        if let Some(earlier) = earlier {
            let settings = base.settings;
            let outcome = self.try_plan(Plan { settings, ..earlier });
            if outcome.is_perfect() {
                return outcome;
            }
        }
        let neutral = self.try_plan(base);
        self.refuses_neutral = neutral.refusal.is_some();
        if neutral.is_perfect() {
            return neutral;
        }
        let mut current = self.climb(neutral, false, CLIMB);
        // Two changes can be needed at once. In the form that templates take most, one is enough.
        for form in [Content::String, Content::Parts] {
            if current.is_grave(self.source) {
                let start = self.try_plan(base.in_form(form));
                let other = self.climb(start, false, CLIMB);
                if other.score < current.score {
                    current = other;
                }
            }
        }
        self.try_cautious(&mut current, false);
        if current.is_grave(self.source) {
            current = self.climb(current, true, BUDGET);
            self.try_cautious(&mut current, true);
        }
        self.keep_systems(&mut current);
        for undo in UNDO {
            let mut plan = current.plan;
            undo(&mut plan, &base);
            self.keep_better(&mut current, plan);
        }
        self.place_later_systems(&mut current);
        current
    }

    /// Returns the outcome to which operators lead, one after the other, in a number of renders.
    fn climb(&mut self, mut current: Outcome, gives_up: bool, renders: usize) -> Outcome {
        let most = self.renders.saturating_add(renders).min(BUDGET);
        let refusal = current.refusal.iter();
        let mut seen: HashSet<String> = refusal.map(|refusal| refusal.error.message().to_owned()).collect();
        for _ in 0..8 {
            if current.is_perfect() {
                break;
            }
            let Some(next) = self.step(&current, gives_up, most, &mut seen) else {
                break;
            };
            current = next;
        }
        current
    }

    /// Tries the cautious plans on what is refused, garbled or gravely lost.
    fn try_cautious(&mut self, current: &mut Outcome, gives_up: bool) {
        for plan in cautious(gives_up) {
            if self.renders > MOST || !current.is_grave(self.source) {
                break;
            }
            let other = self.try_plan(plan);
            if other.score < current.score {
                *current = other;
            }
        }
    }

    /// Leaves system messages to the system, if the template takes some of them.
    fn keep_systems(&mut self, current: &mut Outcome) {
        if !matches!(current.plan.systems, Systems::AllAsUser | Systems::IntoUser) {
            return;
        }
        let mut plan = current.plan;
        plan.developer = Developer::System;
        for systems in [Systems::Merged, Systems::LaterAsUser] {
            self.keep_better(current, Plan { systems, ..plan });
        }
    }

    /// Leaves system messages after an answer in their place, as user messages: if they were merged into the first message, each
    /// of them would change the beginning of the prompt.
    fn place_later_systems(&mut self, current: &mut Outcome) {
        let systems = match current.plan.systems {
            Systems::Merged => Systems::LaterAsUser,
            Systems::IntoUser => Systems::AllAsUser,
            _ => return,
        };
        let turns = self.request.normal.turns.iter();
        let mut later = turns.skip_while(|turn| turn.role != Role::Assistant);
        let is_asked_for = current.plan.systems == self.request.settings.plan().systems;
        if is_asked_for || !later.any(BodyTurn::is_system) {
            return;
        }
        let plan = Plan { systems, ..current.plan };
        for alternation in [plan.alternation, Alternated::Merged, Alternated::Inserted] {
            self.keep_better(current, Plan { alternation, ..plan });
            if current.plan.systems == systems {
                break;
            }
        }
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
    fn operators(&self, current: &Outcome, gives_up: bool) -> Vec<(&'static Operator, Plan)> {
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
        let has_placeholder = self.request.settings.media_placeholder.is_some();
        let base = current.plan;
        let apply = |operator: &'static Operator| {
            let mut plan = base;
            (operator.choose)(&mut plan);
            let drops = plan.drops != base.drops;
            let changes_media = plan.media != base.media;
            let is_held = plan.gives_up(&base) && !gives_up && !(drops && as_text) && (!changes_media || current.refusal.is_some());
            let mends = match operator.mends {
                _ if drops && as_text => kind::TOOL | kind::CALL,
                mends if changes_media && has_placeholder => mends | kind::MEDIUM,
                mends => mends,
            };
            let may_mend = current.refusal.is_some() || mends & kinds != 0;
            let into_content = plan.thoughts == ThoughtForm::Content && plan.thoughts != base.thoughts;
            let is_read = !into_content || self.source.contains("<think>") && self.thinks_last();
            let is_new = plan != base && (operator.applies)(&self.request.normal);
            (is_new && may_mend && is_read && !is_held).then_some((operator, plan))
        };
        OPERATORS.iter().filter_map(apply).collect()
    }

    /// Returns whether there is reasoning after the last user message. A template cuts earlier reasoning on purpose.
    fn thinks_last(&self) -> bool {
        let turns = self.request.normal.turns.iter().rev();
        let mut own = turns.take_while(|turn| turn.role != Role::User);
        own.any(|turn| !turn.thoughts.is_empty())
    }

    /// Tries operators on a plan that loses something, or with which the template fails. Then an error at a later message is progress, and
    /// so is one whose message was not seen, unless another plan does not fail.
    fn step(&mut self, current: &Outcome, gives_up: bool, most_renders: usize, seen: &mut HashSet<String>) -> Option<Outcome> {
        let at = current.refusal.as_ref().and_then(|refusal| refusal.message);
        let (has_failed, most) = if current.refusal.is_some() { (true, 2) } else { (false, 1) };
        let (mut best, mut second): (Option<Outcome>, Option<Outcome>) = (None, None);
        for (operator, plan) in self.operators(current, gives_up) {
            if self.renders > most_renders {
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
            let ends = other.is_perfect() || operator.cost <= most && other.score[1] == 0;
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
