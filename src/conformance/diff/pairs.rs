//! Asks two ports each template with each conversation.
//!
//! ```text
//! Differ { port, reference, now, … }.run(&templates, &conversations, |done, different| …)   ->   Differed { same, differences, … }
//! ```

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use super::super::compare::{Comparison, compare};
use super::super::port_process::{Port, Reply};
use super::super::report::{CaseReport, Detail, PortInfo};
use super::super::write_line::{self, string};
use super::conversations::Conversation;
use super::templates::Found;
use crate::json::{Data, Entry, Object};

/// Two ports, and how they are asked.
#[derive(Clone, Debug)]
pub struct Differ {
    /// The port: a program and its arguments.
    pub port: Vec<String>,
    /// What it is compared with.
    pub reference: Vec<String>,
    /// How many pairs are asked at once.
    pub jobs: usize,
    /// How long an answer may take.
    pub timeout: Duration,
    /// The local time that templates see.
    pub now: String,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Differed {
    /// Who was asked.
    pub port: PortInfo,
    /// Whom it was compared with.
    pub reference: PortInfo,
    /// Whether the pairs were rendered, because a port does not know `apply`.
    pub is_rendered: bool,
    /// How many pairs gave the same.
    pub same: usize,
    /// Pairs that were not compared, and why.
    pub left_out: Vec<(String, String)>,
    /// Where they differ.
    pub differences: Vec<Difference>,
}

/// A pair on which the ports differ.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The template and the conversation, and what is wrong.
    pub case: CaseReport,
    /// What a reader needs.
    pub detail: Detail,
}

enum Outcome {
    Same,
    LeftOut(String, String),
    Different(Box<Difference>),
}

impl Differ {
    /// Asks all pairs, and tells after each how many are done and how many of them differ.
    ///
    /// # Errors
    /// When a port cannot be started.
    pub fn run(
        &self,
        templates: &[Found],
        conversations: &[Conversation],
        mut told: impl FnMut(usize, usize),
    ) -> Result<Differed, String> {
        let (mut port, mut reference) = self.ports();
        let info = port.describe()?;
        let reference_info = reference.describe()?;
        let is_rendered = !knows_apply(&mut port)? || !knows_apply(&mut reference)?;
        drop((port, reference));
        let pairs: Vec<(&Found, &Conversation)> = templates
            .iter()
            .flat_map(|template| conversations.iter().map(move |conversation| (template, conversation)))
            .collect();
        let next = AtomicUsize::new(0);
        let mut outcomes: Vec<(usize, Outcome)> = Vec::new();
        let mut failed = None;
        std::thread::scope(|scope| {
            let (results, arrived) = channel();
            for _ in 0..self.jobs.clamp(1, pairs.len().max(1)) {
                let (results, next, pairs) = (results.clone(), &next, &pairs);
                scope.spawn(move || {
                    let (mut port, mut reference) = self.ports();
                    loop {
                        let place = next.fetch_add(1, Ordering::Relaxed);
                        let Some((template, conversation)) = pairs.get(place) else {
                            return;
                        };
                        let asked = self.asked(&mut port, &mut reference, template, conversation, is_rendered);
                        // The other end listens until all threads are done.
                        let _ = results.send(asked.map(|outcome| (place, outcome)));
                    }
                });
            }
            drop(results);
            let mut different = 0_usize;
            for result in arrived {
                match result {
                    Ok((place, outcome)) => {
                        different = different.saturating_add(usize::from(matches!(outcome, Outcome::Different(_))));
                        outcomes.push((place, outcome));
                    }
                    Err(text) => failed = Some(text),
                }
                told(outcomes.len(), different);
            }
        });
        if let Some(text) = failed {
            return Err(text);
        }
        outcomes.sort_by_key(|(place, _)| *place);
        let mut differed = Differed {
            port: info,
            reference: reference_info,
            is_rendered,
            same: 0,
            left_out: Vec::new(),
            differences: Vec::new(),
        };
        for (_, outcome) in outcomes {
            match outcome {
                Outcome::Same => differed.same = differed.same.saturating_add(1),
                Outcome::LeftOut(pair, why) => differed.left_out.push((pair, why)),
                Outcome::Different(difference) => differed.differences.push(*difference),
            }
        }
        Ok(differed)
    }

