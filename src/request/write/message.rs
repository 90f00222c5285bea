//! Writes a message.

use std::borrow::Cow;

use super::super::normal::{BodyArguments, BodyTurn, Call, ContentForm, ContentPart, Medium, PartKind, Role};
use super::super::plan::{CallArguments, Content, Empty, Kinds, MediaForm, ThoughtForm, kind};
use super::super::reasons as why;
use super::{AtomForm, Given, Spoken, Writer, WrittenMedium, object, own, own_key, start_of, typed};
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

/// The most entries of a message without other fields: the role, the content, reasoning, calls, and the identifier and the name of a result.
const ENTRIES: usize = 6;

impl<'n, 'b> Writer<'n, 'b, '_, '_> {
    pub fn write_message(&mut self, turn: Cow<'_, BodyTurn<'b>>) -> Result<()> {
        self.written.spoken.push(Spoken {
            role: turn.role,
            call: turn.result.and_then(|result| result.call),
            place: turn.place,
        });
        let message = match turn.node.filter(|_| self.is_kept(&turn)) {
            Some(node) => {
                self.add_kept(&turn);
                Given::Borrowed(node)
            }
            None => Given::Owned(self.write_turn(turn.into_owned())?),
        };
        self.written.messages.push(message);
        Ok(())
    }

