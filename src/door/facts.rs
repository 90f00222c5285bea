//! The verdicts of a report by which the door changes a body.

use std::borrow::Cow;

use crate::error::Result;
use crate::inspect::Inspection;
use crate::report::{Arguments, Forms, Outcome, Replay, Takes};
use crate::text::short_eq::is_equal;

/// The kinds of media that a part can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    Image,
    Audio,
    Video,
    /// A file, for which no template has a part.
    File,
}

/// The verdicts on a template by which the door changes a body.
#[derive(Clone, Debug)]
pub struct Facts<'r> {
    /// The parts and orders that conversations may have.
    pub takes: Cow<'r, Takes>,
    /// Whether absent content beside a call prints nothing.
    pub is_null_taken: bool,
    /// Whether the name in a result is printed.
    pub prints_name_of_result: bool,
    /// The name under which the template reads reasoning, if it reads one name and `apply` does not set it.
    pub reasoning: Option<&'static str>,
    /// Whether the template reads reasoning, so that it can be in the prompt.
    pub reads_reasoning: bool,
    /// Whether calls are in the prompt.
    pub writes_calls: bool,
    /// Whether content beside a call is in the prompt.
    pub writes_content_beside: bool,
    /// Whether arguments that are an object should be passed as JSON text.
    pub encodes_arguments: bool,
    /// Whether arguments that are a text have to be JSON.
    pub checks_arguments: bool,
    /// Whether the place of a result says to which call it belongs, because the prompt does not have the id.
    pub sorts_results: bool,
    /// Whether tools are in the prompt.
    pub reads_tools: bool,
    /// Whether the template takes a message of each plain role unchanged if its content is a text.
    takes_text: [bool; PLAIN_ROLES.len()],
}

/// The roles of most messages, in the order of `takes_text`.
const PLAIN_ROLES: [&str; 4] = ["user", "assistant", "tool", "system"];

impl<'r> Facts<'r> {
    /// Returns the facts of a template that takes every request as it is.
    pub fn any() -> Facts<'static> {
        let types = |types: &[&str]| types.iter().map(|name| (*name).to_owned()).collect();
        let takes = Takes {
            system: Forms::ALL,
            developer: Forms::ALL,
            user: Forms::ALL,
            assistant: Forms::ALL,
            caller: Forms::ALL,
            tool: Forms::ALL,
            system_in_middle: true,
            two_systems: true,
            two_users: true,
            two_assistants: true,
            tools: true,
            calls: true,
            arguments: Arguments::Both,
            null: true,
            empty: Forms::ALL,
            image: types(&["image", "image_url", "input_image"]),
            audio: types(&["audio", "audio_url", "input_audio"]),
            video: types(&["video", "video_url"]),
        };
        Facts {
            takes: Cow::Owned(takes),
            is_null_taken: true,
            prints_name_of_result: false,
            reasoning: None,
            reads_reasoning: true,
            writes_calls: true,
            writes_content_beside: true,
            encodes_arguments: false,
            checks_arguments: false,
            sorts_results: false,
            reads_tools: true,
            takes_text: [true; PLAIN_ROLES.len()],
        }
    }

    /// Returns the facts of a report.
    pub fn new(report: &mut Inspection<'r, '_>) -> Result<Self> {
        let (basics, takes) = (&report.basics()?.verdicts, &report.takes()?.verdicts);
        let (calls, reasoning) = (&basics.calls, &report.reasoning()?.verdicts);
        let null = &basics.roles.assistant.null;
        let fields = &reasoning.fields;
        let reads_only_reasoning = fields.iter().all(|field| field == "reasoning") && !fields.is_empty();
        Ok(Self {
            takes: Cow::Borrowed(takes),
            is_null_taken: takes.null && null.error.is_none() && null.text.as_deref() == Some(""),
            prints_name_of_result: calls.name_in_result == Outcome::Printed,
            reasoning: reads_only_reasoning.then_some("reasoning"),
            reads_reasoning: !fields.is_empty() || reasoning.replayed != Replay::Never,
            writes_calls: calls.written,
            writes_content_beside: calls.content_beside != Outcome::Lost,
            encodes_arguments: match takes.arguments {
                Arguments::String => true,
                Arguments::Both => basics.prints_python_arguments,
                Arguments::Object | Arguments::Neither => false,
            },
            checks_arguments: takes.arguments != Arguments::Neither,
            sorts_results: calls.id_in_result != Outcome::Printed,
            reads_tools: basics.tools.read,
            takes_text: [false; PLAIN_ROLES.len()],
        }
        .with_text_roles())
    }

    /// Returns whether the template takes a message with a role and a text as its content unchanged.
    pub fn takes_text(&self, role: &str) -> bool {
        let mut taken = PLAIN_ROLES.iter().zip(self.takes_text);
        taken.any(|(other, is_taken)| is_taken && is_equal(role, other))
    }

    /// Computes `takes_text`, which roles can have a text.
    fn with_text_roles(mut self) -> Self {
        self.takes_text = PLAIN_ROLES.map(|role| {
            let forms = self.forms(role);
            self.recast(role).is_none() && (forms.string || !forms.part)
        });
        self
    }

    /// Returns the verdict that says why the prompt has no calls, or `None` if it has calls.
    pub fn judge_calls(&self) -> Option<&'static str> {
        match (self.takes.calls, self.writes_calls) {
            (true, true) => None,
            (true, false) => Some("the template does not print calls (calls.written is false)"),
            (false, _) => Some("the template fails with calls (takes.calls is false)"),
        }
    }

    /// Returns the forms of content that messages of a role can have. The role `caller` is that of an assistant with calls.
    pub fn forms(&self, role: &str) -> Forms {
        match role {
            "system" => self.takes.system,
            "user" => self.takes.user,
            "assistant" => self.takes.assistant,
            "tool" => self.takes.tool,
            "developer" => self.takes.developer,
            "caller" if self.takes.caller.is_any() => self.takes.caller,
            "caller" => self.takes.assistant,
            _ => Forms {
                string: true,
                ..Forms::default()
            },
        }
    }

    /// Returns the type that a media part gets: its own, if the template reads it, else the first that the template reads.
    pub fn medium<'t>(&'t self, medium: Medium, own: Option<&'t str>) -> Option<&'t str> {
        let types = match medium {
            Medium::Image => &self.takes.image,
            Medium::Audio => &self.takes.audio,
            Medium::Video => &self.takes.video,
            Medium::File => return None,
        };
        let own = own.filter(|own| types.iter().any(|name| name == own));
        own.or(types.first().map(String::as_str))
    }

    /// Returns the role that replaces a role which the template does not take, and the reason, or `None` if the role is kept.
    pub fn recast(&self, role: &str) -> Option<(&'static str, &'static str)> {
        let (others, verdict): (&[&'static str], _) = match role {
            "developer" => (
                &["system", "user"],
                "the template does not take the role `developer` (takes.developer)",
            ),
            "system" => (
                &["developer", "user"],
                "the template does not take the role `system` (takes.system)",
            ),
            "tool" => (&["user"], "the template does not take the role `tool` (takes.tool)"),
            _ => return None,
        };
        let is_taken = |role: &str| self.forms(role).is_any();
        let other = others.iter().find(|other| is_taken(other)).filter(|_| !is_taken(role))?;
        Some((other, verdict))
    }
}
