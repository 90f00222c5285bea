//! The door to chance: numbers that look random.
//!
//! ```text
//! Chance::unforeseen()     what `random` and `lipsum` ask: other numbers in each render
//! Chance::of_seed(7)       the same numbers on every machine
//! ```
//!
//! SplitMix64, as Steele, Lea and Flood describe it (Fast Splittable Pseudorandom Number Generators, 2014). Nothing here is a secret:
//! who sees some numbers can work out the next.

use std::hash::{BuildHasher, RandomState};

/// A stream of numbers.
#[derive(Clone, Debug)]
pub struct Chance {
    state: u64,
}

/// What the state grows by: 2⁶⁴ over the golden ratio, made odd.
pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Chance {
    /// A stream that nobody can foretell, of what the standard library keys its hashes with.
    pub fn unforeseen() -> Self {
        Self::of_seed(RandomState::new().hash_one(STEP))
    }

    /// The stream of a seed.
    pub fn of_seed(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        let mut number = self.state;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ (number >> 31)
    }

    /// A number below `bound`, or 0 where there is none. Some are likelier than others by no more than one part in 2⁶⁴ over the bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        let scaled = u128::from(self.number()).wrapping_mul(u128::from(bound)) >> 64;
        u64::try_from(scaled).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_on_every_machine() {
        let mut chance = Chance::of_seed(0);
        // The first numbers of SplitMix64 of seed 0, as other implementations print them.
        assert_eq!(
            [chance.number(), chance.number()],
            [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]
        );
    }

    #[test]
    fn numbers_below_a_bound_are_all_there() {
        let mut chance = Chance::unforeseen();
        let numbers: std::collections::BTreeSet<u64> = (0..1000).map(|_| chance.below(6)).collect();
        assert_eq!(numbers, (0..6).collect());
        assert_eq!(chance.below(0), 0);
        assert_ne!(Chance::unforeseen().number(), Chance::unforeseen().number());
    }
}
