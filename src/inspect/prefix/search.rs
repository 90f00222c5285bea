//! Searches for a conversation whose prompt is not a prefix of the prompt of a longer one.
//!
//! Two prompts are compared only if both renders succeed: a template may refuse a conversation.

use std::rc::Rc;

use serde_json::Value;

use super::Growth;
use super::turns::{Kind, Turn, is_conversation, list_turns, tools};
use crate::chat::{find_line, list_lookahead};
use crate::error::Error;
use crate::inspect::conversation::Conversation;
use crate::inspect::experiments::{Experiments, Rendered};
use crate::limits::Limit;
use crate::report::{Counterexample, Look};

/// The maximum number of steps of all renders for one template.
pub const MAX_STEPS: u64 = 4_000_000;

/// The number of steps of all renders for one template after which no further unusual pair is tried.
const MAX_UNUSUAL_STEPS: u64 = 200_000;

/// The maximum number of unusual pairs of one boundary.
const MAX_UNUSUAL: usize = 100;

/// The maximum number of messages of an unusual conversation.
const MAX_MESSAGES: usize = 8;

/// A conversation and its extension by one message.
#[derive(Clone, Debug)]
struct Pair {
    /// The conversation, as indices of turns.
    turns: Vec<usize>,
    /// The index of the turn that is appended.
    next: usize,
    /// The index of the set of variables with which the pair is rendered.
    setting: usize,
    has_tools: bool,
}

/// A search in one template.
pub struct Search<'t> {
    pub experiments: Experiments<'t>,
    /// The error that ended the search, other than that all steps are used up.
    pub error: Option<Error>,
    turns: Vec<Turn>,
    tools: Rc<Value>,
    /// The sets of variables. The first is empty.
    settings: Vec<Option<Value>>,
    /// The state of the pseudorandom sequence by which unusual pairs are made.
    seed: u64,
}

impl<'t> Search<'t> {
    /// Prepares a search with these sets of variables. The arguments of calls are objects, or JSON text if the template takes only that.
    pub fn new(experiments: Experiments<'t>, settings: Vec<Option<Value>>) -> Self {
        let mut search = Self {
            experiments,
            error: None,
            turns: list_turns(false),
            tools: Rc::new(tools()),
            settings,
            seed: 1,
        };
        let is_plain = |kind: Kind| search.turns.iter().position(|turn| turn.kind == kind);
        let turns: Option<Vec<usize>> = [Kind::User, Kind::Calls(1), Kind::Result].into_iter().map(is_plain).collect();
        if turns.is_some_and(|turns| search.render(&turns, (0, true), false).is_none()) {
            search.turns = list_turns(true);
        }
        search
    }

    /// Tries the few conversations that show most faults, without variables of the caller.
    pub fn find_usual(&mut self, growth: Growth) -> Option<Counterexample> {
        let pairs = self.list_pairs(growth);
        let found = pairs
            .into_iter()
            .find(|pair| self.experiments.steps_left() > 0 && self.differs(growth, pair));
        found.and_then(|pair| self.explain_smallest(growth, pair))
    }

    /// Tries many unusual conversations, with variables of the caller.
    pub fn find_unusual(&mut self, growth: Growth) -> Option<Counterexample> {
        for _ in 0..MAX_UNUSUAL {
            let pair = self.make_pair(growth);
            if self.experiments.steps() > MAX_UNUSUAL_STEPS {
                return None;
            }
            if let Some(pair) = pair.filter(|pair| self.differs(growth, pair)) {
                return self.explain_smallest(growth, pair);
            }
        }
        None
    }

    /// Returns the pairs that are tried first, the smallest first.
    fn list_pairs(&self, growth: Growth) -> Vec<Pair> {
        // A capital letter is each message of a kind in turn, and a small one the plainest.
        let (orders, nexts): (&[&str], _) = match growth {
            Growth::GenerationPrompt | Growth::Assistant => (&["U", "uCr", "uAu", "uCrr", "ucR", "ucrAu", "Hu"], "ac"),
            Growth::Tool => (&["uC", "uCr", "uCrC", "uAuc", "Uc", "Huc"], "r"),
            Growth::User => (&["uA", "uCra", "ucrA", "uauA", "Ua", "Hua"], "u"),
        };
        let nexts: Vec<usize> = nexts.chars().flat_map(|letter| self.list_kind(letter)).collect();
        let mut pairs = Vec::new();
        for order in orders {
            let varied = order.chars().find(char::is_ascii_uppercase).unwrap_or_default();
            for each in self.list_kind(varied) {
                let turn = |letter: char| {
                    if letter.is_ascii_uppercase() {
                        Some(each)
                    } else {
                        self.list_kind(letter).next()
                    }
                };
                let turns: Vec<usize> = order.chars().filter_map(turn).collect();
                // Every message is appended to the plainest conversation, and two messages to each of the others.
                let count = if pairs.is_empty() { nexts.len() } else { 2 };
                let pair = |next: &usize| self.pair(growth, &turns, *next, 0);
                pairs.extend(nexts.iter().take(count).filter_map(pair));
            }
        }
        pairs
    }

