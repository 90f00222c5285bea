//! A writer that counts and checks a string while it is written.
//!
//! ```text
//! meter.write_scanned(out, |out| quote::write_repr(out, text))?;     stops at the limit on the output, or at the deadline
//! meter.measure_scanned(|length| quote::write_repr(length, text))?   the length of that text, and the same charge
//! ```

use std::fmt;

use super::Meter;
use crate::error::{Error, Result};
use crate::text::written::Length;

/// The number of bytes that are written between two charges.
const STRIDE: usize = 16 << 10;

/// The length in bytes from which a string is written through a writer that checks. A shorter one is charged after it is written.
pub const LONG: usize = 1 << 10;

/// A writer that charges for what it writes as for a scan, and checks the size of the text.
pub struct Scanned<'m, 'a, W> {
    meter: &'m mut Meter<'a>,
    inner: &'m mut W,
    /// Checks the size of the text in bytes.
    check: fn(&Meter<'a>, usize) -> Result<()>,
    size: usize,
    /// The number of bytes that are not charged yet.
    uncharged: usize,
    error: Option<Error>,
}

impl<'m, 'a, W: fmt::Write> Scanned<'m, 'a, W> {
    /// Runs a function with a writer. `size` is the size of the text before.
    fn run(
        meter: &'m mut Meter<'a>,
        inner: &'m mut W,
        size: usize,
        check: fn(&Meter<'a>, usize) -> Result<()>,
        write: impl FnOnce(&mut Self) -> fmt::Result,
    ) -> Result<()> {
        let mut scanned = Self {
            meter,
            inner,
            check,
            size,
            uncharged: 0,
            error: None,
        };
        // Only a check fails.
        let _ = write(&mut scanned);
        match scanned.error.take() {
            Some(error) => Err(error),
            None => scanned.charge(),
        }
    }

    fn charge(&mut self) -> Result<()> {
        self.meter.charge_scan(std::mem::take(&mut self.uncharged))?;
        (self.check)(self.meter, self.size)
    }
}

impl<W: fmt::Write> fmt::Write for Scanned<'_, '_, W> {
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.size += text.len();
        self.uncharged += text.len();
        if self.uncharged >= STRIDE {
            if let Err(error) = self.charge() {
                self.error = Some(error);
                return Err(fmt::Error);
            }
        }
        self.inner.write_str(text)
    }
}

impl<'a> Meter<'a> {
    /// Calls a function with a writer that appends to the text being written. Each part is charged as a scan, and checked as output, before
    /// it is written.
    pub fn write_scanned(
        &mut self,
        out: &mut String,
        write: impl FnOnce(&mut Scanned<'_, 'a, String>) -> fmt::Result,
    ) -> Result<()> {
        let size = out.len();
        Scanned::run(self, out, size, Meter::check_output, write)
    }

    /// Returns the length of the text that a function writes. Each part is charged as a scan, and checked as a part of a value.
    pub fn measure_scanned(&mut self, write: impl FnOnce(&mut Scanned<'_, 'a, Length>) -> fmt::Result) -> Result<usize> {
        let mut length = Length::default();
        Scanned::run(self, &mut length, 0, Meter::check_size, write)?;
        Ok(length.bytes())
    }
}
