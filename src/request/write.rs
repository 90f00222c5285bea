//! Writes what a request says as messages and tools, by a plan.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::change::ChangeKind as What;
use super::node::Node;
use super::normal::{Arguments, Call, Field, Form, Medium, Normal, Part, PartKind, Place, Role, Thought, Tool, ToolForm, Turn};
use super::options::Settings;
use super::plan::value::*;
use super::plan::{Choice, Class, Kinds, Plan, kind};
use crate::json::{self, DEPTH, Data, Object};

/// A text that the prompt shall have, and where it was put.
#[derive(Debug)]
pub struct Atom<'b> {
    pub place: Place,
    pub kind: Kinds,
    pub is_key: bool,
    pub text: Cow<'b, str>,
    /// The pointer of the string in the request that the template gets.
    pub path: String,
    /// The place in the string.
    pub range: Range<usize>,
    pub message: usize,
}

/// A request as a template gets it.
#[derive(Debug, Default)]
pub struct Written<'b> {
    pub messages: Vec<Data<'b>>,
    pub tools: Vec<Data<'b>>,
    pub atoms: Vec<Atom<'b>>,
    /// The role of each message, and whether it has calls.
    pub roles: Vec<(Role, bool)>,
    /// The place in the body of each message.
    pub places: Vec<Place>,
    pub changes: Vec<(Place, What, &'static str)>,
    /// What the plan gives up.
    pub given_up: Vec<(Kinds, Place)>,
    /// The media, each with the index of its message.
    pub media: Vec<(Place, Medium, usize)>,
}

/// The call of a result, its identifier, and the name of the function.
type ResultOf<'b> = (Option<(usize, usize)>, Option<&'b str>, Option<&'b str>);

/// A message before it is written.
#[derive(Clone)]
struct Draft<'n, 'b> {
    role: Role,
    place: Place,
    content: Place,
    form: Form,
    pieces: Vec<Piece<'n, 'b>>,
    thoughts: &'n [Thought<'b>],
    thought_key: Option<&'b str>,
    calls: Vec<(&'n Call<'b>, (usize, usize))>,
    /// The call and the identifier of a result.
    result: Option<ResultOf<'b>>,
    name: Option<Field<'b>>,
    others: &'n [Field<'b>],
    is_made: bool,
    is_joined: bool,
}

#[derive(Clone)]
enum Piece<'n, 'b> {
    Part(&'n Part<'b>),
    Label(String),
}

impl<'n, 'b> Piece<'n, 'b> {
    fn medium(&self) -> Option<(&'n Part<'b>, Medium)> {
        match self {
            Self::Part(part) => match part.kind {
                PartKind::Medium(medium) => Some((part, medium)),
                _ => None,
            },
            Self::Label(_) => None,
        }
    }

    fn text(&self) -> &str {
        match self {
            Self::Part(part) => &part.text,
            Self::Label(text) => text,
        }
    }
}

const LIST: &str = "the template takes the content as one text";
const TEXT_NEEDS_PARTS: &str = "the template takes the content as parts";
const ALTERNATES: &str = "the template wants the user and the assistant in turns";

/// Writes a request by a plan.
pub fn write<'b>(normal: &Normal<'b>, plan: &Plan, is_chat: bool, settings: &Settings) -> Written<'b> {
    let mut writer = Writer {
        normal,
        plan: *plan,
        is_chat,
        settings,
        written: Written::default(),
        ids: HashMap::new(),
    };
    let mut drafts = writer.draft();
    let drops_tools = matches!(plan.get(Choice::Drops), TOOLS | TOOLS_AND_CALLS) && !normal.refuses_tools;
    if drops_tools && settings.tools_as_text {
        writer.tell_tools(&mut drafts);
    }
    for draft in drafts {
        writer.write_message(draft);
    }
    for tool in &normal.tools {
        if normal.refuses_tools {
            writer.note(tool.place, What::Dropped, "`tool_choice` is `none`");
        } else if drops_tools && settings.tools_as_text {
            writer.note(tool.place, What::Recast, "the template does not print tools");
        } else if drops_tools {
            writer.give_up(kind::TOOL, tool.place, "the template fails with tools");
        } else {
            writer.write_tool(tool);
        }
    }
    for (place, text) in &normal.documents {
        let path = normal.places.pointer(*place);
        writer.add_atom(*place, kind::FIELD, Cow::Borrowed(text), &path, 0, usize::MAX);
    }
    for note in &normal.notes {
        let what = if note.is_moved { What::Moved } else { What::Dropped };
        writer.note(note.place, what, note.reason);
    }
    writer.written
}

struct Writer<'n, 'b, 's> {
    normal: &'n Normal<'b>,
    plan: Plan,
    is_chat: bool,
    settings: &'s Settings,
    written: Written<'b>,
    ids: HashMap<String, String>,
}

