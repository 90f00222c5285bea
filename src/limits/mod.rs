//! What a render may use, and the meter that counts it.
//!
//! Everything that takes time or memory asks first: [`Meter::charge`] for work, [`Meter::claim`] for memory. Limits are on by
//! default and generous for every real template; each says why it is what it is.

#[macro_use]
mod table;

mod reached;
mod read;

pub use reached::{Limit, Reached};

limits! {
    /// The limits of one render, and those of compiling.
    ///
    /// Each limit has a setter, and all can be read from and written to JSON, or any other format of serde. A limit that is left out keeps
    /// its default; an unknown name is an error.
    ///
    /// ```
    /// use chat_template::{Limits, RenderOptions, Template};
    ///
    /// let limits = Limits::default().with_steps(1000).with_milliseconds(50);
    /// assert_eq!(limits, serde_json::from_str(r#"{"steps": 1000, "milliseconds": 50}"#)?);
    /// let template = Template::compile("{% for i in range(10000) %}{% endfor %}")?;
    /// let options = RenderOptions { limits: &limits, ..Default::default() };
    /// let error = template.render_with(&serde_json::json!({}), &options).unwrap_err();
    /// assert_eq!(error.message(), "limit reached: steps: 1001, at most 1000");
    /// assert!(serde_json::from_str::<Limits>(r#"{"step": 1000}"#).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    Limits:

    /// Steps: about one for each four parts of the expressions evaluated, for each 64 bytes copied and for each 8 characters looked at;
    /// mostly 10 to 60 nanoseconds each. A conversation of 10 000 messages takes some millions; the default is reached within a second.
    steps: u64 = 16_000_000, with_steps(u64);
    /// Bytes of output. The longest context window of a model is some megabytes of text.
    output: u64 = 64 << 20, with_output(u64);
    /// Bytes of any one value, as it stands or as it would print. A text takes twice that while it grows.
    value: u64 = 32 << 20, with_value(u64);
    /// Bytes of all values that are alive at once, with 96 more for each object.
    live: u64 = 96 << 20, with_live(u64);
    /// Nested calls of macros and recursive loops. The reference manages about 150 before Python's recursion limit.
    calls: u32 = 200, with_calls(u32);
    /// Levels of nested containers and iterators. Python's own limit for printing is near 300; a JSON schema has 20.
    height: u32 = 200, with_height(u32);
    /// Bytes of stack that compiling or rendering may use: 420 KiB, or 1280 KiB where the crate was built with debug assertions.
    ///
    /// Threads of servers have 2 MiB, some 512 KiB. What is measured is the distance to where the call began, so there must be room
    /// below it for what the caller used, and above it for the last frames, which nothing measures: some 40 KiB, or 200 KiB without
    /// optimisation. A plain macro that calls itself takes 0.8 KiB a level, and one that does so from inside a loop, a choice, a set
    /// and filters 2.1 KiB, so that 150 of them fit, which the reference manages too.
    stack: usize = if cfg!(debug_assertions) { 1280 << 10 } else { 420 << 10 }, with_stack(usize);
    /// Bytes of a template's source. The largest known has 60 thousand.
    source: usize = 1 << 20, with_source(usize);
    /// Width and precision of any formatting, in characters.
    width: usize = 1 << 20, with_width(usize);
    /// Bits of an integer.
    bits: u64 = 1 << 20, with_bits(u64);
    /// Milliseconds from the render's beginning; by default there is no such limit, because an answer should not depend on
    /// how busy a machine is. The clock is read every few thousand steps.
    milliseconds: Option<u64> = None, with_milliseconds(impl Into<Option<u64>>);
}
