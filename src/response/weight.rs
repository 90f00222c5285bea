//! The memory of values, which is claimed before they are copied.

use crate::error::{Error, Result};
use crate::json::Data;
use crate::json::read::DEPTH;
use crate::limits::{Limit, LimitExceeded};
use crate::meter::Meter;

/// The number of bytes that a value takes besides its contents.
const VALUE: usize = size_of::<Data<'_>>();

/// The number of bytes that an entry of an object takes besides its value and the characters of its key.
const ENTRY: usize = 72;

/// The number of bytes that an allocation takes besides its contents.
const ALLOCATION: usize = 32;

/// Claims the memory of a value that becomes a part of the message.
pub fn claim(value: &Data<'_>, meter: &mut Meter<'_>) -> Result<()> {
    claim_at(value, 0, meter)
}

/// Claims the memory of a value that a number of lists and objects enclose.
pub fn claim_at(value: &Data<'_>, depth: usize, meter: &mut Meter<'_>) -> Result<()> {
    let bytes = weigh(value, depth, meter)?;
    meter.claim_for_render(bytes)
}

/// Claims the memory of a list or an object of a number of values, without the values.
pub fn claim_container(len: usize, depth: usize, meter: &mut Meter<'_>) -> Result<()> {
    check_depth(depth)?;
    meter.charge_items(len)?;
    meter.claim_for_render(len.saturating_mul(VALUE.saturating_add(ENTRY)).saturating_add(ALLOCATION))
}

/// Returns the number of bytes that a value takes.
pub fn weigh(value: &Data<'_>, depth: usize, meter: &mut Meter<'_>) -> Result<usize> {
    check_depth(depth)?;
    let of_text = |text: &str| {
        if text.is_empty() {
            0
        } else {
            text.len().saturating_add(ALLOCATION)
        }
    };
    let inner = match value {
        Data::Str(text) => of_text(text),
        Data::BigInt(int) => usize::try_from(int.bits() / 8)
            .unwrap_or(usize::MAX)
            .saturating_add(ALLOCATION),
        Data::List(items) | Data::Tuple(items) => {
            meter.charge_items(items.len())?;
            let mut bytes = ALLOCATION;
            for item in items {
                bytes = bytes.saturating_add(weigh(item, depth.saturating_add(1), meter)?);
            }
            bytes
        }
        Data::Object(object) => {
            meter.charge_items(object.len())?;
            let mut bytes = ALLOCATION;
            for (key, value) in object.entries() {
                let value = weigh(value, depth.saturating_add(1), meter)?;
                bytes = bytes.saturating_add(value).saturating_add(of_text(key)).saturating_add(ENTRY);
            }
            bytes
        }
        _ => 0,
    };
    meter.charge_part(inner)?;
    Ok(inner.saturating_add(VALUE))
}

/// Checks that lists and objects do not nest deeper than in JSON, because a value is dropped recursively.
fn check_depth(depth: usize) -> Result<()> {
    if depth <= DEPTH {
        return Ok(());
    }
    Err(Error::limit(LimitExceeded::from_sizes(Limit::JsonDepth, depth, DEPTH)))
}
