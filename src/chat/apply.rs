//! `apply_chat_template`, step by step.
//!
//! ```text
//! choose a template, check the messages, compile, check tools and documents   ->   for each conversation: variables, render, cut
//! ```
//!
//! The order of the steps decides which of two errors is raised. The rule is transformers 5.24.0 `tokenization_utils_base.py`,
//! `apply_chat_template`, and `utils/chat_template_utils.py`, `render_jinja_template`.

use std::cell::OnceCell;
use std::ops::Range;

use super::continuation::Continuation;
use super::copied::CopiedInput;
use super::messages::Conversations;
use super::options::ApplyOptions;
use super::prompt::Prompt;
use super::templates::{Chosen, NamedTemplate};
use super::turns::assistant::control::common_prefix;
use super::variables::{FLAG, Variables, charge_entries, has_repeated};
use super::{ChatTemplate, ControlPolicy, explain_objects, not_iterable, refused, to_owned};
use crate::builtins::LOOKUPS;
use crate::error::{Error, ErrorKind, Result};
use crate::eval;
use crate::json;
use crate::meter::Meter;
use crate::template::{Borrow, Input, Template};
use crate::trace::{Copies, Keeps};
use crate::value::{Arena, Runtime, Tape, Traced, Value, ops};

impl ChatTemplate {
    /// Returns the prompt of a conversation: a list of messages, each an object.
    ///
    /// ```
    /// use chat_template::{ApplyOptions, ChatTemplate};
    ///
    /// let source = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}";
    /// let template = ChatTemplate::from_source(source, &[])?;
    /// let messages = serde_json::json!([{"role": "user", "content": "Hi"}]);
    /// let options = ApplyOptions::default().with_add_generation_prompt(true);
    /// assert_eq!(template.apply(&messages, &options)?.text, "user: Hi\nassistant:");
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the request breaks the contract, if the template refuses the conversation or fails, and if a limit is reached. The
    /// [class](crate::ErrorClass) says which. Of two errors, the one that transformers raises first is returned.
    pub fn apply<M: Input + ?Sized>(&self, messages: &M, options: &ApplyOptions<'_>) -> Result<Prompt> {
        let deadline = options.prompt.render.bounds.start();
        let meter = || Meter::within(options.prompt.render.bounds, &deadline);
        self.apply_one(&messages, None, options, Keeps::Nothing, &meter)
    }

    /// Returns the prompt of a conversation as [`ChatTemplate::apply`] does. `keeps` tells what is in [`Prompt::copies`].
    #[cfg(feature = "internal")]
    #[doc(hidden)]
    pub fn apply_keeping<M: Input + ?Sized>(&self, messages: &M, options: &ApplyOptions<'_>, keeps: Keeps) -> Result<Prompt> {
        let deadline = options.prompt.render.bounds.start();
        let meter = || Meter::within(options.prompt.render.bounds, &deadline);
        self.apply_one(&messages, None, options, keeps, &meter)
    }

    /// Returns the prompt of a conversation within the limits and the deadline of a meter, in place of those of the options. `keeps` tells
    /// what is in [`Prompt::copies`].
    pub(crate) fn apply_within<M: Input + ?Sized>(
        &self,
        messages: &M,
        options: &ApplyOptions<'_>,
        keeps: Keeps,
        meter: &Meter<'_>,
    ) -> Result<Prompt> {
        self.apply_one(&messages, None, options, keeps, &|| meter.renew())
    }

    /// Returns the text of the prompt of the first messages of a conversation.
    pub(super) fn apply_first(
        &self,
        messages: &dyn Input,
        count: usize,
        options: &ApplyOptions<'_>,
        meter: &Meter<'_>,
    ) -> Result<String> {
        let prompt = self.apply_one(messages, Some(count), options, Keeps::Nothing, &|| meter.renew())?;
        Ok(prompt.text)
    }

