//! Reports of `inspect` on the templates of 16 families, and what its answers promise.
//!
//! ```text
//! WRITE=1 cargo test --test library inspect       writes the reports again, to be read before they are kept
//! ```
//!
//! The reports are kept without `witnesses`, `prefix` and `lint`, which have tests of their own.

mod lint;

use std::collections::BTreeSet;
use std::path::PathBuf;

use chat_template::{ApplyOptions, Bounds, ChatTemplate, ErrorKind, Limit, Limits, LocalTime, Report};
use serde_json::{Value, json};

const FAMILIES: [&str; 16] = [
    "chatml",
    "command-r",
    "deepseek-v3",
    "gemma-3",
    "gpt-oss",
    "granite-3.3",
    "kimi-k2",
    "llama-2",
    "llama-3.1",
    "llama-3.2-vision",
    "llama-4",
    "mistral-nemo",
    "phi-4-mini",
    "qwen2-vl",
    "qwen2.5",
    "qwen3",
];

/// The rules that each family of the suite breaks on purpose, like the templates that it imitates. All other families are meant to break
/// none.
const BROKEN_RULES: [(&str, &str); 42] = [
    ("codellama-70b", "percent-format python-method"),
    ("command-r-rag", "python-method split-token"),
    ("command-r-tool-use", "python-method"),
    ("command-r", "python-method"),
    ("deepseek-r1", "python-method"),
    ("exaone", "python-literal python-method tojson-argument"),
    ("falcon", "python-method"),
    ("firefunction", "no-generation-prompt"),
    (
        "functionary",
        "no-generation-prompt percent-format printed-container printed-indentation python-method stray-newline",
    ),
    ("gemma-4", "python-literal python-method split-token"),
    ("gemma", "python-method"),
    (
        "glm-4.5",
        "python-literal python-method tojson-argument untrained-stop untrimmed-content",
    ),
    ("glm-4", "python-literal python-method tojson-argument untrained-stop"),
    ("gpt-oss", "percent-format printed-indentation python-method"),
    ("idefics", "python-method"),
    ("jamba", "python-method split-token"),
    ("kimi-k2-queue", "no-generation-prompt split-token"),
    ("kimi-k2", "python-method tojson-argument"),
    ("lfm2", "generation-block python-method"),
    ("llama-2", "python-method"),
    ("llama-3-training", "generation-block"),
    ("llama-3.2-vision", "python-method"),
    ("llama-4", "percent-format"),
    ("llava", "generation-block python-method"),
    ("minimax-m2", "percent-format python-literal python-method tojson-argument"),
    ("mistral-v1", "no-generation-prompt"),
    ("mistral-v13", "no-generation-prompt python-method"),
    ("mistral-v3", "python-method untrimmed-content"),
    ("mistral-v7", "no-generation-prompt"),
    ("nemotron", "iterable-test python-literal python-method untrimmed-content"),
    ("olmo", "python-method"),
    ("phi-3.5-vision", "split-token"),
    ("phi-3", "split-token"),
    ("phi-4-mini", "split-token"),
    ("phi-4", "generation-block"),
    ("pixtral", "no-generation-prompt"),
    ("qwen2.5-training", "generation-block"),
    ("qwen3-coder", "iterable-test python-method unknown-filter"),
    ("qwen3.5", "python-method"),
    ("qwen3", "python-method slice-step"),
    ("smollm3", "generation-block python-method"),
    ("zephyr", "split-token"),
];

const TOKENS: [(&str, &str); 2] = [("bos_token", "<s>"), ("eos_token", "</s>")];

fn load(family: &str) -> ChatTemplate {
    let path = root().join("cases/families").join(format!("{family}.jinja"));
    ChatTemplate::from_source(std::fs::read_to_string(path).unwrap(), &TOKENS).unwrap()
}

/// Returns a verdict by its path.
fn get(report: &Report<'_>, path: &str) -> Value {
    report.get(path).unwrap()
}

