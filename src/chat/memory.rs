//! What is remembered of the requests of a template: how requests of each shape were written.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};
use std::sync::{Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;

/// The most shapes that are remembered. When there are more, all are forgotten.
const MOST_SHAPES: usize = 256;

/// The number of last plans that are tried for a new shape.
const RECENT: usize = 3;

/// The number of choices of a plan.
pub(crate) const CHOICES: usize = 20;

/// How a request is written: a value for each choice.
pub(crate) type Choices = [u8; CHOICES];

/// How much of a request is lost: the lower, the better.
pub(crate) type Score = (u32, u32, u32, u32);

/// The plans for the shapes of requests, and the last plans. A clone begins empty.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    hasher: RandomState,
    plans: Mutex<Plans>,
}

/// What is known of a shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub choices: Choices,
    pub score: Score,
    /// Whether it takes a trace to judge its prompts.
    pub needs_trace: bool,
}

#[derive(Debug, Default)]
struct Plans {
    known: HashMap<u64, Known>,
    recent: Vec<Choices>,
}

impl Clone for Memory {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Memory {
    /// Returns the key of a shape.
    pub fn hash(&self, shape: &impl Hash) -> u64 {
        self.hasher.hash_one(shape)
    }

    /// Returns the plan for a shape.
    pub fn find(&self, shape: u64) -> Option<Known> {
        self.lock().known.get(&shape).copied()
    }

    /// Returns the last plans.
    pub fn recent(&self) -> Vec<Choices> {
        self.lock().recent.clone()
    }

    /// Remembers the plan for a shape, and if it is of use for other shapes, as the last plan.
    pub fn add(&self, shape: u64, plan: Choices, score: Score, is_general: bool) {
        let mut plans = self.lock();
        if plans.known.len() >= MOST_SHAPES {
            plans.known.clear();
        }
        let known = Known {
            choices: plan,
            score,
            needs_trace: false,
        };
        plans.known.insert(shape, known);
        if is_general {
            plans.recent.retain(|other| *other != plan);
            plans.recent.insert(0, plan);
            plans.recent.truncate(RECENT);
        }
    }

    /// Remembers that it takes a trace to judge the prompts of a shape.
    pub fn need_trace(&self, shape: u64) {
        if let Some(known) = self.lock().known.get_mut(&shape) {
            known.needs_trace = true;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Plans> {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
