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
mod conversations;
mod lab;
mod lint;
mod literals;
mod plant;
mod prefix;
mod reads;
mod reasoning;
mod roles;
mod switches;
mod takes;

use std::sync::Arc;

use crate::chat::{ApplyOptions, ChatTemplate};
use crate::deadline::Bounds;
use crate::error::Result;
use crate::limits::Limits;
use crate::meter::Meter;
use crate::report::Report;
pub(crate) use calls::prints_python_arguments;
use lab::Lab;

impl ChatTemplate {
    /// Returns what the template takes, as experiments with small conversations show. The report is made once, and then shared.
    ///
    /// ```
    /// use chat_template::ChatTemplate;
    /// use chat_template::report::{Content, Outcome};
    ///
    /// let template = ChatTemplate::from_source(
    ///     "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}\
    ///      {% if add_generation_prompt %}<|assistant|>{% if not enable_thinking %}<think></think>{% endif %}{% endif %}",
    ///     &[],
    /// );
    /// let report = template.inspect()?;
    /// assert_eq!(report.roles.user.content, Content::String);
    /// assert_eq!(report.switches[0].name, "enable_thinking");
    ///
    /// // Content that is a list of parts reaches the prompt in Python's notation, and the witness shows it.
    /// assert_eq!(report.roles.user.parts, Outcome::Repr);
    /// let witness = report.witness("roles.user.parts").unwrap();
    /// assert_eq!(witness.output.as_deref(), Some("<|user|>[{'type': 'text', 'text': 'vexolumiq'}]"));
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the model has no template, if a template does not compile, or if the experiments together use up the steps or the time.
    pub fn inspect(&self) -> Result<Arc<Report>> {
        self.inspect_with(Bounds::default())
    }

    /// Returns what the template takes, within limits for all experiments together. A report made under limits lower than the default is
    /// shared only if no experiment reached them.
    ///
    /// # Errors
    /// See [`ChatTemplate::inspect`].
    pub fn inspect_with<'o>(&self, bounds: impl Into<Bounds<'o>>) -> Result<Arc<Report>> {
        let bounds = bounds.into();
        self.inspect_within(&Meter::within(bounds, &bounds.start()))
    }

    /// Returns what the template takes, within the limits, the deadline and the flag of a meter.
    pub(crate) fn inspect_within(&self, meter: &Meter<'_>) -> Result<Arc<Report>> {
        self.report_or_make(|| {
            self.check()?;
            if self.compiled().next().is_none() {
                // The error of `apply` says that there is no template.
                self.apply(&[serde_json::json!({})], &ApplyOptions::default())?;
            }
            let limits = meter.limits();
            let mut lab = Lab::new(self, meter);
            let mut report = Report {
                reads: reads::find(self, &lab)?,
                ..Report::default()
            };
            lab.add_needed_tools()?;
            let forms = roles::inspect(&mut lab, &mut report)?;
            roles::inspect_tools(&mut lab, &mut report, &forms)?;
            report.takes = takes::inspect(&mut lab, &report)?;
            reasoning::inspect(&mut lab, &mut report, &forms)?;
            switches::inspect(&mut lab, &mut report, &forms)?;
            report.prefix = prefix::inspect(&mut lab);
            report.lint = lint::inspect(&mut lab)?;
            lab.check_time()?;
            report.witnesses = lab.witnesses;
            let usual = Limits::default();
            // A report that reaches the deadline is an error, so a finished one does not depend on the time.
            let others = limits.clone().with_milliseconds(usual.milliseconds).with_steps(usual.steps);
            let has_steps = !lab.is_short_of_steps || limits.steps >= usual.steps;
            let is_shared = has_steps && (!lab.is_limited || !others.has_lower_than(&usual));
            Ok((report, is_shared))
        })
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
