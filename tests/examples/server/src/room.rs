//! Room in memory.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::failure::Failure;

/// The maximum number of bytes of a buffer that needs no room. Its number is bounded by that of the connections.
const SMALL_BYTES: usize = 256 << 10;

/// The maximum time that a request waits for room.
const PATIENCE: Duration = Duration::from_secs(5);

/// A number of bytes for large buffers, and a bounded number of requests that wait until there is room for theirs, the first one first.
pub struct Room {
    size: usize,
    bytes: Arc<Semaphore>,
    places: Semaphore,
}

/// The bytes of a body or an answer, and the room for them, which is freed when the buffer is dropped.
pub struct Buffer {
    pub bytes: Vec<u8>,
    _room: Option<OwnedSemaphorePermit>,
}

impl Buffer {
    /// Makes a buffer in the room that [`Room::reserve`] has returned.
    pub fn new(bytes: Vec<u8>, room: Option<OwnedSemaphorePermit>) -> Self {
        Self { bytes, _room: room }
    }
}

impl Room {
    /// Makes room for a number of bytes, for which a number of requests may wait.
    pub fn new(bytes: usize, places: usize) -> Self {
        Self {
            size: bytes,
            bytes: Arc::new(Semaphore::new(bytes)),
            places: Semaphore::new(places),
        }
    }

    /// Reserves room for a buffer, if it is not small. One that is larger than the room gets all of it.
    ///
    /// # Errors
    /// If too many requests wait already, or this one waits too long.
    pub async fn reserve(&self, bytes: usize) -> Result<Option<OwnedSemaphorePermit>, Failure> {
        if bytes <= SMALL_BYTES {
            return Ok(None);
        }
        let _place = self.places.try_acquire().map_err(|_| Failure::busy())?;
        let bytes = u32::try_from(bytes.min(self.size)).map_err(Failure::internal)?;
        let permit = timeout(PATIENCE, Arc::clone(&self.bytes).acquire_many_owned(bytes)).await;
        permit.ok().and_then(Result::ok).map(Some).ok_or_else(Failure::busy)
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}
