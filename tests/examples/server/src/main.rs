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

mod envelope;
mod failure;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::rejection::JsonRejection;
use axum::extract::{DefaultBodyLimit, State};
use axum::routing::post;
use axum::{Json, Router};
use chat_template::{ApplyOptions, ChatTemplate, ControlPolicy, ControlTokens, Format, Limits, PrepareOptions};
use lru::LruCache;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use failure::Failure;

/// The maximum number of bytes of a request's body.
const BODY_BYTES: usize = 8 << 20;

/// The maximum number of templates of requests that are kept.
const CACHED_TEMPLATES: NonZeroUsize = NonZeroUsize::new(64).expect("the number is not zero");

/// The maximum number of bytes of a template that is kept. The largest known template is smaller. One of 1 MiB, the most that
/// `Limits::source` allows, can take tens of MiB when it is compiled.
const CACHED_BYTES: usize = 64 << 10;

/// The maximum number of milliseconds of a render.
const RENDER_MILLISECONDS: u64 = 500;

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
    axum::serve(listener, router(model)).await?;
    Ok(())
}

/// Returns the service of a model.
fn router(model: ChatTemplate) -> Router {
    let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let server = Server {
        model,
        templates: Mutex::new(LruCache::new(CACHED_TEMPLATES)),
        limits: Limits::default().with_milliseconds(RENDER_MILLISECONDS),
        renders: Arc::new(Semaphore::new(processors)),
    };
    let answer = |format| post(move |server, body| answer(server, format, body));
    Router::new()
        .route("/v1/chat/completions", answer(Format::ChatCompletions))
        .route("/v1/responses", answer(Format::Responses))
        .route("/v1/messages", answer(Format::Messages))
        .layer(DefaultBodyLimit::max(BODY_BYTES))
        .with_state(Arc::new(server))
}

/// What all requests share.
struct Server {
    model: ChatTemplate,
    /// Templates that came with requests, by their source. The one that was used least recently is dropped first.
    templates: Mutex<LruCache<String, ChatTemplate>>,
    limits: Limits,
    /// One permit for each processor: more renders at once would only slow each other down.
    renders: Arc<Semaphore>,
}

/// Answers a request. When the client closes the connection, axum drops this future, and `cancel` ends the render.
async fn answer(
    State(server): State<Arc<Server>>,
    format: Format,
    body: Result<Json<Value>, JsonRejection>,
) -> Result<Json<Value>, Failure> {
    let Json(body) = body?;
    let cancel = CancelOnDrop::default();
    let flag = Arc::clone(&cancel.0);
    let permit = Arc::clone(&server.renders).acquire_owned().await;
    // A render takes up to RENDER_MILLISECONDS without a pause, so it must not run on a thread that drives connections.
    let task = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        server.prompt(&body, format, &flag)
    });
    Ok(Json(task.await.map_err(Failure::internal)??))
}

impl Server {
    /// Returns the answer with the prompt of a request.
    fn prompt(&self, body: &Value, format: Format, cancel: &AtomicBool) -> Result<Value, Failure> {
        let own = body.get("chat_template").and_then(Value::as_str);
        let (template, name) = match own {
            Some(source) if !self.model.names().contains(&source) => (self.template(source), None),
            name => (self.model.clone(), name),
        };
        let fail = |error| Failure::new(&error, own.is_some());
        // The first request with a template inspects it, which may take longer than a render.
        let options = PrepareOptions {
            format: Some(format),
            chat_template: name,
            cancel: Some(cancel),
            ..PrepareOptions::default()
        };
        let prepared = template.prepare_with(body, &options).map_err(fail)?;
        let options = ApplyOptions {
            limits: &self.limits,
            cancel: Some(cancel),
            control_tokens: ControlTokens {
                policy: ControlPolicy::Split,
                ..ControlTokens::default()
            },
            ..ApplyOptions::default()
        };
        let prompt = prepared.apply_with(&options).map_err(fail)?;
        Ok(envelope::wrap(body, &prepared, &prompt))
    }

    /// Returns the compiled template of a source, with the model's special tokens.
    fn template(&self, source: &str) -> ChatTemplate {
        let templates = || self.templates.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(template) = templates().get(source) {
            return template.clone();
        }
        // Other requests need not wait while it compiles. What does not compile or is large is not kept.
        let template = ChatTemplate::from_source(source, &[]).with_special_tokens(self.model.special_tokens().iter().cloned());
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
