//! Decides on the messages before they are written: their roles, their order and their number.

use std::collections::{HashMap, HashSet};

use super::super::change::ChangeKind;
use super::super::node::Node;
use super::super::normal::{Answer, Call, Field, Form, Medium, Part, PartKind, Place, Role, Thought, Turn};
use super::super::plan::value::*;
use super::super::plan::{Choice, kind};
use super::Writer;

const ALTERNATES: &str = "the template wants the user and the assistant in turns";

/// A message before it is written.
#[derive(Clone)]
pub struct Draft<'n, 'b> {
    pub role: Role,
    pub place: Place,
    /// The place of the content.
    pub content: Place,
    /// The message of the body, if the draft says the same in the form that templates read.
    pub node: Option<Node<'b>>,
    pub form: Form,
    pub pieces: Vec<Piece<'n, 'b>>,
    pub thoughts: Vec<&'n Thought<'b>>,
    pub thought_key: Option<&'b str>,
    pub calls: Vec<(&'n Call<'b>, CallIndex)>,
    pub result: Option<Answer<'b>>,
    pub name: Option<&'n Field<'b>>,
    pub others: Vec<&'n Field<'b>>,
    /// Whether the body has no such message.
    pub is_made: bool,
    /// Whether the pieces become one string.
    pub is_joined: bool,
}

/// The index of a turn and of one of its calls.
pub type CallIndex = (usize, usize);

/// A piece of a content.
#[derive(Clone)]
pub enum Piece<'n, 'b> {
    Part(&'n Part<'b>),
    /// A string that the body does not have.
    Label(String),
    /// Reasoning in tags.
    Thoughts(String),
}

impl<'n, 'b> Piece<'n, 'b> {
    pub fn medium(&self) -> Option<(&'n Part<'b>, Medium)> {
        match self {
            Self::Part(part) => match part.kind {
                PartKind::Medium(medium) => Some((part, medium)),
                _ => None,
            },
            _ => None,
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Self::Part(part) => &part.text,
            Self::Label(text) | Self::Thoughts(text) => text,
        }
    }
}

impl<'n, 'b> Draft<'n, 'b> {
    fn new(index: usize, turn: &'n Turn<'b>) -> Self {
        let calls = turn.calls.iter().enumerate();
        Self {
            role: turn.role,
            place: turn.place,
            content: turn.content,
            node: turn.node,
            form: turn.form,
            pieces: turn.parts.iter().map(Piece::Part).collect(),
            thoughts: turn.thoughts.iter().collect(),
            thought_key: turn.thought_key,
            calls: calls.map(|(number, call)| (call, (index, number))).collect(),
            result: turn.result,
            name: turn.name.as_ref(),
            others: turn.others.iter().collect(),
            is_made: false,
            is_joined: false,
        }
    }

    /// Returns a message that the body does not have.
    fn made(role: Role, text: &str) -> Self {
        let pieces = if text.is_empty() {
            Vec::new()
        } else {
            vec![Piece::Label(text.to_owned())]
        };
        Self {
            role,
            place: Place::BODY,
            content: Place::BODY,
            node: None,
            form: Form::Text,
            pieces,
            thoughts: Vec::new(),
            thought_key: None,
            calls: Vec::new(),
            result: None,
            name: None,
            others: Vec::new(),
            is_made: true,
            is_joined: false,
        }
    }

    /// Returns a message with the same role and place that says nothing.
    fn rest(&self) -> Self {
        Self {
            place: self.place,
            content: self.content,
            form: Form::Absent,
            is_made: false,
            ..Self::made(self.role, "")
        }
    }

    fn set_role(&mut self, role: Role) {
        (self.role, self.node) = (role, None);
    }

    fn is_system(&self) -> bool {
        matches!(self.role, Role::System | Role::Developer)
    }
}

