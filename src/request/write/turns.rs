//! Decides on the messages before they are written: their roles, their order and their number.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::super::normal::{Answer, BodyTurn, Call, ContentForm, ContentPart, PartKind, Role};
use super::super::plan::{Alternated, CallForm, Developer, ResultForm, Systems, kind};
use super::super::reasons as why;
use super::Writer;

/// Messages: those of the body, and others.
type Turns<'n, 'b> = Vec<Cow<'n, BodyTurn<'b>>>;

impl<'n, 'b> Writer<'n, 'b, '_, '_> {
    /// Returns the messages of the plan.
    pub fn arrange(&mut self) -> Turns<'n, 'b> {
        let plan = self.plan;
        let mut turns: Turns<'n, 'b> = self.normal.turns.iter().map(Cow::Borrowed).collect();
        if plan.developer != Developer::AsIs {
            let is_system = plan.developer == Developer::System;
            for turn in turns.iter_mut().filter(|turn| turn.role == Role::Developer) {
                turn.to_mut().recast(if is_system { Role::System } else { Role::User });
                self.note(turn.place, why::DEVELOPER);
            }
        }
        self.place_systems(&mut turns);
        if plan.drops_calls() {
            self.drop_calls(&mut turns);
        }
        match plan.results {
            ResultForm::AsUser => self.recast_results(&mut turns),
            ResultForm::Sorted => self.sort_results(&mut turns),
            ResultForm::AsIs => {}
        }
        match plan.calls {
            CallForm::Apart => turns = self.set_apart(turns),
            CallForm::Split => turns = self.split_calls(turns),
            CallForm::AsIs => {}
        }
        if plan.alternation != Alternated::AsIs {
            turns = self.alternate(turns, plan.alternation);
        }
        if plan.drops_tools() && !self.normal.refuses_tools && self.settings.tools_as_text {
            self.tell_tools(&mut turns);
        }
        turns
    }

    /// Appends the content, the reasoning and the fields of a message to another one.
    fn absorb(&mut self, message: &mut Cow<'n, BodyTurn<'b>>, other: Cow<'n, BodyTurn<'b>>) {
        let (message, other) = (message.to_mut(), other.into_owned());
        message.node = None;
        let has_parts = [message.form, other.form].contains(&ContentForm::Parts);
        message.form = if has_parts { ContentForm::Parts } else { ContentForm::Text };
        message.parts.extend(other.parts);
        message.thoughts.extend(other.thoughts);
        message.calls.extend(other.calls);
        for field in other.fields {
            match message.fields.iter().find(|own| own.key == field.key) {
                Some(own) if field.key == "name" && own.value.text() == field.value.text() => {}
                None if field.key != "name" => message.fields.push(field),
                _ => self.give_up(kind::FIELD, field.place, why::FIELD_OF_MERGED),
            }
        }
    }

    fn drop_calls(&mut self, turns: &mut Turns<'n, 'b>) {
        for turn in turns.iter_mut().filter(|turn| !turn.calls.is_empty()) {
            let turn = turn.to_mut();
            turn.node = None;
            for call in self.normal.calls_of(&std::mem::take(&mut turn.calls)) {
                if self.settings.tools_as_text {
                    let text = super::calls::describe(call);
                    turn.parts.push(ContentPart::made(PartKind::Label, text));
                    turn.form = ContentForm::Text;
                    self.note(call.place, why::CALL_AS_TEXT);
                } else {
                    self.give_up(kind::CALL, call.place, why::CALL_FAILS);
                }
            }
        }
        turns.retain(|turn| {
            let is_kept = turn.role != Role::Assistant || !turn.parts.is_empty() || !turn.thoughts.is_empty();
            if !is_kept {
                for field in &turn.fields {
                    self.give_up(kind::FIELD, field.place, why::FIELD_OF_OMITTED);
                }
            }
            is_kept
        });
    }

    /// Makes user messages of results.
    fn recast_results(&mut self, turns: &mut Turns<'n, 'b>) {
        for turn in turns {
            let Some(result) = turn.result else { continue };
            let turn = turn.to_mut();
            turn.result = None;
            let call = result.call.and_then(|call| self.find_call(call));
            let name = call.map(|call| call.name).or(result.name).unwrap_or("the tool");
            let named = call.filter(|call| call.name_place != call.place);
            self.written.labelled.extend(named.map(|call| call.name_place));
            let label = ContentPart::made(PartKind::Label, format!("Result of {name}:"));
            turn.parts.insert(0, label);
            turn.recast(Role::User);
            (turn.form, turn.is_joined) = (ContentForm::Text, true);
            self.note(turn.place, why::RESULT_AS_USER);
        }
    }

