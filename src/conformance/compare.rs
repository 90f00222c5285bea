//! Compares two ports' answers to the same request.
//!
//! Some differences do not count, by these rules:
//!
//! - Addresses that Python prints (`<generator object … at 0x7f…>`) are all equal.
//! - A `SyntaxError` of CPython equals any syntax error: its text ends with ` (<template>, line …)`, a line of the Python that Jinja writes.
//! - An error that only that Python has is not compared: its nested brackets, the functions that it defines, the constants that it
//!   cannot write, the texts that it joins.
//! - If a port answers `limit`, or the reference takes too long or ends, the round is counted apart.
//! - If fresh processes of the reference answer differently, the answer depends on chance. The run checks that; this module does not.

use super::answer::Answer;
use super::port_process::Reply;
use super::score::{Aspect, wrong_aspects};

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum Comparison {
    /// The replies agree.
    Same,
    /// The replies differ.
    Different(Signature),
    /// A port reached a limit or does not support the request, or the error is one of the Python that Jinja writes.
    Limited,
    /// The reference did not answer.
    Unanswered,
}

/// The key by which differences are grouped: the aspects that differ, and both answers without what belongs to one template alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Signature {
    /// The aspects that differ.
    pub aspects: Vec<Aspect>,
    /// The reference's answer.
    pub want: String,
    /// The port's answer.
    pub got: String,
}

/// Compares a port's reply with the reference's. The kind, text and line of an error count only if the comparison is strict.
pub fn compare(got: &Reply, want: &Reply, is_strict: bool) -> Comparison {
    let is_of_python = matches!(want, Reply::Answer(answer) if is_syntax_error_of_python(answer));
    let want = match want {
        Reply::Answer(answer) => plain(answer),
        Reply::Unsupported(_) => return Comparison::Limited,
        Reply::Fault(..) => return Comparison::Unanswered,
    };
    if is_limit(&want) || is_of_generated_code(&want) {
        return Comparison::Limited;
    }
    let (mut aspects, got) = match got {
        Reply::Answer(answer) => {
            let got = plain(answer);
            if is_limit(&got) || is_of_block(&got) {
                return Comparison::Limited;
            }
            if is_of_python && matches!(&got, Answer::Error(failure) if failure.kind == "syntax") {
                return Comparison::Same;
            }
            (wrong_aspects(&want, &got), brief(&got))
        }
        Reply::Unsupported(_) => return Comparison::Limited,
        Reply::Fault(verdict, _) => (vec![Aspect::Output], verdict.name().to_owned()),
    };
    aspects.retain(|aspect| is_strict || *aspect == Aspect::Output);
    if aspects.is_empty() {
        return Comparison::Same;
    }
    Comparison::Different(Signature {
        aspects,
        want: brief(&want),
        got,
    })
}

fn is_limit(answer: &Answer) -> bool {
    matches!(answer, Answer::Error(failure) if failure.kind == "limit")
}

/// Returns whether an answer of the reference is a syntax error in the Python that Jinja writes.
fn is_syntax_error_of_python(answer: &Answer) -> bool {
    matches!(answer, Answer::Error(failure) if failure.kind == "syntax" && failure.message.contains(" (<template>, line "))
}

/// Texts that only errors of the Python code that Jinja generates have.
const OF_GENERATED_CODE: [&str; 6] = [
    "root.<locals>.",
    "_loop_vars",
    "cannot assign to __debug__",
    "too many nested parentheses",
    "too many levels of indentation",
    "too many statically nested blocks",
];

/// Returns whether an answer of the reference is an error that only the generated code has. A constant with more digits than Python
/// prints has no line; a computed integer has one.
pub fn is_of_generated_code(answer: &Answer) -> bool {
    let Answer::Error(failure) = answer else { return false };
    let is_long_constant = failure.kind == "value" && failure.line == Some(None);
    is_long_constant || OF_GENERATED_CODE.iter().any(|text| failure.message.contains(text))
}

