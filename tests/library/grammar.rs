//! The grammars of what a model may write: who gets one, and that hostile schemas end by an error or a limit.
//!
//! The program in `tests/outside/grammars` asks the matcher of an engine what the grammars let through.

use chat_template::grammar::{GrammarFormat, GrammarOptions};
use chat_template::json::to_data;
use chat_template::request::ToolChoice;
use chat_template::{Bounds, ChatTemplate, Error, ErrorClass, Limits};
use serde_json::{Value, json};

/// A template that writes calls as JSON between tags.
const SOURCE: &str = "{% for m in messages %}<|{{ m.role }}|>{{ m.content or '' }}{% for call in m.tool_calls or [] %}<call>\
                      {{ {'name': call.function.name, 'arguments': call.function.arguments} | tojson }}</call>{% endfor %}<|end|>\
                      {% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";

const FORMATS: [GrammarFormat; 3] = [GrammarFormat::Gbnf, GrammarFormat::Lark, GrammarFormat::StructuralTag];

fn template(source: &str) -> ChatTemplate {
    ChatTemplate::from_source(source, &[]).unwrap()
}

fn tools(parameters: &Value) -> Value {
    json!([{"type": "function", "function": {"name": "find", "description": "Finds.", "parameters": parameters}}])
}

/// Returns the error of the grammar whose calls have these parameters.
fn refuse(parameters: &Value, limits: &Limits) -> Error {
    let tools = tools(parameters);
    let options = GrammarOptions::default()
        .with_tools(&tools)
        .with_tool_choice(ToolChoice::Required)
        .with_bounds(Bounds::default().with_limits(limits));
    template(SOURCE).grammar(&options).unwrap_err()
}

#[test]
fn a_model_that_may_write_anything_has_no_grammar() {
    let tools = tools(&json!({"type": "object", "properties": {}}));
    let template = template(SOURCE);
    let options = GrammarOptions::default();
    assert_eq!(template.grammar(&options).unwrap(), None);
    assert_eq!(
        template
            .grammar(&options.with_tools(&tools).with_tool_choice(ToolChoice::None))
            .unwrap(),
        None
    );
    let grammar = template.grammar(&options.with_tools(&tools)).unwrap().unwrap();
    assert_eq!(grammar.triggers, ["<call>"]);
    // The schema of an answer is one, whatever the tools are.
    let schema = json!({"type": "object"});
    let options = options.with_json_schema(&schema);
    assert!(template.grammar(&options).unwrap().unwrap().triggers.is_empty());
}

