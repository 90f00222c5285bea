//! A prepared request, and how it is made.

use serde::Serialize;

use crate::chat::{ApplyOptions, ChatTemplate, ContinueFinalMessage, Hidden, Input, Prompt};
use crate::deadline::Bounds;
use crate::error::{Error, Result};
use crate::json::Data;
use crate::meter::Meter;

use super::change::{Changes, What};
use super::facts::Facts;
use super::fitter::Fitter;
use super::format::Format;
use super::message::Fitted;
use super::node::Node;
use super::record::{Cost, Recorder};
use super::{anthropic, chat, check, responses, tools, variables, wrong};

/// How much of a body may be changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// None of the changes that the template needs, even if it fails without them. Responses and Messages become the messages of Chat
    /// Completions; a body of Chat Completions has the prompt of [`ChatTemplate::apply`].
    Exact,
    /// The changes that the template needs.
    #[default]
    Fit,
    /// Only the format: Responses and Messages become the messages of Chat Completions ([`What::Translated`](super::What::Translated)). A
    /// body that needs any other change is an error.
    Strict,
}

/// The options with which a body is prepared. Set the fields you need, and take the others from [`Default`].
#[derive(Clone, Copy, Debug, Default)]
pub struct PrepareOptions<'o> {
    /// The format of the body. Without it, the shape of the body decides.
    pub format: Option<Format>,
    /// How much of the body may be changed.
    pub policy: Policy,
    /// The name of the model's template that renders the request. Without it, the tools of the body decide, as in [`ChatTemplate::apply`].
    pub chat_template: Option<&'o str>,
    /// What changing the body may use. The first request for a template also inspects it, with as many steps and in the same
    /// time. A report that these limits cut short is not kept for later calls.
    pub bounds: Bounds<'o>,
}

/// The body of a request: a `serde_json::Value` or a [`Data`]. This trait is sealed.
pub trait Body: sealed::AsNode {}

impl<T: sealed::AsNode> Body for T {}

mod sealed {
    use crate::door::node::Node;

    pub trait AsNode {
        fn as_node(&self) -> Node<'_>;
    }
}

impl sealed::AsNode for serde_json::Value {
    fn as_node(&self) -> Node<'_> {
        Node::Json(self)
    }
}

impl sealed::AsNode for Data<'_> {
    fn as_node(&self) -> Node<'_> {
        Node::Data(self)
    }
}

/// A request as a template takes it. It borrows from the body and the template.
#[derive(Clone, Debug)]
pub struct Prepared<'b> {
    /// The format of the body.
    pub format: Format,
    /// The changes of the body. [`Prepared::apply`] adds the values that the prompt does not have.
    pub changes: Changes,
    template: &'b ChatTemplate,
    /// Whether the template is the one that renders the request, and not several among which `apply` chooses.
    is_chosen: bool,
    policy: Policy,
    body: Node<'b>,
    messages: Fitted<'b>,
    /// Whether the messages are those of the body, and none of them has a null or a field with reasoning.
    is_clean: bool,
    tools: Fitted<'b>,
    documents: Fitted<'b>,
    variables: Fitted<'b>,
    add_generation_prompt: bool,
    continue_final_message: ContinueFinalMessage<'b>,
    cost: Cost,
}

impl ChatTemplate {
    /// Prepares the body of a chat request for this template: finds its format, and changes what this template does not take. The first
    /// call inspects the template ([`ChatTemplate::inspect`]).
    ///
    /// ```
    /// use chat_template::ChatTemplate;
    ///
    /// let source = "{% for m in messages %}<{{ m.role }}>{{ m.content + '' }}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";
    /// let template = ChatTemplate::from_source(source, &[])?;
    /// let body = serde_json::json!({
    ///     "model": "m",
    ///     "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
    /// });
    /// let prepared = template.prepare(&body)?;
    /// assert_eq!(prepared.apply()?.text, "<user>Hi<assistant>");
    /// let changes: Vec<String> = prepared.changes.iter().map(ToString::to_string).collect();
    /// assert_eq!(changes, ["/messages/0/content: joined, the template does not take parts (takes.user.part is false)"]);
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the body has none of the formats, an unknown part or block, a result without a call or two open calls with one id; and those of
    /// [`ChatTemplate::inspect`]. Errors about the body have the class [`Request`](crate::ErrorClass::Request) and the JSON pointer.
    pub fn prepare<'b, B: Body>(&'b self, body: &'b B) -> Result<Prepared<'b>> {
        self.prepare_with(body, &PrepareOptions::default())
    }

