//! Sets of paths, each stored once.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::paths::Paths;
use crate::error::Result;
use crate::meter::{Claim, Meter};

/// Sets of paths of the input.
#[derive(Debug, Default)]
pub(super) struct Sets {
    list: Vec<Arc<[u32]>>,
    indices: HashMap<Arc<[u32]>, u32, RandomState>,
    /// The index of the set that was stored or found last. All escapes of a string have the same set.
    last: u32,
    /// The number of bytes of memory that the sets take.
    bytes: usize,
    claims: Vec<Claim>,
}

/// The number of bytes that a set takes besides its paths: its places in the list and the map, with room for their growth, and reference
/// counts.
const SET_BYTES: usize = 128;

/// The number of bytes that are claimed at once. Fewer bytes than this may be without a claim.
const CLAIM_BYTES: usize = 64 << 10;

impl Sets {
    /// Returns the index of a set of these paths.
    pub fn intern(&mut self, paths: &Paths, set: &[u32]) -> u32 {
        if self.list.get(self.last as usize).is_some_and(|last| **last == *set) {
            return self.last;
        }
        let mut sorted = set.to_vec();
        sorted.sort_unstable_by(|one, other| paths.compare(*one, *other));
        if let Some(index) = self.indices.get(sorted.as_slice()) {
            self.last = *index;
            return self.last;
        }
        let index = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.bytes = self
            .bytes
            .saturating_add(size_of_val(sorted.as_slice()).saturating_add(SET_BYTES));
        let set: Arc<[u32]> = sorted.into();
        self.list.push(Arc::clone(&set));
        self.indices.insert(set, index);
        self.last = index;
        index
    }

    /// Claims the memory of the sets that were added since the last call.
    pub fn claim(&mut self, meter: &mut Meter<'_>) -> Result<()> {
        while self.claims.len() < self.bytes / CLAIM_BYTES {
            self.claims.push(meter.claim(CLAIM_BYTES)?);
        }
        Ok(())
    }

    /// Takes the sets, in the order of their indices.
    pub fn take(&mut self) -> Vec<Arc<[u32]>> {
        std::mem::take(self).list
    }

    /// Returns the sets in the order of their indices.
    pub fn list(&self) -> &[Arc<[u32]>] {
        &self.list
    }

    /// Returns the paths of a set in the order of the input.
    pub fn get(&self, index: u32) -> &[u32] {
        self.list.get(index as usize).map_or(&[], |set| set)
    }
}
