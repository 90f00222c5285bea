//! Searches for the plan with which a template prints everything that a request says.

use std::collections::{HashMap, HashSet};

use super::judge::{self, Faults};
use super::memory::Found;
use super::normal::{Medium, Role, Turn};
use super::places::Place;
use super::plan::{self, CHOICES, Choice, Kinds, OPERATORS, Plan, kind, value};
use super::prepared::Request;
use super::quick;
use super::variables::LEVELS;
use super::write::{MediaSet, Written};
use crate::chat::{Prompt, PromptOptions};
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Data, Object};
use crate::meter::Meter;

/// The most renders of a search before the cautious plans, and with them.
const BUDGET: usize = 210;
const MOST: usize = 260;

/// The most renders from one beginning.
const CLIMB: usize = 90;

/// The most groups of media that are judged, each by two renders.
const MOST_GROUPS: usize = 8;

/// How much of a request is lost: the lower, the better.
type Score = (u32, u32, u32, u32);

/// What a plan leads to.
#[derive(Clone)]
pub struct Outcome {
    pub plan: Plan,
    pub faults: Faults,
    pub refusal: Option<Refusal>,
    /// The groups of media for which nothing stands in the prompt.
    lost_media: MediaSet,
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
            lost_media: self.lost_media,
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
    options: &'s PromptOptions<'s>,
    meter: &'s mut Meter<'m>,
    source: &'s str,
    known: HashMap<Plan, Outcome>,
    /// The error of the first limit that was reached.
    limit: Option<Error>,
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
            renders: 0,
        }
    }

    /// Returns the outcome of a plan.
    fn try_plan(&mut self, plan: Plan) -> Outcome {
        if let Some(outcome) = self.known.get(&plan) {
            return outcome.clone();
        }
        let outcome = match self.request.write(&plan, self.meter) {
            Ok(written) => self.evaluate(plan, &written, None).0,
            Err(error) => self.refuse(plan, error, &Written::default()),
        };
        self.known.insert(plan, outcome.clone());
        outcome
    }

    /// Renders what a plan wrote. Returns the outcome, and the prompt unless the template refuses the request. Of media it returns only
    /// those that were found to be lost: `None` lets renders find them.
    pub fn evaluate(&mut self, plan: Plan, written: &Written<'b>, lost_media: Option<MediaSet>) -> (Outcome, Option<Prompt>) {
        let (mut faults, prompt, needs_trace) = match self.judge(written) {
            Ok(judged) => judged,
            Err(error) => return (self.refuse(plan, error, written), None),
        };
        let leaks = faults.iter().any(|(kind, _)| *kind == kind::LEAK);
        let lost_media = match lost_media {
            Some(lost) => lost,
            None if leaks => 0,
            None => self.find_lost_media(&prompt, written),
        };
        faults.extend(written.list_lost(lost_media));
        let outcome = Outcome {
            plan,
            score: score_of(&faults),
            faults,
            refusal: None,
            lost_media,
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
            lost_media: 0,
            needs_trace: false,
            score: (1, 0, 0, 0),
        }
    }

    /// Renders the request and returns what is lost, but for media.
    fn judge(&mut self, written: &Written<'b>) -> Result<(Faults, Prompt, bool)> {
        self.meter.charge_items(written.atoms.len())?;
        self.renders = self.renders.saturating_add(1);
        let prompt = self.request.render(written, self.options, (true, true), self.meter)?;
        let needs_trace = quick::judge(self.request, &prompt, written, self.meter)?.is_none();
        let mut faults = judge::judge(self.request, &prompt, written, self.meter)?;
        faults.extend(&written.given_up);
        Ok((faults, prompt, needs_trace))
    }

    /// Returns the groups of media for which nothing stands in the prompt.
    fn find_lost_media(&mut self, prompt: &Prompt, written: &Written<'b>) -> MediaSet {
        let mut groups: Vec<(MediaSet, Option<&str>)> = Vec::new();
        for medium in &written.media {
            let group = (written.group_of(medium), medium.node.get_text("type"));
            if !groups.contains(&group) && groups.len() < MOST_GROUPS {
                groups.push(group);
            }
        }
        let mut lost = 0;
        for (group, kind) in groups {
            let media = written.media.iter();
            let own: Vec<_> = media
                .filter(|medium| (written.group_of(medium), medium.node.get_text("type")) == (group, kind))
                .collect();
            let Some(first) = own.first() else { continue };
            let indices: HashSet<(usize, usize)> = own.iter().map(|medium| (medium.message, medium.part)).collect();
            let mut render = |other: Option<Data<'b>>| {
                self.renders = self.renders.saturating_add(1);
                let replaced = written.replace_parts(&indices, other.as_ref());
                let other = self.request.render(&replaced, self.options, (false, false), self.meter);
                other.ok().map(|other| other.text)
            };
            let Some(without) = render(None) else { continue };
            let unknown = Data::Object(Object::new(vec![("type".into(), Data::Str("unknown".into()))]));
            let is_lost = without == prompt.text
                || render(Some(unknown)).as_ref() == Some(&prompt.text) && !names_medium(&prompt.text, &without, first.kind);
            lost |= if is_lost { group } else { 0 };
        }
        lost
    }

    /// Returns the best outcome that is found. The plan of an earlier request is kept if it loses nothing.
    ///
    /// # Errors
    /// If a limit was reached.
    pub fn run(mut self, earlier: Option<Plan>) -> Result<Outcome> {
        let mut outcome = self.find(earlier);
        self.fit_settings(&mut outcome);
        self.limit.map_or(Ok(outcome), Err)
    }

    fn find(&mut self, earlier: Option<Plan>) -> Outcome {
        let base = self.request.settings.plan();
        if let Some(earlier) = earlier {
            let settings = base.get(Choice::Settings);
            let outcome = self.try_plan(earlier.with(Choice::Settings, settings));
            if outcome.is_perfect() {
                return outcome;
            }
        }
        let neutral = self.try_plan(base);
        if neutral.is_perfect() {
            return neutral;
        }
        let mut current = self.climb(neutral, false);
        // Two changes can be needed at once. In the form that templates take most, one is enough.
        for form in [value::STRING, value::PARTS] {
            if current.is_bad() || current.is_grave(self.source) {
                let start = self.try_plan(base.in_form(form));
                let other = self.climb(start, false);
                if other.score < current.score {
                    current = other;
                }
            }
        }
        self.try_cautious(&mut current, false);
        if current.is_bad() || current.is_grave(self.source) {
            current = self.climb(current, true);
            self.try_cautious(&mut current, true);
        }
        self.keep_systems(&mut current);
        for index in 0..CHOICES {
            let plan = current.plan.undo(index, &base);
            self.keep_better(&mut current, plan);
        }
        self.place_later_systems(&mut current);
        current
    }

    /// Returns the outcome to which operators lead, one after the other.
    fn climb(&mut self, mut current: Outcome, gives_up: bool) -> Outcome {
        let most = self.renders.saturating_add(if gives_up { BUDGET } else { CLIMB }).min(BUDGET);
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
        for plan in plan::cautious(gives_up) {
            if self.renders > MOST || !current.is_bad() && !current.is_grave(self.source) {
                break;
            }
            let other = self.try_plan(plan);
            if other.score < current.score {
                *current = other;
            }
        }
    }

    /// Leaves messages of the system to the system, if the template takes some of them.
    fn keep_systems(&mut self, current: &mut Outcome) {
        if matches!(current.plan.get(Choice::Systems), value::ALL_AS_USER | value::INTO_USER) {
            let system = current.plan.with(Choice::Developer, value::AS_SYSTEM);
            for systems in [value::MERGED, value::LATER_AS_USER] {
                self.keep_better(current, system.with(Choice::Systems, systems));
            }
        }
    }

    /// Leaves messages of the system after an answer in their place, as those of the user: if they were merged into the first message, each
    /// of them would change the beginning of the prompt.
    fn place_later_systems(&mut self, current: &mut Outcome) {
        let systems = match current.plan.get(Choice::Systems) {
            value::MERGED => value::LATER_AS_USER,
            value::INTO_USER => value::ALL_AS_USER,
            _ => return,
        };
        let turns = &self.request.normal.turns;
        let answer = turns
            .iter()
            .position(|turn| turn.role == Role::Assistant)
            .unwrap_or(turns.len());
        let is_asked_for = current.plan.get(Choice::Systems) == self.request.settings.plan().get(Choice::Systems);
        if is_asked_for || !turns.iter().skip(answer).any(Turn::is_system) {
            return;
        }
        let plan = current.plan.with(Choice::Systems, systems);
        let own = plan.get(Choice::Alternation);
        for alternation in [own, value::MERGED_TURNS, value::INSERTED] {
            self.keep_better(current, plan.with(Choice::Alternation, alternation));
            if current.plan.get(Choice::Systems) == systems {
                break;
            }
        }
    }

    /// Gives an effort that the template does not know the name of the nearest one that it knows, and lets it know that there is reasoning
    /// if the effort has no effect else.
    fn fit_settings(&mut self, current: &mut Outcome) {
        let variables = &self.request.variables;
        let plan = current.plan;
        if current.refusal.is_some() || !variables.has_settings() || plan.get(Choice::Settings) == value::DROPPED {
            return;
        }
        let own = self.say(plan);
        if variables.reads_effort() {
            if let Some(level) = variables.level() {
                let settings = self.find_effort(plan, level, own.as_deref());
                match settings {
                    Some(settings) => self.keep_better(current, plan.with(Choice::Settings, settings)),
                    None => current.faults.push((kind::EFFORT, Place::BODY)),
                }
            }
        }
        let is_switched = variables.path(kind::THINKING).is_some() && variables.has_switch();
        if is_switched && self.say(plan.with(Choice::Settings, value::INVERTED)) == own {
            current.faults.push((kind::THINKING, Place::BODY));
        }
    }

    /// Returns the settings with which an effort has an effect, or `None` if no effort has one.
    fn find_effort(&mut self, plan: Plan, level: u8, own: Option<&str>) -> Option<u8> {
        let has_switch = self.request.variables.has_switch();
        for switch in [0, value::SWITCH] {
            if switch != 0 && !has_switch {
                break;
            }
            let with = |level: u8| plan.with(Choice::Settings, value::LEVEL + switch + level);
            let unknown = self.say(with(value::SWITCH - 1));
            if switch == 0 && own != unknown.as_deref() {
                return Some(plan.get(Choice::Settings));
            }
            let prompts: Vec<Option<String>> = LEVELS.iter().zip(0..).map(|(_, level)| self.say(with(level))).collect();
            let differs = |prompt: &Option<String>| prompt.is_some() && *prompt != unknown;
            let others: Vec<String> = prompts
                .iter()
                .filter(|prompt| differs(prompt))
                .flatten()
                .map(|prompt| prompt.to_lowercase())
                .collect();
            // The effort of a branch for all other words has its own word in the prompt.
            let is_named = |word: &str, prompt: &Option<String>| {
                let names = |text: &String| text.contains(word);
                prompt.as_ref().is_some_and(|prompt| names(&prompt.to_lowercase()))
                    && !others.is_empty()
                    && !others.iter().any(names)
            };
            let known = LEVELS.iter().zip(&prompts).zip(0_u8..);
            let known = known.filter(|((word, prompt), _)| differs(prompt) || is_named(word, prompt));
            let known: Vec<u8> = known.map(|(_, level)| level).collect();
            if known.contains(&level) {
                return Some(if switch == 0 {
                    plan.get(Choice::Settings)
                } else {
                    value::LEVEL + switch + level
                });
            }
            if level == 0 && has_switch {
                return Some(value::WITHOUT_EFFORT);
            }
            let nearest = known.into_iter().min_by_key(|other| (level.abs_diff(*other), level > *other));
            if let Some(nearest) = nearest {
                return Some(value::LEVEL + switch + nearest);
            }
        }
        None
    }

    /// Returns the prompt of a plan, unless the template refuses it.
    fn say(&mut self, plan: Plan) -> Option<String> {
        let written = self.request.write(&plan, self.meter).ok()?;
        self.renders = self.renders.saturating_add(1);
        let prompt = self.request.render(&written, self.options, (false, false), self.meter);
        match prompt {
            Ok(prompt) => Some(prompt.text),
            Err(error) => {
                self.refuse(plan, error, &written);
                None
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
    let garbled = weight(|kind| match kind {
        kind::REPR | kind::DOUBLE | kind::LEAK => 10,
        kind::ORDER => 3,
        kind::SPEAKER => 1,
        _ => 0,
    });
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

/// Returns whether what a prompt has more than another one names a kind of media.
fn names_medium(text: &str, without: &str, kind: Medium) -> bool {
    let names: &[&str] = match kind {
        Medium::Image => &["image", "img", "vision", "picture"],
        Medium::Audio => &["audio", "sound", "speech"],
        Medium::Video => &["video", "frame"],
        Medium::File => &["file", "document", "pdf"],
    };
    let same = |pair: &(u8, u8)| pair.0 == pair.1;
    let start = text.bytes().zip(without.bytes()).take_while(same).count();
    let end = text.bytes().rev().zip(without.bytes().rev()).take_while(same).count();
    // The beginning of a name can also be that of what follows.
    let around = start.saturating_sub(16)..text.len().saturating_sub(end).saturating_add(16).min(text.len()).max(start);
    let piece = String::from_utf8_lossy(text.as_bytes().get(around).unwrap_or_default()).to_lowercase();
    names.iter().any(|name| piece.contains(name))
}
