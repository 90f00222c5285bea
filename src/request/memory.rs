//! What is remembered of the requests of a template: the plan of each sketch.
//!
//! The plan of a [`Sketch`] depends on nothing else, so what is remembered saves time and changes no prompt.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use foldhash::fast::RandomState;

use super::plan::{Kinds, Plan};
use super::sketch::{Sketch, TAG};
use super::write::MediaSet;

/// The most sketches that are remembered. When there are more, all are forgotten.
const MOST: usize = 256;

/// A plan that was found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Found {
    pub plan: Plan,
    /// The kinds of faults that it leaves.
    pub faults: Kinds,
    /// The groups of media of which its prompts have nothing.
    pub lost_media: MediaSet,
    /// Whether media of one group are in its prompts and others are not, so that each prompt takes renders to judge them.
    pub judges_media: bool,
    /// Whether it takes a trace to judge its prompts.
    pub needs_trace: bool,
    /// Whether it was found with a sketch that the template refuses as it is. It may do so for the words of the sketch.
    pub tries_neutral: bool,
}

/// What a search found for a sketch.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// The plan, or `None` if the template takes the sketch in no form.
    pub found: Option<Found>,
    /// The steps that the search took. Each request with the sketch is charged for them, so that no limit depends on earlier requests.
    pub steps: u64,
}

/// The plans of sketches.
#[derive(Debug, Default)]
pub struct Memory {
    plans: Mutex<HashMap<Sketch, Known, RandomState>>,
    /// Whether the template has the tag of thoughts, which many templates look for in answers.
    has_tag: OnceLock<bool>,
}

impl Memory {
    /// Returns whether a template has the tag of thoughts.
    pub fn has_tag(&self, source: &str) -> bool {
        *self.has_tag.get_or_init(|| source.contains(TAG))
    }

    pub fn find(&self, sketch: &Sketch) -> Option<Known> {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner).get(sketch).copied()
    }

    pub fn add(&self, sketch: Sketch, known: Known) {
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if plans.len() >= MOST {
            plans.clear();
        }
        plans.insert(sketch, known);
    }
}
