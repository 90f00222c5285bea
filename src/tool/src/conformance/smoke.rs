//! Runs checks that explain to the author of an adapter what is wrong.
//!
//! ```text
//! no   a line that is not a request: …
//!      Answer it with an error of kind "request", and read on.
//! ```

use std::time::Duration;

use super::case::Case;
use super::port_process::{Port, Reply};
use super::report::PortInfo;
use super::run::judge;
use super::score::Verdict;
use super::suite::Suite;
use super::text::failure;
use chat_template::internal;
use chat_template::json::Data;

/// The case of a whole conversation. A port that fails an earlier check fails this one, too.
const CONVERSATION: &str = "chat/chatml-plain";

/// The advice for the case of a whole conversation if an earlier check has failed.
const AFTER_A_FAILURE: &str = "A check above has failed, which may be the reason: correct that first.";

/// A case of the suite, its subject in words, and the advice if it fails.
const STEPS: [(&str, &str, &str); 12] = [
    (
        "undefined/prints-empty",
        "text, and undefined names",
        "Render the `template` with the keys of `context` as variables; an undefined name prints nothing.",
    ),
    (
        "chat/smoke-unicode",
        "characters beyond ASCII",
        "Read and write UTF-8, or escape everything beyond ASCII in the answer's JSON.",
    ),
    (
        "chat/smoke-tojson",
        "the filter `tojson`",
        "Replace Jinja's filter by that of transformers: it escapes nothing for HTML, sorts nothing, and keeps characters beyond ASCII.",
    ),
    (
        "whitespace/trim-one-newline",
        "line ends after tags",
        "Switch `trim_blocks` on, and `lstrip_blocks` with it.",
    ),
    (
        "whitespace/lstrip-after-newline",
        "blanks before tags",
        "Switch `lstrip_blocks` on, and `trim_blocks` with it.",
    ),
    (
        "loops/break-continue",
        "`break` in loops",
        "Add the extension for loop controls, which transformers has.",
    ),
    (
        CONVERSATION,
        "a conversation",
        "The checks above are right, so the engine itself has another answer: read the difference.",
    ),
    (
        "globals/raise",
        "`raise_exception`",
        "Define it as a global function; its error has the kind `raised`, and its argument as the message.",
    ),
    (
        "chat/smoke-line",
        "an error and its line",
        "Answer `error` with `kind`, `message` and the line, counted from 1, instead of `output`.",
    ),
    (
        "time/date-parts",
        "`strftime_now` at the time of `now`",
        "Define it as a global function, which reads the time in `now` and not the clock.",
    ),
    (
        "generation/simple",
        "spans of `generation`",
        "A port without them answers `unsupported` where `generation` is true.",
    ),
    (
        "apply/choose/single",
        "an `apply` request",
        "A port that only renders answers `unsupported` to every `apply`, and `run` then sends a `render`.",
    ),
];

/// The result of a check.
#[derive(Clone, Debug)]
pub struct Check {
    /// The subject of the check.
    pub what: String,
    /// Whether the check passed, or `None` if the port does not support it.
    pub is_right: Option<bool>,
    /// The reason for a failure and the advice, or an empty string if there is nothing to do.
    pub advice: String,
}

/// Runs the checks in order.
///
/// # Errors
/// Returns a message if the command cannot be started, or the suite is not valid.
pub fn smoke(command: &[String], timeout: Duration) -> Result<Vec<Check>, String> {
    let suite = Suite::embedded()?;
    let mut port = Port::new(command, timeout);
    let info = port.describe()?;
    let mut checks = vec![check_description(&info), check_bad_line(&mut port)?];
    for (id, what, advice) in STEPS {
        let case = suite.cases.iter().find(|case| case.id == id);
        let case = case.ok_or_else(|| format!("the suite has no case {id}"))?;
        if case.features().iter().any(|name| info.lacks.iter().any(|lack| lack == name)) {
            checks.push(Check {
                what: format!("{what}, which the port declares to lack"),
                is_right: None,
                advice: String::new(),
            });
            continue;
        }
        let has_failed = checks.iter().any(|check| check.is_right == Some(false));
        let advice = if id == CONVERSATION && has_failed {
            AFTER_A_FAILURE
        } else {
            advice
        };
        checks.push(check(case, what, advice, &mut port)?);
    }
    Ok(checks)
}

fn check_description(info: &PortInfo) -> Check {
    let is_named = !info.name.is_empty();
    Check {
        what: if is_named {
            format!("its name: {}", info.title())
        } else {
            "its name".to_owned()
        },
        is_right: is_named.then_some(true),
        advice: if is_named {
            String::new()
        } else {
            "No name in the answer to {\"id\": 0, \"describe\": true}; reports will call the port by its command.".to_owned()
        },
    }
}

fn check_bad_line(port: &mut Port<'_>) -> Result<Check, String> {
    let what = "a line that is not a request".to_owned();
    let (is_right, got) = match port.line("this is not JSON")? {
        Ok(line) => {
            let answer = internal::read_bytes(&line);
            let is_error = matches!(&answer, Ok(Data::Object(answer)) if answer.get("error").is_some());
            (is_error, String::from_utf8_lossy(&line).trim_end().to_owned())
        }
        Err(Reply::Fault(verdict, text)) => (false, format!("{}: {text}", verdict.name())),
        Err(_) => (false, String::new()),
    };
    let advice =
        "Answer it with {\"id\": null, \"error\": {\"kind\": \"request\", \"message\": \"…\", \"line\": null}}, and read on.";
    Ok(Check {
        what,
        is_right: Some(is_right),
        advice: if is_right { String::new() } else { format!("{got}\n{advice}") },
    })
}

fn check(case: &Case, what: &str, advice: &str, port: &mut Port<'_>) -> Result<Check, String> {
    let report = judge(case, port.ask(&case.id, &case.request())?);
    let is_right = match report.verdict {
        Verdict::Unsupported => None,
        _ => Some(report.wrong.is_empty()),
    };
    let advice = match (&report.detail, report.verdict) {
        (None, _) => String::new(),
        (Some(detail), Verdict::Crashed) => format!("{}\n{advice}", detail.got),
        (Some(detail), Verdict::TimedOut) => format!(
            "{}\nWrite a line end after each answer and flush the output: a pipe is buffered where a terminal is not.",
            detail.got
        ),
        (Some(detail), Verdict::Rubbish) => format!(
            "{}\nWrite one JSON object a line to standard output and nothing else: logs go to standard error.",
            detail.got
        ),
        (Some(detail), Verdict::OutOfOrder) => format!(
            "{}\nEach answer has the `id` of its request as it was, and answers come in the order of the requests.",
            detail.got
        ),
        (Some(detail), _) => format!("{}{advice}", failure(&report, detail, false)),
    };
    Ok(Check {
        what: what.to_owned(),
        is_right,
        advice,
    })
}
