//! The Python package `chat_template`: the classes of the library, for Python objects.

mod apply;
mod batch;
mod call;
mod error;
mod fault;
mod input;
mod load;
mod options;
mod output;
mod prepared;
mod prompt;
mod reader;
mod rows;
mod template;
mod tokens;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add_class::<template::PyChatTemplate>()?;
    module.add_class::<prompt::PyPrompt>()?;
    module.add_class::<prepared::PyPrepared>()?;
    module.add_class::<options::Options>()?;
    module.add_class::<options::CancelFlag>()?;
    module.add("TemplateError", py.get_type::<error::TemplateError>())?;
    module.add("RefusedError", py.get_type::<error::RefusedError>())?;
    module.add("RequestError", py.get_type::<error::RequestError>())?;
    module.add("MismatchError", py.get_type::<error::MismatchError>())?;
    module.add("AnswerError", py.get_type::<error::AnswerError>())?;
    module.add("LimitError", py.get_type::<error::LimitError>())?;
    module.add("TemplateFaultError", py.get_type::<error::TemplateFaultError>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