    /// Returns the indices of the messages of a kind: `h`, `u`, `a`, `c` with calls, or `r` with a result.
    fn list_kind(&self, letter: char) -> impl Iterator<Item = usize> {
        let is_wanted = move |kind: Kind| match letter.to_ascii_lowercase() {
            'h' => kind == Kind::Head,
            'u' => kind == Kind::User,
            'a' => kind == Kind::Answer,
            'c' => matches!(kind, Kind::Calls(_)),
            _ => kind == Kind::Result,
        };
        let turns = self.turns.iter().enumerate().filter(move |(_, turn)| is_wanted(turn.kind));
        turns.map(|(index, _)| index)
    }

    /// Returns the pair of a conversation and the message after it, if the verdict that is sought is about such a pair.
    fn pair(&self, growth: Growth, turns: &[usize], next: usize, setting: usize) -> Option<Pair> {
        let mut all = turns.iter().chain([&next]);
        let uses_tools = |turn: &usize| matches!(self.kind(*turn), Some(Kind::Calls(_) | Kind::Result));
        self.is_pair(growth, turns, next).then(|| Pair {
            has_tools: all.any(uses_tools),
            turns: turns.to_vec(),
            next,
            setting,
        })
    }

    /// Makes the next unusual pair.
    fn make_pair(&mut self, growth: Growth) -> Option<Pair> {
        let mut turns = Vec::new();
        let count = self.turns.len();
        let mut left = 40_usize;
        while turns.len() < MAX_MESSAGES && left > 0 {
            left = left.saturating_sub(1);
            // About every second message is plain, so unusual messages have plain surroundings.
            let drawn = self.draw(count);
            let is_plain = self.draw(2) == 0;
            let kind = self.kind(drawn);
            let plain = self.turns.iter().position(|turn| Some(turn.kind) == kind).unwrap_or(drawn);
            let next = if is_plain { plain } else { drawn };
            let setting = self.draw(self.settings.len().saturating_mul(2));
            let setting = if setting < self.settings.len() { setting } else { 0 };
            if turns.len() > 1 && self.draw(3) == 0 {
                if let Some(pair) = self.pair(growth, &turns, next, setting) {
                    return Some(pair);
                }
            }
            turns.push(next);
            if !is_conversation(turns.iter().filter_map(|turn| self.kind(*turn))) {
                turns.pop();
            }
        }
        None
    }

