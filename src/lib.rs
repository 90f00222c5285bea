//! Renders the chat templates of language models exactly as Python's transformers does: it turns a model's folder and a conversation into
//! a prompt. The reference is transformers 5.24.0 with jinja2 3.1.6 on CPython 3.13. Where the reference raises an exception, this crate
//! returns an error of the same kind with the same text.
//!
//! # A server, from top to bottom
//!
//! ## 1. Open the model's folder
//!
//! [`ChatTemplate::from_dir`] reads the templates and the special tokens of a folder from the Hugging Face Hub, and compiles each template
//! once. If the folder cannot be read, the error names the file.
//!
//! The special tokens that no file names are those of the tokenizer's class. As transformers does, `from_dir` chooses the class by
//! `tokenizer_config.json` together with the keys `model_type` and `tokenizer_class` of `config.json`. If the class is code in the folder,
//! reading it is an error, unless [`LoadOptions::ignore_remote_code`] is set.
//!
//! ```
//! use chat_template::{ApplyOptions, ChatTemplate, LoadOptions};
//! # let folder = std::env::temp_dir().join(format!("chat-template-docs-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # std::fs::write(folder.join("tokenizer_config.json"), r#"{"bos_token": "<s>", "eos_token": "</s>"}"#)?;
//! # std::fs::write(folder.join("chat_template.jinja"), "{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{{ eos_token }}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}")?;
//!
//! let template = ChatTemplate::from_dir(&folder, &LoadOptions::default())?;
//! let messages = serde_json::json!([{"role": "user", "content": "Hello"}]);
//! let options = ApplyOptions::default().with_add_generation_prompt(true);
//! let prompt = template.apply(&messages, &options)?;
//! assert_eq!(prompt.text, "<s><|user|>Hello</s><|assistant|>");
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Tokenize the text **without** adding special tokens: the template has written them. If you have no model folder, use
//! [`ChatTemplate::from_config`], [`ChatTemplate::from_source`] or [`ChatTemplate::from_named`].
//!
//! ## 2. Pass messages in your own types
//!
//! Messages, tools, documents and variables are borrowed ([`Input`]). They can be a JSON array, a `Vec` or slice of values, of maps or of
//! references to values, a map, an `Option` of these, or [`json::Data`]. [`json::to_data`] makes one of types that implement `Serialize`,
//! and [`ChatTemplate::apply_json`] takes JSON text.
//!
//! The template sees the values as they are: the order of keys, nested nulls, unknown keys. Only two things change, at the top level of a
//! message, as in transformers: keys whose value is null are removed, and the reasoning is available under each of its names
//! (`reasoning_content`, `thinking`).
//!
//! ```
//! use chat_template::{ApplyOptions, ChatTemplate};
//! use chat_template::json;
//! use serde_json::Value;
//!
//! #[derive(serde::Serialize)]
//! struct Message {
//!     role: &'static str,
//!     content: Option<String>,
//! }
//!
//! let template = ChatTemplate::from_source("{{ messages }}", &[])?;
//! let options = ApplyOptions::default();
//! let owned: Vec<Value> = vec![serde_json::json!({"role": "system", "content": null}), serde_json::json!({"role": "user"})];
//! let text = "[{'role': 'system'}, {'role': 'user'}]";
//! assert_eq!(template.apply(&owned, &options)?.text, text);
//! assert_eq!(template.apply(owned.as_slice(), &options)?.text, text);
//! let borrowed: Vec<&Value> = owned.iter().collect();
//! assert_eq!(template.apply(&borrowed, &options)?.text, text);
//! let own = [Message { role: "system", content: None }, Message { role: "user", content: None }];
//! assert_eq!(template.apply(&json::to_data(&own)?, &options)?.text, text);
//! # Ok::<(), chat_template::Error>(())
//! ```
//!
//! ## 3. Tools, documents and template arguments
//!
//! ```
//! use chat_template::{ApplyOptions, ChatTemplate};
//! use serde_json::json;
//!
//! let template = ChatTemplate::from_named(
//!     &[
//!         ("default", "{{ messages[0].content }}{% if enable_thinking %} Think!{% endif %}"),
//!         ("tool_use", "{% for tool in tools %}{{ tool|tojson }}{% endfor %} {{ messages[0].content }}"),
//!     ],
//!     &[],
//! )?;
//! let messages = json!([{"role": "user", "content": "How warm is it?"}]);
//!
//! let tools = json!([{"type": "function", "function": {"name": "weather", "strict": null}}]);
//! let options = ApplyOptions::default().with_tools(&tools);
//! assert_eq!(
//!     template.apply(&messages, &options)?.text,
//!     r#"{"type": "function", "function": {"name": "weather", "strict": null}} How warm is it?"#
//! );
//!
//! let variables = json!({"enable_thinking": true});
//! let options = ApplyOptions::default().with_variables(&variables);
//! assert_eq!(template.apply(&messages, &options)?.text, "How warm is it? Think!");
//! # Ok::<(), chat_template::Error>(())
//! ```
//!
//! A template silently ignores a variable that it does not know. A server can refuse such a variable: [`ChatTemplate::variables`] returns
//! the names that a caller can pass.
//!
//! ## 4. Answer 400 or 500
//!
//! [`Error::class`] says whose fault an error is, and [`Error::http_status`] what a server answers. Show the caller
//! [`Error::message`], which for [`ErrorClass::Refused`] was written for them by the template's author, and [`Error::input_path`], the
//! place of the value that is at fault. Log the error's `Display`: it adds the lines of the template, its name, and the message of the
//! conversation. Errors implement `Serialize`.
//!
//! | class | what happened | answer |
//! |---|---|---|
//! | [`Refused`](ErrorClass::Refused) | the template called `raise_exception`: roles must alternate, no system message here … | 400 |
//! | [`Request`](ErrorClass::Request) | the request breaks the contract: no messages, tools that are not objects, nothing to continue … | 400 |
//! | [`Mismatch`](ErrorClass::Mismatch) | a value of the request does not fit this template: a list where it expects text, a key that is missing … | 400 |
//! | [`Answer`](ErrorClass::Answer) | the text of a model does not have the form that its description says | 502 |
//! | [`Limit`](ErrorClass::Limit) | the request costs more than [`Limits`] allow | 400 |
//! | [`Template`](ErrorClass::Template) | the template does not compile, or fails on a value of its own; the folder cannot be read | 500 |
//! | [`Internal`](ErrorClass::Internal) | a bug of this crate | 500 |
//!
//! ```
//! use chat_template::{ApplyOptions, ChatTemplate, ErrorClass};
//! use serde_json::json;
//!
//! let template = ChatTemplate::from_source(
//!     "{% for m in messages %}\n{% if m.role == 'tool' %}{{ raise_exception('No tools here!') }}{% endif %}{{ m.content }}{% endfor %}",
//!     &[],
//! )?;
//! let messages = json!([{"role": "user", "content": "Hi"}, {"role": "tool", "content": "1"}]);
//! let error = template.apply(&messages, &ApplyOptions::default()).unwrap_err();
//! assert_eq!((error.class(), error.http_status()), (ErrorClass::Refused, 400));
//! assert_eq!(error.message(), "No tools here!");
//! assert!(error.to_string().contains("in message 2 of 2"));
//! # Ok::<(), chat_template::Error>(())
//! ```
//!
//! ## 5. Further chapters
//!
//! | to | read |
//! |---|---|
//! | keep templates, and end long renders | [`ChatTemplate`], [`Deadline`], [`Limits`] |
//! | continue a message | [`ContinueFinalMessage`] |
//! | go on after the model's answer | [`ChatTemplate::append`], [`Prompt::after`] |
//! | set the clock | [`Clock`] |
//! | make training masks | [`assistant_mask`] |
//! | see where each character came from | [`Prompt::segments`], [`Prompt::turns`] |
//! | keep users from writing control tokens | [`ControlTokens`] |
//! | find out what a template takes | `ChatTemplate::inspect` |
//! | take the requests of OpenAI and Anthropic | [`ChatTemplate::prepare`], [`request`] |
//!
//! # The arguments of `apply_chat_template`
//!
//! | Python | here |
//! |---|---|
//! | `conversation` | the first argument of [`ChatTemplate::apply`]; a batch is for [`ChatTemplate::apply_batch`] |
//! | `tools` | [`ApplyOptions::tools`]: JSON schemas; for Python functions, make them with `get_json_schema` in Python |
//! | `documents` | [`ApplyOptions::documents`] |
//! | `chat_template` | [`ApplyOptions::chat_template`]: a name, or a source, which is compiled for this call only |
//! | `add_generation_prompt` | [`ApplyOptions::add_generation_prompt`]; pass a flag that is not a bool as a variable of this name |
//! | `continue_final_message` | [`ApplyOptions::continue_final_message`] |
//! | `**kwargs` | [`ApplyOptions::variables`] |
//! | `return_assistant_tokens_mask` | [`RenderOptions::reference_spans`] or [`PromptOptions::assistant`], and [`assistant_mask`] |
//! | `tokenize=False` | always so: tokenizing belongs to the tokenizer, as do `padding`, `truncation`, `max_length`, `return_tensors`, `return_dict` and `tokenizer_kwargs` |
//! | `sanitize_control_tokens` | [`PromptOptions::control_tokens`], which does not change the values that templates compare |
//! | the tokenizer's `chat_template` and `special_tokens_map` | the [`ChatTemplate`]; [`ApplyOptions::special_tokens`] replaces the tokens for one call |
//! | `datetime.now()` | [`RenderOptions::clock`] |
//!
//! # The engine alone
//!
//! [`Template`] is Jinja with the extensions of transformers, without the contract of `apply_chat_template`.
//!
//! # What differs from the reference
//!
//! This crate implements the Jinja that chat templates use. Other constructs of Jinja and Python, such as `include`, bytes or the filter
//! `pprint`, are an error of kind [`ErrorKind::Unsupported`] when a render reaches them; the message says what to write instead.
//!
//! - [`Limits`] are on by default. The reference has none but Python's recursion limit.
//! - A variable with the name of a parameter of `apply_chat_template` is refused, with Python's text for a repeated argument. Python would
//!   take such a variable (`padding`, `tokenize` …) for the parameter, and no template would see it.
//! - Processors (`AutoProcessor`) have an `apply_chat_template` of their own, which keeps nulls and never chooses `tool_use`. This crate
//!   does what the tokenizer's does.
//! - The messages of a few errors differ. `tests/deviations.jsonl` in the repository lists each with its case.
//!
//! `src/README.md` in the repository shows how the crate is built.

