//! The readers of the three formats.
//!
//! Each reader is `pub(super) fn read<'b>(body: Node<'b>, meter: &mut Meter<'_>) -> Result<Normal<'b>>`. It charges the meter for what it
//! goes through and for what it makes, returns an error with the class `Request` and the pointer of the body for a value of the wrong type
//! and for what is stored elsewhere ([`wrong`](super::wrong)), and does not call [`Normal::match_results`], which the caller does. It does
//! not read the variables, `tool_choice`, `documents` and the options of the render.
