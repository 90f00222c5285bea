//! Finds out by experiment what a template takes.
//!
//! ```text
//! {{ messages[0].content }}, content "tx3q7"                                   ->   printed
//! {{ messages[0].content }}, content [{"type": "text", "text": "tx3q7"}]       ->   repr
//! ```
//!
//! Small conversations, in which each text is a unique word, are rendered and searched for these words. The tree is read only for what no
//! render shows.

mod prefix;

use std::sync::Arc;

use crate::chat::ChatTemplate;
use crate::error::Result;
use crate::report::Report;

impl ChatTemplate {
    /// Returns what the template takes, as experiments with small conversations show. The report is made once, and then shared.
    ///
    /// # Errors
    /// If the model has no template, if a template does not compile, and if the experiments reach a limit.
    pub fn inspect(&self) -> Result<Arc<Report>> {
        self.report_or_make(|| {
            self.check()?;
            Ok(Report {
                prefix: prefix::inspect(self),
                ..Report::default()
            })
        })
    }
}