mod ast;
mod builtins;
mod chat;
mod clock;
mod deadline;
mod error;
mod eval;
#[cfg(feature = "internal")]
mod fuzzing;
#[cfg(feature = "response")]
pub mod grammar;
#[cfg(feature = "inspect")]
mod inspect;
#[cfg(feature = "internal")]
#[doc(hidden)]
pub mod internal;
pub mod json;
mod lexer;
mod limits;
mod meter;
mod number;
mod parser;
#[cfg(feature = "inspect")]
mod report;
pub mod request;
mod resolve;
#[cfg(feature = "response")]
pub mod response;
mod setters;
mod source;
mod span;
mod strftime;
mod template;
mod text;
mod trace;
mod unicode;
mod unsupported;
mod value;

pub use chat::{
    Append, ApplyOptions, AssistantOptions, ChatTemplate, ContinueFinalMessage, ControlPolicy, ControlToken, ControlTokens, Field,
    LoadOptions, NextPiece, PrefixBroken, Prompt, PromptOptions, TextPiece, TokenOrigin, Turn, assistant_mask,
};
pub use clock::{Clock, LocalTime};
pub use deadline::{Bounds, Deadline};
pub use error::{Error, ErrorClass, ErrorKind, Result, TraceFrame};
#[cfg(feature = "inspect")]
pub use inspect::Report;
pub use limits::{Limit, LimitExceeded, Limits};
#[cfg(feature = "inspect")]
pub use report::Witness;
pub use template::{Input, Output, RenderOptions, Template};
pub use trace::{Origin, Segment, Spans};
