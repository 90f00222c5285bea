//! A prepared request: how it is written for a template, its prompt, and its changes.

mod fit;
mod places;
mod request;

pub use fit::CountTokens;
pub(super) use request::Request;

use std::ops::Range;

use serde::Serialize;

use request::is_kept;

use super::change::Change;
use super::format::Format;
use super::judge::Faults;
use super::memory::Found;
#[cfg(feature = "response")]
use super::normal::ToolForm;
use super::options::{Policy, PrepareOptions};
use super::places::BodyPlace;
use super::plan::{Plan, kind};
use super::search::{Search, kinds_of};
use super::write::{Given, Written};
use crate::chat::{Append, ChatTemplate, ControlPolicy, ControlTokens, Prompt, PromptOptions};
use crate::error::Result;
use crate::json::Data;
use crate::meter::Meter;
use crate::template::Input;
use crate::trace::Keeps;

/// A request as it is written for a template. It borrows from the body and the template.
#[derive(Debug)]
pub struct Prepared<'b> {
    pub(crate) request: Request<'b>,
    pub(super) found: Found,
    pub(crate) written: Written<'b>,
}

/// An image, a sound, a video or a file of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Media {
    /// The JSON pointer of the part in the body.
    pub path: String,
    /// What it is: `image`, `audio`, `video` or `file`.
    pub kind: &'static str,
    /// The index of the message that the template gets.
    pub message: usize,
    /// The bytes of its placeholder in the prompt, if they are known ([`Prepared::place_media`]).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<Range<usize>>,
}

impl ChatTemplate {
    /// Prepares the body of a chat request ([`prepare_with`](Self::prepare_with)) with the default options.
    ///
    /// # Errors
    /// Those of [`prepare_with`](Self::prepare_with).
    pub fn prepare<'b>(&'b self, body: &'b Data<'b>) -> Result<Prepared<'b>> {
        self.prepare_with(body, &PrepareOptions::default())
    }

    /// Prepares the body of a chat request: finds how it has to be written for this template, by renders of a sketch of this request, which
    /// has other words. If the sketch is known from an earlier request, the first render of [`Prepared::render`] is the only one. Earlier
    /// requests change nothing else.
    ///
    /// # Errors
    /// If the body has none of the formats or names content that is stored elsewhere, and if the template takes the request in no form.
    /// A request whose sketch the template takes is not rendered here, so [`Prepared::render`] returns the error if the template refuses
    /// it for its words.
    /// Errors about the body have the class [`Request`](crate::ErrorClass::Request) and its JSON pointer.
    pub fn prepare_with<'b>(&'b self, body: &'b Data<'b>, options: &PrepareOptions<'_>) -> Result<Prepared<'b>> {
        let deadline = options.bounds.start();
        let mut meter = Meter::within(options.bounds, &deadline).share_steps();
        let request = Request::read(self, body, options, &mut meter.renew())?;
        let found = request.find_plan(options, &mut meter)?;
        let written = if is_kept(body, request.format, request.policy) {
            let messages = body.get("messages").into_iter().flat_map(Data::items);
            let tools = body.get("tools").map(|tools| tools.items().map(Given::Borrowed));
            Written {
                messages: messages.map(Given::Borrowed).collect(),
                tools: tools.map(Iterator::collect),
                variables: request.variables.write(found.plan.settings).0,
                ..Written::default()
            }
        } else {
            request.write(&found.plan, &mut meter)?
        };
        let prepared = Prepared { found, written, request };
        if prepared.request.policy == Policy::Strict {
            prepared.request.check_policy(&prepared.list_changes())?;
        }
        Ok(prepared)
    }
}

impl<'b> Prepared<'b> {
    /// Returns the prompt and the changes of the body, among them each string that this prompt does not have.
    ///
    /// # Errors
    /// Those of [`ChatTemplate::apply`]. With [`Policy::Strict`], also if the prompt does not have a string of the body.
    pub fn render(&self) -> Result<(Prompt, Vec<Change>)> {
        self.render_with(&PromptOptions::default())
    }

    /// Returns the prompt and the changes of the body, with what the options want besides the text.
    ///
    /// # Errors
    /// Those of [`Prepared::render`].
    pub fn render_with(&self, options: &PromptOptions<'_>) -> Result<(Prompt, Vec<Change>)> {
        let deadline = options.render.bounds.start();
        let mut meter = Meter::within(options.render.bounds, &deadline).share_steps();
        let (_, prompt, changes) = self.render_by_plan(options, &mut meter)?;
        Ok((prompt, changes))
    }

    /// Returns the text to append to what the model has seen and written, as [`ChatTemplate::append`] does, and the changes of the body.
    /// The body is that of the whole conversation. It should be prepared with [`PrepareOptions::after`] the request before it.
    ///
    /// # Errors
    /// Those of [`Prepared::render`] and of [`ChatTemplate::append`].
    pub fn after(&self, seen: &str, sampled: Option<&str>, options: &PromptOptions<'_>) -> Result<(Append, Vec<Change>)> {
        let deadline = options.render.bounds.start();
        let mut meter = Meter::within(options.render.bounds, &deadline).share_steps();
        let (other, prompt, changes) = self.render_by_plan(&options.traced(sampled), &mut meter)?;
        let written = other.as_ref().unwrap_or(&self.written);
        let options = self.request.options(written, options);
        let template = self.request.template;
        let append = template.find_piece(&written.messages, prompt, (seen, sampled), &options, &mut meter)?;
        Ok((append, changes))
    }

