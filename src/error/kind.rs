//! The kinds of errors, by the exception that the reference raises, and their classes, by who has to act.

/// What the reference raised, by the name of its exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The template called `raise_exception`: `{{ raise_exception("no") }}`.
    Raised,
    /// The template does not compile: `{{ 1 + }}`.
    Syntax,
    /// An undefined value was used: `{{ nope.x }}`.
    Undefined,
    /// The sandbox refused: `{{ [].append(1) }}`.
    Security,
    /// Any other exception of Jinja, or of Python without a kind of its own: `{{ x|map }}`.
    Runtime,
    /// Python's TypeError: `{{ 1 + "a" }}`.
    Type,
    /// Python's ValueError: `{{ "a".split("") }}`.
    Value,
    /// Python's KeyError: `{{ "%(a)s" % {} }}`.
    Key,
    /// Python's IndexError: `{{ "{}".format() }}`.
    Index,
    /// Python's AttributeError: `{{ [1]|dictsort }}`.
    Attribute,
    /// Python's OverflowError: `{{ range(100001) }}`.
    Overflow,
    /// Python's ZeroDivisionError: `{{ 1 / 0 }}`.
    ZeroDivision,
    /// A limit was reached, Python's recursion limit or memory included: `{{ "a" * 10**18 }}`.
    Limit,
    /// The template reached a construct that Jinja or Python has and no chat template uses: `{{ x|pprint }}`. The message says what to
    /// write instead.
    Unsupported,
}

impl ErrorKind {
    /// Returns whether a value of the wrong type or content can cause an error of this kind.
    pub(super) fn is_about_a_value(self) -> bool {
        matches!(
            self,
            Self::Undefined
                | Self::Type
                | Self::Value
                | Self::Key
                | Self::Index
                | Self::Attribute
                | Self::Overflow
                | Self::ZeroDivision
        )
    }

    /// The name in the conformance protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::Raised => "raised",
            Self::Syntax => "syntax",
            Self::Undefined => "undefined",
            Self::Security => "security",
            Self::Runtime => "runtime",
            Self::Type => "type",
            Self::Value => "value",
            Self::Key => "key",
            Self::Index => "index",
            Self::Attribute => "attribute",
            Self::Overflow => "overflow",
            Self::ZeroDivision => "zero_division",
            Self::Limit => "limit",
            Self::Unsupported => "unsupported",
        }
    }
}

/// Who has to act on an error.
///
/// A run-time error of a template belongs to the request when the value that it is about is part of the request:
///
/// | the failing value | class |
/// |---|---|
/// | has a place in the messages, tools, documents or variables, which is [`Error::input_path`](super::Error::input_path) | [`Mismatch`](Self::Mismatch) |
/// | is the whole list of messages, in an error of another kind than undefined or index: messages are a list in every request | [`Template`](Self::Template) |
/// | is a special token, made by the template, or not known | [`Template`](Self::Template) |
///
/// The kind must be one that a value can cause: undefined, type, value, key, index, attribute, overflow or zero_division. A template
/// that fails in this way for every request is not recognised: render a plain conversation when a server starts.
///
/// ```
/// use chat_template::{ApplyOptions, ChatTemplate, ErrorClass};
///
/// let template = ChatTemplate::from_source("{% for m in messages %}{{ m.content + eos_token }}{% endfor %}", &[("eos_token", "</s>")]);
/// let messages = serde_json::json!([{"content": "Hi"}, {"content": ["a", "list"]}]);
/// let error = template.apply(&messages, &ApplyOptions::default()).unwrap_err();
/// assert_eq!((error.class(), error.class().http_status()), (ErrorClass::Mismatch, 400));
/// assert_eq!(error.input_path(), Some("/messages/1/content"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorClass {
    /// The template refused the conversation in its own words; the caller of the server is at fault.
    Refused,
    /// The request broke the contract or is not readable; the caller of the server is at fault.
    Request,
    /// The request is sound, but a value in it does not fit this template, such as a list where the template expects text.
    Mismatch,
    /// The template is wrong, or the folder cannot be read.
    Template,
    /// A limit was reached.
    Limit,
    /// A fault of this crate.
    Internal,
}

impl ErrorClass {
    /// Returns the name in lower case, such as `mismatch`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Request => "request",
            Self::Mismatch => "mismatch",
            Self::Template => "template",
            Self::Limit => "limit",
            Self::Internal => "internal",
        }
    }

    /// Returns the status that a server answers: 400 where the request is at fault or costs too much, 500 where the template or this
    /// crate is.
    pub fn http_status(self) -> u16 {
        match self {
            Self::Refused | Self::Request | Self::Mismatch | Self::Limit => 400,
            Self::Template | Self::Internal => 500,
        }
    }
}
