//! The `apply` of a request of the conformance protocol.
//!
//! ```text
//! {"template": {"default": "…"}, "messages": [], "add_generation_prompt": true, "special_tokens": {"bos_token": "<s>"}}
//! ```
//!
//! It turns JSON of any type into the arguments of [`ChatTemplate::apply`], as a Python caller would have passed it. What the contract
//! makes of the arguments is not known here.

use std::borrow::Cow;

use chat_template::json::{Data, Object};
use chat_template::{ApplyOptions, ChatTemplate, ContinueFinalMessage, Error, FixedClock, Input, Limits};

use super::port::Output;

/// How many templates an apply may have by name.
const MAX_TEMPLATES: usize = 1000;

/// Answers `apply` requests. The last template is kept, because a suite asks for the same one again and again.
#[derive(Default)]
pub struct Applier {
    compiled: Option<(Data<'static>, ChatTemplate)>,
}

impl Applier {
    /// The error outside is one of the request, the one inside the contract's or the template's.
    pub fn apply(
        &mut self,
        request: &Object<'_>,
        clock: Option<&FixedClock>,
        generation: bool,
        plain: bool,
        limits: &Limits,
    ) -> Result<Result<Output, Error>, String> {
        let Some(messages) = request.get("messages") else {
            return Err("an apply has messages".to_owned());
        };
        let special_tokens = special_tokens(request)?;
        let chat_template = match request.get("template_name") {
            None | Some(Data::None) => None,
            Some(Data::Str(name)) => Some(&**name),
            Some(_) => return Err("template_name is not a string".to_owned()),
        };
        let variables = variables(request);
        let mut options = ApplyOptions {
            tools: given(request, "tools"),
            documents: given(request, "documents"),
            chat_template,
            add_generation_prompt: request.get("add_generation_prompt") == Some(&Data::Bool(true)),
            continue_final_message: continue_final_message(request),
            variables: variables.as_ref().map(|variables| &**variables as &dyn Input),
            special_tokens: Some(&special_tokens),
            generation,
            plain,
            limits,
            ..ApplyOptions::default()
        };
        if let Some(clock) = clock {
            options.clock = clock;
        }
        let prompt = self.template(request)?.apply(messages, &options);
        Ok(prompt.map(|prompt| Output {
            text: prompt.text,
            spans: prompt.generation.code_points,
        }))
    }

    fn template(&mut self, request: &Object<'_>) -> Result<&ChatTemplate, String> {
        let template = request.get("template").unwrap_or(&Data::None);
        if self.compiled.as_ref().is_none_or(|(compiled, _)| compiled != template) {
            self.compiled = None;
        }
        let compiled = match self.compiled.take() {
            Some(compiled) => compiled,
            None => (template.clone().into_owned(), compile(template)?),
        };
        let (_, template) = self.compiled.insert(compiled);
        Ok(template)
    }
}

fn compile(template: &Data<'_>) -> Result<ChatTemplate, String> {
    match template {
        Data::Str(source) => Ok(ChatTemplate::from_source(&**source, &[])),
        Data::Object(named) if named.len() > MAX_TEMPLATES => Err(format!(
            "an apply has at most {MAX_TEMPLATES} templates, because each is compiled"
        )),
        Data::Object(named) => {
            let named: Result<Vec<_>, _> = named
                .entries()
                .iter()
                .map(|(name, source)| match source {
                    Data::Str(source) => Ok((&**name, &**source)),
                    _ => Err(format!("the template named {name} is not a string")),
                })
                .collect();
            Ok(ChatTemplate::from_named(&named?, &[]))
        }
        _ => Err("an apply has a template, which is a string or an object".to_owned()),
    }
}

/// Null is Python's default for these arguments.
fn given<'r>(request: &'r Object<'_>, name: &str) -> Option<&'r dyn Input> {
    let value = request.get(name).filter(|value| !matches!(value, Data::None))?;
    Some(value)
}

fn special_tokens(request: &Object<'_>) -> Result<Vec<(String, String)>, String> {
    let mut tokens = Vec::new();
    match request.get("special_tokens") {
        None | Some(Data::None) => {}
        Some(Data::Object(entries)) => {
            for (name, token) in entries.entries() {
                match token {
                    // A token that is not set.
                    Data::None => {}
                    Data::Str(token) => tokens.push((name.clone().into_owned(), token.clone().into_owned())),
                    _ => return Err(format!("the special token {name} is not a string")),
                }
            }
        }
        Some(_) => return Err("special_tokens is not an object".to_owned()),
    }
    Ok(tokens)
}

/// The caller's own variables, with the flag where that is no bool: the template sees it as it was given.
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

/// Python's truth decides where the argument is no name.
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
