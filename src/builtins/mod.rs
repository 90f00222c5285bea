//! Filters, tests, methods and global functions: functions over values that know no tree and no places in a source.
//!
//! Each is a row of a table ([`Function`](crate::value::Function)): its name, its parameters, what it does.

pub mod access;
mod c_arguments;
pub mod call;
pub mod filters;
pub mod globals;
pub mod jinja_tests;
pub mod methods;
mod table;
