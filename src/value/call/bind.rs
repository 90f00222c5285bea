//! Binds the arguments of a call to the parameters of a function, with CPython 3.11's messages if they do not match.
//!
//! [`Style`] selects the messages: functions written in Python, functions written in C with Argument Clinic, and functions that parse
//! their argument tuple themselves each have their own. The messages of functions written in C are in [`c_messages`].
//! The types of the values are checked by the function itself.
//!
//! ```text
//! do_center(value, width=80) called with 3   do_center() takes from 1 to 2 positional arguments but 3 were given
//! ```

use super::c_messages;
use super::signature::plural;
use crate::error::{Error, Result};
use crate::value::{Arguments, Parameter, Signature, Str, Style, Value};

impl Signature {
    /// Orders the arguments by parameter. Arguments that no parameter takes remain after them or among the keywords, if the signature
    /// allows that. `python` is the name of the function in messages. For a method written in C that is `str.strip`, and its object is
    /// not counted.
    pub fn bind(&self, python: &str, arguments: &mut Arguments<'_>) -> Result<()> {
        let is_hidden = self.parameters.first().is_some_and(|parameter| parameter.hidden);
        // An absent argument reads as `None`, so that no argument has to be moved here.
        if self.fits(arguments.len().saturating_add(usize::from(is_hidden)), arguments.keywords()) {
            return Ok(());
        }
        match (self.style, is_hidden) {
            (Style::Python, true) => {
                arguments.push_front(Value::None);
                self.bind_python(python, arguments)?;
                arguments.drop_first();
                Ok(())
            }
            (Style::Python, false) => self.bind_python(python, arguments),
            _ => c_messages::bind(self, python, arguments),
        }
    }

    /// Returns whether the arguments are in the order of the parameters already, so that nothing has to be bound.
    #[inline]
    fn fits(&self, given: usize, keywords: &[(Str<'_>, Value<'_>)]) -> bool {
        let (taken, rest) = self.parameters.split_at(given.min(self.parameters.len()));
        let takes = |name: &str| self.parameters.iter().any(|parameter| parameter.name == name);
        (taken.len() == given || self.star)
            && taken.last().is_none_or(|last| !last.keyword_only)
            && rest.iter().all(|parameter| parameter.optional)
            && (keywords.is_empty() || (self.double_star && !keywords.iter().any(|(name, _)| takes(name.as_str()))))
    }

    /// Binds the arguments of a function written in Python (CPython 3.11 `ceval.c`, `initialize_locals`): checks the keywords, then the
    /// number of arguments, then the missing parameters.
    fn bind_python(&self, python: &str, arguments: &mut Arguments<'_>) -> Result<()> {
        let given = arguments.len();
        let positional = self.parameters.iter().filter(|parameter| !parameter.keyword_only).count();
        let rest = match given > positional {
            true => arguments.take_from(positional),
            false => Vec::new(),
        };
        let mut extra = Vec::new();
        let mut keywords = arguments.take_keywords().into_iter();
        while let Some((keyword, value)) = keywords.next() {
            let name = keyword.as_str();
            let has_that_name = |parameter: &Parameter| !parameter.positional_only && parameter.name == name;
            match self.parameters.iter().position(has_that_name) {
                Some(index) if arguments.get(index).is_none() => arguments.set(index, value),
                Some(_) => {
                    return Err(Error::type_error(format!(
                        "{python}() got multiple values for argument '{name}'"
                    )));
                }
                None if self.double_star => extra.push((keyword, value)),
                None => {
                    let later = keywords.as_slice().iter().map(|(later, _)| later.as_str());
                    let names: Vec<_> = std::iter::once(name).chain(later).collect();
                    return Err(self.unexpected(python, name, &names));
                }
            }
        }
        if !self.star && !rest.is_empty() {
            return Err(self.too_many(python, arguments, given));
        }
        self.check_missing(python, arguments)?;
        if !rest.is_empty() {
            arguments.resize(self.parameters.len());
            rest.into_iter().for_each(|value| arguments.push(value));
        }
        extra
            .into_iter()
            .for_each(|(name, value)| arguments.push_keyword(name, value));
        Ok(())
    }

    /// Returns the error for a keyword that no parameter takes. `names` are that keyword and the ones after it.
    #[cold]
    fn unexpected(&self, python: &str, keyword: &str, names: &[&str]) -> Error {
        let positional_only = self
            .parameters
            .iter()
            .filter(|parameter| parameter.positional_only && names.contains(&parameter.name));
        let list: Vec<_> = positional_only.map(|parameter| parameter.name).collect();
        Error::type_error(if list.is_empty() {
            format!("{python}() got an unexpected keyword argument '{keyword}'")
        } else {
            let list = list.join(", ");
            format!("{python}() got some positional-only arguments passed as keyword arguments: '{list}'")
        })
    }

