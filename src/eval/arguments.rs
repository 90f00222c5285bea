//! Evaluates the arguments of calls, filters and tests.

use super::Evaluator;
use crate::ast::{Args, Expr, OtherArgs};
use crate::error::{Error, Result};
use crate::unsupported::{self, Site};
use crate::value::{Arguments, Function, Iter, Str, Value};

impl<'a> Evaluator<'a, '_> {
    /// Evaluates the arguments of a call, in the order of Python, and adds them to `arguments`. `applied` is the filter or the test that is
    /// called, if it is one: error messages name it instead of the sandbox. `caller` is the body of a call block, which becomes a keyword
    /// argument.
    pub(super) fn arguments(
        &mut self,
        args: &'a Args,
        arguments: &mut Arguments<'a>,
        applied: Option<&Function>,
        caller: Option<Value<'a>>,
    ) -> Result<()> {
        for argument in &args.positional {
            arguments.push(self.expr(argument)?);
        }
        if let Some(others) = &args.others {
            self.keyword_arguments(others, arguments)?;
        }
        if let Some(caller) = caller {
            arguments.put_keyword(Str::from("caller"), caller);
        }
        match &args.others {
            Some(others) => self.double_star(others, arguments, applied),
            None => Ok(()),
        }
    }

    /// Evaluates `*values` and the keyword arguments.
    #[inline(never)]
    fn keyword_arguments(&mut self, others: &'a OtherArgs, arguments: &mut Arguments<'a>) -> Result<()> {
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
        let added = self.add_keywords(&values, arguments, applied, others);
        added.map_err(|error| error.at(double_star.span))
    }

    fn add_keywords(
        &mut self,
        values: &Value<'a>,
        arguments: &mut Arguments<'a>,
        applied: Option<&Function>,
        others: &OtherArgs,
    ) -> Result<()> {
        if let Value::Undefined(undefined) = values {
            return Err(undefined.error());
        }
        let Some(entries) = values.as_mapping() else {
            let (callee, ty) = (callee(applied, others), values.ty().name());
            return Err(Error::type_error(format!(
                "{callee} argument after ** must be a mapping, not {ty}"
            )));
        };
        for (name, value) in entries.iter() {
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

/// Returns what CPython names in an error about `*` or `**` arguments (3.13 `object.c`, `_PyObject_FunctionStr`): the filter or the test with
/// its module, or `call` of the sandbox, which makes all calls of a template; if the keywords are packed into a dict, `dict`.
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
    if let Some(error) = unsupported::find(Site::Filter, name).filter(|_| what == "filter") {
        return error;
    }
    Error::runtime(format!("No {what} named {} found.", crate::text::quote::repr(name)))
}
