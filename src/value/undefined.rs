//! Jinja's `Undefined` (jinja2 3.1.6 `runtime.py`, `Undefined`): its origin, and the error that using it raises.

use super::Value;
use super::runtime::Runtime;
use super::str::Str;
use super::types::Type;
use crate::error::{Error, ErrorKind, Result};
use crate::meter::STEP_BYTES;
use crate::text::quote;

/// The origin of an undefined value.
#[derive(Clone, Copy, Debug)]
pub enum Undefined<'a> {
    /// A name without a value: `'x' is undefined`.
    Name(&'a str),
    /// A missing attribute or string key: `'dict object' has no attribute 'x'`.
    Attribute(Type, &'a str),
    /// A fixed message: `there is no previous item`.
    Hint(&'static str),
    /// A parameter of a macro without an argument: `parameter 'x' was not provided`.
    Parameter(&'a str),
    /// A conditional expression without `else`, with its line.
    NoElse(u32),
    /// An undefined value of a rarer kind.
    Other(&'a OtherUndefined<'a>),
}

/// The rarer kinds of undefined values.
#[derive(Clone, Copy, Debug)]
pub enum OtherUndefined<'a> {
    /// A missing index or a key that is not a string, with its `repr`: `list object has no element 9`.
    Element(Type, Str<'a>),
    /// A message that the render made.
    Message(&'a str),
    /// An access that the sandbox refused, whose use is a security error: `access to attribute 'append' of 'list' object is unsafe.`
    Unsafe(&'a str),
}

impl<'a> Undefined<'a> {
    /// Returns whether both are one object that the render made.
    pub(super) fn shares_storage(&self, other: &Self) -> bool {
        matches!((self, other), (Self::Other(left), Self::Other(right)) if std::ptr::eq(*left, *right))
    }

    /// Returns the error that using the value raises.
    #[cold]
    pub fn error(&self) -> Error {
        let no_attribute = |owner: Type, name: &str| match owner {
            // Jinja's `Undefined` treats an attribute of the object `missing` as a name.
            Type::Missing => format!("{} is undefined", quote::repr(name)),
            _ => format!("{} has no attribute {}", quote::repr(&owner.object_name()), quote::repr(name)),
        };
        let message = match self {
            Self::Name(name) => format!("{} is undefined", quote::repr(name)),
            Self::Attribute(owner, name) => no_attribute(*owner, name),
            Self::Hint(hint) => (*hint).to_owned(),
            Self::Parameter(name) => format!("parameter {} was not provided", quote::repr(name)),
            Self::NoElse(line) => {
                format!("the inline if-expression on line {line} evaluated to false and no else section was defined.")
            }
            Self::Other(other) => match other {
                OtherUndefined::Element(Type::Missing, key) => format!("{} is undefined", key.as_str()),
                OtherUndefined::Element(owner, key) => format!("{} has no element {}", owner.object_name(), key.as_str()),
                OtherUndefined::Message(message) => (*message).to_owned(),
                OtherUndefined::Unsafe(message) => return Error::new(ErrorKind::Security, *message),
            },
        };
        Error::new(ErrorKind::Undefined, message)
    }
}

impl<'a> Runtime<'a> {
    /// Makes an undefined value of a kind that has a message.
    pub fn undefined_message(&mut self, message: &str, make: fn(&'a str) -> OtherUndefined<'a>) -> Result<Value<'a>> {
        self.meter.charge((message.len() / STEP_BYTES) as u64)?;
        self.meter.hold(message.len())?;
        let message = self.arena.store_text(message);
        self.undefined(make(message))
    }

    /// Makes an undefined value of a rarer kind.
    pub fn undefined(&mut self, other: OtherUndefined<'a>) -> Result<Value<'a>> {
        self.store(other).map(|other| Value::Undefined(Undefined::Other(other)))
    }
}
