//! Writes a message.

use std::borrow::Cow;

use super::super::change::ChangeKind;
use super::super::normal::{Arguments, Call, Form, Medium, Part, PartKind, Role, Turn};
use super::super::places::Place;
use super::super::plan::{CallArguments, Content, Empty, Kinds, MediaForm, ThoughtForm, kind};
use super::{Given, Spoken, Writer, WrittenMedium, object, own, own_key};
use crate::error::Result;
use crate::json::{Data, Entry};

/// Returns the field for reasoning of a choice.
fn key_of(thoughts: ThoughtForm) -> Option<&'static str> {
    match thoughts {
        ThoughtForm::ReasoningContent => Some("reasoning_content"),
        ThoughtForm::Reasoning => Some("reasoning"),
        ThoughtForm::Thinking => Some("thinking"),
        _ => None,
    }
}

const THOUGHTS_START: &str = "<think>\n";

impl<'n, 'b> Writer<'n, 'b, '_, '_> {
    pub fn write_message(&mut self, mut turn: Turn<'b>) -> Result<()> {
        self.message = self.messages.len();
        self.root = self.written.paths.item(Place::BODY, "messages", self.message);
        let kept = turn.node.filter(|_| self.is_kept(&turn));
        let role = match kept.and_then(|node| node.get_text("role")) {
            Some(role) => Cow::Borrowed(role),
            None => Cow::Owned(turn.role.name().to_owned()),
        };
        self.written.spoken.push(Spoken {
            role: turn.role,
            role_address: role.as_ptr().addr(),
            has_parts: kept.is_some() && turn.form == Form::Parts,
            call: turn.result.and_then(|result| result.call),
            place: turn.place,
        });
        if let Some(node) = kept {
            self.add_kept(&turn);
            self.messages.push(Given::Kept(node));
            return Ok(());
        }
        let mut entries: Vec<Entry<'b>> = vec![own_key("role", Data::Str(role))];
        self.write_thoughts(&mut turn, &mut entries);
        let content = self.write_content(&mut turn);
        if let (Some(Data::List(_)), Some(spoken)) = (&content, self.written.spoken.last_mut()) {
            spoken.has_parts = true;
        }
        entries.extend(content.map(|content| own_key("content", content)));
        self.add_fields(&turn);
        entries.extend(turn.fields.iter().map(|field| (field.key.into(), field.value.borrowed())));
        if !turn.calls.is_empty() {
            let calls = turn.calls.iter().enumerate();
            let calls: Result<_> = calls.map(|(number, index)| self.write_call(*index, number)).collect();
            entries.push(own_key("tool_calls", Data::List(calls?)));
        }
        self.write_result(&turn, &mut entries);
        self.messages.push(Given::Made(object(entries)));
        Ok(())
    }

