//! Calls: functions, their signatures, and the arguments of a call.

mod arguments;
mod bind;
mod c_messages;
mod function;
mod lookups;
mod signature;
mod suggestion;

pub use arguments::Arguments;
pub use function::{Body, BoundMethod, Callable, Code, Comparison, Function, Macro, Part, Shortcut, Write, not_callable};
pub use lookups::Lookups;
pub use signature::{Kind, Parameter, Returns, Signature, Style};
