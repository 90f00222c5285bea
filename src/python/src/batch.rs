//! Works on many items on all processors. `Ctrl-C` ends a batch.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use chat_template::{Error, ErrorKind};
use pyo3::prelude::*;

/// The number of conversations that a thread takes at a time.
const CHUNK: usize = 16;

/// How often the calling thread looks for a signal and for the flag of the caller.
const PAUSE: Duration = Duration::from_millis(20);

/// Returns the results of work on items, in their order, or `None` for those that were not reached before the flag was set. The work gets a
/// flag that a signal or the caller's flag sets.
pub fn map<T: Sync, R: Send>(
    py: Python<'_>,
    items: &[T],
    flag: Option<&AtomicBool>,
    work: impl Fn(&T, &AtomicBool) -> R + Sync + Send,
) -> PyResult<Vec<Option<R>>> {
    py.detach(move || {
        let (cancel, next) = (AtomicBool::new(false), AtomicUsize::new(0));
        let work = || {
            let mut done = Vec::new();
            while !cancel.load(Ordering::Relaxed) {
                let start = next.fetch_add(CHUNK, Ordering::Relaxed);
                let Some(chunk) = items
                    .get(start..items.len().min(start.saturating_add(CHUNK)))
                    .filter(|chunk| !chunk.is_empty())
                else {
                    break;
                };
                for (index, item) in (start..).zip(chunk) {
                    done.push((index, work(item, &cancel)));
                }
            }
            done
        };
        let threads = thread::available_parallelism()
            .map_or(1, usize::from)
            .min(items.len().div_ceil(CHUNK))
            .max(1);
        let (parts, signal) = thread::scope(|scope| {
            let (sender, receiver) = channel::<()>();
            let workers: Vec<_> = (0..threads)
                .map(|_| {
                    let (sender, work) = (sender.clone(), &work);
                    scope.spawn(move || {
                        let done = work();
                        drop(sender);
                        done
                    })
                })
                .collect();
            drop(sender);
            let mut signal = None;
            while receiver.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                if let Err(raised) = Python::attach(|py| py.check_signals()) {
                    signal = Some(raised);
                    cancel.store(true, Ordering::Relaxed);
                }
                if flag.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                    cancel.store(true, Ordering::Relaxed);
                }
            }
            let parts: Vec<_> = workers.into_iter().map(|worker| worker.join().unwrap_or_default()).collect();
            (parts, signal)
        });
        if let Some(signal) = signal {
            return Err(signal);
        }
        let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
        for (index, result) in parts.into_iter().flatten() {
            if let Some(place) = results.get_mut(index) {
                *place = Some(result);
            }
        }
        Ok(results)
    })
}

/// Returns the error of an item that was not reached.
pub fn cancelled() -> Error {
    Error::new(ErrorKind::Limit, "the batch was cancelled")
}