fn inspect(source: &str) -> Report<'static> {
    ChatTemplate::from_source(source, &[])
        .unwrap()
        .inspect(Bounds::default())
        .unwrap()
}

/// Returns the values of a key of the items of a list.
fn values(report: &Report<'_>, path: &str, key: &str) -> Vec<String> {
    let value = |item: &Value| item[key].as_str().unwrap().to_owned();
    get(report, path).as_array().unwrap().iter().map(value).collect()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests")
}

#[test]
fn the_reports_of_families_are_as_they_were_read() {
    let mut faults = Vec::new();
    for family in FAMILIES {
        let report = load(family).inspect(Bounds::default()).unwrap();
        let mut report = serde_json::to_value(&report).unwrap();
        for key in ["witnesses", "prefix", "lint"] {
            report.as_object_mut().unwrap().shift_remove(key);
        }
        let path = root().join("library/inspect/reports").join(format!("{family}.json"));
        if std::env::var_os("WRITE").is_some() {
            std::fs::write(&path, write_report(&report)).unwrap();
        }
        if std::fs::read_to_string(&path).unwrap_or_default() != write_report(&report) {
            faults.push(family);
        }
    }
    assert!(
        faults.is_empty(),
        "other reports than in tests/library/inspect/reports: {faults:?}"
    );
}

