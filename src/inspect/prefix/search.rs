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

/// The number of steps of the renders of one boundary's unusual pairs after which no further one is tried.
const MAX_UNUSUAL_STEPS: u64 = 200_000;

/// The maximum number of unusual pairs of one boundary.
const MAX_UNUSUAL: usize = 100;

/// The maximum number of messages of an unusual conversation.
const MAX_MESSAGES: usize = 8;

/// The maximum number of messages that are drawn for an unusual conversation.
const MAX_DRAWN: usize = 40;

/// A conversation and its extension by one message.
#[derive(Clone, Debug)]
struct Pair {
    /// The messages of the longer conversation, as indices of turns.
    turns: Vec<usize>,
    /// The index of the set of variables with which the pair is rendered.
    setting: usize,
    has_tools: bool,
}

/// A search in one template.
pub struct Search<'t> {
    pub experiments: Experiments<'t>,
    /// The error that ended the search, other than that all steps are used up.
    pub error: Option<Error>,
    /// The number of pairs so far whose prompts were compared.
    pub tried: usize,
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
            tried: 0,
            turns: list_turns(false),
            tools: Rc::new(tools()),
            settings,
            seed: 1,
        };
        let turns = "ucr".chars().filter_map(|letter| search.list_kind(letter).next());
        let longer = search.conversation(&search.pair(turns.collect(), 0), None);
        if search.render(&longer).is_none() {
            search.turns = list_turns(true);
        }
        search
    }

    /// Tries the few conversations that show most faults, without variables of the caller.
    pub fn find_usual(&mut self, growth: Growth) -> Option<Counterexample> {
        let mut pairs = self.list_pairs(growth).into_iter();
        let pair = pairs.find(|pair| self.experiments.steps_left() > 0 && self.differs(growth, pair))?;
        self.explain_smallest(growth, pair)
    }

    /// Tries many unusual conversations, with variables of the caller.
    pub fn find_unusual(&mut self, growth: Growth) -> Option<Counterexample> {
        let start = self.experiments.steps();
        for _ in 0..MAX_UNUSUAL {
            if self.experiments.steps().saturating_sub(start) > MAX_UNUSUAL_STEPS {
                return None;
            }
            let pair = self.make_pair(growth);
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
                let turn = |letter: char| match letter == varied {
                    true => Some(each),
                    false => self.list_kind(letter).next(),
                };
                let turns: Vec<usize> = order.chars().filter_map(turn).collect();
                // Every message is appended to the plainest conversation, and two messages to each of the others.
                let count = if pairs.is_empty() { nexts.len() } else { 2 };
                let longer = nexts.iter().take(count).map(|next| [turns.as_slice(), &[*next]].concat());
                pairs.extend(
                    longer
                        .map(|turns| self.pair(turns, 0))
                        .filter(|pair| self.is_pair(growth, pair)),
                );
            }
        }
        pairs
    }

    /// Returns the indices of the messages of a kind, whose letter may be a capital.
    fn list_kind(&self, letter: char) -> impl Iterator<Item = usize> {
        let is_wanted = move |turn: &Turn| turn.kind.0 == letter.to_ascii_lowercase();
        let turns = self.turns.iter().enumerate().filter(move |(_, turn)| is_wanted(turn));
        turns.map(|(index, _)| index)
    }

    /// Makes the next unusual pair.
    fn make_pair(&mut self, growth: Growth) -> Option<Pair> {
        let mut turns = Vec::new();
        for _ in 0..MAX_DRAWN {
            if turns.len() == MAX_MESSAGES {
                break;
            }
            // About every second message is plain, so unusual messages have plain surroundings.
            let drawn = self.draw(self.turns.len());
            let is_plain = self.draw(2) == 0;
            turns.push(if is_plain { self.plainest(drawn) } else { drawn });
            let setting = self.draw(self.settings.len().saturating_mul(2));
            let setting = if setting < self.settings.len() { setting } else { 0 };
            if turns.len() > 2 && self.draw(3) == 0 {
                let pair = self.pair(turns.clone(), setting);
                if self.is_pair(growth, &pair) {
                    return Some(pair);
                }
            }
            if !is_conversation(self.kinds(&turns)) {
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
        let drawn = usize::try_from(self.seed >> 33).unwrap_or_default();
        drawn.checked_rem(end).unwrap_or_default()
    }

    fn kinds(&self, turns: &[usize]) -> impl Iterator<Item = Kind> {
        turns.iter().filter_map(|turn| self.turns.get(*turn)).map(|turn| turn.kind)
    }

    /// Returns the first message of the same kind, which is the plainest.
    fn plainest(&self, turn: usize) -> usize {
        let kind = self.kinds(&[turn]).next();
        self.turns.iter().position(|other| Some(other.kind) == kind).unwrap_or(turn)
    }

    fn pair(&self, turns: Vec<usize>, setting: usize) -> Pair {
        let has_tools = self.kinds(&turns).any(|(kind, _)| matches!(kind, 'c' | 'r'));
        Pair {
            turns,
            setting,
            has_tools,
        }
    }

    /// Returns whether the conversation of a pair grows in this way, and has its messages in an order that can occur.
    fn is_pair(&self, growth: Growth, pair: &Pair) -> bool {
        let kinds: Vec<Kind> = self.kinds(&pair.turns).collect();
        matches!(*kinds, [.., (last, _), (next, _)] if growth.joins(last, next)) && is_conversation(kinds.into_iter())
    }

    /// Returns whether a pair is a counterexample.
    fn differs(&mut self, growth: Growth, pair: &Pair) -> bool {
        let [before, after] = self.conversations(growth, pair);
        let after = self.render(&after);
        let before = after.as_ref().and_then(|_| self.render(&before));
        let (Some(Ok(before)), Some(Ok(after))) = (before.as_deref(), after.as_deref()) else {
            return false;
        };
        self.tried = self.tried.saturating_add(1);
        !after.text.starts_with(&before.text)
    }

    /// Returns the conversation of a pair: the longer one, or the shorter one of a verdict.
    fn conversation(&self, pair: &Pair, shorter: Option<Growth>) -> Conversation {
        let count = pair.turns.len().saturating_sub(usize::from(shorter.is_some()));
        let turns = pair.turns.iter().take(count).filter_map(|turn| self.turns.get(*turn));
        Conversation {
            messages: turns.map(|turn| Rc::clone(&turn.message)).collect(),
            tools: pair.has_tools.then(|| Rc::clone(&self.tools)),
            documents: None,
            variables: self.settings.get(pair.setting).cloned().flatten(),
            add_generation_prompt: shorter == Some(Growth::GenerationPrompt),
        }
    }

    fn conversations(&self, growth: Growth, pair: &Pair) -> [Conversation; 2] {
        [Some(growth), None].map(|shorter| self.conversation(pair, shorter))
    }

    /// Renders a conversation, unless the render fails.
    fn render(&mut self, conversation: &Conversation) -> Option<Rc<Rendered>> {
        if self.error.is_some() {
            return None;
        }
        let is_end = |error: &Error| error.reached().is_some_and(|reached| reached.limit == Limit::Steps);
        match self.experiments.render(conversation) {
            Ok(rendered) => Some(rendered).filter(|rendered| rendered.is_ok()),
            Err(error) => {
                self.error = Some(error).filter(|error| !is_end(error));
                None
            }
        }
    }

    /// Removes messages, and replaces others by plainer ones, as long as the pair remains a counterexample. Then explains it.
    fn explain_smallest(&mut self, growth: Growth, mut pair: Pair) -> Option<Counterexample> {
        let is_smaller = |search: &mut Self, pair: &Pair| search.is_pair(growth, pair) && search.differs(growth, pair);
        while let Some(smaller) = self.list_smaller(&pair).into_iter().find(|pair| is_smaller(self, pair)) {
            pair = smaller;
        }
        self.explain(growth, &pair)
    }

    fn list_smaller(&self, pair: &Pair) -> Vec<Pair> {
        let Pair {
            turns,
            setting,
            has_tools,
        } = pair;
        let count = turns.len().saturating_sub(1);
        let removed = [2, 1].into_iter().flat_map(|width| {
            (0..count).map(move |start| {
                let mut turns = turns.clone();
                turns.drain(start..count.min(start + width));
                (turns, *setting)
            })
        });
        let unset = (*setting > 0).then(|| (turns.clone(), 0));
        let plainer = (0..turns.len()).filter_map(|index| {
            let mut turns = turns.clone();
            let turn = turns.get_mut(index)?;
            let plainest = self.plainest(*turn);
            (std::mem::replace(turn, plainest) != plainest).then_some((turns, *setting))
        });
        let smaller = removed.chain(unset).chain(plainer);
        let pair = |(turns, setting)| Pair {
            turns,
            setting,
            has_tools: *has_tools,
        };
        smaller.map(pair).collect()
    }

    /// Renders the pair with a trace, and finds the line that wrote the first character that differs.
    fn explain(&mut self, growth: Growth, pair: &Pair) -> Option<Counterexample> {
        let [shorter, longer] = self.conversations(growth, pair);
        let (before, after) = (self.experiments.trace(&shorter).ok()?, self.experiments.trace(&longer).ok()?);
        let (Ok(before), Ok(after)) = (&*before, &*after) else {
            return None;
        };
        let common = before.text.chars().zip(after.text.chars());
        let at = common.take_while(|(one, other)| one == other).count();
        let find = |prompt| find_line(prompt, |segment| segment.code_points().start <= at);
        let line = find(before).or_else(|| find(after));
        let wanted = if shorter.tools.is_some() { "tool_use" } else { "default" };
        let template = self.experiments.template;
        let index = template.names().iter().position(|name| *name == wanted).unwrap_or_default();
        let template = template.compiled().nth(index);
        Some(Counterexample {
            messages: shorter.messages.iter().map(|message| (**message).clone()).collect(),
            appended: (**longer.messages.last()?).clone(),
            tools: shorter.tools.as_deref().cloned(),
            variables: shorter.variables,
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
