//! Time limits. One limit holds for everything that a call does, and can hold for several calls.
//!
//! ```text
//! let deadline = Deadline::new(50);            made once for a request
//! json::Data::read_within(body, &deadline)    reading counts
//! template.apply(&messages, &options)          rendering counts too, with `deadline: Some(&deadline)`
//! ```

mod bounds;

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

pub use bounds::Bounds;
pub(crate) use bounds::Watch;

use crate::clock;
use crate::limits::{Limit, LimitExceeded, Limits};

/// A time limit that several calls share, such as those that read, prepare and render one request.
///
/// Without one, each call has [`Limits::milliseconds`] for itself. With one, the limit is that of the deadline, for all calls together.
///
/// The time is the processor time of the threads that work on the calls, so a busy machine does not shorten it. Each thread counts only
/// while it is in a call. On platforms without such a clock (all but Unix) the time is wall time, and `wasm32-unknown-unknown` has no
/// clock at all.
///
/// ```
/// use chat_template::{ApplyOptions, ChatTemplate, Deadline, json};
///
/// let template = ChatTemplate::from_source("{% for m in messages %}{{ m.content }}{% endfor %}", &[])?;
/// let deadline = Deadline::new(500);
/// let messages = json::Data::read_within(r#"[{"role": "user", "content": "Hi"}]"#, &deadline)?;
/// let options = ApplyOptions::default().with_bounds(&deadline);
/// assert_eq!(template.apply(&messages, &options)?.text, "Hi");
/// # Ok::<(), chat_template::Error>(())
/// ```
///
/// A limit on wall time is a thread that sets the flag `cancel`, unless the call ends first:
///
/// ```
/// use std::sync::{Arc, atomic::AtomicBool, atomic::Ordering, mpsc};
/// use chat_template::{Bounds, RenderOptions, Template};
///
/// let (cancel, (done, wait)) = (Arc::new(AtomicBool::new(false)), mpsc::channel::<()>());
/// let flag = Arc::clone(&cancel);
/// std::thread::spawn(move || match wait.recv_timeout(std::time::Duration::from_secs(1)) {
///     Err(mpsc::RecvTimeoutError::Timeout) => flag.store(true, Ordering::Relaxed),
///     _ => {}
/// });
/// let bounds = Bounds::default().with_cancel(&*cancel);
/// let options = RenderOptions::default().with_bounds(bounds);
/// let rendered = Template::compile("Hi")?.render(&serde_json::json!({}), &options)?;
/// drop(done);
/// assert_eq!(rendered.text, "Hi");
/// # Ok::<(), chat_template::Error>(())
/// ```
pub struct Deadline {
    milliseconds: Option<u64>,
    is_over: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The time that was counted so far.
    spent: Duration,
    /// The threads that are in a call.
    threads: HashMap<ThreadId, Working>,
}

/// A thread that is in a call.
#[derive(Default)]
struct Working {
    /// The time of the thread up to which [`Deadline::spent`] includes it, or `None` before the first check, because most calls end before
    /// it.
    counted: Option<Duration>,
    /// The number of nested calls in which the thread is.
    calls: usize,
}

impl State {
    fn this_thread(&mut self) -> &mut Working {
        self.threads.entry(thread::current().id()).or_default()
    }

    /// Adds the time of this thread since it was last counted, and returns the sum. The first call on a thread adds nothing.
    fn count(&mut self) -> Duration {
        let now = clock::thread_time();
        let counted = self.this_thread().counted.replace(now);
        let passed = counted.map_or(Duration::ZERO, |counted| now.saturating_sub(counted));
        self.spent = self.spent.saturating_add(passed);
        self.spent
    }
}

impl Deadline {
    /// Returns a deadline after a number of milliseconds of work. `None` means no limit.
    pub fn new(milliseconds: impl Into<Option<u64>>) -> Self {
        let milliseconds = milliseconds.into();
        Self {
            milliseconds,
            is_over: AtomicBool::new(milliseconds == Some(0)),
            state: Mutex::default(),
        }
    }

    /// Counts the processor time of this thread, from the first check until the returned value is dropped.
    #[doc(hidden)]
    pub fn start(&self) -> Running<'_> {
        if self.is_limited() {
            let mut state = self.lock();
            let thread = state.this_thread();
            thread.calls += 1;
        }
        Running { deadline: self }
    }

    /// Returns the number of milliseconds, if there is a limit.
    pub fn milliseconds(&self) -> Option<u64> {
        self.milliseconds
    }

    /// Returns the time that was counted so far, without that since the last check.
    pub fn spent(&self) -> Duration {
        self.lock().spent
    }

    /// Returns an error if the time is over, or would be over after work that is expected to take some time. The time of a thread that is
    /// not in a call is counted from its first check.
    #[doc(hidden)]
    pub fn check(&self, expected: Duration) -> Result<(), LimitExceeded> {
        let Some(allowed) = self.milliseconds else {
            return Ok(());
        };
        let spent = self.lock().count();
        let passed = u64::try_from(spent.saturating_add(expected).as_millis()).unwrap_or(u64::MAX);
        if passed < allowed {
            return Ok(());
        }
        self.is_over.store(true, Ordering::Relaxed);
        Err(LimitExceeded::new(Limit::Milliseconds, passed, allowed))
    }

    /// Returns whether there is a limit.
    pub(crate) fn is_limited(&self) -> bool {
        self.milliseconds.is_some()
    }

    /// Returns whether a check has found that the time is over, or no time is allowed at all.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a deadline with the time limit of these limits.
impl From<&Limits> for Deadline {
    fn from(limits: &Limits) -> Self {
        Self::new(limits.milliseconds)
    }
}

impl fmt::Debug for Deadline {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Deadline");
        shown.field("milliseconds", &self.milliseconds).field("spent", &self.spent());
        shown.finish_non_exhaustive()
    }
}

/// Counts the processor time of a thread for a [`Deadline`] until it is dropped.
#[derive(Debug)]
#[must_use = "the time counts until this is dropped"]
pub struct Running<'d> {
    deadline: &'d Deadline,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.deadline.is_limited() {
            return;
        }
        let mut state = self.deadline.lock();
        let thread = state.this_thread();
        thread.calls = thread.calls.saturating_sub(1);
        if thread.calls == 0 {
            if thread.counted.is_some() {
                state.count();
            }
            state.threads.remove(&thread::current().id());
        }
    }
}
