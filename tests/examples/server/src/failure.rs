//! Errors as answers: an object as in the APIs of OpenAI and Anthropic, with a status by the class of the error.
//!
//! ```text
//! 400 {"type": "error", "error": {"message": "Only one system message!", "type": "refused", "param": null, "code": null}}
//! ```
//!
//! A 503 has the header `Retry-After`. The clients of OpenAI and Anthropic then send the request again by themselves.

use std::fmt::Display;

use axum::Json;
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};
use chat_template::{Error, ErrorClass};
use serde_json::json;

/// The number of seconds after which a client may send a request again that was not answered because the server is busy.
const RETRY_SECONDS: u64 = 1;

/// The answer to a request that failed.
pub struct Failure {
    status: StatusCode,
    message: String,
    class: &'static str,
    param: Option<String>,
}

impl Failure {
    /// Returns the answer for an error of the crate. A template that came with the request is the client's, and so are its faults.
    pub fn new(error: &Error, is_own_template: bool) -> Self {
        let class = error.class();
        let (status, place) = match error.position() {
            place if class == ErrorClass::Template && is_own_template => (400, place),
            _ => (error.http_status(), None),
        };
        let message = match place {
            Some((line, column)) => format!("line {line}, column {column}: {}", error.message()),
            None => error.message().to_owned(),
        };
        if status == 500 {
            eprintln!("{error}");
        }
        Self {
            param: error.input_path().map(str::to_owned),
            ..Self::with_status(status, class.name(), message)
        }
    }

    /// Returns the answer for a fault of the server.
    pub fn internal(error: impl Display) -> Self {
        eprintln!("{error}");
        Self::with_status(500, ErrorClass::Internal.name(), "the server failed".to_owned())
    }

    /// Returns the answer for a request that comes at a time when the server has too much to do.
    pub fn busy() -> Self {
        Self::with_status(503, "busy", "the server is busy".to_owned())
    }

    /// Returns the answer for a body that is too large.
    pub fn too_large(limit: usize) -> Self {
        let message = format!("the body has more than {limit} bytes");
        Self::with_status(413, ErrorClass::Request.name(), message)
    }

    /// Returns the answer for a body that does not arrive as HTTP prescribes.
    pub fn cut_off(error: axum::Error) -> Self {
        Self::with_status(400, ErrorClass::Request.name(), format!("the body ends early: {error}"))
    }

    /// Returns the answer for a body that pauses or comes too slowly.
    pub fn late() -> Self {
        Self::with_status(408, ErrorClass::Request.name(), "the body comes too slowly".to_owned())
    }

    /// Returns whether the same request can succeed at another time.
    pub fn is_retryable(&self) -> bool {
        self.status == StatusCode::SERVICE_UNAVAILABLE
    }

    fn with_status(status: u16, class: &'static str, message: String) -> Self {
        Self {
            status: StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            message,
            class,
            param: None,
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let is_retryable = self.is_retryable();
        let error = json!({"message": self.message, "type": self.class, "param": self.param, "code": null});
        let mut answer = (self.status, Json(json!({"type": "error", "error": error}))).into_response();
        if is_retryable {
            answer.headers_mut().insert(RETRY_AFTER, RETRY_SECONDS.into());
        }
        answer
    }
}
