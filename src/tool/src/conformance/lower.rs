//! Lowers an `apply` to a `render`, for ports that only render.
//!
//! ```text
//! {"template": {"default": "…"}, "messages": […], "special_tokens": {"bos_token": "<s>"}}
//!     ->   the template "…" with the context {"messages": […], "tools": null, …, "bos_token": "<s>"}
//! ```
//!
//! The rules are those of transformers 5.24.0 `get_chat_template`, `apply_chat_template` and `render_jinja_template`. A call that they
//! refuse, or whose output they change after rendering, cannot be lowered.

use std::borrow::Cow;

use chat_template::internal::Entry;
use chat_template::internal::REASONING_FIELDS;
use chat_template::internal::is_reserved_name;
use chat_template::json::{Data, Object};

/// Returns the template and the context of a render with the output of this `apply`.
///
/// # Errors
/// Returns a message that names the argument that only an `apply` can process, if there is no such render.
pub fn lower(apply: &Object<'static>) -> Result<[Entry<'static>; 2], String> {
    let given = |name: &str| apply.get(name).filter(|value| **value != Data::None);
    if given("continue_final_message").is_some_and(|value| *value != Data::Bool(false)) {
        return Err("`continue_final_message` needs an `apply`".to_owned());
    }
    let mut context: Vec<Entry<'static>> = vec![("messages".into(), messages(given("messages"))?)];
    for name in ["tools", "documents"] {
        context.push((name.into(), objects(name, given(name))?));
    }
    let flag = apply.get("add_generation_prompt").cloned();
    context.push(("add_generation_prompt".into(), flag.unwrap_or(Data::Bool(false))));
    for (name, token) in entries("special_tokens", given("special_tokens"))? {
        match token {
            Data::None => {}
            Data::Str(_) if !is_reserved_name(name) => context.push((name.clone(), token.clone())),
            _ => return Err(format!("the special token {name:?} needs an `apply`")),
        }
    }
    for (name, value) in entries("variables", given("variables"))? {
        if is_reserved_name(name) {
            return Err(format!("the variable {name:?} needs an `apply`"));
        }
        context.push((name.clone(), value.clone()));
    }
    Ok([
        ("template".into(), template(apply)?),
        ("context".into(), Data::Object(Object::new(context))),
    ])
}

/// Returns the template that `get_chat_template` chooses.
fn template(apply: &Object<'static>) -> Result<Data<'static>, String> {
    let has = |name: &str| apply.get(name).is_some_and(|value| *value != Data::None);
    let chosen = match (apply.get("template"), apply.get("template_name")) {
        (Some(Data::Object(named)), Some(Data::Str(name))) if named.get(name).is_some() => named.get(name),
        // A name that no template has is itself a template.
        (_, source @ Some(Data::Str(_))) => source,
        (Some(Data::Object(named)), _) => {
            let tool_use = named.get("tool_use").filter(|_| has("tools"));
            tool_use.or_else(|| named.get("default"))
        }
        (source, _) => source,
    };
    match chosen {
        Some(Data::Str(source)) => Ok(Data::Str(source.clone())),
        _ => Err("the model has no such template".to_owned()),
    }
}

/// Returns the messages as a template sees them: without keys whose value is null, and with reasoning under each name that
/// templates read.
fn messages(messages: Option<&Data<'static>>) -> Result<Data<'static>, String> {
    let fault = || "the messages are not a list of objects".to_owned();
    let Some(Data::List(messages)) = messages.filter(|messages| **messages != Data::List(Vec::new())) else {
        return Err(fault());
    };
    let message = |message: &Data<'static>| match message {
        Data::Object(message) => Ok(with_reasoning(message)),
        _ => Err(fault()),
    };
    Ok(Data::List(messages.iter().map(message).collect::<Result<_, _>>()?))
}

fn with_reasoning(message: &Object<'static>) -> Data<'static> {
    let mut entries: Vec<Entry<'static>> = message.entries().to_vec();
    entries.retain(|(_, value)| *value != Data::None);
    let present = |name: &&str| entries.iter().find(|(key, _)| key == name);
    if let Some((_, reasoning)) = REASONING_FIELDS.iter().find_map(present).cloned() {
        // For equal keys, an object keeps the place of the first and the value of the last.
        entries.insert(0, (Cow::Borrowed("thinking"), reasoning.clone()));
        entries.push((Cow::Borrowed("reasoning_content"), reasoning));
    }
    Data::Object(Object::new(entries))
}

/// Returns a list of objects, or null.
fn objects(name: &str, value: Option<&Data<'static>>) -> Result<Data<'static>, String> {
    match value {
        None => Ok(Data::None),
        Some(Data::List(items)) if items.iter().all(|item| matches!(item, Data::Object(_))) => Ok(Data::List(items.clone())),
        Some(_) => Err(format!("`{name}` is not a list of objects")),
    }
}

/// Returns the entries of an object, or an empty list if there is no object.
fn entries<'o>(name: &str, value: Option<&'o Data<'static>>) -> Result<&'o [Entry<'static>], String> {
    match value {
        None => Ok(&[]),
        Some(Data::Object(object)) => Ok(object.entries()),
        Some(_) => Err(format!("`{name}` is not an object")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::write_line;
    use super::*;
    use chat_template::json;

    fn lowered(apply: &str) -> Result<String, String> {
        let Data::Object(apply) = json::read(apply).unwrap().into_owned() else {
            panic!("it is an object");
        };
        lower(&apply).map(|entries| write_line::of(entries.to_vec()))
    }

    #[test]
    fn a_call_is_a_template_and_a_context() {
        let apply = r#"{"template": {"default": "D", "tool_use": "T"}, "messages": [{"role": "a", "x": null, "reasoning": "R"}], "tools": [],
            "special_tokens": {"bos_token": "<s>", "eos_token": null}, "variables": {"bos_token": "own"}}"#;
        let context = r#"{"messages":[{"thinking":"R","role":"a","reasoning":"R","reasoning_content":"R"}],"tools":[],"documents":null,"add_generation_prompt":false,"bos_token":"own"}"#;
        assert_eq!(lowered(apply), Ok(format!(r#"{{"template":"T","context":{context}}}"#)));
    }

    #[test]
    fn a_call_that_fails_is_not_lowered() {
        for (arguments, fault) in [
            (
                r#""messages": [{}], "continue_final_message": true"#,
                "continue_final_message",
            ),
            (r#""messages": []"#, "messages"),
            (r#""messages": [{}], "tools": [1]"#, "tools"),
            (r#""messages": [{}], "variables": {"tools": 1}"#, "\"tools\""),
        ] {
            let apply = format!(r#"{{"template": "T", {arguments}}}"#);
            assert!(lowered(&apply).unwrap_err().contains(fault), "{apply}");
        }
        assert!(lowered(r#"{"template": {"tool_use": "T"}, "messages": [{}]}"#).is_err());
    }
}