impl<'n, 'b> Writer<'n, 'b, '_, '_> {
    /// Returns the messages of the plan.
    pub fn draft(&mut self) -> Vec<Draft<'n, 'b>> {
        let turns = self.normal.turns.iter().enumerate();
        let mut drafts: Vec<_> = turns.map(|(index, turn)| Draft::new(index, turn)).collect();
        if self.plan(Choice::Developer) != AS_IS {
            let is_system = self.plan(Choice::Developer) == AS_SYSTEM;
            for draft in drafts.iter_mut().filter(|draft| draft.role == Role::Developer) {
                draft.set_role(if is_system { Role::System } else { Role::User });
                let reason = "the template does not know the role `developer`";
                self.note(draft.place, ChangeKind::Recast, reason);
            }
        }
        drafts = self.place_systems(drafts);
        if matches!(self.plan(Choice::Drops), CALLS | TOOLS_AND_CALLS) {
            self.drop_calls(&mut drafts);
        }
        match self.plan(Choice::Results) {
            CHANGED => self.recast_results(&mut drafts),
            SORTED => drafts = self.sort_results(drafts),
            _ => {}
        }
        match self.plan(Choice::Calls) {
            APART => drafts = self.set_apart(drafts),
            SPLIT => drafts = self.split_calls(drafts),
            _ => {}
        }
        match self.plan(Choice::Alternation) {
            AS_IS => drafts,
            alternation => self.alternate(drafts, alternation),
        }
    }

    /// Appends the content, the reasoning and the fields of a message to another one.
    fn absorb(&mut self, message: &mut Draft<'n, 'b>, other: Draft<'n, 'b>) {
        message.node = None;
        if message.form == Form::Parts || other.form == Form::Parts {
            message.form = Form::Parts;
        } else {
            message.form = Form::Text;
        }
        message.pieces.extend(other.pieces);
        message.thoughts.extend(other.thoughts);
        message.calls.extend(other.calls);
        let is_same = |own: &&Field<'_>| other.name.is_some_and(|name| name.value.text() == own.value.text());
        for field in other
            .name
            .filter(|_| !message.name.as_ref().is_some_and(is_same))
            .into_iter()
            .chain(other.others)
        {
            if field.key == "name" || message.others.iter().any(|own| own.key == field.key) {
                let reason = "the message is merged with another one, which can have the field itself";
                self.give_up(kind::FIELD, field.place, reason);
            } else {
                message.others.push(field);
            }
        }
    }

    fn drop_calls(&mut self, drafts: &mut Vec<Draft<'n, 'b>>) {
        for draft in drafts.iter_mut().filter(|draft| !draft.calls.is_empty()) {
            draft.node = None;
            for (call, _) in std::mem::take(&mut draft.calls) {
                if self.settings.tools_as_text {
                    draft.pieces.push(Piece::Label(super::calls::describe(call)));
                    draft.form = Form::Text;
                    self.note(call.place, ChangeKind::Recast, "the template does not print calls");
                } else {
                    self.give_up(kind::CALL, call.place, "the template fails with calls");
                }
            }
        }
        drafts.retain(|draft| {
            let is_kept = draft.role != Role::Assistant || !draft.pieces.is_empty() || !draft.thoughts.is_empty();
            if !is_kept {
                for field in draft.name.iter().chain(&draft.others) {
                    self.give_up(kind::FIELD, field.place, "the message says nothing else, and is left out");
                }
            }
            is_kept
        });
    }

    /// Makes messages of the user of results.
    fn recast_results(&mut self, drafts: &mut [Draft<'n, 'b>]) {
        for draft in drafts {
            if let Some(result) = draft.result.take() {
                let call = result.call.and_then(|call| self.find_call(call));
                let has_name = |call: &&Call<'_>| call.name_place != call.place;
                self.written
                    .labelled
                    .extend(call.filter(has_name).map(|call| call.name_place));
                let name = call.map(|call| call.name).or(result.name).unwrap_or("the tool");
                draft.pieces.insert(0, Piece::Label(format!("Result of {name}:")));
                draft.set_role(Role::User);
                (draft.form, draft.is_joined) = (Form::Text, true);
                self.note(draft.place, ChangeKind::Recast, "the template does not take results of tools");
            }
        }
    }

