//! How a body is prepared.

use super::plan::{Plan, Systems};
use super::prepared::Prepared;
use crate::clock::Clock;
use crate::deadline::Bounds;
use crate::setters::setters;
use crate::template::RenderOptions;

use super::format::Format;

/// How much of a body may be changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// Nothing, even if the template fails or prints less. A body of Chat Completions has the prompt of
    /// [`ChatTemplate::apply`](crate::ChatTemplate::apply).
    Exact,
    /// What this template needs.
    #[default]
    Fit,
    /// Nothing: a body that needs a change is an error. The translation of a format is none.
    Strict,
}

/// Where a system message goes that is not the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LaterSystem {
    /// It stays in its place, so that the prompt before it stays the same. If the template does not take it there, it becomes a message
    /// of the user after an answer, and is merged into the first one before any.
    #[default]
    InPlace,
    /// It becomes a user message in its place.
    AsUser,
    /// It is merged into the first one.
    Merged,
}

/// The options with which a body is prepared. Begin with [`Default`], and set what matters.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PrepareOptions<'o> {
    /// The format of the body. Without it, the shape of the body decides.
    pub format: Option<Format>,
    /// How much of the body may be changed.
    pub policy: Policy,
    /// The name of the model's template that renders the request. Without it, the tools of the body decide.
    pub chat_template: Option<&'o str>,
    /// Where a system message goes that is not the first.
    pub later_system: LaterSystem,
    /// The text that stands for an image, a sound, a video or a file if the template has no place for it.
    pub media_placeholder: Option<&'o str>,
    /// Whether the prompt has the tools even if `tool_choice` is `none`.
    pub keeps_tools: bool,
    /// Whether tools and calls become JSON text in messages if the template does not print them.
    pub tools_as_text: bool,
    /// How the request before this one in the same conversation was written, so that their prompts begin in the same way.
    pub after: Option<After>,
    /// The clock that `strftime_now` reads while the plan is searched.
    pub clock: &'o dyn Clock,
    /// What preparing the body may use.
    pub bounds: Bounds<'o>,
}

setters! { PrepareOptions<'o>:
    with_format(impl Into<Option<Format>>) = @format;
    with_policy(Policy) = @policy;
    with_chat_template(impl Into<Option<&'o str>>) = @chat_template;
    with_later_system(LaterSystem) = @later_system;
    with_media_placeholder(impl Into<Option<&'o str>>) = @media_placeholder;
    with_keeps_tools(bool) = @keeps_tools;
    with_tools_as_text(bool) = @tools_as_text;
    with_after(impl Into<After>) = Some @after;
    with_clock(&'o dyn Clock) = @clock;
    with_bounds(impl Into<Bounds<'o>>) = @bounds;
}

/// How an earlier request was written. A reference to a [`Prepared`] converts to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct After {
    pub(super) plan: Plan,
}

impl From<&Prepared<'_>> for After {
    fn from(earlier: &Prepared<'_>) -> Self {
        Self {
            plan: earlier.found.plan,
        }
    }
}

impl Default for PrepareOptions<'_> {
    fn default() -> Self {
        let RenderOptions { clock, bounds, .. } = RenderOptions::default();
        Self {
            format: None,
            policy: Policy::default(),
            chat_template: None,
            later_system: LaterSystem::default(),
            media_placeholder: None,
            keeps_tools: false,
            tools_as_text: false,
            after: None,
            clock,
            bounds,
        }
    }
}

/// The options that decide how a request is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    later_system: LaterSystem,
    pub media_placeholder: Option<String>,
    pub tools_as_text: bool,
}

impl Settings {
    pub fn new(options: &PrepareOptions<'_>) -> Self {
        Self {
            later_system: options.later_system,
            media_placeholder: options.media_placeholder.map(str::to_owned),
            tools_as_text: options.tools_as_text,
        }
    }

    /// Returns the plan that a search begins with.
    pub fn plan(&self) -> Plan {
        let systems = match self.later_system {
            LaterSystem::InPlace => Systems::AsIs,
            LaterSystem::AsUser => Systems::LaterAsUser,
            LaterSystem::Merged => Systems::Merged,
        };
        Plan {
            systems,
            ..Plan::default()
        }
    }
}
