//! Shows a wrong answer so that the difference is seen, characters included that one does not see.

use crate::case::Answer;
use crate::run::Outcome;

/// How many faults are written out.
const MOST_LISTED: usize = 40;

/// How much of a long text is shown, from a little before the first difference.
const SHOWN: usize = 300;

/// The faults, one below the other.
pub fn listed(faults: &[String]) -> String {
    let shown = faults
        .iter()
        .take(MOST_LISTED)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join("\n");
    format!(
        "{} faults\n{shown}\n{} more",
        faults.len(),
        faults.len().saturating_sub(MOST_LISTED)
    )
}

/// A case that is wrong: what stood there, what should be, and what is.
pub fn difference(outcome: &Outcome<'_>) -> String {
    let [want, got] = [&outcome.case.expect, &outcome.got].map(described);
    let same = want.chars().zip(got.chars()).take_while(|(want, got)| want == got).count();
    let wrong: Vec<&str> = outcome.wrong.iter().map(|aspect| aspect.name()).collect();
    format!(
        "{} ({})\n  template {}\n  want     {}\n  got      {}\n",
        outcome.case.id,
        wrong.join(", "),
        window(&format!("{:?}", outcome.case.template), 0),
        window(&want, same),
        window(&got, same),
    )
}

/// `Debug` writes line ends, controls and what has no glyph as escapes.
fn described(answer: &Answer) -> String {
    match answer {
        Answer::Output { text, spans } if spans.is_empty() => format!("{text:?}"),
        Answer::Output { text, spans } => format!("{spans:?} {text:?}"),
        Answer::Error(error) => {
            let line = error.line.map_or("no line".to_owned(), |line| format!("line {line}"));
            format!("{} error, {line}: {:?}", error.kind, error.message)
        }
        Answer::Panic(text) => format!("panic: {text}"),
    }
}

/// The part of a text round the first difference.
fn window(text: &str, same: usize) -> String {
    let start = if text.chars().count() > SHOWN {
        same.saturating_sub(SHOWN / 4)
    } else {
        0
    };
    let part: String = text.chars().skip(start).take(SHOWN).collect();
    let before = if start > 0 { "…" } else { "" };
    let after = if text.chars().count() > start + SHOWN { "…" } else { "" };
    format!("{before}{part}{after}")
}
