//! Chat templates of language models, rendered as Python's transformers renders them.

mod ast;
mod builtins;
mod clock;
mod data;
mod error;
mod eval;
pub mod json;
mod lexer;
mod limits;
mod number;
mod parser;
mod resolve;
mod source;
mod span;
mod strftime;
mod template;
mod text;
mod unicode;
mod value;

pub use clock::{Clock, FixedClock, InvalidTime, LocalTime, SystemClock};
pub use error::{Error, ErrorClass, ErrorKind, Result, Step};
pub use limits::Limits;
pub use source::Position;
pub use template::{Context, RenderOptions, Rendered, Template};
