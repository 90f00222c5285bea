//! The method of integers, bools and floats.
//!
//! ```text
//! {{ (2.5).is_integer() }}    False
//! ```

use crate::builtins::table::built_ins;
use crate::number::int_float;
use crate::value::Value;

built_ins! { METHODS:
    /// Returns whether a number has no fraction. Integers have this method since CPython 3.12.
    NoArguments "int.is_integer" fn is_integer(_runtime, &number: Value) -> Bool {
        let is_integer = match number {
            Value::Float(float) => int_float::is_integer(float),
            _ => true,
        };
        Ok(Value::Bool(is_integer))
    }
}