    /// Returns the prompt of a conversation, or of its first `count` messages. If strings of the input share memory, so that their
    /// addresses do not tell them apart, it renders a copy of the input. `meter` makes the meter of a render.
    fn apply_one<'m>(
        &self,
        messages: &dyn Input,
        count: Option<usize>,
        options: &ApplyOptions<'_>,
        keeps: Keeps,
        meter: &dyn Fn() -> Meter<'m>,
    ) -> Result<Prompt> {
        let rendered = self.render_one(messages, count, options, keeps, meter());
        let is_for_copies =
            |prompt: &Prompt| keeps != Keeps::Nothing && prompt.trace.parts().is_empty() && options.prompt.assistant.is_none();
        let prompt = match rendered {
            Ok(prompt) if prompt.is_ambiguous && !is_for_copies(&prompt) => prompt,
            rendered => return rendered,
        };
        let copied = CopiedInput::new(messages, options, &meter())?;
        let again = self.render_one(&copied.messages, count, &copied.options(options), Keeps::Nothing, meter())?;
        // The copies are addresses in the caller's input.
        Ok(Prompt {
            copies: prompt.copies,
            ..again
        })
    }

    /// Returns the prompt of a conversation, or of its first `count` messages. It is rendered with the runtime in which it was checked.
    fn render_one(
        &self,
        messages: &dyn Input,
        count: Option<usize>,
        options: &ApplyOptions<'_>,
        keeps: Keeps,
        meter: Meter<'_>,
    ) -> Result<Prompt> {
        let owned = Owned::default();
        let arena = Arena::default();
        let mut runtime = Runtime::with_meter(&arena, meter, options.prompt.render.clock, &LOOKUPS);
        let mut render = self.read_arguments(&mut runtime, options, &owned, keeps)?;
        let own = match (messages.borrow_value(&mut runtime)?, count) {
            (Value::List(items), Some(end)) => Value::List(items.slice(0..end).unwrap_or(items)),
            (own, _) => own,
        };
        let Conversations::One(conversation) = Conversations::new(&mut runtime, &own)? else {
            let message = "the messages are a list of conversations; pass such a list to apply_batch";
            return Err(refused(ErrorKind::Type, message));
        };
        render.check(self, &mut runtime)?;
        render.render_conversation(&mut runtime, own, conversation)
    }

    /// Returns the prompts of a list of conversations. All messages are checked before the first conversation is rendered. Unlike in
    /// [`ChatTemplate::apply`], a conversation may be empty.
    ///
    /// ```
    /// use chat_template::{ApplyOptions, ChatTemplate};
    ///
    /// let template = ChatTemplate::from_source("{% for m in messages %}{{ m.content }}{% endfor %}", &[])?;
    /// let conversations = serde_json::json!([[{"role": "user", "content": "Hi"}], [{"role": "user", "content": "Bye"}]]);
    /// let prompts = template.apply_batch(&conversations, &ApplyOptions::default())?;
    /// let texts: Vec<&str> = prompts.iter().map(|prompt| prompt.text.as_str()).collect();
    /// assert_eq!(texts, ["Hi", "Bye"]);
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`ChatTemplate::apply`]; the first conversation that fails ends the batch.
    pub fn apply_batch<M: Input + ?Sized>(&self, conversations: &M, options: &ApplyOptions<'_>) -> Result<Vec<Prompt>> {
        let deadline = options.prompt.render.bounds.start();
        let meter = &Meter::within(options.prompt.render.bounds, &deadline);
        let prompts = self.render_batch(&conversations, options, meter)?;
        if !prompts.iter().any(|prompt| prompt.is_ambiguous) {
            return Ok(prompts);
        }
        let copied = CopiedInput::new(&conversations, options, meter)?;
        self.render_batch(&copied.messages, &copied.options(options), meter)
    }

    /// Returns the prompts of a list of conversations, each rendered with a runtime of its own.
    fn render_batch(&self, conversations: &dyn Input, options: &ApplyOptions<'_>, meter: &Meter<'_>) -> Result<Vec<Prompt>> {
        let owned = Owned::default();
        let arena = Arena::default();
        let mut runtime = Runtime::with_meter(&arena, meter.renew(), options.prompt.render.clock, &LOOKUPS);
        let mut render = self.read_arguments(&mut runtime, options, &owned, Keeps::Nothing)?;
        let given = conversations.borrow_value(&mut runtime)?;
        let Conversations::Batch(conversations) = Conversations::new(&mut runtime, &given)? else {
            let message = "apply_batch takes a list of conversations, and this is a single one; pass it to apply";
            return Err(refused(ErrorKind::Type, message));
        };
        render.check(self, &mut runtime)?;
        let mut limits = meter.limits().clone();
        let mut prompts = Vec::new();
        for (index, conversation) in conversations.into_iter().enumerate() {
            let given = match &given {
                Value::List(items) | Value::Tuple(items) => items.get(index).unwrap_or(Value::None),
                _ => Value::None,
            };
            runtime.meter.check_time()?;
            // The values of a prompt are freed with it.
            let arena = Arena::default();
            let clock = options.prompt.render.clock;
            let mut runtime = Runtime::with_meter(&arena, meter.renew_with(limits.clone()), clock, &LOOKUPS);
            let prompt = render.render_conversation(&mut runtime, given, conversation)?;
            // The caller keeps all prompts of a batch, so they share the limit on output.
            limits.output = limits.output.saturating_sub(prompt.text.len() as u64);
            prompts.push(prompt);
        }
        Ok(prompts)
    }

    /// Returns the prompt of a conversation in JSON text, which is read as by Python's `json.loads`. Strings without escapes are not
    /// copied.
    ///
    /// ```
    /// use chat_template::{ApplyOptions, ChatTemplate};
    ///
    /// let template = ChatTemplate::from_source("{{ messages[0].content }} {{ messages[0].seed }}", &[])?;
    /// let messages = r#"[{"role": "user", "content": "Hi", "seed": 18446744073709551616}]"#;
    /// let prompt = template.apply_json(messages, &ApplyOptions::default())?;
    /// assert_eq!(prompt.text, "Hi 18446744073709551616");
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`ChatTemplate::apply`], and if the text is not JSON or has a lone surrogate such as `"\ud83d"`, which Python reads and
    /// Rust's strings cannot hold.
    pub fn apply_json(&self, messages: &str, options: &ApplyOptions<'_>) -> Result<Prompt> {
        let deadline = options.prompt.render.bounds.start();
        let messages = json::read_until(messages, options.prompt.render.bounds.watch(&deadline))?;
        let meter = || Meter::within(options.prompt.render.bounds, &deadline);
        self.apply_one(&messages, None, options, Keeps::Nothing, &meter)
    }

    /// Reads the tools and the variables of a call, and chooses its template.
    fn read_arguments<'t: 'a, 'a>(
        &'t self,
        runtime: &mut Runtime<'a>,
        options: &'a ApplyOptions<'a>,
        owned: &'a Owned<'t>,
        keeps: Keeps,
    ) -> Result<Render<'a>> {
        let tools = options.tools.borrow_value(runtime)?;
        let has_tools = !matches!(tools, Value::None);
        let chosen = owned
            .chosen
            .get_or_init(|| self.parts.templates.choose(options.chat_template, has_tools, &runtime.meter));
        let tokens = match options.special_tokens {
            None => (self.special_tokens(), self.parts.repeats),
            Some(tokens) => {
                charge_entries(runtime, tokens.len())?;
                let own = owned.special_tokens.get_or_init(|| to_owned(tokens));
                (own.as_slice(), has_repeated(own))
            }
        };
        let variables = Variables::new(runtime, tokens, options)?;
        Ok(Render {
            template: chosen.as_ref().map_err(Error::clone)?.template(),
            tools,
            documents: Value::None,
            variables,
            control_tokens: Vec::new(),
            options,
            keeps,
        })
    }
}

