//! What a model may write, as a grammar for the engine that samples: calls of the tools, with arguments that fit their schemas, or an answer
//! that fits a schema.
//!
//! ```text
//! tool_choice: required   ->   root ::= "<tool_call>\n{\"name\": \"search\", \"arguments\": " r5 "}\n</tool_call>"
//! ```
//!
//! Renders of the template show how it writes calls. All notations are printed from the same rules.

mod calls;
mod containers;
mod merge;
mod options;
mod prepared;
mod print;
mod rules;
mod scalars;
mod schema;
mod strings;
mod written;

pub use options::{Grammar, GrammarFormat, GrammarOptions};

use indexmap::IndexSet;
use serde_json::{Value, json};

use calls::{Tool, read_tools, refuse, write_calls};
use print::print;
use rules::{Rule, Rules};
use schema::Schemas;
use written::{Asker, Calls, Reasoning, count_calls, cut_stop};

use crate::chat::{ChatTemplate, control_tokens};
use crate::error::{Error, Result};
use crate::meter::Meter;
use crate::request::ToolChoice;
use crate::response::ResponseTemplate;

/// The largest number of renders and searches for one grammar.
const RENDERS: u64 = 64;

impl ChatTemplate {
    /// Returns a grammar of what a model may write next. `None` if it may write anything.
    ///
    /// ```
    /// use chat_template::ChatTemplate;
    /// use chat_template::grammar::GrammarOptions;
    /// use chat_template::request::ToolChoice;
    ///
    /// let source = "{% for m in messages %}<|{{ m.role }}|>{{ m.content or '' }}{% for call in m.tool_calls or [] %}\
    ///     <call>{{ {'name': call.function.name, 'arguments': call.function.arguments} | tojson }}</call>{% endfor %}<|end|>\
    ///     {% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";
    /// let template = ChatTemplate::from_source(source, &[])?;
    /// let tools = serde_json::json!([{"type": "function", "function": {
    ///     "name": "stop", "parameters": {"type": "object", "properties": {"now": {"type": "boolean"}}, "required": ["now"]},
    /// }}]);
    /// let options = GrammarOptions::default().with_tools(&tools).with_tool_choice(ToolChoice::Required);
    /// let grammar = template.grammar(&options)?.unwrap();
    /// assert!(grammar.text.starts_with(r#"root ::= "<call>{\"name\": \"stop\", \"arguments\": ""#), "{}", grammar.text);
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the model has to call a tool and the template does not say how, if the description does not read what the template writes, if no
    /// value fits a schema, and if a limit is reached.
    pub fn grammar(&self, options: &GrammarOptions<'_>) -> Result<Option<Grammar>> {
        let deadline = options.bounds.start();
        let mut meter = Meter::within(options.bounds, &deadline).share_steps();
        let tools = options.tools.map(read_tools).transpose()?;
        let bounds = options.bounds.with_deadline(&*deadline);
        self.write_grammar(
            tools.unwrap_or_default(),
            "/json_schema",
            &options.with_bounds(bounds),
            &mut meter,
        )
    }

