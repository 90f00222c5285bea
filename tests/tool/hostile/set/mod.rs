//! The set of hostile requests to the port, which need too much time, memory or stack.
//!
//! ```text
//! cargo bench --bench hostile [-- NAME]     sends all of them, each to a child with 2 seconds and 512 MiB
//! cargo test --test hostile                 sends some of them
//! ```
//!
//! The answers are not checked. A child passes if it answers the request, and then another one.

mod bodies;
mod compiling;
mod expressions;
mod growth;
mod inspections;
mod masks;
mod objects;
mod regressions;
mod requests;
mod responses;
mod sources;
mod traces;
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
    cases.extend(responses::cases());
    cases.extend(regressions::cases());
    cases.extend(traces::cases());
    cases.extend(compiling::cases());
    cases.extend(compiling::cases().into_iter().map(inspected));
    cases.extend(regressions::cases().into_iter().map(inspected));
    cases.extend(growth::cases().into_iter().map(inspected));
    cases.extend(inspections());
    cases.extend(inspections::cases());
    cases.extend(bodies::cases());
    cases.extend(masks::cases());
    cases
}

/// Returns the request to inspect the template of a request. A request that has no template is sent as it is.
fn inspected(case: Case) -> Case {
    Case::line(format!("inspect-{}", case.name), move || {
        let bytes = (case.make)();
        let request: Option<Value> = serde_json::from_slice(&bytes).ok();
        match request.as_ref().and_then(|request| request.get("template")) {
            Some(template) => json!({"inspect": {"template": template}}).to_string().into_bytes(),
            None => bytes,
        }
    })
}

/// Returns requests to inspect templates that are costly to inspect: each experiment takes long, or there are many of them.
fn inspections() -> Vec<Case> {
    let inspect = |name: &str, template: fn() -> String| {
        Case::request(
            format!("inspect-{name}"),
            move || json!({"inspect": {"template": template()}}),
        )
    };
    vec![
        inspect("slow", || {
            "{% for a in range(300) %}{% for b in range(300) %}{% set x = a ~ b %}{% endfor %}{% endfor %}{{ messages[0].content }}"
                .to_owned()
        }),
        inspect("slow-failure", || {
            "{% for a in range(300) %}{% for b in range(300) %}{% set x = a ~ b %}{% endfor %}{% endfor %}{{ raise_exception('no') }}".to_owned()
        }),
        inspect("long-output", || "{{ messages[0].content * 100000 }}".to_owned()),
        inspect("variables", || {
            (0..20_000).map(|index| format!("{{{{ v{index} }}}}")).collect()
        }),
        inspect("compared", || {
            (0..20_000)
                .map(|index| format!("{{% if v{} == 'a{index}' %}}{{% endif %}}", index % 50))
                .collect()
        }),
        inspect("aliases", || {
            (0..10_000)
                .map(|index| format!("{{% set v{} = v{index} %}}", index + 1))
                .collect::<String>()
                + "{{ v10000 }}"
        }),
        inspect("macros", || {
            let nested = |index: usize| format!("{{% macro m{index}(a) %}}{{{{ m{}(a.b) }}}}{{% endmacro %}}", index + 1);
            (0..10_000).rev().map(nested).collect::<String>() + "{{ m0(messages) }}"
        }),
        inspect("calls", || (0..70_000).map(|index| format!("{{{{ f{index}() }}}}")).collect()),
        inspect("named macros", || {
            (0..20_000)
                .map(|index| format!("{{% macro m{index}(a) %}}{{{{ b{index} }}}}{{% endmacro %}}"))
                .collect()
        }),
        inspect("aliases of one", || {
            (0..40_000)
                .map(|index| format!("{{% set v{index} = a %}}"))
                .collect::<String>()
                + "{% if a == 'x' %}{% endif %}"
        }),
        inspect("fields", || "{{ messages[0]".to_owned() + &".a".repeat(100) + " }}"),
    ]
}
