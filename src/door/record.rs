//! Records the changes of a body, and counts the work and the memory of what is made from it.

use std::borrow::Cow;

use super::change::{Changes, What};
use super::node::Node;
use crate::deadline::Deadline;
use crate::error::Result;
use crate::json::{DEPTH, Data};
use crate::limits::Limits;
use crate::meter::{Claim, Meter};

/// The bytes that a value takes, with its key.
const VALUE_BYTES: usize = 64;

/// The bytes that a change takes, with the texts of its path and its reason.
const CHANGE_BYTES: usize = 128;

/// The steps of writing the path of a change.
const CHANGE_STEPS: u64 = 2;

/// The number of bytes that are claimed at once.
const PART: usize = 64 << 10;

/// The changes of a body, and the meter of the work and the memory that they take.
pub struct Recorder<'m> {
    changes: Changes,
    meter: Meter<'m>,
    claims: Claims,
}

/// What preparing a body took.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    steps: u64,
    /// The bytes of the values and changes that were made from the body.
    pub bytes: u64,
}

impl Cost {
    /// Returns limits for the render, during which the values and changes are in memory.
    pub fn reduce(&self, limits: &Limits) -> Limits {
        let (steps, live) = (
            limits.steps.saturating_sub(self.steps),
            limits.live.saturating_sub(self.bytes),
        );
        limits.clone().with_steps(steps).with_live(live)
    }
}

/// Memory that is claimed in parts, because most values are smaller than what a claim of its own would take.
#[derive(Debug, Default)]
pub struct Claims {
    bytes: usize,
    parts: Vec<Claim>,
}

impl Claims {
    /// Claims memory. The last bytes that are no whole part are not claimed yet.
    #[inline]
    pub fn add(&mut self, bytes: usize, meter: &mut Meter<'_>) -> Result<()> {
        self.bytes = self.bytes.saturating_add(bytes);
        while self.parts.len() < self.bytes / PART {
            self.parts.push(meter.claim(PART)?);
        }
        Ok(())
    }

    /// Returns the number of bytes that are claimed.
    fn claimed(&self) -> u64 {
        self.parts.len().saturating_mul(PART) as u64
    }
}

impl<'m> Recorder<'m> {
    pub fn new(meter: Meter<'m>) -> Self {
        Self {
            changes: Changes::default(),
            meter,
            claims: Claims::default(),
        }
    }

    /// Adds a change.
    pub fn add(&mut self, path: String, what: What, why: impl Into<Cow<'static, str>>) -> Result<()> {
        self.meter.charge(CHANGE_STEPS)?;
        self.claim(CHANGE_BYTES)?;
        self.changes.add(path, what, why);
        Ok(())
    }

    /// Adds the change that a value of the body is not in the prompt.
    pub fn drop_value(&mut self, value: Node<'_>, path: String, why: impl Into<Cow<'static, str>>) -> Result<()> {
        self.add(path, What::Dropped, why)?;
        self.changes.add_dropped(value);
        Ok(())
    }

    /// Counts the work of looking at a value of the body, and claims memory for what is noted of it.
    #[inline]
    pub fn visit(&mut self, bytes: usize) -> Result<()> {
        self.meter.charge(1)?;
        self.claim(bytes)
    }

    /// Counts the work of visiting a number of entries.
    pub fn charge_items(&mut self, count: usize) -> Result<()> {
        self.meter.charge_items(count)
    }

    /// Counts the work of reading a text of the body as JSON.
    pub fn charge_scan(&mut self, text: &str) -> Result<()> {
        self.meter.charge_scan(text.len())
    }

    /// Claims memory.
    #[inline]
    pub fn claim(&mut self, bytes: usize) -> Result<()> {
        self.claims.add(bytes, &mut self.meter)
    }

    /// Claims the memory of a number of new values.
    pub fn claim_values(&mut self, count: usize) -> Result<()> {
        self.claim(count.saturating_mul(VALUE_BYTES))
    }

    /// Claims the memory of a number of values until the claims are dropped.
    pub fn hold_values(&mut self, count: usize) -> Result<Claims> {
        let mut claims = Claims::default();
        claims.add(count.saturating_mul(VALUE_BYTES), &mut self.meter)?;
        Ok(claims)
    }

    /// Returns the deadline of preparing the body, if the time is limited.
    pub fn deadline(&self) -> Option<&'m Deadline> {
        self.meter.deadline()
    }

    /// Counts the work of copying a value, and claims the memory of the copy.
    pub fn reserve(&mut self, node: Node<'_>) -> Result<()> {
        let count = node.count_values(DEPTH);
        self.meter.charge_items(count)?;
        self.claim_values(count)
    }

    /// Returns a copy of a value of the body, whose texts are borrowed.
    pub fn copy<'b>(&mut self, node: Node<'b>) -> Result<Data<'b>> {
        self.reserve(node)?;
        Ok(node.to_data(DEPTH))
    }

    /// Returns the changes, and what they and the values took.
    pub fn finish(mut self) -> (Changes, Cost) {
        self.changes.sort_dropped();
        let cost = Cost {
            steps: self.meter.steps(),
            bytes: self.claims.claimed(),
        };
        (self.changes, cost)
    }
}
