//! Finds out what whole conversations can contain. The conversations have several turns, as those of clients have, and the planted words
//! of the other experiments.
//!
//! ```text
//! system, user, assistant, system, user   ->   refused: the roles must alternate   ->   takes.system_in_middle: false
//! ```

use serde_json::{Value, json};

use super::calls::judge_text_arguments;
use super::lab::{Lab, Trial, find_words};
use super::plant::{self, ANSWER, ARGUMENT, FUNCTION, ID, PLANT, SECOND_ID, SYSTEM, USER, VALUE};
use super::roles::has_printed_part;
use crate::error::Result;
use crate::report::{Arguments, Content, Forms, Outcome, Report, Takes};

/// The form of the content of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    String,
    Part,
    Parts,
}

impl Shape {
    /// Returns a shape that the forms allow: a string, else several parts, else one part.
    fn simplest(forms: Forms) -> Self {
        match forms {
            Forms {
                string: false,
                parts: true,
                ..
            } => Self::Parts,
            Forms {
                string: false,
                part: true,
                ..
            } => Self::Part,
            _ => Self::String,
        }
    }
}

/// The content of a message with calls: a text in some form, or null.
const CONTENTS: [Option<(Shape, &str)>; 5] = [
    None,
    Some((Shape::String, "")),
    Some((Shape::Part, "")),
    Some((Shape::String, BESIDE)),
    Some((Shape::Part, BESIDE)),
];

/// The text beside a call. It contains the planted word, so a search for that word finds it in the prompt.
const BESIDE: &str = "vexolumiqbeside";

/// The types of parts of each medium.
const IMAGES: [&str; 2] = ["image", "image_url"];
const AUDIOS: [&str; 3] = ["audio", "input_audio", "audio_url"];
const VIDEOS: [&str; 2] = ["video", "video_url"];

/// Tries everything that a request can have.
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
    /// Adds a message with new words: two in a list of parts, otherwise one.
    fn plant(mut self, role: &str, shape: Shape) -> Self {
        let content = self.content(shape);
        self.messages.push(json!({"role": role, "content": content}));
        self
    }

    /// Adds the result of a call with new words.
    fn plant_result(mut self, id: &str, shape: Shape) -> Self {
        let content = self.content(shape);
        self.messages.push(plant::result(id, FUNCTION, &content));
        self
    }

    fn content(&mut self, shape: Shape) -> Value {
        match shape {
            Shape::String => Value::from(self.word()),
            Shape::Part => json!([{"type": "text", "text": self.word()}]),
            Shape::Parts => json!([{"type": "text", "text": self.word()}, {"type": "text", "text": self.word()}]),
        }
    }

    /// Returns a new word. No word is a part of another one.
    fn word(&mut self) -> String {
        let word = format!("{PLANT}x{}x", self.words.len());
        self.words.push(word.clone());
        word
    }

    /// Adds a message whose text is not looked for.
    fn say(mut self, role: &str, forms: Forms) -> Self {
        let text = match role {
            "system" => SYSTEM,
            "user" => USER,
            _ => ANSWER,
        };
        let content = write_content(Shape::simplest(forms), text);
        self.messages.push(json!({"role": role, "content": content}));
        self
    }

    fn call(mut self, ids: &[&str], is_text: bool, content: Option<(Shape, &str)>) -> Self {
        let calls: Vec<Value> = ids
            .iter()
            .map(|id| plant::call(id, FUNCTION, &plant::arguments(is_text)))
            .collect();
        let content = content.map(|(shape, text)| write_content(shape, text));
        self.messages.push(plant::calling(&calls, content));
        self
    }

    fn trial(&self) -> Trial {
        Trial::new(self.messages.clone()).with_tools(self.tools.clone())
    }
}