impl<'n, 'b> Writer<'n, 'b, '_> {
    fn note(&mut self, place: Place, what: What, reason: &'static str) {
        let is_known = |change: &(Place, What, _)| (change.0, change.1) == (place, what);
        if place != Place::BODY && !self.written.changes.iter().rev().take(8).any(is_known) {
            self.written.changes.push((place, what, reason));
        }
    }

    fn give_up(&mut self, kind: Kinds, place: Place, reason: &'static str) {
        self.written.given_up.push((kind, place));
        self.note(place, What::Dropped, reason);
    }

    fn plan(&self, choice: Choice) -> u8 {
        self.plan.get(choice)
    }

    /// Returns the messages before they are written: roles, order and number are those of the plan.
    fn draft(&mut self) -> Vec<Draft<'n, 'b>> {
        let mut drafts: Vec<_> = self
            .normal
            .turns
            .iter()
            .enumerate()
            .map(|(index, turn)| new_draft(index, turn))
            .collect();
        for draft in &mut drafts {
            if draft.role == Role::Developer && self.plan(Choice::Developer) != AS_IS {
                let is_system = self.plan(Choice::Developer) == AS_SYSTEM;
                draft.role = if is_system { Role::System } else { Role::User };
                self.note(draft.place, What::Recast, "the template does not know the role `developer`");
            }
        }
        drafts = self.place_systems(drafts);
        if matches!(self.plan(Choice::Drops), CALLS | TOOLS_AND_CALLS) {
            for draft in &mut drafts {
                for (call, _) in std::mem::take(&mut draft.calls) {
                    if self.settings.tools_as_text {
                        draft.pieces.push(Piece::Label(describe_call(call)));
                        draft.form = Form::Text;
                        self.note(call.place, What::Recast, "the template does not print calls");
                    } else {
                        self.give_up(kind::CALL, call.place, "the template fails with calls");
                    }
                }
            }
            drafts.retain(|draft| draft.role != Role::Assistant || !draft.pieces.is_empty() || !draft.thoughts.is_empty());
        }
        if self.plan(Choice::Results) != AS_IS {
            for draft in &mut drafts {
                if let Some((call, _, name)) = draft.result.take() {
                    let called = call.map(|call| self.name_of(call)).or(name).unwrap_or("the tool");
                    draft.pieces.insert(0, Piece::Label(format!("Result of {called}:")));
                    (draft.role, draft.form, draft.is_joined) = (Role::User, Form::Text, true);
                    self.note(draft.place, What::Recast, "the template does not take results of tools");
                }
            }
        }
        if self.plan(Choice::Calls) == APART {
            drafts = self.set_apart(drafts);
        }
        if self.plan(Choice::Calls) == SPLIT {
            drafts = self.split_calls(drafts);
        }
        match self.plan(Choice::Alternation) {
            AS_IS => drafts,
            alternation => self.alternate(drafts, alternation),
        }
    }

    fn name_of(&self, (turn, call): (usize, usize)) -> &'b str {
        let call = self.normal.turns.get(turn).and_then(|turn| turn.calls.get(call));
        call.map_or("the tool", |call| call.name)
    }

    fn place_systems(&mut self, mut drafts: Vec<Draft<'n, 'b>>) -> Vec<Draft<'n, 'b>> {
        let systems = self.plan(Choice::Systems);
        let is_system = |draft: &Draft<'_, '_>| matches!(draft.role, Role::System | Role::Developer);
        if matches!(systems, LATER_AS_USER | ALL_AS_USER) {
            for (index, draft) in drafts.iter_mut().enumerate() {
                if is_system(draft) && (index > 0 || systems == ALL_AS_USER) {
                    draft.role = Role::User;
                    self.note(
                        draft.place,
                        What::Recast,
                        "the template does not take a message of the system here",
                    );
                }
            }
        }
        if matches!(systems, MERGED | INTO_USER) {
            let (own, mut rest): (Vec<_>, Vec<_>) = drafts.into_iter().partition(is_system);
            let mut own = own.into_iter();
            let Some(mut first) = own.next() else { return rest };
            for draft in own {
                first.pieces.extend(draft.pieces);
                self.note(draft.place, What::Merged, "the template takes one message of the system");
            }
            if systems == MERGED {
                rest.insert(0, first);
                return rest;
            }
            self.note(first.place, What::Merged, "the template takes no message of the system");
            match rest.iter_mut().find(|draft| draft.role == Role::User) {
                Some(user) => {
                    user.pieces.splice(0..0, first.pieces);
                }
                None => {
                    first.role = Role::User;
                    rest.insert(0, first);
                }
            }
            return rest;
        }
        drafts
    }

    /// Makes a message of its own of the text before calls.
    fn set_apart(&mut self, drafts: Vec<Draft<'n, 'b>>) -> Vec<Draft<'n, 'b>> {
        let mut all = Vec::new();
        for draft in drafts {
            let has_content = draft
                .pieces
                .iter()
                .any(|piece| piece.medium().is_some() || !piece.text().trim().is_empty());
            if draft.calls.is_empty() || !has_content {
                all.push(draft);
                continue;
            }
            self.note(draft.place, What::Split, "the template does not print a text beside calls");
            let (calls, mut text) = (draft.clone(), draft);
            text.calls.clear();
            text.thoughts = &[];
            all.extend([
                text,
                Draft {
                    pieces: Vec::new(),
                    form: Form::Absent,
                    ..calls
                },
            ]);
        }
        all
    }

    /// Makes a message of each call, with its result after it.
    fn split_calls(&mut self, drafts: Vec<Draft<'n, 'b>>) -> Vec<Draft<'n, 'b>> {
        let mut all = Vec::new();
        let mut drafts = drafts.into_iter().peekable();
        while let Some(draft) = drafts.next() {
            if draft.calls.len() < 2 {
                all.push(draft);
                continue;
            }
            let mut results = Vec::new();
            while let Some(result) = drafts.next_if(|next| next.result.is_some()) {
                results.push(result);
            }
            for (number, call) in draft.calls.iter().enumerate() {
                let mut own = draft.clone();
                own.calls = vec![*call];
                if number > 0 {
                    (own.pieces, own.thoughts, own.form, own.others) = (Vec::new(), &[], Form::Absent, &[]);
                    self.note(call.0.place, What::Split, "the template takes one call in a message");
                }
                all.push(own);
                let is_own = |result: &Draft<'_, '_>| result.result.is_some_and(|(found, _, _)| found == Some(call.1));
                let (own, rest): (Vec<_>, Vec<_>) = results.into_iter().partition(is_own);
                all.extend(own);
                results = rest;
            }
            all.extend(results);
        }
        all
    }

    /// Inserts messages, or merges them, so that the user and the assistant speak in turns.
    fn alternate(&mut self, drafts: Vec<Draft<'n, 'b>>, alternation: u8) -> Vec<Draft<'n, 'b>> {
        let mut all: Vec<Draft<'n, 'b>> = Vec::new();
        let blank = |role: Role| Draft {
            role,
            form: Form::Text,
            is_made: true,
            pieces: if alternation == INSERTED_BLANK {
                vec![Piece::Label(" ".to_owned())]
            } else {
                Vec::new()
            },
            ..empty_draft()
        };
        for draft in drafts {
            let Some(last) = all.last_mut() else {
                if draft.role == Role::Assistant {
                    self.note(draft.place, What::Inserted, ALTERNATES);
                    all.push(blank(Role::User));
                }
                all.push(draft);
                continue;
            };
            let is_same = last.role == draft.role && matches!(draft.role, Role::User | Role::Assistant) && last.calls.is_empty();
            if draft.role == Role::Assistant && last.role == Role::System {
                self.note(draft.place, What::Inserted, ALTERNATES);
                all.push(blank(Role::User));
            } else if is_same && alternation == MERGED_TURNS {
                self.note(draft.place, What::Merged, ALTERNATES);
                last.form = if last.form == Form::Parts || draft.form == Form::Parts {
                    Form::Parts
                } else {
                    Form::Text
                };
                last.pieces.extend(draft.pieces);
                if last.thoughts.is_empty() {
                    last.thoughts = draft.thoughts;
                }
                last.calls = draft.calls;
                continue;
            } else if is_same {
                self.note(draft.place, What::Inserted, ALTERNATES);
                let other = if draft.role == Role::User {
                    Role::Assistant
                } else {
                    Role::User
                };
                all.push(blank(other));
            } else if draft.role == Role::User && last.role == Role::Tool {
                self.note(draft.place, What::Inserted, ALTERNATES);
                all.push(blank(Role::Assistant));
            } else if draft.role == Role::User && !last.calls.is_empty() && alternation != MERGED_TURNS {
                self.note(draft.place, What::Inserted, "the template wants a result after a call");
                let calls = last.calls.clone();
                for (call, index) in calls {
                    all.push(Draft {
                        result: Some((Some(index), call.id, None)),
                        ..Draft {
                            pieces: Vec::new(),
                            ..blank(Role::Tool)
                        }
                    });
                }
                all.push(blank(Role::Assistant));
            }
            all.push(draft);
        }
        all
    }

    /// Adds the JSON text of the tools to the first message.
    fn tell_tools(&mut self, drafts: &mut Vec<Draft<'n, 'b>>) {
        let mut text = String::from("You can use these tools:");
        for tool in &self.normal.tools {
            text.push('\n');
            text.push_str(&tool.node.to_json());
        }
        let takes = |draft: &&mut Draft<'_, '_>| matches!(draft.role, Role::System | Role::Developer | Role::User);
        match drafts.first_mut().filter(takes) {
            Some(first) => first.pieces.push(Piece::Label(text)),
            None => drafts.insert(
                0,
                Draft {
                    pieces: vec![Piece::Label(text)],
                    ..empty_draft()
                },
            ),
        }
    }

    fn write_message(&mut self, draft: Draft<'n, 'b>) {
        let index = self.written.messages.len();
        let root = format!("/messages/{index}");
        let class = Class::new(draft.role, !draft.calls.is_empty());
        let mut entries: Vec<json::Entry<'b>> = vec![("role".into(), own(draft.role.name()))];
        let mut pieces = draft.pieces;
        let mut kinds = self.plan.content(class);
        if let Some(first) = draft.thoughts.first() {
            match self.plan(Choice::Thoughts) {
                CONTENT => {
                    let texts: Vec<_> = draft.thoughts.iter().map(|thought| thought.text).collect();
                    pieces.insert(0, Piece::Label(format!("<think>\n{}\n</think>\n\n", texts.join("\n"))));
                    self.note(first.place, What::Moved, "the template has no place for reasoning of its own");
                }
                DROPPED => self.give_up(kind::THOUGHT, first.place, "the template fails with reasoning"),
                choice => {
                    let own = draft.thought_key.unwrap_or("reasoning_content");
                    let key = ["", "reasoning_content", "reasoning", "thinking"]
                        .get(choice as usize)
                        .copied();
                    let key = key.filter(|key| !key.is_empty()).unwrap_or(own);
                    if draft.thought_key.is_some() && key != own {
                        self.note(first.place, What::Renamed, "the template reads reasoning in another field");
                    }
                    let path = format!("{root}/{key}");
                    let mut text = String::new();
                    for thought in draft.thoughts {
                        if !text.is_empty() {
                            text.push('\n');
                        }
                        let start = text.len();
                        text.push_str(thought.text);
                        self.add_atom(thought.place, kind::THOUGHT, thought.text.into(), &path, start, index);
                    }
                    entries.push((key.into(), Data::Str(text.into())));
                }
            }
        }
        let had_media = pieces.iter().any(|piece| piece.medium().is_some());
        match self.plan(Choice::Media) {
            FIRST => pieces.sort_by_key(|piece| piece.medium().is_none()),
            DROPPED => {
                let placeholder = self.settings.media_placeholder.as_ref();
                for (part, _) in pieces.iter().filter_map(Piece::medium) {
                    match placeholder {
                        Some(_) => self.note(part.place, What::Recast, "the template has no place for it"),
                        None => self.give_up(kind::MEDIUM, part.place, "the template has no place for it"),
                    }
                }
                match placeholder {
                    Some(text) => pieces
                        .iter_mut()
                        .filter(|piece| piece.medium().is_some())
                        .for_each(|piece| *piece = Piece::Label(text.clone())),
                    None => pieces.retain(|piece| piece.medium().is_none()),
                }
                if had_media && kinds == AS_IS {
                    kinds = STRING;
                }
            }
            _ => {}
        }
        let content = self.write_content(
            &draft.role,
            kinds,
            draft.form,
            draft.content,
            draft.is_joined,
            !draft.calls.is_empty(),
            &pieces,
            draft.thoughts,
            &root,
            class,
            index,
        );
        if let Some(content) = content {
            entries.push(("content".into(), content));
        }
        if let Some(name) = draft.name {
            let path = format!("{root}/name");
            self.add_strings(name.value, name.place, kind::FIELD, &path, index);
            entries.push(("name".into(), name.value.to_data(DEPTH)));
        }
        for field in draft.others {
            let path = format!("{root}/{}", json::escape_key(field.key));
            self.add_strings(field.value, field.place, kind::FIELD, &path, index);
            entries.push((field.key.into(), field.value.to_data(DEPTH)));
        }
        if !draft.calls.is_empty() {
            let calls = draft.calls.iter().enumerate();
            let calls =
                calls.map(|(number, (call, place))| self.write_call(call, *place, &format!("{root}/tool_calls/{number}"), index));
            let calls = calls.collect();
            entries.push(("tool_calls".into(), Data::List(calls)));
        }
        if let Some((call, id, name)) = draft.result {
            let called = call.and_then(|(turn, number)| self.normal.turns.get(turn)?.calls.get(number));
            if let Some(id) = self.identify(called.map_or(id, |called| called.id), call, draft.place) {
                entries.push(("tool_call_id".into(), Data::Str(id)));
            }
            let fills = self.plan(Choice::Names) != AS_IS && name.is_none();
            let name = name.or_else(|| fills.then(|| called.map_or("tool", |called| called.name)));
            if let Some(name) = name {
                entries.push(("name".into(), Data::Str(name.into())));
            }
            if fills && !draft.is_made {
                self.note(
                    draft.place,
                    What::Filled,
                    "the template reads the name of the function in its result",
                );
            }
        }
        self.written.messages.push(Data::Object(Object::new(entries)));
        self.written.roles.push((draft.role, !draft.calls.is_empty()));
        self.written.places.push(draft.place);
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of a draft that is taken apart")]
    fn write_content(
        &mut self,
        role: &Role,
        choice: u8,
        form: Form,
        content: Place,
        is_joined: bool,
        has_calls: bool,
        pieces: &[Piece<'n, 'b>],
        thoughts: &'n [Thought<'b>],
        root: &str,
        class: Class,
        index: usize,
    ) -> Option<Data<'b>> {
        let empty_text = || Some(Data::Str("".into()));
        let empty_part = || {
            let entries = vec![
                ("type".into(), Data::Str("text".into())),
                ("text".into(), Data::Str("".into())),
            ];
            Some(Data::List(vec![Data::Object(Object::new(entries))]))
        };
        let is_empty = pieces.iter().all(|piece| piece.medium().is_none() && piece.text().is_empty());
        if is_empty {
            let empty = if *role == Role::Assistant {
                self.plan(Choice::Empty)
            } else {
                AS_IS
            };
            let wants_parts = matches!(choice, PARTS | ONE_PART);
            let is_shown = self.is_chat && !matches!(form, Form::Text);
            return match empty {
                EMPTY_TEXT => {
                    if is_shown {
                        self.note(
                            content,
                            What::Emptied,
                            "the template can fail without content, or print `None`",
                        );
                    }
                    empty_text()
                }
                NULL => {
                    if form == Form::Text {
                        self.note(content, What::Omitted, "the template takes null as no content");
                    }
                    Some(Data::None)
                }
                EMPTY_PART => {
                    if is_shown {
                        self.note(content, What::Emptied, "the template wants parts");
                    }
                    empty_part()
                }
                _ if *role != Role::Assistant => match wants_parts {
                    true => empty_part(),
                    false => empty_text(),
                },
                _ => match form {
                    Form::Null => Some(Data::None),
                    Form::Text if choice == PARTS => empty_part(),
                    Form::Text => empty_text(),
                    Form::Parts if has_calls => Some(Data::None),
                    Form::Parts => empty_text(),
                    Form::Absent if self.is_chat || !has_calls => None,
                    Form::Absent => Some(Data::None),
                },
            };
        }
        let media = pieces.iter().filter(|piece| piece.medium().is_some()).count();
        let wants = match choice {
            AS_IS => form == Form::Parts && (self.is_chat || pieces.len() > 1),
            STRING => false,
            _ => true,
        };
        let kind = 1 << class as Kinds;
        let is_one = media == 0 && pieces.len() > 1 && (choice == ONE_PART || is_joined);
        if !(wants || media > 0) || is_one {
            if form == Form::Parts && (self.is_chat || pieces.len() > 1) {
                self.note(content, What::Joined, LIST);
            }
            let mut path = format!("{root}/content");
            let as_part = is_one && wants;
            if as_part {
                path.push_str("/0/text");
            }
            let mut text = String::new();
            for piece in pieces {
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push('\n');
                }
                let start = text.len();
                text.push_str(piece.text());
                self.add_piece(piece, thoughts, kind, &path, start, index);
            }
            let text = match pieces {
                [Piece::Part(part)] => Data::Str(part.text.clone()),
                _ => Data::Str(text.into()),
            };
            return Some(match as_part {
                true => Data::List(vec![text_part(text)]),
                false => text,
            });
        }
        if form != Form::Parts && choice != AS_IS {
            self.note(content, What::Wrapped, TEXT_NEEDS_PARTS);
        }
        let parts = pieces.iter().enumerate().map(|(number, piece)| {
            let path = format!("{root}/content/{number}");
            if let Some((part, medium)) = piece.medium() {
                self.written.media.push((part.place, medium, index));
                self.written.atoms.push(Atom {
                    place: part.place,
                    kind: kind::MEDIUM,
                    is_key: false,
                    text: "".into(),
                    path,
                    range: 0..0,
                    message: index,
                });
                return self.write_medium(part, medium);
            }
            self.add_piece(piece, thoughts, kind, &format!("{path}/text"), 0, index);
            text_part(match piece {
                Piece::Part(part) => Data::Str(part.text.clone()),
                Piece::Label(text) => Data::Str(text.clone().into()),
            })
        });
        Some(Data::List(parts.collect()))
    }

    fn write_medium(&mut self, part: &Part<'b>, medium: Medium) -> Data<'b> {
        let name = match medium {
            Medium::Image => "image",
            Medium::Audio => "audio",
            Medium::Video => "video",
            Medium::File => "file",
        };
        let choice = self.plan(Choice::Media);
        if choice == AS_IS {
            return part.node.to_data(DEPTH);
        }
        self.note(part.place, What::Renamed, "the template knows the medium by another type");
        let kind = if choice == BY_URL {
            format!("{name}_url")
        } else {
            name.to_owned()
        };
        let mut entries: Vec<json::Entry<'b>> = vec![own_key("type", own(&kind))];
        if choice == BY_URL {
            let url = vec![("url".into(), Data::Str("".into()))];
            entries.push((kind.into(), Data::Object(Object::new(url))));
        }
        Data::Object(Object::new(entries))
    }

    fn add_piece(
        &mut self,
        piece: &Piece<'n, 'b>,
        thoughts: &'n [Thought<'b>],
        kind: Kinds,
        path: &str,
        start: usize,
        index: usize,
    ) {
        match piece {
            Piece::Part(part) => self.add_atom(part.place, kind, part.text.clone(), path, start, index),
            Piece::Label(label) if label.starts_with("<think>\n") => {
                let mut start = start + "<think>\n".len();
                for thought in thoughts {
                    self.add_atom(thought.place, kind::THOUGHT, thought.text.into(), path, start, index);
                    start += thought.text.len() + 1;
                }
            }
            Piece::Label(_) => {}
        }
    }

    fn add_atom(&mut self, place: Place, kind: Kinds, text: Cow<'b, str>, path: &str, start: usize, message: usize) {
        if text.trim().is_empty() {
            return;
        }
        let range = start..start + text.len();
        let path = path.to_owned();
        self.written.atoms.push(Atom {
            place,
            kind,
            is_key: false,
            text,
            path,
            range,
            message,
        });
    }

    /// Adds the strings and keys of a value.
    fn add_strings(&mut self, value: Node<'b>, place: Place, kind: Kinds, path: &str, index: usize) {
        if let Some(text) = value.text() {
            self.add_atom(place, kind, text.into(), path, 0, index);
        }
        for (number, item) in value.items().enumerate() {
            self.add_strings(item, place, kind, &format!("{path}/{number}"), index);
        }
        for (key, item) in value.entries() {
            let path = format!("{path}/{}", json::escape_key(key));
            if kind != kind::FIELD {
                self.add_key(key, place, kind, &path, index);
            }
            self.add_strings(item, place, kind, &path, index);
        }
    }

    fn add_key(&mut self, key: &'b str, place: Place, kind: Kinds, path: &str, message: usize) {
        if !key.trim().is_empty() {
            let (text, path) = (key.into(), path.to_owned());
            let range = 0..key.len();
            self.written.atoms.push(Atom {
                place,
                kind,
                is_key: true,
                text,
                path,
                range,
                message,
            });
        }
    }

    /// Returns the identifier of a call or a result.
    fn identify(&mut self, id: Option<&'b str>, call: Option<(usize, usize)>, place: Place) -> Option<Cow<'b, str>> {
        if self.plan(Choice::Identifiers) == AS_IS {
            return id.map(Cow::Borrowed);
        }
        let key = match (call, id) {
            (Some((turn, number)), _) => format!("{turn} {number}"),
            (None, id) => id?.to_owned(),
        };
        let count = self.ids.len() + 1;
        let own = self.ids.entry(key).or_insert_with(|| format!("call{count:05}")).clone();
        if id != Some(&own) {
            self.note(
                place,
                What::Renamed,
                "the template takes identifiers of nine letters and digits",
            );
        }
        Some(own.into())
    }

    fn write_call(&mut self, call: &'n Call<'b>, place: (usize, usize), root: &str, index: usize) -> Data<'b> {
        let mut entries: Vec<json::Entry<'b>> = Vec::new();
        if let Some(id) = self.identify(call.id, Some(place), call.place) {
            entries.push(("id".into(), Data::Str(id)));
        }
        let path = format!("{root}/function");
        self.add_atom(
            call.name_place,
            kind::CALL,
            call.name.into(),
            &format!("{path}/name"),
            0,
            index,
        );
        let arguments = self.write_arguments(call, &format!("{path}/arguments"), index);
        let function = vec![("name".into(), Data::Str(call.name.into())), ("arguments".into(), arguments)];
        entries.push(("type".into(), Data::Str("function".into())));
        entries.push(("function".into(), Data::Object(Object::new(function))));
        Data::Object(Object::new(entries))
    }

    fn write_arguments(&mut self, call: &'n Call<'b>, path: &str, index: usize) -> Data<'b> {
        let choice = self.plan(Choice::Arguments);
        let place = call.arguments_place;
        let empty = Data::Object(Object::default());
        let (value, text) = match &call.arguments {
            Arguments::Absent => (Some(empty), None),
            Arguments::Json(text) if matches!(text.trim(), "" | "null") => {
                self.note(place, What::Parsed, "the arguments are an empty object");
                (Some(empty), None)
            }
            Arguments::Json(text) => {
                let value = json::read(text, DEPTH).ok().filter(|value| matches!(value, Data::Object(_)));
                (value, Some(Cow::Borrowed(*text)))
            }
            Arguments::Value(value) => (Some(value.to_data(DEPTH)), None),
            Arguments::Input(text) => {
                let entries = vec![own_key("input", Data::Str((*text).into()))];
                (Some(Data::Object(Object::new(entries))), None)
            }
            Arguments::Fields(fields) => {
                let entries = fields.iter().map(|(key, value)| ((*key).into(), value.to_data(DEPTH)));
                (Some(Data::Object(Object::new(entries.collect()))), None)
            }
        };
        let is_text = match choice {
            OBJECT => false,
            TEXT => true,
            _ => text.is_some(),
        };
        match (value, text) {
            (Some(value), text) if !is_text => {
                if text.is_some() {
                    self.note(place, What::Parsed, "the template takes arguments as an object");
                }
                self.add_data(&value, call.arguments_place, path, index);
                value
            }
            (None, Some(text)) if !is_text => {
                self.note(
                    place,
                    What::Wrapped,
                    "the template takes arguments as an object, and the text is not the JSON of one",
                );
                self.add_atom(place, kind::CALL, text.clone(), &format!("{path}/input"), 0, index);
                Data::Object(Object::new(vec![("input".into(), Data::Str(text))]))
            }
            (value, text) => {
                let is_made = text.is_none();
                let text = text.unwrap_or_else(|| {
                    let mut text = String::new();
                    // Writing to a string cannot fail.
                    let _ = json::write_data(value.as_ref().unwrap_or(&Data::None), &mut text);
                    text.into()
                });
                if is_made && !matches!(call.arguments, Arguments::Absent) {
                    self.note(place, What::Encoded, "the template takes arguments as JSON text");
                }
                match &value {
                    Some(value) => self.add_encoded(value, place, &text, path, index),
                    None => self.add_atom(place, kind::CALL, text.clone(), path, 0, index),
                }
                Data::Str(text)
            }
        }
    }

    /// Adds the keys and strings of arguments.
    fn add_data(&mut self, value: &Data<'b>, place: Place, path: &str, index: usize) {
        match value {
            Data::Str(text) => self.add_atom(place, kind::CALL, text.clone(), path, 0, index),
            Data::List(items) => {
                for (number, item) in items.iter().enumerate() {
                    self.add_data(item, place, &format!("{path}/{number}"), index);
                }
            }
            Data::Object(object) => {
                for (key, item) in object.entries() {
                    let path = format!("{path}/{}", json::escape_key(key));
                    if !key.trim().is_empty() {
                        let range = 0..key.len();
                        let (text, path) = (key.clone(), path.clone());
                        self.written.atoms.push(Atom {
                            place,
                            kind: kind::CALL,
                            is_key: true,
                            text,
                            path,
                            range,
                            message: index,
                        });
                    }
                    self.add_data(item, place, &path, index);
                }
            }
            _ => {}
        }
    }

    /// Adds the keys and strings of arguments in their JSON text.
    fn add_encoded(&mut self, value: &Data<'b>, place: Place, text: &str, path: &str, index: usize) {
        let mut strings: Vec<&str> = Vec::new();
        collect_strings(value, &mut strings);
        let mut from = 0;
        for string in strings.into_iter().filter(|string| !string.trim().is_empty()) {
            let forms = [false, true].map(|ensure_ascii| {
                let mut quoted = String::new();
                json::write_string(string, ensure_ascii, &mut quoted);
                quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
            });
            let found = forms
                .iter()
                .find_map(|form| Some((text.get(from..)?.find(form.as_str())? + from, form)));
            if let Some((start, form)) = found {
                self.add_atom(place, kind::CALL, form.clone().into(), path, start, index);
                from = start + form.len();
            }
        }
    }

    fn write_tool(&mut self, tool: &'n Tool<'b>) {
        let index = self.written.tools.len();
        let is_wrapped = self.plan(Choice::Tools) != FLAT;
        let root = if is_wrapped {
            format!("/tools/{index}/function")
        } else {
            format!("/tools/{index}")
        };
        let fills = self.plan(Choice::Descriptions);
        let function = match tool.form {
            ToolForm::Wrapped => tool.node.get("function").unwrap_or(tool.node),
            _ => tool.node,
        };
        let is_custom = matches!(tool.form, ToolForm::Custom(_));
        let mut entries: Vec<json::Entry<'b>> = vec![("name".into(), Data::Str(tool.name.into()))];
        match tool.description {
            Some(description) => entries.push(("description".into(), Data::Str(description.into()))),
            None if fills != AS_IS => {
                self.note(tool.place, What::Filled, "the template reads the description of a function");
                entries.push(("description".into(), Data::Str("".into())));
            }
            None => {}
        }
        let mut parameters = match tool.form {
            ToolForm::Custom(grammar) => Some(custom_parameters(grammar)),
            _ => tool.parameters.map(|parameters| parameters.to_data(DEPTH)),
        };
        let has_properties = |data: &Data<'_>| matches!(data, Data::Object(object) if object.get("properties").is_some());
        if fills != AS_IS && !parameters.as_ref().is_some_and(has_properties) {
            self.note(tool.place, What::Filled, "the template reads the parameters of a function");
            let entries = vec![
                ("type".into(), Data::Str("object".into())),
                ("properties".into(), Data::Object(Object::default())),
            ];
            parameters = Some(Data::Object(Object::new(entries)));
        }
        if fills == FILLED_DEEP {
            self.note(
                tool.place,
                What::Filled,
                "the template reads the description of each parameter",
            );
            parameters = parameters.map(fill_properties);
        }
        self.add_atom(
            tool.place,
            kind::TOOL,
            tool.name.into(),
            &format!("{root}/name"),
            0,
            usize::MAX,
        );
        if let Some(description) = tool.description {
            self.add_atom(
                tool.place,
                kind::TOOL,
                description.into(),
                &format!("{root}/description"),
                0,
                usize::MAX,
            );
        }
        let properties = tool.parameters.and_then(|parameters| parameters.get("properties"));
        for (key, property) in properties.into_iter().flat_map(Node::entries) {
            let path = format!("{root}/parameters/properties/{}", json::escape_key(key));
            self.add_key(key, tool.place, kind::TOOL, &path, usize::MAX);
            if let Some(description) = property.get_text("description") {
                self.add_atom(
                    tool.place,
                    kind::TOOL,
                    description.into(),
                    &format!("{path}/description"),
                    0,
                    usize::MAX,
                );
            }
        }
        if let Some(parameters) = parameters {
            entries.push(("parameters".into(), parameters));
        }
        let is_known = |key: &str| {
            matches!(
                key,
                "type" | "cache_control" | "input_schema" | "parameters" | "name" | "description" | "format"
            )
        };
        if !is_custom {
            let others = function.entries().filter(|(key, _)| !is_known(key));
            entries.extend(others.map(|(key, value)| (key.into(), value.to_data(DEPTH))));
        }
        let function = Data::Object(Object::new(entries));
        match (is_wrapped, tool.form) {
            (true, ToolForm::Flat) if self.is_chat => self.note(tool.place, What::Wrapped, "templates read `function` of a tool"),
            (false, ToolForm::Wrapped) => self.note(
                tool.place,
                What::Unwrapped,
                "the template reads a tool without an object around it",
            ),
            _ => {}
        }
        self.written.tools.push(match is_wrapped {
            true => Data::Object(Object::new(vec![
                ("type".into(), Data::Str("function".into())),
                ("function".into(), function),
            ])),
            false => function,
        });
    }
}