    /// Puts the results of a message's calls in the order of the calls.
    fn sort_results(&mut self, turns: &mut Turns<'n, 'b>) {
        let call_of = |turn: &Cow<'_, BodyTurn<'_>>| turn.result.and_then(|result| result.call);
        for results in turns.chunk_by_mut(|turn, next| turn.result.is_some() && next.result.is_some()) {
            let before: Vec<_> = results.iter().map(call_of).collect();
            results.sort_by_key(call_of);
            for (turn, before) in results.iter().zip(before) {
                if call_of(turn) != before {
                    self.note(turn.place, why::RESULT_ORDER);
                }
            }
        }
    }

    pub fn find_call(&self, index: usize) -> Option<&'n Call<'b>> {
        self.normal.calls.get(index)
    }

    fn place_systems(&mut self, turns: &mut Turns<'n, 'b>) {
        let first = turns.iter().position(|turn| !turn.is_system()).unwrap_or(turns.len());
        match self.plan.systems {
            Systems::AsIs => {}
            Systems::AllAsUser => self.recast_systems(turns),
            Systems::LaterAsUser => {
                let mut rest = turns.split_off(first);
                let first = self.merge_systems(std::mem::take(turns));
                self.recast_systems(&mut rest);
                turns.extend(first.into_iter().chain(rest));
            }
            Systems::Merged | Systems::IntoUser => {
                let (own, rest): (Vec<_>, Vec<_>) = std::mem::take(turns).into_iter().partition(|turn| turn.is_system());
                *turns = rest;
                match self.merge_systems(own) {
                    Some(system) if self.plan.systems == Systems::IntoUser => self.merge_into_user(system, turns),
                    Some(system) => turns.insert(0, system),
                    None => {}
                }
            }
        }
    }

    fn recast_systems(&mut self, turns: &mut Turns<'n, 'b>) {
        for turn in turns.iter_mut().filter(|turn| turn.is_system()) {
            turn.to_mut().recast(Role::User);
            self.note(turn.place, why::SYSTEM_HERE);
        }
    }

    /// Returns one message of several.
    fn merge_systems(&mut self, turns: Turns<'n, 'b>) -> Option<Cow<'n, BodyTurn<'b>>> {
        let mut turns = turns.into_iter();
        let mut first = turns.next()?;
        for turn in turns {
            self.note(turn.place, why::ONE_SYSTEM);
            self.absorb(&mut first, turn);
        }
        Some(first)
    }

    /// Merges the system message into the first user message.
    fn merge_into_user(&mut self, mut system: Cow<'n, BodyTurn<'b>>, turns: &mut Turns<'n, 'b>) {
        self.note(system.place, why::NO_SYSTEM);
        match turns.iter_mut().find(|turn| turn.role == Role::User) {
            Some(user) => {
                let parts = std::mem::take(&mut system.to_mut().parts);
                user.to_mut().parts.splice(0..0, parts);
                self.absorb(user, system);
            }
            None => {
                system.to_mut().recast(Role::User);
                turns.insert(0, system);
            }
        }
    }

    /// Moves the content of messages with calls to messages of their own.
    fn set_apart(&mut self, turns: Turns<'n, 'b>) -> Turns<'n, 'b> {
        let mut all = Vec::new();
        for mut turn in turns {
            let says = |part: &ContentPart<'_>| part.medium().is_some() || !part.text.trim().is_empty();
            let calls = (!turn.calls.is_empty() && turn.parts.iter().any(says)).then(|| {
                self.note(turn.place, why::CALL_APART);
                let turn = turn.to_mut();
                let mut calls = rest_of(turn);
                calls.calls = std::mem::take(&mut turn.calls);
                calls.thoughts = std::mem::take(&mut turn.thoughts);
                calls.thought_key = turn.thought_key;
                turn.node = None;
                Cow::Owned(calls)
            });
            all.push(turn);
            all.extend(calls);
        }
        all
    }