fn write_content(shape: Shape, text: &str) -> Value {
    match shape {
        Shape::String => Value::from(text),
        Shape::Part | Shape::Parts => json!([{"type": "text", "text": text}]),
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

    /// Returns the forms of content that the template takes in all these conversations. One part is tried only if several parts are not
    /// taken.
    fn ask_forms<const N: usize>(&mut self, path: &str, talks: impl Fn(Shape) -> [Talk; N]) -> Result<Forms> {
        let string = self.takes_all(path, talks(Shape::String))?;
        let parts = self.takes_all(path, talks(Shape::Parts))?;
        let part = parts || self.takes_all(path, talks(Shape::Part))?;
        Ok(Forms { string, part, parts })
    }

    /// Tries the forms of content in a conversation in which a user and an assistant take turns.
    fn ask_turns(&mut self) -> Result<()> {
        let string = Forms {
            string: true,
            ..Forms::default()
        };
        let part = Forms {
            part: true,
            ..Forms::default()
        };
        for answer in [string, part] {
            let turns = |shape| {
                Talk::default()
                    .plant("user", shape)
                    .say("assistant", answer)
                    .plant("user", shape)
            };
            self.takes.user = self.ask_forms("user", |shape| [turns(shape)])?;
            if self.takes.user.is_any() {
                break;
            }
        }
        if !self.takes.user.is_any() {
            self.takes.user = self.ask_forms("user", |shape| [Talk::default().plant("user", shape)])?;
        }
        let user = self.takes.user;
        let turns = |shape| Talk::default().say("user", user).plant("assistant", shape).say("user", user);
        self.takes.assistant = self.ask_forms("assistant", |shape| [turns(shape)])?;
        Ok(())
    }

    /// Returns the forms that the template takes for the messages of a user and an assistant around the message of an experiment.
    fn turns(&self) -> Turns {
        let Takes { user, assistant, .. } = self.takes;
        Turns { user, assistant }
    }

    fn ask_instructions(&mut self) -> Result<()> {
        let turns = self.turns();
        self.takes.system = self.ask_forms("system", |shape| [turns.all(Talk::default().plant("system", shape))])?;
        self.takes.developer = self.ask_forms("developer", |shape| [turns.all(Talk::default().plant("developer", shape))])?;
        Ok(())
    }

    /// Tries the orders of roles.
    fn ask_orders(&mut self) -> Result<()> {
        let turns = self.turns();
        let instructions = [("system", self.takes.system), ("developer", self.takes.developer)];
        if let Some((role, forms)) = instructions.into_iter().find(|(_, forms)| forms.is_any()) {
            let shape = Shape::simplest(forms);
            let start = Talk::default().plant(role, shape);
            self.takes.two_systems = self.takes_all("two_systems", [turns.all(start.clone().plant(role, shape))])?;
            let middle = [Talk::default(), start].map(|start| {
                let after_answer = turns.user(turns.answer(turns.user(start.clone())).plant(role, shape));
                let after_user = turns.user(turns.answer(turns.user(start).plant(role, shape)));
                [after_answer, after_user]
            });
            self.takes.system_in_middle = self.takes_all("system_in_middle", middle.into_iter().flatten())?;
        }
        let (user, answer) = (Shape::simplest(turns.user), Shape::simplest(turns.assistant));
        let two_users = |start: Talk| start.plant("user", user).plant("user", user);
        let later = two_users(turns.answer(turns.user(Talk::default())));
        let users = [turns.user(turns.answer(two_users(Talk::default()))), later];
        self.takes.two_users = self.takes_all("two_users", users)?;
        let answers = turns
            .user(Talk::default())
            .plant("assistant", answer)
            .plant("assistant", answer);
        self.takes.two_assistants = self.takes_all("two_assistants", [turns.user(answers)])?;
        Ok(())
    }

    /// Tries tools, and calls with their results.
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
        let shape = match report.roles.tool.content {
            Content::Parts => Shape::Part,
            _ => Shape::String,
        };
        let (mut found, mut content) = ([None; 2], (Outcome::Failed, Some((Shape::String, ""))));
        for (found, is_text) in found.iter_mut().zip([false, true]) {
            for beside in CONTENTS {
                let talk = after(call(&[ID], is_text, beside).plant_result(ID, shape));
                let result = self.outcome("calls", &talk)?;
                if result < content.0 {
                    content = (result, beside);
                }
                let printed = self
                    .lab
                    .witnesses
                    .get("takes.calls")
                    .and_then(|witness| witness.output.as_deref());
                let outcome = printed.map_or(result, |text| match is_text {
                    true => judge_text_arguments(text),
                    false => find_words(text, &[ARGUMENT, VALUE]),
                });
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
        // A template that refuses two calls in a message never has two results after it.
        let pair = call(&[ID, SECOND_ID], is_text, content.1);
        let takes_pair = !matches!(self.outcome("tool", &pair)?, Outcome::Refused | Outcome::Failed);
        let results = |shape| {
            let one = call(&[ID], is_text, content.1).plant_result(ID, shape);
            let two = match takes_pair {
                true => pair.clone().plant_result(ID, shape).plant_result(SECOND_ID, shape),
                false => one.clone(),
            };
            [after(one.clone()), one, two]
        };
        self.takes.tool = self.ask_forms("tool", results)?;
        let (tool, mut taken) = (self.takes.tool, [false; 5]);
        for (taken, beside) in taken.iter_mut().zip(CONTENTS) {
            let talk = call(&[ID], is_text, beside);
            let talk = match tool.is_any() {
                true => after(talk.plant_result(ID, Shape::simplest(tool))),
                false => turns.user(talk),
            };
            *taken = matches!(self.outcome("caller", &talk)?, Outcome::Printed | Outcome::Lost);
        }
        let [null, empty, empty_part, beside, beside_part] = taken;
        self.takes.null = null;
        let mut is_taken = |content| {
            let mut answer = turns.user(Talk::default());
            answer.messages.push(json!({"role": "assistant", "content": content}));
            self.takes_all("empty", [turns.user(answer)])
        };
        let string = empty && is_taken(write_content(Shape::String, ""))?;
        let part = empty_part && is_taken(write_content(Shape::Part, ""))?;
        self.takes.empty = Forms {
            string,
            part,
            parts: part,
        };
        self.takes.caller = Forms {
            string: beside,
            part: beside_part,
            parts: beside_part,
        };
        Ok(())
    }

    fn ask_media(&mut self) -> Result<()> {
        if !self.takes.user.part {
            return Ok(());
        }
        self.takes.image = self.ask_medium("image", &IMAGES)?;
        self.takes.audio = self.ask_medium("audio", &AUDIOS)?;
        self.takes.video = self.ask_medium("video", &VIDEOS)?;
        Ok(())
    }

    /// Returns the types under which a media part changes the prompt while the texts around the part stay in it.
    fn ask_medium(&mut self, medium: &str, types: &[&str]) -> Result<Vec<String>> {
        let shape = if self.takes.user.parts { Shape::Parts } else { Shape::Part };
        let with = |part: Option<Value>| {
            let mut talk = Talk::default().plant("user", shape);
            if let (Some(part), Some(parts)) = (
                part,
                talk.messages
                    .first_mut()
                    .and_then(|message| message.get_mut("content")?.as_array_mut()),
            ) {
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

/// The forms of content of the messages of a user and an assistant around the message of an experiment.
#[derive(Clone, Copy)]
struct Turns {
    user: Forms,
    assistant: Forms,
}

impl Turns {
    fn user(self, talk: Talk) -> Talk {
        talk.say("user", self.user)
    }

    fn answer(self, talk: Talk) -> Talk {
        talk.say("assistant", self.assistant)
    }

    /// Adds messages of a user, an assistant and a user.
    fn all(self, talk: Talk) -> Talk {
        self.user(self.answer(self.user(talk)))
    }
}
