//! What CPython would refuse of the code that the reference writes; it compiles none of that, and so names no line of the template.
//!
//! ```text
//! {% break %}{{ l[1:2, 3] }}     invalid syntax: the loop that is not there comes up later
//! {{ 1[1:2, 3] is none }}        fine: a constant is written in the place of its parts
//! ```

use crate::error::{Error, ErrorKind};
use crate::span::Span;

/// When CPython finds a fault: each stage goes over the whole code.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stage {
    /// It takes the code apart into tokens.
    Tokens,
    /// It parses them.
    Grammar,
    /// It looks for the names of each function.
    Names,
    /// It writes bytecode.
    Bytecode,
}

/// The first fault of each stage.
#[derive(Debug, Default)]
pub(super) struct Refusals([Option<Error>; 4]);

/// Which stages were fine at some time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fine([bool; 4]);

impl Refusals {
    /// Remembers a fault, unless the stage has an earlier one.
    pub fn add(&mut self, stage: Stage, message: impl Into<String>, span: Span) {
        if let Some(first @ None) = self.0.get_mut(stage as usize) {
            *first = Some(Error::new(ErrorKind::Syntax, message).without_line().at(span));
        }
    }

    /// Takes the fault of a stage away.
    pub fn take(&mut self, stage: Stage) -> Option<Error> {
        self.0.get_mut(stage as usize).and_then(Option::take)
    }

    /// Puts a fault there if the stage has none.
    pub fn restore(&mut self, stage: Stage, fault: Option<Error>) {
        if let Some(first @ None) = self.0.get_mut(stage as usize) {
            *first = fault;
        }
    }

    /// Which stages are fine so far.
    pub fn fine(&self) -> Fine {
        Fine([0, 1, 2, 3].map(|stage| matches!(self.0.get(stage), Some(None))))
    }

    /// Forgets what was found in stages that were fine: CPython sees nothing of it.
    pub fn forget(&mut self, Fine(fine): Fine) {
        for (fault, was_fine) in self.0.iter_mut().zip(fine) {
            if was_fine {
                *fault = None;
            }
        }
    }

    /// What CPython says.
    pub fn into_first(self) -> Option<Error> {
        self.0.into_iter().flatten().next()
    }
}

#[cfg(test)]
mod tests {
    use crate::Template;

    #[test]
    fn stages_follow_each_other() {
        let deep = format!("{{{{ x{} }}}}", "|list".repeat(210));
        let indented = format!("{}{}", "{% if x %}".repeat(101), "{% endif %}".repeat(101));
        let same = "{% macro m(a, a) %}{% endmacro %}";
        let slice = "{{ x[0:1, 2] }}";
        let cases = [
            (["{% break %}", same], "duplicate argument 'l_1_a' in function definition"),
            ([same, slice], "invalid syntax"),
            (["{% break %}", &indented], "too many levels of indentation"),
            ([slice, &indented], "invalid syntax"),
            ([slice, &deep], "too many nested parentheses"),
            (
                ["{{ 1 if x[0:1, 2] else 2 }}", slice],
                "expected 'else' after 'if' expression",
            ),
            (["{{ 1 if not x[0:1, 2] else 2 }}", slice], "invalid syntax"),
        ];
        for (sources, message) in cases {
            let error = Template::compile(&sources.concat()).unwrap_err();
            assert_eq!((error.message(), error.line()), (message, None));
        }
    }
}
