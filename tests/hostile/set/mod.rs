//! The set of hostile requests to the port, which need too much time, memory or stack.
//!
//! ```text
//! cargo bench --bench hostile [-- NAME]     sends all of them, each to a child with 2 seconds and 512 MiB
//! cargo test --test hostile                 sends some of them
//! ```
//!
//! The answers are not checked. A child passes if it answers the request, and then another one.

mod compiling;
mod expressions;
mod growth;
mod objects;
mod regressions;
mod requests;
mod sources;
mod walks;

use serde_json::{Value, json};

/// A hostile request.
pub struct Case {
    /// The name: the family of the request, and a description.
    pub name: String,
    make: Box<dyn Fn() -> Vec<u8>>,
}

impl Case {
    /// Returns a request to render a template. Template and context are made when the request is sent, because all together are large.
    fn render(name: String, template: impl Fn() -> String + 'static, context: fn() -> Value) -> Self {
        Self::request(name, move || json!({"template": template(), "context": context()}))
    }

    /// Returns a request of any kind, which is made when it is sent.
    fn request(name: String, request: impl Fn() -> Value + 'static) -> Self {
        Self::line(name, move || request().to_string().into_bytes())
    }

    /// Returns a case that sends any bytes without a line feed.
    fn line(name: String, make: impl Fn() -> Vec<u8> + 'static) -> Self {
        Self {
            name,
            make: Box::new(make),
        }
    }

    /// Returns the line to send.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = (self.make)();
        bytes.push(b'\n');
        bytes
    }
}

/// Returns the whole set.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    cases.extend(expressions::cases());
    cases.extend(walks::cases());
    cases.extend(growth::cases());
    cases.extend(objects::cases());
    cases.extend(sources::cases());
    cases.extend(requests::cases());
    cases.extend(regressions::cases());
    cases.extend(compiling::cases());
    cases
}
