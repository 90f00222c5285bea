//! The global functions `dict` and `namespace`.
//!
//! ```text
//! {{ dict([("a", 1)], b=2) }}            {'a': 1, 'b': 2}
//! {{ namespace(a=1).a }}                 1
//! {{ namespace(_a=1) }}                  a SecurityError
//! ```
//!
//! Both take a dict or pairs, and keywords. The rules are those of CPython 3.13 `dictobject.c` (`dict_update_common`,
//! `PyDict_MergeFromSeq2`) and transformers 5.24.0 `chat_template_utils.py` (`TemplateDict`, `TemplateNamespace`).

use crate::builtins::table::built_ins;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{Limit, LimitExceeded};
use crate::meter::Claim;
use crate::text::quote;
use crate::value::{Content, Entries, Iter, Runtime, Shortcut, Str, Type, Value};

built_ins! { CONTAINERS:
    /// Returns a dict of a dict or pairs, and of keywords.
    Python "_cached_compile_jinja_template.<locals>.TemplateDict.__call__".with_type(Type::TemplateDict)
    fn dict(runtime, @self, *args[Pairs], **kwargs) -> Dict {
        let entries = collect_entries(runtime, args, kwargs)?;
        Ok(Value::Dict(runtime.dict(entries)?))
    }

    /// Returns a namespace with the attributes of a dict or pairs, and of keywords.
    Python "_cached_compile_jinja_template.<locals>.TemplateNamespace.__init__"
    .with_type(Type::Class).with_shortcut(Shortcut::Namespace)
    fn namespace(runtime, *args[Dict], **kwargs) -> Namespace {
        let attributes: Vec<_> = if args.is_empty() {
            // The names of keywords differ, so no dict is needed.
            kwargs.into_iter().map(|(name, value)| (Value::Str(name), Content::Value(value))).collect()
        } else {
            let entries = collect_entries(runtime, args, kwargs)?.into_iter();
            entries.map(|(key, value)| (key.value, Content::Value(value))).collect()
        };
        for (name, _) in &attributes {
            if let Value::Str(name) = name {
                check_attribute_name(name.as_str())?;
            }
        }
        if attributes.len() > MAX_ATTRIBUTES {
            let reached = LimitExceeded::from_sizes(Limit::Attributes, attributes.len(), MAX_ATTRIBUTES);
            return Err(Error::limit(reached));
        }
        runtime.meter.charge_items(attributes.len())?;
        runtime.namespace(attributes).map(Value::Namespace)
    }
}

/// The maximum number of attributes of a namespace. Lookups are linear, and a template has about ten.
const MAX_ATTRIBUTES: usize = 1000;

/// Returns an error if the name of an attribute begins with an underscore.
#[inline]
pub fn check_attribute_name(name: &str) -> Result<()> {
    if name.starts_with('_') {
        Err(refuse_attribute_name(name))
    } else {
        Ok(())
    }
}

#[cold]
fn refuse_attribute_name(name: &str) -> Error {
    let name = quote::repr(name);
    Error::new(
        ErrorKind::Security,
        format!(
            "Chat templates cannot store underscore-prefixed attributes on a namespace, but got {name}. \
             Please rename the attribute."
        ),
    )
}

/// Collects the entries of a dict: those of the argument, a dict or pairs, and then the keywords.
fn collect_entries<'a>(
    runtime: &mut Runtime<'a>,
    mut positional: Vec<Value<'a>>,
    keywords: Vec<(Str<'a>, Value<'a>)>,
) -> Result<Entries<'a>> {
    if positional.len() > 1 {
        return Err(Error::type_error(format!(
            "dict expected at most 1 argument, got {}",
            positional.len()
        )));
    }
    let mut entries = Entries::default();
    let mut claim = None;
    match positional.pop() {
        None => {}
        // Python first reads the attribute `keys`.
        Some(Value::Undefined(undefined)) => return Err(undefined.error()),
        Some(argument) => match argument.as_mapping() {
            Some(dict) => {
                for (key, value) in dict.iter() {
                    runtime.insert(&mut entries, &mut claim, key, value)?;
                }
            }
            None => add_pairs(runtime, &mut entries, &mut claim, &argument)?,
        },
    }
    for (name, value) in keywords {
        runtime.insert(&mut entries, &mut claim, Value::Str(name), value)?;
    }
    Ok(entries)
}

fn add_pairs<'a>(runtime: &mut Runtime<'a>, entries: &mut Entries<'a>, claim: &mut Option<Claim>, pairs: &Value<'a>) -> Result<()> {
    let mut iter = Iter::new(pairs)?;
    let mut index: usize = 0;
    while let Some(pair) = iter.next(runtime)? {
        // Python replaces any TypeError, including one that an iterator raises.
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
            Ok([key, value]) => runtime.insert(entries, claim, key, value)?,
            Err(items) => {
                let len = items.len();
                return Err(Error::value(format!(
                    "dictionary update sequence element #{index} has length {len}; 2 is required"
                )));
            }
        }
        index += 1;
    }
    Ok(())
}
