//! Python's operators, and built-in functions such as `len`, as functions: `ops::add(runtime, &left, &right)`.

mod arithmetic;
mod compare;
mod concat;
mod contains;
mod identity;
mod item;
mod iterate;
mod length;
mod order;
mod slice;
mod sort;
mod truth;
mod views;

pub use arithmetic::{
    add, charge_digits, charge_numbers, divide, floor_divide, modulo, multiply, negate, positive, power, subtract,
};
pub use compare::{equal, identical_or_equal};
pub use contains::contains;
pub use identity::is_same;
pub use item::get_item;
pub use iterate::collect;
pub use length::{length, try_length};
pub use order::{greater, greater_equal, less, less_equal};
pub use slice::slice;
pub use sort::sort_indices;
pub use truth::is_true;
