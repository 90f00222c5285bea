//! Tests of cutting a conversation to a number of tokens.

use std::cell::Cell;
use std::fmt;

use chat_template::request::{Policy, PrepareOptions};
use chat_template::{ChatTemplate, ErrorClass, PromptOptions};
use serde_json::{Value, json};

use super::data;

/// A template that prints a word for the role of a message, one for its content, and one for each call.
const SOURCE: &str = "{% for m in messages %}{{ 'tool ' if m.role == 'tool' else m.role + ' ' }}{{ m.content or '' }} \
                      {% for call in m.tool_calls or [] %}{{ call.function.name }} {% endfor %}{% endfor %}";

fn count_words(text: &str) -> Result<usize, fmt::Error> {
    Ok(text.split_whitespace().count())
}

/// A conversation of this many rounds: a question, calls of one tool each with its result, and an answer.
fn rounds(rounds: usize, calls: usize) -> Value {
    let mut messages = vec![json!({"role": "system", "content": "s"})];
    for round in 0..rounds {
        messages.push(json!({"role": "user", "content": format!("u{round}")}));
        for call in 0..calls {
            let id = format!("c{round}-{call}");
            let function = json!({"name": format!("f{round}-{call}"), "arguments": "{}"});
            messages.push(json!({"role": "assistant", "tool_calls": [{"id": id, "type": "function", "function": function}]}));
            messages.push(json!({"role": "tool", "tool_call_id": id, "content": format!("r{round}-{call}")}));
        }
        if round + 1 < rounds {
            messages.push(json!({"role": "assistant", "content": format!("a{round}")}));
        }
    }
    json!({"messages": messages})
}

/// Returns the words of a prompt that has at most this many, without the roles.
fn fit(body: &Value, limit: usize) -> Result<(String, usize), chat_template::Error> {
    let template = ChatTemplate::from_source(SOURCE, &[]).unwrap();
    let prepared = template
        .prepare(data(body))?
        .fit(limit, &count_words, &PromptOptions::default())?;
    let (prompt, changes) = prepared.render()?;
    assert!(count_words(&prompt.text).unwrap() <= limit);
    let words = prompt.text.split_whitespace();
    let words: Vec<&str> = words
        .filter(|word| !["system", "user", "assistant", "tool"].contains(word))
        .collect();
    let cut = changes.iter().filter(|change| change.reason.contains("more tokens")).count();
    Ok((words.join(" "), cut))
}

#[test]
fn the_oldest_rounds_go_first_and_then_the_oldest_calls() {
    let body = rounds(2, 2);
    for (limit, words, cut) in [
        (100, "s u0 f0-0 r0-0 f0-1 r0-1 a0 u1 f1-0 r1-0 f1-1 r1-1", 0),
        (23, "s u1 f1-0 r1-0 f1-1 r1-1", 6),
        (12, "s u1 f1-0 r1-0 f1-1 r1-1", 6),
        (11, "s u1 f1-1 r1-1", 8),
        (8, "s u1 f1-1 r1-1", 8),
    ] {
        assert_eq!(fit(&body, limit).unwrap(), (words.to_owned(), cut), "{limit}");
    }
    let error = fit(&body, 7).unwrap_err();
    assert_eq!(error.message(), "the prompt has at least 8 tokens, and the limit is 7");
    assert_eq!(error.class(), ErrorClass::Request);
}

#[test]
fn a_result_stays_with_its_call_across_messages_of_the_user() {
    let call = json!({"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let body = json!({"messages": [
        {"role": "user", "content": "u0"},
        {"role": "assistant", "content": "a0"},
        {"role": "user", "content": "u1"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "user", "content": "u2"},
        {"role": "tool", "tool_call_id": "c", "content": "r"},
    ]});
    let policy = PrepareOptions::default().with_policy(Policy::Fit);
    let template = ChatTemplate::from_source(SOURCE, &[]).unwrap();
    for limit in 1..12 {
        let prepared = template.prepare_with(data(&body), &policy).unwrap();
        if let Ok(prepared) = prepared.fit(limit, &count_words, &PromptOptions::default()) {
            let text = prepared.render().unwrap().0.text;
            assert_eq!(text.contains(" f "), text.contains(" r "), "{limit}: {text}");
        }
    }
}

#[test]
fn only_a_policy_that_allows_changes_cuts() {
    let (body, template) = (rounds(3, 0), ChatTemplate::from_source(SOURCE, &[]).unwrap());
    for policy in [Policy::Exact, Policy::Strict] {
        let options = PrepareOptions::default().with_policy(policy);
        let prepare = || template.prepare_with(data(&body), &options).unwrap();
        prepare().fit(12, &count_words, &PromptOptions::default()).unwrap();
        let error = prepare().fit(11, &count_words, &PromptOptions::default()).unwrap_err();
        let message = "the prompt has at least 12 tokens, and the limit is 11, and the policy allows no changes";
        assert_eq!(error.message(), message);
    }
}

#[test]
fn a_long_conversation_takes_few_renders() {
    let (body, template) = (rounds(250, 1), ChatTemplate::from_source(SOURCE, &[]).unwrap());
    for limit in [11, 50, 500, 1_800] {
        let renders = Cell::new(0);
        let count = |text: &str| {
            renders.set(renders.get() + 1);
            count_words(text)
        };
        let prepared = template.prepare(data(&body)).unwrap();
        prepared.fit(limit, &count, &PromptOptions::default()).unwrap();
        assert!(renders.get() <= 11, "{limit}: {}", renders.get());
    }
}

#[test]
fn a_tokenizer_that_fails_is_an_error() {
    let template = ChatTemplate::from_source(SOURCE, &[]).unwrap();
    let body = rounds(1, 0);
    let fail = |_: &str| Err::<usize, _>("no vocabulary");
    let error = template
        .prepare(data(&body))
        .unwrap()
        .count(&fail, &PromptOptions::default())
        .unwrap_err();
    assert_eq!(error.message(), "the tokenizer fails: no vocabulary");
}
