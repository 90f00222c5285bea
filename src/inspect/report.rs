//! The report on a template, whose parts are made when they are first read.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer, ser::Error as _};
use serde_json::Value;

use super::inspection::Inspection;
use crate::chat::ChatTemplate;
use crate::deadline::Bounds;
use crate::error::{Error, ErrorClass, Result};
use crate::meter::Meter;
use crate::report::{
    Alternation, Calls, Finding, GenerationPrompt, Media, Prefix, Reads, Reasoning, Response, Roles, Switch, System, Tools, Witness,
};

/// What a template takes, as experiments with small conversations show.
///
/// A part is made when it is first read, and then shared by all reports on the template and its clones. Each verdict of an experiment has a
/// witness: the conversation that shows it.
///
/// # Errors
/// Each function fails if it has to make a part and reaches a limit of [`ChatTemplate::inspect`]. The limits count from zero for each
/// call, and include the parts on which the part depends. A part that is made does not depend on the limits.
///
/// Serializing a report makes all parts. Call [`Report::complete`] before, which returns the error of a limit.
#[derive(Clone, Debug)]
pub struct Report<'o> {
    pub(super) template: ChatTemplate,
    pub(super) bounds: Bounds<'o>,
}

/// Declares the struct of all parts and the functions that read a part, from a table. A row is a part with its type, the place where an
/// inspection stores it, and its docs. The rows are in the order of the report.
macro_rules! parts {
    ($($name:ident: $type:ty = $part:ident $(.$field:tt)?, $docs:literal;)*) => {
        #[expect(clippy::missing_errors_doc, reason = "the errors of all functions are in the docs of the type")]
        impl Report<'_> {
            /// Returns a verdict or a part by its path, such as `roles.user.parts`, as the type that the caller wants: one of its own with
            /// the fields that it needs, or [`serde_json::Value`]. An item of a list is named by its index, or by its `name`. The part is
            /// made if that was not done before.
            ///
            /// It is also an error if the report has no such path, or if what is there does not have the type. A misspelled field is
            /// therefore never taken for a verdict that is missing.
            ///
            /// ```
            /// use chat_template::{Bounds, ChatTemplate};
            ///
            /// /// What a server wants to know.
            /// #[derive(serde::Deserialize)]
            /// struct Tools {
            ///     description: String,
            /// }
            ///
            /// let source = "{% for t in tools %}{{ t|tojson }}{% endfor %}{% for m in messages %}{{ m.content }}{% endfor %}";
            /// let template = ChatTemplate::from_source(source, &[])?;
            /// let report = template.inspect(Bounds::default())?;
            /// assert_eq!(report.get::<Tools>("tools")?.description, "printed");
            /// assert!(report.get::<String>("tools.descripton").is_err());
            /// # Ok::<(), chat_template::Error>(())
            /// ```
            ///
            /// | part | what it is about |
            /// |---|---|
            $(#[doc = concat!("| `", stringify!($name), "` | ", $docs, " |")])*
            pub fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
                let (part, rest) = path.split_once('.').unwrap_or((path, ""));
                let part = match part {
                    $(stringify!($name) => self.read(|inspection| {
                        Ok(serde_json::to_value(&inspection.$part()?.verdicts$(.$field)?).ok())
                    })?,)*
                    _ => None,
                };
                let steps = rest.split('.').filter(|step| !step.is_empty());
                let value = steps.fold(part, |value, step| take_member(value?, step));
                let refuse = |message: String| Error::value(message).with_class(ErrorClass::Request).without_line();
                let value = value.ok_or_else(|| refuse(format!("the report has no `{path}`")))?;
                serde_json::from_value(value).map_err(|error| refuse(format!("`{path}` of the report: {error}")))
            }

            $(
                #[doc = concat!($docs, ".")]
                #[cfg(feature = "internal")]
                #[doc(hidden)]
                pub fn $name(&self) -> Result<&$type> {
                    self.read(|inspection| Ok(&inspection.$part()?.verdicts$(.$field)?))
                }
            )*

            fn parts(&self) -> Result<Parts<'_>> {
                self.read(|inspection| {
                    Ok(Parts {
                        $($name: &inspection.$part()?.verdicts$(.$field)?,)*
                        witnesses: inspection.witnesses()?,
                    })
                })
            }
        }

        #[derive(Serialize)]
        struct Parts<'r> {
            $($name: &'r $type,)*
            witnesses: &'r BTreeMap<String, Witness>,
        }
    };
}

parts! {
    roles: Roles = basics.roles, "The forms of the content of each role's messages";
    media: Media = media, "Images, audio and video in the content of a user message";
    system: System = orders.0, "The places at which a system message is possible";
    alternation: Alternation = orders.1, "The orders of roles that the template takes";
    tools: Tools = basics.tools, "The tools that a conversation can use";
    calls: Calls = basics.calls, "Calls of tools and their results";
    reasoning: Reasoning = reasoning, "The reasoning of assistant messages";
    generation_prompt: GenerationPrompt = generation_prompt, "The text that `add_generation_prompt` appends";
    response: Response = response, "How the model writes its message, as transformers reads it under `response_template`";
    switches: Vec<Switch> = switches, "The variables of the caller that change the prompt";
    reads: Reads = reads, "The names that the source of the template reads";
    prefix: Prefix = prefix, "Whether the prompt stays a prefix when the conversation grows";
    lint: Vec<Finding> = lint, "Faults in the sources of the templates";
}

/// Returns a member of an object by its key, or an item of a list by its index or its name.
fn take_member(value: Value, step: &str) -> Option<Value> {
    match value {
        Value::Object(mut members) => members.shift_remove(step),
        Value::Array(mut items) => {
            let is_named = |item: &Value| item.get("name").and_then(Value::as_str) == Some(step);
            let index = step.parse().ok().or_else(|| items.iter().position(is_named))?;
            (index < items.len()).then(|| items.swap_remove(index))
        }
        _ => None,
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "the errors of all functions are in the docs of the type"
)]
impl Report<'_> {
    /// Makes parts, or reads them, within the bounds of one call.
    fn read<'r, T>(&'r self, read: impl FnOnce(&mut Inspection<'r, '_>) -> Result<T>) -> Result<T> {
        let deadline = self.bounds.start();
        let meter = Meter::within(self.bounds, &deadline);
        read(&mut Inspection::new(&self.template, &meter))
    }

    /// Returns the conversation that shows a verdict, by the path of the verdict in the report: `roles.user.parts`.
    ///
    /// ```
    /// use chat_template::{Bounds, ChatTemplate, Witness};
    ///
    /// let template = ChatTemplate::from_source("{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}", &[])?;
    /// let report = template.inspect(Bounds::default())?;
    /// assert_eq!(report.get::<String>("roles.system.string")?, "printed");
    /// let witness: Witness = report.witness("roles.system.string")?.expect("the verdict has one");
    /// assert!(witness.output.is_some_and(|prompt| prompt.starts_with("system: ")));
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    pub fn witness(&self, path: &str) -> Result<Option<Witness>> {
        self.read(|inspection| inspection.witness(path))
    }

    /// Returns the conversation that shows each verdict, by the path of the verdict. This makes all parts with experiments.
    pub fn witnesses(&self) -> Result<&BTreeMap<String, Witness>> {
        self.read(|inspection| inspection.witnesses())
    }

    /// Makes all parts, within the limits for all of them together.
    pub fn complete(&self) -> Result<()> {
        self.parts().map(drop)
    }
}

impl Serialize for Report<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let parts = self.parts().map_err(S::Error::custom)?;
        parts.serialize(serializer)
    }
}
