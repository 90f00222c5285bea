//! Reduces a round with a difference to a smaller round with an equal difference.
//!
//! ```text
//! {% for x in l %}{{ y }}{{ x|upper|lower }}{% endfor %}, {"l": …, "y": …}     ->     {{ ''|lower }}, {}
//! ```
//!
//! The method is delta debugging. It removes optional parts and variables, replaces expressions by parts of them, removes ever shorter
//! ranges of tokens, and simplifies values. It repeats this until nothing more can be removed.

use std::borrow::Cow;

use super::generate::sentence::Part;
use super::round::Round;
use chat_template::json::{Data, Object};

/// A function that returns whether a round shows the difference. An error ends the reduction.
pub type Ask<'a> = dyn FnMut(&Round) -> Result<bool, String> + 'a;

/// The maximum number of requests for the reduction of one round.
const MAX_REQUESTS: usize = 600;

struct Shrinker<'a, 'r> {
    round: Round,
    ask: &'a mut Ask<'r>,
    left: usize,
}

/// Returns the smallest round that was found with the difference.
///
/// # Errors
/// Returns the errors of `ask`.
pub fn shrink(round: Round, ask: &mut Ask<'_>) -> Result<Round, String> {
    let mut shrinker = Shrinker {
        round,
        ask,
        left: MAX_REQUESTS,
    };
    loop {
        let size = shrinker.size();
        shrinker.remove_parts()?;
        shrinker.remove_variables()?;
        shrinker.replace_expressions()?;
        shrinker.remove_tokens()?;
        shrinker.shorten_tokens()?;
        shrinker.simplify_values()?;
        if shrinker.left == 0 || shrinker.size() >= size {
            return Ok(shrinker.round);
        }
    }
}

impl Shrinker<'_, '_> {
    fn size(&self) -> usize {
        self.round.request().len()
    }

