//! Checks what the grammars of chat templates let through, with the matcher of llguidance.
//!
//! ```text
//! chat-template-grammars FOLDER …          checks the grammars of each template in the folders
//! chat-template-grammars --rows FOLDER …   also prints a row for each grammar, for the matchers of other engines
//! chat-template-grammars --schemas FOLDER  checks the grammars of schemas, by a folder of JSON-Schema-Test-Suite
//! ```
//!
//! The templates render conversations with calls that fit the schemas of their tools, and with calls that do not. What is written of the
//! former, as the description of the model reads it, must be let through; what is written of the latter, and what is cut, doubled or
//! changed, must not.

mod schemas;
mod walk;

use std::path::{Path, PathBuf};

use chat_template::grammar::{GrammarFormat, GrammarOptions};
use chat_template::request::Severity;
use chat_template::request::ToolChoice;
use chat_template::response::{ParseOptions, ResponseTemplate};
use chat_template::{Bounds, ChatTemplate, json};
use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};
use serde_json::{Value, json};
use toktrie::{ApproximateTokEnv, TokEnv};

/// The number of random strings of each grammar, unless `CHAT_TEMPLATE_WALKS` is another one.
const WALKS: usize = 100;

/// The seeds of what is changed in a string.
const CHANGED: [usize; 6] = [3, 5, 7, 11, 13, 17];

/// The counts of templates and sets of tools.
#[derive(Default)]
struct Counts {
    missing: usize,
    grammars: usize,
    exact: usize,
    witnesses: usize,
    refused: usize,
    broken: usize,
    passed: usize,
    walks: usize,
    unfit: usize,
}

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let prints_rows = arguments.first().is_some_and(|first| first == "--rows");
    arguments.drain(..usize::from(prints_rows));
    let sets: Vec<Value> = serde_json::from_str(include_str!("../sets.json")).expect("sets.json is JSON");
    let tokens: TokEnv = ApproximateTokEnv::single_byte_env();
    let mut factory = ParserFactory::new_simple(&tokens).expect("the matcher starts");
    factory.quiet();
    if let [option, folder] = arguments.as_slice()
        && option == "--schemas"
    {
        std::process::exit(i32::from(!schemas::check(Path::new(folder), &factory)));
    }
    let mut paths: Vec<PathBuf> = arguments.iter().flat_map(|folder| list_templates(folder)).collect();
    paths.sort();
    let mut counts = Counts::default();
    let (mut templates, mut described) = (0, 0);
    for path in &paths {
        let source = std::fs::read_to_string(path).expect("a template is UTF-8");
        let Ok(template) = ChatTemplate::from_source(&source, &[("bos_token", "<s>"), ("eos_token", "</s>")]) else {
            continue;
        };
        let Ok(report) = template.inspect(Bounds::default()) else {
            continue;
        };
        let Ok(description) = report.get::<Value>("response.template") else {
            continue;
        };
        if description["fields"].get("tool_calls").is_none() {
            continue;
        }
        templates += 1;
        let compiled = ResponseTemplate::new(&description).expect("a derived description is valid");
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let mut has_all = true;
        for set in &sets {
            let complaints = check(&template, &compiled, set, &factory, &mut counts, |mut row| {
                row["template"] = json!(path);
                row["description"] = description.clone();
                if prints_rows {
                    println!("{row}");
                }
            });
            has_all &= complaints.is_empty();
            for complaint in complaints {
                eprintln!("{name}, {}: {complaint}", set["name"]);
            }
        }
        described += usize::from(has_all);
    }
    let Counts {
        missing,
        grammars,
        exact,
        witnesses,
        refused,
        broken,
        passed,
        walks,
        unfit,
    } = counts;
    eprintln!(
        "{templates} templates, {described} without a complaint; {missing} sets of tools without a grammar, {grammars} with one, {exact} of them \
         exact; {witnesses} witnesses, {refused} refused; {broken} broken, {passed} let through; {walks} random, {unfit} do not fit"
    );
    // A grammar is exact if it lets through all that fits, and nothing else.
    if exact * 100 < grammars * 99 || missing > 0 {
        std::process::exit(1);
    }
}

fn list_templates(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let paths = entries.map(|entry| entry.expect("the folder is readable").path());
    paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "jinja"))
        .collect()
}

