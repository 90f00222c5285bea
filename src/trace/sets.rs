//! Sets of nodes, each stored once.

use std::collections::HashMap;
use std::rc::Rc;

use foldhash::fast::RandomState;

/// Sets of nodes of the input.
#[derive(Debug, Default)]
pub(super) struct Sets {
    list: Vec<Rc<[u32]>>,
    indices: HashMap<Rc<[u32]>, u32, RandomState>,
    /// The index of the set that was stored or found last. The escapes of a text have one set.
    last: u32,
}

impl Sets {
    /// Returns the index of a set.
    pub fn intern(&mut self, nodes: &[u32]) -> u32 {
        if self.list.get(self.last as usize).is_some_and(|set| **set == *nodes) {
            return self.last;
        }
        let mut sorted = nodes.to_vec();
        sorted.sort_unstable();
        if let Some(index) = self.indices.get(sorted.as_slice()) {
            self.last = *index;
            return self.last;
        }
        let index = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        let set: Rc<[u32]> = sorted.into();
        self.list.push(Rc::clone(&set));
        self.indices.insert(set, index);
        self.last = index;
        index
    }

    /// Returns the number of sets.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the nodes of a set in the order of the input.
    pub fn get(&self, index: u32) -> &[u32] {
        self.list.get(index as usize).map_or(&[], |set| set)
    }
}
