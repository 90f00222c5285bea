//! What a render may use, and the meter that counts it.
//!
//! Everything that takes time or memory asks first: [`Meter::charge`] for work, [`Meter::claim`] for memory. Limits are on by
//! default and generous for every real template; each says why it is what it is.

mod reached;
mod read;

pub use reached::{Limit, Reached};

/// The limits of one render, and those of compiling.
///
/// They read from JSON, or any other format of serde; what is left out keeps its default, and a name that is none is an error:
///
/// ```
/// use chat_template::{Limits, RenderOptions, Template};
///
/// let limits: Limits = serde_json::from_str(r#"{"steps": 1000, "milliseconds": 50}"#)?;
/// let template = Template::compile("{% for i in range(10000) %}{% endfor %}")?;
/// let options = RenderOptions { limits: &limits, ..Default::default() };
/// let error = template.render_with(&serde_json::json!({}), &options).unwrap_err();
/// assert_eq!(error.message(), "limit reached: steps: 1001, at most 1000");
/// assert!(serde_json::from_str::<Limits>(r#"{"step": 1000}"#).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Steps: about one for each four parts of the expressions evaluated, for each 64 bytes copied and for each 8 characters looked at;
    /// mostly 10 to 60 nanoseconds each. A conversation of 10 000 messages takes some millions; the default is reached within a second.
    pub steps: u64,
    /// Bytes of output. The longest context window of a model is some megabytes of text.
    pub output: u64,
    /// Bytes of any one value, as it stands or as it would print. A text takes twice that while it grows.
    pub value: u64,
    /// Bytes of all values that are alive at once, with 96 more for each object.
    pub live: u64,
    /// Calls inside calls: macros, blocks and recursive loops. The reference manages about 150 before Python's recursion limit.
    pub calls: u32,
    /// Levels of containers and iterators inside each other. Python's own limit for printing is near 300; a JSON schema has 20.
    pub height: u32,
    /// Bytes of stack that compiling or rendering may use: 420 KiB, or 1280 KiB where the crate was built with debug assertions.
    ///
    /// Threads of servers have 2 MiB, some 512 KiB. What is measured is the distance to where the call began, so there must be room
    /// below it for what the caller used, and above it for the last frames, which nothing measures: some 40 KiB, or 200 KiB without
    /// optimisation. A plain macro that calls itself takes 0.8 KiB a level, and one that does so from inside a loop, a choice, a set
    /// and filters 2.1 KiB, so that 150 of them fit, which the reference manages too.
    pub stack: usize,
    /// Bytes of a template's source. The largest known has 60 thousand.
    pub source: usize,
    /// Width and precision of any formatting, in characters.
    pub width: usize,
    /// Bits of an integer.
    pub bits: u64,
    /// Milliseconds from the render's beginning; no limit where there is none, which is the default, because an answer should not depend
    /// on how busy a machine is. The clock is asked every few thousand steps.
    pub milliseconds: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 16_000_000,
            output: 64 << 20,
            value: 32 << 20,
            live: 96 << 20,
            calls: 200,
            height: 200,
            stack: if cfg!(debug_assertions) { 1280 << 10 } else { 420 << 10 },
            source: 1 << 20,
            width: 1 << 20,
            bits: 1 << 20,
            milliseconds: None,
        }
    }
}
