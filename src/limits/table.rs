//! A macro that defines the struct of limits from a table. A row is a field with its docs, type, default and setter.
//!
//! ```text
//! steps: u64 = 16_000_000, with_steps(u64);
//! ```

/// Defines the struct, its default, its setters and the names of its fields.
macro_rules! limits {
    (
        $(#[$about:meta])*
        $limits:ident:
        $($(#[$doc:meta])* $name:ident: $type:ty = $default:expr, $setter:ident($argument:ty);)*
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        #[non_exhaustive]
        pub struct $limits {
            $(
                $(#[$doc])*
                ///
                #[doc = concat!("Default: `", stringify!($default), "`.")]
                pub $name: $type,
            )*
        }

        impl Default for $limits {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        /// One setter for each limit.
        impl $limits {
            $(
                #[doc = concat!("Returns the limits with another value of [`", stringify!($name), "`](Self::", stringify!($name), ").")]
                #[must_use]
                #[allow(clippy::useless_conversion, reason = "only some setters convert")]
                pub fn $setter(mut self, $name: $argument) -> Self {
                    self.$name = $name.into();
                    self
                }
            )*
        }

        impl $limits {
            /// The names of the fields.
            const NAMES: &[&str] = &[$(stringify!($name)),*];

            /// Returns for each limit the lower of two.
            #[cfg(feature = "inspect")]
            pub(crate) fn at_most(&self, other: &Self) -> Self {
                Self { $($name: self.$name.min(other.$name),)* }
            }

            /// Returns whether one of the limits is lower here than in `other`.
            #[cfg(feature = "inspect")]
            pub(crate) fn is_lower(&self, other: &Self, limit: Limit) -> bool {
                false $(|| limit.name() == stringify!($name) && self.$name < other.$name)*
            }
        }
    };
}
