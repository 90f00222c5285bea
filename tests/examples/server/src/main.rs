//! Answers a chat request over HTTP with its prompt.
//!
//! ```sh
//! cargo run --release --manifest-path tests/examples/server/Cargo.toml -- tests/models/jinja 127.0.0.1:8080
//! curl 127.0.0.1:8080/v1/chat/completions -H 'content-type: application/json' \
//!     -d '{"messages": [{"role": "user", "content": "Hi"}]}'
//! ```
//!
//! It takes the bodies of OpenAI's Chat Completions (`/v1/chat/completions`) and Responses (`/v1/responses`) and of Anthropic's Messages
//! (`/v1/messages`). A body may also have `chat_template`: a name of the model's templates or the source of another one. The answer has the
//! form that the clients of OpenAI and Anthropic read, with the prompt in the place of the model's text. Beside it are `changes`, what the
//! template needed to have changed; `pieces`, for a tokenizer; and `steps`. An error is an object as in these APIs.
//!
//! # What protects it
//!
//! Any client may send any body and any template. Each guard is a constant of this file and one of these sentences:
//!
//! | guard | what it does |
//! |---|---|
//! | connections | If too many are open, the one that has waited longest for its client is closed, so idle ones do not keep others out. |
//! | patience | A connection is closed if its client takes too long to send a head or a body, or to read an answer. |
//! | size of a body | A larger body gets a 413 before it is read. |
//! | room for bodies | A large body is read only after room for it is reserved, so the bodies in memory are bounded. |
//! | room for answers | A large answer keeps its room until it is sent, so the answers to slow readers are bounded. |
//! | JSON | The crate's reader bounds the depth and the memory of the values, which `serde_json::Value` does not. |
//! | limits of the crate | Parsing, compiling, preparing and rendering have one time limit, and the template has limits on memory and output. |
//! | quick lane | A request first gets a few milliseconds, with one turn for each processor. |
//! | slow lane | A request that needs more starts again in another queue, so slow requests wait for each other only. |
//! | bounded queues | If too many requests wait in a queue, or one waits too long, it gets a 503 with `Retry-After`. |
//! | cache | Only small templates that compile are kept, and the one that was used least recently is dropped. |
//! | cancel | A render ends when its client has gone. |
//!
//! A request that reaches the time limit gets a 503 too, because it may succeed when the server has less to do. One that reaches another
//! limit gets a 400. The server takes at most 512 MiB with two processors, and 100 MiB more for each other one.

mod connections;
mod envelope;
mod failure;
mod queue;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::future::poll_fn;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Extension, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use chat_template::{
    ApplyOptions, Bounds, ChatTemplate, ControlPolicy, ControlTokens, Deadline, Format, Limits, PrepareOptions, json,
};
use hyper::body::Frame;
use lru::LruCache;
use tokio::net::TcpListener;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use connections::Connection;
use failure::Failure;
use queue::Queue;

/// The maximum number of open connections. The system's limit on open files must be higher.
const CONNECTIONS: usize = 192;

/// How long a connection waits for the head of a request, for its body, or for the client to read the answer. The clients of OpenAI and
/// Anthropic keep an unused connection for 5 seconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a body may pause.
const BODY_PATIENCE: Duration = Duration::from_secs(2);

/// The maximum number of bytes of a request's body.
const BODY_BYTES: usize = 8 << 20;

/// The maximum number of bytes of all large bodies that are being received or wait for their turn. All large answers that are being sent
/// have the same limit.
const BUFFERED_BYTES: usize = 48 << 20;

/// The maximum number of bytes of a body or an answer that is not large.
const SMALL_BYTES: usize = 64 << 10;

/// The maximum number of bytes of a prompt, and of the values that a template makes.
const PROMPT_BYTES: u64 = 4 << 20;
const LIVE_BYTES: u64 = 32 << 20;

/// The maximum number of templates of requests that are kept.
const CACHED_TEMPLATES: NonZeroUsize = NonZeroUsize::new(64).expect("the number is not zero");