/// Returns the report with a line for each of its parts.
fn write_report(report: &Value) -> String {
    let mut lines = Vec::new();
    for (name, part) in report.as_object().unwrap() {
        match part {
            Value::Object(parts) if parts.values().all(|part| part.is_object() || part.is_array()) => {
                let parts = parts.iter().map(|(name, part)| format!("    {name:?}: {part}"));
                lines.push(format!("  {name:?}: {{\n{}\n  }}", parts.collect::<Vec<_>>().join(",\n")));
            }
            part => lines.push(format!("  {name:?}: {part}")),
        }
    }
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

#[test]
fn families_break_only_the_rules_that_they_are_meant_to_break() {
    let mut families: Vec<String> = std::fs::read_dir(root().join("cases/families"))
        .unwrap()
        .filter_map(|entry| {
            Some(
                entry
                    .unwrap()
                    .path()
                    .to_str()?
                    .strip_suffix(".jinja")?
                    .rsplit('/')
                    .next()?
                    .to_owned(),
            )
        })
        .collect();
    families.sort();
    let mut clean = 0;
    for family in families {
        let report = load(&family).inspect(Bounds::default()).unwrap();
        let rules: BTreeSet<String> = values(&report, "lint", "rule").into_iter().collect();
        let rules = rules.into_iter().collect::<Vec<_>>().join(" ");
        let meant = BROKEN_RULES
            .iter()
            .find(|(name, _)| *name == family)
            .map_or("", |(_, rules)| rules);
        assert_eq!(rules, meant, "{family}");
        clean += usize::from(meant.is_empty());
    }
    assert_eq!(clean, 17);
}

#[test]
fn each_verdict_has_a_witness_that_renders_as_it_says() {
    let template = load("qwen3");
    let report = template.inspect(Bounds::default()).unwrap();
    for path in [
        "roles.user.string",
        "calls.object",
        "switches.enable_thinking",
        "generation_prompt",
        "system.middle",
    ] {
        let witness = report
            .witness(path)
            .unwrap()
            .unwrap_or_else(|| panic!("{path} has no witness"));
        let options = ApplyOptions::default()
            .with_tools(&witness.tools)
            .with_variables(&witness.variables)
            .with_add_generation_prompt(witness.add_generation_prompt);
        let prompt = template.apply(&witness.messages, &options).unwrap();
        assert_eq!(Some(prompt.text), witness.output, "{path}");
    }
}

#[test]
fn outcomes_are_told_apart() {
    let plain = inspect("{% for m in messages %}{{ m.role }}: {{ m.content }}{% endfor %}");
    let user = get(&plain, "roles.user");
    assert_eq!((&user["string"], &user["parts"]), (&json!("printed"), &json!("repr")));
    assert_eq!(user["content"], "string");
    let parts = inspect("{% for m in messages %}{% for p in m.content %}{{ p.text }}{% endfor %}{% endfor %}");
    let user = get(&parts, "roles.user");
    assert_eq!((&user["string"], &user["content"]), (&json!("lost"), &json!("parts")));
    let strict = inspect(
        "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no') }}{% endif %}{{ m.content }}{% endfor %}",
    );
    assert_eq!(get(&strict, "roles.system.string"), "refused");
    assert_eq!(get(&strict, "system.first"), "refused");
    assert_eq!(
        strict.get::<Value>("system.last").unwrap_err().message(),
        "the report has no `system.last`"
    );
    let witness = strict.witness("roles.system.string").unwrap().unwrap();
    assert_eq!((witness.error.as_deref(), witness.line), (Some("no"), Some(1)));
}

#[test]
fn a_template_that_needs_tools_is_asked_with_tools() {
    let source = "{% for t in tools %}{{ t.function.name }}{% endfor %}{% for m in messages %}{{ m.content }}{% endfor %}";
    let report = inspect(source);
    assert_eq!(get(&report, "roles.system.content"), "string");
    assert_eq!(
        (get(&report, "tools.read"), get(&report, "calls.written")),
        (json!(true), json!(false))
    );
    assert!(report.witness("roles.system.string").unwrap().unwrap().tools.is_some());
}

#[test]
fn encoded_and_wrapped_arguments_are_double() {
    let calls = |write: &str| {
        let source = format!(
            "{{% for m in messages %}}{{{{ m.content }}}}{{% for c in m.tool_calls %}}{{% set a = c.function.arguments %}}{write}{{% endfor %}}{{% endfor %}}"
        );
        get(&inspect(&source), "calls")
    };
    let encoded = calls("{{ a|tojson }}");
    assert_eq!(
        (&encoded["object"], &encoded["string"], &encoded["arguments"]),
        (&json!("printed"), &json!("double"), &json!("object"))
    );
    assert_eq!(calls("{{ '{' ~ a ~ '}' }}")["string"], "double");
    let either = calls("{{ a if a is string else a|tojson }}");
    assert_eq!(
        (&either["arguments"], &either["parallel"]),
        (&json!("both"), &json!("printed"))
    );
    assert_eq!(either["written"], false);
    assert_eq!(calls("{% for k in a.items() %}{{ k }}{% endfor %}")["arguments"], "object");
}

#[test]
fn reasoning_is_replayed_always_in_the_last_turn_or_never() {
    let reasoning = |source: &str| get(&inspect(source), "reasoning");
    let always = reasoning("{% for m in messages %}{{ m.reasoning_content }}{{ m.content }}{% endfor %}");
    assert_eq!(
        (&always["replayed"], &always["fields"]),
        (&json!("always"), &json!(["reasoning_content"]))
    );
    let last = reasoning("{% for m in messages %}{% if loop.last %}{{ m.thinking }}{% endif %}{{ m.content }}{% endfor %}");
    assert_eq!(
        (&last["replayed"], &last["fields"]),
        (&json!("last_turn"), &json!(["thinking"]))
    );
    let cut = reasoning("{% for m in messages %}{{ m.content.split('</think>')[-1] }}{% endfor %}");
    assert_eq!((&cut["replayed"], &cut["cuts_think"]), (&json!("never"), &json!(true)));
}

#[test]
fn a_switch_may_matter_only_beside_another_one() {
    let source = "{% for m in messages %}{{ m.content }}{% endfor %}\
                  {% if add_generation_prompt %}<a>{% if think %}{{ effort }}{% if level == 'high' %}!{% endif %}{% endif %}{% endif %}{{ bos_token }}";
    let report = inspect(source);
    assert_eq!(values(&report, "switches", "name"), ["think", "effort", "level"]);
    let level = get(&report, "switches.level");
    assert_eq!(
        (&level["values"], &level["changes"]),
        (&json!(["high"]), &json!(["generation_prompt"]))
    );
    assert_eq!(
        (get(&report, "switches.1.printed"), &level["printed"]),
        (json!(true), &json!(false))
    );
}

#[test]
fn the_constants_of_a_variable_are_told_from_those_of_another_one_with_the_same_name() {
    let source = "{% for tool in tools %}{{ 'a pear' if tool == 'pear' }}{% endfor %}\
                  {% for tool in extra %}{{ 'a fig' if tool == 'fig' }}{% endfor %}\
                  {{ 'none' if extra == 'no' }}{% for m in messages %}{{ m.content }}{% endfor %}";
    let switch = get(&inspect(source), "switches.0");
    assert_eq!((&switch["name"], &switch["values"]), (&json!("extra"), &json!(["no", "fig"])));
}

#[test]
fn the_text_of_a_medium_is_not_white_space_and_not_the_separator_of_parts() {
    let source = "{% for m in messages %}{% for p in m.content %}{{ '<pic>' if p.type == 'image' else p.text }}{{ '\n' }}{% endfor %}{% endfor %}";
    let media = get(&inspect(source), "media");
    assert_eq!(
        (&media["image"]["text"], &media["image"]["in_order"]),
        (&json!("<pic>"), &json!(true))
    );
    assert_eq!(
        (&media["audio"]["outcome"], &media["audio"]["types"]),
        (&json!("lost"), &json!([]))
    );
}

#[test]
fn reads_are_followed_through_loops_names_and_macros() {
    let source = "{% macro show(c) %}{{ c.function.name }}{% endmacro %}\n{% set rest = messages[1:] %}\n{% for m in rest %}\n\
                  {% if 'name' in m %}{{ m.get('content') }}{% endif %}{% for c in m['tool_calls'] %}{{ show(c) }}{% endfor %}\n{% endfor %}\n\
                  {{ (tools|first).function.description }}{{ day }}";
    let report = inspect(source);
    let reads = |kind: &str| -> Vec<String> {
        let show = |read: &Value| format!("{} {}", read["name"].as_str().unwrap(), read["line"]);
        get(&report, kind).as_array().unwrap().iter().map(show).collect()
    };
    assert_eq!(reads("reads.messages"), ["content 4", "name 4", "tool_calls 4"]);
    assert_eq!(reads("reads.calls"), ["function 1", "function.name 1"]);
    assert_eq!(reads("reads.tools"), ["function 6", "function.description 6"]);
    assert_eq!(reads("reads.variables"), ["messages 2", "day 6", "tools 6"]);
}

#[test]
fn reads_are_found_in_tests_for_a_key_and_in_defaults() {
    let source = "{% for m in messages %}{% for p in m.content %}{{ '<pic>' if 'image' in p }}{% endfor %}\
                  {% for c in m.tool_calls %}{% set c = c.function|default(c) %}{{ c.name }}{% endfor %}{% endfor %}";
    let report = inspect(source);
    assert_eq!(
        values(&report, "reads.messages", "name"),
        ["content", "content[].image", "tool_calls"]
    );
    assert_eq!(values(&report, "reads.calls", "name"), ["function", "function.name", "name"]);
}

#[test]
fn tools_are_asked_of_the_template_that_apply_would_choose() {
    let loop_over = "{% for m in messages %}{{ m.content }}{% endfor %}";
    let with_tools = format!("{{% for t in tools %}}{{{{ t.function.name }}}}{{% endfor %}}{loop_over}");
    let template = ChatTemplate::from_named(&[("default", loop_over), ("tool_use", &with_tools)], &[]).unwrap();
    let report = template.inspect(Bounds::default()).unwrap();
    let tools = get(&report, "tools");
    assert_eq!(
        (&tools["read"], &tools["name"], &tools["description"]),
        (&json!(true), &json!("printed"), &json!("lost"))
    );
    assert_eq!(get(&report, "reads.tools.0.template"), "tool_use");
}

#[test]
fn all_experiments_together_keep_the_limits() {
    let slow = "{% for i in range(20000) %}{% endfor %}{{ messages[0].content }}";
    let limits = Limits::default().with_steps(100_000);
    let report = ChatTemplate::from_source(slow, &[]).unwrap().inspect(&limits).unwrap();
    assert!(report.get::<Value>("reads").is_ok());
    let error = report.get::<Value>("roles").unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Limit, "limit reached: steps: 100001, at most 100000")
    );
    let broken = ChatTemplate::from_named(&[("default", ""), ("rag", "{% if %}")], &[]).unwrap();
    assert!(
        broken
            .inspect(Bounds::default())
            .is_err_and(|error| error.kind() == ErrorKind::Syntax)
    );
    let none = ChatTemplate::from_config(&json!({})).unwrap();
    assert!(none.inspect(Bounds::default()).is_err());
}

