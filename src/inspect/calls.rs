//! Finds out how tools, calls of tools and their results are printed.

use serde_json::{Value, json};

use super::conversation::{Conversation, WITH_TOOLS, around, arrange, with_calls};
use super::experiments::{Experiments, find_words, outcome_of};
use super::plant::{self, ARGUMENT, DESCRIPTION, FUNCTION, Form, ID, PARAMETER, PLANT, SECOND, SECOND_ID, VALUE};
use crate::chat::Prompt;
use crate::error::Result;
use crate::report::{Arguments, Calls, Outcome, Tools};

/// The verdicts on calls, and what else the experiments with one call show.
pub struct Found {
    pub calls: Calls,
    /// The outcome for a call beside content that is an empty string.
    pub empty: Outcome,
    /// The outcome for the content of a result that is a string.
    pub result: Outcome,
}

/// Finds the verdicts on calls and their results: renders conversations with one call and its result, and then conversations with two calls
/// in a message.
pub fn inspect(experiments: &mut Experiments<'_>, forms: &[Form]) -> Result<Found> {
    let result = planted_result(Form::String);
    let mut trials = with_calls(forms, &[false, true], plant_call, std::slice::from_ref(&result));
    trials.extend(around("tool", &result, forms));
    // A place is a key that a message has, and a pointer in the first message with this key.
    let choose = |(key, pointer): (&'static str, &'static str), is_wanted: fn(&Value) -> bool| {
        trials
            .iter()
            .filter(move |trial| trial.value(key, pointer).is_some_and(is_wanted))
    };
    let any: fn(&Value) -> bool = |_| true;
    let [call, arguments, content] = ["", "/tool_calls/0/function/arguments", "/content"].map(|pointer| ("tool_calls", pointer));
    let result = ("tool_call_id", "");
    let judge = |words: &'static [&str]| move |text: &str| find_words(text, words);
    let string_result = experiments.ask("roles.tool.string", choose(result, any), judge(&[SECOND]))?;
    let object = experiments.ask("calls.object", choose(arguments, Value::is_object), judge(&[ARGUMENT, VALUE]))?;
    let string = experiments.ask("calls.string", choose(arguments, Value::is_string), judge_text_arguments)?;
    let name = ("tool_calls", "/tool_calls/0/function/name");
    let written = ask_field(experiments, "calls.written", choose(call, any), name, FUNCTION)?;
    let with_content = choose(content, |content| *content != "");
    let content_beside = experiments.ask("calls.content_beside", with_content, judge(&[PLANT]))?;
    let with_empty = choose(content, |content| *content == "");
    let empty = experiments.ask("roles.assistant.empty", with_empty, judge(&[VALUE]))?;
    // Most templates do not print the fields of results. Conversations without tools seldom show more, so they are skipped if all else was
    // printed.
    let is_complete = [string_result, object, string, written, content_beside, empty]
        .iter()
        .all(|outcome| *outcome == Outcome::Printed);
    let count = if is_complete { WITH_TOOLS } else { trials.len() };
    let tried = trials.iter().take(count);
    let mut ask = |path, (key, pointer), word| {
        let with_field = tried.clone().filter(|trial| trial.value(key, "").is_some());
        ask_field(experiments, path, with_field, (key, pointer), word)
    };
    let mut calls = Calls {
        written: written == Outcome::Printed,
        object,
        string,
        arguments: find_arguments(object, string),
        parallel: Outcome::default(),
        id: ask("calls.id", ("tool_calls", "/tool_calls/0/id"), ID)?,
        name_in_result: ask("calls.name_in_result", ("tool_call_id", "/name"), FUNCTION)?,
        id_in_result: ask("calls.id_in_result", ("tool_call_id", "/tool_call_id"), ID)?,
        content_beside,
    };
    calls.parallel = ask_parallel(experiments, &calls, forms)?;
    Ok(Found {
        calls,
        empty,
        result: string_result,
    })
}

/// Returns the result of the call with the planted id.
pub fn planted_result(form: Form) -> Value {
    plant::result(ID, FUNCTION, &form.content(SECOND))
}

/// Returns the planted call in a list.
pub fn plant_call(is_text: bool) -> Vec<Value> {
    vec![plant::call(ID, FUNCTION, &plant::arguments(is_text))]
}

/// Returns the forms of arguments to try, where true is JSON text and false an object. These are the forms that are printed, or both if
/// none is.
pub fn working_forms(calls: &Calls) -> &'static [bool] {
    match calls.arguments {
        Arguments::Object => &[false],
        Arguments::String => &[true],
        Arguments::Both | Arguments::Neither => &[false, true],
    }
}