/// Returns whether the port refuses the result of a `filter` or `call` block because it is not a string. The reference finds that only
/// when it joins the texts around the block.
fn is_of_block(answer: &Answer) -> bool {
    matches!(answer, Answer::Error(failure) if failure.message.starts_with("expected str instance, "))
}

/// Returns an answer without addresses, which differ between any two processes.
pub fn plain(answer: &Answer) -> Answer {
    let mut answer = answer.clone();
    match &mut answer {
        Answer::Output { text, .. } => *text = without_addresses(text),
        Answer::Error(failure) => {
            failure.message = without_addresses(&failure.message);
        }
    }
    answer
}

/// Returns the text with one sign in place of each address. Filters such as `upper` change its letters, so case does not matter.
fn without_addresses(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = ["0x", "0X"].into_iter().filter_map(|sign| rest.find(sign)).min() {
        let (before, after) = rest.split_at_checked(at.saturating_add(2)).unwrap_or((rest, ""));
        plain.push_str(before);
        let digits = after.trim_start_matches(|char: char| char.is_ascii_hexdigit());
        // Shorter ones are numbers in the template.
        let length = after.len().saturating_sub(digits.len());
        plain.push_str(if length >= 9 {
            "…"
        } else {
            after.get(..length).unwrap_or_default()
        });
        rest = digits;
    }
    plain.push_str(rest);
    plain
}

/// Describes an answer without what belongs to one template alone: numbers, and texts in quotes.
pub fn brief(answer: &Answer) -> String {
    match answer {
        Answer::Output { .. } => "output".to_owned(),
        Answer::Error(failure) => {
            let mut brief = format!("{}: ", failure.kind);
            let mut quote = None;
            for char in failure.message.chars() {
                match quote {
                    Some(sign) if char == sign => {
                        quote = None;
                        brief.push(char);
                    }
                    Some(_) => {}
                    None if char.is_ascii_digit() => {
                        if !brief.ends_with('0') {
                            brief.push('0');
                        }
                    }
                    None => {
                        if matches!(char, '\'' | '"') {
                            quote = Some(char);
                        }
                        brief.push(char);
                    }
                }
            }
            brief.chars().take(160).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::answer::Failure;
    use super::super::score::Verdict;
    use super::*;

    fn output(text: &str) -> Reply {
        Reply::Answer(Answer::Output {
            text: text.to_owned(),
            generation: None,
            segments: None,
        })
    }

    fn error(kind: &str, message: &str) -> Reply {
        Reply::Answer(Answer::Error(Failure {
            kind: kind.to_owned(),
            message: message.to_owned(),
            line: Some(Some(1)),
        }))
    }

    #[test]
    fn differences_between_processes_do_not_count() {
        let same = |got: Reply, want: Reply| compare(&got, &want, true) == Comparison::Same;
        assert!(same(
            output("<a at 0x7f0000000000> 0X7F1234567890"),
            output("<a at 0x7f1234567890> 0X7FFFFFFFFFFF")
        ));
        assert!(!same(output("0x1f"), output("0x2f")));
        assert!(same(
            error("syntax", "'break' outside loop"),
            error("syntax", "'break' outside loop (<template>, line 12)")
        ));
        assert_eq!(
            compare(
                &output("a"),
                &error("type", "root.<locals>.macro() takes 2 positional arguments but 3 were given"),
                true
            ),
            Comparison::Limited
        );
        let (type_error, value_error) = (|| error("type", "a"), || error("value", "b"));
        assert_eq!(compare(&type_error(), &value_error(), false), Comparison::Same);
        assert!(!same(type_error(), value_error()));
        assert_eq!(compare(&output("a"), &error("limit", ""), true), Comparison::Limited);
        assert_eq!(
            compare(&output("a"), &Reply::Fault(Verdict::TimedOut, String::new()), true),
            Comparison::Unanswered
        );
        let Comparison::Different(signature) = compare(&error("type", "'a' and 12 'b"), &output("a"), true) else {
            panic!("they differ");
        };
        assert_eq!(
            (signature.want.as_str(), signature.got.as_str()),
            ("output", "type: '' and 0 '")
        );
    }
}