    /// Returns the next number below `end` of a sequence that is the same in each search.
    fn draw(&mut self, end: usize) -> usize {
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.seed >> 33)
            .unwrap_or_default()
            .checked_rem(end)
            .unwrap_or_default()
    }

    fn explain_smallest(&mut self, growth: Growth, pair: Pair) -> Option<Counterexample> {
        let pair = self.shrink(growth, pair);
        self.explain(growth, &pair)
    }

    fn kind(&self, turn: usize) -> Option<Kind> {
        self.turns.get(turn).map(|turn| turn.kind)
    }

    /// Returns whether the verdict that is sought is about a conversation and the message after it.
    fn is_pair(&self, growth: Growth, turns: &[usize], next: usize) -> bool {
        let kinds = turns.iter().chain([&next]).filter_map(|turn| self.kind(*turn));
        let last = turns.last().and_then(|last| self.kind(*last));
        let joins = last.zip(self.kind(next)).is_some_and(|(last, next)| growth.joins(last, next));
        joins && is_conversation(kinds)
    }

    /// Returns whether a pair is a counterexample.
    fn differs(&mut self, growth: Growth, pair: &Pair) -> bool {
        let rendered = self.render_pair(growth, pair);
        let texts = rendered.as_ref().map(|[before, after]| (before.as_ref(), after.as_ref()));
        matches!(texts, Some((Ok(before), Ok(after))) if !after.text.starts_with(&before.text))
    }

    /// Renders the shorter conversation of a pair and the longer one, unless a render fails.
    fn render_pair(&mut self, growth: Growth, pair: &Pair) -> Option<[Rc<Rendered>; 2]> {
        let longer = [pair.turns.as_slice(), &[pair.next]].concat();
        let place = (pair.setting, pair.has_tools);
        let after = self.render(&longer, place, false)?;
        let before = self.render(&pair.turns, place, growth == Growth::GenerationPrompt)?;
        Some([before, after])
    }

    fn conversation(&self, turns: &[usize], (setting, has_tools): (usize, bool), add_generation_prompt: bool) -> Conversation {
        let turns = turns.iter().filter_map(|turn| self.turns.get(*turn));
        Conversation {
            messages: turns.map(|turn| Rc::clone(&turn.message)).collect(),
            tools: has_tools.then(|| Rc::clone(&self.tools)),
            documents: None,
            variables: self.settings.get(setting).cloned().flatten(),
            add_generation_prompt,
        }
    }

    /// Renders messages with a setting, with or without tools, unless the render fails.
    fn render(&mut self, turns: &[usize], place: (usize, bool), add_generation_prompt: bool) -> Option<Rc<Rendered>> {
        if self.error.is_some() {
            return None;
        }
        let conversation = self.conversation(turns, place, add_generation_prompt);
        let rendered = self.experiments.render(&conversation);
        let is_end = |error: &Error| error.reached().is_some_and(|reached| reached.limit == Limit::Steps);
        match rendered {
            Ok(rendered) => Some(rendered).filter(|rendered| rendered.is_ok()),
            Err(error) => {
                self.error = Some(error).filter(|error| !is_end(error));
                None
            }
        }
    }

    /// Removes messages, and replaces others by plainer ones, as long as the pair remains a counterexample.
    fn shrink(&mut self, growth: Growth, mut pair: Pair) -> Pair {
        while let Some(smaller) = self.find_smaller(growth, &pair) {
            pair = smaller;
        }
        pair
    }

    fn find_smaller(&mut self, growth: Growth, pair: &Pair) -> Option<Pair> {
        let mut candidates = Vec::new();
        for width in [2, 1] {
            for start in 0..pair.turns.len() {
                let mut turns = pair.turns.clone();
                turns.drain(start..start.saturating_add(width).min(pair.turns.len()));
                candidates.push(Pair { turns, ..pair.clone() });
            }
        }
        if pair.setting > 0 {
            candidates.push(Pair {
                setting: 0,
                ..pair.clone()
            });
        }
        let plainest = |turn: usize| {
            let kind = self.kind(turn)?;
            self.turns
                .iter()
                .position(|other| other.kind == kind)
                .filter(|plain| *plain < turn)
        };
        for index in 0..pair.turns.len() {
            let mut turns = pair.turns.clone();
            if let Some(turn) = turns.get_mut(index) {
                if let Some(plain) = plainest(*turn) {
                    *turn = plain;
                    candidates.push(Pair { turns, ..pair.clone() });
                }
            }
        }
        candidates.extend(plainest(pair.next).map(|next| Pair { next, ..pair.clone() }));
        let mut candidates = candidates.into_iter();
        candidates.find(|pair| self.is_pair(growth, &pair.turns, pair.next) && self.differs(growth, pair))
    }

    /// Renders the pair with a trace, and finds the line that wrote the first character that differs.
    fn explain(&mut self, growth: Growth, pair: &Pair) -> Option<Counterexample> {
        let place = (pair.setting, pair.has_tools);
        let shorter = self.conversation(&pair.turns, place, growth == Growth::GenerationPrompt);
        let longer = self.conversation(&[pair.turns.as_slice(), &[pair.next]].concat(), place, false);
        let (before, after) = (self.experiments.trace(&shorter).ok()?, self.experiments.trace(&longer).ok()?);
        let (Ok(before), Ok(after)) = (&*before, &*after) else {
            return None;
        };
        let common = before.text.chars().zip(after.text.chars());
        let at = common.take_while(|(one, other)| one == other).count();
        let find = |prompt| find_line(prompt, |segment| segment.code_points().start <= at);
        let line = find(before).or_else(|| find(after));
        let wanted = if pair.has_tools { "tool_use" } else { "default" };
        let template = self.experiments.template;
        let index = template.names().iter().position(|name| *name == wanted).unwrap_or_default();
        let template = template.compiled().nth(index);
        let shown = shorter.to_witness();
        Some(Counterexample {
            messages: shorter.messages.iter().map(|message| (**message).clone()).collect(),
            appended: (*self.turns.get(pair.next)?.message).clone(),
            tools: shown.tools,
            variables: shown.variables,
            at,
            line,
            looks_at: template.map_or_else(Vec::new, |template| {
                let looks = list_lookahead(template, line.unwrap_or_default()).into_iter();
                looks.map(|(line, expression)| Look { line, expression }).collect()
            }),
            before: before.text.clone(),
            after: after.text.clone(),
        })
    }
}
