//! Applies a template to one conversation or to many.

use chat_template::json::Data;
use chat_template::{Error, Prompt};
use pyo3::prelude::*;

use crate::batch;
use crate::call::{Arguments, Wanted, with_options};
use crate::error::{guard, run, to_exception};
use crate::input::read_conversation;
use crate::options::{Options, own_options};
use crate::template::PyChatTemplate;

impl PyChatTemplate {
    /// Returns the prompt of a conversation.
    pub fn apply_one(
        &self,
        py: Python<'_>,
        conversation: &Bound<'_, PyAny>,
        arguments: &Arguments,
        options: Option<&Bound<'_, Options>>,
        wanted: Wanted,
    ) -> PyResult<Prompt> {
        let (messages, options) = (read_conversation(conversation)?, own_options(options));
        run(py, || {
            with_options(self.library(), arguments, &options, (wanted, None), |options| {
                self.library().apply(&messages, options)
            })
        })
    }

    /// Returns the prompts of conversations, which are rendered on all processors.
    pub fn apply_batch(
        &self,
        py: Python<'_>,
        conversations: &[Bound<'_, PyAny>],
        arguments: Arguments,
        options: Option<&Bound<'_, Options>>,
        wanted: Wanted,
    ) -> PyResult<Vec<Prompt>> {
        let conversations: Vec<Data<'_>> = conversations.iter().map(read_conversation).collect::<PyResult<_>>()?;
        let options = own_options(options);
        let prompts = batch::map(py, &conversations, options.flag(), |messages, cancel| {
            with_options(self.library(), &arguments, &options, (wanted, Some(cancel)), |options| {
                guard(|| match messages {
                    // A conversation of a batch can be empty.
                    Data::List(_) | Data::Tuple(_) => {
                        let mut prompts = self.library().apply_batch(std::slice::from_ref(messages), options)?;
                        prompts.pop().ok_or_else(|| Error::internal("a conversation has no prompt"))
                    }
                    other => self.library().apply(other, options),
                })
            })
        })?;
        let prompts = prompts
            .into_iter()
            .map(|prompt| prompt.unwrap_or_else(|| Err(batch::cancelled())));
        prompts
            .map(|prompt| prompt.map_err(|error| to_exception(py, &error)))
            .collect()
    }
}