/// Checks the grammar of a template and a set of tools. Returns what is wrong.
fn check(
    template: &ChatTemplate,
    description: &ResponseTemplate,
    set: &Value,
    factory: &ParserFactory,
    counts: &mut Counts,
    mut print: impl FnMut(Value),
) -> Vec<String> {
    let tools = &set["tools"];
    let mut witnesses: Vec<(String, String)> = Vec::new();
    let mut stops: Vec<String> = template
        .stop_tokens()
        .map(|stops| stops.into_iter().map(|(stop, _)| stop).collect())
        .unwrap_or_default();
    // What ends an answer ends a call.
    let answer = json!({"messages": [{"role": "user", "content": "Ask"}, {"role": "assistant", "content": "Zq7yAnswer"}], "add_generation_prompt": false});
    let answer = render(template, &answer).and_then(|(prompt, _)| Some(prompt.rsplit_once("Zq7yAnswer")?.1.trim().to_owned()));
    stops.extend(answer.filter(|end| !end.is_empty()));
    for calls in set["calls"].as_array().expect("calls are a list") {
        let calls = calls.as_array().expect("calls are a list");
        let Some((prompt, text)) = write(template, tools, calls, &stops) else {
            continue;
        };
        if read(description, &prompt, &text, tools).is_some_and(|read| read == *calls) {
            witnesses.push((prompt, text));
        }
    }
    let mut broken: Vec<(String, String)> = Vec::new();
    for call in set["wrong"].as_array().expect("wrong calls are a list") {
        broken.extend(write(template, tools, std::slice::from_ref(call), &stops));
    }
    for (prompt, text) in &witnesses {
        broken.extend(change(text).into_iter().map(|text| (prompt.clone(), text)));
    }
    broken.retain(|(prompt, text)| !read(description, prompt, text, tools).is_some_and(|calls| fit(&calls, tools)));
    let asked = json!({"messages": [{"role": "user", "content": "Zq7yAsked"}], "tools": tools, "add_generation_prompt": true});
    let prompt = match witnesses.first() {
        Some((prompt, _)) => Some(prompt.clone()),
        None => render(template, &asked).map(|(prompt, _)| prompt),
    };
    let [witnesses, broken] = [witnesses, broken].map(|list| list.into_iter().map(|(_, text)| text).collect::<Vec<_>>());
    let options = GrammarOptions::default()
        .with_tools(tools)
        .with_tool_choice(ToolChoice::Required)
        .with_description(description);
    let make = |format| {
        template
            .grammar(&options.with_format(format))
            .map(|grammar| grammar.expect("there are tools"))
    };
    let [gbnf, lark, tag] = match [GrammarFormat::Gbnf, GrammarFormat::Lark, GrammarFormat::StructuralTag].map(make) {
        [Ok(gbnf), Ok(lark), Ok(tag)] => [gbnf, lark, tag],
        [Err(error), ..] | [_, Err(error), _] | [.., Err(error)] => {
            counts.missing += 1;
            return vec![format!("there is no grammar: {error}")];
        }
    };
    print(json!({
        "set": set["name"], "tools": tools, "gbnf": gbnf.text, "structural_tag": tag.text, "witnesses": witnesses, "broken": broken,
    }));
    let mut complaints: Vec<String> = Vec::new();
    let mut fails = false;
    counts.grammars += 1;
    for text in &witnesses {
        counts.witnesses += 1;
        if let Err(place) = accept(factory, &lark.text, text) {
            counts.refused += 1;
            fails = true;
            complaints.push(format!("refuses {text:?} {place}"));
        }
    }
    for text in &broken {
        counts.broken += 1;
        if accept(factory, &lark.text, text).is_ok() {
            counts.passed += 1;
            fails = true;
            complaints.push(format!("lets through {text:?}"));
        }
    }
    // Random strings of the grammar are calls that fit.
    let prompt = prompt.unwrap_or_default();
    let walks = std::env::var("CHAT_TEMPLATE_WALKS").map_or(WALKS, |walks| walks.parse().expect("walks are counted"));
    let mut walker = walk::Grammar::new(&gbnf.text, walks as u64);
    for text in (0..walks).filter_map(|_| walker.walk()) {
        counts.walks += 1;
        if !read(description, &prompt, &text, tools)
            .is_some_and(|calls| !calls.is_empty() && (!gbnf.lost.is_empty() || fit(&calls, tools)))
        {
            counts.unfit += 1;
            fails = true;
            complaints.push(format!("can write {text:?}"));
        } else if let Err(place) = accept(factory, &lark.text, &text) {
            fails = true;
            complaints.push(format!("refuses {text:?}, which is of its own in GBNF, {place}"));
        }
    }
    counts.exact += usize::from(!fails);
    complaints
}