    /// Keeps a changed round if it shows the difference. Returns whether it does.
    fn try_round(&mut self, round: Round) -> Result<bool, String> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left = self.left.saturating_sub(1);
        let is_shown = (self.ask)(&round)?;
        if is_shown {
            self.round = round;
        }
        Ok(is_shown)
    }

    fn without(&self, start: usize, end: usize) -> Option<Round> {
        let mut round = self.round.clone();
        let tokens = round.sentence.tokens.get_mut(start..end)?;
        let is_changed = tokens.iter().any(|token| !token.text.is_empty());
        tokens.iter_mut().for_each(|token| token.text.clear());
        is_changed.then_some(round)
    }

    /// Removes optional parts, the largest first.
    fn remove_parts(&mut self) -> Result<(), String> {
        let mut stretches = self.round.sentence.stretches.clone();
        stretches.retain(|stretch| stretch.part != Part::Expression);
        stretches.sort_by_key(|stretch| std::cmp::Reverse(stretch.end.saturating_sub(stretch.start)));
        for stretch in stretches {
            if let Some(round) = self.without(stretch.start, stretch.end) {
                self.try_round(round)?;
            }
        }
        Ok(())
    }

    /// Removes variables of the context, and the request for spans.
    fn remove_variables(&mut self) -> Result<(), String> {
        for place in (0..self.round.context.len()).rev() {
            let mut round = self.round.clone();
            round.context.remove(place);
            self.try_round(round)?;
        }
        if self.round.generation {
            let round = Round {
                generation: false,
                ..self.round.clone()
            };
            self.try_round(round)?;
        }
        Ok(())
    }

    /// Replaces expressions with a literal, or with an expression that is part of them.
    fn replace_expressions(&mut self) -> Result<(), String> {
        let mut stretches = self.round.sentence.stretches.clone();
        stretches.retain(|stretch| stretch.part == Part::Expression);
        stretches.sort_by_key(|stretch| std::cmp::Reverse(stretch.end.saturating_sub(stretch.start)));
        stretches.dedup_by_key(|stretch| (stretch.start, stretch.end));
        for outer in &stretches {
            for literal in ["1", "''"] {
                if let Some(mut round) = self.without(outer.start, outer.end) {
                    round.sentence.replace(outer.start, literal.to_owned());
                    if round.request().len() < self.size() && self.try_round(round)? {
                        break;
                    }
                }
            }
            for inner in stretches
                .iter()
                .filter(|inner| outer.start <= inner.start && inner.end <= outer.end)
                .take(12)
            {
                if (inner.start, inner.end) == (outer.start, outer.end) {
                    continue;
                }
                let mut round = self.round.clone();
                let mut is_changed = false;
                for (place, token) in round.sentence.tokens.iter_mut().enumerate() {
                    if (outer.start..outer.end).contains(&place) && !(inner.start..inner.end).contains(&place) {
                        is_changed |= !token.text.is_empty();
                        token.text.clear();
                    }
                }
                if is_changed && self.try_round(round)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Removes ranges of tokens, which are half as long each time.
    fn remove_tokens(&mut self) -> Result<(), String> {
        self.round.sentence.stretches.clear();
        self.round.sentence.tokens.retain(|token| !token.text.is_empty());
        let mut length = self.round.sentence.tokens.len() / 2;
        while length > 0 {
            let mut start = 0;
            while start < self.round.sentence.tokens.len() {
                let end = (start + length).min(self.round.sentence.tokens.len());
                match self.without(start, end) {
                    Some(mut round) => {
                        round.sentence.tokens.drain(start..end);
                        if !self.try_round(round)? {
                            start = end;
                        }
                    }
                    None => start = end,
                }
            }
            length /= 2;
        }
        Ok(())
    }

    /// Shortens tokens, and replaces unusual space between them by one blank.
    fn shorten_tokens(&mut self) -> Result<(), String> {
        for place in 0..self.round.sentence.tokens.len() {
            let Some(token) = self.round.sentence.tokens.get(place).cloned() else {
                break;
            };
            let shorter: &[&str] = match token.text.chars().next() {
                Some('\'' | '"') if token.text.len() > 2 => &["''", "'a'"],
                Some(first) if first.is_ascii_digit() && token.text.len() > 1 => &["0", "1"],
                Some(first) if first.is_whitespace() && token.text.len() > 1 => &["\n", " "],
                _ => &[],
            };
            for text in shorter {
                let mut round = self.round.clone();
                round.sentence.replace(place, (*text).to_owned());
                if self.try_round(round)? {
                    break;
                }
            }
            if !matches!(token.space, "" | " ") {
                let mut round = self.round.clone();
                if let Some(token) = round.sentence.tokens.get_mut(place) {
                    token.space = " ";
                }
                self.try_round(round)?;
            }
        }
        Ok(())
    }

    /// Simplifies the values of the context.
    fn simplify_values(&mut self) -> Result<(), String> {
        for place in 0..self.round.context.len() {
            let mut changed = true;
            while changed {
                changed = false;
                let Some((_, value)) = self.round.context.get(place).cloned() else {
                    break;
                };
                for smaller in smaller(&value) {
                    let mut round = self.round.clone();
                    if let Some((_, value)) = round.context.get_mut(place) {
                        *value = smaller;
                    }
                    if self.try_round(round)? {
                        changed = true;
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Returns values that are smaller than a value, the smallest first.
fn smaller(value: &Data<'static>) -> Vec<Data<'static>> {
    match value {
        Data::None => Vec::new(),
        Data::Bool(_) => vec![Data::None],
        Data::Int(1) => vec![Data::None],
        Data::Int(_) | Data::BigInt(_) | Data::Float(_) => vec![Data::None, Data::Int(1)],
        Data::Str(text) => {
            let mut smaller = vec![Data::None];
            if !text.is_empty() {
                smaller.push(Data::Str(Cow::Borrowed("")));
                let half = text.chars().count() / 2;
                smaller.extend((half > 0).then(|| Data::Str(Cow::Owned(text.chars().take(half).collect()))));
                smaller.extend((half > 0).then(|| Data::Str(Cow::Owned(text.chars().skip(half).collect()))));
            }
            smaller
        }
        Data::List(items) | Data::Tuple(items) => {
            let mut smaller_ones = vec![Data::None];
            for place in 0..items.len() {
                let mut fewer = items.clone();
                fewer.remove(place);
                smaller_ones.push(Data::List(fewer));
            }
            for (place, item) in items.iter().enumerate() {
                for item in smaller(item) {
                    let mut other = items.clone();
                    if let Some(old) = other.get_mut(place) {
                        *old = item;
                    }
                    smaller_ones.push(Data::List(other));
                }
            }
            smaller_ones
        }
        Data::Object(object) => {
            let mut smaller_ones = vec![Data::None];
            for place in 0..object.entries().len() {
                let mut fewer = object.entries().to_vec();
                fewer.remove(place);
                smaller_ones.push(Data::Object(Object::new(fewer)));
            }
            for (place, (_, item)) in object.entries().iter().enumerate() {
                for item in smaller(item) {
                    let mut other = object.entries().to_vec();
                    if let Some((_, old)) = other.get_mut(place) {
                        *old = item;
                    }
                    smaller_ones.push(Data::Object(Object::new(other)));
                }
            }
            smaller_ones
        }
    }
}
