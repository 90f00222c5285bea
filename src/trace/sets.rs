//! Sets of nodes, each stored once.

use std::collections::HashMap;
use std::rc::Rc;

/// Sets of nodes of the input.
#[derive(Debug, Default)]
pub(super) struct Sets {
    list: Vec<Rc<[u32]>>,
    indices: HashMap<Rc<[u32]>, u32>,
}

impl Sets {
    /// Returns the index of a set.
    pub fn intern(&mut self, nodes: &[u32]) -> u32 {
        let mut sorted = nodes.to_vec();
        sorted.sort_unstable();
        if let Some(index) = self.indices.get(sorted.as_slice()) {
            return *index;
        }
        let index = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        let set: Rc<[u32]> = sorted.into();
        self.list.push(Rc::clone(&set));
        self.indices.insert(set, index);
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
