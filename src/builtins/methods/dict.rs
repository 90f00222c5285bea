//! The methods of dicts that do not change the dict.
//!
//! ```text
//! {{ d.get("z", 0) }}              0
//! {{ d.fromkeys("ab") }}           an error: not supported
//! ```
//!
//! The rules are those of CPython 3.13 `dictobject.c`.

use crate::builtins::table::built_ins;
use crate::value::{Dict, Entries, Key, Value};

/// The methods that change a dict (jinja2 3.1.6 `sandbox.py`, `_mutable_spec`).
pub(super) const MUTATING: &[&str] = &["clear", "pop", "popitem", "setdefault", "update"];

/// Returns whether dicts may have an attribute of the given name, which hides a key: a method, or a name with two underscores in front.
/// Bytes are matched, because that compares lengths first.
#[inline]
pub fn is_attribute(name: &str) -> bool {
    matches!(
        name.as_bytes(),
        b"get"
            | b"items"
            | b"keys"
            | b"values"
            | b"copy"
            | b"fromkeys"
            | b"pop"
            | b"clear"
            | b"update"
            | b"popitem"
            | b"setdefault"
            | [b'_', b'_', ..]
    )
}

built_ins! { METHODS:
    /// Returns the value of a key, or a default.
    Positional "dict.get" fn get(runtime, &dict: Dict, key: Text, default = None) {
        let found = runtime.find_key(&dict, &key)?;
        Ok(found.unwrap_or(default))
    }

    /// Returns a view of the pairs.
    NoArguments "dict.items" fn items(_runtime, &dict: Dict) -> Items { Ok(Value::Items(dict)) }

    /// Returns a view of the keys.
    NoArguments "dict.keys" fn keys(_runtime, &dict: Dict) -> Keys { Ok(Value::Keys(dict)) }

    /// Returns a view of the values.
    NoArguments "dict.values" fn values(_runtime, &dict: Dict) -> Values { Ok(Value::Values(dict)) }

    /// Returns a new dict, so that `d.copy() is sameas d` is false.
    NoArguments "dict.copy" fn copy(runtime, &dict: Dict) -> Same {
        runtime.meter.check_size(dict.len().saturating_mul(size_of::<(Key<'_>, Value<'_>)>()))?;
        let (mut entries, mut claim) = (Entries::default(), None);
        for (key, value) in dict.iter() {
            runtime.insert(&mut entries, &mut claim, key, value)?;
        }
        drop(claim);
        Ok(Value::Dict(runtime.dict(entries)?))
    }
}