/// What a call owns while it renders.
#[derive(Default)]
struct Owned<'t> {
    /// The template that renders, or the error of choosing it.
    chosen: OnceCell<Result<Chosen<'t>>>,
    /// The special tokens of the options.
    special_tokens: OnceCell<Vec<(String, String)>>,
}

/// The arguments of a call, which all its conversations share.
struct Render<'a> {
    template: &'a NamedTemplate,
    tools: Value<'a>,
    documents: Value<'a>,
    variables: Variables<'a>,
    control_tokens: Vec<&'a str>,
    options: &'a ApplyOptions<'a>,
    keeps: Keeps,
}

impl<'a> Render<'a> {
    /// Checks the arguments in the order of transformers. The messages are checked before.
    fn check(&mut self, model: &'a ChatTemplate, runtime: &mut Runtime<'a>) -> Result<()> {
        let options = self.options;
        if options.continue_final_message.field().is_some() {
            let flag = ops::is_true(runtime, &self.variables.generation_prompt)?;
            check_continuation(flag, options.prompt.render.reference_spans)?;
        }
        self.variables.check_call()?;
        self.template.compiled()?;
        self.tools = check_tools(runtime, self.tools)?;
        let documents = options.documents.borrow_value(runtime)?;
        self.documents = check_documents(runtime, documents)?;
        if options.prompt.control_tokens.policy != ControlPolicy::Leave {
            self.control_tokens = model.control_tokens_with(self.variables.tokens);
        }
        Ok(())
    }

