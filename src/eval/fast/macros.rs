//! A shortcut for calls of macros: the arguments become local variables of the macro at once.
//!
//! ```text
//! {{ render_content(message.content, true) }}
//! ```
//!
//! Saves 630 instructions on 11 of 20 families.

use std::rc::Rc;

use super::super::Evaluator;
use crate::ast::{Args, Expr, ExprKind};
use crate::error::Result;
use crate::value::{Macro, Value};

impl<'a> Evaluator<'a, '_> {
    /// Returns the macro that a call runs, if the arguments can be evaluated straight to its local variables.
    #[inline]
    pub(super) fn local_macro(&self, callee: &'a Expr, args: &'a Args) -> Option<Rc<Macro<'a>>> {
        let ExprKind::Name(name) = &callee.kind else { return None };
        match self.get(&name.slot) {
            Some(Value::Macro(callee)) if callee.takes_locals && args.are_positional() => {
                let are_enough = args.positional.len() <= callee.parameters.len();
                are_enough.then(|| Rc::clone(callee))
            }
            _ => None,
        }
    }

    /// Evaluates a call of a macro to a string.
    #[inline(never)]
    pub(super) fn call_macro(&mut self, callee: &Macro<'a>, args: &'a Args) -> Result<Value<'a>> {
        self.push_locals(args)?;
        let count = args.positional.len();
        self.runtime
            .capture(|runtime, text| callee.code.write_with_locals(runtime, count, text))
    }

    /// Writes the result of a macro.
    #[inline(never)]
    pub(super) fn write_macro(&mut self, callee: &Macro<'a>, args: &'a Args) -> Result<()> {
        self.push_locals(args)?;
        callee
            .code
            .write_with_locals(self.runtime, args.positional.len(), &mut self.out)
    }

    /// Evaluates arguments, and appends their values to the local variables, where the frame of the macro will begin.
    #[inline]
    fn push_locals(&mut self, args: &'a Args) -> Result<()> {
        for argument in &args.positional {
            let value = self.expr(argument)?;
            self.runtime.heap.frames.locals.push(Some(value));
        }
        Ok(())
    }
}
