//! Numbers that look random and are the same for a seed, on every machine.
//!
//! ```text
//! Random::new(20261121, 7)     the numbers of round 7
//! ```
//!
//! SplitMix64, as Steele, Lea and Flood describe it (Fast Splittable Pseudorandom Number Generators, 2014).

/// A stream of numbers.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

/// What the state grows by: 2⁶⁴ over the golden ratio, made odd.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    /// The stream of a round.
    pub fn new(seed: u64, round: u64) -> Self {
        let mut random = Self { state: seed };
        random.state = random.number() ^ round.wrapping_mul(STEP);
        random
    }

    fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        let mut number = self.state;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ (number >> 31)
    }

    /// A number below `bound`, or 0 where there is none. What the remainder prefers is no more than one part in 2³².
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = bound as u64;
        (self.number() >> 32).checked_rem(bound).unwrap_or(0) as usize
    }

    /// Whether something happens that does so `percent` times of a hundred.
    pub fn happens(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of these; the first is there to be taken where there are no others.
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
    fn a_seed_gives_the_same_numbers_on_every_machine() {
        let mut random = Random { state: 0 };
        // The first numbers of SplitMix64 of seed 0, as other implementations print them.
        assert_eq!(
            [random.number(), random.number()],
            [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]
        );
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
