//! Asks what whole conversations can have: the same texts as ever, in conversations of several turns as clients send them.
//!
//! ```text
//! system, user, assistant, system, user   ->   refused: the roles must alternate   ->   takes.system_in_middle: false
//! ```

use serde_json::{Value, json};

use super::calls::judge_text_arguments;
use super::lab::{Lab, Trial, find_words};
use super::plant::{self, ANSWER, ARGUMENT, FUNCTION, Form, ID, PLANT, SYSTEM, USER, VALUE};
use super::roles::has_printed_part;
use crate::error::Result;
use crate::report::{Arguments, Content, Outcome, Report, Takes};

/// The forms of the content of a call's message.
const CONTENTS: [Option<&str>; 3] = [Some(ANSWER), Some(""), None];

/// The id of a second call.
const OTHER: &str = "Zt4nRb8Gs";

/// The types of parts of each medium.
const IMAGES: [&str; 2] = ["image", "image_url"];
const AUDIOS: [&str; 3] = ["audio", "input_audio", "audio_url"];
const VIDEOS: [&str; 2] = ["video", "video_url"];

/// Asks for everything that a request can have.
pub fn inspect(lab: &mut Lab<'_>, report: &Report) -> Result<Takes> {
    let mut asker = Asker {
        lab,
        takes: Takes::default(),
    };
    asker.ask_turns()?;
    asker.ask_instructions()?;
    asker.ask_orders()?;
    asker.ask_calls(report)?;
    asker.ask_media()?;
    Ok(asker.takes)
}

/// The messages of a conversation, with the words that the prompt must have.
#[derive(Clone, Default)]
struct Talk {
    messages: Vec<Value>,
    words: Vec<String>,
    tools: Option<Value>,
}

impl Talk {
    /// Adds a message with new words: one in a string, two in a list of parts.
    fn plant(mut self, role: &str, form: Form) -> Self {
        let content = self.content(form);
        self.messages.push(json!({"role": role, "content": content}));
        self
    }

    /// Adds the result of a call with new words.
    fn plant_result(mut self, id: &str, form: Form) -> Self {
        let content = self.content(form);
        self.messages.push(plant::result(id, FUNCTION, &content));
        self
    }

    fn content(&mut self, form: Form) -> Value {
        match form {
            Form::String => Value::from(self.word()),
            Form::Parts => json!([{"type": "text", "text": self.word()}, {"type": "text", "text": self.word()}]),
        }
    }

    /// Returns a new word. No word is a part of another one.
    fn word(&mut self) -> String {
        let word = format!("{PLANT}x{}x", self.words.len());
        self.words.push(word.clone());
        word
    }

    /// Adds a message whose text is not looked for.
    fn say(mut self, role: &str, content: Content) -> Self {
        let text = match role {
            "system" => SYSTEM,
            "user" => USER,
            _ => ANSWER,
        };
        self.messages.push(plant::say(role, form_of(content), text));
        self
    }

    fn call(mut self, ids: &[&str], is_text: bool, content: Option<&str>) -> Self {
        let calls: Vec<Value> = ids
            .iter()
            .map(|id| plant::call(id, FUNCTION, &plant::arguments(is_text)))
            .collect();
        self.messages.push(plant::calling(&calls, content.map(Value::from)));
        self
    }

    fn trial(&self) -> Trial {
        Trial::new(self.messages.clone()).with_tools(self.tools.clone())
    }
}

/// Returns the form in which other messages have their content.
fn form_of(content: Content) -> Form {
    match content {
        Content::Parts => Form::Parts,
        _ => Form::String,
    }
}

fn content_of(string: bool, parts: bool) -> Content {
    match (string, parts) {
        (true, true) => Content::Both,
        (true, false) => Content::String,
        (false, true) => Content::Parts,
        (false, false) => Content::Neither,
    }
}

struct Asker<'l, 't> {
    lab: &'l mut Lab<'t>,
    takes: Takes,
}

impl Asker<'_, '_> {
    /// Returns the outcome of a conversation: whether all its words are printed.
    fn outcome(&mut self, path: &str, talk: &Talk) -> Result<Outcome> {
        let trial = talk.trial();
        let rendered = self.lab.render(&trial)?;
        let outcome = match &rendered {
            Ok(prompt) if has_printed_part(&prompt.text) => Outcome::Repr,
            Ok(prompt) => find_words(&prompt.text, &talk.words.iter().map(String::as_str).collect::<Vec<_>>()),
            Err(error) => super::lab::outcome_of(error),
        };
        self.lab.keep(format!("takes.{path}"), &trial, &rendered);
        Ok(outcome)
    }

