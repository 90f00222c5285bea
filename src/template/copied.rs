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
use crate::error::{Error, Result};
use crate::json::{Data, Object};
use crate::meter::{Claim, Meter};
use crate::value::{Arena, Runtime, Seq, Value};

/// The bytes of a copy whose memory is claimed at once.
const PART: usize = 1 << 16;

/// Returns a copy of an input, and the claims to its memory.
pub fn copy(input: &dyn Input, clock: &dyn Clock, meter: &Meter<'_>) -> Result<(Data<'static>, Vec<Claim>)> {
    let arena = Arena::default();
    let mut runtime = Runtime::with_meter(&arena, meter.renew(), clock, &LOOKUPS);
    let value = input.borrow_value(&mut runtime)?;
    let mut copier = Copier {
        meter: &mut runtime.meter,
        bytes: 0,
        claims: Vec::new(),
    };
    let data = copier.copy(&value)?;
    Ok((data, copier.claims))
}

struct Copier<'m, 'a> {
    meter: &'m mut Meter<'a>,
    /// The bytes that are copied and not yet claimed.
    bytes: usize,
    claims: Vec<Claim>,
}

impl Copier<'_, '_> {
    fn copy(&mut self, value: &Value<'_>) -> Result<Data<'static>> {
        self.meter.check_stack()?;
        Ok(match value {
            Value::None => Data::None,
            Value::Bool(bool) => Data::Bool(*bool),
            Value::Int(int) => Data::Int(*int),
            Value::Big(big) => Data::BigInt(Box::new((*big.to_big()).clone())),
            Value::Float(float) => Data::Float(*float),
            Value::Str(text) => Data::Str(self.text(text.as_str())?),
            Value::List(items) => Data::List(self.items(items)?),
            Value::Tuple(items) => Data::Tuple(self.items(items)?),
            Value::Dict(dict) => {
                self.charge(dict.len(), 0)?;
                let mut entries = Vec::new();
                for (key, value) in dict.iter() {
                    let key = self.text(key.as_str().unwrap_or_default())?;
                    entries.push((key, self.copy(&value)?));
                }
                Data::Object(Object::new(entries))
            }
            _ => return Err(Error::internal("the input has a value that is not JSON")),
        })
    }

    fn items(&mut self, items: &Seq<'_>) -> Result<Vec<Data<'static>>> {
        self.charge(items.len(), 0)?;
        items.iter().map(|item| self.copy(&item)).collect()
    }

    fn text(&mut self, text: &str) -> Result<Cow<'static, str>> {
        self.charge(0, text.len())?;
        Ok(Cow::Owned(text.to_owned()))
    }

    /// Charges and claims items and the bytes of text.
    fn charge(&mut self, items: usize, bytes: usize) -> Result<()> {
        self.meter.charge_items(items)?;
        self.meter.charge_bytes(bytes)?;
        self.bytes = self
            .bytes
            .saturating_add(items.saturating_mul(size_of::<(Cow<'_, str>, Data<'_>)>()))
            .saturating_add(bytes);
        if self.bytes >= PART {
            self.claims.push(self.meter.claim(std::mem::take(&mut self.bytes))?);
        }
        Ok(())
    }
}
