//! Errors as answers: an object as in the APIs of OpenAI and Anthropic, with a status by the class of the error.
//!
//! ```text
//! 400 {"type": "error", "error": {"message": "Only one system message!", "type": "refused", "param": null, "code": null}}
//! ```

use std::fmt::Display;

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use chat_template::{Error, ErrorClass};
use serde_json::json;

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
            _ => (class.http_status(), None),
        };
        if status >= 500 {
            eprintln!("{error}");
        }
        Self {
            status: StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            message: match place {
                Some(place) => format!("line {}, column {}: {}", place.line, place.column, error.message()),
                None => error.message().to_owned(),
            },
            class: class.name(),
            param: error.input_path().map(str::to_owned),
        }
    }

    /// Returns the answer for a fault of the server.
    pub fn internal(error: impl Display) -> Self {
        eprintln!("{error}");
        Self {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            message: "the server failed".to_owned(),
            class: ErrorClass::Internal.name(),
            param: None,
        }
    }
}

/// A body that is too large or is not JSON.
impl From<JsonRejection> for Failure {
    fn from(rejection: JsonRejection) -> Self {
        let status = match rejection.status() {
            StatusCode::UNPROCESSABLE_ENTITY => StatusCode::BAD_REQUEST,
            other => other,
        };
        Self {
            status,
            message: rejection.body_text(),
            class: ErrorClass::Request.name(),
            param: None,
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let error = json!({"message": self.message, "type": self.class, "param": self.param, "code": null});
        (self.status, Json(json!({"type": "error", "error": error}))).into_response()
    }
}