    /// Returns whether all words of all conversations are printed. The witness is the first conversation that fails.
    fn takes_all(&mut self, path: &str, talks: impl IntoIterator<Item = Talk>) -> Result<bool> {
        for talk in talks {
            if self.outcome(path, &talk)? != Outcome::Printed {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the forms of content for which the conversations are taken.
    fn ask_content<const N: usize>(&mut self, path: &str, talks: impl Fn(Form) -> [Talk; N]) -> Result<Content> {
        let string = self.takes_all(path, talks(Form::String))?;
        let parts = self.takes_all(path, talks(Form::Parts))?;
        Ok(content_of(string, parts))
    }

    /// Asks for the forms of a user and an assistant who take turns.
    fn ask_turns(&mut self) -> Result<()> {
        for answer in [Content::String, Content::Parts] {
            let turns = |form| Talk::default().plant("user", form).say("assistant", answer).plant("user", form);
            self.takes.user = self.ask_content("user", |form| [turns(form)])?;
            if self.takes.user != Content::Neither {
                break;
            }
        }
        if self.takes.user == Content::Neither {
            self.takes.user = self.ask_content("user", |form| [Talk::default().plant("user", form)])?;
        }
        let user = self.takes.user;
        let turns = |form| [Talk::default().say("user", user).plant("assistant", form).say("user", user)];
        self.takes.assistant = self.ask_content("assistant", turns)?;
        Ok(())
    }

    /// Returns what is said between instructions.
    fn turns(&self) -> Turns {
        let Takes { user, assistant, .. } = self.takes;
        Turns { user, assistant }
    }

    fn ask_instructions(&mut self) -> Result<()> {
        let turns = self.turns();
        self.takes.system = self.ask_content("system", |form| [turns.all(Talk::default().plant("system", form))])?;
        self.takes.developer = self.ask_content("developer", |form| [turns.all(Talk::default().plant("developer", form))])?;
        Ok(())
    }

    /// Asks for the orders of roles.
    fn ask_orders(&mut self) -> Result<()> {
        let turns = self.turns();
        let role = match (self.takes.system, self.takes.developer) {
            (Content::Neither, Content::Neither) => None,
            (Content::Neither, developer) => Some(("developer", form_of(developer))),
            (system, _) => Some(("system", form_of(system))),
        };
        if let Some((role, form)) = role {
            let start = Talk::default().plant(role, form);
            self.takes.two_systems = self.takes_all("two_systems", [turns.all(start.clone().plant(role, form))])?;
            let middle = [Talk::default(), start].map(|start| {
                let after_answer = turns.user(turns.answer(turns.user(start.clone())).plant(role, form));
                let after_user = turns.user(turns.answer(turns.user(start).plant(role, form)));
                [after_answer, after_user]
            });
            self.takes.system_in_middle = self.takes_all("system_in_middle", middle.into_iter().flatten())?;
        }
        let (user, answer) = (form_of(turns.user), form_of(turns.assistant));
        let two_users = |start: Talk| start.plant("user", user).plant("user", user);
        let later = two_users(turns.answer(turns.user(Talk::default())));
        let users = [turns.user(turns.answer(two_users(Talk::default()))), later];
        self.takes.two_users = self.takes_all("two_users", users)?;
        let answers = turns.user(Talk::default()).plant("assistant", answer).plant("assistant", answer);
        self.takes.two_assistants = self.takes_all("two_assistants", [turns.user(answers)])?;
        Ok(())
    }

    /// Asks for tools, and for calls with their results.
    fn ask_calls(&mut self, report: &Report) -> Result<()> {
        let turns = self.turns();
        let is_failed = |outcome| outcome == Outcome::Failed;
        let mut declared = turns.user(Talk::default());
        declared.tools = Some(plant::tools(FUNCTION));
        self.takes.tools = !is_failed(self.outcome("tools", &declared)?);
        let tools = declared.tools.filter(|_| self.takes.tools);
        let call = |ids: &[&str], is_text, content| {
            let mut talk = turns.user(Talk::default()).call(ids, is_text, content);
            talk.tools.clone_from(&tools);
            talk
        };
        let after = |talk: Talk| turns.user(turns.answer(talk));
        let mut found = [None; 2];
        for (found, is_text) in found.iter_mut().zip([false, true]) {
            for content in CONTENTS {
                let talk = after(call(&[ID], is_text, content).plant_result(ID, Form::String));
                let mut outcome = self.outcome("calls", &talk)?;
                let printed = self.lab.witnesses.get("takes.calls").and_then(|witness| witness.output.as_deref());
                if let Some(text) = printed {
                    outcome = match is_text {
                        true => judge_text_arguments(text),
                        false => find_words(text, &[ARGUMENT, VALUE]),
                    };
                }
                *found = Some(found.map_or(outcome, |best: Outcome| best.min(outcome)));
            }
        }
        let [object, string] = found.map(Option::unwrap_or_default);
        self.takes.calls = !is_failed(object) || !is_failed(string);
        self.takes.arguments = match (object == Outcome::Printed, string) {
            (true, Outcome::Printed) => Arguments::Both,
            (_, Outcome::Printed) => Arguments::String,
            (true, _) => Arguments::Object,
            (_, Outcome::Double | Outcome::Failed) if !is_failed(object) => Arguments::Object,
            (_, Outcome::Refused | Outcome::Lost) if is_failed(object) => Arguments::String,
            _ => report.calls.arguments,
        };
        let is_text = self.takes.arguments == Arguments::String;
        let mut taken = [false; 3];
        for (taken, content) in taken.iter_mut().zip(CONTENTS) {
            let talk = after(call(&[ID], is_text, content).plant_result(ID, Form::String));
            *taken = self.takes_all("tool", [talk])?;
        }
        let [_, empty, null] = taken;
        (self.takes.empty, self.takes.null) = (empty, null);
        let content = CONTENTS.into_iter().zip(taken).rev().find(|(_, is_taken)| *is_taken);
        let content = content.map_or(Some(""), |(content, _)| content);
        let results = |form| {
            let one = call(&[ID], is_text, content).plant_result(ID, form);
            let two = call(&[ID, OTHER], is_text, content).plant_result(ID, form).plant_result(OTHER, form);
            [after(one.clone()), one, two]
        };
        self.takes.tool = self.ask_content("tool", results)?;
        Ok(())
    }

    fn ask_media(&mut self) -> Result<()> {
        if !matches!(self.takes.user, Content::Parts | Content::Both) {
            return Ok(());
        }
        self.takes.image = self.ask_medium("image", &IMAGES)?;
        self.takes.audio = self.ask_medium("audio", &AUDIOS)?;
        self.takes.video = self.ask_medium("video", &VIDEOS)?;
        Ok(())
    }

    /// Returns the types of parts that stand for a medium: with which the prompt is another one, and has the texts around the part.
    fn ask_medium(&mut self, medium: &str, types: &[&str]) -> Result<Vec<String>> {
        let with = |part: Option<Value>| {
            let mut talk = Talk::default().plant("user", Form::Parts);
            if let (Some(part), Some(parts)) = (part, talk.messages.first_mut().and_then(|message| message.get_mut("content")?.as_array_mut())) {
                parts.insert(1, part);
            }
            talk
        };
        let plain = self.lab.render(&with(None).trial())?.map(|prompt| prompt.text).ok();
        let mut taken = Vec::new();
        for kind in types {
            let talk = with(Some(match *kind {
                "image_url" | "audio_url" | "video_url" => json!({"type": kind, *kind: {"url": "data:,"}}),
                "input_audio" => json!({"type": kind, *kind: {"data": "", "format": "wav"}}),
                _ => json!({"type": kind}),
            }));
            let is_printed = self.outcome(medium, &talk)? == Outcome::Printed;
            let witness = self.lab.witnesses.get(&format!("takes.{medium}"));
            if is_printed && witness.is_some_and(|witness| witness.output != plain) {
                taken.push((*kind).to_owned());
            }
        }
        Ok(taken)
    }
}

/// The forms in which a user and an assistant talk between messages with words.
#[derive(Clone, Copy)]
struct Turns {
    user: Content,
    assistant: Content,
}

impl Turns {
    fn user(self, talk: Talk) -> Talk {
        talk.say("user", self.user)
    }

    fn answer(self, talk: Talk) -> Talk {
        talk.say("assistant", self.assistant)
    }

    /// Adds a user, an assistant and a user.
    fn all(self, talk: Talk) -> Talk {
        self.user(self.answer(self.user(talk)))
    }
}
