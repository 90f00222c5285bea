//! Requests of the conformance protocol with the keys `apply`, `chat` and `inspect`.
//!
//! ```text
//! {"template": {"default": "…"}, "messages": [], "add_generation_prompt": true, "special_tokens": {"bos_token": "<s>"}}
//! {"template": {"default": "…"}, "body": {"messages": []}, "policy": "strict", "special_tokens": {"bos_token": "<s>"}}
//! ```
//!
//! JSON of any type becomes an argument of [`ChatTemplate::apply`] as if a Python caller had passed it.

use std::borrow::Cow;

use chat_template::grammar::{Grammar, GrammarFormat};
use chat_template::json::{Data, Object};
use chat_template::request::{Change, Format, Policy, PrepareOptions};
use chat_template::{Append, ApplyOptions, Bounds, ChatTemplate, ContinueFinalMessage, Error, Input, LocalTime, Prompt, Report};

use chat_template::internal::{MAX_SPECIAL_TOKENS, MAX_TEMPLATES};

use super::show::{Mode, Next, Wanted};

/// The largest total size in bytes of the templates of a request. Larger ones are an error, so they are not kept.
const MAX_KEPT: usize = 4 << 20;

/// The largest number of characters of a name that a message repeats.
const MAX_NAME: usize = 200;

/// What the model has seen and written when a conversation grows.
pub struct Seen<'r> {
    pub text: &'r str,
    pub sampled: Option<&'r str>,
}

/// A prompt, the changes of its body and, if the request wants it, the grammar of what the model may write.
pub type Written = (Prompt, Vec<Change>, Option<Option<Grammar>>);

/// Returns what the model has seen and written, if the request has `after`.
pub fn read_seen<'r>(request: &'r Object<'_>) -> Result<Option<Seen<'r>>, String> {
    let text = |key: &str| match request.get(key) {
        None | Some(Data::None) => Ok(None),
        Some(Data::Str(text)) => Ok(Some(&**text)),
        Some(other) => Err(format!("`{key}` must be a string, and this is {}", other.describe())),
    };
    let sampled = text("sampled")?;
    match text("after")? {
        Some(text) => Ok(Some(Seen { text, sampled })),
        None if sampled.is_some() => Err("`sampled` needs `after`".to_owned()),
        None => Ok(None),
    }
}

/// Answers requests with `apply`, `chat` and `inspect`. The last template stays compiled, because a suite repeats it in many requests.
#[derive(Default)]
pub struct Applier {
    /// The template of requests that have none.
    model: Option<ChatTemplate>,
    mode: Mode,
    compiled: Option<(Source, ChatTemplate)>,
    /// The template of the last request with `chat` or `inspect`, with its special tokens.
    with_tokens: Option<(Source, ChatTemplate)>,
}

/// The `template` of a request, or `None` if it is too large to be kept.
type Source = Option<Data<'static>>;

/// Returns a copy of the `template` of a request.
fn copy_source(template: &Data<'_>) -> Source {
    let size = match template {
        Data::Str(source) => source.len(),
        Data::Object(named) => named.entries().iter().fold(0_usize, |size, (name, source)| match source {
            Data::Str(source) => size + name.len() + source.len(),
            _ => usize::MAX,
        }),
        _ => 0,
    };
    (size <= MAX_KEPT).then(|| template.clone().into_owned())
}

impl Applier {
    /// Makes an applier with the template of requests that have none.
    pub fn new(mode: Mode, model: Option<ChatTemplate>) -> Self {
        Self {
            mode,
            model,
            ..Self::default()
        }
    }

    /// Drops the templates of requests.
    pub fn forget_requests(&mut self) {
        (self.compiled, self.with_tokens) = (None, None);
    }

    /// Applies a chat template. The outer error is about the form of the request, and the inner error is that of the contract. If the
    /// request says what the model has seen, the piece to append is found.
    pub fn apply(
        &mut self,
        request: &Object<'_>,
        clock: Option<&LocalTime>,
        wanted: Wanted<'_>,
        bounds: Bounds<'_>,
        seen: Option<Seen<'_>>,
    ) -> Result<Result<(Prompt, Option<Next>), Error>, String> {
        let Some(messages) = request.get("messages") else {
            return Err("`apply` must have `messages`".to_owned());
        };
        let template = self.template(request, bounds)?;
        let special_tokens = special_tokens(request)?;
        let chat_template = match request.get("template_name") {
            None | Some(Data::None) => None,
            Some(Data::Str(name)) => Some(&**name),
            Some(other) => {
                return Err(format!("`template_name` must be a string, and this is {}", other.describe()));
            }
        };
        let variables = variables(request);
        let variables = variables.as_deref();
        let (tools, documents) = (non_null(request, "tools"), non_null(request, "documents"));
        let special_tokens = special_tokens.as_ref().map(|tokens| {
            let pairs = tokens.iter().map(|(name, token)| (name.as_str(), token.as_str()));
            pairs.collect::<Vec<(&str, &str)>>()
        });
        let options = ApplyOptions::default()
            .with_prompt(wanted.options(bounds, clock))
            .with_tools(&tools)
            .with_documents(&documents)
            .with_chat_template(chat_template)
            .with_add_generation_prompt(request.get("add_generation_prompt") == Some(&Data::Bool(true)))
            .with_continue_final_message(continue_final_message(request))
            .with_variables(&variables)
            .with_special_tokens(special_tokens.as_deref());
        let Some(Seen { text, sampled }) = seen else {
            return Ok(template.apply(messages, &options).map(|prompt| (prompt, None)));
        };
        Ok(template.append(messages, text, sampled, &options).map(|next| match next {
            Append::Piece(next) => (next.prompt, Some(Next::Piece(next.start))),
            Append::Broken(mut broken) => (std::mem::take(&mut *broken.prompt), Some(Next::Broken(broken))),
        }))
    }

