//! Python's `is`, as far as a template can tell: what the test `sameas` asks, and containers before they ask for equality.
//!
//! ```text
//! l[1:] is sameas l[1:]      False: each slice is another list, though both are views of the same items
//! t[:] is sameas t           True for a tuple
//! n in [n]                   True even for a nan, but another nan is not in it
//! ```
//!
//! Most objects are told apart by where they are. A slice, a view of a dict and a nan are no more than values, and bear an [`Identity`]:
//! the slice beside its bounds, the nan in those bits of a float that say nothing else. What has none: integers and other floats, which
//! are the same where they are equal, and pieces of a string, which are the same where their bounds are.

use std::rc::Rc;

use super::Value;
use super::runtime::{Heap, Runtime};
use crate::number::Number;

/// Tells an object that the render made from others that look the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity(u32);

impl Identity {
    /// Of what is told apart by where it is.
    pub const NONE: Self = Self(0);

    /// Of an empty array, which has no items that would be somewhere, by the address of the array itself.
    #[inline]
    pub(super) fn of_place<T>(array: &T) -> Self {
        // Arrays whose addresses are the same in these bits would be many gigabytes apart.
        Self(u32::try_from((std::ptr::from_ref(array).addr() >> 3) & 0xffff_ffff).unwrap_or(0))
    }
}

impl Heap<'_> {
    /// The identity of an object that is just made.
    #[inline]
    pub fn new_identity(&mut self) -> Identity {
        self.identities = self.identities.wrapping_add(1).max(1);
        Identity(self.identities)
    }
}

impl<'a> Runtime<'a> {
    /// The value of a number that was just computed: a nan of a float is another one each time.
    #[inline]
    pub fn number(&mut self, number: Number) -> Value<'a> {
        match number {
            Number::Float(float) if float.is_nan() => Value::Float(self.nan()),
            number => Value::from(number),
        }
    }

    #[cold]
    fn nan(&mut self) -> f64 {
        let Identity(number) = self.heap.new_identity();
        f64::from_bits(f64::NAN.to_bits() | u64::from(number))
    }
}

/// Whether both are one object.
pub fn is_identical<'a>(left: &Value<'a>, right: &Value<'a>) -> bool {
    match (left, right) {
        (Value::None, Value::None) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Int(left), Value::Int(right)) => left == right,
        (Value::Big(left), Value::Big(right)) => left.is_same(right),
        (Value::Float(left), Value::Float(right)) => left.to_bits() == right.to_bits(),
        (Value::Str(left), Value::Str(right)) => left.is_same(right),
        (Value::List(left), Value::List(right)) => left.is_same(right),
        (Value::Tuple(left), Value::Tuple(right)) => left.is_same(right) || (left.is_empty() && right.is_empty()),
        (Value::Dict(left), Value::Dict(right)) => left.is_same(right),
        (Value::Keys(left), Value::Keys(right))
        | (Value::Values(left), Value::Values(right))
        | (Value::Items(left), Value::Items(right)) => left.is_same(right),
        (Value::Proxy(left), Value::Proxy(right)) => left.is_same(right),
        (Value::Set(left), Value::Set(right)) => left.is_same(right),
        (Value::Range(left), Value::Range(right)) => left.is_same(right),
        (Value::Iterator(left), Value::Iterator(right)) => Rc::ptr_eq(left, right),
        (Value::Namespace(left), Value::Namespace(right)) => left == right,
        (Value::Loop(left), Value::Loop(right)) => Rc::ptr_eq(left, right),
        (Value::Macro(left), Value::Macro(right)) => Rc::ptr_eq(left, right),
        (Value::Cycler(left), Value::Cycler(right)) => left.is_same(right),
        (Value::Joiner(left), Value::Joiner(right)) => left.is_same(right),
        (Value::Function(left), Value::Function(right)) => std::ptr::eq(*left, *right),
        (Value::Method(left), Value::Method(right)) => left.is_same(right),
        (Value::Reference(left), Value::Reference(right)) => left.is_same(right),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;
    use crate::limits::Limits;

    #[test]
    fn what_is_made_twice_is_two_things() {
        let json = serde_json::json!([[1, 2], [], []]);
        let mut runtime = Runtime::new(Limits::default(), &SystemClock);
        let Value::List(lists) = Value::from(&json) else {
            panic!("an array is a list")
        };
        let [list, empty, other] = [0, 1, 2].map(|index| lists.get(index).unwrap());
        let mut slice = || runtime.slice(&list, None, None, None).unwrap();
        let (one, two) = (slice(), slice());
        assert!(is_identical(&one, &one.clone()));
        assert!(!is_identical(&one, &two));
        assert!(is_identical(&empty, &empty.clone()));
        assert!(!is_identical(&empty, &other));
        let mut nan = || runtime.number(Number::Float(f64::NAN));
        let (one, two) = (nan(), nan());
        assert!(is_identical(&one, &one.clone()));
        assert!(!is_identical(&one, &two));
        assert_eq!(size_of::<super::super::Seq<'_>>(), 24, "an identity takes no room of its own");
    }
}
