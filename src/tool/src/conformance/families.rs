//! The cases of whole conversations, whose templates are files and whose conversations are shared.
//!
//! ```text
//! {"template": "@chatml.jinja", "messages": "@greeting"}   ->   {"template": "{%- for …", "messages": [{"role": "user", …
//! ```
//!
//! In such a case a string that begins with `@` is the name of a file of tests/cases/families, or of a value of its `shared.json`.
//! Names are replaced in `template`, `context` and `apply`, also within objects, but not within lists.

use std::borrow::Cow;

use chat_template::json::{self, Data, Object};

/// The keys of a case that can contain names. The expected answer cannot.
const NAMING: [&str; 3] = ["template", "context", "apply"];

/// Lists the files of families: each family has a file of cases and a template.
macro_rules! families {
    ($($name:literal),* $(,)?) => {
        /// The files of cases: their names and contents.
        pub const FAMILIES: &[(&str, &str)] = &[$((
            concat!("families/", $name, ".jsonl"),
            include_str!(concat!("../../cases/families/", $name, ".jsonl")),
        )),*];

        /// The templates with the names that cases use.
        const TEMPLATES: &[(&str, &str)] = &[$((
            concat!("@", $name, ".jinja"),
            include_str!(concat!("../../cases/families/", $name, ".jinja")),
        )),*];
    };
}

families! {
    "chatml", "codellama-70b", "command-r", "command-r-rag", "command-r-tool-use", "deepseek-r1", "deepseek-v2",
    "deepseek-v3", "exaone", "falcon", "firefunction", "functionary", "gemma", "gemma-3", "gemma-4", "glm-4", "glm-4.5",
    "gpt-oss", "granite-3", "granite-3.3", "hermes", "idefics", "jamba", "kimi-k2", "kimi-k2-queue", "lfm2", "llama-2",
    "llama-3", "llama-3-training", "llama-3.1", "llama-3.2-vision", "llama-4", "llava", "minimax-m1", "minimax-m2",
    "mistral-nemo", "mistral-v1", "mistral-v13", "mistral-v3", "mistral-v7", "nemotron", "olmo", "phi-3",
    "phi-3.5-vision", "phi-4", "phi-4-mini", "pixtral", "qwen2", "qwen2-vl", "qwen2.5", "qwen2.5-training", "qwen3",
    "qwen3-coder", "qwen3.5", "seed-oss", "smollm3", "smolvlm", "vicuna", "zephyr",
}

/// The shared values, by the names that cases use.
pub struct Shared(Data<'static>);

impl Shared {
    /// Reads the values that are embedded in the binary.
    ///
    /// # Errors
    /// Returns a message if they are not JSON.
    pub fn embedded() -> Result<Self, String> {
        let text = include_str!("../../cases/families/shared.json");
        let shared = json::read(text).map_err(|error| format!("families/shared.json: {error}"))?;
        Ok(Self(shared.into_owned()))
    }

    /// Replaces the names in a case by their values.
    ///
    /// # Errors
    /// Returns a message if a name has no value.
    pub fn spell_out(&self, case: Object<'static>) -> Result<Object<'static>, String> {
        let entry = |(key, value): (Cow<'static, str>, Data<'static>)| {
            let value = if NAMING.contains(&&*key) { self.value(value)? } else { value };
            Ok((key, value))
        };
        Ok(Object::new(
            case.into_entries().into_iter().map(entry).collect::<Result<_, String>>()?,
        ))
    }

    /// Replaces the names in a value. They can be in objects, not in lists. The reader has bounded the nesting depth.
    fn value(&self, value: Data<'static>) -> Result<Data<'static>, String> {
        match value {
            Data::Str(name) if name.starts_with('@') => self.named(&name),
            Data::Object(object) => {
                let entry = |(key, value)| Ok((key, self.value(value)?));
                let entries = object.into_entries().into_iter().map(entry).collect::<Result<_, String>>()?;
                Ok(Data::Object(Object::new(entries)))
            }
            other => Ok(other),
        }
    }

    fn named(&self, name: &str) -> Result<Data<'static>, String> {
        let template = TEMPLATES.iter().find(|(other, _)| *other == name);
        let value = match (&self.0, template) {
            (_, Some((_, source))) => Some(Data::Str(Cow::Borrowed(source))),
            (Data::Object(shared), None) => name.strip_prefix('@').and_then(|name| shared.get(name)).cloned(),
            (_, None) => None,
        };
        value.ok_or_else(|| format!("{name:?} is neither a file of families nor a name in families/shared.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_replaced_in_the_places_of_arguments() {
        let Data::Object(greeting) = json::read(r#"{"greeting": [{"role": "user", "content": "@x"}]}"#)
            .unwrap()
            .into_owned()
        else {
            panic!("an object was read")
        };
        let shared = Shared(Data::Object(greeting));
        let spelled = |line: &str| {
            let Data::Object(line) = json::read(line).unwrap().into_owned() else {
                panic!("an object was read")
            };
            let mut written = String::new();
            // Writing to a string cannot fail.
            let _ = chat_template::internal::write_data(&Data::Object(shared.spell_out(line)?), &mut written);
            Ok::<_, String>(written)
        };
        assert_eq!(
            spelled(r#"{"rule": "@x", "apply": {"messages": "@greeting"}}"#).unwrap(),
            r#"{"rule":"@x","apply":{"messages":[{"role":"user","content":"@x"}]}}"#
        );
        assert!(spelled(r#"{"template": "@chatml.jinja"}"#).unwrap().contains("im_start"));
        assert!(
            spelled(r#"{"template": "@x"}"#)
                .unwrap_err()
                .contains("\"@x\" is neither a file")
        );
    }
}
