//! Writes a report as JUnit's XML, which continuous integration shows. Each area is a suite of tests.
//!
//! ```text
//! <testcase name="loops/first" classname="loops"><failure message="wrong">…
//! ```

use quick_junit::{NonSuccessKind, Report as Document, TestCase, TestCaseStatus, TestSuite};

use super::report::{CaseReport, Report};
use super::score::Verdict;
use super::text::{failure, headline};

/// Returns a report as an XML document. If only the kind, text or line of an error is wrong, the test passes and its output says
/// so.
///
/// # Errors
/// Returns a message if the XML cannot be written.
pub fn junit(report: &Report) -> Result<String, String> {
    let mut document = Document::new(format!("{}, suite {}", report.port.title(), report.suite));
    for (area, _) in report.areas() {
        let mut suite = TestSuite::new(area);
        let mut cases: Vec<_> = report.cases.iter().filter(|case| case.area() == area).collect();
        cases.sort_by_key(|case| (!case.is_wrong() || case.is_known, !case.verdict.is_fault()));
        suite.add_test_cases(cases.into_iter().map(test_case));
        document.add_test_suite(suite);
    }
    document.to_string().map_err(|error| error.to_string())
}

fn test_case(case: &CaseReport) -> TestCase {
    let kind = match case.verdict {
        Verdict::Right => None,
        // What the baseline lists is no failure of this run.
        _ if case.is_known => Some(TestCaseStatus::skipped()),
        Verdict::Unsupported | Verdict::Skipped => Some(TestCaseStatus::skipped()),
        Verdict::Wrong => Some(TestCaseStatus::non_success(NonSuccessKind::Failure)),
        _ => Some(TestCaseStatus::non_success(NonSuccessKind::Error)),
    };
    let shown = case.detail.as_ref().map(|detail| failure(case, detail, false));
    let is_right = kind.is_none();
    let mut status = kind.unwrap_or_else(TestCaseStatus::success);
    if !is_right {
        let listed = if case.is_known { "listed in the baseline: " } else { "" };
        status.set_message(format!("{listed}{}", headline(case)));
        if let Some(shown) = &shown {
            status.set_description(shown.as_str());
        }
    }
    let mut test = TestCase::new(case.id.as_str(), status);
    test.set_classname(case.area());
    if let (true, Some(shown)) = (is_right, &shown) {
        test.set_system_out(shown.as_str());
    }
    test
}
