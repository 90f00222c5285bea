//! Describes why a port answers a case wrongly, in words that similar cases share, and groups the cases of a report by them.
//!
//! ```text
//! renders where the reference fails: `type: unsupported operand type(s)`     12 cases: operators/…, …
//! ```

use super::answer::Answer;
use super::case::Case;
use super::compare::brief;
use super::port_process::Reply;
use super::report::{CaseReport, Detail, Report};
use super::score::{Aspect, Strictness};

/// The wrong cases of a report that share a cause.
#[derive(Clone, Debug)]
pub struct Cause<'r> {
    /// The description of the cause.
    pub text: &'r str,
    /// The cases with their details. The one with the shortest template is first.
    pub cases: Vec<(&'r CaseReport, &'r Detail)>,
}

/// Describes the cause of a wrong answer, without names and values of this case.
pub(super) fn describe(case: &Case, reply: &Reply, wrong: &[Aspect]) -> String {
    match (&case.expect, reply) {
        _ if wrong.is_empty() => String::new(),
        (_, Reply::Unsupported(_)) => String::new(),
        (_, Reply::Fault(verdict, _)) => format!("the port: {}", verdict.name()),
        (Answer::Output { .. }, Reply::Answer(Answer::Output { .. })) => format!("other output in the area `{}`", case.area()),
        (Answer::Output { .. }, Reply::Answer(got)) => format!("fails where the reference renders: `{}`", brief(got)),
        (want, Reply::Answer(Answer::Output { .. })) => format!("renders where the reference fails: `{}`", brief(want)),
        (want, Reply::Answer(got)) => {
            let aspects: Vec<&str> = wrong.iter().map(|aspect| aspect.name()).collect();
            let (want, got) = (brief(want), brief(got));
            format!("an error with another {}: `{got}` for `{want}`", aspects.join(", "))
        }
    }
}

impl Report {
    /// Returns the wrong cases grouped by cause. What the baseline does not list is first, then come faults of the port, then the causes
    /// whose constructs most real templates use, then the most frequent ones.
    pub fn causes(&self, strictness: Strictness) -> Vec<Cause<'_>> {
        let mut causes: indexmap::IndexMap<&str, Vec<(&CaseReport, &Detail)>> = indexmap::IndexMap::new();
        for (case, detail) in self.failures().filter(|(case, _)| case.fails(strictness)) {
            causes.entry(&case.cause).or_default().push((case, detail));
        }
        let mut causes: Vec<Cause<'_>> = causes.into_iter().map(|(text, cases)| Cause { text, cases }).collect();
        for cause in &mut causes {
            cause
                .cases
                .sort_by_key(|(case, detail)| (case.is_known, detail.request.len()));
        }
        causes.sort_by_key(|Cause { cases, .. }| {
            let any = |is: fn(&CaseReport) -> bool| cases.iter().any(|(case, _)| is(case));
            let uses = cases.iter().map(|(case, _)| case.uses).max();
            std::cmp::Reverse((
                any(|case| !case.is_known),
                any(|case| case.verdict.is_fault()),
                uses,
                cases.len(),
            ))
        });
        causes
    }
}

#[cfg(test)]
mod tests {
    use super::super::run::judge;
    use super::*;

    fn wrong_case(id: &str, template: &str, message: &str) -> CaseReport {
        let line = format!(r#"{{"id": "{id}", "template": "{template}", "context": {{}}, "expect": {{"output": "a"}}}}"#);
        let answer = format!(r#"{{"error": {{"kind": "type", "message": "{message}", "line": 1}}}}"#);
        let chat_template::json::Data::Object(answer) = chat_template::json::read(&answer).unwrap() else {
            panic!("it is an object");
        };
        judge(&Case::read(&line).unwrap(), Reply::Answer(Answer::read(&answer).unwrap()))
    }

    #[test]
    fn cases_with_one_cause_are_together() {
        let report = Report {
            cases: vec![
                wrong_case("a/other", "x", "no filter"),
                wrong_case("a/long", "{{ a }}", "no item 12 in 'abc'"),
                wrong_case("b/short", "x", "no item 3 in 'de'"),
            ],
            ..Report::default()
        };
        let causes = report.causes(Strictness::Outcome);
        let ids = |cause: &Cause<'_>| cause.cases.iter().map(|(case, _)| case.id.clone()).collect::<Vec<_>>();
        assert_eq!(
            causes.iter().map(ids).collect::<Vec<_>>(),
            [vec!["b/short", "a/long"], vec!["a/other"]]
        );
        assert_eq!(causes[0].text, "fails where the reference renders: `type: no item 0 in ''`");
    }
}
