//! Lookups in values that need no runtime. Most values that chat templates print, compare and test are found by them.
//!
//! A lookup returns `None` if only the rules of [`crate::builtins::access`] decide, or if finding the key has to be charged.

use super::Value;
use super::dict::{Dict, Map, scan_json};
use super::runtime::Heap;
use super::types::Type;
use super::undefined::Undefined;
use crate::ast::LoopNumber;
use crate::text::short_eq::SHORT;

/// Looks up a key of the caller's object, as [`Dict::peek`] does. A short key of a small object is found without another call.
#[inline(always)]
pub fn peek_json<'a>(map: &'a Map, key: &'a str) -> Option<Value<'a>> {
    match scan_json(map, key) {
        Some(Some(found)) if key.len() <= SHORT => Some(Value::from(found)),
        Some(None) if key.len() <= SHORT => Some(absent(Type::Dict, key)),
        _ => Dict::Json(map).peek(key),
    }
}

/// Returns the undefined value of an attribute that an object does not have.
#[inline]
pub fn absent(ty: Type, name: &str) -> Value<'_> {
    Value::Undefined(Undefined::Attribute(ty, name))
}

impl<'a> Dict<'a> {
    /// Looks up a key that is not the name of a dict method. The value is undefined if the dict does not have the key.
    #[inline(never)]
    pub fn peek(&self, key: &'a str) -> Option<Value<'a>> {
        let is_charged = !self.is_found_at_once(key);
        (!is_charged).then(|| self.get_str(key).unwrap_or(absent(Type::Dict, key)))
    }
}

impl<'a> Value<'a> {
    /// Looks up a key that is not the name of a dict method, or an attribute of a namespace or of `loop`.
    #[inline(always)]
    pub fn peek_key(&self, heap: &Heap<'a>, key: &'a str) -> Option<Self> {
        match self {
            Self::Dict(Dict::Json(map)) => peek_json(map, key),
            Self::Dict(dict) => dict.peek(key),
            Self::Namespace(id) => {
                let namespace = heap.namespace(*id).filter(|namespace| namespace.is_found_at_once(key));
                namespace?.get(key).copied()
            }
            Self::Loop(context) => context.peek_number(heap, LoopNumber::find(key)?),
            _ => None,
        }
    }

    /// Returns an item of a list or a tuple, if it has an item at the index. A negative index counts from the end.
    pub fn peek_item(&self, index: i64) -> Option<Self> {
        let (Self::List(items) | Self::Tuple(items)) = self else {
            return None;
        };
        let from_start = usize::try_from(index).ok();
        items.get(from_start.or_else(|| items.len().checked_sub(usize::try_from(index.unsigned_abs()).ok()?))?)
    }

    /// Returns the text of a `str`, unless the tape of the render has its pieces.
    #[inline]
    pub fn plain_text(&self) -> Option<&'a str> {
        match self {
            Self::Str(text) if !text.is_markup() && text.pieces().is_none() => Some(text.as_str()),
            _ => None,
        }
    }
}