    /// Prepares a chat request and renders it. The outer error is about the form of the request.
    pub fn chat(
        &mut self,
        request: &Object<'_>,
        clock: Option<&LocalTime>,
        wanted: Wanted<'_>,
        bounds: Bounds<'_>,
    ) -> Result<Result<Written, Error>, String> {
        let Some(body) = request.get("body") else {
            return Err("`chat` must have `body`".to_owned());
        };
        let template = self.template_with_tokens(request, bounds)?;
        let options = wanted.options(bounds, clock);
        let prepare_options = PrepareOptions::default()
            .with_clock(options.render.clock)
            .with_format(choose(request, "format", &FORMATS)?)
            .with_policy(choose(request, "policy", &POLICIES)?.unwrap_or_default())
            .with_bounds(bounds);
        let format = choose(request, "grammar", &GrammarFormat::NAMES)?;
        let prepared = template.prepare_with(body, &prepare_options);
        Ok(prepared.and_then(|prepared| {
            let (prompt, changes) = prepared.render_with(&options)?;
            let grammar = format.map(|format| prepared.grammar(format, bounds)).transpose()?;
            Ok((prompt, changes, grammar))
        }))
    }

    /// Makes the whole report on a chat template. The outer error is about the form of the request.
    pub fn inspect<'o>(&mut self, request: &Object<'_>, bounds: Bounds<'o>) -> Result<Result<Report<'o>, Error>, String> {
        let template = self.template_with_tokens(request, bounds)?;
        let report = template.inspect(bounds);
        Ok(report.and_then(|report| report.complete().map(|()| report)))
    }

    /// Returns the template of a request with the special tokens of the request, on which its report depends.
    fn template_with_tokens(&mut self, request: &Object<'_>, bounds: Bounds<'_>) -> Result<&ChatTemplate, String> {
        let Some(tokens) = special_tokens(request)? else {
            return self.template(request, bounds);
        };
        let source = request.get("template").unwrap_or(&Data::None);
        let is_last =
            |(last, template): &(Source, ChatTemplate)| last.as_ref() == Some(source) && template.special_tokens() == tokens;
        let last = match self.with_tokens.take().filter(is_last) {
            Some(last) => last,
            None => {
                let template = self.template(request, bounds)?.clone().with_special_tokens(tokens);
                (copy_source(source), template)
            }
        };
        let (_, template) = self.with_tokens.insert(last);
        Ok(template)
    }

    /// Returns the template of a request, or that of the model if the request has none.
    fn template(&mut self, request: &Object<'_>, bounds: Bounds<'_>) -> Result<&ChatTemplate, String> {
        let template = request.get("template").unwrap_or(&Data::None);
        if let (Data::None, Some(model)) = (template, &self.model) {
            return Ok(model);
        }
        if self
            .compiled
            .as_ref()
            .is_none_or(|(compiled, _)| compiled.as_ref() != Some(template))
        {
            self.compiled = None;
        }
        let compiled = match self.compiled.take() {
            Some(compiled) => compiled,
            None => {
                let compiled = compile(template, bounds)?;
                let compiled = match self.mode {
                    Mode::Plain => compiled.generalize(),
                    Mode::Fast | Mode::Traced => compiled,
                };
                (copy_source(template), compiled)
            }
        };
        let (_, template) = self.compiled.insert(compiled);
        Ok(template)
    }
}

/// The names of formats and policies in a request.
const FORMATS: [(&str, Format); 3] = [
    ("chat_completions", Format::ChatCompletions),
    ("responses", Format::Responses),
    ("messages", Format::Messages),
];
const POLICIES: [(&str, Policy); 3] = [("exact", Policy::Exact), ("fit", Policy::Fit), ("strict", Policy::Strict)];

