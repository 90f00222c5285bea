//! Evaluates the arguments of calls, filters and tests.

use super::Evaluator;
use crate::ast::{Args, Expr, OtherArgs};
use crate::error::{Error, Result};
use crate::unsupported::{self, Place};
use crate::value::{Arguments, Dict, Function, Iter, Str, Value};

impl<'a> Evaluator<'a, '_> {
    /// Evaluates the arguments of a call, in the order of Python, and adds them to `arguments`. `applied` is the filter or the test that is
    /// called, if it is one: error messages name it instead of the sandbox.
    #[inline]
    pub(super) fn arguments(&mut self, args: &'a Args, arguments: &mut Arguments<'a>, applied: Option<&Function>) -> Result<()> {
        if args.is_empty() {
            Ok(())
        } else {
            self.more_arguments(args, arguments, applied)
        }
    }

    #[inline(never)]
    fn more_arguments(&mut self, args: &'a Args, arguments: &mut Arguments<'a>, applied: Option<&Function>) -> Result<()> {
        self.named_arguments(args, arguments)?;
        match &args.others {
            Some(others) => self.double_star(others, arguments, applied),
            None => Ok(()),
        }
    }

    /// Evaluates the arguments of a call block, and adds the body as the keyword argument `caller`.
    #[inline(never)]
    pub(super) fn arguments_with_caller(&mut self, args: &'a Args, arguments: &mut Arguments<'a>, caller: Value<'a>) -> Result<()> {
        self.named_arguments(args, arguments)?;
        arguments.put_keyword(Str::from("caller"), caller);
        match &args.others {
            Some(others) => self.double_star(others, arguments, None),
            None => Ok(()),
        }
    }

    /// Evaluates all arguments except `**values`, and adds them to the list.
    #[inline]
    fn named_arguments(&mut self, args: &'a Args, arguments: &mut Arguments<'a>) -> Result<()> {
        for argument in &args.positional {
            arguments.push(self.expr(argument)?);
        }
        let Some(others) = &args.others else {
            return Ok(());
        };
        if let Some(star) = &others.star {
            self.star(star, arguments)?;
        }
        // A name and its value are moved several times.
        self.runtime.meter.charge_items(others.keywords.len().saturating_mul(3))?;
        for keyword in &others.keywords {
            let value = self.expr(&keyword.value)?;
            let name = Str::from(&*keyword.name);
            if others.are_packed {
                self.runtime.meter.charge_names(name.as_str(), arguments.keywords().len())?;
                arguments.put_keyword(name, value);
            } else {
                arguments.push_keyword(name, value);
            }
        }
        Ok(())
    }

    /// Evaluates `*values`. The arguments keep the claim to their memory.
    #[inline(never)]
    fn star(&mut self, star: &'a Expr, arguments: &mut Arguments<'a>) -> Result<()> {
        let values = self.expr(star)?;
        let Some(mut iter) = Iter::try_new(&values) else {
            let message = format!("Value after * must be an iterable, not {}", values.ty().name());
            return Err(Error::type_error(message).at(star.span));
        };
        let values = iter.drain(self.runtime)?;
        // The values are moved again later.
        self.runtime.meter.charge_items(values.len().saturating_mul(2))?;
        let claim = self
            .runtime
            .meter
            .claim(values.len().saturating_mul(size_of::<Value<'_>>()))?;
        for value in values {
            arguments.push(value);
        }
        arguments.keep(claim);
        Ok(())
    }

    /// Evaluates `**values`.
    #[inline(never)]
    fn double_star(&mut self, others: &'a OtherArgs, arguments: &mut Arguments<'a>, applied: Option<&Function>) -> Result<()> {
        let Some(double_star) = &others.double_star else {
            return Ok(());
        };
        let values = self.expr(double_star)?;
        if let Value::Undefined(undefined) = &values {
            return Err(undefined.error().at(double_star.span));
        }
        let Some(entries) = values.as_mapping() else {
            let message = format!(
                "{} argument after ** must be a mapping, not {}",
                callee(applied, others),
                values.ty().name()
            );
            return Err(Error::type_error(message).at(double_star.span));
        };
        self.keywords(entries, arguments, applied, others)
            .map_err(|error| error.at(double_star.span))
    }

    fn keywords(
        &mut self,
        values: &Dict<'a>,
        arguments: &mut Arguments<'a>,
        applied: Option<&Function>,
        others: &OtherArgs,
    ) -> Result<()> {
        for (name, value) in values.iter() {
            let Value::Str(name) = name else {
                return Err(Error::type_error("keywords must be strings"));
            };
            self.runtime.meter.charge(1)?;
            self.runtime.meter.charge_names(name.as_str(), arguments.keywords().len())?;
            if others.are_packed {
                arguments.put_keyword(name, value);
                continue;
            }
            if arguments.keywords().iter().any(|(other, _)| other.as_str() == name.as_str()) {
                let (callee, name) = (callee(applied, others), name.as_str());
                return Err(Error::type_error(format!(
                    "{callee} got multiple values for keyword argument '{name}'"
                )));
            }
            arguments.push_keyword(name, value);
        }
        Ok(())
    }
}

/// Returns the name of the called function in error messages, with its module (CPython 3.13 `object.c`, `_PyObject_FunctionStr`).
fn callee(applied: Option<&Function>, others: &OtherArgs) -> String {
    match applied {
        _ if others.are_packed => "dict()".to_owned(),
        Some(function) => format!("{}()", function.full_name()),
        None => "jinja2.sandbox.SandboxedEnvironment.call()".to_owned(),
    }
}

/// Returns the error of calling a filter or a test that this crate does not have.
#[cold]
pub(super) fn unknown(what: &str, name: &str) -> Error {
    if let Some(error) = unsupported::find(Place::Filter, name).filter(|_| what == "filter") {
        return error;
    }
    Error::runtime(format!("No {what} named {} found.", crate::text::quote::repr(name)))
}
