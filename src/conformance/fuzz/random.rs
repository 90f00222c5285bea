//! Choices that look random and are the same for a round of a seed, on every machine.
//!
//! ```text
//! Random::new(20261121, 7)     the numbers of round 7
//! ```

use crate::chance::{Chance, STEP};

/// The numbers of a round.
#[derive(Clone, Debug)]
pub struct Random {
    chance: Chance,
}

impl Random {
    /// The stream of a round.
    pub fn new(seed: u64, round: u64) -> Self {
        let first = Chance::of_seed(seed).number();
        Self {
            chance: Chance::of_seed(first ^ round.wrapping_mul(STEP)),
        }
    }

    /// A number below `bound`, or 0 where there is none.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.chance.below(bound as u64)).unwrap_or(0)
    }

    /// Whether something happens that does so `percent` times of a hundred.
    pub fn happens(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of these; none where there are none.
    pub fn pick<'i, T>(&mut self, items: &'i [T]) -> Option<&'i T> {
        items.get(self.below(items.len()))
    }

    /// One of these texts, or none of no text.
    pub fn text(&mut self, texts: &[&'static str]) -> &'static str {
        self.pick(texts).copied().unwrap_or_default()
    }

    /// The place of one of these weights, each as often as it weighs.
    pub fn weighted(&mut self, weights: &[usize]) -> usize {
        let mut left = self.below(weights.iter().sum());
        for (place, weight) in weights.iter().enumerate() {
            match left.checked_sub(*weight) {
                Some(rest) => left = rest,
                None => return place,
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_round_gives_the_same_choices_each_time() {
        let mut random = Random::new(1, 2);
        assert_eq!(
            [0; 4].map(|_| random.below(10)),
            [0; 4].map({
                let mut again = Random::new(1, 2);
                move |_| again.below(10)
            })
        );
        assert_eq!(random.below(0), 0);
        assert_eq!(random.weighted(&[0, 3, 0]), 1);
        assert_eq!(random.pick::<u8>(&[]), None);
    }
}
