//! Jinja's filters.
//!
//! ```text
//! {{ "ab"|upper }}                      AB
//! {{ ["a", "b"]|map("upper")|list }}    ['A', 'B']
//! ```
//!
//! Each filter is declared in the file of its topic ([`super::table`]). The filters are those of jinja2 3.1.6 `filters.py`; `tojson` is
//! that of transformers 5.24.0.

mod attribute_path;
mod batch_slice;
mod group;
mod json;
mod layout;
mod lazy_input;
mod map_select;
mod markup;
mod number;
mod python_calls;
mod sequence;
mod sort;
mod text;

use super::table::{Rows, Table};
use crate::value::Function;

static FILTERS: Table = Table::new(|| {
    Rows::new(&[
        batch_slice::FILTERS,
        group::FILTERS,
        json::FILTERS,
        layout::FILTERS,
        map_select::FILTERS,
        markup::FILTERS,
        number::FILTERS,
        sequence::FILTERS,
        sort::FILTERS,
        text::FILTERS,
    ])
});

/// Returns all filters, sorted by name.
#[cfg(any(test, feature = "internal"))]
pub fn all() -> &'static [Function] {
    &FILTERS
}

/// Returns the index of the filter with the given name.
pub fn find_index(name: &str) -> Option<usize> {
    FILTERS.find_index(name)
}

/// Returns the filter at an index.
pub fn get(index: usize) -> Option<&'static Function> {
    FILTERS.get(index)
}

/// Returns the filter with the given name.
pub fn find(name: &str) -> Option<&'static Function> {
    FILTERS.find_row(name)
}

#[cfg(test)]
mod tests {
    use super::FILTERS;
    use crate::builtins::tests::assert_examples;

    #[test]
    fn each_filter_has_an_example() {
        let examples = assert_examples("filters");
        let has_example = |name: &str| {
            let mut rests = examples
                .iter()
                .flat_map(|example| example.split(&format!("|{name}")).skip(1).collect::<Vec<_>>());
            rests.any(|rest| !rest.starts_with(|character: char| character.is_alphanumeric()))
        };
        let missing: Vec<_> = FILTERS.iter().map(|row| row.name).filter(|name| !has_example(name)).collect();
        assert!(missing.is_empty(), "no example of {missing:?}");
    }
}