/// Returns the prompt, and what the template writes after it for a message with calls, without the stop token.
fn write(template: &ChatTemplate, tools: &Value, calls: &[Value], stops: &[String]) -> Option<(String, String)> {
    let user = json!({"role": "user", "content": "Zq7yAsked"});
    let called = |(index, call): (usize, &Value)| json!({"id": format!("abcDEF00{index}"), "type": "function", "function": {"name": call[0], "arguments": call[1]}});
    let calls: Vec<Value> = calls.iter().enumerate().map(called).collect();
    let named = |call: &Value, index: usize| {
        let mut call = call.clone();
        call["id"] = json!(format!(
            "functions.{}:{index}",
            call["function"]["name"].as_str().unwrap_or_default()
        ));
        call
    };
    let named: Vec<Value> = calls.iter().enumerate().map(|(index, call)| named(call, index)).collect();
    let prompt = render(
        template,
        &json!({"messages": [user], "tools": tools, "add_generation_prompt": true}),
    )?
    .0;
    // Where the prompt begins the reasoning, the model reasons.
    for (calls, reasoning) in [
        (&calls, None),
        (&named, None),
        (&calls, Some("Thought.")),
        (&named, Some("Thought.")),
    ] {
        let message = json!({"role": "assistant", "content": null, "reasoning_content": reasoning, "tool_calls": calls});
        let body = json!({"messages": [user, message], "tools": tools, "add_generation_prompt": false});
        let Some((whole, false)) = render(template, &body) else {
            continue;
        };
        let common = whole
            .char_indices()
            .zip(prompt.chars())
            .find(|((_, one), other)| one != other);
        let common = common.map_or(prompt.len().min(whole.len()), |((at, _), _)| at);
        if !prompt[common..].trim().is_empty() {
            continue;
        }
        let text = &whole[common..];
        let end = stops
            .iter()
            .filter_map(|stop| text.find(stop.as_str()))
            .min()
            .unwrap_or(text.len());
        return Some((whole[..common].to_owned(), text[..end].trim_end().to_owned()));
    }
    None
}

/// Returns the prompt of a body, and whether it has lost a part of the second message.
fn render(template: &ChatTemplate, body: &Value) -> Option<(String, bool)> {
    let body = json::to_data(body).ok()?;
    let prepared = template.prepare(&body).ok()?;
    let (prompt, changes) = prepared.render().ok()?;
    let is_lost = changes
        .iter()
        .any(|change| change.severity == Severity::Lost && change.path.starts_with("/messages/1"));
    Some((prompt.text, is_lost))
}

/// Returns strings that are no calls, made of one that has calls.
fn change(text: &str) -> Vec<String> {
    let edges: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let cuts = [3, 5, 8].map(|part| text[..edges[edges.len() * part / 9]].to_owned());
    let others = [
        format!("{text}}}"),
        format!("{text}<x>"),
        format!("x{text}"),
        text[edges[1]..].to_owned(),
    ]
    .into_iter();
    let dropped = CHANGED.iter().filter_map(|seed| {
        // A character of the notation, which is in no string of a schema.
        let marks: Vec<usize> = text
            .char_indices()
            .filter(|(_, char)| matches!(char, '<' | '>' | '[' | ']' | '(' | ')'))
            .map(|(at, _)| at)
            .collect();
        let at = *marks.get(seed % marks.len().max(1))?;
        Some(format!("{}{}", &text[..at], &text[at + 1..]))
    });
    cuts.into_iter()
        .chain(others)
        .chain(dropped)
        .filter(|other| other != text)
        .collect()
}

/// Returns the calls that a model has written, if it has written nothing else.
fn read(description: &ResponseTemplate, prompt: &str, text: &str, tools: &Value) -> Option<Vec<Value>> {
    let options = ParseOptions::default()
        .with_prefix(prompt)
        .with_tools(tools)
        .with_lenient(true);
    let message = json::Data::Object(description.parse(text, &options).ok()?).to_string();
    // An integer of more than 128 bits becomes a float.
    let message: Value = serde_json::from_str(&message).ok()?;
    if message.get("unread").is_some() || message["content"].as_str().is_some_and(|content| !content.trim().is_empty()) {
        return None;
    }
    let calls = message.get("tool_calls")?.as_array()?.iter();
    Some(
        calls
            .map(|call| json!([call["function"]["name"], call["function"]["arguments"]]))
            .collect(),
    )
}

/// Returns whether calls fit the schemas of their tools, where a tool takes no arguments but those that its schema names.
fn fit(calls: &[Value], tools: &Value) -> bool {
    let functions: Vec<&Value> = tools
        .as_array()
        .into_iter()
        .flatten()
        .map(|tool| tool.get("function").unwrap_or(tool))
        .collect();
    calls.iter().all(|call| {
        functions
            .iter()
            .filter(|function| function["name"] == call[0])
            .any(|function| {
                let mut schema = function["parameters"].clone();
                schema["additionalProperties"] = json!(false);
                jsonschema::is_valid(&schema, &call[1])
            })
    })
}

/// Returns whether a grammar lets a string through, or else where it stops.
fn accept(factory: &ParserFactory, lark: &str, text: &str) -> Result<(), String> {
    let grammar = TopLevelGrammar::from_lark(lark.to_owned());
    let mut matcher = Matcher::new(factory.create_parser(grammar));
    if let Some(error) = matcher.get_error() {
        return Err(format!("because the grammar is wrong: {error}"));
    }
    let tokens: Vec<u32> = text.bytes().map(u32::from).collect();
    let read = matcher.try_consume_tokens(&tokens).map_err(|error| error.to_string())?;
    if read < tokens.len() {
        return Err(format!("after {read} bytes of {}", tokens.len()));
    }
    match matcher.is_accepting() {
        Ok(true) => Ok(()),
        _ => Err("at its end".to_owned()),
    }
}
