//! Calls: functions, their signatures, and the arguments of a call.

mod c_messages;
mod function;
mod positional;
mod signature;

#[cfg(test)]
pub use function::called;
pub use function::{Arguments, BoundMethod, Callable, Code, Comparison, Function, Macro, Part, Shortcut, Write};
pub use signature::{Parameter, Signature, Style};
