//! The contract of `apply_chat_template`: the cases in tests/cases/contract and tests/cases/families, which transformers has answered, and
//! the parts of the interface that no case can show.
//!
//! ```text
//! {"id": "apply/choose/named-default", "rule": "…", "apply": {"template": {"default": "D"}, …}, "expect": {"output": "D"}}
//! ```
//!
//! [`branches`] lists a case for each branch of the reference.
#![allow(clippy::restriction, clippy::pedantic, reason = "a test says what it expects by failing")]

mod assistant;
mod branches;
mod case;
mod excerpts;
mod faults;
mod folders;
mod requests;
mod shared;
mod spans;

use chat_template::json::{Data, Object};
use chat_template::{ApplyOptions, ChatTemplate, ContinueFinalMessage, Error, LoadOptions, Prompt};

use case::{Case, assert_none, cases, is_null, object, text};

#[test]
fn requests_have_the_answers_of_transformers() {
    let cases = cases("apply");
    let faults: Vec<String> = cases
        .iter()
        .filter_map(|case| case.fault(template(case).and_then(|template| answer(case, &template))))
        .collect();
    assert_none(&faults, cases.len());
}

/// The embedded suite contains the shared values of families; the files contain their names.
#[test]
fn families_have_the_answers_of_transformers() {
    let suite = chat_template_cli::conformance::Suite::embedded().expect("the suite is valid");
    let cases = suite
        .cases
        .iter()
        .filter(|case| case.area() == "families" && case.features().contains(&"apply"));
    let faults: Vec<String> = cases
        .map(|case| Case::new(&case.to_line()))
        .filter_map(|case| case.fault(template(&case).and_then(|template| answer(&case, &template))))
        .collect();
    assert!(faults.is_empty(), "{}:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn models_have_the_answers_of_transformers() {
    let cases = cases("models");
    let models = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/models");
    let answer = |case: &Case| {
        let chat =
            ChatTemplate::from_dir(models.join(text(case.get("model"))), &LoadOptions::default()).expect("each model can be read");
        answer(case, &chat)
    };
    let faults: Vec<String> = cases.iter().filter_map(|case| case.fault(answer(case))).collect();
    assert_none(&faults, cases.len());
}

fn template(case: &Case) -> Result<ChatTemplate, Error> {
    match case.argument("template") {
        // The reference compiles a template after it has checked the request, as this crate does with a template of the request.
        Data::Str(_) => ChatTemplate::from_config(&serde_json::json!({})),
        Data::Object(named) => {
            let named: Vec<(&str, &str)> = named.entries().iter().map(|(name, source)| (&**name, text(source))).collect();
            ChatTemplate::from_named(&named, &[])
        }
        other => panic!("{}: a template is a string or an object: {other:?}", case.id),
    }
}

/// Returns the result of `apply` for the arguments of a case, passed as a Python caller passes them.
fn answer(case: &Case, chat: &ChatTemplate) -> Result<Prompt, Error> {
    let tokens = match case.argument("special_tokens") {
        Data::Object(tokens) => tokens.entries(),
        _ => &[],
    };
    let tokens = tokens.iter().filter(|(_, token)| !is_null(token));
    let tokens: Vec<(&str, &str)> = tokens.map(|(name, token)| (&**name, text(token))).collect();
    let mut variables = match case.argument("variables") {
        Data::Object(variables) => variables.entries().to_vec(),
        _ => Vec::new(),
    };
    let has_flag = object(case.get("apply")).get("add_generation_prompt").is_some();
    let flag = case.argument("add_generation_prompt");
    if has_flag && !matches!(flag, Data::Bool(_)) {
        variables.push(("add_generation_prompt".into(), flag.clone()));
    }
    let variables = Data::Object(Object::new(variables));
    let name = case.argument("template_name");
    let clock = case.clock;
    let mut options = ApplyOptions::default()
        .with_tools(case.argument("tools"))
        .with_documents(case.argument("documents"))
        .with_chat_template(match case.argument("template") {
            Data::Str(source) if is_null(name) => Some(&**source),
            _ => (!is_null(name)).then(|| text(name)),
        })
        .with_add_generation_prompt(*flag == Data::Bool(true))
        .with_continue_final_message(match case.argument("continue_final_message") {
            Data::Str(field) => ContinueFinalMessage::Field(field),
            Data::Bool(true) | Data::Int(1) => ContinueFinalMessage::Content,
            _ => ContinueFinalMessage::No,
        })
        .with_variables(&variables)
        // A folder in tests/models has its own tokens.
        .with_special_tokens((!tokens.is_empty()).then_some(&*tokens))
        .with_reference_spans(case.generation);
    if let Some(clock) = &clock {
        options = options.with_clock(clock);
    }
    chat.apply(case.argument("messages"), &options)
}
