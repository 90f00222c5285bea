//! The paths that filters take as `attribute`: `"message.tool_calls.0"`.
//!
//! ```text
//! {{ users|map(attribute="city.name")|list }}    one path
//! {{ users|sort(attribute="city,name") }}        several paths, only for sort
//! ```
//!
//! Each step of a path is a lookup `x[y]` ([`access`]); a step of digits is an integer. The rules are those of jinja2 3.1.6
//! `filters.py`: `make_attrgetter`, `make_multi_attrgetter`, `_prepare_attribute_parts`, `ignore_case`.

use crate::builtins::access;
use crate::builtins::methods::str_case::map_text;
use crate::error::Result;
use crate::meter::Claim;
use crate::unicode;
use crate::value::{Runtime, Str, Value};

/// A path from an item to the value that a filter reads.
#[derive(Debug)]
pub(super) struct AttributePath<'a> {
    steps: Vec<Value<'a>>,
    default: Option<Value<'a>>,
    ignores_case: bool,
    /// The claim to the memory of `steps`.
    _claim: Claim,
}

impl<'a> AttributePath<'a> {
    /// Reads the argument `attribute` of a filter. `None` is the path to the item itself.
    pub fn new(runtime: &mut Runtime<'a>, attribute: &Value<'a>) -> Result<Self> {
        let (steps, claim) = match attribute {
            Value::None => (Vec::new(), runtime.meter.claim(0)?),
            Value::Str(text) => read_steps(runtime, text)?,
            other => (vec![*other], runtime.meter.claim(0)?),
        };
        Ok(Self {
            steps,
            default: None,
            ignores_case: false,
            _claim: claim,
        })
    }

    /// Reads the argument `attribute` of the filter `sort`, which has one or more paths with commas between them.
    pub fn split(runtime: &mut Runtime<'a>, attribute: &Value<'a>) -> Result<Vec<Self>> {
        let Value::Str(text) = attribute else {
            return Ok(vec![Self::new(runtime, attribute)?]);
        };
        runtime.meter.charge_bytes(text.as_str().len())?;
        let commas = text.as_str().split(',').count();
        runtime.meter.check_size(commas.saturating_mul(size_of::<Self>()))?;
        let paths = text.as_str().split(',');
        paths.map(|path| Self::new(runtime, &Value::Str(text.piece(path)))).collect()
    }

    /// Sets the value that replaces an undefined one at any step of the path. `None` is no default.
    pub fn with_default(mut self, default: Value<'a>) -> Self {
        self.default = Some(default).filter(|default| !matches!(default, Value::None));
        self
    }

    /// Makes the path lead to the lower case of a string, if `ignores_case` is true.
    pub fn with_case_ignored(mut self, ignores_case: bool) -> Self {
        self.ignores_case = ignores_case;
        self
    }

    /// Returns the value to which the path leads from an item.
    pub fn follow(&self, runtime: &mut Runtime<'a>, item: &Value<'a>) -> Result<Value<'a>> {
        runtime.meter.charge(1)?;
        if let ([step], None, false) = (self.steps.as_slice(), &self.default, self.ignores_case) {
            return access::get_item(runtime, item, step);
        }
        let mut place: Option<Value<'a>> = None;
        for step in &self.steps {
            runtime.meter.charge(1)?;
            let mut found = access::get_item(runtime, place.as_ref().unwrap_or(item), step)?;
            if let Some(default) = self.default.as_ref().filter(|_| found.is_undefined()) {
                found = *default;
            }
            place = Some(found);
        }
        let place = place.unwrap_or(*item);
        if self.ignores_case {
            to_lower(runtime, place)
        } else {
            Ok(place)
        }
    }
}

fn read_steps<'a>(runtime: &mut Runtime<'a>, path: &Str<'a>) -> Result<(Vec<Value<'a>>, Claim)> {
    runtime.meter.charge_scan(path.as_str().len())?;
    let count = path.as_str().split('.').count();
    runtime.meter.charge_items(count)?;
    let claim = runtime.meter.claim(count.saturating_mul(size_of::<Value<'_>>()))?;
    let step = |part: &str| {
        if unicode::has_only(part, unicode::is_digit) {
            runtime.int(super::number::parse_decimal(part)?)
        } else {
            Ok(Value::Str(path.piece(part)))
        }
    };
    let steps = path.as_str().split('.').map(step).collect::<Result<_>>()?;
    Ok((steps, claim))
}

/// Returns the lower case of a string, and any other value unchanged.
pub(super) fn to_lower<'a>(runtime: &mut Runtime<'a>, value: Value<'a>) -> Result<Value<'a>> {
    let Value::Str(text) = &value else {
        return Ok(value);
    };
    runtime.meter.charge_bytes(text.as_str().len())?;
    if is_lower_ascii(text.as_str()) {
        return Ok(value);
    }
    runtime.with_sources(&[&value], |runtime| map_text(runtime, *text, unicode::to_lower))
}

/// Returns whether a string is ASCII without upper case, so that its lower case is the string itself.
fn is_lower_ascii(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase())
}
