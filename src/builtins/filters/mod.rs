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
mod number;
mod python_calls;
mod sequence;
mod sort;
mod text;

use super::table::{Rows, Table};

/// All filters.
pub static TABLE: Table = Table::new(|| {
    Rows::new(&[
        batch_slice::FILTERS,
        group::FILTERS,
        json::FILTERS,
        layout::FILTERS,
        map_select::FILTERS,
        number::FILTERS,
        sequence::FILTERS,
        sort::FILTERS,
        text::FILTERS,
    ])
});

/// Returns all filters, sorted by name.
#[cfg(feature = "internal")]
pub fn all() -> &'static [crate::value::Function] {
    &TABLE
}
