//! What the reference joins at the end of a buffer: it notices only there that a piece is no string.

use crate::error::{Error, Result};

/// The pieces of a buffer so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Joined {
    count: usize,
    /// The first piece that is no string: its index, and the name of its type.
    refused: Option<Box<(usize, &'static str)>>,
}

impl Joined {
    /// Counts pieces that are strings.
    #[inline]
    pub fn add(&mut self, pieces: usize) {
        self.count = self.count.wrapping_add(pieces);
    }

    /// Counts a piece that is none.
    pub fn refuse(&mut self, type_name: &'static str) {
        self.refused.get_or_insert_with(|| Box::new((self.count, type_name)));
        self.add(1);
    }

    /// CPython's `"".join(pieces)`.
    pub fn check(&self) -> Result<()> {
        match self.refused.as_deref() {
            Some((index, name)) => {
                let message = format!("sequence item {index}: expected str instance, {name} found");
                Err(Error::type_error(message))
            }
            None => Ok(()),
        }
    }
}