    /// Returns the grammar of calls of these tools, or of an answer with the schema of the options. `path` is the place of the schema.
    fn write_grammar(
        &self,
        tools: Vec<Tool<'_>>,
        path: &str,
        options: &GrammarOptions<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<Option<Grammar>> {
        // Each render has a part of the steps.
        let limits = meter.limits().clone().with_steps(meter.steps_left() / RENDERS);
        let bounds = options.bounds.with_limits(&limits);
        let tools = choose_tools(tools, options.tool_choice)?;
        if options
            .json_schema
            .is_some_and(|schema| !schema.is_object() && !schema.is_boolean())
        {
            return Err(refuse(format!("{path}: a schema is an object, true or false")));
        }
        if options.variables.is_some_and(|variables| !variables.is_object()) {
            return Err(refuse("/variables: variables are an object"));
        }
        if tools.is_empty() && options.json_schema.is_none() {
            return Ok(None);
        }
        let stops = self.find_stop_tokens(None, meter)?;
        let mut stops: Vec<String> = stops.iter().map(|(stop, _)| stop.clone()).collect();
        let asker = Asker {
            template: self,
            variables: options.variables,
            bounds,
        };
        let (open, close) = asker.ask_answer()?.unwrap_or_default();
        let answer_end = cut_stop(&close, &stops).to_owned();
        // The end of an answer is not part of a call.
        stops.extend(Some(close.trim().to_owned()).filter(|close| !close.is_empty()));
        let mut calls = match tools.is_empty() {
            true => None,
            false => asker.ask_calls(&stops)?,
        };
        if calls.is_none() && !tools.is_empty() {
            if options.tool_choice == ToolChoice::Auto && options.json_schema.is_none() {
                return Ok(None);
            }
            return Err(refuse("the template does not say how it writes calls"));
        }
        let description = match options.description {
            None => self.response_template()?,
            given => given,
        };
        if let (Some(description), Some(calls)) = (description, &mut calls) {
            if !calls.fit(description, bounds)? {
                return Err(refuse(
                    "the description of the model does not read the calls that the template writes",
                ));
            }
        }
        let (mut rules, mut lost) = (Rules::default(), IndexSet::new());
        let schemas = Schemas::new(&mut rules, &mut lost, meter);
        let mut writer = Writer {
            options,
            description,
            asker,
            tokens: self.control_tokens(),
            schemas,
        };
        let answer = match options.json_schema {
            Some(schema) => writer.write_answer((schema, path), &open, &answer_end)?,
            None => Rule::NEVER,
        };
        let (text, triggers) = writer.print(calls.as_ref(), &tools, answer)?;
        let lost = lost.into_iter().collect();
        Ok(Some(Grammar { text, triggers, lost }))
    }
}

/// Returns the tools that the model may call.
fn choose_tools<'o>(mut tools: Vec<Tool<'o>>, choice: ToolChoice<'_>) -> Result<Vec<Tool<'o>>> {
    match choice {
        ToolChoice::None => tools.clear(),
        ToolChoice::Function(name) => {
            tools.retain(|tool| tool.name == name);
            if tools.is_empty() {
                return Err(refuse(format!("/tool_choice: there is no tool {name}")));
            }
        }
        ToolChoice::Required if tools.is_empty() => return Err(refuse("/tool_choice: there are no tools")),
        ToolChoice::Auto | ToolChoice::Required => {}
    }
    Ok(tools)
}

/// Builds the rules of a message and prints them.
struct Writer<'w, 'r, 'm, 'a> {
    options: &'w GrammarOptions<'w>,
    description: Option<&'w ResponseTemplate>,
    asker: Asker<'w>,
    /// The special tokens of the model.
    tokens: Vec<&'w str>,
    schemas: Schemas<'r, 'm, 'a>,
}

impl Writer<'_, '_, '_, '_> {
    /// Returns the rule of an answer that fits a schema, including the strings around it.
    fn write_answer(&mut self, (schema, path): (&Value, &str), open: &str, close: &str) -> Result<Rule> {
        self.schemas.begin(schema, path)?;
        let value = self.schemas.value(schema, path)?;
        if value == Rule::NEVER {
            return Err(refuse(format!("{path}: no value fits the schema")));
        }
        let (begin, before, _) = self.write_before(None, open)?;
        Ok(Rule::sequence([before, Rule::text(begin), value, Rule::text(close)]))
    }

    /// Returns the string that begins a call or an answer, the rule of what can precede it (reasoning or white space), and the string that
    /// ends the reasoning if the prompt has already begun it.
    fn write_before(&self, calls: Option<&Calls>, before: &str) -> Result<(String, Rule, Option<String>)> {
        let found = self.asker.ask_reasoning(calls, before)?;
        let mut found = found.filter(|reasoning| self.options.reasoning || reasoning.open.is_empty());
        if let (Some(description), Some(calls)) = (self.description, calls) {
            let reads = |prompt: &str, text: &str| Ok::<_, Error>(count_calls(description, prompt, text, self.asker.bounds)? > 0);
            let reads_reasoning = match &found {
                Some(reasoning) => reads(&reasoning.prompt, &reasoning.witness)?,
                None => false,
            };
            // After a prompt that has begun it, the model continues the reasoning.
            let has_begun = found.as_ref().is_some_and(|reasoning| reasoning.open.is_empty());
            let reads_call = match has_begun {
                true => reads_reasoning,
                false => reads(&calls.asked, &calls.witness)?,
            };
            if !reads_call {
                return Err(refuse(
                    "the description of the model reads no call after the generation prompt",
                ));
            }
            found.take_if(|_| !reads_reasoning);
        }
        let blank = before.get(..before.len().saturating_sub(before.trim_start().len()));
        let blank = Rule::text(blank.unwrap_or_default()).optional();
        let Some(Reasoning {
            open, close, gap, begin, ..
        }) = found
        else {
            return Ok((before.trim_start().to_owned(), blank, None));
        };
        let space = Rule::class(&[(' ', ' '), ('\n', '\n')]).repeat(0, Some(4));
        let end = open.is_empty().then(|| close.clone());
        let (before, open) = open
            .split_at_checked(open.len().saturating_sub(open.trim_start().len()))
            .unwrap_or_default();
        let rule = Rule::sequence([
            Rule::text(before).optional(),
            Rule::text(open),
            Rule::Until(close, Vec::new()),
            space,
            Rule::text(gap),
        ]);
        let rule = if end.is_some() { rule } else { Rule::choice([rule, blank]) };
        Ok((begin, rule, end))
    }

