//! Bounded queues.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::failure::Failure;

/// The maximum time that a request waits in a queue.
const PATIENCE: Duration = Duration::from_secs(5);

/// Permits, and a bounded number of requests that wait for them, the first one first.
pub struct Queue {
    permits: Arc<Semaphore>,
    places: Semaphore,
}

impl Queue {
    /// Makes a queue for permits, in which a number of requests may wait.
    pub fn new(permits: usize, places: usize) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(permits)),
            places: Semaphore::new(places),
        }
    }

    /// Waits for a number of permits.
    ///
    /// # Errors
    /// If too many requests wait already, or this one waits too long.
    pub async fn take(&self, permits: usize) -> Result<OwnedSemaphorePermit, Failure> {
        let _place = self.places.try_acquire().map_err(|_| Failure::busy())?;
        let permits = u32::try_from(permits).map_err(Failure::internal)?;
        let taken = timeout(PATIENCE, Arc::clone(&self.permits).acquire_many_owned(permits)).await;
        taken.ok().and_then(Result::ok).ok_or_else(Failure::busy)
    }
}
