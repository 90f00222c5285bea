//! Jinja's Undefined (jinja2 3.1.6 `runtime.py`, `Undefined`): where it came from, and so what it says when it is used.

use super::metered_rc::MeteredRc;
use super::str::Str;
use super::types::Type;
use crate::error::{Error, ErrorKind};
use crate::text::measure::written;
use crate::text::quote::write_repr;

/// What an undefined value remembers.
#[derive(Clone, Debug)]
pub enum Undefined<'a> {
    /// A name that nobody set: `'x' is undefined`.
    Name(&'a str),
    /// An attribute or string key that is not there: `'dict object' has no attribute 'x'`.
    Attribute(Type, &'a str),
    /// A message of its own: `there is no previous item`.
    Hint(&'static str),
    /// A parameter of a macro that was not given: `parameter 'x' was not provided`.
    Parameter(&'a str),
    /// A conditional expression without `else`, by its line.
    NoElse(u32),
    /// One of the rarer kinds.
    Other(MeteredRc<Other<'a>>),
}

/// The rarer kinds of undefined values.
#[derive(Clone, Debug)]
pub enum Other<'a> {
    /// An attribute whose name the render made.
    Attribute(Type, Str<'a>),
    /// An index or key that is no string: `list object has no element 9`; the key's repr.
    Element(Type, Str<'a>),
    /// A message that the render made.
    Message(String),
    /// The sandbox refused: `access to attribute 'append' of 'list' object is unsafe.`
    Unsafe(String),
}

impl Other<'_> {
    /// The bytes of a text that is held here alone.
    pub(super) fn owned_bytes(&self) -> usize {
        match self {
            Self::Attribute(..) | Self::Element(..) => 0,
            Self::Message(message) | Self::Unsafe(message) => message.capacity(),
        }
    }
}

impl<'a> Undefined<'a> {
    /// With a message that the render made.
    pub fn message(message: impl Into<String>) -> Self {
        Self::Other(MeteredRc::new(Other::Message(message.into())))
    }

    /// An unsafe attribute; using it is a SecurityError.
    pub fn unsafe_attribute(message: impl Into<String>) -> Self {
        Self::Other(MeteredRc::new(Other::Unsafe(message.into())))
    }

    /// A missing attribute or string key.
    pub fn attribute(owner: Type, name: &Str<'a>) -> Self {
        match name.borrowed() {
            Some(name) => Self::Attribute(owner, name),
            None => Self::Other(MeteredRc::new(Other::Attribute(owner, name.clone()))),
        }
    }

    /// A missing element; `key` is its repr.
    pub fn element(owner: Type, key: Str<'a>) -> Self {
        Self::Other(MeteredRc::new(Other::Element(owner, key)))
    }

    /// Returns whether both are one object that the render made.
    pub(super) fn shares_storage(&self, other: &Self) -> bool {
        matches!((self, other), (Self::Other(left), Self::Other(right)) if left.is_same(right))
    }

    /// The error that using it raises.
    #[cold]
    pub fn error(&self) -> Error {
        let quoted = |text: &str| written(|output| write_repr(output, text));
        let no_attribute = |owner: Type, name: &str| match owner {
            // What is asked of nothing is a name to Undefined.
            Type::Missing => format!("{} is undefined", quoted(name)),
            _ => format!("{} has no attribute {}", quoted(owner.described()), quoted(name)),
        };
        let message = match self {
            Self::Name(name) => format!("{} is undefined", quoted(name)),
            Self::Attribute(owner, name) => no_attribute(*owner, name),
            Self::Hint(hint) => (*hint).to_owned(),
            Self::Parameter(name) => format!("parameter {} was not provided", quoted(name)),
            Self::NoElse(line) => {
                format!("the inline if-expression on line {line} evaluated to false and no else section was defined.")
            }
            Self::Other(other) => match &**other {
                Other::Attribute(owner, name) => no_attribute(*owner, name.as_str()),
                Other::Element(Type::Missing, key) => format!("{} is undefined", key.as_str()),
                Other::Element(owner, key) => format!("{} has no element {}", owner.described(), key.as_str()),
                Other::Message(message) => message.clone(),
                Other::Unsafe(message) => return Error::new(ErrorKind::Security, message.clone()),
            },
        };
        Error::new(ErrorKind::Undefined, message)
    }
}
