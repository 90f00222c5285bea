//! The conformance suite, and the runner that sends it to a port in any language.
//!
//! ```
//! use chat_template_cli::conformance::Suite;
//!
//! let suite = Suite::embedded()?;
//! let case = suite.cases.iter().find(|case| case.id == "loops/cycle").unwrap();
//! assert_eq!(case.area(), "loops");
//! # Ok::<(), String>(())
//! ```
//!
//! A [`Suite`] is a list of cases: requests of the protocol with the answers of the reference. A [`Runner`] sends them to a port,
//! which is any command that speaks the protocol. The result is a [`Report`], which is saved as JSON and written as text, Markdown,
//! HTML and JUnit XML. [`Exceptions`] list the aspects that a port may answer wrongly. A [`Differ`] compares two ports over a
//! user's own templates, and a [`Fuzzer`] over random ones.
//!
//! No verdict depends on this crate's engine: its own port gets requests as any other port does. Only [`Fuzzer`] renders templates
//! itself, to find which features have an effect. `tests/cases/README.md` describes the protocol.

mod answer;
mod badge;
mod baseline;
mod case;
mod cause;
mod compare;
mod diff;
mod families;
mod fuzz;
mod html;
mod junit;
mod lower;
mod markdown;
mod port_process;
mod read_file;
mod report;
mod run;
mod schema;
mod score;
mod smoke;
mod suite;
mod summary;
mod text;
mod text_diff;
mod trace;
mod versions;
mod visible;
mod write_line;

pub use answer::{Answer, Failure};
pub use badge::badge;
pub use baseline::{Compared, Exceptions};
pub use case::Case;
pub use cause::Cause;
pub use diff::{Conversation, Differ, Differed, Found, find_templates, read_conversations};
pub use fuzz::{Feature, Finding, Fuzzed, Fuzzer, HitKind, Hits, Tally};
pub use html::html;
pub use junit::junit;
pub use markdown::markdown;
pub use port_process::Reply;
pub use report::{CaseReport, Detail, Faults, PortInfo, Report, Score};
pub use run::{Ran, Runner, judge};
pub use score::{Aspect, Strictness, Verdict, wrong_aspects};
pub use smoke::{Check, smoke};
pub use suite::{LICENCE, Suite, sha256};
pub use summary::{Format, summary};
pub use text::{failure, table};
pub use versions::{REFERENCE, SUITE_VERSION, check_version};

// What only the command line, the tests and the benches of this crate need.
#[doc(hidden)]
pub use compare::is_of_generated_code;
#[doc(hidden)]
pub use fuzz::random_request;
#[doc(hidden)]
pub use read_file::{decode, read_bytes, read_file};
#[doc(hidden)]
pub use schema::nearest;
#[doc(hidden)]
pub use trace::{Planter, WordPlace, check_segments, find_words};
#[doc(hidden)]
pub use visible::{printable, printable_json, sign, visible};
