//! Makes a round that shows a difference smaller, as long as it shows the same one.
//!
//! ```text
//! {% for x in l %}{{ y }}{{ x|upper|lower }}{% endfor %}, {"l": …, "y": …}     ->     {{ ''|lower }}, {}
//! ```
//!
//! Delta debugging: first what the grammar lets be absent and whole variables, then expressions by the smaller ones in them, then
//! stretches of tokens that are halved, then values. What is left cannot lose a part that was tried.

use std::borrow::Cow;

use super::generate::sentence::Part;
use super::round::Round;
use crate::json::{Data, Object};

/// Asks whether a round shows the difference; an error ends everything.
pub type Ask<'a> = dyn FnMut(&Round) -> Result<bool, String> + 'a;

/// How many requests one difference may cost.
const MOST_REQUESTS: usize = 600;

struct Shrinker<'a, 'r> {
    round: Round,
    ask: &'a mut Ask<'r>,
    left: usize,
}

/// The smallest round that was found.
///
/// # Errors
/// Those of `ask`.
pub fn shrink(round: Round, ask: &mut Ask<'_>) -> Result<Round, String> {
    let mut shrinker = Shrinker {
        round,
        ask,
        left: MOST_REQUESTS,
    };
    loop {
        let size = shrinker.size();
        shrinker.parts()?;
        shrinker.variables()?;
        shrinker.expressions()?;
        shrinker.tokens()?;
        shrinker.texts()?;
        shrinker.values()?;
        if shrinker.left == 0 || shrinker.size() >= size {
            return Ok(shrinker.round);
        }
    }
}

impl Shrinker<'_, '_> {
    fn size(&self) -> usize {
        self.round.request().len()
    }

    /// Takes the change where it shows the difference, too.
    fn take(&mut self, round: Round) -> Result<bool, String> {
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
        let is_news = tokens.iter().any(|token| !token.text.is_empty());
        tokens.iter_mut().for_each(|token| token.text.clear());
        is_news.then_some(round)
    }

    /// Leaves away what may be absent, the largest first.
    fn parts(&mut self) -> Result<(), String> {
        let mut stretches = self.round.sentence.stretches.clone();
        stretches.retain(|stretch| stretch.part != Part::Expression);
        stretches.sort_by_key(|stretch| std::cmp::Reverse(stretch.end.saturating_sub(stretch.start)));
        for stretch in stretches {
            if let Some(round) = self.without(stretch.start, stretch.end) {
                self.take(round)?;
            }
        }
        Ok(())
    }

    fn variables(&mut self) -> Result<(), String> {
        for place in (0..self.round.context.len()).rev() {
            let mut round = self.round.clone();
            round.context.remove(place);
            self.take(round)?;
        }
        if self.round.generation {
            let round = Round {
                generation: false,
                ..self.round.clone()
            };
            self.take(round)?;
        }
        Ok(())
    }

    /// Puts an expression in the place of one that it stands in, or a literal.
    fn expressions(&mut self) -> Result<(), String> {
        let mut stretches = self.round.sentence.stretches.clone();
        stretches.retain(|stretch| stretch.part == Part::Expression);
        stretches.sort_by_key(|stretch| std::cmp::Reverse(stretch.end.saturating_sub(stretch.start)));
        stretches.dedup_by_key(|stretch| (stretch.start, stretch.end));
        for outer in &stretches {
            for literal in ["1", "''"] {
                if let Some(mut round) = self.without(outer.start, outer.end) {
                    round.sentence.replace(outer.start, literal.to_owned());
                    if round.request().len() < self.size() && self.take(round)? {
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
                let mut is_news = false;
                for (place, token) in round.sentence.tokens.iter_mut().enumerate() {
                    if (outer.start..outer.end).contains(&place) && !(inner.start..inner.end).contains(&place) {
                        is_news |= !token.text.is_empty();
                        token.text.clear();
                    }
                }
                if is_news && self.take(round)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Leaves away stretches of tokens, half as long each time.
    fn tokens(&mut self) -> Result<(), String> {
        self.round.sentence.stretches.clear();
        self.round.sentence.tokens.retain(|token| !token.text.is_empty());
        let mut length = self.round.sentence.tokens.len() / 2;
        while length > 0 {
            let mut start = 0;
            while start < self.round.sentence.tokens.len() {
                let end = start.saturating_add(length).min(self.round.sentence.tokens.len());
                match self.without(start, end) {
                    Some(mut round) => {
                        round.sentence.tokens.drain(start..end);
                        if !self.take(round)? {
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

    /// Makes the texts of tokens short, and what stands between them one blank.
    fn texts(&mut self) -> Result<(), String> {
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
                if self.take(round)? {
                    break;
                }
            }
            if !matches!(token.space, "" | " ") {
                let mut round = self.round.clone();
                if let Some(token) = round.sentence.tokens.get_mut(place) {
                    token.space = " ";
                }
                self.take(round)?;
            }
        }
        Ok(())
    }

    /// Makes the values of the context small.
    fn values(&mut self) -> Result<(), String> {
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
                    if self.take(round)? {
                        changed = true;
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Values that are smaller than this one, the smallest first.
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
