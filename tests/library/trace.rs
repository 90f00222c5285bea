//! Traces of inputs that contain one another: the segments are the same as those of separate copies.

use chat_template::{ApplyOptions, ChatTemplate};
use serde_json::{Value, json};

const TEMPLATE: &str = "{{ tools[0].name }} {{ first.role }} {% for m in messages %}{{ m.role }}: {{ m.content }}\
    {% for tool in m.tools %}{{ tool.name }}{% endfor %}{{ m.tools | tojson if m.tools }}{{ m.extra | tojson if m.extra }}{% endfor %}\
    {% for d in documents %}{{ d.text }}{% endfor %}{{ tools | tojson }}{{ first.content }}";

#[test]
fn inputs_within_one_another_are_traced_like_copies() {
    let template = ChatTemplate::from_source(TEMPLATE, &[]).unwrap();
    let messages = json!([
        {"role": "user", "content": "Hi", "tools": [{"name": "f"}, {"name": "g"}], "documents": [{"text": "a"}, {"text": "b"}]},
        {"role": "assistant", "content": "Hello", "extra": {"first": {"role": "x", "content": "y"}}, "list": [{"role": "u", "content": "v"}]},
    ]);
    let other = json!([{"name": "f", "messages": messages}]);
    let (no_tools, none) = (json!([{"name": "h"}]), json!({"first": {}}));
    let documents = messages[0]["documents"].as_array().unwrap();
    let inputs: [(&Value, &Value, &[Value], &Value); 5] = [
        (&messages, &messages[0]["tools"], documents, &messages[1]["extra"]),
        (&messages, &no_tools, &documents[1..], &none),
        (&other[0]["messages"], &other, &documents[..1], &none),
        (&messages[1]["list"], &messages, documents, &messages[1]["extra"]),
        (&messages, &no_tools, &[], &none),
    ];
    for (messages, tools, documents, variables) in inputs {
        let trace = |messages: &Value, tools: &Value, documents: &[Value], variables: &Value| {
            let options = ApplyOptions::default()
                .with_tools(tools)
                .with_variables(variables)
                .with_trace(true);
            let prompt = template.apply(messages, &options.with_documents(&documents)).unwrap();
            (prompt.text.clone(), serde_json::to_value(prompt.segments()).unwrap())
        };
        let shared = trace(messages, tools, documents, variables);
        let copied = trace(&messages.clone(), &tools.clone(), &Vec::from(documents), &variables.clone());
        assert_eq!(shared, copied);
        assert!(shared.1.as_array().unwrap().len() > 3);
    }
}