    /// Returns the grammar of a message with calls or an answer, and the strings that begin a call in free text.
    fn print(&mut self, calls: Option<&Calls>, tools: &[Tool<'_>], answer: Rule) -> Result<(String, Vec<String>)> {
        let is_parallel = self.options.parallel_calls;
        let is_free = self.options.tool_choice == ToolChoice::Auto && answer == Rule::NEVER;
        let mut bodies = vec![answer];
        if let Some(calls) = calls {
            let (begin, before, end) = self.write_before(Some(calls), &calls.first)?;
            if is_free {
                return self.print_free(calls, &begin, end, tools);
            }
            let body = write_calls(calls, &begin, tools, is_parallel, &mut self.schemas)?;
            bodies.push(Rule::sequence([before, body]));
        }
        let body = Rule::choice(bodies);
        if body == Rule::NEVER {
            return Err(refuse("/tools: no arguments fit the schemas of the tools"));
        }
        let text = match self.options.format {
            GrammarFormat::Lark => self.lark(&body)?,
            GrammarFormat::Gbnf => self.gbnf(&body)?,
            GrammarFormat::StructuralTag => tag(json!({"type": "grammar", "grammar": self.gbnf(&body)?})),
        };
        Ok((text, Vec::new()))
    }

    /// Returns the grammar of free text in which calls begin with triggers. `reasoning` is the string that ends the reasoning, if the prompt
    /// has already begun it.
    fn print_free(
        &mut self,
        calls: &Calls,
        begin: &str,
        reasoning: Option<String>,
        tools: &[Tool<'_>],
    ) -> Result<(String, Vec<String>)> {
        let is_parallel = self.options.parallel_calls;
        let mut parts = Vec::new();
        match find_trigger(begin) {
            Some(trigger) => {
                let rest = begin.get(trigger.len()..).unwrap_or_default();
                parts.push((
                    trigger.to_owned(),
                    write_calls(calls, rest, tools, is_parallel, &mut self.schemas)?,
                ));
            }
            // The string before the name is too short to identify a call, so the name is part of the trigger.
            None => {
                let (before, after) = begin.split_once(written::NAME).unwrap_or_default();
                for tool in tools {
                    let one = std::slice::from_ref(tool);
                    let rest = write_calls(calls, after, one, false, &mut self.schemas)?;
                    parts.push((format!("{before}{}", tool.name), rest));
                }
            }
        }
        let triggers: Vec<String> = parts.iter().map(|(trigger, _)| trigger.clone()).collect();
        let text = match self.options.format {
            GrammarFormat::Gbnf => {
                let root = Rule::choice(
                    parts
                        .into_iter()
                        .map(|(trigger, rest)| Rule::sequence([Rule::text(trigger), rest])),
                );
                self.gbnf(&root)?
            }
            GrammarFormat::Lark => {
                // Each trigger has a rule with all others.
                let bytes: usize = triggers.iter().map(String::len).sum();
                self.schemas
                    .meter
                    .charge_items(triggers.len().saturating_mul(triggers.len()))?;
                self.schemas.meter.claim_for_render(bytes.saturating_mul(triggers.len()))?;
                let with_calls = parts.into_iter().map(|(trigger, rest)| {
                    let others = triggers.iter().filter(|other| **other != trigger).cloned().collect();
                    Rule::sequence([Rule::Until(trigger, others), rest])
                });
                let free = Rule::Until(String::new(), triggers.clone());
                let body = Rule::choice(with_calls.chain([free]));
                let reasoning = reasoning.map_or(Rule::EMPTY, |end| Rule::Until(end, Vec::new()));
                self.lark(&Rule::sequence([reasoning, body]))?
            }
            GrammarFormat::StructuralTag => {
                let mut tags = Vec::new();
                for (trigger, rest) in &parts {
                    let content = json!({"type": "grammar", "grammar": self.gbnf(rest)?});
                    tags.push(json!({"type": "tag", "begin": trigger, "content": content, "end": ""}));
                }
                let calls = json!({
                    "type": "triggered_tags", "triggers": triggers, "tags": tags, "at_least_one": false, "stop_after_first": true,
                });
                tag(match reasoning {
                    Some(end) => {
                        let reasoning = json!({"type": "tag", "begin": "", "content": {"type": "any_text"}, "end": end});
                        json!({"type": "sequence", "elements": [reasoning, calls]})
                    }
                    None => calls,
                })
            }
        };
        Ok((text, triggers))
    }

    fn gbnf(&mut self, root: &Rule) -> Result<String> {
        print(root, self.schemas.rules, None, self.schemas.meter)
    }

    fn lark(&mut self, root: &Rule) -> Result<String> {
        print(root, self.schemas.rules, Some(&self.tokens), self.schemas.meter)
    }
}

fn tag(format: Value) -> String {
    json!({"type": "structural_tag", "format": format}).to_string()
}

/// Returns the start of the string before the name if it identifies a call: a control token, or a key of JSON.
fn find_trigger(begin: &str) -> Option<&str> {
    let marks = [written::NAME, written::IDS[0], written::COUNT];
    let end = marks.iter().filter_map(|mark| begin.find(mark)).min()?;
    let head = begin.get(..end)?.trim_end();
    match control_tokens(head).next() {
        Some(token) if token.start == 0 => head.get(token),
        _ => (head.len() > 4).then_some(head),
    }
}
