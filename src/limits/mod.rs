//! The limits on what compiling and rendering may use.
//!
//! Limits are on by default. Each is far above what real templates need, and its docs say how the default was chosen.

#[macro_use]
mod table;

mod exceeded;

pub use exceeded::{Limit, LimitExceeded};

limits! {
    /// Limits on compiling and rendering a template.
    ///
    /// Each limit has a setter. `Limits` implements `Serialize` and `Deserialize`; a missing limit has its default, and an unknown name
    /// is an error. [`Limit`] also lists the fixed limits.
    ///
    /// Reaching a limit is an error of the kind and the class `Limit`, with the position in the template.
    /// [`Error::reached`](crate::Error::reached) returns the limit. The message is `limit reached: value: 40000000 bytes, at most
    /// 33554432`. If the reference has an error of its own, such as `maximum recursion depth exceeded`, the message is that error and the
    /// note names the limit. [`Prompt::steps`](crate::Prompt::steps) is the number of steps that a render took.
    ///
    /// ```
    /// use chat_template::{Limits, RenderOptions, Template};
    ///
    /// let limits = Limits::default().with_steps(1000).with_milliseconds(50);
    /// assert_eq!(limits, serde_json::from_str(r#"{"steps": 1000, "milliseconds": 50}"#)?);
    /// let template = Template::compile("{% for i in range(10000) %}{% endfor %}")?;
    /// let options = RenderOptions::default().with_bounds(&limits);
    /// let error = template.render(&serde_json::json!({}), &options).unwrap_err();
    /// assert_eq!(error.message(), "limit reached: steps: 1001, at most 1000");
    /// assert!(serde_json::from_str::<Limits>(r#"{"step": 1000}"#).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    Limits:

    /// Steps of work. Evaluating four nodes of an expression, copying 64 bytes or scanning 8 bytes of text each counts as about one step,
    /// and a step mostly takes 10 to 60 nanoseconds. A conversation of 10 000 messages takes some millions; a render reaches the
    /// default within a second.
    steps: u64 = 16_000_000, with_steps(u64);
    /// Bytes of output, including the strings that are being captured. All prompts of a batch together have this limit. The longest context
    /// window of a model is a few megabytes of text. The JSON pointers of the segments of a traced render have the same limit.
    output: u64 = 64 << 20, with_output(u64);
    /// Bytes of a single value, in memory or printed. A string takes twice that while it grows.
    value: u64 = 32 << 20, with_value(u64);
    /// Bytes of all values that a render makes, plus 16 for each object, and of its buffers. The default is three values of the largest
    /// size. A compiled template counts with 128 bytes for each byte of its code beyond 64 KiB; the text between its tags is not code.
    live: u64 = 96 << 20, with_live(u64);
    /// Nested calls of macros and recursive loops. The reference reaches Python's recursion limit at about 150.
    calls: u32 = 200, with_calls(u32);
    /// Levels of nested containers and iterators. Python cannot print more than about 300 levels; a JSON schema has about 20.
    height: u32 = 200, with_height(u32);
    /// Bytes of stack that compiling or rendering may use: 420 KiB, or 1280 KiB if the crate is built with debug assertions.
    ///
    /// The threads of servers usually have 2 MiB, some 512 KiB. The limit counts from the call into this crate. The thread also needs
    /// room for the caller's frames, and about 40 KiB (200 KiB without optimisation) for the innermost frames, which are not measured. A
    /// recursive macro takes 0.8 KiB per level, and 2.1 KiB if the call is inside a loop, an `if`, a `set` and filters. So 150 levels
    /// fit, as many as the reference allows.
    ///
    /// The stack is measured by the addresses of local variables. The address sanitizer moves them elsewhere, so that every template
    /// exceeds the limit; `ASAN_OPTIONS=detect_stack_use_after_return=0` prevents that.
    stack: usize = if cfg!(debug_assertions) { 1280 << 10 } else { 420 << 10 }, with_stack(usize);
    /// Bytes of a template's source. The largest known template has 60 thousand.
    source: usize = 1 << 20, with_source(usize);
    /// The largest width and precision of formatting, in characters.
    width: usize = 1 << 20, with_width(usize);
    /// Bits of an integer. Python prints no integer of more than about 14 thousand bits.
    bits: u64 = 1 << 20, with_bits(u64);
    /// Milliseconds of processor time for one call: 1.5 seconds, or a minute if the crate is built with debug assertions. `None` means no
    /// time limit. The limit is for all that the call does, such as reading JSON text, compiling a template and rendering it; a
    /// [`Deadline`](crate::Deadline) shares it between calls, and says where it is wall time.
    ///
    /// A prompt takes microseconds, and most renders that do not end reach [`steps`](Self::steps) first. The clock is read every few
    /// thousand steps, and before work of more steps than that.
    milliseconds: Option<u64> = Some(if cfg!(debug_assertions) { 60_000 } else { 1_500 }), with_milliseconds(impl Into<Option<u64>>);
}