/// The maximum number of bytes of a template that is kept. The largest known template is smaller. One of 1 MiB, the most that
/// `Limits::source` allows, can take tens of MiB when it is compiled.
const CACHED_BYTES: usize = 64 << 10;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("usage: chat-template-server MODEL_FOLDER [ADDRESS]")?;
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:8080".to_owned());

    let model = ChatTemplate::from_dir(folder)?;
    // A template that does not compile ends the server here, and not at the first request. The report is made once.
    model.inspect()?;
    let listener = TcpListener::bind(&address)
        .await
        .map_err(|error| format!("{address}: {error}"))?;
    println!("listening on http://{}", listener.local_addr()?);
    connections::serve(listener, router(model), CONNECTIONS, PATIENCE).await;
    Ok(())
}

/// Returns the service of a model.
fn router(model: ChatTemplate) -> Router {
    let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let server = Server {
        model,
        templates: Mutex::new(LruCache::new(CACHED_TEMPLATES)),
        limits: Limits::default().with_output(PROMPT_BYTES).with_live(LIVE_BYTES),
        quick: Lane {
            turns: Queue::new(processors, 128),
            milliseconds: 20,
        },
        slow: Lane {
            turns: Queue::new(1, 4),
            milliseconds: 300,
        },
        bodies: Queue::new(BUFFERED_BYTES, 16),
        answers: Queue::new(BUFFERED_BYTES, 2),
    };
    let answer = |format| post(move |server, connection, request| answer(server, connection, format, request));
    Router::new()
        .route("/v1/chat/completions", answer(Format::ChatCompletions))
        .route("/v1/responses", answer(Format::Responses))
        .route("/v1/messages", answer(Format::Messages))
        .with_state(Arc::new(server))
}

/// What all requests share.
struct Server {
    model: ChatTemplate,
    /// Templates that came with requests, by their source. The one that was used least recently is dropped first.
    templates: Mutex<LruCache<String, ChatTemplate>>,
    limits: Limits,
    /// The lane in which each request starts, with a turn for each processor: more at once would only slow each other down.
    quick: Lane,
    /// The lane of the requests that the time of the quick lane does not suffice for. They wait for each other, and nobody waits for them.
    slow: Lane,
    /// The bytes of large bodies.
    bodies: Queue,
    /// The bytes of large answers.
    answers: Queue,
}

/// A queue for turns, and the time of a request that has its turn.
struct Lane {
    turns: Queue,
    milliseconds: u64,
}

/// Answers a request. When the client closes the connection, hyper drops this future, and `cancel` ends the render.
async fn answer(
    State(server): State<Arc<Server>>,
    Extension(connection): Extension<Connection>,
    format: Format,
    request: Request,
) -> Result<Response, Failure> {
    let mut body = request.into_body();
    let body = match receive(&server.bodies, &mut body).await {
        Ok(body) => body,
        Err(failure) => {
            // A client reads the answer after it has sent its body.
            while let Some(Ok(_)) = next_frame(&mut body).await {}
            return Err(failure);
        }
    };

    let _working = connection.work();
    let cancel = CancelOnDrop::default();
    let job = Job {
        server: Arc::clone(&server),
        format,
        body: Arc::new(body),
        cancel: Arc::clone(&cancel.0),
    };
    let bytes = match job.run_in(&server.quick).await? {
        Err(failure) if failure.is_retryable() => job.run_in(&server.slow).await?,
        other => other,
    }?;
    let room = reserve(&server.answers, bytes.len()).await?;
    let answer = Bytes::from_owner(Buffer { bytes, _room: room });
    Ok(([(CONTENT_TYPE, "application/json")], answer).into_response())
}

/// Reads a body.
async fn receive(bodies: &Queue, body: &mut Body) -> Result<Buffer, Failure> {
    // The size of a body that comes in chunks is not known.
    let size = body.size_hint().upper().map_or(Ok(BODY_BYTES), usize::try_from);
    let size = size
        .ok()
        .filter(|size| *size <= BODY_BYTES)
        .ok_or_else(|| Failure::too_large(BODY_BYTES))?;
    let room = reserve(bodies, size).await?;
    let mut bytes = Vec::with_capacity(size);
    while let Some(frame) = next_frame(body).await {
        let data = frame?.into_data().unwrap_or_default();
        if bytes.len() + data.len() > BODY_BYTES {
            return Err(Failure::too_large(BODY_BYTES));
        }
        bytes.extend_from_slice(&data);
    }
    Ok(Buffer { bytes, _room: room })
}

