//! The global functions `dict` and `namespace`, which take the same arguments.
//!
//! ```text
//! {{ dict([("a", 1)], b=2) }}            {'a': 1, 'b': 2}
//! {{ namespace(a=1).a }}                 1
//! {{ namespace(_a=1) }}                  a SecurityError
//! ```
//!
//! After CPython 3.11 `dictobject.c` (`dict_update_common`, `PyDict_MergeFromSeq2`) and transformers 5.23.0 `chat_template_utils.py`
//! (`TemplateDict`, `TemplateNamespace`). How a namespace is changed later is the evaluator's business.

use crate::error::{Error, ErrorKind, Result};
use crate::limits::{Limit, Reached};
use crate::text::quote;
use crate::value::{Arguments, Entries, Iter, Key, Namespace, Runtime, Value};

/// `dict(…)`
pub(super) fn dict<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    let entries = entries(runtime, arguments)?;
    Ok(Value::Dict(runtime.dict(entries)?))
}

/// A namespace looks through its attributes one by one: templates have ten. More than this can only come from data.
const MAX_ATTRIBUTES: usize = 1000;

/// `namespace(…)`
pub(super) fn namespace<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let attributes: Vec<_> = if arguments.is_empty() {
        // No keyword comes twice.
        let keywords = arguments.take_keywords().into_iter();
        keywords.map(|(name, value)| (Value::Str(name), value)).collect()
    } else {
        let entries = entries(runtime, arguments)?.into_iter();
        entries.map(|(key, value)| (key.value, value)).collect()
    };
    for (name, _) in &attributes {
        if let Value::Str(name) = name {
            check_name(name.as_str())?;
        }
    }
    if attributes.len() > MAX_ATTRIBUTES {
        let reached = Reached::from_sizes(Limit::Attributes, attributes.len(), MAX_ATTRIBUTES);
        return Err(Error::limit(reached));
    }
    runtime.meter.charge_items(attributes.len())?;
    runtime.namespace(Namespace::new(attributes)).map(Value::Namespace)
}

/// Refuses names that begin with an underscore.
pub fn check_name(name: &str) -> Result<()> {
    if !name.starts_with('_') {
        return Ok(());
    }
    let name = quote::repr(name);
    Err(Error::new(
        ErrorKind::Security,
        format!(
            "Chat templates cannot store underscore-prefixed attributes on a namespace, but got {name}. \
             Please rename the attribute."
        ),
    ))
}

/// The entries of `dict(…)`: those of a dict or of pairs, which is the argument, then the keywords.
fn entries<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Entries<'a>> {
    let mut given = arguments.take_from(0);
    if given.len() > 1 {
        return Err(Error::type_error(format!(
            "dict expected at most 1 argument, got {}",
            given.len()
        )));
    }
    let mut entries = Entries::default();
    match given.pop() {
        None => {}
        // Python asks whether it has `keys` before anything else.
        Some(Value::Undefined(undefined)) => return Err(undefined.error()),
        Some(given) => match given.as_mapping() {
            Some(dict) => {
                for (key, value) in dict.iter() {
                    insert(runtime, &mut entries, key, value)?;
                }
            }
            None => add_pairs(runtime, &mut entries, &given)?,
        },
    }
    for (name, value) in arguments.take_keywords() {
        insert(runtime, &mut entries, Value::Str(name), value)?;
    }
    Ok(entries)
}

fn insert<'a>(runtime: &mut Runtime<'a>, entries: &mut Entries<'a>, key: Value<'a>, value: Value<'a>) -> Result<()> {
    runtime.check_entries(entries.len())?;
    entries.insert(Key::new(runtime, key)?, value);
    Ok(())
}

fn add_pairs<'a>(runtime: &mut Runtime<'a>, entries: &mut Entries<'a>, pairs: &Value<'a>) -> Result<()> {
    let mut iter = Iter::new(pairs)?;
    let mut index: usize = 0;
    while let Some(pair) = iter.next(runtime)? {
        // Any TypeError is told so, also one that an iterator raises on the way.
        let items = match Iter::try_new(&pair).map(|mut items| items.drain(runtime)) {
            Some(Err(error)) if error.kind() != ErrorKind::Type => return Err(error),
            Some(Ok(items)) => items,
            Some(Err(_)) | None => {
                return Err(Error::type_error(format!(
                    "cannot convert dictionary update sequence element #{index} to a sequence"
                )));
            }
        };
        match <[Value<'a>; 2]>::try_from(items) {
            Ok([key, value]) => insert(runtime, entries, key, value)?,
            Err(items) => {
                let len = items.len();
                return Err(Error::value(format!(
                    "dictionary update sequence element #{index} has length {len}; 2 is required"
                )));
            }
        }
        index = index.saturating_add(1);
    }
    Ok(())
}
