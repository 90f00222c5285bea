//! Searches for a conversation whose prompt is not a prefix of the prompt of a longer one.
//!
//! Two prompts are compared only if both renders succeed: a template may refuse a conversation.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::{Map, Value};

use super::Way;
use super::switches::list_settings;
use super::turns::{Kind, Turn, is_conversation, list_turns, tools};
use crate::chat::{ApplyOptions, ChatTemplate, Prompt};
use crate::clock::{Clock, FixedClock, LocalTime, SystemClock};
use crate::limits::Limits;
use crate::report::Counterexample;
use crate::trace::Origin;

/// The most renders of a search for one template.
const MOST_RENDERS: usize = 4000;

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
    limits: Limits,
    prompts: HashMap<Key, Option<Rc<str>>>,
}

impl<'t> Search<'t> {
    /// Prepares a search.
    pub fn new(template: &'t ChatTemplate) -> Self {
        Self {
            template,
            turns: list_turns(),
            tools: tools(),
            settings: list_settings(template).into_iter().map(Value::Object).collect(),
            clock: FixedClock(LocalTime::new([2026, 1, 2], [3, 4, 5], 0).unwrap_or_else(|_| SystemClock.now())),
            limits: Limits::default().with_milliseconds(100),
            prompts: HashMap::new(),
        }
    }

    /// Returns the smallest counterexample that the search finds.
    pub fn find(&mut self, way: Way) -> Option<Counterexample> {
        for setting in 0..self.settings.len() {
            for pair in self.list_pairs(way, setting) {
                if self.differs(way, &pair) {
                    let pair = self.shrink(way, pair);
                    return self.explain(way, &pair);
                }
                if self.prompts.len() > MOST_RENDERS {
                    return None;
                }
            }
        }
        None
    }

    /// Returns the pairs to try with a setting, the smallest first.
    fn list_pairs(&self, way: Way, setting: usize) -> Vec<Pair> {
        let all = |wanted: fn(Kind) -> bool| {
            let turns = self.turns.iter().enumerate().filter(move |(_, turn)| wanted(turn.kind));
            turns.map(|(index, _)| index).collect::<Vec<usize>>()
        };
        let users = all(|kind| kind == Kind::User);
        let answers = all(|kind| kind == Kind::Answer);
        let calls = all(|kind| matches!(kind, Kind::Calls(_)));
        let results = all(|kind| kind == Kind::Result);
        let (Some(&user), Some(&answer), Some(&call), Some(&result)) =
            (users.first(), answers.first(), calls.first(), results.first())
        else {
            return Vec::new();
        };
        let by_role: Vec<usize> = answers.iter().chain(&calls).copied().collect();
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
        let nexts = match way {
            Way::GenerationPrompt | Way::Assistant => &by_role,
            Way::Tool => &results,
            Way::User => &users,
        };
        let heads: Vec<usize> = all(|kind| kind == Kind::Head);
        let with_head = |head: usize, turns: &Vec<usize>| [&[head], turns.as_slice()].concat();
        let mut tried = conversations.clone();
        for head in heads {
            tried.extend(conversations.iter().take(8).map(|turns| with_head(head, turns)));
        }
        let mut pairs = Vec::new();
        // Every message is appended to the plainest conversations, and a few to the others.
        for (index, turns) in tried.iter().enumerate() {
            let is_plain = turns.iter().all(|turn| [user, answer, call, result].contains(turn));
            for (number, next) in nexts.iter().enumerate() {
                let is_wanted = index == 0 || number < 3 || (is_plain && setting == 0);
                if is_wanted && self.is_pair(way, turns, *next) {
                    let uses_tools = |turn: &usize| {
                        self.kind(*turn)
                            .is_some_and(|kind| matches!(kind, Kind::Calls(_) | Kind::Result))
                    };
                    pairs.push(Pair {
                        has_tools: turns.iter().chain([next]).any(uses_tools),
                        turns: turns.clone(),
                        next: *next,
                        setting,
                    });
                }
            }
        }
        pairs
    }

    fn kind(&self, turn: usize) -> Option<Kind> {
        self.turns.get(turn).map(|turn| turn.kind)
    }

    /// Returns whether a conversation and the message after it are ones that the boundary is about.
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
        let prompt = self.render(&key, false).map(|prompt| Rc::from(prompt.text));
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
            limits: &self.limits,
            trace,
            ..ApplyOptions::default()
        };
        self.template.apply(messages.as_slice(), &options).ok()
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
            line: find_line(&before, common).or_else(|| find_line(&after, common)),
            looks_at: Vec::new(),
            before: before.text,
            after: after.text,
        })
    }
}

/// Returns the line of the template that wrote a character of a prompt, or the nearest text of the template before it.
fn find_line(prompt: &Prompt, at: usize) -> Option<usize> {
    let segments = prompt.segments.iter().rev();
    let mut before = segments.filter(|segment| segment.code_points.start <= at);
    before.find_map(|segment| match segment.origin {
        Origin::Template { line } => Some(line),
        _ => None,
    })
}
