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
    filter: |name| filters::TABLE.find_row(name),
    test: |name| jinja_tests::TABLE.find_row(name),
};