    /// Returns the messages with the results of a message's calls in the order of the calls.
    fn sort_results(&mut self, mut drafts: Vec<Draft<'n, 'b>>) -> Vec<Draft<'n, 'b>> {
        let call_of = |draft: &Draft<'_, '_>| draft.result.and_then(|result| result.call);
        for results in drafts.chunk_by_mut(|draft, next| draft.result.is_some() && next.result.is_some()) {
            let before: Vec<_> = results.iter().map(call_of).collect();
            results.sort_by_key(call_of);
            for (draft, before) in results.iter().zip(before) {
                if call_of(draft) != before {
                    let reason = "the template prints results without their identifiers, so they are in the order of their calls";
                    self.note(draft.place, ChangeKind::Moved, reason);
                }
            }
        }
        drafts
    }

    pub fn find_call(&self, (turn, call): CallIndex) -> Option<&'n Call<'b>> {
        self.normal.turns.get(turn)?.calls.get(call)
    }

    fn place_systems(&mut self, mut drafts: Vec<Draft<'n, 'b>>) -> Vec<Draft<'n, 'b>> {
        match self.plan(Choice::Systems) {
            LATER_AS_USER => {
                let first = drafts.iter().position(|draft| !draft.is_system()).unwrap_or(drafts.len());
                let mut rest = drafts.split_off(first);
                let first = self.merge_systems(drafts);
                self.recast_systems(&mut rest);
                first.into_iter().chain(rest).collect()
            }
            ALL_AS_USER => {
                self.recast_systems(&mut drafts);
                drafts
            }
            MERGED => {
                let (own, rest): (Vec<_>, Vec<_>) = drafts.into_iter().partition(Draft::is_system);
                self.merge_systems(own).into_iter().chain(rest).collect()
            }
            INTO_USER => self.merge_into_user(drafts),
            _ => drafts,
        }
    }

    fn recast_systems(&mut self, drafts: &mut [Draft<'n, 'b>]) {
        for draft in drafts.iter_mut().filter(|draft| draft.is_system()) {
            draft.set_role(Role::User);
            let reason = "the template does not take a message of the system here";
            self.note(draft.place, ChangeKind::Recast, reason);
        }
    }

    /// Returns one message of several.
    fn merge_systems(&mut self, drafts: Vec<Draft<'n, 'b>>) -> Option<Draft<'n, 'b>> {
        let mut drafts = drafts.into_iter();
        let mut first = drafts.next()?;
        for draft in drafts {
            self.note(
                draft.place,
                ChangeKind::Merged,
                "the template takes one message of the system",
            );
            self.absorb(&mut first, draft);
        }
        Some(first)
    }

    /// Merges the messages of the system into the first message of the user.
    fn merge_into_user(&mut self, drafts: Vec<Draft<'n, 'b>>) -> Vec<Draft<'n, 'b>> {
        let (own, mut rest): (Vec<_>, Vec<_>) = drafts.into_iter().partition(Draft::is_system);
        let Some(mut system) = self.merge_systems(own) else {
            return rest;
        };
        self.note(
            system.place,
            ChangeKind::Merged,
            "the template takes no message of the system",
        );
        match rest.iter_mut().find(|draft| draft.role == Role::User) {
            Some(user) => {
                let mut pieces = std::mem::take(&mut system.pieces);
                pieces.append(&mut user.pieces);
                user.pieces = pieces;
                self.absorb(user, system);
            }
            None => {
                system.set_role(Role::User);
                rest.insert(0, system);
            }
        }
        rest
    }

    /// Moves the content of messages with calls to messages of their own.
    fn set_apart(&mut self, drafts: Vec<Draft<'n, 'b>>) -> Vec<Draft<'n, 'b>> {
        let mut all = Vec::new();
        for mut draft in drafts {
            let says = |piece: &Piece<'_, '_>| piece.medium().is_some() || !piece.text().trim().is_empty();
            if !draft.calls.is_empty() && draft.pieces.iter().any(says) {
                self.note(
                    draft.place,
                    ChangeKind::Split,
                    "the template does not print content beside calls",
                );
                let mut calls = draft.rest();
                calls.calls = std::mem::take(&mut draft.calls);
                calls.thoughts = std::mem::take(&mut draft.thoughts);
                calls.thought_key = draft.thought_key;
                draft.node = None;
                all.extend([draft, calls]);
            } else {
                all.push(draft);
            }
        }
        all
    }

