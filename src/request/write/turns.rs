//! Decides on the messages before they are written: their roles, their order and their number.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::super::normal::{Answer, BodyTurn, Call, ContentForm, ContentPart, PartKind, Role};
use super::super::plan::{Alternated, CallForm, Developer, Plan, ResultForm, Systems, kind};
use super::super::reasons as why;
use super::Writer;

impl<'n, 'b> Writer<'n, 'b, '_, '_> {
    /// Returns the messages of the plan.
    pub fn arrange(&mut self) -> Cow<'n, [BodyTurn<'b>]> {
        let arranges = |plan: &Plan| {
            let order = (plan.systems, plan.results, plan.calls, plan.alternation);
            (plan.developer, plan.drops, order)
        };
        if arranges(&self.plan) == arranges(&Plan::default()) {
            return Cow::Borrowed(&self.normal.turns);
        }
        let mut turns = self.normal.turns.clone();
        if self.plan.developer != Developer::AsIs {
            let is_system = self.plan.developer == Developer::System;
            for turn in turns.iter_mut().filter(|turn| turn.role == Role::Developer) {
                turn.recast(if is_system { Role::System } else { Role::User });
                self.note(turn.place, why::DEVELOPER);
            }
        }
        turns = self.place_systems(turns);
        if self.plan.drops_calls() {
            self.drop_calls(&mut turns);
        }
        match self.plan.results {
            ResultForm::AsUser => self.recast_results(&mut turns),
            ResultForm::Sorted => turns = self.sort_results(turns),
            ResultForm::AsIs => {}
        }
        match self.plan.calls {
            CallForm::Apart => turns = self.set_apart(turns),
            CallForm::Split => turns = self.split_calls(turns),
            CallForm::AsIs => {}
        }
        Cow::Owned(match self.plan.alternation {
            Alternated::AsIs => turns,
            alternation => self.alternate(turns, alternation),
        })
    }

    /// Appends the content, the reasoning and the fields of a message to another one.
    fn absorb(&mut self, message: &mut BodyTurn<'b>, other: BodyTurn<'b>) {
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

    fn drop_calls(&mut self, turns: &mut Vec<BodyTurn<'b>>) {
        for turn in turns.iter_mut().filter(|turn| !turn.calls.is_empty()) {
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
    fn recast_results(&mut self, turns: &mut [BodyTurn<'b>]) {
        for turn in turns {
            let Some(result) = turn.result.take() else { continue };
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

    /// Returns the messages with the results of a message's calls in the order of the calls.
    fn sort_results(&mut self, mut turns: Vec<BodyTurn<'b>>) -> Vec<BodyTurn<'b>> {
        let call_of = |turn: &BodyTurn<'_>| turn.result.and_then(|result| result.call);
        for results in turns.chunk_by_mut(|turn, next| turn.result.is_some() && next.result.is_some()) {
            let before: Vec<_> = results.iter().map(call_of).collect();
            results.sort_by_key(call_of);
            for (turn, before) in results.iter().zip(before) {
                if call_of(turn) != before {
                    self.note(turn.place, why::RESULT_ORDER);
                }
            }
        }
        turns
    }

    pub fn find_call(&self, index: usize) -> Option<&'n Call<'b>> {
        self.normal.calls.get(index)
    }

    fn place_systems(&mut self, mut turns: Vec<BodyTurn<'b>>) -> Vec<BodyTurn<'b>> {
        match self.plan.systems {
            Systems::LaterAsUser => {
                let first = turns.iter().position(|turn| !turn.is_system()).unwrap_or(turns.len());
                let mut rest = turns.split_off(first);
                let first = self.merge_systems(turns);
                self.recast_systems(&mut rest);
                first.into_iter().chain(rest).collect()
            }
            Systems::AllAsUser => {
                self.recast_systems(&mut turns);
                turns
            }
            Systems::Merged => {
                let (own, rest): (Vec<_>, Vec<_>) = turns.into_iter().partition(BodyTurn::is_system);
                self.merge_systems(own).into_iter().chain(rest).collect()
            }
            Systems::IntoUser => self.merge_into_user(turns),
            _ => turns,
        }
    }

    fn recast_systems(&mut self, turns: &mut [BodyTurn<'b>]) {
        for turn in turns.iter_mut().filter(|turn| turn.is_system()) {
            turn.recast(Role::User);
            self.note(turn.place, why::SYSTEM_HERE);
        }
    }

    /// Returns one message of several.
    fn merge_systems(&mut self, turns: Vec<BodyTurn<'b>>) -> Option<BodyTurn<'b>> {
        let mut turns = turns.into_iter();
        let mut first = turns.next()?;
        for turn in turns {
            self.note(turn.place, why::ONE_SYSTEM);
            self.absorb(&mut first, turn);
        }
        Some(first)
    }

    /// Merges the system messages into the first user message.
    fn merge_into_user(&mut self, turns: Vec<BodyTurn<'b>>) -> Vec<BodyTurn<'b>> {
        let (own, mut rest): (Vec<_>, Vec<_>) = turns.into_iter().partition(BodyTurn::is_system);
        let Some(mut system) = self.merge_systems(own) else {
            return rest;
        };
        self.note(system.place, why::NO_SYSTEM);
        match rest.iter_mut().find(|turn| turn.role == Role::User) {
            Some(user) => {
                let mut pieces = std::mem::take(&mut system.parts);
                pieces.append(&mut user.parts);
                user.parts = pieces;
                self.absorb(user, system);
            }
            None => {
                system.recast(Role::User);
                rest.insert(0, system);
            }
        }
        rest
    }

    /// Moves the content of messages with calls to messages of their own.
    fn set_apart(&mut self, turns: Vec<BodyTurn<'b>>) -> Vec<BodyTurn<'b>> {
        let mut all = Vec::new();
        for mut turn in turns {
            let says = |part: &ContentPart<'_>| part.medium().is_some() || !part.text.trim().is_empty();
            if !turn.calls.is_empty() && turn.parts.iter().any(says) {
                self.note(turn.place, why::CALL_APART);
                let mut calls = rest_of(&turn);
                calls.calls = std::mem::take(&mut turn.calls);
                calls.thoughts = std::mem::take(&mut turn.thoughts);
                calls.thought_key = turn.thought_key;
                turn.node = None;
                all.extend([turn, calls]);
            } else {
                all.push(turn);
            }
        }
        all
    }

    /// Makes a message of each call, with its result after it.
    fn split_calls(&mut self, turns: Vec<BodyTurn<'b>>) -> Vec<BodyTurn<'b>> {
        let mut all = Vec::new();
        let mut turns = turns.into_iter().peekable();
        while let Some(mut turn) = turns.next() {
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
                all.push(own);
                all.extend(results.remove(&Some(index)).unwrap_or_default());
            }
            all.extend(others);
        }
        all
    }

    /// Inserts messages, or merges them, so that the user and the assistant speak in turns.
    fn alternate(&mut self, turns: Vec<BodyTurn<'b>>, alternation: Alternated) -> Vec<BodyTurn<'b>> {
        let mut all: Vec<BodyTurn<'b>> = Vec::new();
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
                    all.extend(calls.iter().map(|index| self.make_result(*index)));
                }
                all.push(BodyTurn::made(role, blank));
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
    pub fn tell_tools(&mut self, turns: &mut Vec<BodyTurn<'b>>) {
        let mut text = String::from("You can use these tools:");
        for tool in &self.normal.tools {
            text.push('\n');
            text.push_str(&tool.node.to_string());
        }
        match turns.first_mut().filter(|turn| turn.is_system() || turn.role == Role::User) {
            Some(first) => {
                first.parts.push(ContentPart::made(PartKind::Label, text));
                first.node = None;
            }
            None => turns.insert(0, BodyTurn::made(Role::User, &text)),
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
