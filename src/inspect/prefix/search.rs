//! Searches for a conversation whose prompt is not a prefix of the prompt of a longer one.
//!
//! Two prompts are compared only if both renders succeed: a template may refuse a conversation.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::{Map, Value};

use super::Way;
use super::looks::list_looks;
use super::turns::{Kind, Turn, is_conversation, list_turns, tools};
use crate::chat::{ApplyOptions, ChatTemplate, Prompt};
use crate::clock::{Clock, FixedClock, LocalTime, SystemClock};
use crate::meter::Meter;
use crate::report::Counterexample;
use crate::trace::Origin;

/// The maximum number of steps of all renders for one template.
pub const MAX_STEPS: u64 = 4_000_000;

/// The number of steps of all renders for one template after which no further unusual pair is tried.
const MAX_UNUSUAL_STEPS: u64 = 200_000;

/// The maximum number of unusual pairs of one boundary.
const MAX_UNUSUAL: usize = 100;

/// The maximum number of messages of an unusual conversation.
const MAX_MESSAGES: usize = 8;

/// What is rendered: the messages by their indices in the list of turns, the index of the setting, whether there are tools, and whether a
/// generation prompt is wanted.
type Key = (Vec<usize>, usize, bool, bool);

/// A conversation and its extension by one message.
#[derive(Clone, Debug)]
struct Pair {
    /// The conversation, as indices of turns.
    turns: Vec<usize>,
    /// The index of the turn that is appended.
    next: usize,
    /// The index of the setting.
    setting: usize,
    has_tools: bool,
}

/// A search in one template. It remembers the prompts that it rendered.
pub struct Search<'t> {
    template: &'t ChatTemplate,
    turns: Vec<Turn>,
    tools: Value,
    settings: Vec<Value>,
    clock: FixedClock,
    /// The limits and the deadline of all renders, which share its steps.
    meter: Meter<'t>,
    prompts: HashMap<Key, Option<Rc<str>>>,
    /// The state of the sequence from which unusual pairs are made.
    seed: u64,
}

impl<'t> Search<'t> {
    /// Prepares a search with these sets of variables. The arguments of calls are objects, or JSON text if the template takes only that.
    pub fn new(template: &'t ChatTemplate, settings: Vec<Map<String, Value>>, meter: Meter<'t>) -> Self {
        let mut search = Self {
            template,
            turns: list_turns(false),
            tools: tools(),
            settings: settings.into_iter().map(Value::Object).collect(),
            clock: FixedClock(LocalTime::new([2026, 1, 2], [3, 4, 5], 0).unwrap_or_else(|_| SystemClock.now())),
            meter: meter.share_steps(),
            prompts: HashMap::new(),
            seed: 1,
        };
        let is_plain = |kind: Kind| search.turns.iter().position(|turn| turn.kind == kind);
        let turns: Option<Vec<usize>> = [Kind::User, Kind::Calls(1), Kind::Result].into_iter().map(is_plain).collect();
        if turns.is_some_and(|turns| search.render(&(turns, 0, true, false), false).is_none()) {
            search.turns = list_turns(true);
        }
        search
    }

    /// Returns the steps of all renders.
    pub fn steps(&self) -> u64 {
        self.meter.steps()
    }

    /// Tries the few conversations that show most faults, without variables of the caller.
    pub fn find_usual(&mut self, way: Way) -> Option<Counterexample> {
        let pairs = self.list_pairs(way);
        let found = pairs
            .into_iter()
            .find(|pair| self.meter.steps_left() > 0 && self.differs(way, pair));
        found.and_then(|pair| self.explain_smallest(way, pair))
    }

    /// Tries many unusual conversations, with variables of the caller.
    pub fn find_unusual(&mut self, way: Way) -> Option<Counterexample> {
        for _ in 0..MAX_UNUSUAL {
            let pair = self.make_pair(way);
            if self.steps() > MAX_UNUSUAL_STEPS {
                return None;
            }
            if let Some(pair) = pair.filter(|pair| self.differs(way, pair)) {
                return self.explain_smallest(way, pair);
            }
        }
        None
    }

