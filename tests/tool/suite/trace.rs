//! Traced renders of real templates: words are planted in the texts and keys of the conversations, and found again in the segments.
//!
//! ```text
//! {"role": "user", "content": "Hi"}   ->   {"role": "user", "content": "HiZq0xq"}   ->   Zq0xq is of /messages/0/content
//! ```

use std::collections::BTreeMap;

use chat_template::json::{Data, Object};
use chat_template::{LocalTime, Origin, Output, RenderOptions, Segment};
use chat_template_cli::conformance::{Case, Planter, WordPlace, find_words};

use crate::run::{self, Compiled};
use crate::sources::{Corpus, RECORDED_AT};

/// The figures of a corpus whose conversations have planted words.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    /// The prompts.
    pub prompts: usize,
    /// The words that are printed.
    pub words: usize,
    /// The words of which each character is a part of the planted string, unchanged.
    pub verbatim: usize,
    /// The characters of templates in the turn of a message that is neither the first nor the last, as its removal shows.
    pub turn: usize,
    /// Those of them that have the message as their owner.
    pub owned: usize,
}

/// Asserts that the segments tile the text, that neighbours differ, and that each verbatim segment is a part of its string.
pub fn check_segments(rendered: &Output, context: &Data<'_>) {
    let (mut bytes, mut points) = (0, 0);
    let mut last: Option<&Segment> = None;
    for segment in rendered.segments() {
        assert_eq!((segment.bytes().start, segment.code_points().start), (bytes, points));
        (bytes, points) = (segment.bytes().end, segment.code_points().end);
        let text = &rendered.text[segment.bytes()];
        assert!(!text.is_empty() && text.chars().count() == segment.code_points().len());
        if let Origin::Input {
            path,
            at,
            at_bytes,
            is_key,
        } = segment.origin()
        {
            let string = if is_key { last_step(path) } else { find_string(context, path) };
            assert_eq!(string.get(at_bytes.clone()), Some(text), "{segment:?}");
            assert_eq!(string[..at_bytes.start].chars().count(), at.start, "{segment:?}");
            assert_eq!(at.len(), segment.code_points().len(), "{segment:?}");
        } else {
            let is_same = last.is_some_and(|last| last.origin() == segment.origin() && last.message() == segment.message());
            assert!(!is_same, "two segments are one: {segment:?}");
        }
        last = Some(segment);
    }
    assert_eq!(bytes, rendered.text.len());
}

fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

fn last_step(path: &str) -> String {
    unescaped(path.rsplit('/').next().unwrap_or_default())
}

fn find_string(context: &Data<'_>, path: &str) -> String {
    let found = path.split('/').skip(1).fold(context, |value, step| match value {
        Data::Object(object) => object.get(&unescaped(step)).expect("the path exists"),
        Data::List(items) => &items[step.parse::<usize>().expect("an index")],
        other => panic!("{path} goes through {other:?}"),
    });
    match found {
        Data::Str(text) => text.to_string(),
        other => panic!("{path} is {other:?}"),
    }
}

/// Returns the context with words in its messages, tools and documents, and the places of the words.
fn plant_context(context: &Data<'static>) -> (Data<'static>, Vec<WordPlace>) {
    let Data::Object(object) = context else {
        panic!("a context is an object")
    };
    let mut planter = Planter {
        is_free: &|path| path.ends_with("/arguments") || path.ends_with("/properties"),
        words: Vec::new(),
    };
    let entries = object.entries().iter().map(|(key, value)| {
        let is_planted = ["messages", "tools", "documents"].contains(&&**key);
        let value = if is_planted {
            planter.plant(value, &format!("/{key}"))
        } else {
            value.clone()
        };
        (key.clone(), value)
    });
    (Data::Object(Object::new(entries.collect())), planter.words)
}

/// Renders each row of the corpus with planted words, and checks all segments.
///
/// # Panics
/// If the origin of a planted character is not the input or has another path, or if a character of a message's content has another owner.
pub fn check_corpus(corpus: &Corpus) -> Figures {
    let all = run::in_threads(&corpus.rows, |rows| {
        let (mut source, mut template) = ((String::new(), Data::None), None);
        rows.iter()
            .map(|row| check_case(&corpus.case(row, &mut source), &mut template))
            .collect()
    });
    all.into_iter().fold(Figures::default(), |sum, one| Figures {
        prompts: sum.prompts + one.prompts,
        words: sum.words + one.words,
        verbatim: sum.verbatim + one.verbatim,
        turn: sum.turn + one.turn,
        owned: sum.owned + one.owned,
    })
}

