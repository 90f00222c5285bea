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
    Other(&'a Other<'a>),
}

/// The rarer kinds of undefined values.
#[derive(Clone, Copy, Debug)]
pub enum Other<'a> {
    /// A missing index or a key that is not a string, with its `repr`: `list object has no element 9`.
    Element(Type, Str<'a>),
    /// A message that the render made.
    Message(&'a str),
    /// An access that the sandbox refused: `access to attribute 'append' of 'list' object is unsafe.`
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
                Other::Element(Type::Missing, key) => format!("{} is undefined", key.as_str()),
                Other::Element(owner, key) => format!("{} has no element {}", owner.object_name(), key.as_str()),
                Other::Message(message) => (*message).to_owned(),
                Other::Unsafe(message) => return Error::new(ErrorKind::Security, *message),
            },
        };
        Error::new(ErrorKind::Undefined, message)
    }
}

impl<'a> Runtime<'a> {
    /// Makes an undefined value with a message.
    pub fn undefined_message(&mut self, message: &str) -> Result<Value<'a>> {
        let message = self.message(message)?;
        self.other_undefined(Other::Message(message))
    }

    /// Makes an undefined value for an unsafe attribute. Using it is a security error.
    pub fn unsafe_attribute(&mut self, message: &str) -> Result<Value<'a>> {
        let message = self.message(message)?;
        self.other_undefined(Other::Unsafe(message))
    }

    /// Makes an undefined value for a missing element. `key` is the `repr` of the key.
    pub fn undefined_element(&mut self, owner: Type, key: Str<'a>) -> Result<Value<'a>> {
        self.other_undefined(Other::Element(owner, key))
    }

    fn message(&mut self, message: &str) -> Result<&'a str> {
        self.meter.charge((message.len() / STEP_BYTES) as u64)?;
        self.meter.hold(message.len())?;
        Ok(self.arena.store_text(message))
    }

    fn other_undefined(&mut self, other: Other<'a>) -> Result<Value<'a>> {
        self.store(other).map(|other| Value::Undefined(Undefined::Other(other)))
    }
}