    fn write_turn(&mut self, mut turn: BodyTurn<'b>) -> Result<Data<'b>> {
        let mut entries: Vec<Entry<'b>> = Vec::with_capacity(ENTRIES.saturating_add(turn.fields.len()));
        entries.push(own_key("role", own(turn.role.name())));
        self.write_thoughts(&mut turn, &mut entries);
        let content = self.write_content(&mut turn);
        entries.extend(content.map(|content| own_key("content", content)));
        self.add_fields(&turn);
        entries.extend(turn.fields.iter().map(|field| (field.key.into(), field.value.borrowed())));
        if !turn.calls.is_empty() {
            let calls: Result<_> = turn.calls.iter().map(|index| self.write_call(*index)).collect();
            entries.push(own_key("tool_calls", Data::List(calls?)));
        }
        self.write_result(&turn, &mut entries);
        Ok(object(entries))
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
        let keeps_calls = plan.arguments == CallArguments::AsIs && !plan.renames_ids;
        is_content_own
            && (!turn.lacks_content()
                || turn.form == ContentForm::Text && turn.role != Role::Assistant
                || plan.empty == Empty::AsIs && content == Content::AsIs)
            && (turn.thoughts.is_empty() || turn.thoughts.len() == 1 && keeps_thoughts)
            && (turn.calls.is_empty() || keeps_calls && self.normal.calls_of(&turn.calls).all(is_plain))
            && (turn.result.is_none() || !plan.fills_names && !plan.renames_ids)
            && turn.parts.iter().all(is_text)
    }

    /// Adds the strings of a message that is kept.
    fn add_kept(&mut self, turn: &BodyTurn<'b>) {
        for thought in &turn.thoughts {
            self.add_atom(thought.place, kind::THOUGHT, AtomForm::Value, thought.text);
        }
        for (number, part) in turn.parts.iter().enumerate() {
            self.add_part(part, turn, number, start_of(&part.text));
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
        let Some(place) = turn.thoughts.first().map(|thought| thought.place) else {
            return;
        };
        let texts: Vec<_> = turn.thoughts.iter().map(|thought| thought.text).collect();
        let text = texts.join("\n");
        match self.plan.thoughts {
            ThoughtForm::Content => {
                self.note(place, why::THOUGHT_IN_CONTENT);
                let text = format!("{THOUGHTS_START}{text}\n</think>\n\n");
                turn.parts.insert(0, ContentPart::made(PartKind::Thoughts, text));
            }
            ThoughtForm::Part => {
                if turn.thought_key.is_some() {
                    self.note(place, why::THOUGHT_PART);
                }
                turn.parts.insert(0, ContentPart::made(PartKind::Thinking, text));
            }
            ThoughtForm::Dropped => {
                for thought in &turn.thoughts {
                    self.give_up(kind::THOUGHT, thought.place, why::THOUGHT_FAILS);
                }
            }
            choice => {
                let own = turn.thought_key.unwrap_or("reasoning_content");
                let key = key_of(choice).unwrap_or(own);
                if turn.thought_key.is_some() && key != own {
                    self.note(place, why::THOUGHT_FIELD);
                }
                self.add_thoughts(turn, start_of(&text));
                entries.push((key.into(), Data::Str(text.into())));
            }
        }
    }

    /// Moves or drops the media of a content. Returns whether all of them are dropped.
    fn place_media(&mut self, turn: &mut BodyTurn<'b>) -> bool {
        let has_medium = |part: &ContentPart<'_>| part.medium().is_some();
        if self.plan.media == MediaForm::First {
            turn.parts.sort_by_key(|part| part.medium().is_none());
        }
        if self.plan.media != MediaForm::Dropped || !turn.parts.iter().any(has_medium) {
            return false;
        }
        for part in turn.parts.iter_mut().filter(|part| has_medium(part)) {
            match &self.settings.media_placeholder {
                Some(text) => {
                    self.note(part.place, why::PLACEHOLDER);
                    *part = ContentPart::made(PartKind::Label, text);
                }
                None => self.give_up(kind::MEDIUM, part.place, why::NO_MEDIUM),
            }
        }
        turn.parts.retain(|part| !has_medium(part));
        true
    }

    fn write_content(&mut self, turn: &mut BodyTurn<'b>) -> Option<Data<'b>> {
        let drops_media = self.place_media(turn);
        let mut choice = self.plan.content(turn.class());
        if drops_media && choice == Content::AsIs {
            choice = Content::String;
        }
        if turn.lacks_content() {
            return self.write_empty(turn, choice);
        }
        let is_special = |part: &ContentPart<'_>| part.medium().is_some() || part.kind == PartKind::Thinking;
        let has_media = turn.parts.iter().any(is_special);
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
                self.note(turn.content, why::AS_PARTS);
            }
            let parts = turn.parts.iter().enumerate().map(|(number, part)| {
                let text = part.text.clone();
                self.add_part(part, turn, number, start_of(&text));
                match part.kind {
                    PartKind::Medium(medium) => self.write_medium(part, medium),
                    PartKind::Thinking => typed("thinking", "thinking", Data::Str(text)),
                    _ => text_part(text),
                }
            });
            return Some(Data::List(parts.collect()));
        }
        if is_list {
            self.note(turn.content, why::AS_STRING);
        }
        let text = self.join_parts(turn);
        Some(if wants_parts {
            Data::List(vec![text_part(text)])
        } else {
            Data::Str(text)
        })
    }

    /// Returns the parts of a turn as one string, and adds them.
    fn join_parts(&mut self, turn: &BodyTurn<'b>) -> Cow<'b, str> {
        if let [part] = turn.parts.as_slice() {
            if matches!(part.kind, PartKind::Text | PartKind::Block) {
                let text = part.text.clone();
                self.add_part(part, turn, 0, start_of(&text));
                return text;
            }
        }
        let mut joined = String::with_capacity(turn.parts.iter().map(|part| part.text.len() + 1).sum());
        let mut starts = Vec::with_capacity(turn.parts.len());
        for part in &turn.parts {
            if !joined.is_empty() && !joined.ends_with('\n') {
                joined.push('\n');
            }
            starts.push(joined.len());
            joined.push_str(&part.text);
        }
        for (part, start) in turn.parts.iter().zip(starts) {
            self.add_part(part, turn, 0, start_of(&joined).wrapping_add(start));
        }
        joined.into()
    }

    /// Returns a content without a string and a medium, or `None` if the message has no content.
    fn write_empty(&mut self, turn: &BodyTurn<'b>, choice: Content) -> Option<Data<'b>> {
        let text = || Some(Data::Str("".into()));
        let part = || Some(Data::List(vec![text_part("".into())]));
        if turn.role != Role::Assistant {
            let wants_part = matches!(choice, Content::Parts | Content::OnePart);
            return if wants_part { part() } else { text() };
        }
        let is_text = turn.form == ContentForm::Text;
        let reason = match self.plan.empty {
            Empty::String => (self.is_chat && !is_text).then_some(why::EMPTY_STRING),
            Empty::Part => (self.is_chat && !is_text).then_some(why::EMPTY_PART),
            Empty::Null => is_text.then_some(why::NO_CONTENT),
            Empty::AsIs => None,
        };
        if let Some(reason) = reason {
            self.note(turn.content, reason);
        }
        let has_calls = !turn.calls.is_empty();
        match (self.plan.empty, turn.form) {
            (Empty::String, _) => text(),
            (Empty::Part, _) => part(),
            (Empty::Null, _) | (_, ContentForm::Null) => Some(Data::None),
            (_, ContentForm::Text) if choice == Content::Parts => part(),
            (_, ContentForm::Parts) if has_calls => Some(Data::None),
            (_, ContentForm::Text | ContentForm::Parts) => text(),
            (_, ContentForm::Absent) => (has_calls && !self.is_chat).then_some(Data::None),
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
        let id = self.identify(id, result.call, turn.place);
        entries.extend(id.map(|id| own_key("tool_call_id", Data::Str(id))));
        let fills = self.plan.fills_names && result.name.is_none();
        let filled = fills.then(|| called.map_or("tool", |called| called.name));
        entries.extend(result.name.or(filled).map(|name| own_key("name", own(name))));
        if fills {
            self.note(turn.place, why::RESULT_NAME);
        }
    }

    fn write_medium(&mut self, part: &ContentPart<'b>, medium: Medium) -> Data<'b> {
        let choice = self.plan.media;
        if !matches!(choice, MediaForm::ByType | MediaForm::ByUrl) {
            return part.node.borrowed();
        }
        self.note(part.place, why::MEDIUM_TYPE);
        if choice == MediaForm::ByType {
            return object(vec![own_key("type", own(medium.name()))]);
        }
        let kind = format!("{}_url", medium.name());
        typed(&kind, &kind, object(vec![own_key("url", Data::Str("".into()))]))
    }

    /// Adds the strings of a part with a number, whose text is at an address, or a medium.
    fn add_part(&mut self, part: &ContentPart<'b>, turn: &BodyTurn<'b>, number: usize, address: usize) {
        match part.kind {
            PartKind::Text | PartKind::Block => {
                let kind = 1 << turn.class() as Kinds;
                self.push_atom(part.place, kind, AtomForm::Value, part.text.clone(), address);
            }
            PartKind::Medium(kind) => {
                let (place, message, part) = (part.place, self.written.messages.len(), number);
                #[rustfmt::skip]
                self.written.media.push(WrittenMedium { place, kind, message, part });
            }
            PartKind::Thinking => self.add_thoughts(turn, address),
            PartKind::Thoughts => self.add_thoughts(turn, address.wrapping_add(THOUGHTS_START.len())),
            PartKind::Label => {}
        }
    }

    /// Adds the thoughts of a turn, which are joined at an address.
    fn add_thoughts(&mut self, turn: &BodyTurn<'b>, mut address: usize) {
        for thought in &turn.thoughts {
            self.push_atom(thought.place, kind::THOUGHT, AtomForm::Value, thought.text.into(), address);
            address = address.wrapping_add(thought.text.len() + 1);
        }
    }
}

fn text_part(text: Cow<'_, str>) -> Data<'_> {
    typed("text", "text", Data::Str(text))
}
