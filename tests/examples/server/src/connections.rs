//! Accepts connections, and closes those that wait too long for their clients.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::Request;
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use lru::LruCache;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore};
use tower_service::Service;

/// The maximum number of bytes that are read from a connection before a handler asks for them. The head of a request must fit.
const BUFFER_BYTES: usize = 64 << 10;

/// Answers the requests of all connections, of which at most `count` are open at one time.
///
/// A connection waits for its client until the client has sent the head of a request, then until it has sent the body, and then until it
/// has read the answer. If one of these takes longer than `patience`, the connection is closed.
pub async fn serve(mut listener: TcpListener, router: Router, count: usize, patience: Duration) {
    let slots = Arc::new(Semaphore::new(count));
    let waiting = Waiting(Arc::new(Mutex::new(LruCache::unbounded())));
    tokio::spawn(close_late(waiting.clone(), patience));
    for id in 0.. {
        // Unlike `TcpListener::accept`, this does not return an error, and pauses if the process has too many open files.
        let (stream, _) = Listener::accept(&mut listener).await;
        if slots.available_permits() == 0 {
            // A client that is not hostile sends its request at once, so this closes the connections of hostile clients first.
            waiting.close_first(Duration::ZERO);
        }
        let slot = Arc::clone(&slots).acquire_owned().await;
        let connection = Connection {
            id,
            close: Arc::default(),
            waiting: waiting.clone(),
        };
        connection.wait();
        let router = router.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = answer_all(stream, router, &connection) => {}
                () = connection.close.notified() => {}
            }
            connection.stop_waiting();
            drop(slot);
        });
    }
}

/// Answers the requests of a connection until either side closes it.
async fn answer_all(stream: TcpStream, router: Router, connection: &Connection) {
    // Otherwise the system may keep the end of an answer back until the client has confirmed the beginning. If this fails, answers are slow.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|mut request: Request<Incoming>| {
        connection.wait();
        request.extensions_mut().insert(connection.clone());
        let answer = router.clone().call(request);
        async { Ok::<_, Infallible>(answer.await.unwrap_or_else(|never| match never {})) }
    });
    let mut builder = http1::Builder::new();
    builder.max_buf_size(BUFFER_BYTES);
    // An error is a client that has gone or does not speak HTTP.
    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
}

/// Closes each connection that waits longer than `patience`.
async fn close_late(waiting: Waiting, patience: Duration) {
    loop {
        tokio::time::sleep(patience / 10).await;
        while waiting.close_first(patience) {}
    }
}

/// A connection, as the handler of its request sees it.
#[derive(Clone)]
pub struct Connection {
    id: u64,
    close: Arc<Notify>,
    waiting: Waiting,
}

impl Connection {
    /// Notes that the connection waits for its client from now on.
    fn wait(&self) {
        self.waiting.lock().put(self.id, (Instant::now(), Arc::clone(&self.close)));
    }

    fn stop_waiting(&self) {
        self.waiting.lock().pop(&self.id);
    }

    /// Notes that the request is complete. The connection does not wait for its client until the result is dropped.
    pub fn work(self) -> Working {
        self.stop_waiting();
        Working(self)
    }
}

/// A connection whose request is being answered.
pub struct Working(Connection);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.wait();
    }
}

/// Connections by their ids, each with the time since when it waits and the means to close it. The one that has waited longest comes first.
type Entries = LruCache<u64, (Instant, Arc<Notify>)>;

/// The connections that wait for their clients.
#[derive(Clone)]
struct Waiting(Arc<Mutex<Entries>>);

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the connection that has waited longest, if it has waited for at least `time`. Returns whether it closes one.
    fn close_first(&self, time: Duration) -> bool {
        let mut waiting = self.lock();
        match waiting.peek_lru() {
            Some((_, (since, _))) if since.elapsed() >= time => {}
            _ => return false,
        }
        if let Some((_, (_, close))) = waiting.pop_lru() {
            close.notify_one();
        }
        true
    }
}
