//! Python's `item in container`.
//!
//! `'ell' in 'hello'`; a dict is asked for a key; an undefined container is empty; an iterator is consumed up to the item.

use super::Value;
use super::iterate::Iter;
use super::runtime::Runtime;
use super::seq::Seq;
use crate::error::{Error, Result};
use crate::number::{Int, exact};

impl<'a> Runtime<'a> {
    /// Whether the item is in the container.
    pub fn contains(&mut self, container: &Value<'a>, item: &Value<'a>) -> Result<bool> {
        match (container, item) {
            (Value::Str(text), Value::Str(part)) => {
                self.meter.charge_bytes(text.as_str().len())?;
                Ok(text.as_str().contains(part.as_str()))
            }
            (Value::Str(_), _) => {
                let name = item.ty().name();
                Err(Error::type_error(format!(
                    "'in <string>' requires string as left operand, not {name}"
                )))
            }
            (Value::List(items) | Value::Tuple(items), _) => self.sequence_contains(items, item),
            (Value::Keys(view), _) => Ok(self.lookup(view, item)?.is_some()),
            (Value::Dict(dict), _) => Ok(self.lookup(dict, item)?.is_some()),
            (Value::Items(dict), _) => {
                let Value::Tuple(pair) = item else { return Ok(false) };
                let (Some(key), Some(value), 2) = (pair.get(0), pair.get(1), pair.len()) else {
                    return Ok(false);
                };
                match self.lookup(dict, &key)? {
                    Some(found) => self.identical_or_equal(&found, &value),
                    None => Ok(false),
                }
            }
            (Value::Range(range), _) => Ok(whole_number(item).and_then(|int| range.position(int)).is_some()),
            _ => self.iteration_contains(container, item),
        }
    }

    fn sequence_contains(&mut self, items: &Seq<'a>, item: &Value<'a>) -> Result<bool> {
        for index in 0..items.len() {
            self.meter.charge(1)?;
            let Some(candidate) = items.get(index) else { break };
            if self.identical_or_equal(&candidate, item)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn iteration_contains(&mut self, container: &Value<'a>, item: &Value<'a>) -> Result<bool> {
        let Some(mut items) = Iter::try_new(container) else {
            return Err(Error::type_error(format!(
                "argument of type '{}' is not iterable",
                container.ty().name()
            )));
        };
        while let Some(candidate) = items.next(self)? {
            if self.identical_or_equal(&candidate, item)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The integer that a number equals, if it equals one that fits.
fn whole_number(value: &Value<'_>) -> Option<i64> {
    match value {
        Value::Float(float) if exact::is_integer(*float) => match exact::truncate(*float) {
            Ok(Int::Small(int)) => Some(int),
            _ => None,
        },
        _ => value.as_int(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;
    use crate::limits::Limits;

    #[test]
    fn ranges_hold_numbers_of_any_kind() {
        assert_eq!(whole_number(&Value::Float(4.0)), Some(4));
        assert_eq!(whole_number(&Value::Float(1e300)), None);
        assert_eq!(whole_number(&Value::Float(0.5)), None);
    }

    #[test]
    fn a_string_holds_strings_only() {
        let mut runtime = Runtime::new(Limits::default(), &SystemClock);
        assert!(runtime.contains(&Value::text("hello"), &Value::text("ell")).unwrap());
        let error = runtime.contains(&Value::text("1"), &Value::Int(1)).unwrap_err();
        assert_eq!(error.message(), "'in <string>' requires string as left operand, not int");
    }
}
