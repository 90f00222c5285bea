//! Writes a message.

use std::borrow::Cow;

use super::super::change::ChangeKind;
use super::super::normal::{Arguments, Call, Form, Medium, Part, PartKind, Place, Role};
use super::super::plan::value::*;
use super::super::plan::{Choice, Class, Kinds, kind};
use super::turns::{Draft, Piece};
use super::{Atom, Given, Spoken, Writer, WrittenMedium, object, own, own_key};
use crate::error::Result;
use crate::json::{DEPTH, Data, Entry};

/// The fields for reasoning by the values of their choice.
const THOUGHT_KEYS: [&str; 4] = ["", "reasoning_content", "reasoning", "thinking"];

const THOUGHTS_START: &str = "<think>\n";

impl<'n, 'b> Writer<'n, 'b, '_, '_> {
    pub fn write_message(&mut self, mut draft: Draft<'n, 'b>) -> Result<()> {
        let index = self.messages.len();
        let root = self.written.paths.item(Place::BODY, "messages", index);
        let has_calls = !draft.calls.is_empty();
        let role = own(draft.role.name());
        let kept = draft.node.filter(|_| self.is_kept(&draft));
        let kept_role = kept.and_then(|node| node.get_text("role"));
        let made_role = if let Data::Str(role) = &role {
            role.as_ptr().addr()
        } else {
            0
        };
        self.written.spoken.push(Spoken {
            role: draft.role,
            role_address: kept_role.map_or(made_role, |role| role.as_ptr().addr()),
            has_parts: kept.is_some() && draft.form == Form::Parts,
            call: draft.result.and_then(|result| result.call),
            place: draft.place,
        });
        let message = match kept {
            Some(node) => {
                self.add_kept(&draft, root, index);
                Given::Kept(node)
            }
            None => {
                let mut entries: Vec<Entry<'b>> = vec![own_key("role", role)];
                self.write_thoughts(&mut draft, root, index, &mut entries);
                let content = self.write_content(&mut draft, root, index);
                if let (Some(Data::List(_)), Some(spoken)) = (&content, self.written.spoken.last_mut()) {
                    spoken.has_parts = true;
                }
                entries.extend(content.map(|content| own_key("content", content)));
                for field in draft.name.iter().chain(&draft.others) {
                    let path = self.written.paths.key(root, field.key);
                    self.add_strings(field.value, field.place, kind::FIELD, path, index);
                    entries.push((field.key.into(), field.value.to_data(DEPTH)));
                }
                if has_calls {
                    let calls = draft.calls.iter().enumerate();
                    let calls = calls.map(|(number, (call, place))| {
                        let path = self.written.paths.item(root, "tool_calls", number);
                        self.write_call(call, *place, path, index)
                    });
                    entries.push(own_key("tool_calls", Data::List(calls.collect::<Result<_>>()?)));
                }
                self.write_result(&draft, &mut entries);
                Given::Made(object(entries))
            }
        };
        self.messages.push(message);
        Ok(())
    }