    #[cold]
    fn too_many(&self, python: &str, arguments: &Arguments<'_>, given: usize) -> Error {
        let positional = self.parameters.iter().filter(|parameter| !parameter.keyword_only);
        let most = positional.clone().count();
        let least = positional.filter(|parameter| !parameter.optional).count();
        let (takes, s) = if least == most {
            (most.to_string(), plural(most))
        } else {
            (format!("from {least} to {most}"), "s")
        };
        let is_given = |(index, parameter): &(usize, &Parameter)| parameter.keyword_only && arguments.get(*index).is_some();
        let by_name = self.parameters.iter().enumerate().filter(is_given).count();
        let also = match by_name {
            0 => String::new(),
            _ => format!(
                " positional argument{} (and {by_name} keyword-only argument{})",
                plural(given),
                plural(by_name)
            ),
        };
        let verb = if given == 1 && by_name == 0 { "was" } else { "were" };
        Error::type_error(format!(
            "{python}() takes {takes} positional argument{s} but {given}{also} {verb} given"
        ))
    }

    /// Checks that every required parameter has an argument.
    fn check_missing(&self, python: &str, arguments: &Arguments<'_>) -> Result<()> {
        let is_missing = |(index, parameter): &(usize, &Parameter)| !parameter.optional && arguments.get(*index).is_none();
        let missing = self.parameters.iter().enumerate().filter(is_missing);
        let mut missing = missing.map(|(_, parameter)| parameter).peekable();
        match missing.peek() {
            None => Ok(()),
            Some(_) => Err(lacks(python, missing)),
        }
    }
}

/// Returns the error for parameters without an argument: for the positional ones, or if there are none, for the keyword-only ones.
#[cold]
fn lacks<'p>(python: &str, parameters: impl Iterator<Item = &'p Parameter>) -> Error {
    let (keyword_only, positional): (Vec<&Parameter>, Vec<_>) = parameters.partition(|parameter| parameter.keyword_only);
    let (kind, parameters) = match positional.is_empty() {
        true => ("keyword-only", keyword_only),
        false => ("positional", positional),
    };
    let names: Vec<_> = parameters.into_iter().map(|parameter| parameter.name).collect();
    let (count, s, list) = (names.len(), plural(names.len()), quoted_list(&names));
    Error::type_error(format!("{python}() missing {count} required {kind} argument{s}: {list}"))
}

/// Returns a list of names as CPython writes it: `'a'`, `'a' and 'b'`, `'a', 'b', and 'c'`.
fn quoted_list(names: &[&str]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("'{name}'")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [one, two] => format!("{one} and {two}"),
        [most @ .., last] => format!("{}, and {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMETERS: &[Parameter] = &[
        Parameter::positional("a"),
        Parameter::required("b"),
        Parameter::optional("c"),
        Parameter {
            keyword_only: true,
            ..Parameter::required("d")
        },
    ];

    /// Binds the arguments of `def f(a, /, b, c=None, *, d)` and returns the message.
    fn complaint(given: usize, keywords: &[&'static str]) -> String {
        let signature = Signature {
            style: Style::Python,
            parameters: PARAMETERS,
            star: false,
            double_star: false,
        };
        let mut arguments = Arguments::new();
        (0..given).for_each(|_| arguments.push(Value::None));
        keywords
            .iter()
            .for_each(|name| arguments.push_keyword((*name).into(), Value::None));
        match signature.bind("f", &mut arguments) {
            Ok(()) => "bound".to_owned(),
            Err(error) => error.message().to_owned(),
        }
    }

    #[test]
    fn complaints_come_in_the_order_of_cpython() {
        assert_eq!(complaint(1, &["b", "d"]), "bound");
        assert_eq!(complaint(0, &["b", "d"]), "f() missing 1 required positional argument: 'a'");
        assert_eq!(complaint(0, &[]), "f() missing 2 required positional arguments: 'a' and 'b'");
        assert_eq!(complaint(3, &[]), "f() missing 1 required keyword-only argument: 'd'");
        assert_eq!(
            complaint(4, &[]),
            "f() takes from 2 to 3 positional arguments but 4 were given"
        );
        let with_keyword =
            "f() takes from 2 to 3 positional arguments but 4 positional arguments (and 1 keyword-only argument) were given";
        assert_eq!(complaint(4, &["d"]), with_keyword);
        assert_eq!(complaint(2, &["b"]), "f() got multiple values for argument 'b'");
        assert_eq!(complaint(9, &["x"]), "f() got an unexpected keyword argument 'x'");
        assert_eq!(
            complaint(0, &["a"]),
            "f() got some positional-only arguments passed as keyword arguments: 'a'"
        );
    }
}
