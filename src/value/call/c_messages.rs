//! The messages of functions written in C about their arguments (CPython 3.13 `methodobject.c`, `getargs.c`).
//!
//! The name of a method includes its type: `str.strip`. In messages CPython uses the type of the object, which can be a subclass:
//! `Markup.isupper() takes no arguments (1 given)`. The object is the first parameter and is not counted. The name of a function has no
//! dot: `len`.

use super::signature::plural;
use super::suggestion::unexpected_keyword;
use crate::error::{Error, Result};
use crate::value::{Arguments, Parameter, Signature, Style};

/// The number of positional arguments that a function takes and was given.
#[derive(Clone, Copy)]
struct Count {
    least: usize,
    most: usize,
    given: usize,
}

pub(super) fn bind(signature: &Signature, python: &str, arguments: &mut Arguments<'_>) -> Result<()> {
    let (is_method, name) = match python.rsplit_once('.') {
        // `_operator` is a module, not a type.
        Some((owner, name)) => (!owner.starts_with('_'), name),
        None => (false, python),
    };
    let parameters = signature.parameters.get(usize::from(is_method)..).unwrap_or_default();
    let count = Count {
        least: parameters.iter().filter(|parameter| !parameter.optional).count(),
        most: parameters.len(),
        given: arguments.len().saturating_sub(usize::from(is_method)),
    };
    if signature.style == Style::Clinic {
        let skipped = usize::from(is_method);
        let unnamed = signature.unnamed.saturating_sub(skipped);
        bind_clinic(name, (parameters, unnamed), count, skipped, arguments)?;
    } else {
        if !arguments.keywords().is_empty() {
            // A static method belongs to its class.
            let full_name = if !is_method || name == "maketrans" {
                python.to_owned()
            } else {
                qualify(is_method, name, arguments)
            };
            return Err(Error::type_error(format!("{full_name}() takes no keyword arguments")));
        }
        check_count(signature, is_method, name, count, arguments)?;
    }
    if arguments.len() < signature.parameters.len() {
        arguments.resize(signature.parameters.len());
    }
    Ok(())
}

fn check_count(signature: &Signature, is_method: bool, name: &str, count: Count, arguments: &Arguments<'_>) -> Result<()> {
    let Count { least, most, given } = count;
    if (least..=most).contains(&given) {
        return Ok(());
    }
    let bound = if given < least { least } else { most };
    let s = plural(bound);
    Err(Error::type_error(match signature.style {
        Style::NoArguments => format!("{}() takes no arguments ({given} given)", qualify(is_method, name, arguments)),
        Style::OneArgument => format!(
            "{}() takes exactly one argument ({given} given)",
            qualify(is_method, name, arguments)
        ),
        _ => {
            let relation = if least == most {
                ""
            } else if given < least {
                "at least "
            } else {
                "at most "
            };
            format!("{name} expected {relation}{bound} argument{s}, got {given}")
        }
    }))
}

/// Returns the name of a method with the type of its object, as messages have it: `Markup.isupper`.
fn qualify(is_method: bool, name: &str, arguments: &Arguments<'_>) -> String {
    match arguments.get(0).filter(|_| is_method) {
        Some(object) => format!("{}.{name}", object.ty().name()),
        None => name.to_owned(),
    }
}

/// Binds the arguments of a function with Argument Clinic (`getargs.c`, `_PyArg_UnpackKeywords`). Its last parameters are optional and can
/// be passed by name; the first ones, `unnamed` in number, cannot. `skipped` is the number of arguments before those of `parameters`.
fn bind_clinic(
    name: &str,
    (parameters, unnamed): (&[Parameter], usize),
    count: Count,
    skipped: usize,
    arguments: &mut Arguments<'_>,
) -> Result<()> {
    let Count { least, most, given } = count;
    let all = given + arguments.keywords().len();
    if all > most {
        let (by_name, s) = (if given == 0 { "keyword " } else { "" }, plural(most));
        return Err(Error::type_error(format!(
            "{name}() takes at most {most} {by_name}argument{s} ({all} given)"
        )));
    }
    if given < least {
        let s = plural(least);
        return Err(Error::type_error(format!(
            "{name}() takes at least {least} positional argument{s} ({given} given)"
        )));
    }
    arguments.resize(skipped + most);
    for (index, parameter) in parameters.iter().enumerate().skip(given) {
        if let Some(value) = arguments.take_keyword(parameter.name) {
            arguments.set(skipped + index, value);
        }
    }
    if arguments.keywords().is_empty() {
        Ok(())
    } else {
        Err(unexpected_keyword_error(name, (parameters, unnamed), given, arguments))
    }
}

/// Returns the error for the keywords that no parameter takes.
#[cold]
fn unexpected_keyword_error(
    name: &str,
    (parameters, unnamed): (&[Parameter], usize),
    given: usize,
    arguments: &Arguments<'_>,
) -> Error {
    let keywords = || arguments.keywords().iter().map(|(keyword, _)| keyword.as_str());
    let mut by_position = (1_usize..).zip(parameters).take(given).skip(unnamed);
    let twice = by_position.find(|(_, parameter)| keywords().any(|keyword| keyword == parameter.name));
    match twice {
        Some((position, Parameter { name: keyword, .. })) => Error::type_error(format!(
            "argument for {name}() given by name ('{keyword}') and position ({position})"
        )),
        None => {
            let named = parameters.get(unnamed..).unwrap_or_default();
            unexpected_keyword(name, keywords().next().unwrap_or_default(), named)
        }
    }
}
