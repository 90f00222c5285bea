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

/// The first fault of each stage. Nearly all code has none, which is one look.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    /// A bit for each stage that has one.
    found: u8,
    faults: [Option<Error>; 4],
}

/// Which stages had a fault at some time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found(u8);

impl Refusals {
    /// Remembers a fault, unless the stage has an earlier one.
    #[cold]
    pub fn add(&mut self, stage: Stage, message: impl Into<String>, span: Span) {
        let fault = Error::new(ErrorKind::Syntax, message).without_line().at(span);
        self.restore(stage, Some(fault));
    }

    /// Takes the fault of a stage away.
    #[inline]
    pub fn take(&mut self, stage: Stage) -> Option<Error> {
        if self.found & bit(stage as usize) == 0 {
            return None;
        }
        self.found &= !bit(stage as usize);
        self.faults.get_mut(stage as usize).and_then(Option::take)
    }

    /// Puts a fault there if the stage has none.
    #[inline]
    pub fn restore(&mut self, stage: Stage, fault: Option<Error>) {
        if fault.is_none() {
            return;
        }
        if let Some(first @ None) = self.faults.get_mut(stage as usize) {
            *first = fault;
            self.found |= bit(stage as usize);
        }
    }

    /// Which stages have a fault so far.
    #[inline]
    pub fn found(&self) -> Found {
        Found(self.found)
    }

    /// Forgets what was found since: CPython sees nothing of it.
    #[inline]
    pub fn forget(&mut self, Found(before): Found) {
        if self.found != before {
            for (stage, fault) in self.faults.iter_mut().enumerate() {
                fault.take_if(|_| before & bit(stage) == 0);
            }
            self.found = before;
        }
    }

    /// What CPython says.
    pub fn into_first(self) -> Option<Error> {
        self.faults.into_iter().flatten().next()
    }
}

fn bit(stage: usize) -> u8 {
    1 << (stage & 3)
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
