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
//! form that the clients of OpenAI and Anthropic read, with the prompt in the place of the model's text. If the body has `sampled`, which
//! is taken as what a model writes after the prompt, up to a stop token of the model, the answer has its text, its reasoning and its calls of
//! tools. What is cut or malformed stays in the text. With `stream`, Chat Completions answers with an event for each part. An error is an
//! object as in these APIs.
//!
//! | key of the answer | what it is |
//! |---|---|
//! | `changes` | what the template needed to have changed |
//! | `media` | the images, sounds, videos and files, each with the bytes of its placeholder in the prompt |
//! | `pieces` | the parts of the prompt for a tokenizer: which may have control tokens |
//! | `grammar` | what the model may write, if the body has `grammar`: `gbnf`, `lark` or `structural_tag` |
//! | `steps` | the work of the render |
//!
//! If the model's folder has a `tokenizer.json`, `/v1/messages/count_tokens` answers with the number of tokens of a body of Messages.
//!
//! # What protects it
//!
//! Any client may send any body and any template. These are the guards, whose numbers are the constants below:
//!
//! | guard | what it does |
//! |---|---|
//! | connections | If too many are open, the one that has waited longest for its client is closed, so idle clients keep nobody out. |
//! | patience | A connection is closed if its client takes too long to send a head or a body, or to read an answer. |
//! | speed | A body that pauses or comes too slowly is answered with 408, so it does not keep room from others. |
//! | size | A body that is too large is read but not kept, and answered with 413. |
//! | room for bodies | A large body is kept only if there is room for it, so many large bodies cannot take all memory. |
//! | room for answers | A large answer keeps its room until it is sent, so clients that do not read cannot take all memory. |
//! | JSON | The reader of the crate bounds the depth of a body and the memory of its values, which `serde_json::Value` does not. |
//! | time | Reading, compiling, preparing and rendering share one deadline of processor time. |
//! | memory | What a template makes, and the prompt, are bounded by the limits of the crate. |
//! | quick lane | Each request first gets a few milliseconds, on one thread for each processor. |
//! | slow lane | A request that needs more starts again on another thread, so slow requests wait only for each other. |
//! | bounded queues | A request that finds a queue full, or waits too long for room, is answered with 503 and `Retry-After`. |
//! | cache | Few templates of requests are kept, and only small ones that compile. |
//! | cancel | If the client goes, its render ends. |
//!
//! The time that the tokenizer takes is not counted. It grows with the prompt.
//!
//! A request that reaches the deadline is answered with 503, because it may succeed at another time, and one that reaches another limit with
//! 400. With two processors the server takes at most 512 MiB, and each further processor adds up to 100 MiB.
//! `tests/examples/server/load.py` sends honest and hostile requests at once and measures what becomes of the honest ones.

mod connections;
mod envelope;
mod failure;
mod lane;
mod room;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::future::poll_fn;
use std::num::NonZeroUsize;
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Extension, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use chat_template::grammar::GrammarFormat;
use chat_template::response::{Event, ParseOptions, ResponseParser, ResponseTemplate};
use chat_template::{
    Bounds, ChatTemplate, ControlPolicy, ControlTokens, Deadline, Limits, LoadOptions, PromptOptions, json,
    request::{Format, PrepareOptions, Prepared},
};
use hyper::body::Frame;
use lru::LruCache;
use serde_json::{Value, json};
use tokenizers::Tokenizer;
use tokio::net::TcpListener;
use tokio::time::timeout;

use connections::Connection;
use envelope::Answer;
use failure::Failure;
use lane::Lane;
use room::{Buffer, Room};

/// The maximum number of open connections. The system's limit on open files must be higher.
const CONNECTIONS: usize = 192;

/// How long a connection waits for the head of a request, for its body, or until the client has read the answer. It must be longer than the
/// 5 seconds for which the clients of OpenAI and Anthropic keep a connection that they do not use.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a client may pause while it sends a body.
const PAUSE: Duration = Duration::from_secs(2);

/// The minimum number of bytes per second of a body that takes longer than a pause.
const BYTES_PER_SECOND: u128 = 256 << 10;

/// The maximum number of bytes of a body.
const BODY_BYTES: usize = 8 << 20;

