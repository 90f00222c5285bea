//! The hostile set: requests of the port that want more time, memory or stack than there is, each limit through each door.
//!
//! ```text
//! cargo bench --bench hostile [-- NAME]     asks them all, each of a child with 2 seconds and 512 MiB
//! cargo test --test hostile                 asks some of them
//! ```
//!
//! What is right to answer is not known here: a child that answers, and then answers another line, has survived.

mod expressions;
mod found;
mod growth;
mod objects;
mod requests;
mod sources;
mod walks;

use serde_json::{Value, json};

/// A request, and what it is called.
pub struct Case {
    /// Its family, and what makes it special there.
    pub name: String,
    make: Box<dyn Fn() -> Vec<u8>>,
}

impl Case {
    /// A template with a context; both are made when they are asked, for a set of them all would take long to make.
    fn render(name: String, template: impl Fn() -> String + 'static, context: fn() -> Value) -> Self {
        Self::request(name, move || json!({"template": template(), "context": context()}))
    }

    /// Any request; it is made when it is asked, because some are large.
    fn request(name: String, request: impl Fn() -> Value + 'static) -> Self {
        Self::line(name, move || request().to_string().into_bytes())
    }

    /// Any bytes without a line feed.
    fn line(name: String, make: impl Fn() -> Vec<u8> + 'static) -> Self {
        Self {
            name,
            make: Box::new(make),
        }
    }

    /// The line of the request.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = (self.make)();
        bytes.push(b'\n');
        bytes
    }
}

/// The whole set.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    cases.extend(expressions::cases());
    cases.extend(walks::cases());
    cases.extend(growth::cases());
    cases.extend(objects::cases());
    cases.extend(sources::cases());
    cases.extend(requests::cases());
    cases.extend(found::cases());
    cases
}
