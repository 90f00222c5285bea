//! The origins of a string that is made from several others.
//!
//! ```text
//! {{ (m.role + m.content)|upper }}   ->   made from /messages/0/role and /messages/0/content
//! ```

use super::paths::{Paths, ROOT};
use super::source::PieceOrigin;

/// The maximum number of paths of a union.
const MAX_PATHS: usize = 8;

/// The depth of a path up to which it is added to a union without charge. Each further step is charged.
const USUAL_DEPTH: usize = 8;

/// The origins that a string was made from.
#[derive(Debug, Default)]
pub struct Union {
    /// Paths of the input, at most eight. None is within another.
    pub(super) paths: Vec<u32>,
    /// The path that was inserted last. The strings of one value often have the same path.
    last: Option<u32>,
    /// The number of steps that are to be charged for the paths that were added. A path of at most [`USUAL_DEPTH`] costs none.
    steps: u64,
    /// The origin that has no path: the template or a token.
    pub(super) rest: Option<PieceOrigin>,
}

impl Union {
    /// Returns the number of steps to charge for the paths that were added since the last call.
    pub fn take_steps(&mut self) -> u64 {
        std::mem::take(&mut self.steps)
    }

    /// Adds a path.
    pub(super) fn insert(&mut self, paths: &Paths, path: u32) {
        if self.last.replace(path) == Some(path) {
            return;
        }
        let steps = paths.depth(path).saturating_sub(USUAL_DEPTH);
        self.steps = self.steps.saturating_add(steps as u64);
        if self.holds(paths, path) {
            return;
        }
        self.paths.retain(|other| !paths.is_within(*other, path));
        self.paths.push(path);
        while self.paths.len() > MAX_PATHS {
            let deepest = self.paths.iter().copied().max_by_key(|path| paths.depth(*path));
            let container = deepest.map_or(ROOT, |path| paths.parent(path));
            // No path is deeper than this one, so all paths within the container are one step below it.
            self.paths.retain(|other| paths.parent(*other) != container);
            self.paths.push(container);
        }
    }

    /// Returns whether the union has a path or a container of it.
    fn holds(&self, paths: &Paths, mut path: u32) -> bool {
        loop {
            match self.paths.contains(&path) {
                false if path != ROOT => path = paths.parent(path),
                holds => return holds,
            }
        }
    }
}
