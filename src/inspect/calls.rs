//! Finds out how tools, calls of tools and their results are printed.

use serde_json::Value;

use super::conversations::{Cycle, WITH_TOOLS, around, base, join, planted_result};
use super::lab::{Lab, Question, Trial, find_words};
use super::plant::{self, ARGUMENT, DESCRIPTION, FUNCTION, Form, ID, PARAMETER, PLANT, SECOND, SECOND_ID, VALUE};
use crate::chat::Prompt;
use crate::error::Result;
use crate::report::{Arguments, Calls, Outcome, Report, Tools};

/// Tries calls with one result, and returns the outcome for the content of the result.
pub fn inspect(lab: &mut Lab<'_>, report: &mut Report, forms: &[Form]) -> Result<Outcome> {
    report.tools = ask_tools(lab, forms)?;
    let cycle = Cycle {
        calls: &|is_text| vec![plant::call(ID, FUNCTION, &plant::arguments(is_text))],
        results: vec![planted_result(Form::String)],
        are_text: &[false, true],
        forms,
    };
    let bare = around("tool", &planted_result(Form::String), forms);
    let is_object = |trial: &Trial| arguments_of(trial).is_some_and(Value::is_object);
    let is_text = |trial: &Trial| arguments_of(trial).is_some_and(Value::is_string);
    let has_call = |trial: &Trial| arguments_of(trial).is_some();
    let has_result = |trial: &Trial| result_index(trial).is_some();
    let has_both = |trial: &Trial| has_call(trial) && has_result(trial);
    let has_content = |wanted: bool| {
        move |trial: &Trial| match call_content(trial) {
            Some(Value::String(text)) => text.is_empty() != wanted,
            Some(_) => wanted,
            None => false,
        }
    };
    let (has_text, has_empty) = (has_content(true), has_content(false));
    let when = |applies: bool, outcome: Outcome| applies.then_some(outcome);
    let field = |trial: &Trial, prompt: &Prompt, pointer: String, word: &str| {
        let index = if pointer.starts_with("/tool_calls") {
            call_index(trial)
        } else {
            result_index(trial)
        };
        let is_printed = |index| prints(prompt, &format!("/messages/{index}{pointer}"), word);
        index.map(|index| if is_printed(index) { Outcome::Printed } else { Outcome::Lost })
    };
    let name = "/tool_calls/0/function/name";
    let questions = [
        Question {
            path: "roles.tool.string",
            judge: &|trial, prompt| when(has_result(trial), find_words(&prompt.text, &[SECOND])),
            counts_error: &has_result,
        },
        Question {
            path: "calls.object",
            judge: &|trial, prompt| when(is_object(trial), find_words(&prompt.text, &[ARGUMENT, VALUE])),
            counts_error: &is_object,
        },
        Question {
            path: "calls.string",
            judge: &|trial, prompt| when(is_text(trial), judge_text_arguments(&prompt.text)),
            counts_error: &is_text,
        },
        Question {
            path: "calls.written",
            judge: &|trial, prompt| field(trial, prompt, name.to_owned(), FUNCTION),
            counts_error: &has_call,
        },
        Question {
            path: "calls.content_beside",
            judge: &|trial, prompt| when(has_text(trial), find_words(&prompt.text, &[PLANT])),
            counts_error: &has_text,
        },
        Question {
            path: "roles.assistant.empty",
            judge: &|trial, prompt| when(has_empty(trial), find_words(&prompt.text, &[VALUE])),
            counts_error: &has_empty,
        },
        Question {
            path: "calls.id",
            judge: &|trial, prompt| field(trial, prompt, "/tool_calls/0/id".to_owned(), ID),
            counts_error: &has_call,
        },
        Question {
            path: "calls.name_in_result",
            judge: &|trial, prompt| field(trial, prompt, "/name".to_owned(), FUNCTION),
            counts_error: &has_both,
        },
        Question {
            path: "calls.id_in_result",
            judge: &|trial, prompt| field(trial, prompt, "/tool_call_id".to_owned(), ID),
            counts_error: &has_both,
        },
    ];
    let found = lab.ask_all(cycle.trials().into_iter().chain(bare), questions, (6, WITH_TOOLS))?;
    let [
        result,
        object,
        string,
        written,
        beside,
        empty,
        id,
        name_in_result,
        id_in_result,
    ] = found;
    report.roles.assistant.empty = Some(empty);
    report.calls = Calls {
        written: written == Outcome::Printed,
        object,
        string,
        arguments: find_arguments(object, string),
        parallel: Outcome::default(),
        id,
        name_in_result,
        id_in_result,
        content_beside: beside,
    };
    report.calls.parallel = ask_parallel(lab, &report.calls, forms)?;
    Ok(result)
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

/// Returns whether the prompt has arguments that are an object in the notation of Python, as `{'city': 'Oslo'}`.
pub fn prints_python_arguments(report: &Report) -> bool {
    let witness = report.witness("calls.object");
    let prompt = witness.and_then(|witness| witness.output.as_deref());
    prompt.is_some_and(|prompt| prompt.contains(&format!("{{'{ARGUMENT}': '{VALUE}'}}")))
}

/// Returns the outcome for arguments that are JSON text.
pub fn judge_text_arguments(text: &str) -> Outcome {
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

fn call_index(trial: &Trial) -> Option<usize> {
    trial.messages.iter().position(|message| message.get("tool_calls").is_some())
}

fn result_index(trial: &Trial) -> Option<usize> {
    let is_result = |message: &Value| message.get("role").is_some_and(|role| role == "tool");
    trial.messages.iter().position(is_result)
}

fn arguments_of(trial: &Trial) -> Option<&Value> {
    let message = trial.messages.get(call_index(trial)?)?;
    message.pointer("/tool_calls/0/function/arguments")
}

fn call_content(trial: &Trial) -> Option<&Value> {
    trial.messages.get(call_index(trial)?)?.get("content")
}

/// Returns whether a prompt has a word that came from a string of the input. The trace may only know a container of the string.
fn prints(prompt: &Prompt, pointer: &str, word: &str) -> bool {
    let is_origin = |path: &str| {
        let rest = pointer.strip_prefix(path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    // The words and the segments are both in the order of the prompt, and each is passed once.
    let mut words = prompt.text.match_indices(word).map(|(at, _)| at).peekable();
    prompt.segments.iter().any(|segment| {
        let bytes = segment.bytes();
        while words.next_if(|at| at.saturating_add(word.len()) <= bytes.start).is_some() {}
        words.peek().is_some_and(|at| *at < bytes.end) && segment.paths().any(is_origin)
    })
}

/// Finds out by renders whether the second of two calls in a message is printed.
fn ask_parallel(lab: &mut Lab<'_>, calls: &Calls, forms: &[Form]) -> Result<Outcome> {
    let cycle = Cycle {
        calls: &|is_text| {
            let second = match plant::arguments(is_text) {
                Value::String(text) => Value::from(text.replace(VALUE, SECOND)),
                _ => serde_json::json!({ARGUMENT: SECOND}),
            };
            vec![
                plant::call(ID, FUNCTION, &plant::arguments(is_text)),
                plant::call(SECOND_ID, FUNCTION, &second),
            ]
        },
        results: [ID, SECOND_ID]
            .iter()
            .map(|id| plant::result(id, FUNCTION, &Value::from("1")))
            .collect(),
        are_text: working_forms(calls),
        forms,
    };
    lab.ask("calls.parallel", cycle.trials(), |text| find_words(text, &[VALUE, SECOND]))
}

fn ask_tools(lab: &mut Lab<'_>, forms: &[Form]) -> Result<Tools> {
    let mut trials = Vec::new();
    for form in forms {
        let [system, user, answer] = base(*form);
        let tools = Some(plant::tools(PLANT));
        let orders: [&[&Value]; 3] = [&[&user], &[&system, &user], &[&user, &answer, &user]];
        trials.extend(orders.map(|order| Trial::new(join(order)).with_tools(tools.clone())));
    }
    let ask = |path, word: &'static str| {
        let judge = move |_: &Trial, prompt: &Prompt| Some(find_words(&prompt.text, &[word]));
        (path, judge)
    };
    let asked = [
        ask("tools.name", PLANT),
        ask("tools.description", DESCRIPTION),
        ask("tools.parameter", PARAMETER),
    ];
    let questions = asked.each_ref().map(|(path, judge)| Question {
        path,
        judge,
        counts_error: &|_| true,
    });
    let [name, description, parameter] = lab.ask_all(trials, questions, (3, 0))?;
    // Another template may render a request with tools, and a template may only count them.
    let witness = lab.witnesses.get("tools.name").map(Trial::from);
    let read = match witness {
        Some(trial) => {
            let bare = lab.render(&trial.clone().with_tools(None))?.map(|prompt| prompt.text).ok();
            let with = lab.render(&trial)?.map(|prompt| prompt.text).ok();
            bare != with
        }
        None => false,
    };
    Ok(Tools {
        read,
        name,
        description,
        parameter,
    })
}