#[test]
fn what_is_before_a_call_can_depend_on_it() {
    // Only the last message has the system prompt, and only the prompt has the tag of the reasoning.
    let source = "{% for m in messages %}<|{{ m.role }}|>{% if loop.last and m.role == 'user' %}Be brief. {% endif %}{{ m.content or '' }}\
        {% for c in m.tool_calls or [] %}<call>{{ {'name': c.function.name, 'arguments': c.function.arguments}|tojson }}</call>{% endfor %}\
        <|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|><think>{% endif %}";
    let tools = tools(&json!({"type": "object", "properties": {}}));
    let options = GrammarOptions::default()
        .with_tools(&tools)
        .with_tool_choice(ToolChoice::Required);
    let text = template(source).grammar(&options).unwrap().unwrap().text;
    assert!(text.contains(r#"[ \n]{0,4} "<call>{\"name\": \""#), "{text}");
    assert!(text.contains("\">\""), "{text}");
}

#[test]
fn a_call_that_cannot_be_written_is_an_error() {
    let tools = tools(&json!({"type": "object", "properties": {}}));
    let options = GrammarOptions::default().with_tools(&tools);
    let silent = template("{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}");
    assert_eq!(silent.grammar(&options).unwrap(), None);
    let message = silent.grammar(&options.with_tool_choice(ToolChoice::Required)).unwrap_err();
    assert_eq!(message.message(), "the template does not say how it writes calls");
    let message = template(SOURCE)
        .grammar(&options.with_tool_choice(ToolChoice::Function("lose")))
        .unwrap_err();
    assert_eq!(message.message(), "/tool_choice: there is no tool lose");
}

#[test]
fn options_of_another_type_are_errors() {
    let options = GrammarOptions::default().with_tool_choice(ToolChoice::Auto);
    let fail = |options: GrammarOptions<'_>| template(SOURCE).grammar(&options).unwrap_err().message().to_owned();
    let [object, nameless, list] = [json!({}), json!([{"type": "function", "function": {}}]), json!([])];
    assert_eq!(fail(options.with_tools(&object)), "/tools: tools are a list");
    assert_eq!(
        fail(options.with_tools(&nameless)),
        "/tools/0/function: a tool has a name, which is a string"
    );
    assert_eq!(
        fail(options.with_json_schema(&list)),
        "/json_schema: a schema is an object, true or false"
    );
    assert_eq!(fail(options.with_variables(&list)), "/variables: variables are an object");
}

#[test]
fn what_a_schema_says_and_a_grammar_does_not_is_named() {
    let parameters =
        json!({"type": "object", "properties": {"a": {"type": "array", "uniqueItems": true}, "b": {"not": {"type": "null"}}}});
    let tools = tools(&parameters);
    for format in FORMATS {
        let options = GrammarOptions::default().with_tools(&tools).with_format(format);
        let grammar = template(SOURCE).grammar(&options).unwrap().unwrap();
        let lost: Vec<_> = grammar
            .lost
            .iter()
            .map(|(path, keyword)| (path.as_str(), keyword.as_str()))
            .collect();
        let path = "/tools/0/function/parameters/properties";
        assert!(lost.contains(&(&*format!("{path}/a"), "uniqueItems")), "{lost:?}");
        assert!(lost.contains(&(&*format!("{path}/b"), "not")), "{lost:?}");
    }
}

#[test]
fn hostile_schemas_end_by_an_error() {
    let defaults = Limits::default();
    let mut deep = json!({"type": "integer"});
    for _ in 0..100 {
        deep = json!({"type": "object", "properties": {"a": deep}, "required": ["a"]});
    }
    assert_eq!(refuse(&deep, &defaults).message(), "more than 64 schemas enclose one another");
    let circle = json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"});
    assert_eq!(
        refuse(&circle, &defaults).message(),
        "more than 64 schemas enclose one another"
    );
    let never = json!({"type": "object", "properties": {"a": false}, "required": ["a"]});
    assert_eq!(
        refuse(&never, &defaults).message(),
        "/tools: no arguments fit the schemas of the tools"
    );
    let fixed = json!({"type": "object", "properties": {"a": {"type": "array", "prefixItems": vec![json!({}); 1000]}}});
    assert!(
        refuse(&fixed, &defaults)
            .message()
            .ends_with("prefixItems has more than 64 items")
    );
    // Each part doubles the number of plain schemas.
    let either = json!({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]});
    let product = json!({"type": "object", "allOf": vec![either; 64]});
    assert!(refuse(&product, &Limits::default().with_steps(1_000_000)).reached().is_some());
    let many: Vec<String> = (0..100_000).map(|index| format!("value {index}")).collect();
    let huge = json!({"type": "object", "properties": {"a": {"enum": many}}});
    assert!(refuse(&huge, &Limits::default().with_steps(100_000)).reached().is_some());
}

#[test]
fn hostile_templates_end_by_an_error() {
    let tools = tools(&json!({"type": "object", "properties": {"a": {"type": "string"}}}));
    let options = GrammarOptions::default()
        .with_tools(&tools)
        .with_tool_choice(ToolChoice::Required);
    // What is around a call is long.
    let long = SOURCE.replace("<call>", &format!("<call>{}", "<b".repeat(10_000)));
    let message = template(&long).grammar(&options).unwrap_err();
    assert_eq!(message.message(), "the template does not say how it writes calls");
    // A render takes more than its part of the steps.
    let slow = format!("{{% for i in range(50000) %}}{{% endfor %}}{SOURCE}");
    let limits = Limits::default().with_steps(1_000_000);
    let message = template(&slow)
        .grammar(&options.with_bounds(Bounds::default().with_limits(&limits)))
        .unwrap_err();
    assert!(message.reached().is_some(), "{message}");
}

#[test]
fn a_schema_that_contains_itself_has_a_grammar() {
    let node = json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "value": {"type": "integer"}}, "required": ["value"]});
    let parameters =
        json!({"$defs": {"node": node}, "type": "object", "properties": {"list": {"$ref": "#/$defs/node"}}, "required": ["list"]});
    let tools = tools(&parameters);
    for format in FORMATS {
        let options = GrammarOptions::default().with_tools(&tools).with_format(format);
        let grammar = template(SOURCE).grammar(&options).unwrap().unwrap();
        assert_eq!(
            grammar.text.matches("value").count(),
            1,
            "the rule of a node is there once: {}",
            grammar.text
        );
        assert!(grammar.lost.is_empty(), "{:?}", grammar.lost);
    }
}