    /// Returns the pairs that are tried first, the smallest first.
    fn list_pairs(&self, way: Way) -> Vec<Pair> {
        let all = |wanted: fn(Kind) -> bool| {
            let turns = self.turns.iter().enumerate().filter(move |(_, turn)| wanted(turn.kind));
            turns.map(|(index, _)| index).collect::<Vec<usize>>()
        };
        let heads = all(|kind| kind == Kind::Head);
        let users = all(|kind| kind == Kind::User);
        let answers = all(|kind| kind == Kind::Answer);
        let calls = all(|kind| matches!(kind, Kind::Calls(_)));
        let results = all(|kind| kind == Kind::Result);
        let plain = (users.first(), answers.first(), calls.first(), results.first());
        let (Some(&user), Some(&answer), Some(&call), Some(&result)) = plain else {
            return Vec::new();
        };
        let mut conversations: Vec<Vec<usize>> = Vec::new();
        match way {
            Way::GenerationPrompt | Way::Assistant => {
                conversations.extend(users.iter().map(|user| vec![*user]));
                conversations.extend(calls.iter().map(|call| vec![user, *call, result]));
                conversations.extend(answers.iter().map(|answer| vec![user, *answer, user]));
                conversations.extend(calls.iter().map(|call| vec![user, *call, result, result]));
                conversations.extend(results.iter().map(|result| vec![user, call, *result]));
                conversations.extend(answers.iter().map(|answer| vec![user, call, result, *answer, user]));
            }
            Way::Tool => {
                conversations.extend(calls.iter().map(|call| vec![user, *call]));
                conversations.extend(calls.iter().map(|call| vec![user, *call, result]));
                conversations.extend(calls.iter().map(|call| vec![user, *call, result, *call]));
                conversations.extend(answers.iter().map(|answer| vec![user, *answer, user, call]));
                conversations.extend(users.iter().map(|user| vec![*user, call]));
            }
            Way::User => {
                conversations.extend(answers.iter().map(|answer| vec![user, *answer]));
                conversations.extend(calls.iter().map(|call| vec![user, *call, result, answer]));
                conversations.extend(answers.iter().map(|answer| vec![user, call, result, *answer]));
                conversations.extend(answers.iter().map(|last| vec![user, answer, user, *last]));
                conversations.extend(users.iter().map(|user| vec![*user, answer]));
            }
        }
        let plainest = conversations.first().cloned().unwrap_or_default();
        conversations.extend(heads.into_iter().map(|head| [&[head], plainest.as_slice()].concat()));
        let nexts = match way {
            Way::GenerationPrompt | Way::Assistant => [answers, calls].concat(),
            Way::Tool => results,
            Way::User => users,
        };
        let mut pairs = Vec::new();
        for (index, turns) in conversations.iter().enumerate() {
            // Every message is appended to the plainest conversation, and two messages to each of the others.
            let count = if index == 0 { nexts.len() } else { 2 };
            let pair = |next: &usize| self.pair(way, turns, *next, 0);
            pairs.extend(nexts.iter().take(count).filter_map(pair));
        }
        pairs
    }

    /// Returns the pair of a conversation and the message after it, if the boundary is about it.
    fn pair(&self, way: Way, turns: &[usize], next: usize, setting: usize) -> Option<Pair> {
        let mut all = turns.iter().chain([&next]);
        let uses_tools = |turn: &usize| matches!(self.kind(*turn), Some(Kind::Calls(_) | Kind::Result));
        self.is_pair(way, turns, next).then(|| Pair {
            has_tools: all.any(uses_tools),
            turns: turns.to_vec(),
            next,
            setting,
        })
    }