/// Returns the JSON text of a call.
fn describe_call(call: &Call<'_>) -> String {
    let mut text = String::from("{\"name\": ");
    json::write_string(call.name, false, &mut text);
    text.push_str(", \"arguments\": ");
    match &call.arguments {
        Arguments::Absent => text.push_str("{}"),
        Arguments::Json(json) if matches!(json.trim(), "" | "null") => text.push_str("{}"),
        Arguments::Json(json) => text.push_str(json),
        Arguments::Value(value) => text.push_str(&value.to_json()),
        Arguments::Input(input) => json::write_string(input, false, &mut text),
        Arguments::Fields(fields) => {
            let entries = fields.iter().map(|(key, value)| ((*key).into(), value.to_data(DEPTH)));
            // Writing to a string cannot fail.
            let _ = json::write_data(&Data::Object(Object::new(entries.collect())), &mut text);
        }
    }
    text.push('}');
    text
}

fn new_draft<'n, 'b>(index: usize, turn: &'n Turn<'b>) -> Draft<'n, 'b> {
    Draft {
        role: turn.role,
        place: turn.place,
        content: turn.content,
        form: turn.form,
        pieces: turn.parts.iter().map(Piece::Part).collect(),
        thoughts: &turn.thoughts,
        thought_key: turn.thought_key,
        calls: turn
            .calls
            .iter()
            .enumerate()
            .map(|(number, call)| (call, (index, number)))
            .collect(),
        result: turn.result.as_ref().map(|result| (result.call, result.id, result.name)),
        name: turn.name,
        others: &turn.others,
        is_made: false,
        is_joined: false,
    }
}

