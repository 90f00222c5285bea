//! What is so or not, as wide as a word: beside an error it comes back in registers, where a `bool` would come back through memory.

use std::ops::Not;

/// Whether something is so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum Answer {
    /// It is not.
    No,
    /// It is.
    Yes,
}

impl Answer {
    /// The answer as a `bool`.
    #[inline]
    pub fn is_yes(self) -> bool {
        self == Self::Yes
    }
}

impl From<bool> for Answer {
    #[inline]
    fn from(is_so: bool) -> Self {
        if is_so { Self::Yes } else { Self::No }
    }
}

impl Not for Answer {
    type Output = Self;

    #[inline]
    fn not(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Yes => Self::No,
        }
    }
}
