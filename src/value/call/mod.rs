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
pub use function::{
    Alone, BoundMethod, Callable, Code, Comparison, Function, ItemWithText, Iterated, Macro, Piece, Shortcuts, WithText, Write,
    WriteAlone,
};
pub use signature::{Parameter, Signature, Style};
