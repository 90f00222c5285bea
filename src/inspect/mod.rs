//! Finds out by experiment what a template takes.
//!
//! ```text
//! {{ messages[0].content }}, content "tx3q7"                                   ->   printed
//! {{ messages[0].content }}, content [{"type": "text", "text": "tx3q7"}]       ->   repr
//! ```
//!
//! Small conversations, in which each text is a unique word, are rendered and searched for these words. The tree is read only for what no
//! render shows.

mod calls;
mod conversation;
mod experiments;
mod inspection;
mod lint;
mod literals;
mod plant;
mod prefix;
mod reads;
mod reasoning;
mod report;
mod response;
mod roles;
mod switches;

use crate::chat::{ApplyOptions, ChatTemplate};
use crate::deadline::Bounds;
use crate::error::Result;
pub use report::Report;

impl ChatTemplate {
    /// Returns what the template takes, as experiments with small conversations show. Each part of the report is made when it is first
    /// read, within the bounds for each call that makes parts. Limits higher than the default have an effect only on steps and time.
    ///
    /// ```
    /// use chat_template::{Bounds, ChatTemplate};
    ///
    /// let template = ChatTemplate::from_source(
    ///     "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}\
    ///      {% if add_generation_prompt %}<|assistant|>{% if not enable_thinking %}<think></think>{% endif %}{% endif %}",
    ///     &[],
    /// )?;
    /// let report = template.inspect(Bounds::default())?;
    /// assert_eq!(report.get::<String>("roles.user.content")?, "string");
    /// assert!(report.get::<serde_json::Value>("switches.enable_thinking").is_ok());
    ///
    /// // Content that is a list of parts reaches the prompt in Python's notation, and the witness shows it.
    /// assert_eq!(report.get::<String>("roles.user.parts")?, "repr");
    /// let witness = report.witness("roles.user.parts")?.unwrap();
    /// assert_eq!(witness.output.as_deref(), Some("<|user|>[{'type': 'text', 'text': 'vexolumiq'}]"));
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the model has no template, or if a template does not compile.
    pub fn inspect<'o>(&self, bounds: impl Into<Bounds<'o>>) -> Result<Report<'o>> {
        self.check_inspected()?;
        Ok(Report {
            template: self.clone(),
            bounds: bounds.into(),
        })
    }

    fn check_inspected(&self) -> Result<()> {
        self.check()?;
        if self.compiled().next().is_none() {
            // The error of `apply` says that there is no template.
            self.apply(&[serde_json::json!({})], &ApplyOptions::default())?;
        }
        Ok(())
    }

    /// Returns the names of the rules that the findings of a report are about.
    ///
    /// ```
    /// assert!(chat_template::ChatTemplate::lint_rules().any(|rule| rule == "python-method"));
    /// ```
    pub fn lint_rules() -> impl Iterator<Item = &'static str> {
        lint::RULES.iter().map(|rule| rule.name)
    }
}
