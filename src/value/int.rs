//! Integers of any size.

use std::ops::Deref;

use num_bigint::BigInt;

use super::metered_rc::MeteredRc;

/// An `int` that does not fit in 64 bits.
#[derive(Clone, Debug)]
pub enum Big<'a> {
    /// An integer of a literal or of a JSON text.
    Borrowed(&'a BigInt),
    /// An integer that the render made.
    Made(MeteredRc<BigInt>),
}

impl Big<'_> {
    /// Returns whether both integers are one object.
    pub fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(&raw const **self, &raw const **other)
    }
}

impl Deref for Big<'_> {
    type Target = BigInt;

    #[inline]
    fn deref(&self) -> &BigInt {
        match self {
            Self::Borrowed(big) => big,
            Self::Made(big) => big,
        }
    }
}

impl From<BigInt> for Big<'_> {
    fn from(big: BigInt) -> Self {
        Self::Made(MeteredRc::new(big))
    }
}
