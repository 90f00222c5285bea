//! The JavaScript package `chat-template`: the classes of the library, as WebAssembly.
//!
//! ```text
//! ChatTemplate.apply('[{"role": "user", …}]', …)   ->   "<|im_start|>user…"
//! ```
//!
//! Arguments and results that are not strings are JSON text, which `lib/classes.js` writes and parses: an engine does that faster than it
//! passes objects one by one. An empty string is an argument that is missing.

mod host;
mod options;
mod prepared;
#[cfg(feature = "inspect")]
mod report;
#[cfg(feature = "inspect")]
mod response;
mod template;
mod text;
