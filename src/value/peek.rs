//! Lookups in values that need no runtime. Most values that chat templates print, compare and test are found by them.
//!
//! A lookup returns `None` if only the rules of [`crate::builtins::access`] decide, or if finding the key has to be charged.

use super::Value;
use super::dict::{Dict, Found};
use super::runtime::Heap;
use super::types::Type;
use super::undefined::Undefined;
use crate::ast::LoopNumber;

/// Returns the undefined value of an attribute that an object does not have.
#[inline]
pub fn absent(ty: Type, name: &str) -> Value<'_> {
    Value::Undefined(Undefined::Attribute(ty, name))
}

impl<'a> Dict<'a> {
    /// Looks up a key that is not the name of a dict method, and calls a function with its value, which is undefined if the dict does not
    /// have the key.
    #[inline(always)]
    pub fn peek<T>(&self, key: &'a str, then: impl FnOnce(&Value<'a>) -> T) -> Option<T> {
        match self.scan(key) {
            Some(Some(found)) => Some(then(&found.into())),
            Some(None) => Some(then(&absent(Type::Dict, key))),
            None => self.peek_other(key).map(|value| then(&value)),
        }
    }

    #[inline(never)]
    fn peek_other(&self, key: &'a str) -> Option<Value<'a>> {
        self.is_found_at_once(key)
            .then(|| self.get_str(key).unwrap_or(absent(Type::Dict, key)))
    }

    /// Returns the plain string under a key, if there is one. The result is `None` if finding the key has to be charged.
    #[inline(always)]
    pub fn peek_text(&self, key: &str) -> Option<Option<&'a str>> {
        match self.scan(key) {
            Some(found) => Some(found.and_then(Found::as_str)),
            None => self.peek_other_text(key),
        }
    }

    #[inline(never)]
    fn peek_other_text(&self, key: &str) -> Option<Option<&'a str>> {
        self.is_found_at_once(key).then(|| self.get_str(key)?.plain_text())
    }
}

impl<'a> Value<'a> {
    /// Looks up a key that is not the name of a dict method, or an attribute of a namespace or of `loop`.
    pub fn peek_key(&self, heap: &Heap<'a>, key: &'a str) -> Option<Self> {
        match self {
            Self::Dict(dict) => dict.peek(key, |value| *value),
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
