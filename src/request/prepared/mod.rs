//! A prepared request: how it is written for a template, its prompt, and its changes.

mod attempt;
mod places;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use serde::Serialize;

use attempt::Attempt;
use foldhash::fast::RandomState;

use super::change::{Change, ChangeKind};
use super::format::{Format, find};
use super::judge::{Faults, judge};
use super::memory::{Found, Known, Memory};
use super::normal::Normal;
use super::options::{Policy, PrepareOptions, Settings};
use super::places::BodyPlace;
use super::plan::{Plan, kind};
use super::search::{Outcome, Search};
use super::sketch::{self, Rest, Sketch};
use super::variables::{self, Variables};
use super::write::{Given, Written, write};
use super::{read, wrong};
use crate::chat::{Append, ApplyOptions, ChatTemplate, ContinueFinalMessage, Prompt, PromptOptions};
use crate::clock::LocalTime;
use crate::error::{Error, ErrorKind, Result};
use crate::json::Data;
use crate::meter::Meter;
use crate::template::Input;
use crate::trace::Keeps;

/// A request as it is written for a template. It borrows from the body and the template.
#[derive(Debug)]
pub struct Prepared<'b> {
    request: Request<'b>,
    pub(super) found: Found,
    written: Written<'b>,
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

/// What is rendered, apart from how it is written.
#[derive(Debug)]
pub(super) struct Request<'b> {
    pub template: &'b ChatTemplate,
    pub format: Format,
    policy: Policy,
    pub settings: Settings,
    pub normal: Normal<'b>,
    documents: Option<&'b Data<'b>>,
    pub variables: Variables<'b>,
    pub has_prompt: bool,
    continue_final_message: ContinueFinalMessage<'b>,
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
            Written {
                messages: body
                    .get("messages")
                    .into_iter()
                    .flat_map(Data::items)
                    .map(Given::Borrowed)
                    .collect(),
                tools: body.get("tools").map(|tools| tools.items().map(Given::Borrowed).collect()),
                variables: variables::read_exact(body),
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
        let (plan, prompt, changes) = self.render_by_plan(&options.traced(sampled), &mut meter)?;
        let other;
        let written = if plan == self.found.plan {
            &self.written
        } else {
            other = self.request.write(&plan, &mut meter)?;
            &other
        };
        let options = self.request.options(written, options);
        let template = self.request.template;
        let append = template.find_piece(&written.messages, prompt, (seen, sampled), &options, &mut meter)?;
        Ok((append, changes))
    }

    /// Returns the plan by which the body was written in the end, the prompt and the changes.
    fn render_by_plan(&self, options: &PromptOptions<'_>, meter: &mut Meter<'_>) -> Result<(Plan, Prompt, Vec<Change>)> {
        meter.claim_for_render(self.written.memory)?;
        let request = &self.request;
        if request.policy == Policy::Exact {
            let prompt = request.render(&self.written, options, Keeps::Nothing, meter)?;
            return Ok((self.found.plan, prompt, self.list_changes()));
        }
        let mut attempt = Attempt {
            request,
            found: &self.found,
            options,
            meter,
        };
        // What the template refuses of the sketch it may take of this request.
        let neutral = request.settings.plan();
        if self.found.tries_neutral && self.found.plan.moves(&neutral) {
            let settings = self.found.plan.settings;
            let neutral = Plan { settings, ..neutral };
            let written = request.write(&neutral, attempt.meter)?;
            if let Some((prompt, changes)) = attempt.render(neutral, &written)? {
                return Ok((neutral, prompt, changes));
            }
        }
        if let Some((prompt, changes)) = attempt.render(self.found.plan, &self.written)? {
            return Ok((self.found.plan, prompt, changes));
        }
        attempt.search()
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
        let media = self.written.media.iter();
        let media = media.map(|medium| Media {
            path: self.request.normal.places.pointer(medium.place),
            kind: medium.kind.name(),
            message: medium.message,
            range: None,
        });
        media.collect()
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

/// The time while the plan of a sketch is searched.
static SKETCH_CLOCK: LazyLock<Option<LocalTime>> = LazyLock::new(|| LocalTime::new([2026, 1, 2], [3, 4, 5], 0).ok());

/// Returns whether the conversation is passed on as it is.
fn is_kept(body: &Data<'_>, format: Format, policy: Policy) -> bool {
    policy == Policy::Exact && format == Format::ChatCompletions && body.get("messages").is_some()
}

impl<'b> Request<'b> {
    fn read(template: &'b ChatTemplate, body: &'b Data<'b>, options: &PrepareOptions<'_>, meter: &mut Meter<'_>) -> Result<Self> {
        if !body.is_object() {
            let fault = format!("it must be an object with `messages` or `input`, and is {}", body.describe());
            return Err(wrong(String::new(), fault));
        }
        let format = match options.format {
            Some(format) => format,
            None => find(body)?,
        };
        let is_exact = options.policy == Policy::Exact;
        let is_kept = is_kept(body, format, options.policy);
        let mut normal = if is_kept {
            Normal::default()
        } else {
            read::read(body, format, meter)?
        };
        normal.refuses_tools &= !options.keeps_tools;
        let has_tools = !normal.tools.is_empty() && !normal.refuses_tools || is_kept && body.get("tools").is_some();
        let template = template.single(options.chat_template, has_tools);
        let variables = if is_kept {
            Variables::default()
        } else if is_exact {
            Variables::read_exact(body)?
        } else {
            Variables::read(template, body, meter)?
        };
        normal.has_settings = variables.has_settings();
        let read_option = |name| {
            if is_exact {
                Ok(body.get(name))
            } else {
                variables::read_option(body, name)
            }
        };
        let generation = read_option(variables::OPTIONS[0])?;
        let continuation = read_option(variables::OPTIONS[1])?;
        let continue_final_message = match continuation.map(|value| (value.text(), value.bool())) {
            Some((Some(field), _)) => ContinueFinalMessage::Field(field),
            Some((None, Some(true))) => ContinueFinalMessage::Content,
            None if normal.is_prefilled && generation.is_none() => ContinueFinalMessage::Content,
            _ => ContinueFinalMessage::No,
        };
        let has_prompt = match generation {
            Some(flag) => flag.bool() == Some(true),
            None => continue_final_message.field().is_none(),
        };
        let settings = Settings::new(options);
        Ok(Self {
            template,
            format,
            policy: options.policy,
            settings,
            documents: body.get("documents"),
            variables,
            has_prompt,
            continue_final_message,
            normal,
        })
    }

    pub fn write(&self, plan: &Plan, meter: &mut Meter<'_>) -> Result<Written<'b>> {
        let is_chat = self.format == Format::ChatCompletions;
        let mut written = write(&self.normal, plan, is_chat, &self.settings, meter)?;
        (written.variables, written.settings) = self.variables.write(plan.settings);
        Ok(written)
    }

    /// Renders what was written.
    pub fn render(&self, written: &Written<'b>, options: &PromptOptions<'_>, keeps: Keeps, meter: &Meter<'_>) -> Result<Prompt> {
        let options = self.options(written, options);
        self.template.apply_within(&written.messages, &options, keeps, meter)
    }

    /// Returns the options with the arguments of what was written.
    fn options<'o>(&'o self, written: &'o Written<'b>, options: &PromptOptions<'o>) -> ApplyOptions<'o> {
        ApplyOptions::default()
            .with_prompt(*options)
            .with_tools(&written.tools)
            .with_documents(&self.documents)
            .with_variables(&written.variables)
            .with_add_generation_prompt(self.has_prompt)
            .with_continue_final_message(self.continue_final_message)
    }

    /// Returns the plan of a request: that of its sketch, or else the best one that renders of the request show.
    fn find_plan(&self, options: &PrepareOptions<'_>, meter: &mut Meter<'_>) -> Result<Found> {
        if self.policy == Policy::Exact {
            return Ok(Found::default());
        }
        let after = options.after.map(|after| after.plan);
        if let Some(found) = self.find_sketched(after, meter)? {
            let allows_changes = self.policy != Policy::Strict;
            if allows_changes || found.plan == self.settings.plan() {
                return Ok(found);
            }
        }
        let outcome = self.search(after, &PromptOptions::default().with_clock(options.clock), meter)?;
        Ok(outcome.found())
    }

    /// Returns the plan of the sketch of a request, if it has one.
    fn find_sketched(&self, after: Option<Plan>, meter: &mut Meter<'_>) -> Result<Option<Found>> {
        let rest = Rest {
            format: self.format,
            policy: self.policy,
            settings: self.settings.clone(),
            variables: self.variables.describe(),
            continued: self.continue_final_message.field().map(str::to_owned),
            has_prompt: self.has_prompt,
            after,
            limits: sketch::list_limits(meter.limits()),
        };
        let memory: &Memory = self.template.kept();
        let has_tag = memory.has_tag(self.template.source().unwrap_or_default());
        let Some(sketch) = Sketch::new(&self.normal, self.documents, rest, has_tag, meter)? else {
            return Ok(None);
        };
        if let Some(known) = memory.find(&sketch) {
            meter.charge(known.steps)?;
            return Ok(known.found);
        }
        let before = meter.steps();
        let body = sketch.body();
        let found = match read::read(&body, Format::ChatCompletions, &mut meter.renew()) {
            Ok(mut normal) => {
                sketch.adjust(&mut normal);
                let request = Request {
                    normal,
                    documents: body.get("documents"),
                    variables: self.variables.clone(),
                    settings: self.settings.clone(),
                    ..*self
                };
                let mut options = PromptOptions::default();
                if let Some(clock) = &*SKETCH_CLOCK {
                    options = options.with_clock(clock);
                }
                let mut search = Search::new(&request, &options, meter);
                let outcome = search.run(after)?;
                let tries_neutral = search.refuses_neutral;
                match outcome.refusal {
                    Some(_) => None,
                    None => Some(Found {
                        tries_neutral,
                        needs_trace: request.needs_trace(&outcome, &options, meter)?,
                        ..outcome.found()
                    }),
                }
            }
            Err(error) if error.kind() == ErrorKind::Limit => return Err(error),
            Err(_) => None,
        };
        let steps = meter.steps().saturating_sub(before);
        memory.add(sketch, Known { found, steps });
        Ok(found)
    }

    /// Returns whether it takes a trace to judge the prompts of a plan: without one, the faults are doubtful or others.
    fn needs_trace(&self, outcome: &Outcome, options: &PromptOptions<'_>, meter: &mut Meter<'_>) -> Result<bool> {
        let written = self.write(&outcome.plan, meter)?;
        let prompt = self.render(&written, options, Keeps::Addresses, meter)?;
        let by_effect = kind::MEDIUM | kind::EFFORT | kind::THINKING;
        let list = |faults: &Faults| -> HashSet<_> {
            let shown = faults.iter().filter(|(kind, _)| kind & by_effect == 0);
            shown.copied().collect()
        };
        let mut faults = judge(self, &prompt, &written, meter)?;
        faults.iter_mut().for_each(|faults| faults.extend(&written.given_up));
        Ok(faults.is_none_or(|faults| list(&faults) != list(&outcome.faults)))
    }

    /// Searches the plan that is best for this request.
    fn search(&self, earlier: Option<Plan>, options: &PromptOptions<'_>, meter: &mut Meter<'_>) -> Result<Outcome> {
        let outcome = Search::new(self, options, meter).run(earlier)?;
        match outcome.refusal {
            None => Ok(outcome),
            Some(refusal) => Err(refusal.error),
        }
    }

    /// Returns an error about a message with the place of the message in the body.
    pub fn locate(&self, error: Error, written: &Written<'_>) -> Error {
        error.map_input_paths(|path| {
            let rest = path.strip_prefix("/messages/")?;
            let (index, field) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let place = self
                .normal
                .places
                .pointer(written.spoken.get(index.parse::<usize>().ok()?)?.place);
            // The fields of an item or a block have other names.
            let has_field = self.format == Format::ChatCompletions && place.matches('/').count() == 2;
            Some(if has_field { format!("{place}{field}") } else { place })
        })
    }

    /// Returns the changes of a body: those of the plan, and what the prompt does not have.
    fn list_changes(&self, written: &Written<'b>, faults: &Faults) -> Vec<Change> {
        let make = |place: BodyPlace, kind, reason: &'static str| Change::new(self.normal.places.pointer(place), kind, reason);
        let mut changes = written.settings.clone();
        let lost = faults.iter().filter(|(fault, _)| *fault == kind::MEDIUM);
        let lost: HashSet<BodyPlace, RandomState> = lost.map(|(_, place)| *place).collect();
        let own = written.changes.iter();
        let own = own.filter(|(place, kind, _)| *kind != ChangeKind::Renamed || !lost.contains(place));
        changes.extend(own.map(|(place, kind, reason)| make(*place, *kind, reason)));
        let dropped = written.changes.iter().filter(|change| change.1 == ChangeKind::Dropped);
        let dropped: HashSet<BodyPlace, RandomState> = dropped.map(|change| change.0).collect();
        let labelled: HashSet<BodyPlace, RandomState> = written.labelled.iter().copied().collect();
        let mut last = None;
        for (fault, place) in faults.iter().filter(|(_, place)| !labelled.contains(place)) {
            let (kind, reason) = match *fault {
                kind::ECHO => continue,
                kind::EFFORT | kind::THINKING => {
                    let path = self.variables.path(*fault).unwrap_or_default().to_owned();
                    let reason = "the prompt is the same with another value";
                    let change = Change::new(path, ChangeKind::Dropped, reason);
                    let is_known = changes.contains(&change);
                    changes.extend((!is_known).then_some(change));
                    continue;
                }
                kind::REPR => (
                    ChangeKind::Garbled,
                    "the template prints it in the notation of Python or JSON",
                ),
                kind::DOUBLE => (ChangeKind::Garbled, "the template encodes it a second time"),
                kind::LEAK => (ChangeKind::Garbled, "the template prints the data of the medium"),
                kind::ORDER => (ChangeKind::Moved, "the template prints the messages in another order"),
                kind::LATE => (ChangeKind::Moved, "the template prints the text after the result of the call"),
                kind::SPEAKER => (ChangeKind::Recast, "the template prints it as if the assistant had said it"),
                kind::TOOL => (ChangeKind::Dropped, "the template does not print this of a tool"),
                kind::CALL => (ChangeKind::Dropped, "the template does not print this of a call"),
                kind::THOUGHT => (ChangeKind::Dropped, "the template does not print this reasoning"),
                kind::MEDIUM => (ChangeKind::Dropped, "the template has no place for it"),
                _ => (ChangeKind::Dropped, "the prompt does not have the text"),
            };
            let is_known = kind == ChangeKind::Dropped && dropped.contains(place);
            if last.replace((*place, kind)) != Some((*place, kind)) && !is_known {
                changes.push(make(*place, kind, reason));
            }
        }
        changes
    }

    /// Returns an error for the first change, if the policy allows none.
    fn check_policy(&self, changes: &[Change]) -> Result<()> {
        match changes.first() {
            Some(change) if self.policy == Policy::Strict => {
                let (kind, reason) = (change.kind.name(), &change.reason);
                let message = format!("the policy allows no changes, and the value would be {kind}: {reason}");
                Err(wrong(change.path.clone(), message))
            }
            _ => Ok(()),
        }
    }
}
