//! A macro that declares the setters of options.
//!
//! ```text
//! setters! { RenderOptions<'o>: with_trace(bool) = trace; }     options.with_trace(true)
//! ```

/// Declares setters. Each returns the options with another value of a field, which can be a field of options that they contain.
///
/// A row is the setter, the type of its argument, and the field. After `Some` the field is an option that gets the argument.
macro_rules! setters {
    ($options:ident<$life:lifetime>: $($setter:ident($argument:ty) = $($some:ident)? $(.$outer:ident)* @ $field:ident;)*) => {
        /// One setter for each field.
        impl<$life> $options<$life> {
            $(
                #[doc = concat!("Returns the options with another value of `", stringify!($field), "`.")]
                #[must_use]
                #[allow(clippy::useless_conversion, reason = "only some setters convert")]
                pub fn $setter(mut self, $field: $argument) -> Self {
                    self$(.$outer)*.$field = $($some)?($field.into());
                    self
                }
            )*
        }
    };
}

pub(crate) use setters;
