//! Python's `hash`, of what has the same one in each process: it says in which order a set goes over its items.
//!
//! ```text
//! 3    3        -1    -2        0.5    1152921504606846976        ""    0
//! ```
//!
//! After CPython 3.11 `pyhash.c` (`_Py_HashDouble`), `longobject.c` and `tupleobject.c`. Other texts are hashed with a
//! key that is drawn anew by each process, and most objects by their address.

use super::Value;

/// `_PyHASH_MODULUS`, a prime, and its bits.
const MODULUS: u64 = (1 << BITS) - 1;
const BITS: u32 = 61;

/// `_PyHASH_XXPRIME_1`, `_PyHASH_XXPRIME_2` and `_PyHASH_XXPRIME_5`.
const PRIMES: [u64; 3] = [
    11_400_714_785_074_694_791,
    14_029_467_366_897_019_727,
    2_870_177_450_012_600_261,
];

/// `hash(value)`; None where it differs from one process to another.
pub(super) fn python_hash(value: &Value<'_>) -> Option<u64> {
    match value {
        Value::Bool(bool) => Some(u64::from(*bool)),
        Value::Int(int) => Some(signed(remainder(u128::from(int.unsigned_abs())), *int < 0)),
        Value::Big(big) => {
            let rest = |rest: u64, digit| remainder(u128::from(rest) << u64::BITS | u128::from(digit));
            let hash = big.magnitude().iter_u64_digits().rev().fold(0, rest);
            Some(signed(hash, big.sign() == num_bigint::Sign::Minus))
        }
        Value::Float(float) => of_float(*float),
        Value::Str(text) if text.as_str().is_empty() => Some(0),
        // The address of its class, of which only the last bits are known.
        Value::Undefined(_) => Some(0),
        Value::Tuple(items) => {
            let [first, second, fifth] = PRIMES;
            let mut hash = fifth;
            for item in items.iter() {
                let lane = python_hash(&item)?.wrapping_mul(second);
                hash = hash.wrapping_add(lane).rotate_left(31).wrapping_mul(first);
            }
            hash = hash.wrapping_add(items.len() as u64 ^ (fifth ^ 3_527_539));
            Some(if hash == u64::MAX { 1_546_275_796 } else { hash })
        }
        _ => None,
    }
}

/// What is left of a number that is divided by the prime.
fn remainder(number: u128) -> u64 {
    let rest = number.checked_rem(u128::from(MODULUS));
    rest.and_then(|rest| u64::try_from(rest).ok()).unwrap_or(0)
}

/// A hash with its sign; -1 stands for an error.
fn signed(hash: u64, is_negative: bool) -> u64 {
    match if is_negative { hash.wrapping_neg() } else { hash } {
        u64::MAX => u64::MAX - 1,
        hash => hash,
    }
}

fn of_float(float: f64) -> Option<u64> {
    if float.is_nan() {
        return None;
    }
    if float.is_infinite() {
        return Some(signed(314_159, float < 0.0));
    }
    // The significand as an integer, by the power of two that is left: 2**61 is 1 here.
    let bits = float.abs().to_bits();
    let biased = i64::try_from(bits >> 52).ok()?;
    let fraction = bits & ((1 << 52) - 1);
    let (significand, exponent) = match biased {
        0 => (fraction, -1074),
        _ => (fraction | 1 << 52, biased.saturating_sub(1075)),
    };
    let turn = u32::try_from(exponent.rem_euclid(i64::from(BITS))).ok()?;
    Some(signed(remainder(u128::from(significand) << turn), float < 0.0))
}