    /// Prepares the body of a chat request with options.
    ///
    /// ```
    /// use chat_template::{ChatTemplate, Policy, PrepareOptions};
    ///
    /// let template = ChatTemplate::from_source("{% for m in messages %}{{ m.content + '' }}{% endfor %}", &[])?;
    /// let body = serde_json::json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]});
    /// let strict = PrepareOptions { policy: Policy::Strict, ..Default::default() };
    /// let error = template.prepare_with(&body, &strict).unwrap_err();
    /// assert_eq!(error.input_path(), Some("/messages/0/content"));
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`ChatTemplate::prepare`], and with [`Policy::Strict`] if the body has to be changed.
    pub fn prepare_with<'b, B: Body>(&'b self, body: &'b B, options: &PrepareOptions<'_>) -> Result<Prepared<'b>> {
        let body = body.as_node();
        if !body.is_object() {
            let fault = format!("it must be an object with `messages` or `input`, and is {}", body.describe());
            return Err(wrong(String::new(), fault));
        }
        let deadline = options.bounds.start();
        let meter = Meter::within(options.bounds, &deadline);
        let format = match options.format {
            Some(format) => format,
            None => Format::find(body)?,
        };
        let (key, path) = format.list();
        let Some(list) = body.get(key) else {
            return Err(wrong(path.to_owned(), "the body must have this key, with the conversation"));
        };
        let has_tools = body.get("tools").is_some();
        let is_chosen = options.policy != Policy::Exact || options.chat_template.is_some();
        let template = match is_chosen {
            true => self.single(options.chat_template, has_tools),
            false => self,
        };
        let mut prepared = match options.policy {
            Policy::Exact => template.fit(body, format, list, &Facts::any(), options.policy, meter)?,
            Policy::Fit | Policy::Strict => {
                let facts = Facts::new(&mut template.inspect_within(&meter)?)?;
                template.fit(body, format, list, &facts, options.policy, meter)?
            }
        };
        prepared.is_chosen = is_chosen;
        prepared.check_policy()?;
        Ok(prepared)
    }

    fn fit<'b>(
        &'b self,
        body: Node<'b>,
        format: Format,
        list: Node<'b>,
        facts: &Facts<'_>,
        policy: Policy,
        meter: Meter<'_>,
    ) -> Result<Prepared<'b>> {
        let is_exact = policy == Policy::Exact && format == Format::ChatCompletions;
        let (_, path) = format.list();
        let mut fitter = Fitter::new(facts, list, path, Recorder::new(meter));
        if !is_exact {
            let is_text = format == Format::Responses && list.text().is_some();
            if !list.is_list() && !is_text {
                let wanted = match format {
                    Format::Responses => "a string or an array",
                    Format::ChatCompletions | Format::Messages => "an array",
                };
                let fault = format!("must be {wanted}, and is {}", list.describe());
                return Err(wrong(path.to_owned(), fault));
            }
            format.refuse_other_keys(body)?;
            match format {
                Format::ChatCompletions => chat::read(&mut fitter, list)?,
                Format::Responses => responses::read(&mut fitter, body, list)?,
                Format::Messages => anthropic::read(&mut fitter, body, list)?,
            }
        }
        let is_clean = !is_exact && fitter.is_clean && list.items().next().is_some();
        let (messages, mut changes) = match is_exact {
            true => (Fitted::Kept(list), fitter.changes),
            false => fitter.finish()?,
        };
        let kept = |key| body.get(key).map_or(Fitted::Absent, Fitted::Kept);
        let tools = match is_exact {
            true => kept("tools"),
            false => tools::fit(facts, body, format, &mut changes)?,
        };
        let variables = variables::read(self, body, policy == Policy::Exact, &mut changes)?;
        let (changes, cost) = changes.finish();
        let read_option = |name| match policy {
            Policy::Exact => Ok(body.get(name)),
            Policy::Fit | Policy::Strict => variables::read_option(body, name),
        };
        let add_generation_prompt = read_option(variables::OPTIONS[0])?;
        let flag = read_option(variables::OPTIONS[1])?;
        let continue_final_message = read_continuation(flag, format, list, add_generation_prompt.is_none());
        Ok(Prepared {
            format,
            template: self,
            is_chosen: false,
            policy,
            body,
            is_clean: is_clean && matches!(messages, Fitted::Kept(_)),
            messages,
            tools,
            documents: kept("documents"),
            variables,
            add_generation_prompt: match add_generation_prompt {
                Some(flag) => flag.bool() == Some(true),
                None => continue_final_message.field().is_none(),
            },
            continue_final_message,
            changes,
            cost,
        })
    }
}