#[test]
fn a_request_says_what_its_grammar_is() {
    let template = template(SOURCE);
    let schema = json!({"type": "object", "properties": {"now": {"type": "boolean"}}, "required": ["now"]});
    let function = |name: &str| json!({"name": name, "parameters": schema});
    let wrapped = |name: &str| json!({"type": "function", "function": function(name)});
    let tools = json!([wrapped("find"), wrapped("stop")]);
    let options = GrammarOptions::default().with_tools(&tools);
    let answer = GrammarOptions::default().with_json_schema(&schema);
    let (required, stop) = (ToolChoice::Required, ToolChoice::Function("stop"));
    let messages = json!([{"role": "user", "content": "U"}]);
    let chat = |rest: Value| join(json!({"messages": messages, "tools": tools}), rest);
    let responses = |rest: Value| {
        let flat = ["find", "stop"].map(|name| join(json!({"type": "function"}), function(name)));
        join(json!({"input": messages, "tools": flat}), rest)
    };
    let anthropic = |rest: Value| {
        let tools = ["find", "stop"].map(|name| json!({"name": name, "input_schema": schema}));
        join(json!({"system": "S", "messages": messages, "tools": tools}), rest)
    };
    let format = json!({"type": "json_schema", "schema": schema});
    let one = options.with_tool_choice(required).with_parallel_calls(false);
    let allowed = json!({"mode": "required", "tools": [wrapped("stop")]});
    for (body, expected) in [
        (chat(json!({})), options),
        (chat(json!({"tool_choice": "required"})), options.with_tool_choice(required)),
        (chat(json!({"tool_choice": wrapped("stop")})), options.with_tool_choice(stop)),
        (
            chat(json!({"function_call": {"name": "stop"}})),
            options.with_tool_choice(stop),
        ),
        (
            chat(json!({"tool_choice": {"type": "allowed_tools", "allowed_tools": allowed}})),
            options.with_tool_choice(stop),
        ),
        (chat(json!({"tool_choice": "required", "parallel_tool_calls": false})), one),
        (
            chat(json!({"tool_choice": "none", "response_format": {"type": "json_schema", "json_schema": {"schema": schema}}})),
            answer,
        ),
        (
            responses(json!({"tool_choice": "required"})),
            options.with_tool_choice(required),
        ),
        (
            responses(json!({"tool_choice": {"type": "function", "name": "stop"}})),
            options.with_tool_choice(stop),
        ),
        (responses(json!({"tool_choice": "none", "text": {"format": format}})), answer),
        (
            anthropic(json!({"tool_choice": {"type": "any", "disable_parallel_tool_use": true}})),
            one,
        ),
        (
            anthropic(json!({"tool_choice": {"type": "tool", "name": "stop"}})),
            options.with_tool_choice(stop),
        ),
        (
            anthropic(json!({"tool_choice": {"type": "none"}, "output_config": {"format": format}})),
            answer,
        ),
    ] {
        let data = to_data(&body).unwrap();
        let prepared = template.prepare(&data).unwrap();
        for format in FORMATS {
            let grammar = prepared.grammar(format, Bounds::default()).unwrap();
            assert_eq!(grammar, template.grammar(&expected.with_format(format)).unwrap(), "{body}");
        }
    }
}

/// Returns an object with the keys of two.
fn join(mut one: Value, other: Value) -> Value {
    let Value::Object(other) = other else {
        unreachable!("it is an object")
    };
    one.as_object_mut().unwrap().extend(other);
    one
}

#[test]
fn what_a_request_cannot_demand_is_an_error_with_its_place() {
    let messages = json!([{"role": "user", "content": "U"}]);
    let tools = tools(&json!({"type": "object", "properties": {"n": {"enum": []}}, "required": ["n"]}));
    for (rest, message) in [
        (
            json!({"tool_choice": "often"}),
            "/tool_choice: it must be \"auto\", \"none\", \"required\" or an object with the name of a function",
        ),
        (
            json!({"tool_choice": {"type": "function"}}),
            "/tool_choice: it must be \"auto\", \"none\", \"required\" or an object with the name of a function",
        ),
        (
            json!({"response_format": "json"}),
            "/response_format: it must be an object with a `type`",
        ),
        (
            json!({"response_format": {"type": "grammar"}}),
            "/response_format: no grammar enforces the type grammar",
        ),
        (
            json!({"tool_choice": {"type": "web_search"}}),
            "/tool_choice: no grammar enforces the type web_search",
        ),
        (
            json!({"tool_choice": {"type": "function", "name": "lose"}}),
            "/tool_choice: there is no tool lose",
        ),
        (json!({"tool_choice": "required"}), "/tool_choice: there are no tools"),
        (
            json!({"text": {"format": {"type": "json_schema", "schema": {"enum": []}}}}),
            "/text/format/schema: no value fits the schema",
        ),
        (
            json!({"tool_choice": "required", "tools": tools}),
            "/tools: no arguments fit the schemas of the tools",
        ),
    ] {
        let body = to_data(&join(json!({"messages": messages}), rest)).unwrap();
        let template = template(SOURCE);
        let prepared = template.prepare(&body);
        let error = prepared
            .and_then(|prepared| prepared.grammar(GrammarFormat::Gbnf, Bounds::default()))
            .unwrap_err();
        assert_eq!(error.message(), message);
        assert_eq!(error.class(), ErrorClass::Request);
    }
}
