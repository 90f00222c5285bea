//! What only the command line, the fuzz targets and the benches of this repository need. It can change in any version.

pub use crate::builtins::{filters, globals, jinja_tests, methods};
pub use crate::chat::model::cache::revision_name;
pub use crate::chat::{
    AssistantSpans, Files, MAX_SPECIAL_TOKENS, MAX_TEMPLATES, REASONING_FIELDS, common_prefix, is_reserved_name,
};
pub use crate::clock::SystemClock;
pub use crate::json::pointer::escape_key;
pub use crate::json::read::read_bytes;
pub use crate::json::tree::Entry;
pub use crate::json::write::write_data;
pub use crate::text::message::{describe_fault, elide};
pub use crate::trace::{Copies, From as CopiedFrom, Keeps, Sources};
pub use crate::unicode::{is_identifier, is_name, is_whitespace};
pub use crate::unsupported::{Site, find as find_unsupported};
pub use crate::value::{Function, Kind, Returns, Type};

/// The parts of a report.
pub mod report {
    pub use crate::report::*;
}

/// Classes and case mappings of characters.
pub mod unicode {
    pub use crate::unicode::class::*;
    pub use crate::unicode::*;
}

/// The lexer and the parser.
pub mod fuzzing {
    pub use crate::fuzzing::*;
}
