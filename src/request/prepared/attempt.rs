//! Renders a request by the plan that was found, or by another one if the prompt has faults that are new.

use super::Request;
use crate::chat::{ControlPolicy, ControlTokens, Prompt, PromptOptions};
use crate::error::Result;
use crate::meter::Meter;
use crate::request::change::Change;
use crate::request::judge::{Faults, judge};
use crate::request::memory::Found;
use crate::request::places::BodyPlace;
use crate::request::plan::{Kinds, Plan, kind};
use crate::request::search::{Search, kinds_of};
use crate::request::write::Written;
use crate::trace::Keeps;

/// A render of a request, whose faults are compared with those for which its plan was found.
pub(super) struct Attempt<'r, 'b, 'm> {
    pub request: &'r Request<'b>,
    pub found: &'r Found,
    pub options: &'r PromptOptions<'r>,
    pub meter: &'r mut Meter<'m>,
}

impl<'b> Attempt<'_, 'b, '_> {
    /// Returns the prompt of what a plan wrote and its changes, or `None` if the template refuses it or the prompt has other faults.
    pub fn render(&mut self, plan: Plan, written: &Written<'b>) -> Result<Option<(Prompt, Vec<Change>)>> {
        let (request, options) = (self.request, self.options);
        let kept = [Keeps::Addresses, Keeps::Sources];
        for keeps in kept.into_iter().skip(usize::from(self.found.needs_trace)) {
            let prompt = match request.render(written, options, keeps, self.meter) {
                Ok(prompt) => prompt,
                Err(error) => {
                    // A control token that is refused is no fault of the plan.
                    let options = without_refusal(options);
                    let is_taken = request.render(written, &options, Keeps::Nothing, self.meter).is_ok();
                    return if is_taken { Err(error) } else { Ok(None) };
                }
            };
            let Some(mut faults) = judge(request, &prompt, written, self.meter)? else {
                continue;
            };
            faults.extend(&written.given_up);
            // Another plan can have places for other media.
            if plan.media == self.found.plan.media && !self.found.judges_media {
                faults.extend(written.list_lost(self.found.lost_media));
            } else {
                let lost = Search::new(request, options, self.meter).find_lost_media(&prompt, written);
                faults.extend(lost.faults(written));
            }
            if !self.expects(kinds_of(&faults)) {
                break;
            }
            faults.extend(self.list_known());
            return self.finish(prompt, written, &faults).map(Some);
        }
        Ok(None)
    }

    /// Returns the plan that is best for this request, its prompt and its changes.
    pub fn search(&mut self) -> Result<(Plan, Prompt, Vec<Change>)> {
        let request = self.request;
        let options = without_refusal(self.options);
        let mut outcome = Search::new(request, &options, self.meter).improve(self.found.plan)?;
        if let Some(refusal) = outcome.refusal {
            return Err(refusal.error);
        }
        outcome.faults.extend(self.list_known());
        let written = request.write(&outcome.plan, self.meter)?;
        let prompt = request.render(&written, self.options, Keeps::Nothing, self.meter)?;
        let (prompt, changes) = self.finish(prompt, &written, &outcome.faults)?;
        Ok((outcome.plan, prompt, changes))
    }

    /// Returns the faults of the plan that the prompt does not show.
    fn list_known(&self) -> impl Iterator<Item = (Kinds, BodyPlace)> + use<> {
        let faults = self.found.faults;
        let settings = [kind::EFFORT, kind::THINKING].into_iter();
        settings
            .filter(move |kind| faults & kind != 0)
            .map(|kind| (kind, BodyPlace::BODY))
    }

    /// Returns whether a prompt has no faults of other kinds than that for which the plan was found.
    fn expects(&self, faults: Kinds) -> bool {
        faults & !(self.found.faults | kind::FIELD | kind::DOCUMENT) == 0
    }

    fn finish(&self, prompt: Prompt, written: &Written<'b>, faults: &Faults) -> Result<(Prompt, Vec<Change>)> {
        let changes = self.request.list_changes(written, faults);
        self.request.check_policy(&changes)?;
        Ok((prompt, changes))
    }
}

/// Returns the options without the policy that refuses control tokens.
pub(super) fn without_refusal<'o>(options: &PromptOptions<'o>) -> PromptOptions<'o> {
    let refuses = options.control_tokens.policy == ControlPolicy::Refuse;
    options.with_control_tokens(if refuses {
        ControlTokens::default()
    } else {
        options.control_tokens
    })
}
