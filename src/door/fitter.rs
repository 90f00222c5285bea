//! The messages of a body, one after another, in the roles and the order that the template takes.

use super::calls::{NEW_CALL, OPEN_CALL, OpenCalls, fit_arguments, make_call};
use super::change::What;
use super::content;
use super::facts::Facts;
use super::merge::merge_all;
use super::message::{Fitted, MESSAGE, Message, Place};
use super::node::Node;
use super::record::Recorder;
use crate::error::Result;
use crate::json::Data;

/// The reason why reasoning is dropped.
pub const NO_REASONING: &str = "the template does not read reasoning (reasoning.fields is empty)";

/// Collects the messages that the template gets.
pub struct Fitter<'b, 'f> {
    pub facts: &'f Facts<'f>,
    pub changes: Recorder<'f>,
    pub calls: OpenCalls<'b>,
    /// The list of messages of the body, and its pointer. As long as each message is kept, no other list is made.
    body: Node<'b>,
    root: &'static str,
    kept: usize,
    own: Vec<Message<'b>>,
    /// The instructions that are merged into the first message, and the messages that are merged into the last.
    instructions: Vec<Message<'b>>,
    further: Vec<Message<'b>>,
    /// The results at the end of the messages, each with the index of its call.
    results: Results,
    /// The role of the last message.
    last_role: Option<&'b str>,
    /// Whether all messages so far are instructions.
    is_beginning: bool,
    /// Whether `apply` changes no message that is kept.
    pub is_clean: bool,
}

impl<'b, 'f> Fitter<'b, 'f> {
    /// Makes a fitter for a list of messages.
    pub fn new(facts: &'f Facts<'f>, body: Node<'b>, root: &'static str, changes: Recorder<'f>) -> Self {
        Self {
            facts,
            changes,
            calls: OpenCalls::default(),
            body,
            root,
            kept: 0,
            own: Vec::new(),
            instructions: Vec::new(),
            further: Vec::new(),
            results: Results::default(),
            last_role: None,
            is_beginning: true,
            is_clean: true,
        }
    }

    /// Returns the messages, and the changes that were made.
    pub fn finish(mut self) -> Result<(Fitted<'b>, Recorder<'f>)> {
        self.sort_results()?;
        if self.own.is_empty() && self.kept == self.body.items().count() {
            return Ok((Fitted::Kept(self.body), self.changes));
        }
        self.own_messages()?;
        self.end_last()?;
        if let Some(first) = self.own.first_mut() {
            merge_all(first, self.instructions, &mut self.changes)?;
        }
        Ok((Fitted::Messages(self.own), self.changes))
    }

    /// Adds the result of the call that was closed last.
    pub fn push_as_result(&mut self, message: Message<'b>, role: &'b str) -> Result<()> {
        let before = self.len();
        self.results.is_open = true;
        self.push(message, role)?;
        self.add_result(before);
        Ok(())
    }

    /// Keeps the result of the call that was closed last, if all messages before it are kept. Returns whether it is kept.
    pub fn keep_result(&mut self, place: Place, role: &'b str) -> Result<bool> {
        let before = self.len();
        self.results.is_open = true;
        let is_kept = self.keep(place, role)?;
        if is_kept {
            self.add_result(before);
        }
        Ok(is_kept)
    }

    /// Remembers the index of a result's call, unless the result was merged into another message.
    fn add_result(&mut self, before: usize) {
        self.results.is_open = false;
        if self.facts.sorts_results && self.len() > before {
            if self.results.calls.is_empty() {
                self.results.start = before;
            }
            self.results.calls.push(self.calls.last_closed);
        }
    }

    /// Returns the number of messages.
    fn len(&self) -> usize {
        self.own.len().max(self.kept)
    }