/// The maximum number of bytes of all large bodies together, and of all large answers together, with the number of requests that may wait
/// for room.
const ROOM_BYTES: usize = 48 << 20;
const WAITING_BODIES: usize = 16;
const WAITING_ANSWERS: usize = 2;

/// The time of a request in the quick lane in milliseconds, and the number of requests that may wait for it. Few requests of honest clients
/// take longer. Together with the others that wait, they must be fewer than the connections.
const QUICK_MILLISECONDS: u64 = 5;
const QUICK_PLACES: usize = 128;

/// The time of a request in the slow lane in milliseconds, and the number of requests that may wait for it.
const SLOW_MILLISECONDS: u64 = 150;
const SLOW_PLACES: usize = 2;

/// The maximum number of bytes of a prompt, and of the values that a template makes.
const PROMPT_BYTES: u64 = 4 << 20;
const LIVE_BYTES: u64 = 32 << 20;

/// The number of characters that the model writes at a time.
const TOKEN: usize = 4;

/// The maximum number of templates of requests that are kept.
const CACHED_TEMPLATES: NonZeroUsize = NonZeroUsize::new(16).expect("the number is not zero");

/// The maximum number of bytes of a template that is kept. The largest known template is smaller. One of 1 MiB, the most that
/// `Limits::source` allows, can take tens of MiB when it is compiled.
const CACHED_BYTES: usize = 64 << 10;

// One thread drives all connections, and the threads of the lanes do the work.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("usage: chat-template-server MODEL_FOLDER [ADDRESS]")?;
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:8080".to_owned());

    let model = ChatTemplate::from_dir(&folder, &LoadOptions::default())?;
    let path = Path::new(&folder).join("tokenizer.json");
    let tokenizer = path.exists().then(|| Tokenizer::from_file(path)).transpose();
    let tokenizer = tokenizer.map_err(|error| format!("tokenizer.json: {error}"))?;
    // A template that does not compile ends the server here, and not at the first request. How the model writes is found out once.
    model.inspect(Bounds::default())?.get::<serde_json::Value>("response")?;
    let listener = TcpListener::bind(&address)
        .await
        .map_err(|error| format!("{address}: {error}"))?;
    println!("listening on http://{}", listener.local_addr()?);
    connections::serve(listener, router(model, tokenizer)?, CONNECTIONS, PATIENCE).await;
    Ok(())
}

/// Returns the service of a model. With a tokenizer, it also counts tokens.
fn router(model: ChatTemplate, tokenizer: Option<Tokenizer>) -> Result<Router, chat_template::Error> {
    let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let stops = model.stop_tokens()?.into_iter().map(|(token, _)| token);
    let server = Server {
        stops: stops.collect(),
        model,
        tokenizer,
        templates: Mutex::new(LruCache::new(CACHED_TEMPLATES)),
        limits: Limits::default().with_output(PROMPT_BYTES).with_live(LIVE_BYTES),
        quick: Lane::new(processors, QUICK_PLACES, QUICK_MILLISECONDS),
        slow: Lane::new(1, SLOW_PLACES, SLOW_MILLISECONDS),
        bodies: Room::new(ROOM_BYTES, WAITING_BODIES),
        answers: Room::new(ROOM_BYTES, WAITING_ANSWERS),
    };
    let answer = |format, counts| post(move |server, connection, request| answer(server, connection, (format, counts), request));
    let mut router = Router::new()
        .route("/v1/chat/completions", answer(Format::ChatCompletions, false))
        .route("/v1/responses", answer(Format::Responses, false))
        .route("/v1/messages", answer(Format::Messages, false));
    if server.tokenizer.is_some() {
        router = router.route("/v1/messages/count_tokens", answer(Format::Messages, true));
    }
    Ok(router.with_state(Arc::new(server)))
}

/// What all requests share.
struct Server {
    model: ChatTemplate,
    /// What counts the tokens of a prompt.
    tokenizer: Option<Tokenizer>,
    /// The strings at which the model stops.
    stops: Vec<String>,
    /// Templates that came with requests, by their source. The one that was used least recently is dropped first.
    templates: Mutex<LruCache<String, ChatTemplate>>,
    limits: Limits,
    /// Where each request starts.
    quick: Lane,
    /// Where a request goes for which the time of the quick lane is too short.
    slow: Lane,
    bodies: Room,
    answers: Room,
}

