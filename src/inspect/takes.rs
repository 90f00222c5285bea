//! Finds out what whole conversations can contain. The conversations have several turns, as those of clients have, and the planted words
//! of the other experiments.
//!
//! ```text
//! system, user, assistant, system, user   ->   refused: the roles must alternate   ->   takes.system_in_middle: false
//! ```

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::experiments::{Experiments, find_words, outcome_of};
use super::plant::{self, ANSWER, FUNCTION, Form, ID, PLANT, SECOND_ID, USER, say};
use super::roles::has_printed_part;
use crate::error::Result;
use crate::report::{Arguments, Basics, Content, Forms, Outcome, Takes};

/// The content of a message with calls: a string in some form, or null.
const CONTENTS: [Option<(Form, &str)>; 5] = [
    None,
    Some((Form::String, "")),
    Some((Form::Part, "")),
    Some((Form::String, BESIDE)),
    Some((Form::Part, BESIDE)),
];

/// The text beside a call. It contains the planted word, so a search for that word finds it in the prompt.
const BESIDE: &str = "vexolumiqbeside";

/// The types of parts of each medium.
const IMAGES: [&str; 2] = ["image", "image_url"];
const AUDIOS: [&str; 3] = ["audio", "input_audio", "audio_url"];
const VIDEOS: [&str; 2] = ["video", "video_url"];

/// Only a string.
const STRING: Forms = Forms {
    string: true,
    part: false,
    parts: false,
};

/// Only one part.
const PART: Forms = Forms {
    string: false,
    part: true,
    parts: false,
};

/// Tries everything that a request can have.
pub fn inspect(experiments: &mut Experiments<'_>, basics: &Basics) -> Result<Takes> {
    let mut probe = Probe {
        experiments,
        takes: Takes::default(),
        call: Value::Null,
        pair: Value::Null,
        tools: None,
    };
    probe.ask_roles()?;
    probe.ask_orders()?;
    probe.ask_calls(basics)?;
    if probe.takes.user.part {
        probe.takes.image = probe.ask_medium("image", &IMAGES)?;
        probe.takes.audio = probe.ask_medium("audio", &AUDIOS)?;
        probe.takes.video = probe.ask_medium("video", &VIDEOS)?;
    }
    Ok(probe.takes)
}

/// Returns a form that is taken: a string, else several parts, else one part.
fn simplest(forms: Forms) -> Form {
    match forms {
        Forms { string: true, .. } => Form::String,
        Forms { parts: true, .. } => Form::Parts,
        Forms { part: true, .. } => Form::Part,
        _ => Form::String,
    }
}

struct Probe<'e, 't> {
    experiments: &'e mut Experiments<'t>,
    takes: Takes,
    /// The messages with one call and with two.
    call: Value,
    pair: Value,
    tools: Option<Value>,
}

impl Probe<'_, '_> {
    /// Returns a conversation with the words that the prompt must have. In an order, a capital letter is a message with new words in a
    /// form: of the system, a developer, the user, the assistant, and `R` and `Q` the results of the first and the second call. A small
    /// letter is a message whose text is not looked for: `u`, `a`, `c` and `p` with one call and with two, and `e` an answer whose text is
    /// empty.
    fn conversation(&self, order: &str, form: Form) -> (Conversation, Vec<String>) {
        let mut words: Vec<String> = Vec::new();
        let mut plant = |form: Form| {
            // No word is a part of another one.
            let mut word = || {
                let word = format!("{PLANT}x{}x", words.len());
                words.push(word.clone());
                word
            };
            match form {
                Form::String => Value::from(word()),
                Form::Part => json!([{"type": "text", "text": word()}]),
                Form::Parts => json!([{"type": "text", "text": word()}, {"type": "text", "text": word()}]),
            }
        };
        let message = |letter: char| match letter {
            'u' => say("user", simplest(self.takes.user), USER),
            'a' => say("assistant", simplest(self.takes.assistant), ANSWER),
            'e' => say("assistant", form, ""),
            'c' => self.call.clone(),
            'p' => self.pair.clone(),
            'R' => plant::result(ID, FUNCTION, &plant(form)),
            'Q' => plant::result(SECOND_ID, FUNCTION, &plant(form)),
            role => {
                let role = match role {
                    'S' => "system",
                    'D' => "developer",
                    'U' => "user",
                    _ => "assistant",
                };
                json!({"role": role, "content": plant(form)})
            }
        };
        let messages: Vec<Value> = order.chars().map(message).collect();
        (Conversation::new(messages).with_tools(self.tools.clone()), words)
    }

    /// Returns the outcome of a conversation: whether all its words are printed.
    fn outcome(&mut self, path: &str, order: &str, form: Form) -> Result<Outcome> {
        let (trial, words) = self.conversation(order, form);
        self.judge(path, &trial, &words)
    }

    fn judge(&mut self, path: &str, trial: &Conversation, words: &[String]) -> Result<Outcome> {
        self.experiments.show(&format!("takes.{path}"), trial);
        Ok(match &*self.experiments.render(trial)? {
            Ok(prompt) if has_printed_part(&prompt.text) => Outcome::Repr,
            Ok(prompt) => find_words(&prompt.text, &words.iter().map(String::as_str).collect::<Vec<_>>()),
            Err(error) => outcome_of(error),
        })
    }

