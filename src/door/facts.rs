//! What a template takes, as far as the door has to know it: a few verdicts of the report.

use crate::report::{Arguments, Content, Outcome, Report, Role};

/// The sorts of media that a part can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    Image,
    Audio,
    Video,
    /// A file, for which no template has a part.
    File,
}

/// What a template takes of the messages of one role.
#[derive(Clone, Copy, Debug)]
pub struct RoleFacts {
    /// The forms of content that are printed.
    pub content: Content,
    /// Whether absent content prints nothing. `apply` removes a content that is null.
    pub is_null_taken: bool,
    /// Whether empty content is taken.
    pub is_empty_taken: bool,
}

impl RoleFacts {
    const ANY: Self = Self {
        content: Content::Both,
        is_null_taken: true,
        is_empty_taken: true,
    };

    fn new(role: &Role) -> Self {
        Self {
            content: role.content,
            is_null_taken: role.null.error.is_none() && role.null.text.as_deref() == Some(""),
            is_empty_taken: role.empty.is_none_or(|empty| empty == Outcome::Printed),
        }
    }

    /// Returns whether the template prints messages of the role.
    pub fn is_read(&self) -> bool {
        self.content != Content::Neither
    }
}

/// What a template takes.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'r> {
    pub system: RoleFacts,
    pub user: RoleFacts,
    pub assistant: RoleFacts,
    pub tool: RoleFacts,
    pub developer: RoleFacts,
    /// Whether a system message can be between others.
    pub takes_system_in_middle: bool,
    /// Whether a second system message can follow the first.
    pub takes_two_systems: bool,
    pub takes_two_users: bool,
    pub takes_two_assistants: bool,
    /// The forms of arguments that are printed.
    pub arguments: Arguments,
    /// Whether the name in a result is printed.
    pub prints_name_of_result: bool,
    /// Whether tools must be without `{"type": "function", "function": …}` around them.
    pub takes_flat_tools: bool,
    /// The type of the part that stands for an image, audio and video.
    pub image: Option<&'r str>,
    pub audio: Option<&'r str>,
    pub video: Option<&'r str>,
    /// The only name under which reasoning is read, if `apply` does not set it.
    pub reasoning: Option<&'static str>,
}

impl<'r> Facts<'r> {
    /// The facts with which nothing has to change.
    pub const ANY: Facts<'static> = Facts {
        system: RoleFacts::ANY,
        user: RoleFacts::ANY,
        assistant: RoleFacts::ANY,
        tool: RoleFacts::ANY,
        developer: RoleFacts::ANY,
        takes_system_in_middle: true,
        takes_two_systems: true,
        takes_two_users: true,
        takes_two_assistants: true,
        arguments: Arguments::Both,
        prints_name_of_result: false,
        takes_flat_tools: false,
        image: Some("image"),
        audio: Some("audio"),
        video: Some("video"),
        reasoning: None,
    };

    /// Returns the facts of a report.
    pub fn new(report: &'r Report) -> Self {
        let is_printed = |outcome: Outcome| outcome == Outcome::Printed;
        let medium = |medium: &crate::report::Medium, name| is_printed(medium.outcome).then_some(name);
        let fields = &report.reasoning.fields;
        let reads_only_reasoning = fields.iter().all(|field| field == "reasoning") && !fields.is_empty();
        Self {
            system: RoleFacts::new(&report.roles.system),
            user: RoleFacts::new(&report.roles.user),
            assistant: RoleFacts::new(&report.roles.assistant),
            tool: RoleFacts::new(&report.roles.tool),
            developer: RoleFacts::new(&report.roles.developer),
            takes_system_in_middle: is_printed(report.system.middle),
            takes_two_systems: is_printed(report.system.twice),
            takes_two_users: is_printed(report.alternation.user_twice),
            takes_two_assistants: is_printed(report.alternation.assistant_twice),
            arguments: report.calls.arguments,
            prints_name_of_result: is_printed(report.calls.name_in_result),
            takes_flat_tools: false,
            image: medium(&report.media.image, "image"),
            audio: medium(&report.media.audio, "audio"),
            video: medium(&report.media.video, "video"),
            reasoning: reads_only_reasoning.then_some("reasoning"),
        }
    }

    /// Returns the facts about a role.
    pub fn role(&self, role: &str) -> RoleFacts {
        match role {
            "system" => self.system,
            "user" => self.user,
            "assistant" => self.assistant,
            "tool" => self.tool,
            "developer" => self.developer,
            _ => RoleFacts { content: Content::String, ..RoleFacts::ANY },
        }
    }

    /// Returns the type of the part that stands for a medium.
    pub fn medium(&self, medium: Medium) -> Option<&'r str> {
        match medium {
            Medium::Image => self.image,
            Medium::Audio => self.audio,
            Medium::Video => self.video,
            Medium::File => None,
        }
    }

    /// Returns the role in which a message is given, and the verdict that decides it if that is another role.
    pub fn recast(&self, role: &str) -> Option<(&'static str, &'static str)> {
        let (others, verdict): (&[&'static str], _) = match role {
            "developer" if !self.developer.is_read() => (&["system", "user"], "roles.developer.content is neither"),
            "system" if !self.system.is_read() => (&["developer", "user"], "roles.system.content is neither"),
            "tool" if !self.tool.is_read() => (&["user"], "roles.tool.content is neither"),
            _ => return None,
        };
        let other = others.iter().find(|other| self.role(other).is_read())?;
        Some((other, verdict))
    }
}