    /// Returns whether the message of the body has the form of the plan.
    fn is_kept(&self, draft: &Draft<'n, 'b>) -> bool {
        let is_own = |choice| self.plan(choice) == AS_IS;
        let is_text = |part: &Part<'_>| match part.kind {
            PartKind::Text => draft.form == Form::Text || part.node.get_text("type") == Some("text"),
            PartKind::Block => false,
            PartKind::Medium(_) => is_own(Choice::Media),
        };
        let content = self.plan.content(Class::new(draft.role, !draft.calls.is_empty()));
        let is_content_own = match draft.form {
            _ if content == AS_IS => true,
            Form::Text => content == STRING,
            Form::Parts => content == PARTS,
            Form::Absent | Form::Null => false,
        };
        let is_empty = draft
            .pieces
            .iter()
            .all(|piece| piece.text().is_empty() && piece.medium().is_none());
        let thought_key = THOUGHT_KEYS.get(usize::from(self.plan(Choice::Thoughts))).copied();
        let keeps_thoughts = is_own(Choice::Thoughts) || draft.thought_key.is_some() && draft.thought_key == thought_key;
        let is_plain = |call: &Call<'_>| match &call.arguments {
            Arguments::Json(json) => !json.is_nothing(),
            Arguments::Value(_) => true,
            Arguments::Absent | Arguments::Input(_) | Arguments::Fields(_) => false,
        };
        is_content_own
            && (!is_empty || draft.form == Form::Text && draft.role != Role::Assistant || is_own(Choice::Empty) && content == AS_IS)
            && (draft.thoughts.is_empty() || draft.thoughts.len() == 1 && keeps_thoughts)
            && (draft.calls.is_empty()
                || is_own(Choice::Arguments) && is_own(Choice::Identifiers) && draft.calls.iter().all(|(call, _)| is_plain(call)))
            && (draft.result.is_none() || is_own(Choice::Names) && is_own(Choice::Identifiers))
            && draft
                .pieces
                .iter()
                .all(|piece| matches!(piece, Piece::Part(part) if is_text(part)))
    }

    /// Adds the strings of a message that is kept.
    fn add_kept(&mut self, draft: &Draft<'n, 'b>, root: Place, index: usize) {
        for thought in &draft.thoughts {
            let path = self.written.paths.key(root, draft.thought_key.unwrap_or_default());
            self.add_atom(thought.place, kind::THOUGHT, thought.text.into(), path, 0, index);
        }
        let kind = 1 << Class::new(draft.role, !draft.calls.is_empty()) as Kinds;
        for (number, piece) in draft.pieces.iter().enumerate() {
            let path = match draft.form {
                Form::Parts => self.written.paths.item(root, "content", number),
                _ => self.written.paths.key(root, "content"),
            };
            match piece.medium() {
                Some((part, medium)) => self.add_medium(part, medium, path, index),
                None if draft.form == Form::Parts => {
                    let path = self.written.paths.key(path, "text");
                    self.add_piece(piece, draft, kind, path, 0, index);
                }
                None => self.add_piece(piece, draft, kind, path, 0, index),
            }
        }
        for field in draft.name.iter().chain(&draft.others) {
            let path = self.written.paths.key(root, field.key);
            self.add_strings(field.value, field.place, kind::FIELD, path, index);
        }
        for (number, (call, _)) in draft.calls.iter().enumerate() {
            let path = self.written.paths.item(root, "tool_calls", number);
            let path = self.written.paths.key(path, "function");
            self.add_call(call, path, index);
        }
    }

    /// Adds the reasoning to the entries of a message or to its content.
    fn write_thoughts(&mut self, draft: &mut Draft<'n, 'b>, root: Place, index: usize, entries: &mut Vec<Entry<'b>>) {
        let Some(first) = draft.thoughts.first() else { return };
        match self.plan(Choice::Thoughts) {
            CONTENT => {
                self.note(
                    first.place,
                    ChangeKind::Moved,
                    "the template has no place for reasoning of its own",
                );
                let texts: Vec<_> = draft.thoughts.iter().map(|thought| thought.text).collect();
                let text = format!("{THOUGHTS_START}{}\n</think>\n\n", texts.join("\n"));
                draft.pieces.insert(0, Piece::Thoughts(text));
            }
            DROPPED => {
                for thought in &draft.thoughts {
                    self.give_up(kind::THOUGHT, thought.place, "the template fails with reasoning");
                }
            }
            choice => {
                let own = draft.thought_key.unwrap_or("reasoning_content");
                let key = match THOUGHT_KEYS.get(usize::from(choice)) {
                    Some(key) if choice != AS_IS => *key,
                    _ => own,
                };
                if draft.thought_key.is_some() && key != own {
                    self.note(
                        first.place,
                        ChangeKind::Renamed,
                        "the template reads reasoning in another field",
                    );
                }
                let path = self.written.paths.key(root, key);
                let first = self.written.atoms.len();
                let mut text = String::new();
                for thought in &draft.thoughts {
                    if !text.is_empty() {
                        text.push('\n');
                    }
                    self.add_atom(thought.place, kind::THOUGHT, thought.text.into(), path, text.len(), index);
                    text.push_str(thought.text);
                }
                self.locate(first, &text);
                entries.push((key.into(), Data::Str(text.into())));
            }
        }
    }

    /// Moves or drops the media of a content. Returns whether there were any.
    fn place_media(&mut self, draft: &mut Draft<'n, 'b>) -> bool {
        let had_media = draft.pieces.iter().any(|piece| piece.medium().is_some());
        match self.plan(Choice::Media) {
            FIRST => draft.pieces.sort_by_key(|piece| piece.medium().is_none()),
            DROPPED if had_media => {
                let placeholder = self.settings.media_placeholder.as_ref();
                for piece in &mut draft.pieces {
                    let Some((part, _)) = piece.medium() else { continue };
                    match placeholder {
                        Some(text) => {
                            self.note(part.place, ChangeKind::Recast, "the template has no place for it");
                            *piece = Piece::Label(text.clone());
                        }
                        None => self.give_up(kind::MEDIUM, part.place, "the template has no place for it"),
                    }
                }
                draft.pieces.retain(|piece| piece.medium().is_none());
            }
            _ => {}
        }
        had_media
    }

    fn write_content(&mut self, draft: &mut Draft<'n, 'b>, root: Place, index: usize) -> Option<Data<'b>> {
        let class = Class::new(draft.role, !draft.calls.is_empty());
        let had_media = self.place_media(draft);
        let mut choice = self.plan.content(class);
        if had_media && self.plan(Choice::Media) == DROPPED && choice == AS_IS {
            choice = STRING;
        }
        let is_empty = draft
            .pieces
            .iter()
            .all(|piece| piece.medium().is_none() && piece.text().is_empty());
        if is_empty {
            return self.write_empty(draft, choice);
        }
        let has_media = draft.pieces.iter().any(|piece| piece.medium().is_some());
        let has_several = draft.pieces.len() > 1;
        let is_list = draft.form == Form::Parts && (self.is_chat || has_several);
        let wants_parts = match choice {
            AS_IS => is_list,
            STRING => false,
            _ => true,
        };
        let kind = 1 << class as Kinds;
        let is_one = !has_media && has_several && (choice == ONE_PART || draft.is_joined);
        if has_media || wants_parts && !is_one {
            if draft.form != Form::Parts && choice != AS_IS {
                self.note(draft.content, ChangeKind::Wrapped, "the template takes the content as parts");
            }
            let parts = draft.pieces.iter().enumerate();
            let parts = parts.map(|(number, piece)| {
                let path = self.written.paths.item(root, "content", number);
                if let Some((part, medium)) = piece.medium() {
                    self.add_medium(part, medium, path, index);
                    return self.write_medium(part, medium);
                }
                let path = self.written.paths.key(path, "text");
                self.add_piece(piece, draft, kind, path, 0, index);
                text_part(match piece {
                    Piece::Part(part) => Data::Str(part.text.clone()),
                    Piece::Label(text) | Piece::Thoughts(text) => Data::Str(text.clone().into()),
                })
            });
            return Some(Data::List(parts.collect()));
        }
        if is_list {
            self.note(
                draft.content,
                ChangeKind::Joined,
                "the template takes the content as one string",
            );
        }
        let mut path = self.written.paths.key(root, "content");
        if wants_parts {
            path = self.written.paths.item(path, "", 0);
            path = self.written.paths.key(path, "text");
        }
        let first = self.written.atoms.len();
        let mut text = String::new();
        for piece in &draft.pieces {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            self.add_piece(piece, draft, kind, path, text.len(), index);
            text.push_str(piece.text());
        }
        let text = match draft.pieces.as_slice() {
            [Piece::Part(part)] => Data::Str(part.text.clone()),
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
    fn write_empty(&mut self, draft: &Draft<'n, 'b>, choice: u8) -> Option<Data<'b>> {
        let has_calls = !draft.calls.is_empty();
        let text = || Some(Data::Str("".into()));
        let part = || Some(Data::List(vec![text_part(Data::Str("".into()))]));
        let is_shown = self.is_chat && draft.form != Form::Text;
        if draft.role != Role::Assistant {
            return if matches!(choice, PARTS | ONE_PART) { part() } else { text() };
        }
        match self.plan(Choice::Empty) {
            EMPTY_TEXT => {
                if is_shown {
                    let reason = "the template can fail without content, or print `None`";
                    self.note(draft.content, ChangeKind::Emptied, reason);
                }
                text()
            }
            NULL => {
                if draft.form == Form::Text {
                    self.note(draft.content, ChangeKind::Omitted, "the template takes null as no content");
                }
                Some(Data::None)
            }
            EMPTY_PART => {
                if is_shown {
                    self.note(draft.content, ChangeKind::Emptied, "the template wants parts");
                }
                part()
            }
            _ => match draft.form {
                Form::Null => Some(Data::None),
                Form::Text if choice == PARTS => part(),
                Form::Text => text(),
                Form::Parts if has_calls => Some(Data::None),
                Form::Parts => text(),
                Form::Absent if self.is_chat || !has_calls => None,
                Form::Absent => Some(Data::None),
            },
        }
    }

    /// Adds the identifier and the name of a result.
    fn write_result(&mut self, draft: &Draft<'n, 'b>, entries: &mut Vec<Entry<'b>>) {
        let Some(result) = draft.result else { return };
        let called = result.call.and_then(|call| self.find_call(call));
        // A string of the call is copied, because the trace tells strings apart by their places.
        let id = match called.map_or(result.id, |called| called.id) {
            id if id == result.id => result.id.map(Cow::Borrowed),
            id => id.map(|id| Cow::Owned(id.to_owned())),
        };
        if let Some(id) = self.identify(id, result.call, draft.place) {
            entries.push(own_key("tool_call_id", Data::Str(id)));
        }
        let fills = self.plan(Choice::Names) != AS_IS && result.name.is_none();
        // The name of the call is not copied: a template that prints it here does not lose it.
        let name = result
            .name
            .or_else(|| fills.then(|| called.map_or("tool", |called| called.name)));
        entries.extend(name.map(|name| own_key("name", Data::Str(name.into()))));
        if fills && !draft.is_made {
            let reason = "the template reads the name of the function in its result";
            self.note(draft.place, ChangeKind::Filled, reason);
        }
    }

    /// Sets the addresses of the strings that were joined to one.
    fn locate(&mut self, first: usize, text: &str) {
        let start = text.as_bytes().as_ptr().addr();
        for atom in self.written.atoms.iter_mut().skip(first) {
            atom.memory = start.wrapping_add(atom.range.start)..start.wrapping_add(atom.range.end);
        }
    }

    fn add_medium(&mut self, part: &Part<'b>, medium: Medium, path: Place, index: usize) {
        self.written.media.push(WrittenMedium {
            place: part.place,
            kind: medium,
            node: part.node,
            message: index,
        });
        self.written.atoms.push(Atom {
            place: part.place,
            kind: kind::MEDIUM,
            is_key: false,
            text: "".into(),
            path,
            range: 0..0,
            memory: 0..0,
            message: index,
        });
    }

    fn write_medium(&mut self, part: &Part<'b>, medium: Medium) -> Data<'b> {
        let choice = self.plan(Choice::Media);
        if !matches!(choice, BY_TYPE | BY_URL) {
            return part.node.to_data(DEPTH);
        }
        self.note(
            part.place,
            ChangeKind::Renamed,
            "the template knows the medium by another type",
        );
        if choice == BY_TYPE {
            return object(vec![own_key("type", own(medium.name()))]);
        }
        let kind = format!("{}_url", medium.name());
        let url = object(vec![own_key("url", Data::Str("".into()))]);
        object(vec![own_key("type", own(&kind)), (kind.into(), url)])
    }

    fn add_piece(&mut self, piece: &Piece<'n, 'b>, draft: &Draft<'n, 'b>, kind: Kinds, path: Place, start: usize, index: usize) {
        match piece {
            Piece::Part(part) => self.add_atom(part.place, kind, part.text.clone(), path, start, index),
            Piece::Thoughts(_) => {
                let mut start = start + THOUGHTS_START.len();
                let first = self.written.atoms.len();
                for thought in &draft.thoughts {
                    self.add_atom(thought.place, kind::THOUGHT, thought.text.into(), path, start, index);
                    start += thought.text.len() + 1;
                }
                // The template gets a copy of the string.
                for atom in self.written.atoms.iter_mut().skip(first) {
                    atom.memory = 0..0;
                }
            }
            Piece::Label(_) => {}
        }
    }
}

fn text_part(text: Data<'_>) -> Data<'_> {
    object(vec![own_key("type", own("text")), own_key("text", text)])
}
