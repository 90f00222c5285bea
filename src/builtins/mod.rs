//! Filters, tests, methods and global functions: functions over values that know no tree and no places in a source.
//!
//! Each is a row of a table ([`Function`](crate::value::Function)): its name, its parameters, what it does.

pub mod access;
pub mod call;
pub mod filters;
pub mod globals;
pub mod methods;
pub mod predicates;
