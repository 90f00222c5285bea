//! A `bool` that is one word wide.

use std::ops::Not;

/// Whether a condition holds. A `Result<Truth>` is returned in registers, and a `Result<bool>` would be returned through memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum Truth {
    /// It does not hold.
    No,
    /// It holds.
    Yes,
}

impl Truth {
    /// Returns the truth as a `bool`.
    #[inline]
    pub fn is_yes(self) -> bool {
        self == Self::Yes
    }
}

impl From<bool> for Truth {
    #[inline]
    fn from(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

impl Not for Truth {
    type Output = Self;

    #[inline]
    fn not(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Yes => Self::No,
        }
    }
}