fn empty_draft<'n, 'b>() -> Draft<'n, 'b> {
    Draft {
        role: Role::User,
        place: Place::BODY,
        content: Place::BODY,
        form: Form::Text,
        pieces: Vec::new(),
        thoughts: &[],
        thought_key: None,
        calls: Vec::new(),
        result: None,
        name: None,
        others: &[],
        is_made: false,
        is_joined: false,
    }
}

fn text_part<'b>(text: Data<'b>) -> Data<'b> {
    Data::Object(Object::new(vec![own_key("type", own("text")), own_key("text", text)]))
}

/// Returns a string with a place in memory of its own. The trace tells strings apart by their places, and equal literals share theirs.
fn own<'b>(text: &str) -> Data<'b> {
    Data::Str(Cow::Owned(text.to_owned()))
}

/// Returns an entry whose key has a place in memory of its own.
fn own_key<'b>(key: &str, value: Data<'b>) -> json::Entry<'b> {
    (Cow::Owned(key.to_owned()), value)
}

fn collect_strings<'d>(value: &'d Data<'_>, strings: &mut Vec<&'d str>) {
    match value {
        Data::Str(text) => strings.push(text),
        Data::List(items) => items.iter().for_each(|item| collect_strings(item, strings)),
        Data::Object(object) => object.entries().iter().for_each(|(key, item)| {
            strings.push(key);
            collect_strings(item, strings);
        }),
        _ => {}
    }
}

