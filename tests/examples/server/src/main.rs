//! Answers a chat request over HTTP with its prompt.
//!
//! ```sh
//! cargo run --release --manifest-path tests/examples/server/Cargo.toml -- tests/models/jinja 127.0.0.1:8080
//! curl 127.0.0.1:8080/v1/chat/completions/render -H 'content-type: application/json' \
//!     -d '{"messages": [{"role": "user", "content": "Hi"}]}'
//! ```
//!
//! The body is that of a chat completion. It may also have `documents`, `add_generation_prompt`, `continue_final_message`,
//! `chat_template_kwargs`, and `chat_template`: a name of the model's templates or the source of another one. Other fields, such as
//! `model` and `temperature`, are ignored. The answer is `{"prompt": "…", "steps": 42}`; an error is an object as in OpenAI's API.

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
use chat_template::{ApplyOptions, ChatTemplate, ContinueFinalMessage, Limits, Prompt};
use lru::LruCache;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use failure::Failure;

/// The most bytes of a request's body.
const BODY_BYTES: usize = 8 << 20;

/// The most templates of requests that are kept. The source of each has at most 1 MiB (`Limits::source`).
const CACHED_TEMPLATES: NonZeroUsize = NonZeroUsize::new(64).expect("the number is not zero");

/// The most milliseconds of a render.
const RENDER_MILLISECONDS: u64 = 500;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("usage: chat-template-server MODEL_FOLDER [ADDRESS]")?;
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:8080".to_owned());

    let model = ChatTemplate::from_dir(folder)?;
    // A template that does not compile ends the server here, and not at the first request.
    model.check()?;
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
    Router::new()
        .route("/v1/chat/completions/render", post(render))
        .layer(DefaultBodyLimit::max(BODY_BYTES))
        .with_state(Arc::new(server))
}

/// The fields of a request's body that a prompt depends on.
#[derive(Deserialize)]
struct Request {
    messages: Vec<Value>,
    tools: Option<Vec<Value>>,
    documents: Option<Vec<Value>>,
    add_generation_prompt: Option<bool>,
    #[serde(default)]
    continue_final_message: bool,
    chat_template: Option<String>,
    chat_template_kwargs: Option<Map<String, Value>>,
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
async fn render(State(server): State<Arc<Server>>, body: Result<Json<Request>, JsonRejection>) -> Result<Json<Value>, Failure> {
    let Json(request) = body?;
    let cancel = CancelOnDrop::default();
    let flag = Arc::clone(&cancel.0);
    let permit = Arc::clone(&server.renders).acquire_owned().await;
    // A render takes up to RENDER_MILLISECONDS without a pause, so it must not run on a thread that drives connections.
    let task = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        server.prompt(&request, &flag)
    });
    let prompt = task.await.map_err(Failure::internal)??;
    Ok(Json(json!({"prompt": prompt.text, "steps": prompt.steps})))
}

impl Server {
    /// Returns the prompt of a request.
    fn prompt(&self, request: &Request, cancel: &AtomicBool) -> Result<Prompt, Failure> {
        let (template, name) = match request.chat_template.as_deref() {
            Some(source) if !self.model.names().contains(&source) => (self.template(source), None),
            name => (self.model.clone(), name),
        };
        let options = ApplyOptions {
            tools: Some(&request.tools),
            documents: Some(&request.documents),
            variables: Some(&request.chat_template_kwargs),
            chat_template: name,
            add_generation_prompt: request.add_generation_prompt.unwrap_or(!request.continue_final_message),
            continue_final_message: if request.continue_final_message {
                ContinueFinalMessage::Content
            } else {
                ContinueFinalMessage::No
            },
            limits: &self.limits,
            cancel: Some(cancel),
            ..ApplyOptions::default()
        };
        let is_own_template = request.chat_template.is_some();
        template
            .apply(&request.messages, &options)
            .map_err(|error| Failure::new(&error, is_own_template))
    }

    /// Returns the compiled template of a source, with the model's special tokens.
    fn template(&self, source: &str) -> ChatTemplate {
        let templates = || self.templates.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(template) = templates().get(source) {
            return template.clone();
        }
        // Other requests need not wait while it compiles. What does not compile is not kept.
        let template = ChatTemplate::from_source(source, &[]).with_special_tokens(self.model.special_tokens().iter().cloned());
        if template.check().is_ok() {
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