/// Answers a request. When the client closes the connection, hyper drops this future, and `cancel` ends the render.
async fn answer(
    State(server): State<Arc<Server>>,
    Extension(connection): Extension<Connection>,
    (format, counts): (Format, bool),
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
        counts,
        body: Arc::new(body),
        cancel: Arc::clone(&cancel.0),
    };
    // The outer failure is that of the lane, which has no place, and the inner one that of the request.
    let (content_type, bytes) = match job.run_in(&server.quick).await? {
        Err(failure) if failure.is_retryable() => job.run_in(&server.slow).await?,
        other => other,
    }?;
    let room = server.answers.reserve(bytes.len()).await?;
    let answer = Bytes::from_owner(Buffer::new(bytes, room));
    Ok(([(CONTENT_TYPE, content_type)], answer).into_response())
}

/// Reads a body.
async fn receive(bodies: &Room, body: &mut Body) -> Result<Buffer, Failure> {
    // The size of a body that comes in chunks is not known.
    let size = body.size_hint().upper().map_or(Ok(BODY_BYTES), usize::try_from);
    let size = size.unwrap_or(usize::MAX);
    if size > BODY_BYTES {
        return Err(Failure::too_large(BODY_BYTES));
    }
    let room = bodies.reserve(size).await?;
    let (mut bytes, began) = (Vec::with_capacity(size), Instant::now());
    while let Some(frame) = next_frame(body).await {
        let data = frame?.into_data().unwrap_or_default();
        if bytes.len() + data.len() > BODY_BYTES {
            return Err(Failure::too_large(BODY_BYTES));
        }
        bytes.extend_from_slice(&data);
        let late = began.elapsed().saturating_sub(PAUSE);
        if (bytes.len() as u128) < late.as_millis() * BYTES_PER_SECOND / 1000 {
            return Err(Failure::late());
        }
    }
    Ok(Buffer::new(bytes, room))
}

/// Returns the next piece of a body, or an error if none comes.
async fn next_frame(body: &mut Body) -> Option<Result<Frame<Bytes>, Failure>> {
    let frame = poll_fn(|context| Pin::new(&mut *body).poll_frame(context));
    match timeout(PAUSE, frame).await {
        Ok(frame) => frame.map(|frame| frame.map_err(Failure::cut_off)),
        Err(_) => Some(Err(Failure::late())),
    }
}