    /// Returns the prompt and the changes, and what was written by another plan than the one that was found.
    fn render_by_plan(
        &self,
        options: &PromptOptions<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<(Option<Written<'b>>, Prompt, Vec<Change>)> {
        meter.claim_for_render(self.written.memory)?;
        let (request, plan) = (&self.request, self.found.plan);
        if request.policy == Policy::Exact {
            let prompt = request.render(&self.written, options, Keeps::Nothing, meter)?;
            return Ok((None, prompt, self.list_changes()));
        }
        // What the template refuses of the sketch it may take of this request.
        let neutral = request.settings.plan();
        if self.found.tries_neutral && plan.moves(&neutral) {
            let neutral = Plan {
                settings: plan.settings,
                ..neutral
            };
            let written = request.write(&neutral, meter)?;
            if let Some((prompt, changes)) = self.attempt(neutral, &written, options, meter)? {
                return Ok((Some(written), prompt, changes));
            }
        }
        if let Some((prompt, changes)) = self.attempt(plan, &self.written, options, meter)? {
            return Ok((None, prompt, changes));
        }
        let outcome = Search::new(request, &without_refusal(options), meter)
            .improve(plan)?
            .check()?;
        let written = request.write(&outcome.plan, meter)?;
        let prompt = request.render(&written, options, Keeps::Nothing, meter)?;
        let changes = self.finish(&written, outcome.faults)?;
        Ok((Some(written), prompt, changes))
    }

    /// Returns the prompt of what a plan wrote and its changes, or `None` if the template refuses it or the prompt has faults of other kinds
    /// than that for which the plan was found.
    fn attempt(
        &self,
        plan: Plan,
        written: &Written<'b>,
        options: &PromptOptions<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<Option<(Prompt, Vec<Change>)>> {
        let (request, found) = (&self.request, &self.found);
        let kept = [Keeps::Addresses, Keeps::Sources];
        for keeps in kept.into_iter().skip(usize::from(found.needs_trace)) {
            let (prompt, faults) = match request.judge(written, options, keeps, meter) {
                Ok(judged) => judged,
                Err(error) => {
                    // A control token that is refused is no fault of the plan.
                    let is_taken = request
                        .render(written, &without_refusal(options), Keeps::Nothing, meter)
                        .is_ok();
                    return if is_taken { Err(error) } else { Ok(None) };
                }
            };
            let Some(mut faults) = faults else { continue };
            // Another plan can have places for other media.
            if plan.media == found.plan.media && !found.judges_media {
                faults.extend(written.list_lost(found.lost_media));
            } else {
                let lost = Search::new(request, options, meter).find_lost_media(&prompt, written);
                faults.extend(lost.faults);
            }
            if kinds_of(&faults) & !(found.faults | kind::FIELD | kind::DOCUMENT) != 0 {
                break;
            }
            let changes = self.finish(written, faults)?;
            return Ok(Some((prompt, changes)));
        }
        Ok(None)
    }

    /// Returns the changes by the faults of a prompt, and by those of the plan that no prompt shows.
    fn finish(&self, written: &Written<'b>, mut faults: Faults) -> Result<Vec<Change>> {
        let settings = [kind::EFFORT, kind::THINKING].into_iter();
        let settings = settings.filter(|kind| self.found.faults & kind != 0);
        faults.extend(settings.map(|kind| (kind, BodyPlace::BODY)));
        let changes = self.request.list_changes(written, &faults);
        self.request.check_policy(&changes)?;
        Ok(changes)
    }

    /// Returns the format of the body.
    pub fn format(&self) -> Format {
        self.request.format
    }

    /// Returns the changes that are known before the render. [`Prepared::render`] also returns what the prompt does not have.
    pub fn list_changes(&self) -> Vec<Change> {
        self.request.list_changes(&self.written, &Faults::new())
    }

    /// Returns the images, sounds, videos and files that the template gets, in the order of the prompt.
    pub fn media(&self) -> Vec<Media> {
        let media = self.written.media.iter().map(|medium| Media {
            path: self.request.normal.places.pointer(medium.place),
            kind: medium.kind.name(),
            message: medium.message,
            range: None,
        });
        media.collect()
    }

    /// Returns the tools of the body: the name of each, the schema of its arguments, and the JSON pointer of the schema.
    #[cfg(feature = "response")]
    pub(crate) fn list_tools(&self) -> impl Iterator<Item = (&'b str, Option<&'b Data<'b>>, String)> {
        let normal = &self.request.normal;
        normal.tools.iter().map(|tool| {
            let is_wrapped = matches!(tool.form, ToolForm::Wrapped);
            let inner = if is_wrapped { "/function" } else { "" };
            let is_anthropic = tool.function.has("input_schema");
            let key = if is_anthropic { "input_schema" } else { "parameters" };
            let path = format!("{}{inner}/{key}", normal.places.pointer(tool.place));
            (tool.name, tool.parameters, path)
        })
    }

    /// Returns the messages that the template gets.
    pub fn messages(&self) -> &(impl Input + Serialize + use<'b>) {
        &self.written.messages
    }

    /// Returns the tools that the template gets, or null.
    pub fn tools(&self) -> &(impl Input + Serialize + use<'b>) {
        &self.written.tools
    }

    /// Returns the variables that the template gets, or null.
    pub fn variables(&self) -> &(impl Input + Serialize) {
        &self.written.variables
    }

    /// Returns whether the prompt ends with the beginning of an answer.
    pub fn add_generation_prompt(&self) -> bool {
        self.request.has_prompt
    }
}

/// Returns the options without the policy that refuses control tokens.
fn without_refusal<'o>(options: &PromptOptions<'o>) -> PromptOptions<'o> {
    let refuses = options.control_tokens.policy == ControlPolicy::Refuse;
    options.with_control_tokens(if refuses {
        ControlTokens::default()
    } else {
        options.control_tokens
    })
}
