//! Calls: functions, their signatures, and the arguments of a call.

mod arguments;
mod bind;
mod c_messages;
mod function;
mod lookups;
mod positional;
mod signature;

pub use arguments::Arguments;
#[cfg(test)]
pub use function::called;
pub use function::{
    Alone, BoundMethod, Callable, Code, Comparison, Function, ItemWithText, Iterated, Macro, Piece, Shortcuts, WithText, Write,
    WriteAlone, not_callable,
};
pub use lookups::Lookups;
pub use signature::{Parameter, Signature, Style};