    /// Returns whether the message of the body has the form of the plan.
    fn is_kept(&self, turn: &Turn<'b>) -> bool {
        let plan = self.plan;
        let is_text = |part: &Part<'_>| match part.kind {
            PartKind::Text => turn.form == Form::Text || part.node.get_text("type") == Some("text"),
            PartKind::Medium(_) => plan.media == MediaForm::AsIs,
            PartKind::Block | PartKind::Thinking | PartKind::Label | PartKind::Thoughts => false,
        };
        let content = self.plan.content(turn.class());
        let is_content_own = match turn.form {
            _ if content == Content::AsIs => true,
            Form::Text => content == Content::String,
            Form::Parts => content == Content::Parts,
            Form::Absent | Form::Null => false,
        };
        let thought_key = key_of(plan.thoughts);
        let keeps_thoughts = plan.thoughts == ThoughtForm::AsIs || turn.thought_key.is_some() && turn.thought_key == thought_key;
        let is_plain = |call: &Call<'_>| match &call.arguments {
            Arguments::Json(json) => !json.is_nothing(),
            Arguments::Value(_) => true,
            Arguments::Absent | Arguments::Input(_) | Arguments::Fields(_) => false,
        };
        is_content_own
            && (!turn.lacks_content()
                || turn.form == Form::Text && turn.role != Role::Assistant
                || plan.empty == Empty::AsIs && content == Content::AsIs)
            && (turn.thoughts.is_empty() || turn.thoughts.len() == 1 && keeps_thoughts)
            && (turn.calls.is_empty()
                || plan.arguments == CallArguments::AsIs && !plan.renames_ids && self.normal.calls_of(&turn.calls).all(is_plain))
            && (turn.result.is_none() || !plan.fills_names && !plan.renames_ids)
            && turn.parts.iter().all(is_text)
    }

    /// Adds the strings of a message that is kept.
    fn add_kept(&mut self, turn: &Turn<'b>) {
        for thought in &turn.thoughts {
            let path = self.path(turn.thought_key.unwrap_or_default());
            self.add_atom(thought.place, kind::THOUGHT, thought.text.into(), path, 0);
        }
        for (number, part) in turn.parts.iter().enumerate() {
            let path = if turn.form == Form::Parts {
                self.path_of_part(part, number)
            } else {
                self.path("content")
            };
            self.add_part(part, turn, path, (number, 0));
        }
        self.add_fields(turn);
        for (number, index) in turn.calls.iter().enumerate() {
            self.add_call(*index, number);
        }
    }

    fn add_fields(&mut self, turn: &Turn<'b>) {
        for field in &turn.fields {
            let path = self.path(field.key);
            self.add_strings(field.value, field.place, kind::FIELD, path);
        }
    }

    /// Returns the path of a value of the message.
    fn path(&mut self, key: &'b str) -> Place {
        self.written.paths.key(self.root, key)
    }

    /// Returns the path of a part's text, or that of a medium.
    fn path_of_part(&mut self, part: &Part<'b>, number: usize) -> Place {
        let path = self.written.paths.item(self.root, "content", number);
        match part.kind {
            PartKind::Medium(_) => path,
            PartKind::Thinking => self.written.paths.key(path, "thinking"),
            _ => self.written.paths.key(path, "text"),
        }
    }

    /// Adds the reasoning to the entries of a message or to its content.
    fn write_thoughts(&mut self, turn: &mut Turn<'b>, entries: &mut Vec<Entry<'b>>) {
        let Some(first) = turn.thoughts.first() else { return };
        match self.plan.thoughts {
            ThoughtForm::Content => {
                self.note(
                    first.place,
                    ChangeKind::Moved,
                    "the template has no place for reasoning of its own",
                );
                let texts: Vec<_> = turn.thoughts.iter().map(|thought| thought.text).collect();
                let text = format!("{THOUGHTS_START}{}\n</think>\n\n", texts.join("\n"));
                turn.parts.insert(0, Part::made(PartKind::Thoughts, text));
            }
            ThoughtForm::Part => {
                if turn.thought_key.is_some() {
                    let reason = "the template reads reasoning as a part of the content";
                    self.note(first.place, ChangeKind::Renamed, reason);
                }
                let texts: Vec<_> = turn.thoughts.iter().map(|thought| thought.text).collect();
                turn.parts.insert(0, Part::made(PartKind::Thinking, texts.join("\n")));
            }
            ThoughtForm::Dropped => {
                for thought in &turn.thoughts {
                    self.give_up(kind::THOUGHT, thought.place, "the template fails with reasoning");
                }
            }
            choice => {
                let own = turn.thought_key.unwrap_or("reasoning_content");
                let key = key_of(choice).unwrap_or(own);
                if turn.thought_key.is_some() && key != own {
                    self.note(
                        first.place,
                        ChangeKind::Renamed,
                        "the template reads reasoning in another field",
                    );
                }
                let path = self.path(key);
                let first = self.written.atoms.len();
                let mut text = String::new();
                for thought in &turn.thoughts {
                    if !text.is_empty() {
                        text.push('\n');
                    }
                    self.add_atom(thought.place, kind::THOUGHT, thought.text.into(), path, text.len());
                    text.push_str(thought.text);
                }
                self.locate(first, &text);
                entries.push((key.into(), Data::Str(text.into())));
            }
        }
    }

    /// Moves or drops the media of a content. Returns whether there were any.
    fn place_media(&mut self, turn: &mut Turn<'b>) -> bool {
        let has_medium = |part: &Part<'_>| part.medium().is_some();
        let had_media = turn.parts.iter().any(has_medium);
        match self.plan.media {
            MediaForm::First => turn.parts.sort_by_key(|part| part.medium().is_none()),
            MediaForm::Dropped => {
                let placeholder = self.settings.media_placeholder.as_ref();
                for part in turn.parts.iter_mut().filter(|part| has_medium(part)) {
                    match placeholder {
                        Some(text) => {
                            self.note(part.place, ChangeKind::Recast, "the template has no place for it");
                            *part = Part::made(PartKind::Label, text);
                        }
                        None => self.give_up(kind::MEDIUM, part.place, "the template has no place for it"),
                    }
                }
                turn.parts.retain(|part| !has_medium(part));
            }
            _ => {}
        }
        had_media
    }

    fn write_content(&mut self, turn: &mut Turn<'b>) -> Option<Data<'b>> {
        let had_media = self.place_media(turn);
        let mut choice = self.plan.content(turn.class());
        if had_media && self.plan.media == MediaForm::Dropped && choice == Content::AsIs {
            choice = Content::String;
        }
        if turn.lacks_content() {
            return self.write_empty(turn, choice);
        }
        let has_media = turn
            .parts
            .iter()
            .any(|part| part.medium().is_some() || part.kind == PartKind::Thinking);
        let has_several = turn.parts.len() > 1;
        let is_list = turn.form == Form::Parts && (self.is_chat || has_several);
        let wants_parts = match choice {
            Content::AsIs => is_list,
            Content::String => false,
            Content::Parts | Content::OnePart => true,
        };
        let is_one = !has_media && has_several && (choice == Content::OnePart || turn.is_joined);
        if has_media || wants_parts && !is_one {
            if turn.form != Form::Parts && choice != Content::AsIs {
                self.note(turn.content, ChangeKind::Wrapped, "the template takes the content as parts");
            }
            let parts = turn.parts.iter().enumerate().map(|(number, part)| {
                let path = self.path_of_part(part, number);
                self.add_part(part, turn, path, (number, 0));
                match part.kind {
                    PartKind::Medium(medium) => self.write_medium(part, medium),
                    PartKind::Thinking => {
                        let thinking = own_key("thinking", Data::Str(part.text.clone()));
                        object(vec![own_key("type", own("thinking")), thinking])
                    }
                    _ => text_part(Data::Str(part.text.clone())),
                }
            });
            return Some(Data::List(parts.collect()));
        }
        if is_list {
            self.note(
                turn.content,
                ChangeKind::Joined,
                "the template takes the content as one string",
            );
        }
        let mut path = self.path("content");
        if wants_parts {
            path = self.written.paths.item(path, "", 0);
            path = self.written.paths.key(path, "text");
        }
        let first = self.written.atoms.len();
        let mut text = String::new();
        for part in &turn.parts {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            self.add_part(part, turn, path, (0, text.len()));
            text.push_str(&part.text);
        }
        let text = match turn.parts.as_slice() {
            [part] if matches!(part.kind, PartKind::Text | PartKind::Block) => Data::Str(part.text.clone()),
            _ => {
                self.locate(first, &text);
                Data::Str(text.into())
            }
        };
        Some(if wants_parts {
            Data::List(vec![text_part(text)])
        } else {
            text
        })
    }

    /// Returns a content without a string and a medium, or `None` if the message has no content.
    fn write_empty(&mut self, turn: &Turn<'b>, choice: Content) -> Option<Data<'b>> {
        let has_calls = !turn.calls.is_empty();
        let text = || Some(Data::Str("".into()));
        let part = || Some(Data::List(vec![text_part(Data::Str("".into()))]));
        let is_shown = self.is_chat && turn.form != Form::Text;
        if turn.role != Role::Assistant {
            return if matches!(choice, Content::Parts | Content::OnePart) {
                part()
            } else {
                text()
            };
        }
        match self.plan.empty {
            Empty::String => {
                if is_shown {
                    let reason = "the template can fail without content, or print `None`";
                    self.note(turn.content, ChangeKind::Emptied, reason);
                }
                text()
            }
            Empty::Null => {
                if turn.form == Form::Text {
                    self.note(turn.content, ChangeKind::Omitted, "the template takes null as no content");
                }
                Some(Data::None)
            }
            Empty::Part => {
                if is_shown {
                    self.note(turn.content, ChangeKind::Emptied, "the template wants parts");
                }
                part()
            }
            Empty::AsIs => match turn.form {
                Form::Null => Some(Data::None),
                Form::Text if choice == Content::Parts => part(),
                Form::Text => text(),
                Form::Parts if has_calls => Some(Data::None),
                Form::Parts => text(),
                Form::Absent if self.is_chat || !has_calls => None,
                Form::Absent => Some(Data::None),
            },
        }
    }

    /// Adds the identifier and the name of a result.
    fn write_result(&mut self, turn: &Turn<'b>, entries: &mut Vec<Entry<'b>>) {
        let Some(result) = turn.result else { return };
        let called = result.call.and_then(|call| self.find_call(call));
        // A string of the call is copied, because the trace tells strings apart by their places.
        let id = match called.map_or(result.id, |called| called.id) {
            id if id == result.id => result.id.map(Cow::Borrowed),
            id => id.map(|id| Cow::Owned(id.to_owned())),
        };
        if let Some(id) = self.identify(id, result.call, turn.place) {
            entries.push(own_key("tool_call_id", Data::Str(id)));
        }
        let fills = self.plan.fills_names && result.name.is_none();
        // The name of the call is not copied: a template that prints it here does not lose it.
        let name = result
            .name
            .or_else(|| fills.then(|| called.map_or("tool", |called| called.name)));
        entries.extend(name.map(|name| own_key("name", Data::Str(name.into()))));
        if fills {
            let reason = "the template reads the name of the function in its result";
            self.note(turn.place, ChangeKind::Filled, reason);
        }
    }

    /// Sets the addresses of the strings that were joined to one.
    fn locate(&mut self, first: usize, text: &str) {
        let start = text.as_bytes().as_ptr().addr();
        for atom in self.written.atoms.iter_mut().skip(first) {
            atom.memory = start.wrapping_add(atom.range.start)..start.wrapping_add(atom.range.end);
        }
    }

    fn write_medium(&mut self, part: &Part<'b>, medium: Medium) -> Data<'b> {
        let choice = self.plan.media;
        if !matches!(choice, MediaForm::ByType | MediaForm::ByUrl) {
            return part.node.borrowed();
        }
        self.note(
            part.place,
            ChangeKind::Renamed,
            "the template knows the medium by another type",
        );
        if choice == MediaForm::ByType {
            return object(vec![own_key("type", own(medium.name()))]);
        }
        let kind = format!("{}_url", medium.name());
        let url = object(vec![own_key("url", Data::Str("".into()))]);
        object(vec![own_key("type", own(&kind)), (kind.into(), url)])
    }

    /// Adds the strings of a part with a number that begins at a byte of the string at a path, or a medium.
    fn add_part(&mut self, part: &Part<'b>, turn: &Turn<'b>, path: Place, (number, start): (usize, usize)) {
        match part.kind {
            PartKind::Text | PartKind::Block => {
                let kind = 1 << turn.class() as Kinds;
                self.add_atom(part.place, kind, part.text.clone(), path, start);
            }
            PartKind::Medium(medium) => {
                self.written.media.push(WrittenMedium {
                    place: part.place,
                    kind: medium,
                    node: part.node,
                    message: self.message,
                    part: number,
                });
                self.push_atom(part.place, kind::MEDIUM, "".into(), path, 0);
            }
            PartKind::Thinking | PartKind::Thoughts => {
                let is_tagged = part.kind == PartKind::Thoughts;
                let mut start = start + if is_tagged { THOUGHTS_START.len() } else { 0 };
                let first = self.written.atoms.len();
                for thought in &turn.thoughts {
                    self.add_atom(thought.place, kind::THOUGHT, thought.text.into(), path, start);
                    start += thought.text.len() + 1;
                }
                // The template gets a copy of the string.
                for atom in self.written.atoms.iter_mut().skip(first) {
                    atom.memory = 0..0;
                }
            }
            PartKind::Label => {}
        }
    }
}

fn text_part(text: Data<'_>) -> Data<'_> {
    object(vec![own_key("type", own("text")), own_key("text", text)])
}