/// Returns the field of the last message that is to be continued. A body of Messages continues a last message of the assistant, unless it
/// sets `continue_final_message` or `add_generation_prompt`.
fn read_continuation<'b>(flag: Option<Node<'b>>, format: Format, messages: Node<'b>, is_open: bool) -> ContinueFinalMessage<'b> {
    if let Some(field) = flag.and_then(Node::text) {
        return ContinueFinalMessage::Field(field);
    }
    let is_prefilled = || {
        let last = messages.items().last();
        format == Format::Messages && last.is_some_and(|last| last.get_text("role") == Some("assistant")) && is_open
    };
    match flag.map_or_else(is_prefilled, |flag| flag.bool() == Some(true)) {
        true => ContinueFinalMessage::Content,
        false => ContinueFinalMessage::No,
    }
}

impl Prepared<'_> {
    /// Returns the prompt.
    ///
    /// # Errors
    /// Those of [`ChatTemplate::apply`]. With [`Policy::Strict`], also if the prompt does not have a text of the body.
    pub fn apply(&self) -> Result<Prompt> {
        self.apply_with(&ApplyOptions::default())
    }

    /// Returns the prompt. The conversation, tools, documents, variables, generation prompt and continuation are those of the body; all
    /// else, such as limits, the clock, the trace and the policy for control tokens, is that of the options. The template is the one for
    /// which the body was prepared; only with [`Policy::Exact`] is [`ApplyOptions::chat_template`] used, unless
    /// [`PrepareOptions::chat_template`] was set. The steps of changing the body and the memory of what was changed count towards the
    /// limits.
    ///
    /// # Errors
    /// Those of [`Prepared::apply`].
    pub fn apply_with(&self, options: &ApplyOptions<'_>) -> Result<Prompt> {
        let tools: &dyn Input = &self.tools;
        let options = ApplyOptions {
            tools: Some(tools),
            documents: Some(&self.documents),
            variables: Some(&self.variables),
            chat_template: options.chat_template.filter(|_| !self.is_chosen),
            add_generation_prompt: self.add_generation_prompt,
            continue_final_message: self.continue_final_message,
            ..*options
        };
        let limits = self.cost.reduce(options.bounds.limits);
        let bounds = Bounds {
            limits: &limits,
            ..options.bounds
        };
        let hidden = Hidden {
            writes: self.policy != Policy::Exact,
            is_clean: self.is_clean,
        };
        let deadline = bounds.start();
        // The render shares the steps of this meter with the work after it.
        let mut meter = Meter::within(bounds, &deadline).share_steps();
        let mut prompt = self
            .template
            .apply_within(&self.messages, &options, hidden, &meter)
            .map_err(|error| self.locate(error))?;
        if self.policy != Policy::Exact {
            let writes = std::mem::take(&mut prompt.writes);
            meter.charge_bytes(usize::try_from(self.cost.bytes).unwrap_or(usize::MAX))?;
            let fitted = [&self.messages, &self.tools];
            let dropped = check::find_dropped(
                self.body,
                self.format,
                &prompt.text,
                writes,
                fitted,
                &self.changes,
                &mut meter,
            )?;
            self.changes.set_dropped(dropped);
            self.check_policy()?;
        }
        Ok(prompt)
    }

    /// Returns the messages that the template gets.
    pub fn messages(&self) -> &(impl Input + Serialize) {
        &self.messages
    }

    /// Returns the tools that the template gets, or null.
    pub fn tools(&self) -> &(impl Input + Serialize) {
        &self.tools
    }

    /// Returns the variables that the template gets, or null.
    pub fn variables(&self) -> &(impl Input + Serialize) {
        &self.variables
    }

    /// Returns whether the prompt ends with the beginning of an answer.
    pub fn add_generation_prompt(&self) -> bool {
        self.add_generation_prompt
    }

    /// Returns an error for the first change, if the policy allows none.
    fn check_policy(&self) -> Result<()> {
        match self.changes.iter().find(|change| change.what != What::Translated) {
            Some(change) if self.policy == Policy::Strict => {
                let (what, why) = (change.what.name(), &change.why);
                let message = format!("the policy allows no changes, and the value would be {what}: {why}");
                Err(wrong(change.path.clone(), message))
            }
            _ => Ok(()),
        }
    }

    /// Returns an error about a message with the place of the message in the body.
    fn locate(&self, error: Error) -> Error {
        let (_, root) = self.format.list();
        error.map_input_paths(|path| {
            let rest = path.strip_prefix("/messages/")?;
            let Fitted::Messages(messages) = &self.messages else {
                return Some(format!("{root}/{rest}"));
            };
            let (index, field) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let message = messages.get(index.parse::<usize>().ok()?)?;
            Some(message.place.field(field))
        })
    }
}
