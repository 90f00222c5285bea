//! The kinds of errors, which are the exceptions of the reference, and their classes, which say who has to act.

use serde::Serialize;

/// The kind of an error: the exception that the reference raises. Each variant shows the smallest template that raises it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The template called `raise_exception`: `{{ raise_exception("no") }}`.
    Raised,
    /// The template does not compile: `{{ 1 + }}`.
    Syntax,
    /// An undefined value was used: `{{ nope.x }}`.
    Undefined,
    /// The sandbox refused an operation: `{{ [].append(1) }}`.
    Security,
    /// Any other exception of Jinja, or an exception of Python that has no kind of its own: `{{ x|map }}`.
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
    /// A limit was reached, or Python's recursion limit or memory: `{{ "a" * 10**18 }}`.
    Limit,
    /// A construct of Jinja or Python that no chat template uses: `{{ x|pprint }}`. The message says what to write instead.
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

    /// Returns the name in the conformance protocol, such as `zero_division`.
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
/// A run-time error of a template is about the request if the failing value is part of the request:
///
/// | the failing value | class |
/// |---|---|
/// | is in the messages, tools, documents or variables, at [`Error::input_path`](super::Error::input_path) | [`Mismatch`](Self::Mismatch) |
/// | is the whole list of messages, and the kind is neither undefined nor index | [`Template`](Self::Template) |
/// | is a special token, made by the template, or not known | [`Template`](Self::Template) |
///
/// This holds for the kinds that a value can cause: undefined, type, value, key, index, attribute, overflow and zero_division. A template
/// that fails for every request can have the class `Mismatch` too: render a plain conversation when a server starts.
///
/// ```
/// use chat_template::{ApplyOptions, ChatTemplate, ErrorClass};
///
/// let template = ChatTemplate::from_source("{% for m in messages %}{{ m.content + eos_token }}{% endfor %}", &[("eos_token", "</s>")])?;
/// let messages = serde_json::json!([{"content": "Hi"}, {"content": ["a", "list"]}]);
/// let error = template.apply(&messages, &ApplyOptions::default()).unwrap_err();
/// assert_eq!((error.class(), error.http_status()), (ErrorClass::Mismatch, 400));
/// assert_eq!(error.input_path(), Some("/messages/1/content"));
/// # Ok::<(), chat_template::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorClass {
    /// The template refused the conversation by `raise_exception`. The caller has to change the request.
    Refused,
    /// The request breaks the contract, or is not JSON. The caller has to change the request.
    Request,
    /// A value of the request does not fit this template, such as a list where the template expects text. The caller has to change the
    /// request.
    Mismatch,
    /// The template is wrong, or the folder cannot be loaded.
    Template,
    /// The text of a model does not have the form that its description says. The model has to write another one.
    Answer,
    /// A limit was reached.
    Limit,
    /// This crate has a bug.
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
            Self::Answer => "answer",
            Self::Limit => "limit",
            Self::Internal => "internal",
        }
    }
}
