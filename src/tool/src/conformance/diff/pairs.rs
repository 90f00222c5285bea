//! Sends each template with each conversation to two ports.
//!
//! ```text
//! Differ { port, reference, now, … }.run(&templates, &conversations, |done, different| …)   ->   Differed { report, … }
//! ```

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use super::super::compare::{Comparison, Signature, compare};
use super::super::lower::lower;
use super::super::port_process::{Port, Reply};
use super::super::report::{CaseReport, Detail, Faults, Report};
use super::super::run::{MAX_ANSWER, today};
use super::super::score::{Aspect, Strictness, Verdict};
use super::super::write_line::{self, string};
use super::conversations::Conversation;
use super::templates::Found;
use chat_template::internal::Entry;
use chat_template::internal::elide;
use chat_template::json::{Data, Object};

/// Two ports, and the settings of their comparison.
#[derive(Clone, Debug)]
pub struct Differ {
    /// The command of the port under test: a program and its arguments.
    pub port: Vec<String>,
    /// The command of the reference port: a program and its arguments.
    pub reference: Vec<String>,
    /// The number of threads, each with its own processes.
    pub jobs: usize,
    /// The time that one answer may take.
    pub timeout: Duration,
    /// The local time that templates see.
    pub now: String,
}

/// The result of a comparison.
#[derive(Clone, Debug)]
pub struct Differed {
    /// The pairs that were compared, grouped by template.
    pub report: Report,
    /// Whether the requests were `render` requests, because one of the ports does not know `apply`.
    pub is_rendered: bool,
    /// The pairs that were not compared, each with the reason.
    pub left_out: Vec<(String, String)>,
}

enum Outcome {
    Compared(Box<CaseReport>),
    LeftOut(String, String),
}

impl Differ {
    /// Compares all pairs. After each it passes the number of finished and of different pairs to `on_progress`.
    ///
    /// # Errors
    /// Returns a message if a port cannot be started.
    pub fn run(
        &self,
        templates: &[Found],
        conversations: &[Conversation],
        mut on_progress: impl FnMut(usize, usize),
    ) -> Result<Differed, String> {
        let (mut port, mut reference) = self.ports();
        let info = port.describe()?;
        let reference_info = reference.describe()?;
        let is_rendered = !port.knows_apply(&info)? || !reference.knows_apply(&reference_info)?;
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
                        let asked = self.compare_pair(&mut port, &mut reference, template, conversation, is_rendered);
                        // The receiver lives until all threads have ended.
                        let _ = results.send(asked.map(|outcome| (place, outcome)));
                    }
                });
            }
            drop(results);
            let mut different = 0_usize;
            for result in arrived {
                match result {
                    Ok((place, outcome)) => {
                        different += usize::from(matches!(&outcome, Outcome::Compared(case) if case.is_wrong()));
                        outcomes.push((place, outcome));
                    }
                    Err(text) => failed = Some(text),
                }
                on_progress(outcomes.len(), different);
            }
        });
        if let Some(text) = failed {
            return Err(text);
        }
        outcomes.sort_by_key(|(place, _)| *place);
        let (mut cases, mut left_out) = (Vec::new(), Vec::new());
        for (_, outcome) in outcomes {
            match outcome {
                Outcome::Compared(case) => cases.push(*case),
                Outcome::LeftOut(pair, why) => left_out.push((pair, why)),
            }
        }
        let report = Report {
            suite: format!("of {} templates with {} conversations", templates.len(), conversations.len()),
            reference: reference_info.title(),
            date: today(),
            faults: Faults::of(&cases, 0),
            port: info,
            ..Report::default()
        };
        Ok(Differed {
            report: Report { cases, ..report },
            is_rendered,
            left_out,
        })
    }

    fn ports(&self) -> (Port<'_>, Port<'_>) {
        (Port::new(&self.port, self.timeout), Port::new(&self.reference, self.timeout))
    }

    fn compare_pair(
        &self,
        port: &mut Port<'_>,
        reference: &mut Port<'_>,
        template: &Found,
        conversation: &Conversation,
        is_rendered: bool,
    ) -> Result<Outcome, String> {
        let pair = format!("{} with {}", template.name, conversation.place);
        let arguments = Self::arguments(template, conversation);
        let asked = if is_rendered {
            lower(&arguments).map(Vec::from)
        } else {
            Ok(vec![(Cow::Borrowed("apply"), Data::Object(arguments))])
        };
        let request = match asked {
            Ok(asked) => self.request(&pair, asked),
            Err(why) => return Ok(Outcome::LeftOut(pair, why)),
        };
        let got = port.ask(&pair, &request)?;
        let want = reference.ask(&pair, &request)?;
        let errs = matches!(&want, Reply::Answer(answer) if answer.is_error());
        let (verdict, wrong, cause) = match compare(&got, &want, Strictness::Text) {
            _ if matches!(got, Reply::Unsupported(_)) => (Verdict::Unsupported, Vec::new(), String::new()),
            Comparison::Same => (Verdict::Right, Vec::new(), String::new()),
            Comparison::Limited => return Ok(Outcome::LeftOut(pair, "a port reached a limit".to_owned())),
            Comparison::Unanswered => return Ok(Outcome::LeftOut(pair, format!("the reference: {}", want.describe()))),
            Comparison::Different(Signature {
                aspects,
                want,
                got: answer,
            }) => {
                let verdict = match got.verdict() {
                    Verdict::Wrong if !aspects.contains(&Aspect::Output) => Verdict::Right,
                    verdict => verdict,
                };
                (verdict, aspects, format!("`{answer}` for `{want}`"))
            }
        };
        let detail = (!wrong.is_empty()).then(|| Detail {
            rule: "`-` is the answer of the reference, `+` that of the port".to_owned(),
            request: String::new(),
            context: String::new(),
            want: elide(&want.describe(), MAX_ANSWER).into_owned(),
            got: elide(&got.describe(), MAX_ANSWER).into_owned(),
        });
        Ok(Outcome::Compared(Box::new(CaseReport {
            id: pair,
            group: Some(template.name.clone()),
            verdict,
            errs,
            cause,
            wrong,
            detail,
            ..CaseReport::default()
        })))
    }

    /// Returns the arguments of the `apply`. The special tokens of a conversation replace those of the model.
    fn arguments(template: &Found, conversation: &Conversation) -> Object<'static> {
        let tokens = template.special_tokens.iter();
        let tokens = tokens.map(|(name, token)| (Cow::Owned(name.clone()), string(token)));
        let mut arguments = vec![
            (Cow::Borrowed("template"), template.template.clone()),
            (Cow::Borrowed("special_tokens"), Data::Object(Object::new(tokens.collect()))),
        ];
        arguments.extend(conversation.arguments.iter().cloned());
        Object::new(arguments)
    }

    fn request(&self, id: &str, asked: Vec<Entry<'static>>) -> String {
        let mut entries = vec![(Cow::Borrowed("id"), string(id))];
        entries.extend(asked);
        entries.push((Cow::Borrowed("now"), string(&self.now)));
        write_line::of(entries)
    }
}
