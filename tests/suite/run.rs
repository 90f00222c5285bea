//! Renders cases through the library's public face, and says what is wrong with each answer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use chat_template::json::Data;
use chat_template::{Error, FixedClock, LocalTime, RenderOptions, Template};

use crate::case::{Answer, Case, Failure};
use crate::sources::RECORDED_AT;

/// What of an answer can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aspect {
    /// The output or its spans, or an error where there should be none, or none where there should be one.
    Output,
    /// The kind of an error that should be there.
    Kind,
    /// Its text.
    Message,
    /// Its line.
    Line,
}

impl Aspect {
    /// Its name in a file of deviations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Output => "output",
            Self::Kind => "kind",
            Self::Message => "message",
            Self::Line => "line",
        }
    }

    /// The aspect of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Output, Self::Kind, Self::Message, Self::Line]
            .into_iter()
            .find(|aspect| aspect.name() == name)
    }
}

/// A case, our answer, and what is wrong with it.
pub struct Outcome<'c> {
    pub case: &'c Case,
    pub got: Answer,
    pub wrong: Vec<Aspect>,
}

impl Outcome<'_> {
    pub fn is_wrong(&self, aspect: Aspect) -> bool {
        self.wrong.contains(&aspect)
    }

    /// Returns whether this crate does not support what the case asks, which is neither right nor wrong.
    pub fn is_unsupported(&self) -> bool {
        matches!(&self.got, Answer::Error(error) if error.kind == "unsupported")
    }

    /// Returns whether the output is right, or both this crate and the reference answer with an error.
    pub fn is_right(&self) -> bool {
        !self.is_unsupported() && !self.is_wrong(Aspect::Output)
    }

    /// Returns whether both this crate and the reference answer with an error.
    pub fn errs_rightly(&self) -> bool {
        let both = matches!((&self.case.expect, &self.got), (Answer::Error(_), Answer::Error(_)));
        both && !self.is_unsupported()
    }
}

/// Which tree the context is borrowed from.
#[derive(Clone, Copy)]
pub enum Tree {
    /// This crate's, which holds all that a case may have.
    Own,
    /// serde_json's. What it cannot hold, an integer beyond 64 bits or NaN, is taken from this crate's.
    Serde,
}

/// The outcome of every case, in their order.
pub fn all(cases: &[Case], tree: Tree) -> Vec<Outcome<'_>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = cases.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let threads: Vec<_> = cases
            .chunks(share)
            .map(|cases| scope.spawn(move || several(cases, tree)))
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("panics are caught"))
            .collect()
    })
}

/// A template and what came of compiling it; the next case often has the same one.
type Compiled = (Arc<str>, Result<Template, Error>);

fn several(cases: &[Case], tree: Tree) -> Vec<Outcome<'_>> {
    let mut last: Option<Compiled> = None;
    let outcome = |case| {
        let got = catch_unwind(AssertUnwindSafe(|| answer(case, tree, &mut last))).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            Answer::Panic(
                text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
                    .unwrap_or_default(),
            )
        });
        let wrong = wrong_aspects(case, &got);
        Outcome { case, got, wrong }
    };
    cases.iter().map(outcome).collect()
}

fn answer(case: &Case, tree: Tree, last: &mut Option<Compiled>) -> Answer {
    if last.as_ref().is_none_or(|(source, _)| *source != case.template) {
        *last = None;
    }
    let (_, template) = last.get_or_insert_with(|| (case.template.clone(), Template::compile(&case.template)));
    let time: LocalTime = case
        .now
        .as_deref()
        .unwrap_or(RECORDED_AT)
        .parse()
        .expect("a case has a time that exists");
    let clock = FixedClock(time);
    let options = RenderOptions {
        clock: &clock,
        generation: case.generation,
        ..RenderOptions::default()
    };
    let json = match tree {
        Tree::Own => None,
        Tree::Serde => to_serde(&case.context),
    };
    let rendered = template.as_ref().map_err(Error::clone).and_then(|template| match &json {
        None => template.render_with(&*case.context, &options),
        Some(json) => template.render_with(json, &options),
    });
    match rendered {
        Ok(rendered) => Answer::Output {
            spans: rendered.generation.iter().map(|span| (span.start, span.end)).collect(),
            text: rendered.text,
        },
        Err(error) => Answer::Error(Failure {
            kind: error.kind().name().to_owned(),
            message: error.message().to_owned(),
            line: error.line(),
        }),
    }
}

fn to_serde(data: &Data<'_>) -> Option<serde_json::Value> {
    Some(match data {
        Data::None => serde_json::Value::Null,
        Data::Bool(bool) => (*bool).into(),
        Data::Int(int) => (*int).into(),
        Data::Float(float) => serde_json::Number::from_f64(*float)?.into(),
        Data::Str(text) => text.as_ref().into(),
        Data::List(items) => items.iter().map(to_serde).collect::<Option<_>>()?,
        Data::Object(object) => {
            let entries = object.entries().iter();
            let entries: Option<serde_json::Map<_, _>> = entries
                .map(|(key, value)| Some((key.to_string(), to_serde(value)?)))
                .collect();
            serde_json::Value::Object(entries?)
        }
        _ => return None,
    })
}

fn wrong_aspects(case: &Case, got: &Answer) -> Vec<Aspect> {
    match (&case.expect, got) {
        (
            Answer::Output {
                text: want,
                spans: want_spans,
            },
            Answer::Output { text, spans },
        ) => {
            if want == text && want_spans == spans {
                Vec::new()
            } else {
                vec![Aspect::Output]
            }
        }
        (Answer::Error(want), Answer::Error(got)) => [
            (Aspect::Kind, want.kind == got.kind),
            (Aspect::Message, want.message == got.message),
            (Aspect::Line, want.line == got.line),
        ]
        .into_iter()
        .filter_map(|(aspect, is_right)| (!is_right).then_some(aspect))
        .collect(),
        _ => vec![Aspect::Output],
    }
}
