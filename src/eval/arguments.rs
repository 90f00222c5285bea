//! Evaluates the arguments of calls, filters and tests.

use super::Evaluator;
use crate::ast::{Args, Expr};
use crate::error::{Error, Result};
use crate::value::{Arguments, Dict, Function, Iter, Str, Value};

impl<'a> Evaluator<'a, '_> {
    /// Adds the arguments of the source to those that are there. Python evaluates them in this order. A filter or a test is called by
    /// itself, and complains so; anything else by the sandbox.
    #[inline]
    pub(super) fn arguments(&mut self, args: &'a Args, arguments: &mut Arguments<'a>, applied: Option<&Function>) -> Result<()> {
        match args.is_empty() {
            true => Ok(()),
            false => self.more_arguments(args, arguments, applied),
        }
    }

    #[inline(never)]
    fn more_arguments(&mut self, args: &'a Args, arguments: &mut Arguments<'a>, applied: Option<&Function>) -> Result<()> {
        for argument in &args.positional {
            arguments.push(self.expr(argument)?);
        }
        let Some(others) = &args.others else {
            return Ok(());
        };
        if let Some(star) = &others.star {
            self.star(star, arguments)?;
        }
        for keyword in &others.keywords {
            let value = self.expr(&keyword.value)?;
            arguments.push_keyword(Str::from(&*keyword.name), value);
        }
        if let Some(double_star) = &others.double_star {
            self.double_star(double_star, arguments, applied)?;
        }
        Ok(())
    }

    /// `*values`
    #[inline(never)]
    fn star(&mut self, star: &'a Expr, arguments: &mut Arguments<'a>) -> Result<()> {
        let values = self.expr(star)?;
        let Some(mut iter) = Iter::try_new(&values) else {
            let message = format!("Value after * must be an iterable, not {}", values.ty().name());
            return Err(Error::type_error(message).at(star.span));
        };
        let values = self.runtime.drain(&mut iter)?;
        // They are moved once more on their way.
        self.runtime.meter.charge_items(values.len().saturating_mul(2))?;
        for value in values {
            arguments.push(value);
        }
        Ok(())
    }

    /// `**values`
    #[inline(never)]
    fn double_star(&mut self, double_star: &'a Expr, arguments: &mut Arguments<'a>, applied: Option<&Function>) -> Result<()> {
        let values = self.expr(double_star)?;
        if let Value::Undefined(undefined) = &values {
            return Err(undefined.error().at(double_star.span));
        }
        let Some(entries) = values.as_mapping() else {
            let message = format!(
                "{} argument after ** must be a mapping, not {}",
                callee(applied),
                values.ty().name()
            );
            return Err(Error::type_error(message).at(double_star.span));
        };
        self.keywords(entries, arguments, applied)
            .map_err(|error| error.at(double_star.span))
    }

    fn keywords(&mut self, values: &Dict<'a>, arguments: &mut Arguments<'a>, applied: Option<&Function>) -> Result<()> {
        for (name, value) in values.iter() {
            self.runtime.meter.charge_items(arguments.keywords().len() / 8)?;
            let Value::Str(name) = name else {
                return Err(Error::type_error("keywords must be strings"));
            };
            if arguments.keywords().iter().any(|(other, _)| other.as_str() == name.as_str()) {
                let (callee, name) = (callee(applied), name.as_str());
                return Err(Error::type_error(format!(
                    "{callee} got multiple values for keyword argument '{name}'"
                )));
            }
            arguments.push_keyword(name, value);
        }
        Ok(())
    }
}

/// The function that complains, with its module (CPython 3.11 `object.c`, `_PyObject_FunctionStr`).
fn callee(applied: Option<&Function>) -> String {
    match applied {
        Some(function) => format!("{}()", function.full_name()),
        None => "jinja2.sandbox.SandboxedEnvironment.call()".to_owned(),
    }
}