    /// Returns whether all words of all conversations are printed. The witness is the first conversation that fails.
    fn takes_all(&mut self, path: &str, orders: &[&str], form: Form) -> Result<bool> {
        for order in orders {
            if self.outcome(path, order, form)? != Outcome::Printed {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the forms of content that the template takes in all these conversations. One part is tried only if several parts are not
    /// taken.
    fn ask_forms(&mut self, path: &str, orders: &[&str]) -> Result<Forms> {
        let string = self.takes_all(path, orders, Form::String)?;
        let parts = self.takes_all(path, orders, Form::Parts)?;
        let part = parts || self.takes_all(path, orders, Form::Part)?;
        Ok(Forms { string, part, parts })
    }

    /// Tries the forms of content of each role.
    fn ask_roles(&mut self) -> Result<()> {
        for (answer, order) in [(STRING, "UaU"), (PART, "UaU"), (STRING, "U")] {
            self.takes.assistant = answer;
            self.takes.user = self.ask_forms("user", &[order])?;
            if self.takes.user.is_any() {
                break;
            }
        }
        self.takes.assistant = self.ask_forms("assistant", &["uAu"])?;
        self.takes.system = self.ask_forms("system", &["Suau"])?;
        self.takes.developer = self.ask_forms("developer", &["Duau"])?;
        Ok(())
    }

    /// Tries the orders of roles.
    fn ask_orders(&mut self) -> Result<()> {
        let instructions = [('S', self.takes.system), ('D', self.takes.developer)];
        if let Some((role, forms)) = instructions.into_iter().find(|(_, forms)| forms.is_any()) {
            let orders = ["SSuau", "uaSu", "uSau", "SuaSu", "SuSau"].map(|order| order.replace('S', &role.to_string()));
            let [two, middle @ ..] = orders.each_ref().map(String::as_str);
            self.takes.two_systems = self.takes_all("two_systems", &[two], simplest(forms))?;
            self.takes.system_in_middle = self.takes_all("system_in_middle", &middle, simplest(forms))?;
        }
        self.takes.two_users = self.takes_all("two_users", &["UUau", "uaUU"], simplest(self.takes.user))?;
        self.takes.two_assistants = self.takes_all("two_assistants", &["uAAu"], simplest(self.takes.assistant))?;
        Ok(())
    }

    /// Sets the messages with calls.
    fn set_calls(&mut self, arguments: Arguments, content: Option<(Form, &str)>) {
        let calls = [ID, SECOND_ID].map(|id| plant::call(id, FUNCTION, &plant::arguments(arguments == Arguments::String)));
        let content = content.map(|(form, text)| form.content(text));
        self.pair = plant::calling(&calls, content.clone());
        self.call = plant::calling(&calls[..1], content);
    }

    /// Tries tools, and calls with their results.
    fn ask_calls(&mut self, basics: &Basics) -> Result<()> {
        let is_failed = |outcome| outcome == Outcome::Failed;
        self.tools = Some(plant::tools(FUNCTION));
        self.takes.tools = !is_failed(self.outcome("tools", "u", Form::String)?);
        self.tools.take_if(|_| !self.takes.tools);
        self.takes.arguments = basics.calls.arguments;
        let form = match basics.roles.tool.content {
            Content::Parts => Form::Part,
            _ => Form::String,
        };
        let mut best = (Outcome::Failed, Some((Form::String, "")));
        for arguments in [Arguments::Object, Arguments::String] {
            for content in CONTENTS {
                self.set_calls(arguments, content);
                let outcome = self.outcome("calls", "ucRau", form)?;
                self.takes.calls |= !is_failed(outcome);
                if outcome < best.0 {
                    best = (outcome, content);
                }
            }
        }
        self.set_calls(self.takes.arguments, best.1);
        // A template that refuses two calls in a message never has two results after it.
        let orders: &[&str] = match self.outcome("tool", "up", form)? {
            Outcome::Refused | Outcome::Failed => &["ucRau", "ucR"],
            _ => &["ucRau", "ucR", "upRQ"],
        };
        self.takes.tool = self.ask_forms("tool", orders)?;
        let order = if self.takes.tool.is_any() { "ucRau" } else { "ucu" };
        let mut taken = [false; 5];
        for (taken, content) in taken.iter_mut().zip(CONTENTS) {
            self.set_calls(self.takes.arguments, content);
            let outcome = self.outcome("caller", order, simplest(self.takes.tool))?;
            *taken = matches!(outcome, Outcome::Printed | Outcome::Lost);
        }
        let [null, empty, empty_part, beside, beside_part] = taken;
        self.tools = None;
        let string = empty && self.takes_all("empty", &["ueu"], Form::String)?;
        let part = empty_part && self.takes_all("empty", &["ueu"], Form::Part)?;
        let forms = |string, part| Forms {
            string,
            part,
            parts: part,
        };
        self.takes.null = null;
        self.takes.empty = forms(string, part);
        self.takes.caller = forms(beside, beside_part);
        Ok(())
    }

    /// Returns the types of media parts that change the prompt while the texts around the part stay in it.
    fn ask_medium(&mut self, medium: &str, types: &[&str]) -> Result<Vec<String>> {
        let form = if self.takes.user.parts { Form::Parts } else { Form::Part };
        let (plain, words) = self.conversation("U", form);
        let text = self.experiments.text(&plain)?;
        let mut taken = Vec::new();
        for kind in types {
            let part = match *kind {
                "image_url" | "audio_url" | "video_url" => json!({"type": kind, *kind: {"url": "data:,"}}),
                "input_audio" => json!({"type": kind, *kind: {"data": "", "format": "wav"}}),
                _ => json!({"type": kind}),
            };
            let mut parts = plain
                .value("content", "/content")
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default();
            parts.insert(1, part);
            let with = plain.clone().with_content(|_| true, Some(Value::from(parts)));
            if self.judge(medium, &with, &words)? == Outcome::Printed && self.experiments.text(&with)? != text {
                taken.push((*kind).to_owned());
            }
        }
        Ok(taken)
    }
}