    /// Makes the next unusual pair.
    fn make_pair(&mut self, way: Way) -> Option<Pair> {
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
                if let Some(pair) = self.pair(way, &turns, next, setting) {
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

    fn explain_smallest(&mut self, way: Way, pair: Pair) -> Option<Counterexample> {
        let pair = self.shrink(way, pair);
        self.explain(way, &pair)
    }

    fn kind(&self, turn: usize) -> Option<Kind> {
        self.turns.get(turn).map(|turn| turn.kind)
    }

    /// Returns whether the boundary is about a conversation and the message after it.
    fn is_pair(&self, way: Way, turns: &[usize], next: usize) -> bool {
        let kinds = turns.iter().chain([&next]).filter_map(|turn| self.kind(*turn));
        let last = turns.last().and_then(|last| self.kind(*last));
        let joins = last.zip(self.kind(next)).is_some_and(|(last, next)| way.joins(last, next));
        joins && is_conversation(kinds)
    }

    /// Returns whether a pair is a counterexample.
    fn differs(&mut self, way: Way, pair: &Pair) -> bool {
        let longer = [pair.turns.as_slice(), &[pair.next]].concat();
        let after = self.prompt((longer, pair.setting, pair.has_tools, false));
        let Some(after) = after else { return false };
        let before = self.prompt((pair.turns.clone(), pair.setting, pair.has_tools, way == Way::GenerationPrompt));
        before.is_some_and(|before| !after.starts_with(&*before))
    }

    fn prompt(&mut self, key: Key) -> Option<Rc<str>> {
        if let Some(prompt) = self.prompts.get(&key) {
            return prompt.clone();
        }
        let prompt: Option<Rc<str>> = self.render(&key, false).map(|prompt| prompt.text.into());
        self.prompts.insert(key, prompt.clone());
        prompt
    }

    fn render(&self, (turns, setting, has_tools, wants_prompt): &Key, trace: bool) -> Option<Prompt> {
        let messages: Vec<&Value> = self.messages(turns);
        let options = ApplyOptions {
            tools: has_tools.then_some(&self.tools as _),
            variables: self.settings.get(*setting).map(|variables| variables as _),
            add_generation_prompt: *wants_prompt,
            clock: &self.clock,
            trace,
            ..ApplyOptions::default()
        };
        self.template.apply_within(messages.as_slice(), &options, &self.meter).ok()
    }

    fn messages(&self, turns: &[usize]) -> Vec<&Value> {
        let turns = turns.iter().filter_map(|turn| self.turns.get(*turn));
        turns.map(|turn| &turn.message).collect()
    }

    /// Removes messages, and replaces others by plainer ones, as long as the pair remains a counterexample.
    fn shrink(&mut self, way: Way, mut pair: Pair) -> Pair {
        while let Some(smaller) = self.find_smaller(way, &pair) {
            pair = smaller;
        }
        pair
    }

    fn find_smaller(&mut self, way: Way, pair: &Pair) -> Option<Pair> {
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
        candidates.find(|pair| self.is_pair(way, &pair.turns, pair.next) && self.differs(way, pair))
    }

    /// Renders the pair with a trace, and finds the line that wrote the first character that differs.
    fn explain(&self, way: Way, pair: &Pair) -> Option<Counterexample> {
        let longer = [pair.turns.as_slice(), &[pair.next]].concat();
        let wants_prompt = way == Way::GenerationPrompt;
        let before = self.render(&(pair.turns.clone(), pair.setting, pair.has_tools, wants_prompt), true)?;
        let after = self.render(&(longer, pair.setting, pair.has_tools, false), true)?;
        let common = before
            .text
            .chars()
            .zip(after.text.chars())
            .take_while(|(one, other)| one == other)
            .count();
        let line = find_line(&before, common).or_else(|| find_line(&after, common));
        let wanted = if pair.has_tools { "tool_use" } else { "default" };
        let names = self.template.names();
        let place = names.iter().position(|name| *name == wanted).unwrap_or_default();
        let template = self.template.compiled().nth(place);
        let variables = self
            .settings
            .get(pair.setting)
            .filter(|variables| variables != &&Value::Object(Map::new()));
        Some(Counterexample {
            messages: self.messages(&pair.turns).into_iter().cloned().collect(),
            appended: self.turns.get(pair.next)?.message.clone(),
            tools: pair.has_tools.then(|| self.tools.clone()),
            variables: variables.cloned(),
            at: common,
            line,
            looks_at: template.map_or_else(Vec::new, |template| list_looks(template, line.unwrap_or_default())),
            before: before.text,
            after: after.text,
        })
    }
}

/// Returns the line of the template that wrote a character of a prompt, or the nearest text of the template before it.
fn find_line(prompt: &Prompt, at: usize) -> Option<usize> {
    let segments = prompt.segments.iter().rev();
    let mut before = segments.filter(|segment| segment.code_points().start <= at);
    before.find_map(|segment| match segment.origin() {
        Origin::Template { line } => Some(line),
        _ => None,
    })
}