/// Returns the choice of a request by its name, if there is one.
fn choose<T: Copy>(request: &Object<'_>, key: &str, choices: &[(&str, T)]) -> Result<Option<T>, String> {
    let name = match request.get(key) {
        None | Some(Data::None) => return Ok(None),
        Some(Data::Str(name)) => name,
        Some(other) => return Err(format!("`{key}` must be a string, and this is {}", other.describe())),
    };
    match choices.iter().find(|(choice, _)| choice == name) {
        Some((_, choice)) => Ok(Some(*choice)),
        None => {
            let names: Vec<&str> = choices.iter().map(|(choice, _)| *choice).collect();
            Err(format!("`{key}` must be one of {}", names.join(", ")))
        }
    }
}

fn compile(template: &Data<'_>, bounds: Bounds<'_>) -> Result<ChatTemplate, String> {
    match template {
        Data::Str(source) => Ok(ChatTemplate::load_source(&**source, &[], bounds)),
        Data::Object(named) if named.len() > MAX_TEMPLATES => Err(format!(
            "`template` has {} templates, and may have at most {MAX_TEMPLATES}",
            named.len()
        )),
        Data::Object(named) => {
            let named: Result<Vec<_>, _> = named
                .entries()
                .iter()
                .map(|(name, source)| match source {
                    Data::Str(source) => Ok((&**name, &**source)),
                    other => Err(format!(
                        "the template {} must be a string, and this is {}",
                        quote(name),
                        other.describe()
                    )),
                })
                .collect();
            Ok(ChatTemplate::load_named(&named?, &[], bounds))
        }
        Data::None => Err("the request must have `template`, a string or an object of named strings".to_owned()),
        other => {
            let found = other.describe();
            Err(format!(
                "`template` must be a string or an object of named strings, and this is {found}"
            ))
        }
    }
}

/// Returns a name in quotation marks. A long name is cut.
fn quote(name: &str) -> String {
    let short: String = name.chars().take(MAX_NAME).collect();
    let rest = if short.len() < name.len() { "…" } else { "" };
    format!("{short:?}{rest}")
}

/// Returns an argument, or `None` if it is null, which is the default in Python.
fn non_null<'r>(request: &'r Object<'_>, name: &str) -> Option<&'r dyn Input> {
    let value = request.get(name).filter(|value| !matches!(value, Data::None))?;
    Some(value)
}

/// Returns the special tokens of a request, or `None` if it has none of its own.
fn special_tokens(request: &Object<'_>) -> Result<Option<Vec<(String, String)>>, String> {
    let mut tokens = Vec::new();
    match request.get("special_tokens") {
        None | Some(Data::None) => return Ok(None),
        Some(Data::Object(entries)) if entries.len() > MAX_SPECIAL_TOKENS => {
            return Err(format!(
                "`special_tokens` has {} tokens, and may have at most {MAX_SPECIAL_TOKENS}",
                entries.len()
            ));
        }
        Some(Data::Object(entries)) => {
            for (name, token) in entries.entries() {
                match token {
                    // Null means that the token is not set.
                    Data::None => {}
                    Data::Str(token) => tokens.push((name.clone().into_owned(), token.clone().into_owned())),
                    other => {
                        return Err(format!(
                            "the special token {} must be a string, and this is {}",
                            quote(name),
                            other.describe()
                        ));
                    }
                }
            }
        }
        Some(other) => {
            return Err(format!(
                "`special_tokens` must be an object, and this is {}",
                other.describe()
            ));
        }
    }
    Ok(Some(tokens))
}

/// Returns the variables of the request, with `add_generation_prompt` if that is not a bool, so that the template sees it unchanged.
fn variables<'r>(request: &'r Object<'r>) -> Option<Cow<'r, Data<'r>>> {
    let variables = request.get("variables").filter(|variables| !matches!(variables, Data::None));
    match request.get("add_generation_prompt") {
        None | Some(Data::Bool(_)) => variables.map(Cow::Borrowed),
        Some(flag) => {
            let mut entries = match variables {
                Some(Data::Object(variables)) => variables.entries().to_vec(),
                Some(other) => return Some(Cow::Borrowed(other)),
                None => Vec::new(),
            };
            entries.push((Cow::Borrowed("add_generation_prompt"), flag.clone()));
            Some(Cow::Owned(Data::Object(Object::new(entries))))
        }
    }
}

/// Returns the field to continue. An argument that is not a string is tested for truth, as in Python.
fn continue_final_message<'r>(request: &'r Object<'r>) -> ContinueFinalMessage<'r> {
    let is_false = match request.get("continue_final_message") {
        Some(Data::Str(field)) => return ContinueFinalMessage::Field(field),
        None | Some(Data::None | Data::Bool(false) | Data::Int(0)) => true,
        Some(Data::Float(number)) => *number == 0.0,
        Some(Data::List(items)) => items.is_empty(),
        Some(Data::Object(entries)) => entries.is_empty(),
        Some(_) => false,
    };
    if is_false {
        ContinueFinalMessage::No
    } else {
        ContinueFinalMessage::Content
    }
}
