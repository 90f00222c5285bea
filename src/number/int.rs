//! Integers of any size, and the two kinds of numbers.
//!
//! An [`Int`] is an `i64` if the number fits and a big integer otherwise, so equal numbers have equal variants:
//! `Int::from(BigInt::from(7))` is `Int::Small(7)`. Operations take [`IntRef`], so a caller that shares its big integers need not clone
//! them.

use std::borrow::Cow;
use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint, Sign};

/// An integer of any size.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Int {
    /// A number that fits into `i64`: `7`.
    Small(i64),
    /// A number that does not fit into `i64`: `2**100`.
    Big(BigInt),
}

/// A borrowed integer, the operand of most functions.
#[derive(Clone, Copy, Debug)]
pub enum IntRef<'a> {
    /// A number that fits into `i64`.
    Small(i64),
    /// A number that does not fit into `i64`.
    Big(&'a BigInt),
    /// A number of a JSON tree that does not fit into `i64`.
    Json(&'a serde_json::Number),
}

/// An integer or a float, the result of arithmetic.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    /// An integer.
    Int(Int),
    /// A float.
    Float(f64),
}

/// A borrowed integer or a float, the operand of arithmetic.
#[derive(Clone, Copy, Debug)]
pub enum NumberRef<'a> {
    /// An integer.
    Int(IntRef<'a>),
    /// A float.
    Float(f64),
}

impl Int {
    /// Returns the borrowed integer.
    pub fn as_ref(&self) -> IntRef<'_> {
        match self {
            Self::Small(small) => IntRef::Small(*small),
            Self::Big(big) => IntRef::Big(big),
        }
    }
}

impl Number {
    /// Returns the borrowed number.
    pub fn as_ref(&self) -> NumberRef<'_> {
        match self {
            Self::Int(int) => NumberRef::Int(int.as_ref()),
            Self::Float(float) => NumberRef::Float(*float),
        }
    }
}

impl From<BigInt> for Int {
    fn from(big: BigInt) -> Self {
        match i64::try_from(&big) {
            Ok(small) => Self::Small(small),
            Err(_) => Self::Big(big),
        }
    }
}

impl From<Int> for BigInt {
    fn from(int: Int) -> Self {
        match int {
            Int::Small(small) => small.into(),
            Int::Big(big) => big,
        }
    }
}

impl From<i64> for IntRef<'_> {
    fn from(small: i64) -> Self {
        Self::Small(small)
    }
}

impl<'a> From<&'a BigInt> for IntRef<'a> {
    fn from(big: &'a BigInt) -> Self {
        match i64::try_from(big) {
            Ok(small) => Self::Small(small),
            Err(_) => Self::Big(big),
        }
    }
}

impl<'a> IntRef<'a> {
    /// Returns an owned copy of the integer.
    pub fn to_int(self) -> Int {
        match self {
            Self::Small(small) => Int::Small(small),
            _ => Int::Big(self.to_big().into_owned()),
        }
    }

    /// Returns the number as a big integer, converted if it is small.
    pub fn to_big(self) -> Cow<'a, BigInt> {
        match self {
            Self::Small(small) => Cow::Owned(small.into()),
            Self::Big(big) => Cow::Borrowed(big),
            Self::Json(number) => Cow::Owned(match number.as_u64() {
                Some(word) => word.into(),
                None => number.to_string().parse().unwrap_or_default(),
            }),
        }
    }

    /// Returns the absolute value as a big integer.
    pub fn magnitude(self) -> Cow<'a, BigUint> {
        match self {
            Self::Small(small) => Cow::Owned(small.unsigned_abs().into()),
            Self::Big(big) => Cow::Borrowed(big.magnitude()),
            Self::Json(_) => Cow::Owned(self.to_big().magnitude().clone()),
        }
    }

    /// Returns whether the number is below zero.
    pub fn is_negative(self) -> bool {
        match self {
            Self::Small(small) => small < 0,
            _ => self.to_big().sign() == Sign::Minus,
        }
    }

    /// Returns whether the number is zero.
    pub fn is_zero(self) -> bool {
        matches!(self, Self::Small(0))
    }

    /// Returns whether the number is odd.
    pub fn is_odd(self) -> bool {
        match self {
            Self::Small(small) => small & 1 != 0,
            _ => self.to_big().bit(0),
        }
    }

    /// Returns the number of bits of the absolute value, 0 for zero. This is Python's `int.bit_length`.
    pub fn bit_length(self) -> u64 {
        match self {
            Self::Small(small) => u64::from(u64::BITS.saturating_sub(small.unsigned_abs().leading_zeros())),
            _ => self.to_big().bits(),
        }
    }

    /// Compares two integers.
    pub fn compare(self, other: IntRef<'_>) -> Ordering {
        match (self, other) {
            (Self::Small(left), IntRef::Small(right)) => left.cmp(&right),
            // A big integer is outside `i64`, so its sign decides.
            (Self::Small(_), right) if right.is_negative() => Ordering::Greater,
            (Self::Small(_), _) => Ordering::Less,
            (left, IntRef::Small(_)) if left.is_negative() => Ordering::Less,
            (_, IntRef::Small(_)) => Ordering::Greater,
            (left, right) => left.to_big().cmp(&right.to_big()),
        }
    }
}
