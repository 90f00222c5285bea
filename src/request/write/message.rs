//! Writes a message.

use std::borrow::Cow;

use super::super::change::ChangeKind;
use super::super::normal::{BodyArguments, BodyTurn, Call, ContentForm, ContentPart, Medium, PartKind, Role};
use super::super::plan::{CallArguments, Content, Empty, Kinds, MediaForm, ThoughtForm, kind};
use super::{AtomForm, Given, Spoken, Writer, WrittenMedium, addresses, object, own, own_key};
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
    pub fn write_message(&mut self, turn: &BodyTurn<'b>) -> Result<()> {
        self.message = self.messages.len();
        let kept = turn.node.filter(|_| self.is_kept(turn));
        let role = match kept.and_then(|node| node.get_text("role")) {
            Some(role) => Cow::Borrowed(role),
            None => Cow::Owned(turn.role.name().to_owned()),
        };
        let call = turn.result.and_then(|result| result.call);
        let own = |key| kept.filter(|_| call.is_some()).and_then(|node| node.get_text(key));
        self.written.spoken.push(Spoken {
            role: turn.role,
            role_address: role.as_ptr().addr(),
            has_parts: kept.is_some() && turn.form == ContentForm::Parts,
            call,
            id: own("tool_call_id").map_or(0..0, addresses),
            name: own("name").map(|name| (name, addresses(name))),
            place: turn.place,
        });
        if let Some(node) = kept {
            self.add_kept(turn);
            self.messages.push(Given::Borrowed(node));
            return Ok(());
        }
        let mut turn = turn.clone();
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
            let calls: Result<_> = turn.calls.iter().map(|index| self.write_call(*index)).collect();
            entries.push(own_key("tool_calls", Data::List(calls?)));
        }
        self.write_result(&turn, &mut entries);
        self.messages.push(Given::Owned(object(entries)));
        Ok(())
    }

    /// Returns whether the message of the body has the form of the plan.
    fn is_kept(&self, turn: &BodyTurn<'b>) -> bool {
        let plan = self.plan;
        let is_text = |part: &ContentPart<'_>| match part.kind {
            PartKind::Text => turn.form == ContentForm::Text || part.node.get_text("type") == Some("text"),
            PartKind::Medium(_) => plan.media == MediaForm::AsIs,
            PartKind::Block | PartKind::Thinking | PartKind::Label | PartKind::Thoughts => false,
        };
        let content = self.plan.content(turn.class());
        let is_content_own = match turn.form {
            _ if content == Content::AsIs => true,
            ContentForm::Text => content == Content::String,
            ContentForm::Parts => content == Content::Parts,
            ContentForm::Absent | ContentForm::Null => false,
        };
        let thought_key = key_of(plan.thoughts);
        let keeps_thoughts = plan.thoughts == ThoughtForm::AsIs || turn.thought_key.is_some() && turn.thought_key == thought_key;
        let is_plain = |call: &Call<'_>| match &call.arguments {
            BodyArguments::Json(json) => !json.is_nothing(),
            BodyArguments::Value(_) => true,
            BodyArguments::Absent | BodyArguments::Input(_) | BodyArguments::Fields(_) => false,
        };
        is_content_own
            && (!turn.lacks_content()
                || turn.form == ContentForm::Text && turn.role != Role::Assistant
                || plan.empty == Empty::AsIs && content == Content::AsIs)
            && (turn.thoughts.is_empty() || turn.thoughts.len() == 1 && keeps_thoughts)
            && (turn.calls.is_empty()
                || plan.arguments == CallArguments::AsIs && !plan.renames_ids && self.normal.calls_of(&turn.calls).all(is_plain))
            && (turn.result.is_none() || !plan.fills_names && !plan.renames_ids)
            && turn.parts.iter().all(is_text)
    }

    /// Adds the strings of a message that is kept.
    fn add_kept(&mut self, turn: &BodyTurn<'b>) {
        for thought in &turn.thoughts {
            self.add_atom(thought.place, kind::THOUGHT, thought.text);
        }
        for (number, part) in turn.parts.iter().enumerate() {
            self.add_part(part, turn, number, addresses(&part.text).start);
        }
        self.add_fields(turn);
        turn.calls.iter().for_each(|index| self.add_call(*index));
    }

    fn add_fields(&mut self, turn: &BodyTurn<'b>) {
        for field in &turn.fields {
            self.add_strings(field.value, field.place, kind::FIELD, AtomForm::Key);
        }
    }

    /// Adds the reasoning to the entries of a message or to its content.
    fn write_thoughts(&mut self, turn: &mut BodyTurn<'b>, entries: &mut Vec<Entry<'b>>) {
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
                turn.parts.insert(0, ContentPart::made(PartKind::Thoughts, text));
            }
            ThoughtForm::Part => {
                if turn.thought_key.is_some() {
                    let reason = "the template reads reasoning as a part of the content";
                    self.note(first.place, ChangeKind::Renamed, reason);
                }
                let texts: Vec<_> = turn.thoughts.iter().map(|thought| thought.text).collect();
                turn.parts.insert(0, ContentPart::made(PartKind::Thinking, texts.join("\n")));
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
                let texts: Vec<_> = turn.thoughts.iter().map(|thought| thought.text).collect();
                let text = texts.join("\n");
                self.add_thoughts(turn, addresses(&text).start);
                entries.push((key.into(), Data::Str(text.into())));
            }
        }
    }

    /// Moves or drops the media of a content. Returns whether there were any.
    fn place_media(&mut self, turn: &mut BodyTurn<'b>) -> bool {
        let has_medium = |part: &ContentPart<'_>| part.medium().is_some();
        let had_media = turn.parts.iter().any(has_medium);
        match self.plan.media {
            MediaForm::First => turn.parts.sort_by_key(|part| part.medium().is_none()),
            MediaForm::Dropped => {
                let placeholder = self.settings.media_placeholder.as_ref();
                for part in turn.parts.iter_mut().filter(|part| has_medium(part)) {
                    match placeholder {
                        Some(text) => {
                            self.note(part.place, ChangeKind::Recast, "the template has no place for it");
                            *part = ContentPart::made(PartKind::Label, text);
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

    fn write_content(&mut self, turn: &mut BodyTurn<'b>) -> Option<Data<'b>> {
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
        let is_list = turn.form == ContentForm::Parts && (self.is_chat || has_several);
        let wants_parts = match choice {
            Content::AsIs => is_list,
            Content::String => false,
            Content::Parts | Content::OnePart => true,
        };
        let is_one = !has_media && has_several && (choice == Content::OnePart || turn.is_joined);
        if has_media || wants_parts && !is_one {
            if turn.form != ContentForm::Parts && choice != Content::AsIs {
                self.note(turn.content, ChangeKind::Wrapped, "the template takes the content as parts");
            }
            let parts = turn.parts.iter().enumerate().map(|(number, part)| {
                let text = part.text.clone();
                self.add_part(part, turn, number, addresses(&text).start);
                match part.kind {
                    PartKind::Medium(medium) => self.write_medium(part, medium),
                    PartKind::Thinking => object(vec![own_key("type", own("thinking")), own_key("thinking", Data::Str(text))]),
                    _ => text_part(Data::Str(text)),
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
        let text = match turn.parts.as_slice() {
            [part] if matches!(part.kind, PartKind::Text | PartKind::Block) => part.text.clone(),
            parts => {
                let mut joined = String::new();
                for part in parts {
                    if !joined.is_empty() && !joined.ends_with('\n') {
                        joined.push('\n');
                    }
                    joined.push_str(&part.text);
                }
                joined.into()
            }
        };
        let mut at = 0;
        for part in &turn.parts {
            if at > 0 && !text.get(..at).is_some_and(|before| before.ends_with('\n')) {
                at += 1;
            }
            self.add_part(part, turn, 0, addresses(&text).start.wrapping_add(at));
            at += part.text.len();
        }
        let text = Data::Str(text);
        Some(if wants_parts {
            Data::List(vec![text_part(text)])
        } else {
            text
        })
    }

    /// Returns a content without a string and a medium, or `None` if the message has no content.
    fn write_empty(&mut self, turn: &BodyTurn<'b>, choice: Content) -> Option<Data<'b>> {
        let has_calls = !turn.calls.is_empty();
        let text = || Some(Data::Str("".into()));
        let part = || Some(Data::List(vec![text_part(Data::Str("".into()))]));
        let is_shown = self.is_chat && turn.form != ContentForm::Text;
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
                if turn.form == ContentForm::Text {
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
                ContentForm::Null => Some(Data::None),
                ContentForm::Text if choice == Content::Parts => part(),
                ContentForm::Text => text(),
                ContentForm::Parts if has_calls => Some(Data::None),
                ContentForm::Parts => text(),
                ContentForm::Absent if self.is_chat || !has_calls => None,
                ContentForm::Absent => Some(Data::None),
            },
        }
    }

    /// Adds the identifier and the name of a result.
    fn write_result(&mut self, turn: &BodyTurn<'b>, entries: &mut Vec<Entry<'b>>) {
        let Some(result) = turn.result else { return };
        let called = result.call.and_then(|call| self.find_call(call));
        // A string of the call is copied, because the trace tells strings apart by their places.
        let id = match called.map_or(result.id, |called| called.id) {
            id if id == result.id => result.id.map(Cow::Borrowed),
            id => id.map(|id| Cow::Owned(id.to_owned())),
        };
        if let Some(id) = self.identify(id, result.call, turn.place) {
            if let Some(spoken) = self.written.spoken.last_mut() {
                spoken.id = addresses(&id);
            }
            entries.push(own_key("tool_call_id", Data::Str(id)));
        }
        let fills = self.plan.fills_names && result.name.is_none();
        let name = result
            .name
            .or_else(|| fills.then(|| called.map_or("tool", |called| called.name)));
        if let Some(name) = name {
            let given = name.to_owned();
            if let Some(spoken) = self.written.spoken.last_mut() {
                spoken.name = spoken.call.map(|_| (name, addresses(&given)));
            }
            entries.push(own_key("name", Data::Str(given.into())));
        }
        if fills {
            let reason = "the template reads the name of the function in its result";
            self.note(turn.place, ChangeKind::Filled, reason);
        }
    }

    fn write_medium(&mut self, part: &ContentPart<'b>, medium: Medium) -> Data<'b> {
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

    /// Adds the strings of a part with a number, whose text is at an address, or a medium.
    fn add_part(&mut self, part: &ContentPart<'b>, turn: &BodyTurn<'b>, number: usize, address: usize) {
        match part.kind {
            PartKind::Text | PartKind::Block => {
                let kind = 1 << turn.class() as Kinds;
                let memory = address..address.wrapping_add(part.text.len());
                if part.node.has("cache_control") {
                    self.written.cached.push((part.place, memory.end));
                }
                self.push_atom(part.place, kind, AtomForm::Value, part.text.clone(), memory);
            }
            PartKind::Medium(medium) => self.written.media.push(WrittenMedium {
                place: part.place,
                kind: medium,
                message: self.message,
                part: number,
            }),
            PartKind::Thinking => self.add_thoughts(turn, address),
            PartKind::Thoughts => self.add_thoughts(turn, address.wrapping_add(THOUGHTS_START.len())),
            PartKind::Label => {}
        }
    }

    /// Adds the thoughts of a turn, which are joined at an address.
    fn add_thoughts(&mut self, turn: &BodyTurn<'b>, mut address: usize) {
        for thought in &turn.thoughts {
            let end = address.wrapping_add(thought.text.len());
            self.push_atom(
                thought.place,
                kind::THOUGHT,
                AtomForm::Value,
                thought.text.into(),
                address..end,
            );
            address = end.wrapping_add(1);
        }
    }
}

fn text_part(text: Data<'_>) -> Data<'_> {
    object(vec![own_key("type", own("text")), own_key("text", text)])
}
