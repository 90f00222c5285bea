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
mod literals;
mod plant;
mod prefix;
mod reads;
mod reasoning;
mod roles;
mod switches;
mod takes;

use std::sync::Arc;

use crate::chat::ChatTemplate;
use crate::error::Result;
use crate::limits::Limits;
use crate::report::Report;
use lab::Lab;

impl ChatTemplate {
    /// Returns what the template takes, as experiments with small conversations show. The report is made once, and then shared.
    ///
    /// # Errors
    /// If the model has no template, if a template does not compile, and if the experiments reach a limit.
    pub fn inspect(&self) -> Result<Arc<Report>> {
        self.inspect_with(&Limits::default())
    }

    /// Returns what the template takes, within limits that all experiments together keep.
    ///
    /// # Errors
    /// See [`ChatTemplate::inspect`].
    pub fn inspect_with(&self, limits: &Limits) -> Result<Arc<Report>> {
        self.report_or_make(|| {
            self.check()?;
            let mut lab = Lab::new(self, limits);
            let mut report = Report {
                reads: reads::find(self),
                ..Report::default()
            };
            let forms = roles::inspect(&mut lab, &mut report)?;
            roles::inspect_tools(&mut lab, &mut report, &forms)?;
            report.takes = takes::inspect(&mut lab, &report)?;
            reasoning::inspect(&mut lab, &mut report, &forms)?;
            switches::inspect(&mut lab, &mut report, &forms)?;
            report.prefix = prefix::inspect(self, lab.deadline());
            lab.check_time()?;
            report.witnesses = lab.witnesses;
            Ok(report)
        })
    }
}