/// The type and the bytes of an answer.
type Written = (&'static str, Vec<u8>);

/// A request with a complete body.
#[derive(Clone)]
struct Job {
    server: Arc<Server>,
    format: Format,
    /// Whether the answer is the number of tokens.
    counts: bool,
    body: Arc<Buffer>,
    cancel: Arc<AtomicBool>,
}

impl Job {
    /// Returns the answer that a thread of a lane makes, or its failure.
    ///
    /// # Errors
    /// If the lane has no place.
    async fn run_in(&self, lane: &Lane) -> Result<Result<Written, Failure>, Failure> {
        let job = self.clone();
        lane.run(move |deadline| job.run(deadline)).await
    }

    fn run(&self, deadline: &Deadline) -> Result<Written, Failure> {
        let bounds = Bounds::default()
            .with_limits(&self.server.limits)
            .with_deadline(deadline)
            .with_cancel(&*self.cancel);
        let body = json::Data::read_within(&self.body.bytes, bounds).map_err(|error| Failure::new(&error.into(), false))?;
        let own = envelope::text(&body, "chat_template");
        let fail = |error| Failure::new(&error, own.is_some());
        let (template, name) = match own {
            Some(source) if !self.server.model.names().contains(&source) => {
                (self.server.template(source, bounds).map_err(fail)?, None)
            }
            name => (self.server.model.clone(), name),
        };
        let options = PrepareOptions::default()
            .with_format(self.format)
            .with_chat_template(name)
            .with_bounds(bounds);
        let prepared = template.prepare_with(&body, &options).map_err(fail)?;
        let options = PromptOptions::default()
            .with_control_tokens(ControlTokens::default().with_policy(ControlPolicy::Split))
            .with_bounds(bounds);
        if let Some(tokenizer) = self.server.tokenizer.as_ref().filter(|_| self.counts) {
            let count = |text: &str| tokenizer.encode_fast(text, false).map(|tokens| tokens.len());
            let count = prepared.count(&count, &options).map_err(fail)?;
            return Ok(("application/json", json!({"input_tokens": count}).to_string().into_bytes()));
        }
        let (prompt, changes) = prepared.render_with(&options).map_err(fail)?;
        let grammar = match envelope::text(&body, "grammar").and_then(GrammarFormat::find) {
            Some(format) => prepared.grammar(format, bounds).map_err(fail)?,
            None => None,
        };
        let answer = match envelope::text(&body, "sampled") {
            Some(sampled) => {
                let sampled = self.server.stop(sampled);
                let (message, events) = parse(&template, sampled, &prompt.text, &prepared, bounds).map_err(fail)?;
                let answer = Answer::of_message(&message);
                if prepared.format() == Format::ChatCompletions && envelope::is_set(&body, "stream") {
                    let answer = envelope::stream(&body, &events, &answer);
                    return Ok(("text/event-stream", answer.into_bytes()));
                }
                answer
            }
            None => Answer::of_prompt(&prompt),
        };
        let media = prepared.place_media(&prompt, &options).map_err(fail)?;
        let mut answer = envelope::wrap(&body, prepared.format(), &prompt, (&changes, &media), &answer);
        if let Some(grammar) = grammar {
            answer["grammar"] = serde_json::to_value(grammar).map_err(Failure::internal)?;
        }
        let bytes = serde_json::to_vec(&answer).map_err(Failure::internal)?;
        Ok(("application/json", bytes))
    }
}

/// Returns the message that the text of the model is, by the description that the model declares, or else by one that is derived from the
/// template. Also returns what was found in the text while it came, a few characters at a time.
fn parse(
    template: &ChatTemplate,
    sampled: &str,
    prompt: &str,
    prepared: &Prepared<'_>,
    bounds: Bounds<'_>,
) -> Result<(Value, Vec<Event>), chat_template::Error> {
    let tools = serde_json::to_value(prepared.tools()).ok().filter(Value::is_array);
    let options = ParseOptions::default()
        .with_prefix(prompt)
        .with_tools(tools.as_ref())
        .with_lenient(true)
        .with_bounds(bounds);
    let derived = match template.response_template()? {
        Some(_) => None,
        None => template.inspect(bounds)?.get("response.template")?,
    };
    let derived = derived
        .map(|description| ResponseTemplate::new_with(&description, bounds))
        .transpose()?;
    let Some(description) = derived.as_ref().or(template.response_template()?) else {
        let (field, bytes) = ("content".to_owned(), 0..sampled.len());
        let (text, dirty) = (sampled.to_owned(), false);
        return Ok((
            json!({"content": sampled}),
            vec![Event::Chunk {
                field,
                text,
                dirty,
                bytes,
            }],
        ));
    };
    let mut parser = ResponseParser::new(description, &options)?;
    let (mut events, mut rest) = (parser.take_first_events(), sampled);
    while !rest.is_empty() {
        let end = rest.char_indices().nth(TOKEN).map_or(rest.len(), |(at, _)| at);
        let (token, after) = rest.split_at(end);
        events.extend(parser.feed(token)?);
        rest = after;
    }
    let (message, last) = parser.finish()?;
    events.extend(last);
    // An integer of more than 128 bits becomes a float.
    let message = serde_json::from_str(&json::Data::Object(message).to_string());
    Ok((message.unwrap_or_default(), events))
}

impl Server {
    /// Returns what the model writes up to the first stop token, which its description reads.
    fn stop<'s>(&self, sampled: &'s str) -> &'s str {
        let found = self.stops.iter().filter_map(|stop| Some((sampled.find(stop)?, stop.len())));
        let end = found.min().map_or(sampled.len(), |(at, length)| at + length);
        sampled.get(..end).unwrap_or_default()
    }

    /// Returns the compiled template of a source, with the model's special tokens.
    fn template(&self, source: &str, bounds: Bounds<'_>) -> Result<ChatTemplate, chat_template::Error> {
        let templates = || self.templates.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(template) = templates().get(source) {
            return Ok(template.clone());
        }
        // Other requests need not wait while it compiles. What is large is not kept.
        let template = ChatTemplate::from_source_with(source, &[], bounds)?;
        let template = template.with_special_tokens(self.model.special_tokens().iter().cloned());
        if source.len() <= CACHED_BYTES {
            templates().put(source.to_owned(), template.clone());
        }
        Ok(template)
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
