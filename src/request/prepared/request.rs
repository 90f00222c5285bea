//! A request, apart from how it is written: its plan, its renders and its changes.

use std::collections::HashSet;
use std::sync::LazyLock;

use foldhash::fast::RandomState;

use crate::chat::{ApplyOptions, ChatTemplate, ContinueFinalMessage, Prompt, PromptOptions};
use crate::clock::LocalTime;
use crate::error::{Error, ErrorKind, Result};
use crate::json::Data;
use crate::meter::Meter;
use crate::request::change::{Change, ChangeKind};
use crate::request::constraints::{Constraints, ToolChoice};
use crate::request::format::{Format, find};
use crate::request::judge::{Faults, judge};
use crate::request::memory::{Found, Known, Memory};
use crate::request::normal::Normal;
use crate::request::options::{Policy, PrepareOptions, Settings};
use crate::request::places::BodyPlace;
use crate::request::plan::{Plan, kind};
use crate::request::reasons::{Reason, reason_of};
use crate::request::search::{Outcome, Search};
use crate::request::sketch::Sketch;
use crate::request::variables::{self, Variables};
use crate::request::write::{Written, write};
use crate::request::{read, wrong};
use crate::trace::Keeps;

/// What is rendered, apart from how it is written.
#[derive(Debug)]
pub struct Request<'b> {
    pub template: &'b ChatTemplate,
    pub format: Format,
    pub policy: Policy,
    pub settings: Settings,
    pub normal: Normal<'b>,
    #[cfg_attr(not(feature = "response"), expect(dead_code, reason = "grammars read it"))]
    pub constraints: Constraints<'b>,
    pub documents: Option<&'b Data<'b>>,
    pub variables: Variables<'b>,
    pub has_prompt: bool,
    pub continue_final_message: ContinueFinalMessage<'b>,
}

/// The time while the plan of a sketch is searched.
static SKETCH_CLOCK: LazyLock<Option<LocalTime>> = LazyLock::new(|| LocalTime::new([2026, 1, 2], [3, 4, 5], 0).ok());

/// Returns whether the conversation is passed on as it is.
pub fn is_kept(body: &Data<'_>, format: Format, policy: Policy) -> bool {
    policy == Policy::Exact && format == Format::ChatCompletions && body.get("messages").is_some()
}

impl<'b> Request<'b> {
    pub fn read(
        template: &'b ChatTemplate,
        body: &'b Data<'b>,
        options: &PrepareOptions<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<Self> {
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
        let constraints = Constraints::read(body)?;
        normal.refuses_tools = constraints.tool_choice == ToolChoice::None && !options.keeps_tools;
        let has_tools = !normal.tools.is_empty() && !normal.refuses_tools || is_kept && body.get("tools").is_some();
        let template = template.single(options.chat_template, has_tools);
        let variables = if is_exact {
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
            constraints,
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

    /// Renders what was written, and returns the faults of the prompt but for media, or `None` if only a render that keeps the sources shows
    /// them.
    pub fn judge(
        &self,
        written: &Written<'b>,
        options: &PromptOptions<'_>,
        keeps: Keeps,
        meter: &mut Meter<'_>,
    ) -> Result<(Prompt, Option<Faults>)> {
        let prompt = self.render(written, options, keeps, meter)?;
        let mut faults = judge(self, &prompt, written, meter)?;
        faults.iter_mut().for_each(|faults| faults.extend(&written.given_up));
        Ok((prompt, faults))
    }

    /// Returns the options with the arguments of what was written.
    pub fn options<'o>(&'o self, written: &'o Written<'b>, options: &PromptOptions<'o>) -> ApplyOptions<'o> {
        ApplyOptions::default()
            .with_prompt(*options)
            .with_tools(&written.tools)
            .with_documents(&self.documents)
            .with_variables(&written.variables)
            .with_add_generation_prompt(self.has_prompt)
            .with_continue_final_message(self.continue_final_message)
    }

    /// Returns the plan of a request: that of its sketch, or else the best one that renders of the request show.
    pub fn find_plan(&self, options: &PrepareOptions<'_>, meter: &mut Meter<'_>) -> Result<Found> {
        if self.policy == Policy::Exact {
            return Ok(Found::default());
        }
        let after = options.after.map(|after| after.plan);
        if let Some(found) = self.find_sketched(after, meter)? {
            if self.policy != Policy::Strict || found.plan == self.settings.plan() {
                return Ok(found);
            }
        }
        let prompt_options = PromptOptions::default().with_clock(options.clock);
        let outcome = Search::new(self, &prompt_options, meter).run(after)?;
        Ok(outcome.check()?.found())
    }

    /// Returns the plan of the sketch of a request, if it has one.
    fn find_sketched(&self, after: Option<Plan>, meter: &mut Meter<'_>) -> Result<Option<Found>> {
        let memory: &Memory = self.template.kept();
        let has_tag = memory.has_tag(self.template.source().unwrap_or_default());
        let Some(sketch) = Sketch::new(self, after, has_tag, meter)? else {
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
                    constraints: Constraints::default(),
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
        let (_, faults) = self.judge(&written, options, Keeps::Addresses, meter)?;
        let by_effect = kind::MEDIUM | kind::EFFORT | kind::THINKING;
        let list = |faults: &Faults| -> HashSet<_> {
            let shown = faults.iter().filter(|(kind, _)| kind & by_effect == 0);
            shown.copied().collect()
        };
        Ok(faults.is_none_or(|faults| list(&faults) != list(&outcome.faults)))
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
    pub fn list_changes(&self, written: &Written<'b>, faults: &Faults) -> Vec<Change> {
        type Set = HashSet<BodyPlace, RandomState>;
        let make = |place: BodyPlace, (kind, reason): Reason| Change::new(self.normal.places.pointer(place), kind, reason);
        let lost = faults.iter().filter(|(fault, _)| *fault == kind::MEDIUM);
        let lost: Set = lost.map(|(_, place)| *place).collect();
        let labelled: Set = written.labelled.iter().copied().collect();
        let dropped = written.changes.iter().filter(|(_, (kind, _))| *kind == ChangeKind::Dropped);
        let dropped: Set = dropped.map(|(place, _)| *place).collect();
        let own = written.changes.iter();
        let own = own.filter(|(place, (kind, _))| *kind != ChangeKind::Renamed || !lost.contains(place));
        let mut changes = written.settings.clone();
        changes.extend(own.map(|(place, reason)| make(*place, *reason)));
        let mut last = None;
        for (fault, place) in faults.iter().filter(|(_, place)| !labelled.contains(place)) {
            let Some(reason) = reason_of(*fault) else { continue };
            if let Some(path) = self.variables.path(*fault) {
                let change = Change::new(path.to_owned(), reason.0, reason.1);
                let is_known = changes.contains(&change);
                changes.extend((!is_known).then_some(change));
                continue;
            }
            let this = Some((*place, reason.0));
            let is_known = reason.0 == ChangeKind::Dropped && dropped.contains(place);
            if std::mem::replace(&mut last, this) != this && !is_known {
                changes.push(make(*place, reason));
            }
        }
        changes
    }

    /// Returns an error for the first change, if the policy allows none.
    pub fn check_policy(&self, changes: &[Change]) -> Result<()> {
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