fn find_arguments(object: Outcome, string: Outcome) -> Arguments {
    match (object == Outcome::Printed, string == Outcome::Printed) {
        (true, true) => Arguments::Both,
        (true, false) => Arguments::Object,
        (false, true) => Arguments::String,
        (false, false) => Arguments::Neither,
    }
}

/// Returns the outcome for arguments that are JSON text.
fn judge_text_arguments(text: &str) -> Outcome {
    if find_words(text, &[ARGUMENT, VALUE]) == Outcome::Lost {
        return Outcome::Lost;
    }
    let bare: String = text.chars().filter(|char| !char.is_whitespace()).collect();
    let is_encoded_again = bare.contains(&format!("\\\"{ARGUMENT}"));
    let is_wrapped = bare.contains(&format!("{{{{\"{ARGUMENT}"));
    if is_encoded_again || is_wrapped {
        return Outcome::Double;
    }
    Outcome::Printed
}

/// Finds out whether a word is printed that is also elsewhere in the conversation, by the origins of the prompt. Its field is given by a
/// key of the message and the pointer in the message. Errors count only in conversations with calls.
fn ask_field<'c>(
    experiments: &mut Experiments<'_>,
    path: &str,
    trials: impl Iterator<Item = &'c Conversation>,
    (key, pointer): (&str, &str),
    word: &str,
) -> Result<Outcome> {
    experiments.ask_with(path, trials, |experiments, trial, rendered| {
        let prompt = match rendered {
            Ok(prompt) if prompt.text.contains(word) => experiments.trace(trial)?,
            Ok(_) => return Ok(Some(Outcome::Lost)),
            Err(error) => return Ok(trial.value("tool_calls", "").map(|_| outcome_of(error))),
        };
        let index = trial.messages.iter().position(|message| message.get(key).is_some());
        let pointer = format!("/messages/{}{pointer}", index.unwrap_or_default());
        Ok(Some(match &*prompt {
            Ok(prompt) if prints(prompt, &pointer, word) => Outcome::Printed,
            _ => Outcome::Lost,
        }))
    })
}

/// Returns whether a prompt has a word that came from a string of the input. The trace may only know a container of the string.
fn prints(prompt: &Prompt, pointer: &str, word: &str) -> bool {
    let is_origin = |path: &str| {
        let rest = pointer.strip_prefix(path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    // The words and the segments are both in the order of the prompt, and each is passed once.
    let mut words = prompt.text.match_indices(word).map(|(at, _)| at).peekable();
    prompt.segments().iter().any(|segment| {
        let bytes = segment.bytes();
        while words.next_if(|at| at + word.len() <= bytes.start).is_some() {}
        words.peek().is_some_and(|at| *at < bytes.end) && segment.paths().any(is_origin)
    })
}

/// Finds out whether the second of two calls in a message is printed.
fn ask_parallel(experiments: &mut Experiments<'_>, calls: &Calls, forms: &[Form]) -> Result<Outcome> {
    let two = |is_text| {
        let second = match plant::arguments(is_text) {
            Value::String(text) => Value::from(text.replace(VALUE, SECOND)),
            _ => json!({ARGUMENT: SECOND}),
        };
        let mut calls = plant_call(is_text);
        calls.push(plant::call(SECOND_ID, FUNCTION, &second));
        calls
    };
    let results = [ID, SECOND_ID].map(|id| plant::result(id, FUNCTION, &Value::from("1")));
    let trials = with_calls(forms, working_forms(calls), two, &results);
    experiments.ask("calls.parallel", &trials, |text| find_words(text, &[VALUE, SECOND]))
}

/// Tries tools in conversations without calls.
pub fn inspect_tools(experiments: &mut Experiments<'_>, forms: &[Form]) -> Result<Tools> {
    let tools = Some(plant::tools(PLANT));
    let trials = arrange(forms, &["u", "su", "uau"], |_| []).into_iter();
    let trials: Vec<Conversation> = trials.map(|trial| trial.with_tools(tools.clone())).collect();
    let mut ask = |path, word: &str| experiments.ask(path, &trials, |text| find_words(text, &[word]));
    let name = ask("tools.name", PLANT)?;
    let description = ask("tools.description", DESCRIPTION)?;
    let parameter = ask("tools.parameter", PARAMETER)?;
    // Another template may render a request with tools, and a template may only count them.
    let read = match experiments.shown.get("tools.name").cloned() {
        Some(with) => experiments.text(&with)? != experiments.text(&with.with_tools(None))?,
        None => false,
    };
    Ok(Tools {
        read,
        name,
        description,
        parameter,
    })
}
