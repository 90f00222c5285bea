//! What a render may use, and the meter that counts it.
//!
//! Everything that takes time or memory asks first: [`Meter::charge`] for work, [`Meter::claim`] for memory. Limits are on by
//! default and generous for every real template; each says why it is what it is.

#[macro_use]
mod table;

mod meter;
mod reached;
mod read;
mod stack;

pub use meter::{Claim, Meter, STEP_BYTES};
pub use reached::{Limit, Reached};
pub use stack::Stack;

limits! {
    /// The limits of one render, and those of compiling.
    ///
    /// Each limit has a setter, and all can be read from and written to JSON, or any other format of serde. A limit that is left out keeps
    /// its default; an unknown name is an error. [`Limit`] also lists the limits that are fixed.
    ///
    /// Reaching a limit is an error of the kind and the class `Limit`. It has the position in the template, and
    /// [`Error::reached`](crate::Error::reached) says which limit it was. The text is `limit reached: value: 40000000 bytes, at most
    /// 33554432`, or that of the reference if it has one, such as `maximum recursion depth exceeded`; then the note names the limit.
    /// [`Rendered::steps`](crate::Rendered::steps) is the number of steps that a render took.
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

    /// Steps of work. Evaluating four nodes of an expression, copying 64 bytes or reading 8 characters each counts as about one step, and
    /// a step mostly takes 10 to 60 nanoseconds. A conversation of 10 000 messages takes some millions; a render reaches the default
    /// within a second.
    steps: u64 = 16_000_000, with_steps(u64);
    /// Bytes of output. The longest context window of a model is some megabytes of text.
    output: u64 = 64 << 20, with_output(u64);
    /// Bytes of a single value, in memory or printed. A string takes twice that while it grows.
    value: u64 = 32 << 20, with_value(u64);
    /// Bytes of all values that exist at one time, and 96 more for each object. The default is that of three values of the largest size.
    live: u64 = 96 << 20, with_live(u64);
    /// Nested calls of macros and recursive loops. The reference manages about 150 before Python's recursion limit.
    calls: u32 = 200, with_calls(u32);
    /// Levels of nested containers and iterators. Python's own limit for printing is near 300; a JSON schema has 20.
    height: u32 = 200, with_height(u32);
    /// Bytes of stack that compiling or rendering may use: 420 KiB, or 1280 KiB if the crate was built with debug assertions.
    ///
    /// A thread of a server has 2 MiB of stack, and sometimes 512 KiB. The measured distance begins at the call of this crate. The stack
    /// of the caller comes in addition, and some 40 KiB (200 KiB without optimisation) for the last frames, which are not measured. A
    /// plain macro that calls itself takes 0.8 KiB for each call, and 2.1 KiB from inside a loop, an `if`, a `set` and filters, so
    /// 150 nested calls fit, as many as the reference allows.
    stack: usize = if cfg!(debug_assertions) { 1280 << 10 } else { 420 << 10 }, with_stack(usize);
    /// Bytes of a template's source. The largest known has 60 thousand.
    source: usize = 1 << 20, with_source(usize);
    /// The largest width and precision of formatting, in characters.
    width: usize = 1 << 20, with_width(usize);
    /// Bits of an integer. Python prints no integer with more than some 14 thousand bits.
    bits: u64 = 1 << 20, with_bits(u64);
    /// Milliseconds from the render's beginning; by default there is no such limit, because an answer should not depend on
    /// how busy a machine is. The clock is read every few thousand steps.
    milliseconds: Option<u64> = None, with_milliseconds(impl Into<Option<u64>>);
}
