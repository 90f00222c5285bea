//! The limit that stopped a compilation or a render.
//!
//! ```text
//! limit reached: value: 40000000 bytes, at most 33554432
//! ```

use std::fmt;

/// A limit: a field of [`Limits`](super::Limits), another option, or a fixed limit of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Limit {
    /// [`Limits::steps`](super::Limits::steps)
    Steps,
    /// [`Limits::output`](super::Limits::output)
    Output,
    /// [`Limits::value`](super::Limits::value)
    Value,
    /// [`Limits::live`](super::Limits::live)
    Live,
    /// [`Limits::calls`](super::Limits::calls)
    Calls,
    /// [`Limits::height`](super::Limits::height)
    Height,
    /// [`Limits::stack`](super::Limits::stack)
    Stack,
    /// [`Limits::source`](super::Limits::source)
    Source,
    /// [`Limits::width`](super::Limits::width)
    Width,
    /// [`Limits::bits`](super::Limits::bits)
    Bits,
    /// [`Limits::milliseconds`](super::Limits::milliseconds)
    Milliseconds,
    /// The flag `cancel` of the render's options was set.
    Cancel,
    /// [`LoadOptions::max_file_size`](crate::LoadOptions::max_file_size)
    File,
    /// Fixed: nested calls in jinja2's parser, as CPython counts them: `((((…))))`.
    Nesting,
    /// Fixed: levels of an expression's tree, as jinja2's optimizer counts them: `1 + 1 + …`.
    Tree,
    /// Fixed: 128 nested statements.
    Statements,
    /// Fixed: 512 nested arrays and objects in JSON.
    JsonDepth,
    /// Fixed: 96 MiB for the values of a JSON text, without its strings.
    JsonValues,
    /// Fixed: 1000 attributes in one call of `namespace`.
    Attributes,
    /// Fixed: 64 bits for each bound of `range`.
    RangeBits,
    /// Fixed: 1000 named templates in one configuration.
    Templates,
    /// Fixed: 2³² namespaces, or frames that macros close over.
    Objects,
}

impl Limit {
    /// All limits, in the order of the variants.
    pub const ALL: &[Self] = &[
        Self::Steps,
        Self::Output,
        Self::Value,
        Self::Live,
        Self::Calls,
        Self::Height,
        Self::Stack,
        Self::Source,
        Self::Width,
        Self::Bits,
        Self::Milliseconds,
        Self::Cancel,
        Self::File,
        Self::Nesting,
        Self::Tree,
        Self::Statements,
        Self::JsonDepth,
        Self::JsonValues,
        Self::Attributes,
        Self::RangeBits,
        Self::Templates,
        Self::Objects,
    ];

    /// Returns the name of the limit. For a field of [`Limits`](super::Limits) it is the field's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::Output => "output",
            Self::Value => "value",
            Self::Live => "live",
            Self::Calls => "calls",
            Self::Height => "height",
            Self::Stack => "stack",
            Self::Source => "source",
            Self::Width => "width",
            Self::Bits => "bits",
            Self::Milliseconds => "milliseconds",
            Self::Cancel => "cancel",
            Self::File => "max_file_size",
            Self::Nesting => "nesting",
            Self::Tree => "tree",
            Self::Statements => "statements",
            Self::JsonDepth => "json_depth",
            Self::JsonValues => "json_values",
            Self::Attributes => "attributes",
            Self::RangeBits => "range_bits",
            Self::Templates => "templates",
            Self::Objects => "objects",
        }
    }

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

    /// Returns the unit of the limit with a space before it, or an empty text if the name says what is counted.
    fn unit(self) -> &'static str {
        match self {
            Self::Output | Self::Value | Self::Live | Self::Stack | Self::Source | Self::File | Self::JsonValues => " bytes",
            Self::Height | Self::Tree | Self::JsonDepth | Self::Statements | Self::Nesting => " levels",
            Self::Width => " characters",
            _ => "",
        }
    }
}

/// A limit that has been reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Reached {
    /// The limit.
    pub limit: Limit,
    /// The number that exceeded the limit, or the largest `u64` if it is too large to count. For [`Limit::Cancel`] it is the number of
    /// steps used so far.
    pub figure: u64,
    /// The largest allowed number; zero for [`Limit::Cancel`].
    pub allowed: u64,
}

impl Reached {
    /// Returns a limit with the number that exceeded it.
    pub(crate) fn new(limit: Limit, figure: u64, allowed: u64) -> Self {
        Self { limit, figure, allowed }
    }

    /// Returns a limit with the size that exceeded it.
    pub(crate) fn from_sizes(limit: Limit, figure: usize, allowed: usize) -> Self {
        let count = |size: usize| u64::try_from(size).unwrap_or(u64::MAX);
        Self::new(limit, count(figure), count(allowed))
    }
}

impl fmt::Display for Reached {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, unit, allowed) = (self.limit.name(), self.limit.unit(), self.allowed);
        match (self.limit, self.figure) {
            (Limit::Cancel, steps) => write!(out, "limit reached: {name}: requested after {steps} steps"),
            (_, u64::MAX) => write!(
                out,
                "limit reached: {name}: more{unit} than can be counted, at most {allowed}"
            ),
            (_, figure) => write!(out, "limit reached: {name}: {figure}{unit}, at most {allowed}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Limit, Reached};

    #[test]
    fn all_contains_each_limit() {
        let last = Limit::ALL.len() - 1;
        assert_eq!((Limit::ALL[last], Limit::ALL[last] as usize), (Limit::Objects, last));
    }

    #[test]
    fn the_text_names_the_limit_and_the_figures() {
        let text = |limit, figure, allowed| Reached::new(limit, figure, allowed).to_string();
        assert_eq!(text(Limit::Steps, 101, 100), "limit reached: steps: 101, at most 100");
        assert_eq!(
            text(Limit::Value, u64::MAX, 9),
            "limit reached: value: more bytes than can be counted, at most 9"
        );
        assert_eq!(
            text(Limit::Cancel, 4096, 0),
            "limit reached: cancel: requested after 4096 steps"
        );
    }
}
