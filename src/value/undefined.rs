//! Jinja's `Undefined` (jinja2 3.1.6 `runtime.py`, `Undefined`): its origin, and the error that using it raises.

use super::metered_rc::MeteredRc;
use super::str::Str;
use super::types::Type;
use crate::error::{Error, ErrorKind};
use crate::text::quote;

/// The origin of an undefined value.
#[derive(Clone, Debug)]
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
    Other(MeteredRc<Other<'a>>),
}

/// The rarer kinds of undefined values.
#[derive(Clone, Debug)]
pub enum Other<'a> {
    /// A missing attribute whose name the render made.
    Attribute(Type, Str<'a>),
    /// A missing index or a key that is not a string, with its `repr`: `list object has no element 9`.
    Element(Type, Str<'a>),
    /// A message that the render made.
    Message(String),
    /// An access that the sandbox refused: `access to attribute 'append' of 'list' object is unsafe.`
    Unsafe(String),
}

impl Other<'_> {
    /// Returns the number of bytes of the message, which no other value shares.
    pub(super) fn owned_bytes(&self) -> usize {
        match self {
            Self::Attribute(..) | Self::Element(..) => 0,
            Self::Message(message) | Self::Unsafe(message) => message.capacity(),
        }
    }
}

impl<'a> Undefined<'a> {
    /// Makes an undefined value with a message.
    pub fn message(message: impl Into<String>) -> Self {
        Self::Other(MeteredRc::new(Other::Message(message.into())))
    }

    /// Makes an undefined value for an unsafe attribute. Using it is a security error.
    pub fn unsafe_attribute(message: impl Into<String>) -> Self {
        Self::Other(MeteredRc::new(Other::Unsafe(message.into())))
    }

    /// Makes an undefined value for a missing attribute or string key.
    pub fn attribute(owner: Type, name: &Str<'a>) -> Self {
        match name.borrowed() {
            Some(name) => Self::Attribute(owner, name),
            None => Self::Other(MeteredRc::new(Other::Attribute(owner, name.clone()))),
        }
    }

    /// Makes an undefined value for a missing element. `key` is the `repr` of the key.
    pub fn element(owner: Type, key: Str<'a>) -> Self {
        Self::Other(MeteredRc::new(Other::Element(owner, key)))
    }

    /// Returns whether both are one object that the render made.
    pub(super) fn shares_storage(&self, other: &Self) -> bool {
        matches!((self, other), (Self::Other(left), Self::Other(right)) if left.address() == right.address())
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
            Self::Other(other) => match &**other {
                Other::Attribute(owner, name) => no_attribute(*owner, name.as_str()),
                Other::Element(Type::Missing, key) => format!("{} is undefined", key.as_str()),
                Other::Element(owner, key) => format!("{} has no element {}", owner.object_name(), key.as_str()),
                Other::Message(message) => message.clone(),
                Other::Unsafe(message) => return Error::new(ErrorKind::Security, message.clone()),
            },
        };
        Error::new(ErrorKind::Undefined, message)
    }
}