    fn ports(&self) -> (Port<'_>, Port<'_>) {
        (Port::new(&self.port, self.timeout), Port::new(&self.reference, self.timeout))
    }

    fn asked(
        &self,
        port: &mut Port<'_>,
        reference: &mut Port<'_>,
        template: &Found,
        conversation: &Conversation,
        is_rendered: bool,
    ) -> Result<Outcome, String> {
        let pair = format!("{} with {}", template.name, conversation.place);
        let request = match is_rendered {
            true => self.render(&pair, template, conversation),
            false => Ok(self.apply(&pair, template, conversation)),
        };
        let request = match request {
            Ok(request) => request,
            Err(why) => return Ok(Outcome::LeftOut(pair, why)),
        };
        let got = port.ask(&pair, &request)?;
        let want = reference.ask(&pair, &request)?;
        Ok(match compare(&got, &want) {
            Comparison::Same => Outcome::Same,
            Comparison::Limited => Outcome::LeftOut(pair, "a port reached a limit".to_owned()),
            Comparison::Unanswered => Outcome::LeftOut(pair, format!("the reference: {}", want.described())),
            Comparison::Different(signature) => {
                let case = CaseReport {
                    id: pair,
                    verdict: got.verdict(),
                    errs: false,
                    wrong: signature.aspects,
                    detail: None,
                };
                let detail = Detail {
                    rule: "as `-` it is the reference, as `+` the port".to_owned(),
                    request: String::new(),
                    context: String::new(),
                    want: want.described(),
                    got: got.described(),
                };
                Outcome::Different(Box::new(Difference { case, detail }))
            }
        })
    }

    fn apply(&self, id: &str, template: &Found, conversation: &Conversation) -> String {
        let mut arguments = vec![(Cow::Borrowed("template"), template.template.clone())];
        let tokens = template.special_tokens.iter();
        let tokens = tokens
            .map(|(name, token)| (Cow::Owned(name.clone()), string(token)))
            .collect();
        // A conversation's own tokens stand behind, so that they count.
        arguments.push((Cow::Borrowed("special_tokens"), Data::Object(Object::new(tokens))));
        arguments.extend(conversation.arguments.iter().cloned());
        self.line(vec![
            (Cow::Borrowed("id"), string(id)),
            (Cow::Borrowed("apply"), Data::Object(Object::new(arguments))),
        ])
    }

    /// The request without the contract; the fault is what only the contract can do.
    fn render(&self, id: &str, template: &Found, conversation: &Conversation) -> Result<String, String> {
        let is_continued = conversation.argument("continue_final_message");
        if is_continued.is_some_and(|value| !matches!(value, Data::None | Data::Bool(false))) {
            return Err("continue_final_message needs ports that know `apply`".to_owned());
        }
        let source = match &template.template {
            Data::Object(named) => {
                let has_tools = conversation.argument("tools").is_some_and(|tools| *tools != Data::None);
                let chosen = match conversation.argument("template_name") {
                    Some(Data::Str(name)) => named.get(name),
                    _ if has_tools => named.get("tool_use").or_else(|| named.get("default")),
                    _ => named.get("default"),
                };
                chosen.cloned().ok_or("the model has no template of that name")?
            }
            source => source.clone(),
        };
        Ok(self.line(vec![
            (Cow::Borrowed("id"), string(id)),
            (Cow::Borrowed("template"), source),
            (Cow::Borrowed("context"), conversation.context(&template.special_tokens)),
        ]))
    }

    fn line(&self, mut entries: Vec<Entry<'static>>) -> String {
        entries.push((Cow::Borrowed("now"), string(&self.now)));
        write_line::of(entries)
    }
}

/// Whether a port answers the smallest `apply` with anything but that it lacks it.
fn knows_apply(port: &mut Port<'_>) -> Result<bool, String> {
    let request = r#"{"id":"apply","apply":{"template":"","messages":[]}}"#;
    Ok(match port.ask("apply", request)? {
        Reply::Answer(super::super::answer::Answer::Error(failure)) => failure.kind != "request",
        Reply::Answer(_) => true,
        Reply::Unsupported(_) | Reply::Fault(..) => false,
    })
}
