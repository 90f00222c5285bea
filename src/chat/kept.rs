//! Values that modules of higher floors keep with the templates of a model, one of each type.

use std::any::Any;
use std::fmt;
use std::sync::OnceLock;

/// Values of different types. Each is made when it is first read. A clone is empty.
#[derive(Default)]
pub(crate) struct Kept(OnceLock<Box<Slot>>);

struct Slot {
    value: Box<dyn Any + Send + Sync>,
    rest: Kept,
}

impl Clone for Kept {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Kept").finish_non_exhaustive()
    }
}

impl Kept {
    /// Returns the value of a type.
    pub fn find<T: Any + Send + Sync + Default>(&self) -> &T {
        let mut kept = self;
        loop {
            let slot = kept.0.get_or_init(|| {
                let value = Box::<T>::default();
                Box::new(Slot {
                    value,
                    rest: Self::default(),
                })
            });
            match slot.value.downcast_ref() {
                Some(value) => return value,
                None => kept = &slot.rest,
            }
        }
    }
}