    /// Puts the last results into the order of their calls.
    #[inline(never)]
    fn sort_results(&mut self) -> Result<()> {
        let calls = std::mem::take(&mut self.results.calls);
        if calls.is_sorted() {
            self.results.calls = calls;
            self.results.calls.clear();
            return Ok(());
        }
        self.own_messages()?;
        self.end_last()?;
        self.changes.charge_items(calls.len())?;
        let results = self.own.split_off(self.results.start.min(self.own.len()));
        let mut results: Vec<(usize, (usize, Message<'b>))> = calls.into_iter().zip(results.into_iter().enumerate()).collect();
        results.sort_by_key(|(call, _)| *call);
        for (index, (_, (before, message))) in results.into_iter().enumerate() {
            if index != before {
                let why = "the template does not print ids, so that a result has the place of its call (calls.id_in_result)";
                self.changes.add(message.place.path(), What::Moved, why)?;
            }
            self.own.push(message);
        }
        Ok(())
    }

    /// Adds a message, or merges it into an earlier one if the template does not take it at this place.
    pub fn push(&mut self, message: Message<'b>, role: &'b str) -> Result<()> {
        if message.is_kept() && self.keep(message.place, role)? {
            return Ok(());
        }
        self.end_results()?;
        self.changes.claim(MESSAGE)?;
        match self.refuse(role) {
            None => {
                self.own_messages()?;
                self.end_last()?;
                self.own.push(message);
                self.set_last_role(role);
            }
            Some(why) if is_instruction(role) => self.merge_into_first(message, why)?,
            Some(why) => {
                self.changes.add(message.place.path(), What::Merged, why)?;
                self.own_messages()?;
                self.further.push(message);
            }
        }
        Ok(())
    }

    /// Keeps the message of the body at a place, if all messages before it are kept and the template takes it there. Returns whether it is
    /// kept.
    #[inline]
    pub fn keep(&mut self, place: Place, role: &'b str) -> Result<bool> {
        self.end_results()?;
        let is_kept = self.own.is_empty() && place.index == Some(self.kept) && self.refuse(role).is_none();
        if is_kept {
            self.kept = self.kept.saturating_add(1);
            self.set_last_role(role);
        }
        Ok(is_kept)
    }

    /// Returns the verdict by which the template does not take a message of a role after the last one, or `None` if it does.
    fn refuse(&self, role: &str) -> Option<&'static str> {
        let last = self.last_role?;
        let takes = &self.facts.takes;
        let (is_taken, verdict) = match role {
            "user" if last == role => (
                takes.two_users,
                "the template does not take two user messages after each other (takes.two_users is false)",
            ),
            "assistant" if last == role => (
                takes.two_assistants,
                "the template does not take two assistant messages after each other (takes.two_assistants is false)",
            ),
            "system" | "developer" if self.is_beginning => (
                takes.two_systems,
                "the template does not take two system messages (takes.two_systems is false)",
            ),
            "system" | "developer" => (
                takes.system_in_middle,
                "the template does not take a system message after others (takes.system_in_middle is false)",
            ),
            _ => return None,
        };
        (!is_taken).then_some(verdict)
    }

    /// Sorts the last results, unless the message that is added is one of them.
    fn end_results(&mut self) -> Result<()> {
        match self.results.is_open || self.results.calls.is_empty() {
            true => Ok(()),
            false => self.sort_results(),
        }
    }

    fn set_last_role(&mut self, role: &'b str) {
        self.is_beginning &= is_instruction(role);
        self.last_role = Some(role);
    }

    /// Makes a list of the messages that were kept so far.
    fn own_messages(&mut self) -> Result<()> {
        if self.own.is_empty() {
            self.changes.claim(self.kept.saturating_mul(MESSAGE))?;
            let kept = self.body.items().take(self.kept).enumerate();
            self.own
                .extend(kept.map(|(index, node)| Message::kept(node, Place::item(self.root, index))));
        }
        Ok(())
    }

    /// Merges the messages that belong to the last one into it, before another message becomes the last.
    fn end_last(&mut self) -> Result<()> {
        match self.own.last_mut() {
            Some(last) => merge_all(last, std::mem::take(&mut self.further), &mut self.changes),
            None => Ok(()),
        }
    }

    /// Merges instructions into those at the beginning, or makes them the first message.
    fn merge_into_first(&mut self, message: Message<'b>, why: &'static str) -> Result<()> {
        self.own_messages()?;
        let path = message.place.path();
        match self.own.first() {
            Some(first) if is_instruction(first.role()) => {
                self.changes.add(path, What::Merged, why)?;
                self.instructions.push(message);
            }
            _ => {
                self.changes.add(path, What::Moved, why)?;
                self.own.insert(0, message);
            }
        }
        Ok(())
    }

    /// Adds the change of a block or an item with reasoning.
    pub fn judge_reasoning(&mut self, block: Node<'b>, place: Place) -> Result<()> {
        match self.facts.reads_reasoning {
            false => self.changes.drop_value(block, place.path(), NO_REASONING),
            true => self.changes.add(
                place.path(),
                What::Translated,
                "templates read `reasoning_content` of an assistant message",
            ),
        }
    }

    /// Returns the role under which the template gets messages of a role, and adds the change if it is another one.
    pub fn recast(&mut self, role: &'b str, place: Place) -> Result<&'b str> {
        match self.facts.recast(role) {
            None => Ok(role),
            Some((other, why)) => {
                self.changes.add(place.path(), What::Recast, why)?;
                Ok(other)
            }
        }
    }

    /// Returns parts of a body as the content of a new message.
    pub fn fit_parts(&mut self, role: &str, parts: &[(usize, Node<'b>)], path: &dyn Fn(usize) -> String) -> Result<Data<'b>> {
        let fitted = content::fit_parts(self.facts, role, parts, path, &mut self.changes)?;
        match fitted {
            Some(fitted) => Ok(fitted),
            None => {
                let copies: Result<_> = parts.iter().map(|(_, part)| self.changes.copy(*part)).collect();
                copies.map(Data::List)
            }
        }
    }

    /// Returns content of a body as that of a new message.
    pub fn fit_content(&mut self, role: &str, content: Node<'b>, path: &dyn Fn() -> String) -> Result<Data<'b>> {
        let fitted = content::fit(self.facts, role, content, path, &mut self.changes)?;
        match fitted {
            Some(fitted) => Ok(fitted),
            None => self.changes.copy(content),
        }
    }

    /// Adds the result of a call as a message of the role `tool`. `field` is the name of the field with the content at the place of the
    /// result.
    pub fn push_result(&mut self, id: Option<&'b str>, content: Option<Node<'b>>, place: Place, field: &str) -> Result<()> {
        self.changes
            .add(place.path(), What::Translated, "templates read a message of the role `tool`")?;
        let name = self.calls.close(id, &|| place.path())?;
        let role = self.recast("tool", place)?;
        let mut message = Message::new(role, place);
        if let Some(content) = content {
            let content = self.fit_content(role, content, &|| place.field(field))?;
            message.set("content", content, &mut self.changes)?;
        }
        if let Some(id) = id {
            message.set("tool_call_id", Data::Str(id.into()), &mut self.changes)?;
        }
        if let Some(name) = name.filter(|_| self.facts.prints_name_of_result) {
            message.set("name", Data::Str(name.into()), &mut self.changes)?;
        }
        self.fill_content(&mut message, false)?;
        self.push_as_result(message, role)
    }

    /// Returns the call of a block or an item, and opens it.
    pub fn open_call(
        &mut self,
        block: Node<'b>,
        id: Option<&'b str>,
        name: &'b str,
        arguments: Node<'b>,
        place: Place,
        field: &str,
    ) -> Result<Data<'b>> {
        self.changes.claim(OPEN_CALL.saturating_add(NEW_CALL))?;
        match self.facts.judge_calls() {
            Some(why) => self.changes.drop_value(block, place.path(), why)?,
            None => self.changes.add(
                place.path(),
                What::Translated,
                "templates read `tool_calls` of an assistant message",
            )?,
        }
        self.calls.add(id, Some(name), &|| place.path())?;
        let fitted = fit_arguments(self.facts, arguments, &|| place.field(field), &mut self.changes)?;
        let arguments = match fitted {
            Some(fitted) => fitted,
            None => self.changes.copy(arguments)?,
        };
        Ok(make_call(id, name, arguments))
    }

    /// Gives absent or empty content the form that the template takes.
    pub fn fill_content(&mut self, message: &mut Message<'b>, has_calls: bool) -> Result<()> {
        let takes = &self.facts.takes;
        let forms = match message.role() {
            "assistant" => takes.empty,
            role => self.facts.forms(role),
        };
        let needs_part = !forms.string && forms.part;
        let is_null_taken = has_calls && self.facts.is_null_taken;
        let (what, why) = match message.get("content").map(Node::text) {
            None if is_null_taken => return Ok(()),
            None => (
                What::Emptied,
                "the template can fail without content, or print `None` (takes.null)",
            ),
            Some(Some("")) if needs_part => (
                What::Wrapped,
                "the template does not take an empty string (takes.empty.string is false)",
            ),
            Some(Some("")) if is_null_taken && !forms.string => (
                What::Omitted,
                "the template does not take an empty string (takes.empty.string is false)",
            ),
            Some(_) => return Ok(()),
        };
        let changes = &mut self.changes;
        changes.add(message.place.field("/content"), what, why)?;
        match (what, needs_part) {
            (What::Omitted, _) => message.take("content", changes).map(drop),
            (_, true) => message.set("content", Data::List(vec![content::text_part("".into())]), changes),
            (_, false) => message.set("content", Data::Str("".into()), changes),
        }
    }

    /// Gives the reasoning the name that the template reads, if `apply` does not give it that name.
    pub fn rename_reasoning(&mut self, message: &mut Message<'b>) -> Result<()> {
        let Some(name) = self.facts.reasoning.filter(|name| message.get(name).is_none()) else {
            return Ok(());
        };
        for other in ["reasoning_content", "thinking"] {
            if message.get(other).is_some() {
                self.changes.add(
                    message.place.field(&format!("/{other}")),
                    What::Renamed,
                    "the template reads reasoning under another name (reasoning.fields)",
                )?;
                let reasoning = message.take(other, &mut self.changes)?;
                return message.set(name, reasoning, &mut self.changes);
            }
        }
        Ok(())
    }
}

/// The results of calls that follow each other.
#[derive(Default)]
struct Results {
    /// The index of the first result in the messages.
    start: usize,
    /// The index of each result's call.
    calls: Vec<usize>,
    /// Whether the message that is being added is a result.
    is_open: bool,
}

/// Returns whether messages of a role are instructions.
fn is_instruction(role: &str) -> bool {
    matches!(role, "system" | "developer")
}