    /// Makes a message of each call, with its result after it.
    fn split_calls(&mut self, turns: Turns<'n, 'b>) -> Turns<'n, 'b> {
        let mut all = Vec::new();
        let mut turns = turns.into_iter().peekable();
        while let Some(turn) = turns.next() {
            if turn.calls.len() < 2 {
                all.push(turn);
                continue;
            }
            let mut results: HashMap<Option<usize>, Vec<_>> = HashMap::new();
            let own: HashSet<usize> = turn.calls.iter().copied().collect();
            let mut others = Vec::new();
            while let Some(result) = turns.next_if(|next| next.result.is_some()) {
                match result.result.and_then(|result| result.call) {
                    call if call.is_some_and(|call| own.contains(&call)) => results.entry(call).or_default().push(result),
                    _ => others.push(result),
                }
            }
            let mut turn = turn.into_owned();
            turn.node = None;
            let rest = rest_of(&turn);
            let calls = std::mem::take(&mut turn.calls);
            let mut first = Some(turn);
            for index in calls {
                let mut own = first.take().unwrap_or_else(|| {
                    let place = self.find_call(index).map_or(rest.place, |call| call.place);
                    self.note(place, why::ONE_CALL);
                    rest.clone()
                });
                own.calls.push(index);
                all.push(Cow::Owned(own));
                all.extend(results.remove(&Some(index)).unwrap_or_default());
            }
            all.extend(others);
        }
        all
    }

    /// Inserts messages, or merges them, so that the user and the assistant speak in turns.
    fn alternate(&mut self, turns: Turns<'n, 'b>, alternation: Alternated) -> Turns<'n, 'b> {
        let mut all: Turns<'n, 'b> = Vec::new();
        let merges = alternation == Alternated::Merged;
        let blank = if alternation == Alternated::InsertedBlank { " " } else { "" };
        for turn in turns {
            let last = all.last_mut();
            let calls = last.as_ref().map(|last| last.calls.clone()).unwrap_or_default();
            let before = last.as_ref().map_or(Role::System, |last| last.role);
            let is_same = before == turn.role && matches!(turn.role, Role::User | Role::Assistant) && calls.is_empty();
            if let Some(last) = last.filter(|_| is_same && merges) {
                self.note(turn.place, why::ALTERNATES_BY_MERGER);
                self.absorb(last, turn);
                continue;
            }
            let (role, reason) = match (before, turn.role) {
                (Role::System, Role::Assistant) => (Some(Role::User), why::ALTERNATES_BY_BLANK),
                (Role::Assistant, Role::Assistant) if is_same => (Some(Role::User), why::ALTERNATES_BY_BLANK),
                (Role::User | Role::Tool, Role::User) => (Some(Role::Assistant), why::ALTERNATES_BY_BLANK),
                (_, Role::User) if !calls.is_empty() && !merges => (Some(Role::Assistant), why::CALL_WITHOUT_RESULT),
                _ => (None, why::ALTERNATES_BY_BLANK),
            };
            if let Some(role) = role {
                self.note(turn.place, reason);
                if turn.role == Role::User {
                    all.extend(calls.iter().map(|index| Cow::Owned(self.make_result(*index))));
                }
                all.push(Cow::Owned(BodyTurn::made(role, blank)));
            }
            all.push(turn);
        }
        all
    }

    /// Makes an empty result of a call.
    fn make_result(&self, index: usize) -> BodyTurn<'b> {
        let id = self.find_call(index).and_then(|call| call.id);
        let (call, name) = (Some(index), None);
        let result = Some(Answer { id, call, name });
        BodyTurn {
            result,
            ..BodyTurn::made(Role::Tool, "")
        }
    }

    /// Adds the JSON text of the tools to the first message.
    fn tell_tools(&mut self, turns: &mut Turns<'n, 'b>) {
        let mut text = String::from("You can use these tools:");
        for tool in &self.normal.tools {
            text.push('\n');
            text.push_str(&tool.node.to_string());
        }
        match turns.first_mut().filter(|turn| turn.is_system() || turn.role == Role::User) {
            Some(first) => {
                let first = first.to_mut();
                first.parts.push(ContentPart::made(PartKind::Label, text));
                first.node = None;
            }
            None => turns.insert(0, Cow::Owned(BodyTurn::made(Role::User, &text))),
        }
    }
}

/// Returns a turn with the same role and place that says nothing.
fn rest_of<'b>(turn: &BodyTurn<'b>) -> BodyTurn<'b> {
    BodyTurn {
        content: turn.content,
        ..BodyTurn::new(turn.role, turn.place)
    }
}
