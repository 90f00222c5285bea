//! The built-ins: filters, Jinja tests, methods and global functions, and the lookup of attributes and items.
//!
//! Each filter, test, method and global function is a row of a table ([`Function`](crate::value::Function)) with its name, its
//! parameters and its code. A file imports only from files to its left:
//!
//! ```text
//! arguments, table < methods < access < call < filters, jinja_tests, globals < LOOKUPS
//! ```
//!
//! A built-in that needs a module to its right, as `map` needs the table of filters, looks it up through
//! [`Runtime::lookups`](crate::value::Runtime::lookups).

pub mod access;
pub mod call;
pub mod filters;
pub mod globals;
pub mod jinja_tests;
pub mod methods;

pub mod arguments;
mod table;

use crate::value::Lookups;

/// The lookups that a render needs while it runs.
pub static LOOKUPS: Lookups = Lookups {
    attribute: access::get_attribute,
    item: access::get_item,
    filter: filters::find,
    test: jinja_tests::find,
};

#[cfg(test)]
mod tests {
    //! The examples in the comments of built-ins, lines of the form `` /// `template -> output` ``, and the cases that call each built-in.

    use std::path::{Path, PathBuf};

    use super::{filters, globals, jinja_tests, methods};
    use crate::json::{self, Data};
    use crate::value::called;
    use crate::{RenderOptions, Template};

    /// Renders a template without variables.
    pub fn render(template: &str) -> crate::Result<String> {
        let options = RenderOptions::default();
        Template::compile(template)?
            .render(&serde_json::json!({}), &options)
            .map(|prompt| prompt.text)
    }

    /// Asserts the output of each example in a file or folder of the built-ins, and returns the templates.
    pub fn assert_examples(path: &str) -> Vec<String> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/builtins").join(path);
        let sources: Vec<PathBuf> = if path.is_dir() {
            let entries = std::fs::read_dir(path).expect("the folder can be read");
            entries.map(|entry| entry.expect("the entry can be read").path()).collect()
        } else {
            vec![path]
        };
        let mut templates = Vec::new();
        for source in sources {
            let source = std::fs::read_to_string(source).expect("the file can be read");
            for line in source.lines() {
                let comment = line.trim_start().trim_start_matches('/').strip_prefix(" `");
                let example = comment.and_then(|line| line.strip_suffix('`')?.rsplit_once(" -> "));
                if let Some((template, output)) = example {
                    assert_eq!(render(template).as_deref().ok(), Some(output), "{template}");
                    templates.push(template.to_owned());
                }
            }
        }
        templates
    }

    #[test]
    fn each_built_in_is_called_by_a_case() {
        for entry in std::fs::read_dir("tests/cases").expect("the folder of the cases is there") {
            let path = entry.expect("the entry can be read").path();
            let is_file_of_cases = path.extension().is_some_and(|extension| extension == "jsonl");
            let cases = is_file_of_cases.then(|| std::fs::read_to_string(path).expect("the file can be read"));
            for case in cases.unwrap_or_default().lines() {
                let Data::Object(case) = json::read(case).expect("a line is JSON") else {
                    continue;
                };
                let Some(Data::Str(template)) = case.get("template") else {
                    continue;
                };
                let context = case.get("context").unwrap_or(&Data::None);
                // Many cases fail, as they should.
                let _ = Template::compile(template).and_then(|template| template.render(context, &RenderOptions::default()));
            }
        }
        let methods = methods::types().flat_map(methods::all);
        let functions = filters::all().iter().chain(jinja_tests::all()).chain(globals::all());
        let missing = functions.chain(methods).filter(|function| !called::has(function));
        let missing: Vec<&str> = missing.map(|function| function.python).collect();
        assert!(missing.is_empty(), "no case calls {missing:?}");
    }
}