fn check_case(case: &Case, last: &mut Option<Compiled>) -> Figures {
    let (context, words) = plant_context(case.get("context").expect("a case has a context"));
    let Some(rendered) = render(case, &context, last) else {
        return Figures::default();
    };
    check_segments(&rendered, &context);
    let mut figures = Figures {
        prompts: 1,
        ..Figures::default()
    };
    for (range, index) in find_words(&rendered.text) {
        let (path, is_planted_key) = &words[index];
        let first = rendered
            .segments()
            .partition_point(|segment| segment.bytes().end <= range.start);
        let segments = rendered.segments()[first..]
            .iter()
            .take_while(|segment| segment.bytes().start < range.end);
        let mut is_verbatim = true;
        for segment in segments {
            match segment.origin() {
                Origin::Input { path: found, is_key, .. } => {
                    assert_eq!((found, is_key), (&**path, *is_planted_key), "{}: {segment:?}", case.id);
                }
                Origin::Changed { paths } => {
                    is_verbatim = false;
                    let is_in = |outer: &str| {
                        path.strip_prefix(outer)
                            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                    };
                    assert!(
                        paths.iter().any(|outer| is_in(outer)),
                        "{}: {path} is not in {segment:?}",
                        case.id
                    );
                }
                other => panic!("{}: a character of {path} is called {other:?}", case.id),
            }
            if let Some((message, "content")) = path.strip_prefix("/messages/").and_then(|rest| rest.split_once('/')) {
                assert_eq!(segment.message(), message.parse().ok(), "{}: {segment:?}", case.id);
            }
        }
        figures.words += 1;
        figures.verbatim += usize::from(is_verbatim);
    }
    check_turns(case, &context, &rendered, last, &mut figures);
    figures
}

/// Compares the owners of the template's characters with what the prompt loses without a message.
fn check_turns(case: &Case, context: &Data<'static>, whole: &Output, last: &mut Option<Compiled>, figures: &mut Figures) {
    let Data::Object(object) = context else { return };
    let Some(Data::List(messages)) = object.get("messages") else {
        return;
    };
    let characters: Vec<char> = whole.text.chars().collect();
    for message in (1..messages.len().saturating_sub(1).min(8)).filter(|_| messages.len() <= 12) {
        // Without its question, an answer has another header in some templates.
        if role(&messages[message + 1]) == "assistant" && role(&messages[message - 1]) != "user" {
            continue;
        }
        let mut entries: BTreeMap<_, _> = object.entries().iter().cloned().collect();
        let mut others = messages.clone();
        others.remove(message);
        entries.insert("messages".into(), Data::List(others));
        let context = Data::Object(Object::new(entries.into_iter().collect()));
        let Some(rest) = render(case, &context, last) else { continue };
        let rest: Vec<char> = rest.text.chars().collect();
        let same = |pair: &(&char, &char)| pair.0 == pair.1;
        let before = characters.iter().zip(&rest).take_while(same).count();
        let after = characters.iter().rev().zip(rest.iter().rev()).take_while(same).count();
        if before + after < rest.len() || before >= characters.len() - after {
            continue;
        }
        let lost = before..characters.len() - after;
        for segment in whole
            .segments()
            .iter()
            .filter(|segment| matches!(segment.origin(), Origin::Template { .. }))
        {
            let (start, end) = (
                segment.code_points().start.max(lost.start),
                segment.code_points().end.min(lost.end),
            );
            let count = end.saturating_sub(start);
            figures.turn += count;
            figures.owned += if segment.message() == Some(message) { count } else { 0 };
        }
    }
}

fn role(message: &Data<'_>) -> String {
    match message {
        Data::Object(message) => match message.get("role") {
            Some(Data::Str(role)) => role.to_string(),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

fn render(case: &Case, context: &Data<'_>, last: &mut Option<Compiled>) -> Option<Output> {
    let clock = RECORDED_AT.parse::<LocalTime>().expect("the time exists");
    let options = RenderOptions::default().with_clock(&clock).with_trace(true);
    let [template, _] = run::compile(case, last).as_ref().ok()?;
    template.render(context, &options).ok()
}