    /// Returns the prompt of a conversation. `own` is the conversation as the caller passed it, and `messages` as templates see it.
    fn render_conversation(&self, runtime: &mut Runtime<'a>, own: Value<'a>, messages: Value<'a>) -> Result<Prompt> {
        let options = &self.options.prompt;
        let compiled = self.template.compiled()?;
        let count = match &messages {
            Value::List(items) | Value::Tuple(items) => items.len(),
            _ => 0,
        };
        let checks_control_tokens = options.control_tokens.policy != ControlPolicy::Leave;
        if options.render.trace || checks_control_tokens || options.assistant.is_some() || self.keeps == Keeps::Sources {
            compiled.start_tape(runtime, self.list_inputs(own), None, count);
        } else if self.keeps == Keeps::Addresses {
            runtime.start_tape(Tape::default(), count);
        }
        let continuation = match self.options.continue_final_message.field() {
            Some(field) => Some(Continuation::open(runtime, &messages, field, &self.template.source)?),
            None => None,
        };
        self.variables.check_render(options.render.reference_spans)?;
        let messages = continuation.as_ref().map_or(messages, |continuation| continuation.messages);
        let given = self.variables.make_context(runtime, messages, self.tools, self.documents)?;
        let tracks_spans = compiled.marks_spans(&options.render, options.assistant.is_some());
        let output = compiled.render_value(runtime, given, tracks_spans);
        let mut output = output.map_err(|error| self.template.name_in(self.variables.with_class(error)))?;
        if let Some(continuation) = &continuation {
            output.text = continuation.close(runtime, output.text)?;
            output.pieces.truncate(output.text.len());
        }
        let generation_prompt = match options.generation_prompt {
            true => self.find_generation_prompt(runtime, compiled, messages, &output)?,
            false => None,
        };
        let copies = match self.keeps {
            Keeps::Nothing => Copies::default(),
            keeps => runtime.list_copies(&mut output.pieces, keeps == Keeps::Sources)?,
        };
        let is_traced = options.render.trace || checks_control_tokens;
        let mut prompt = compiled.finish_prompt(runtime, &mut output, &options.render, is_traced, options.assistant.as_ref())?;
        prompt.copies = copies;
        prompt.generation_prompt = generation_prompt;
        if checks_control_tokens {
            let count = self.control_tokens.len().saturating_add(options.control_tokens.tokens.len());
            runtime.meter.charge_items(count)?;
            let tokens = [self.control_tokens.as_slice(), options.control_tokens.tokens].concat();
            prompt.check_control_tokens(&mut runtime.meter, &tokens, &options.control_tokens)?;
            prompt.steps = runtime.meter.steps();
        }
        Ok(prompt)
    }

