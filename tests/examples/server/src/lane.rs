//! Threads for work that takes milliseconds without a pause, which must not run on a thread that drives connections.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use chat_template::Deadline;
use tokio::sync::oneshot;

use crate::failure::Failure;

type Job = Box<dyn FnOnce() + Send>;

/// Threads with a bounded queue, and the time limit of their jobs. A lane does not share its threads, because the system's allocator keeps
/// freed memory for the thread that has allocated it.
pub struct Lane {
    queue: SyncSender<Job>,
    milliseconds: u64,
}

impl Lane {
    /// Starts a number of threads, for which a number of jobs may wait. A job may take this number of milliseconds of processor time.
    pub fn new(threads: usize, places: usize, milliseconds: u64) -> Self {
        let (queue, jobs) = sync_channel(places);
        let jobs = Arc::new(Mutex::new(jobs));
        for _ in 0..threads {
            let jobs = Arc::clone(&jobs);
            thread::spawn(move || {
                while let Some(job) = next(&jobs) {
                    // After a panic, the thread goes on, and the caller sees that the answer is missing.
                    let _ = catch_unwind(AssertUnwindSafe(job));
                }
            });
        }
        Self { queue, milliseconds }
    }

    /// Runs a job and returns its result.
    ///
    /// # Errors
    /// If too many jobs wait.
    pub async fn run<T: Send + 'static>(&self, job: impl FnOnce(&Deadline) -> T + Send + 'static) -> Result<T, Failure> {
        let (sender, result) = oneshot::channel();
        let milliseconds = self.milliseconds;
        let job = move || {
            // If the client has gone, nobody takes the result.
            let _ = sender.send(job(&Deadline::new(milliseconds)));
        };
        self.queue.try_send(Box::new(job)).map_err(|_| Failure::busy())?;
        result.await.map_err(Failure::internal)
    }
}

fn next(jobs: &Mutex<Receiver<Job>>) -> Option<Job> {
    jobs.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}
