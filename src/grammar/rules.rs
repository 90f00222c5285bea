//! The rules of a context-free grammar.

/// A rule, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    Text(String),
    /// A character inside the ranges, or outside of them if the class is negated.
    Class {
        is_negated: bool,
        ranges: Vec<(char, char)>,
    },
    Sequence(Vec<Rule>),
    /// One of the rules. An empty choice matches nothing.
    Choice(Vec<Rule>),
    /// The rule repeated: the minimum and the maximum number of times.
    Repeat(Box<Rule>, u32, Option<u32>),
    /// The rule with this index.
    Named(usize),
    /// The shortest text that ends with the first string and has none of the others. With an empty first string, any text that has none of
    /// the others.
    Until(String, Vec<String>),
}

impl Rule {
    pub const NEVER: Self = Self::Choice(Vec::new());
    pub const EMPTY: Self = Self::Sequence(Vec::new());

    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Returns the rule of a character in one of these ranges.
    pub fn class(ranges: &[(char, char)]) -> Self {
        Self::Class {
            is_negated: false,
            ranges: ranges.to_vec(),
        }
    }

    /// Returns the rule of a character in none of these ranges.
    pub fn except(ranges: &[(char, char)]) -> Self {
        Self::Class {
            is_negated: true,
            ranges: ranges.to_vec(),
        }
    }

    /// Returns a sequence of rules. Adjacent strings are joined. If a rule matches nothing, neither does the sequence.
    pub fn sequence(items: impl IntoIterator<Item = Self>) -> Self {
        let mut joined: Vec<Self> = Vec::new();
        for item in items {
            match item {
                Self::Choice(items) if items.is_empty() => return Self::NEVER,
                Self::Text(text) if text.is_empty() => {}
                Self::Text(text) => match joined.last_mut() {
                    Some(Self::Text(last)) => last.push_str(&text),
                    _ => joined.push(Self::Text(text)),
                },
                Self::Sequence(items) => match Self::sequence(joined.drain(..).chain(items)) {
                    Self::Sequence(items) => joined = items,
                    other => joined = vec![other],
                },
                other => joined.push(other),
            }
        }
        match <[Self; 1]>::try_from(joined) {
            Ok([only]) => only,
            Err(joined) => Self::Sequence(joined),
        }
    }

    /// Returns a choice of rules. Equal neighbours are merged, and rules that match nothing are removed.
    pub fn choice(items: impl IntoIterator<Item = Self>) -> Self {
        let mut choices: Vec<Self> = Vec::new();
        for item in items {
            match item {
                Self::Choice(items) => choices.extend(items),
                Self::Text(text) if text.is_empty() => choices.push(Self::EMPTY),
                item if choices.last() == Some(&item) => {}
                item => choices.push(item),
            }
        }
        match <[Self; 1]>::try_from(choices) {
            Ok([only]) => only,
            Err(choices) => Self::Choice(choices),
        }
    }

    pub fn optional(self) -> Self {
        match self {
            rule if rule == Self::NEVER || rule == Self::EMPTY || rule == Self::text("") => Self::EMPTY,
            rule => Self::choice([rule, Self::EMPTY]),
        }
    }

    /// Returns the rule repeated, with a minimum and a maximum.
    pub fn repeat(self, min: u32, max: Option<u32>) -> Self {
        match (min, max) {
            (_, Some(0)) => Self::EMPTY,
            _ if self == Self::NEVER && min == 0 => Self::EMPTY,
            _ if self == Self::NEVER || max.is_some_and(|max| max < min) => Self::NEVER,
            (1, Some(1)) => self,
            _ => Self::Repeat(Box::new(self), min, max),
        }
    }
}

/// The rules that other rules name.
#[derive(Debug, Default)]
pub struct Rules(pub Vec<Rule>);

impl Rules {
    /// Adds a rule, and returns the rule that names it.
    pub fn add(&mut self, rule: Rule) -> Rule {
        if matches!(rule, Rule::Named(_) | Rule::Text(_)) || rule == Rule::NEVER || rule == Rule::EMPTY {
            return rule;
        }
        self.0.push(rule);
        Rule::Named(self.0.len().saturating_sub(1))
    }

    /// Reserves the index of a rule whose content is set later.
    pub fn reserve(&mut self) -> usize {
        self.0.push(Rule::NEVER);
        self.0.len().saturating_sub(1)
    }

    pub fn set(&mut self, index: usize, rule: Rule) {
        if let Some(place) = self.0.get_mut(index) {
            *place = rule;
        }
    }

    /// Adds the rules of members in their order, the last one first, and returns their rule. A member is the rule where it is the first one, the
    /// rule where it follows another one, and whether it is required. `rest` are the rules of what follows them all, in the same two places.
    pub fn add_members(&mut self, members: Vec<(Rule, Rule, bool)>, rest: (Rule, Rule)) -> Rule {
        let (mut first, mut after) = rest;
        for (begun, more, is_required) in members {
            let then = self.add(after);
            let [begun, more] = [begun, more].map(|member| Rule::sequence([member, then.clone()]));
            (first, after) = match is_required {
                true => (begun, more),
                false => (Rule::choice([begun, first]), Rule::choice([more, then])),
            };
        }
        first
    }

    /// Adds the rules of the shortest text that ends with a string and has none of the others, a rule for each state of the automaton that
    /// looks for all of them (Aho and Corasick).
    pub fn expand_until(&mut self, end: &str, others: &[String]) -> Rule {
        let strings: Vec<&str> = std::iter::once(end)
            .chain(others.iter().map(String::as_str))
            .filter(|text| !text.is_empty())
            .collect();
        let mut states: Vec<&str> = vec![""];
        for text in &strings {
            let heads = text.char_indices().skip(1).map(|(at, _)| text.get(..at).unwrap_or_default());
            states.extend(heads.collect::<Vec<_>>());
        }
        states.sort_unstable();
        states.dedup();
        let first = self.0.len();
        self.0.resize(first.saturating_add(states.len()), Rule::NEVER);
        let mut chars: Vec<char> = strings.iter().flat_map(|text| text.chars()).collect();
        chars.sort_unstable();
        chars.dedup();
        for (index, state) in states.iter().enumerate() {
            let (mut choices, mut ranges) = (Vec::new(), Vec::new());
            for char in &chars {
                let read = format!("{state}{char}");
                let text = Rule::text(*char);
                let tails = read.char_indices().map(|(at, _)| read.get(at..).unwrap_or_default());
                let next = tails.filter_map(|tail| states.binary_search(&tail).ok()).next();
                if !end.is_empty() && read.ends_with(end) {
                    choices.push(text);
                } else if !others.iter().any(|other| !other.is_empty() && read.ends_with(other.as_str())) {
                    let Some(next) = next else { continue };
                    choices.push(Rule::sequence([text, Rule::Named(first.saturating_add(next))]));
                }
                ranges.push((*char, *char));
            }
            choices.push(Rule::sequence([Rule::except(&ranges), Rule::Named(first)]));
            if end.is_empty() {
                choices.push(Rule::EMPTY);
            }
            self.set(first.saturating_add(index), Rule::choice(choices));
        }
        Rule::Named(first)
    }
}
