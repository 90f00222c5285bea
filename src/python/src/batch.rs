//! Renders many conversations on all processors. `Ctrl-C` ends a batch.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use chat_template::{ChatTemplate, Error, ErrorKind, Prompt, Result};
use pyo3::prelude::*;

use crate::call::{Row, Wanted};
use crate::error::guard;
use crate::options::Options;

/// The number of conversations that a thread takes at a time.
const CHUNK: usize = 16;

/// How often the calling thread looks for a signal and for the flag of the caller.
const PAUSE: Duration = Duration::from_millis(20);

/// Returns the prompts or the errors of conversations, in their order.
pub fn render(
    py: Python<'_>,
    template: &ChatTemplate,
    rows: Vec<Row>,
    options: &Options,
    wanted: Wanted,
) -> PyResult<Vec<Result<Prompt>>> {
    py.detach(move || {
        let (cancel, next) = (AtomicBool::new(false), AtomicUsize::new(0));
        let work = || {
            let mut done = Vec::new();
            while !cancel.load(Ordering::Relaxed) {
                let start = next.fetch_add(CHUNK, Ordering::Relaxed);
                let Some(chunk) = rows
                    .get(start..rows.len().min(start.saturating_add(CHUNK)))
                    .filter(|chunk| !chunk.is_empty())
                else {
                    break;
                };
                for (index, row) in (start..).zip(chunk) {
                    done.push((index, guard(|| row.render(template, options, (wanted, Some(&cancel))))));
                }
            }
            done
        };
        let threads = thread::available_parallelism()
            .map_or(1, usize::from)
            .min(rows.len().div_ceil(CHUNK))
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
                if options
                    .allowed
                    .cancel
                    .as_ref()
                    .is_some_and(|flag| flag.load(Ordering::Relaxed))
                {
                    cancel.store(true, Ordering::Relaxed);
                }
            }
            let parts: Vec<_> = workers.into_iter().map(|worker| worker.join().unwrap_or_default()).collect();
            (parts, signal)
        });
        if let Some(signal) = signal {
            return Err(signal);
        }
        let cancelled = || Err(Error::new(ErrorKind::Limit, "the batch was cancelled"));
        let mut results: Vec<Result<Prompt>> = rows.iter().map(|_| cancelled()).collect();
        for (index, result) in parts.into_iter().flatten() {
            if let Some(place) = results.get_mut(index) {
                *place = result;
            }
        }
        Ok(results)
    })
}