/// Returns the schema of a custom tool: an object with one string, which the grammar describes.
fn custom_parameters(grammar: Option<&str>) -> Data<'_> {
    let mut input = vec![("type".into(), Data::Str("string".into()))];
    input.extend(grammar.map(|grammar| ("description".into(), Data::Str(grammar.into()))));
    let properties = vec![("input".into(), Data::Object(Object::new(input)))];
    Data::Object(Object::new(vec![
        ("type".into(), Data::Str("object".into())),
        ("properties".into(), Data::Object(Object::new(properties))),
        ("required".into(), Data::List(vec![Data::Str("input".into())])),
    ]))
}

/// Adds a type and a description to each parameter that has none.
fn fill_properties(parameters: Data<'_>) -> Data<'_> {
    let Data::Object(object) = parameters else { return parameters };
    let entries = object.into_entries().into_iter().map(|(key, value)| match (&*key, value) {
        ("properties", Data::Object(properties)) => {
            let properties = properties.into_entries().into_iter().map(|(name, property)| {
                let Data::Object(property) = property else {
                    return (name, property);
                };
                let mut entries = property.into_entries();
                for (key, value) in [("type", "string"), ("description", "")] {
                    if !entries.iter().any(|(own, _)| own == key) {
                        entries.push((key.into(), Data::Str(value.into())));
                    }
                }
                (name, Data::Object(Object::new(entries)))
            });
            (key, Data::Object(Object::new(properties.collect())))
        }
        (_, value) => (key, value),
    });
    Data::Object(Object::new(entries.collect()))
}
