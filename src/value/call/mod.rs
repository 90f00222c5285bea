//! Calls: functions, their signatures, and the arguments of a call.

mod arguments;
mod bind;
mod c_messages;
mod function;
mod positional;
mod signature;

pub use arguments::Arguments;
#[cfg(test)]
pub use function::called;
pub use function::{BoundMethod, Callable, Code, Comparison, Function, Macro, Part, Shortcut, Write};
pub use signature::{Parameter, Signature, Style};