    /// Returns the byte range of the generation prompt in an output. If no branch on the flag wrote it at the end, the conversation is
    /// rendered without the flag.
    fn find_generation_prompt(
        &self,
        runtime: &mut Runtime<'a>,
        compiled: &'a Template,
        messages: Value<'a>,
        output: &eval::Rendered,
    ) -> Result<Option<Range<usize>>> {
        let text = output.text.as_str();
        if !compiled.asks_prompt() || !ops::is_true(runtime, &self.variables.generation_prompt)? {
            return Ok(Some(text.len()..text.len()));
        }
        if output.prompt.is_some() {
            return Ok(output.prompt.clone());
        }
        let mut other = Runtime::with_meter(
            runtime.arena,
            runtime.meter.renew(),
            self.options.prompt.render.clock,
            &LOOKUPS,
        );
        let given = self.variables.make_context(&mut other, messages, self.tools, self.documents);
        let closed = given.and_then(|mut given| {
            given.set(FLAG, Value::Bool(false));
            compiled.render_opening(&mut other, given)
        });
        let Ok(closed) = closed else { return Ok(None) };
        runtime.meter.charge_bytes(text.len())?;
        // The template may print more after the generation prompt.
        let start = common_prefix(&closed, text);
        let rest = closed.get(start..).unwrap_or_default();
        let end = text.strip_suffix(rest).map(str::len).filter(|end| *end >= start);
        Ok(end.map(|end| start..end))
    }

    /// Returns the inputs of a render that is traced: what the caller passed.
    fn list_inputs(&self, messages: Value<'a>) -> Vec<Traced<'a>> {
        let arguments = [("messages", messages), ("tools", self.tools), ("documents", self.documents)];
        let arguments = arguments.map(|(name, value)| Traced::Variable(name, value));
        arguments.into_iter().chain(self.variables.list_inputs()).collect()
    }
}

fn check_continuation(adds_generation_prompt: bool, wants_mask: bool) -> Result<()> {
    if adds_generation_prompt {
        return Err(refused(
            ErrorKind::Value,
            "continue_final_message and add_generation_prompt are not compatible. Use continue_final_message when you want the model \
             to continue the final message, and add_generation_prompt when you want to add a header that will prompt it to start a \
             new assistant message instead.",
        ));
    }
    if wants_mask {
        let message = "continue_final_message is not compatible with return_assistant_tokens_mask.";
        return Err(refused(ErrorKind::Value, message));
    }
    Ok(())
}

/// Returns the tools as a list, and an error unless each is an object. Python makes a list of any value that it can iterate.
fn check_tools<'a>(runtime: &mut Runtime<'a>, tools: Value<'a>) -> Result<Value<'a>> {
    if matches!(tools, Value::None) {
        return Ok(tools);
    }
    if !are_objects(runtime, &tools, "tools")? {
        let message = "Tools should either be a JSON schema, or a callable function with type hints and a docstring suitable for \
                       auto-conversion to a schema.";
        return Err(refused(ErrorKind::Value, message).with_note(explain_objects(&tools, "tools")));
    }
    match tools {
        Value::List(items) | Value::Tuple(items) => Ok(Value::List(items)),
        _ => runtime.list(&[]),
    }
}

/// Returns the documents unchanged, and an error unless each is an object.
fn check_documents<'a>(runtime: &mut Runtime<'a>, documents: Value<'a>) -> Result<Value<'a>> {
    if matches!(documents, Value::None) || are_objects(runtime, &documents, "documents")? {
        return Ok(documents);
    }
    let message = "Documents should be a list of dicts with 'title' and 'text' keys!";
    Err(refused(ErrorKind::Type, message).with_note(explain_objects(&documents, "documents")))
}

/// Returns whether all items of a value are objects, as Python iterates them: a dict yields its keys and a string its characters, which are
/// strings.
fn are_objects(runtime: &mut Runtime<'_>, value: &Value<'_>, argument: &str) -> Result<bool> {
    match value {
        Value::List(items) | Value::Tuple(items) => {
            runtime.meter.charge_items(items.len() / 8)?;
            Ok(items.iter().all(|item| matches!(item, Value::Dict(_))))
        }
        Value::Dict(dict) => Ok(dict.is_empty()),
        Value::Str(text) => Ok(text.as_str().is_empty()),
        other => Err(not_iterable(other, argument)),
    }
}
