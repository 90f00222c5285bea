//! Python's operators, and built-in functions such as `len`, as functions: `ops::add(runtime, &left, &right)`.

mod arithmetic;
mod compare;
mod concat;
mod container;
mod identity;
mod item;
mod order;
mod slice;
mod sort;

pub use arithmetic::{
    add, charge_digits, charge_numbers, divide, floor_divide, modulo, multiply, negate, positive, power, subtract,
};
pub use compare::{equal, identical_or_equal};
pub use container::{collect, contains, is_true, length, peek_truth, try_length};
pub use identity::is_same;
pub use item::get_item;
pub use order::{greater, greater_equal, less, less_equal};
pub use slice::{no_bound, read_bound, slice};
pub use sort::sort_indices;
