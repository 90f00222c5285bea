//! Copies the input of a render whose strings share memory.
//!
//! ```text
//! messages[0].role and messages[2].role at one address   ->   a copy in which each has its own
//! ```
//!
//! The address of a string says where a part of the output came from. Strings share memory if a caller passes one value twice, or
//! literals of the program.

use std::borrow::Cow;

use super::Input;
use crate::builtins::LOOKUPS;
use crate::clock::Clock;
use crate::error::Result;
use crate::json::Data;
use crate::meter::{Claim, Meter};
use crate::value::{Arena, Runtime, Value};

/// The bytes of a copy whose memory is claimed at once.
const PART: usize = 1 << 16;

/// Returns a copy of an input, and the claims to its memory.
pub fn copy(input: &dyn Input, clock: &dyn Clock, meter: &Meter<'_>) -> Result<(Data<'static>, Vec<Claim>)> {
    let arena = Arena::default();
    let mut runtime = Runtime::with_meter(&arena, meter.renew(), clock, &LOOKUPS);
    let value = input.borrow_value(&mut runtime)?;
    let meter = &mut runtime.meter;
    let (mut unclaimed, mut claims) = (0_usize, Vec::new());
    let data = value.copy_data(&mut |value, _| {
        meter.check_stack()?;
        let (items, bytes) = match value {
            Value::Str(text) => (0, text.as_str().len()),
            Value::List(items) | Value::Tuple(items) => (items.len(), 0),
            Value::Dict(dict) => (dict.len(), 0),
            _ => return Ok(()),
        };
        meter.charge_items(items)?;
        meter.charge_bytes(bytes)?;
        let taken = items.saturating_mul(size_of::<(Cow<'_, str>, Data<'_>)>()) + bytes;
        unclaimed += taken;
        if unclaimed >= PART {
            claims.push(meter.claim(std::mem::take(&mut unclaimed))?);
        }
        Ok(())
    })?;
    Ok((data, claims))
}
