//! A random number generator whose numbers depend only on its seed, so that a round is the same on every machine.
//!
//! ```text
//! Rng::for_round(20261121, 7)     the generator of round 7
//! ```
//!
//! The algorithm is SplitMix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, 2014).

/// The increment of the state: 2⁶⁴ divided by the golden ratio, rounded to an odd number.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A random number generator.
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// Returns the generator of a seed.
    fn from_seed(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns the generator of one round of a run.
    pub fn for_round(seed: u64, round: u64) -> Self {
        let first = Self::from_seed(seed).next();
        Self::from_seed(first ^ round.wrapping_mul(STEP))
    }

    /// Returns the next number.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        let mut number = self.state;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ (number >> 31)
    }

    /// Returns a number below `bound`, or 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let scaled = u128::from(self.next()).wrapping_mul(bound as u128) >> 64;
        usize::try_from(scaled).unwrap_or(0)
    }

    /// Returns true with a probability of `percent`.
    pub fn happens(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Returns one of the items, or `None` if there are none.
    pub fn pick<'i, T>(&mut self, items: &'i [T]) -> Option<&'i T> {
        items.get(self.below(items.len()))
    }

    /// Returns one of the strings, or an empty string if there are none.
    pub fn text(&mut self, texts: &[&'static str]) -> &'static str {
        self.pick(texts).copied().unwrap_or_default()
    }

    /// Returns an index of `weights`, with a probability in proportion to its weight.
    pub fn pick_weighted(&mut self, weights: &[usize]) -> usize {
        let mut left = self.below(weights.iter().sum());
        for (index, weight) in weights.iter().enumerate() {
            match left.checked_sub(*weight) {
                Some(rest) => left = rest,
                None => return index,
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;

    #[test]
    fn a_seed_gives_the_numbers_of_other_implementations() {
        let mut rng = Rng::from_seed(0);
        assert_eq!([rng.next(), rng.next()], [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
    }

    #[test]
    fn a_round_gives_the_same_choices_each_time() {
        let choices = || {
            let mut rng = Rng::for_round(1, 2);
            [0; 4].map(|_| rng.below(10))
        };
        assert_eq!(choices(), choices());
        let mut rng = Rng::for_round(1, 2);
        let numbers: std::collections::BTreeSet<usize> = (0..1000).map(|_| rng.below(6)).collect();
        assert_eq!(numbers, (0..6).collect());
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.pick_weighted(&[0, 3, 0]), 1);
        assert_eq!(rng.pick::<u8>(&[]), None);
    }
}