    /// Makes a message of each call, with its result after it.
    fn split_calls(&mut self, drafts: Vec<Draft<'n, 'b>>) -> Vec<Draft<'n, 'b>> {
        let mut all = Vec::new();
        let mut drafts = drafts.into_iter().peekable();
        while let Some(mut draft) = drafts.next() {
            if draft.calls.len() < 2 {
                all.push(draft);
                continue;
            }
            let mut results: HashMap<Option<CallIndex>, Vec<_>> = HashMap::new();
            let own: HashSet<CallIndex> = draft.calls.iter().map(|(_, index)| *index).collect();
            let mut others = Vec::new();
            while let Some(result) = drafts.next_if(|next| next.result.is_some()) {
                match result.result.and_then(|result| result.call) {
                    call if call.is_some_and(|call| own.contains(&call)) => results.entry(call).or_default().push(result),
                    _ => others.push(result),
                }
            }
            draft.node = None;
            let rest = draft.rest();
            let calls = std::mem::take(&mut draft.calls);
            let mut first = Some(draft);
            for (call, index) in calls {
                let mut own = first.take().unwrap_or_else(|| {
                    self.note(call.place, ChangeKind::Split, "the template takes one call in a message");
                    rest.clone()
                });
                own.calls.push((call, index));
                all.push(own);
                all.extend(results.remove(&Some(index)).unwrap_or_default());
            }
            all.extend(others);
        }
        all
    }

    /// Inserts messages, or merges them, so that the user and the assistant speak in turns.
    fn alternate(&mut self, drafts: Vec<Draft<'n, 'b>>, alternation: u8) -> Vec<Draft<'n, 'b>> {
        let mut all: Vec<Draft<'n, 'b>> = Vec::new();
        let blank = |role| Draft::made(role, if alternation == INSERTED_BLANK { " " } else { "" });
        for draft in drafts {
            let Some(last) = all.last_mut() else {
                if draft.role == Role::Assistant {
                    self.note(draft.place, ChangeKind::Inserted, ALTERNATES);
                    all.push(blank(Role::User));
                }
                all.push(draft);
                continue;
            };
            let is_same = last.role == draft.role && matches!(draft.role, Role::User | Role::Assistant) && last.calls.is_empty();
            if is_same && alternation == MERGED_TURNS {
                self.note(draft.place, ChangeKind::Merged, ALTERNATES);
                self.absorb(last, draft);
                continue;
            }
            if is_same {
                self.note(draft.place, ChangeKind::Inserted, ALTERNATES);
                let is_user = draft.role == Role::User;
                all.push(blank(if is_user { Role::Assistant } else { Role::User }));
            } else if draft.role == Role::Assistant && last.role == Role::System {
                self.note(draft.place, ChangeKind::Inserted, ALTERNATES);
                all.push(blank(Role::User));
            } else if draft.role == Role::User && last.role == Role::Tool {
                self.note(draft.place, ChangeKind::Inserted, ALTERNATES);
                all.push(blank(Role::Assistant));
            } else if draft.role == Role::User && !last.calls.is_empty() && alternation != MERGED_TURNS {
                self.note(draft.place, ChangeKind::Inserted, "the template wants a result after a call");
                let result = |(call, index): &(&Call<'b>, CallIndex)| Draft {
                    result: Some(Answer {
                        call: Some(*index),
                        id: call.id,
                        name: None,
                    }),
                    ..Draft::made(Role::Tool, "")
                };
                let results: Vec<_> = last.calls.iter().map(result).collect();
                all.extend(results);
                all.push(blank(Role::Assistant));
            }
            all.push(draft);
        }
        all
    }

    /// Adds the JSON text of the tools to the first message.
    pub fn tell_tools(&mut self, drafts: &mut Vec<Draft<'n, 'b>>) {
        let mut text = String::from("You can use these tools:");
        for tool in &self.normal.tools {
            text.push('\n');
            text.push_str(&tool.node.to_json());
        }
        match drafts
            .first_mut()
            .filter(|draft| draft.is_system() || draft.role == Role::User)
        {
            Some(first) => {
                first.pieces.push(Piece::Label(text));
                first.node = None;
            }
            None => drafts.insert(0, Draft::made(Role::User, &text)),
        }
    }
}