/// Returns the next piece of a body, or an error if none comes.
async fn next_frame(body: &mut Body) -> Option<Result<Frame<Bytes>, Failure>> {
    let frame = poll_fn(|context| Pin::new(&mut *body).poll_frame(context));
    match timeout(BODY_PATIENCE, frame).await {
        Ok(frame) => frame.map(|frame| frame.map_err(Failure::cut_off)),
        Err(_) => Some(Err(Failure::late())),
    }
}

/// Reserves room for a large body or answer.
async fn reserve(room: &Queue, bytes: usize) -> Result<Option<OwnedSemaphorePermit>, Failure> {
    match bytes <= SMALL_BYTES {
        true => Ok(None),
        false => room.take(bytes).await.map(Some),
    }
}

/// The bytes of a body or an answer. If they are many, room for them is reserved until they are dropped.
struct Buffer {
    bytes: Vec<u8>,
    _room: Option<OwnedSemaphorePermit>,
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// A request with a complete body.
#[derive(Clone)]
struct Job {
    server: Arc<Server>,
    format: Format,
    body: Arc<Buffer>,
    cancel: Arc<AtomicBool>,
}

impl Job {
    /// Waits for a turn in a lane, and returns the answer.
    ///
    /// # Errors
    /// If the request gets no turn.
    async fn run_in(&self, lane: &Lane) -> Result<Result<Vec<u8>, Failure>, Failure> {
        let turn = lane.turns.take(1).await?;
        let (job, deadline) = (self.clone(), Deadline::new(lane.milliseconds));
        // This takes milliseconds without a pause, so it must not run on a thread that drives connections.
        let task = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            job.run(&deadline)
        });
        task.await.map_err(Failure::internal)
    }

    fn run(&self, deadline: &Deadline) -> Result<Vec<u8>, Failure> {
        let (limits, deadline, cancel) = (&self.server.limits, Some(deadline), Some(&*self.cancel));
        let bounds = Bounds {
            limits,
            deadline,
            cancel,
        };
        let body =
            json::read_bytes_within(&self.body.bytes, json::DEPTH, bounds).map_err(|error| Failure::new(&error.into(), false))?;
        let own = envelope::text(&body, "chat_template");
        let (template, name) = match own {
            Some(source) if !self.server.model.names().contains(&source) => (self.server.template(source, bounds), None),
            name => (self.server.model.clone(), name),
        };
        let fail = |error| Failure::new(&error, own.is_some());
        let options = PrepareOptions {
            format: Some(self.format),
            chat_template: name,
            limits,
            deadline,
            cancel,
            ..PrepareOptions::default()
        };
        let prepared = template.prepare_with(&body, &options).map_err(fail)?;
        let options = ApplyOptions {
            control_tokens: ControlTokens {
                policy: ControlPolicy::Split,
                ..ControlTokens::default()
            },
            limits,
            deadline,
            cancel,
            ..ApplyOptions::default()
        };
        let prompt = prepared.apply_with(&options).map_err(fail)?;
        serde_json::to_vec(&envelope::wrap(&body, &prepared, &prompt)).map_err(Failure::internal)
    }
}

impl Server {
    /// Returns the compiled template of a source, with the model's special tokens.
    fn template(&self, source: &str, bounds: Bounds<'_>) -> ChatTemplate {
        let templates = || self.templates.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(template) = templates().get(source) {
            return template.clone();
        }
        // Other requests need not wait while it compiles. What does not compile or is large is not kept.
        let template = ChatTemplate::from_source_with(source, &[], bounds);
        let template = template.with_special_tokens(self.model.special_tokens().iter().cloned());
        if source.len() <= CACHED_BYTES && template.check().is_ok() {
            templates().put(source.to_owned(), template.clone());
        }
        template
    }
}

/// A flag that is set when its request is answered or has lost its client.
#[derive(Default)]
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
