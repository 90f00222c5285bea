//! Calls: functions, their signatures, and the arguments of a call.

mod arguments;
mod bind;
mod c_messages;
mod function;
mod signature;
mod suggestion;

pub use arguments::Arguments;
pub use function::{Body, BoundMethod, Callable, Code, Comparison, Function, Lookups, Macro, Part, Shortcut, Write, not_callable};
pub use signature::{Kind, Parameter, Returns, Signature, Style};
