//! The limit that stopped a compilation or a render.
//!
//! ```text
//! limit reached: value: 40000000 bytes, at most 33554432
//! ```

use std::fmt;

use serde::Serialize;

/// Declares [`Limit`] with the name of each variant.
macro_rules! limits_by_name {
    ($($(#[$docs:meta])* $variant:ident = $name:literal,)*) => {
        /// A limit: a field of [`Limits`](super::Limits), another option, or a fixed limit of this crate.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
        #[non_exhaustive]
        pub enum Limit {
            $($(#[$docs])* #[serde(rename = $name)] $variant,)*
        }

        impl Limit {
            /// All limits, in the order of the variants.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the name of the limit. For a field of [`Limits`](super::Limits) it is the field's name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

limits_by_name! {
    /// [`Limits::steps`](super::Limits::steps)
    Steps = "steps",
    /// [`Limits::output`](super::Limits::output)
    Output = "output",
    /// [`Limits::value`](super::Limits::value)
    Value = "value",
    /// [`Limits::live`](super::Limits::live)
    Live = "live",
    /// [`Limits::calls`](super::Limits::calls)
    Calls = "calls",
    /// [`Limits::height`](super::Limits::height)
    Height = "height",
    /// [`Limits::stack`](super::Limits::stack)
    Stack = "stack",
    /// [`Limits::source`](super::Limits::source)
    Source = "source",
    /// [`Limits::width`](super::Limits::width)
    Width = "width",
    /// [`Limits::bits`](super::Limits::bits)
    Bits = "bits",
    /// [`Limits::milliseconds`](super::Limits::milliseconds)
    Milliseconds = "milliseconds",
    /// The flag `cancel` of the render's options was set.
    Cancel = "cancel",
    /// [`LoadOptions::max_file_size`](crate::LoadOptions::max_file_size)
    File = "max_file_size",
    /// Fixed: nested calls in jinja2's parser, as CPython counts them: `((((…))))`.
    Nesting = "nesting",
    /// Fixed: levels of an expression's tree, as jinja2's optimizer counts them: `1 + 1 + …`.
    Tree = "tree",
    /// Fixed: 128 nested statements.
    Statements = "statements",
    /// Fixed: 512 nested arrays and objects in JSON.
    JsonDepth = "json_depth",
    /// Fixed: 96 MiB for the values of a JSON text, not counting the characters of its strings.
    JsonValues = "json_values",
    /// Fixed: 1000 attributes in one call of `namespace`.
    Attributes = "attributes",
    /// Fixed: 64 bits for each bound of `range`.
    RangeBits = "range_bits",
    /// Fixed: 1000 named templates in one configuration.
    Templates = "templates",
    /// Fixed: 4 MiB for the sources of all templates of a model.
    Sources = "sources",
    /// Fixed: 10 000 special tokens with names in the files of a model.
    SpecialTokens = "special_tokens",
    /// Fixed: 262 144 special tokens without names in the files of a model.
    AddedTokens = "added_tokens",
    /// Fixed: 2³² namespaces, or frames that macros close over.
    Objects = "objects",
}

impl Limit {
    /// Returns the setting that raises the limit, such as `Limits::steps`. Fixed limits have none.
    ///
    /// ```
    /// use chat_template::Limit;
    ///
    /// assert_eq!(Limit::Steps.setting().as_deref(), Some("Limits::steps"));
    /// assert_eq!(Limit::Nesting.setting(), None);
    /// ```
    pub fn setting(self) -> Option<String> {
        match self {
            Self::File => Some("LoadOptions::max_file_size".to_owned()),
            _ if super::Limits::NAMES.contains(&self.name()) => Some(format!("Limits::{}", self.name())),
            _ => None,
        }
    }

    /// Returns the unit of the limit with a space before it, or an empty string if the name says what is counted.
    fn unit(self) -> &'static str {
        match self {
            Self::Output
            | Self::Value
            | Self::Live
            | Self::Stack
            | Self::Source
            | Self::Sources
            | Self::File
            | Self::JsonValues => " bytes",
            Self::Height | Self::Tree | Self::JsonDepth | Self::Statements | Self::Nesting => " levels",
            Self::Width => " characters",
            _ => "",
        }
    }
}

/// A limit that has been reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub struct LimitExceeded {
    /// The limit.
    pub limit: Limit,
    /// The number that exceeded the limit, or the largest `u64` if it is too large to count. For [`Limit::Cancel`] it is the number of
    /// steps used so far.
    pub actual: u64,
    /// The largest allowed number; zero for [`Limit::Cancel`].
    pub allowed: u64,
}

impl LimitExceeded {
    /// Returns a limit with the number that exceeded it.
    pub(crate) fn new(limit: Limit, actual: u64, allowed: u64) -> Self {
        Self { limit, actual, allowed }
    }

    /// Returns a limit with the size that exceeded it.
    pub(crate) fn from_sizes(limit: Limit, actual: usize, allowed: usize) -> Self {
        let count = |size: usize| u64::try_from(size).unwrap_or(u64::MAX);
        Self::new(limit, count(actual), count(allowed))
    }
}

impl std::error::Error for LimitExceeded {}

impl fmt::Display for LimitExceeded {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, unit, allowed) = (self.limit.name(), self.limit.unit(), self.allowed);
        match (self.limit, self.actual) {
            (Limit::Cancel, steps) => write!(out, "limit reached: {name}: requested after {steps} steps"),
            (_, u64::MAX) => write!(
                out,
                "limit reached: {name}: more{unit} than can be counted, at most {allowed}"
            ),
            (_, actual) => write!(out, "limit reached: {name}: {actual}{unit}, at most {allowed}"),
        }
    }
}