#[test]
fn a_part_that_reaches_a_limit_is_an_error_and_later_parts_do_not_depend_on_it() {
    const fn is_shared<T: Send + Sync>() {}
    const { is_shared::<Report<'_>>() };
    let template = load("qwen3");
    let limits = Limits::default().with_value(8);
    let narrow = template.inspect(&limits).unwrap();
    let error = narrow.get::<Value>("roles").unwrap_err();
    assert_eq!(
        (error.kind(), error.reached().map(|reached| reached.limit)),
        (ErrorKind::Limit, Some(Limit::Value))
    );
    let complete = |template: &ChatTemplate| serde_json::to_value(template.inspect(Bounds::default()).unwrap()).unwrap();
    assert_eq!(complete(&template), complete(&load("qwen3")));
    // All parts are made, so nothing reaches the limit.
    assert!(narrow.complete().is_ok());
}

#[test]
fn a_part_that_is_read_first_is_as_in_the_whole_report() {
    let [whole, single] = ["qwen3", "qwen3"].map(|family| load(family).inspect(Bounds::default()).unwrap());
    whole.complete().unwrap();
    for part in ["switches", "prefix", "reasoning"] {
        assert_eq!(get(&single, part), get(&whole, part));
    }
    assert_eq!(
        single.witness("calls.object").unwrap().as_ref(),
        whole.witnesses().unwrap().get("calls.object")
    );
}

#[test]
fn a_report_is_made_once_and_again_after_a_change() {
    let template = ChatTemplate::from_source("{{ bos_token }}{{ messages[0].content }}", &[]).unwrap();
    let report = template.inspect(Bounds::default()).unwrap();
    get(&report, "roles");
    // What is made is read without a step.
    let none = Limits::default().with_steps(0);
    let again = template.clone().inspect(&none).unwrap();
    assert!(again.get::<Value>("roles").is_ok() && again.get::<Value>("media").is_err());
    let other = template
        .with_special_token("bos_token", "<s>")
        .inspect(Bounds::default())
        .unwrap();
    assert!(
        other
            .witness("roles.user.string")
            .unwrap()
            .unwrap()
            .output
            .as_ref()
            .unwrap()
            .starts_with("<s>")
    );
}

#[test]
fn a_template_that_reads_the_clock_says_so() {
    let source = "{{ strftime_now('%Y') }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}";
    let count = |source: &str| {
        let template = ChatTemplate::from_source(source, &[]).unwrap();
        let report = template.inspect(Bounds::default()).unwrap();
        get(&report, "reads.clock").as_array().unwrap().len()
    };
    assert_eq!(count(source), 1);
    assert_eq!(count(&source.replace("strftime_now('%Y')", "'2026'")), 0);
    let clock: LocalTime = "2026-01-02T03:04:05".parse().unwrap();
    let options = ApplyOptions::default().with_clock(&clock).with_trace(true);
    let messages = json!([{"role": "user", "content": "Hi"}]);
    let prompt = ChatTemplate::from_source(source, &[])
        .unwrap()
        .apply(&messages, &options)
        .unwrap();
    let segment = serde_json::to_value(&prompt.segments()[0]).unwrap();
    assert_eq!(segment, json!({"start": 0, "end": 4, "from": "made", "by": "clock"}));
}
