//! Renders cases with the library: with the forms of expressions that the resolver chose, with the general forms, and traced. Scores the
//! answers as the conformance runner does.

use super::responses;
use std::panic::{AssertUnwindSafe, catch_unwind};

use chat_template::json::{self, Data};
use chat_template::{Error, ErrorKind, LocalTime, Output, RenderOptions, Segment, Template};
use chat_template_cli::conformance::{Answer, Case, CaseReport, Failure, Reply, Report, Verdict, judge};

use crate::sources::RECORDED_AT;
use crate::trace::check_segments;

/// The text in every message of `src/unsupported.rs`.
const REASON: &str = " is not part of the Jinja that chat templates use; ";

/// The type of the JSON value from which a context is borrowed.
#[derive(Clone, Copy)]
pub enum Tree {
    /// The type of this crate, which can represent every context.
    Own,
    /// The type of `serde_json`. The type of this crate is used for a context with NaN or an integer beyond 64 bits.
    Serde,
}

/// Renders all cases and returns a report of them, in order.
pub fn all(cases: &[Case], tree: Tree) -> Report {
    let cases = in_threads(cases, |cases| {
        let mut last = None;
        cases.iter().map(|case| judge(case, reply(case, tree, &mut last))).collect()
    });
    report(cases)
}

/// Returns a report of these cases.
pub fn report(cases: Vec<CaseReport>) -> Report {
    Report {
        cases,
        ..Report::default()
    }
}

/// Splits a list into equal parts, runs a function on each part in a thread, and joins the results in order.
pub fn in_threads<T: Sync, R: Send>(all: &[T], run: impl Fn(&[T]) -> Vec<R> + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = all.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let threads: Vec<_> = all.chunks(share).map(|share| scope.spawn(|| run(share))).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("panics are caught"))
            .collect()
    })
}

/// The source of a template and the result of compiling it, with the forms that the resolver chose and with the general ones.
pub type Compiled = (String, Result<[Template; 2], Error>);

/// Renders a case and returns the reply. `last` is the template of the last case and becomes that of this one, because successive cases
/// often have equal templates.
pub fn reply(case: &Case, tree: Tree, last: &mut Option<Compiled>) -> Reply {
    catch_unwind(AssertUnwindSafe(|| rendered(case, tree, last))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default();
        Reply::Fault(Verdict::Crashed, text.to_owned())
    })
}

/// Returns the compiled template of a case.
pub fn compile<'l>(case: &Case, last: &'l mut Option<Compiled>) -> &'l Result<[Template; 2], Error> {
    let Some(Data::Str(source)) = case.get("template") else {
        panic!("{}: it has no template", case.id);
    };
    if last.as_ref().is_none_or(|(other, _)| other != source) {
        *last = None;
    }
    let compile = || {
        let mut templates = [Template::compile(source)?, Template::compile(source)?];
        templates[1].generalize();
        Ok(templates)
    };
    let (_, templates) = last.get_or_insert_with(|| (source.clone().into_owned(), compile()));
    templates
}

fn rendered(case: &Case, tree: Tree, last: &mut Option<Compiled>) -> Reply {
    if let Some(Data::Object(response)) = case.get("response") {
        return responses::reply(case, response);
    }
    let Some(context) = case.get("context") else {
        panic!("{}: it has no context", case.id);
    };
    let templates = compile(case, last);
    let now = match case.get("now") {
        Some(Data::Str(now)) => now,
        _ => RECORDED_AT,
    };
    let clock = now.parse::<LocalTime>().expect("the time of a case exists");
    let options = RenderOptions::default()
        .with_clock(&clock)
        .with_reference_spans(case.get("generation") == Some(&Data::Bool(true)));
    let json = match tree {
        Tree::Own => None,
        Tree::Serde => to_serde(context),
    };
    let render_by = |index: usize, options: &RenderOptions<'_>| {
        let template = templates.as_ref().map(|templates| &templates[index]);
        template.map_err(Error::clone).and_then(|template| match &json {
            None => template.render(context, options),
            Some(json) => template.render(json, options),
        })
    };
    let (fast, plain) = (0, 1);
    let rendered = render_by(fast, &options);
    assert_same(&rendered, &render_by(plain, &options));
    let with_trace = options.with_trace(true);
    let traced = render_by(fast, &with_trace);
    assert_same(&rendered, &traced);
    if let Ok(traced) = &traced {
        check_segments(traced, context);
        let plain = render_by(plain, &with_trace);
        assert!(
            plain.is_ok_and(|plain| plain.segments() == traced.segments()),
            "the segments differ"
        );
    }
    match rendered {
        Ok(rendered) => Reply::Answer(Answer::Output {
            generation: Some(
                rendered
                    .reference_spans
                    .code_points
                    .iter()
                    .map(|span| (span.start as u64, span.end as u64))
                    .collect(),
            ),
            text: rendered.text,
            segments: traced.ok().map(|traced| to_data(traced.segments())),
        }),
        Err(error) if error.kind() == ErrorKind::Unsupported => {
            assert!(error.message().contains(REASON), "{error}");
            Reply::Unsupported(error.message().to_owned())
        }
        Err(error) => Reply::Answer(Answer::Error(Failure {
            kind: error.kind().name().to_owned(),
            message: error.message().to_owned(),
            line: Some(error.line().map(u64::from)),
        })),
    }
}

/// Asserts that two renders have the same result: the text and the spans, or all of the error. The steps may differ.
fn assert_same(fast: &Result<Output, Error>, plain: &Result<Output, Error>) {
    match (fast, plain) {
        (Ok(fast), Ok(plain)) => {
            assert_eq!(fast.text, plain.text, "the text differs");
            assert_eq!(fast.reference_spans, plain.reference_spans, "the spans differ");
        }
        (Err(fast), Err(plain)) => {
            assert_eq!(fast.to_string(), plain.to_string(), "the error differs");
            assert_eq!((fast.kind(), fast.class()), (plain.kind(), plain.class()));
            assert_eq!((fast.line(), fast.position()), (plain.line(), plain.position()));
        }
        _ => panic!("with forms: {fast:?}, and in another mode: {plain:?}"),
    }
}

/// Returns segments in the form of the protocol.
fn to_data(segments: &[Segment]) -> Data<'static> {
    json::to_data(&segments).expect("segments are not deep").into_owned()
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
