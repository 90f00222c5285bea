//! The options of all calls. `lib/index.d.ts` says which call has which.

use std::collections::BTreeMap;

use chat_template::ControlPolicy::{Leave, Refuse, Split};
use chat_template::json::Data;
use chat_template::{ApplyOptions, AssistantOptions, Bounds, Clock, ContinueFinalMessage, ControlTokens, Limits, LocalTime};
use chat_template::{PromptOptions, Result as LibraryResult};
use serde::Deserialize;
use serde_json::Value;

use crate::host::HostClock;
use crate::text::{Result, Thrown, read};

/// The options by their names, which are those of the library.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    pub limits: Limits,
    // A render.
    pub trace: bool,
    assistant: Option<Masks>,
    reference_spans: bool,
    generation_spans: bool,
    generation_prompt: bool,
    pub control_tokens: Control,
    now: Option<String>,
    // The arguments of `apply_chat_template`, and of `append`.
    pub chat_template: Option<String>,
    add_generation_prompt: bool,
    continue_final_message: Option<String>,
    special_tokens: Option<Value>,
    pub seen: String,
    pub sampled: Option<String>,
    // The body of a request.
    pub format: Option<String>,
    pub policy: Option<String>,
    pub later_system: Option<String>,
    pub media_placeholder: Option<String>,
    pub keeps_tools: bool,
    pub tools_as_text: bool,
    // A grammar, and the text of a model.
    pub tools: Option<Value>,
    pub tool_choice: Option<String>,
    pub parallel_calls: Option<bool>,
    pub json_schema: Option<Value>,
    pub reasoning: Option<bool>,
    pub variables: Option<Value>,
    pub response_template: Option<Value>,
    pub prefix: String,
    pub lenient: bool,
}

/// Which text counts as written by the model.
#[derive(Deserialize)]
struct Masks {
    roles: Option<Vec<String>>,
    #[serde(flatten)]
    flags: BTreeMap<String, bool>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Control {
    policy: Option<String>,
    roles: Vec<String>,
    pub tokens: Vec<String>,
}

impl Masks {
    fn options<'o>(&self, roles: Option<&'o [&'o str]>) -> Result<AssistantOptions<'o>> {
        let mut options = AssistantOptions::default();
        options.roles = roles.unwrap_or(options.roles);
        for (name, is_set) in &self.flags {
            let option = match name.as_str() {
                "end_of_turn" => &mut options.end_of_turn,
                "reasoning" => &mut options.reasoning,
                "last_turn_only" => &mut options.last_turn_only,
                "content_only" => &mut options.content_only,
                "trailing_space" => &mut options.trailing_space,
                "next_marker" => &mut options.next_marker,
                _ => return Err(Thrown::Argument(format!("`assistant` has no option {name:?}"))),
            };
            *option = *is_set;
        }
        Ok(options)
    }
}

impl Options {
    /// Reads options. A name that is not one of an option is an error.
    pub fn read(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        serde_json::from_str(text).map_err(|error| Thrown::Argument(format!("the options: {error}")))
    }

    /// Returns the bounds of a call.
    pub fn bounds(&self) -> Bounds<'_> {
        Bounds::from(&self.limits)
    }

    /// Returns the time that `strftime_now` reads, if it is fixed.
    pub fn time(&self) -> Result<Option<LocalTime>> {
        let time = self.now.as_ref().map(|now| now.parse());
        time.transpose().map_err(|error| Thrown::Argument(format!("`now`: {error}")))
    }

    /// Calls the library with the options of a prompt.
    pub fn with_prompt<T>(&self, call: impl FnOnce(&PromptOptions<'_>) -> LibraryResult<T>) -> Result<T> {
        let writers = self.assistant.as_ref().and_then(|masks| Some(borrow(masks.roles.as_ref()?)));
        let masks = self
            .assistant
            .as_ref()
            .map(|masks| masks.options(writers.as_deref()))
            .transpose()?;
        let policies = [("leave", Leave), ("refuse", Refuse), ("split", Split)];
        let (control, time) = (&self.control_tokens, self.time()?);
        let (roles, tokens) = (borrow(&control.roles), borrow(&control.tokens));
        let control_tokens = ControlTokens::default()
            .with_policy(choose("policy", control.policy.as_deref(), &policies)?.unwrap_or_default())
            .with_roles(&roles)
            .with_tokens(&tokens);
        let options = PromptOptions::default()
            .with_trace(self.trace)
            .with_assistant(masks)
            .with_reference_spans(self.reference_spans)
            .with_generation_spans(self.generation_spans)
            .with_generation_prompt(self.generation_prompt)
            .with_control_tokens(control_tokens)
            .with_clock(clock(time.as_ref()))
            .with_bounds(self.bounds());
        Ok(call(&options)?)
    }

    /// Calls the library with the arguments of `apply_chat_template`. `values` are the tools, the documents and the variables.
    pub fn with_arguments<T>(&self, values: [&str; 3], call: impl FnOnce(&ApplyOptions<'_>) -> LibraryResult<T>) -> Result<T> {
        let [tools, documents, variables] = values.map(read);
        let (tools, documents, variables): (Option<Data<'_>>, _, _) = (tools?, documents?, variables?);
        let tokens = self.special_tokens.as_ref().map(list_strings).transpose()?;
        let field = self.continue_final_message.as_deref();
        self.with_prompt(|prompt| {
            let options = ApplyOptions::default()
                .with_prompt(*prompt)
                .with_tools(&tools)
                .with_documents(&documents)
                .with_variables(&variables)
                .with_chat_template(self.chat_template.as_deref())
                .with_add_generation_prompt(self.add_generation_prompt)
                .with_continue_final_message(field.map_or(ContinueFinalMessage::No, ContinueFinalMessage::Field))
                .with_special_tokens(tokens.as_deref());
            call(&options)
        })
    }
}

/// Returns the clock of a call: a fixed time, or that of the host.
pub fn clock(time: Option<&LocalTime>) -> &dyn Clock {
    time.map_or(&HostClock, |time| time)
}

/// Returns the choice with a name.
pub fn choose<T: Copy>(option: &str, name: Option<&str>, choices: &[(&str, T)]) -> Result<Option<T>> {
    let Some(name) = name else { return Ok(None) };
    let found = choices.iter().find(|(choice, _)| *choice == name);
    let names: Vec<&str> = choices.iter().map(|(choice, _)| *choice).collect();
    let wrong = || Thrown::Argument(format!("`{option}` is {name:?}, and must be one of {}", names.join(", ")));
    found.map(|(_, choice)| Some(*choice)).ok_or_else(wrong)
}

/// Returns the strings of an object with their names. Null is a string that is missing.
pub fn list_strings(object: &Value) -> Result<Vec<(&str, &str)>> {
    let members = object.as_object().into_iter().flatten();
    let strings = members.filter(|(_, string)| !string.is_null()).map(|(name, string)| {
        let wrong = || Thrown::Argument(format!("{name:?} must be a string"));
        Ok((name.as_str(), string.as_str().ok_or_else(wrong)?))
    });
    strings.collect()
}

/// Borrows strings.
pub fn borrow(strings: &[String]) -> Vec<&str> {
    strings.iter().map(String::as_str).collect()
}
