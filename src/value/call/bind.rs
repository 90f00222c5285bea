//! Binds the arguments of a call to the parameters of a function, with CPython 3.13's messages if they do not match.
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
use super::suggestion::unexpected_keyword;
use crate::error::{Error, Result};
use crate::value::{Arguments, Parameter, Signature, Str, Style, Value};

impl Signature {
    /// Orders the arguments by parameter. Arguments that no parameter takes remain after them or among the keywords, if the signature
    /// allows that. `python` is the name of the function in messages. For a method written in C that is `str.strip`, and its object is
    /// not counted.
    pub fn bind(&self, python: &str, arguments: &mut Arguments<'_>) -> Result<()> {
        let is_hidden = self.parameters.first().is_some_and(|parameter| parameter.hidden);
        // An absent argument reads as `None`, so that no argument has to be moved here.
        if self.is_bound(arguments.len() + usize::from(is_hidden), arguments.keywords()) {
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
    fn is_bound(&self, given: usize, keywords: &[(Str<'_>, Value<'_>)]) -> bool {
        let (taken, rest) = self.parameters.split_at(given.min(self.parameters.len()));
        let takes = |name: &str| self.parameters.iter().any(|parameter| parameter.name == name);
        (taken.len() == given || self.star.is_some())
            && rest.iter().all(|parameter| parameter.optional)
            && (keywords.is_empty() || (self.double_star && !keywords.iter().any(|(name, _)| takes(name.as_str()))))
    }

    /// Binds the arguments of a function written in Python (CPython 3.13 `ceval.c`, `initialize_locals`): checks the keywords, then the
    /// number of arguments, then the missing parameters.
    fn bind_python(&self, python: &str, arguments: &mut Arguments<'_>) -> Result<()> {
        let given = arguments.len();
        let rest = if given > self.parameters.len() {
            arguments.take_from(self.parameters.len())
        } else {
            Vec::new()
        };
        let mut extra = Vec::new();
        let mut keywords = arguments.take_keywords().into_iter();
        while let Some((keyword, value)) = keywords.next() {
            let name = keyword.as_str();
            let index = self.named().iter().position(|parameter| parameter.name == name);
            match index.map(|index| index + self.unnamed) {
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
                    return Err(self.unexpected_keyword_error(python, &names));
                }
            }
        }
        if self.star.is_none() && !rest.is_empty() {
            return Err(self.too_many_error(python, given));
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

    /// Returns the error for the first of these keywords, which no parameter takes.
    #[cold]
    fn unexpected_keyword_error(&self, python: &str, names: &[&str]) -> Error {
        let unnamed = self.parameters.iter().take(self.unnamed).map(|parameter| parameter.name);
        let list: Vec<_> = unnamed.filter(|name| names.contains(name)).collect();
        if list.is_empty() {
            return unexpected_keyword(python, names.first().unwrap_or(&""), self.named());
        }
        let list = list.join(", ");
        Error::type_error(format!(
            "{python}() got some positional-only arguments passed as keyword arguments: '{list}'"
        ))
    }

    #[cold]
    fn too_many_error(&self, python: &str, given: usize) -> Error {
        let most = self.parameters.len();
        let least = self.parameters.iter().filter(|parameter| !parameter.optional).count();
        let (takes, s) = if least == most {
            (most.to_string(), plural(most))
        } else {
            (format!("from {least} to {most}"), "s")
        };
        let verb = if given == 1 { "was" } else { "were" };
        Error::type_error(format!(
            "{python}() takes {takes} positional argument{s} but {given} {verb} given"
        ))
    }

    /// Checks that every required parameter has an argument.
    fn check_missing(&self, python: &str, arguments: &Arguments<'_>) -> Result<()> {
        let is_missing = |(index, parameter): &(usize, &Parameter)| !parameter.optional && arguments.get(*index).is_none();
        let missing = self.parameters.iter().enumerate().filter(is_missing);
        let names: Vec<_> = missing.map(|(_, parameter)| parameter.name).collect();
        if names.is_empty() {
            return Ok(());
        }
        let (count, s, list) = (names.len(), plural(names.len()), quoted_list(&names));
        Err(Error::type_error(format!(
            "{python}() missing {count} required positional argument{s}: {list}"
        )))
    }
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
