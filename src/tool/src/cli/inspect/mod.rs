//! The command `inspect`, which shows what a template takes.
//!
//! ```text
//! roles          string    parts     null
//!   user         printed   repr      nothing
//! switches
//!   enable_thinking = true or false (true if absent) changes the generation prompt
//! ```

mod html;
mod page;

use std::path::PathBuf;

use crate::conformance::printable;
use chat_template::internal::report::Boundary;
use chat_template::{ChatTemplate, Error, Limits, Report};
use clap::builder::PossibleValuesParser;
use serde_json::Value;

use super::file::{self, Texts, check_written};
use super::model::Source;
use super::show::{self, When};
use super::{print, print_json};

/// The arguments of `inspect`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  chat-template inspect --model Qwen3-8B
  chat-template inspect --template chat_template.jinja --deny prefix
  chat-template inspect --model Qwen3-8B --json | jq .switches
  chat-template inspect --model Qwen3-8B --response-template
  chat-template inspect --model Qwen3-8B --response-template --for vllm")]
#[command(group = Source::required())]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Prints the report as a JSON object, with the conversation that shows each verdict.
    #[arg(long)]
    json: bool,
    /// Prints the description of how the model writes a message, as it is in a tokenizer_config.json under "response_template". It is an
    /// error if none comes back for all messages of the experiments.
    #[arg(long, conflicts_with_all = ["json", "color", "html", "deny"])]
    response_template: bool,
    /// Writes the description as another engine reads it, which streams each part of the message: the reasoning is the field "thinking", and
    /// no parts are joined. vLLM reads it with --tool-call-parser hf and --reasoning-parser hf.
    #[arg(long = "for", value_name = "ENGINE", requires = "response_template")]
    engine: Option<Engine>,
    /// Colours the report. Without the option, it has colours on a terminal unless NO_COLOR is set.
    #[arg(long, value_name = "WHEN", conflicts_with = "json")]
    color: Option<When>,
    /// Writes the report as an HTML page with example prompts, which loads nothing. Without --json, nothing is printed.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Fails if there is a finding of this rule, or with the word prefix, if a prompt does not stay a prefix. The option can be repeated.
    #[arg(long, value_name = "RULE", value_parser = PossibleValuesParser::new(ChatTemplate::lint_rules().chain(["prefix"])))]
    deny: Vec<String>,
    /// The limits of all experiments together: a JSON object such as {"steps": 1000000, "milliseconds": 500}.
    #[arg(long, value_name = "FILE")]
    limits: Option<PathBuf>,
}

/// An engine that reads descriptions. These two read the same.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Engine {
    Vllm,
    Sglang,
}

/// Returns a description with the reasoning under the name of vLLM and SGLang, and without `join`, which they refuse. Their fields are those
/// of `ResponseTemplateParser` in vLLM and of `ResponseTemplateReasoningDetector` in SGLang.
fn write_for_engine(mut template: Value) -> Value {
    if let Some(Value::Object(fields)) = template.get_mut("fields") {
        let renamed = std::mem::take(fields).into_iter().map(|(name, mut field)| {
            if let Some(field) = field.as_object_mut() {
                field.remove("join");
            }
            let name = if name == "reasoning_content" {
                "thinking".to_owned()
            } else {
                name
            };
            (name, field)
        });
        *fields = renamed.collect();
    }
    template
}

/// Inspects a template and shows the report.
pub fn run(arguments: &Arguments) -> Result<(), String> {
    let read = arguments.source.list_read();
    check_written(read.iter().chain(&arguments.limits), arguments.html.as_deref())
        .map_err(|message| format!("error: {message}"))?;
    let limits = file::read_limits(arguments.limits.as_deref(), Limits::default())?;
    let texts = Texts::read(arguments.source.files(), limits)?;
    let chat = arguments.source.load_chosen(&texts)?;
    let explain = |error: Error| arguments.source.explain(&error);
    let report = chat.inspect(texts.bounds()).map_err(explain)?;
    if arguments.response_template {
        let response = report.response().map_err(explain)?;
        let reason = response.reason.as_deref().unwrap_or_default();
        let Some(template) = &response.template else {
            return Err(format!("error: no description was found: {reason}"));
        };
        if !response.partial.is_empty() {
            eprintln!(
                "warning: the description does not read {}: {reason}",
                response.partial.join(", ")
            );
        }
        let template = match arguments.engine {
            Some(Engine::Vllm | Engine::Sglang) => write_for_engine(template.clone()),
            None => template.clone(),
        };
        return print_json(|out| show::write_line(&template, out)).map_err(|error| format!("error: {error}"));
    }
    report.complete().map_err(explain)?;
    let source = arguments.source.model.as_ref().or(arguments.source.template.as_ref());
    let title = source
        .and_then(|source| source.file_name())
        .map_or("template".into(), |name| name.to_string_lossy());
    if let Some(path) = &arguments.html {
        let page = html::page(&title, &chat, &report, texts.bounds()).map_err(explain)?;
        std::fs::write(path, printable(&page).as_bytes()).map_err(|error| format!("error: {}: {error}", path.display()))?;
    }
    if arguments.json {
        print_json(|out| show::write_line(&report, out)).map_err(|error| format!("error: {error}"))?;
    } else if arguments.html.is_none() {
        let is_colored = arguments.color.unwrap_or(When::Auto).is_colored();
        print(page::write(&title, &report, is_colored).map_err(explain)?).map_err(|error| format!("error: {error}"))?;
    }
    match find_denied(&report, &arguments.deny).map_err(explain)?.as_slice() {
        [] => Ok(()),
        denied => Err(format!("error: denied: {}", denied.join(", "))),
    }
}

/// Returns the denied rules that the template breaks, and the boundaries at which a prompt does not stay a prefix.
fn find_denied(report: &Report<'_>, deny: &[String]) -> Result<Vec<String>, Error> {
    let mut denied = Vec::new();
    for rule in deny {
        if rule == "prefix" {
            let boundaries = report.prefix()?.boundaries().into_iter();
            let broken = boundaries.filter(|(_, boundary)| matches!(boundary, Boundary::Broken(_)));
            denied.extend(broken.map(|(name, _)| format!("prefix ({name})")));
        } else if let Some(finding) = report.lint()?.iter().find(|finding| finding.rule == *rule) {
            denied.push(format!("{rule} (line {})", finding.line));
        }
    }
    Ok(denied)
}

#[cfg(test)]
mod tests {
    use chat_template::{Bounds, ChatTemplate};

    use super::{find_denied, html, page};

    const SOURCE: &str = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% if loop.last %}!{% endif %}{% endfor %}\
                          {% if add_generation_prompt %}<|assistant|>{% if think %}<think>{% endif %}{% endif %}";

    /// Returns the report on a template as the terminal shows it.
    fn show(title: &str, source: &str, is_coloured: bool) -> String {
        let template = ChatTemplate::from_source(source, &[]).unwrap();
        page::write(title, &template.inspect(Bounds::default()).unwrap(), is_coloured).unwrap()
    }

    #[test]
    fn a_page_shows_verdicts_switches_and_counterexamples() {
        let shown = show("t.jinja", SOURCE, false);
        for expected in [
            "  user         printed   repr",
            "think = true or false (false if absent) changes the generation prompt",
            "  user               broken",
        ] {
            assert!(shown.contains(expected), "{expected:?} is not in:\n{shown}");
        }
    }

    #[test]
    fn words_have_colours_and_a_legend() {
        let source = "{% for m in messages %}{{ m.content }}{{ m.role }}{% endfor %}";
        let shown = show("t", source, true);
        for expected in [
            "\x1b[1mt\x1b[0m\n",
            "\x1b[1mroles\x1b[0m\x1b[38;5;243m          string    parts     null\x1b[0m\n",
            "  user         \x1b[38;5;28mprinted   \x1b[0m\x1b[38;5;130mrepr      \x1b[0mnothing\n",
            "assistant          \x1b[38;5;28mkept\x1b[0m in 158 pairs\n",
            "  \x1b[38;5;130mrepr         \x1b[0mthe prompt has the parts in the notation of Python or JSON\n",
        ] {
            assert!(shown.contains(expected), "{expected:?} is not in:\n{shown:?}");
        }
        assert!(!show("t", source, false).contains('\x1b'));
    }

    #[test]
    fn lines_are_cut_to_the_width_of_a_terminal() {
        let test = "m.role == 'user' and ".repeat(20);
        let many: String = (0..40).map(|index| format!("{{{{ variable_{index} }}}}")).collect();
        let source = format!("{many}{{% for m in messages %}}\t{{% if {test}m.content.strip() %}}{{% endif %}}{{% endfor %}}");
        let shown = page::write(
            "t",
            &ChatTemplate::from_source(&source, &[])
                .unwrap()
                .inspect(Bounds::default())
                .unwrap(),
            false,
        )
        .unwrap();
        let excerpt = shown
            .lines()
            .skip_while(|line| !line.contains("python-method"))
            .nth(1)
            .unwrap();
        let caret = shown
            .lines()
            .skip_while(|line| !line.contains("python-method"))
            .nth(2)
            .unwrap();
        let at = caret.chars().count() - 1;
        assert!(
            excerpt.chars().skip(at).collect::<String>().starts_with("strip()"),
            "{excerpt}\n{caret}"
        );
        let long = shown.lines().find(|line| line.chars().count() > 100);
        assert_eq!(long, None);
    }

    #[test]
    fn vllm_reads_thinking_and_joins_nothing() {
        let content = serde_json::json!({"repeats": true, "join": "", "close": "<end>"});
        let thought = serde_json::json!({"open": "<think>", "close": "</think>"});
        let template = serde_json::json!({"start_anchor": "<bot>", "fields": {"reasoning_content": thought, "content": content}});
        let content = serde_json::json!({"repeats": true, "close": "<end>"});
        let expected = serde_json::json!({"start_anchor": "<bot>", "fields": {"thinking": thought, "content": content}});
        assert_eq!(super::write_for_engine(template), expected);
    }

    #[test]
    fn a_denied_prefix_fails() {
        let report = ChatTemplate::from_source(SOURCE, &[])
            .unwrap()
            .inspect(Bounds::default())
            .unwrap();
        assert!(
            find_denied(&report, &["prefix".to_owned()])
                .unwrap()
                .contains(&"prefix (user)".to_owned())
        );
        assert!(find_denied(&report, &[]).unwrap().is_empty());
    }

    #[test]
    fn a_finding_in_a_long_line_is_shown() {
        let source = "a".repeat(70_000) + "{{ x.lower() }}";
        let shown = page::write(
            "t.jinja",
            &ChatTemplate::from_source(&source, &[])
                .unwrap()
                .inspect(Bounds::default())
                .unwrap(),
            false,
        )
        .unwrap();
        assert!(shown.contains("1:70006 python-method"), "{}", shown.len());
    }

    #[test]
    fn an_example_that_reached_a_limit_is_not_rendered_again() {
        let loops = "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}";
        let source = format!("{{{{ messages[0].content }}}}{{{{ 'a' * 70000 }}}}{loops}");
        let chat = ChatTemplate::from_source(&source, &[]).unwrap();
        let page = html::page("t", &chat, &chat.inspect(Bounds::default()).unwrap(), Bounds::default()).unwrap();
        assert!(page.contains("limit reached: output") && !page.contains("limit reached: steps"));
    }

    #[test]
    fn a_page_escapes_what_the_template_writes() {
        let chat =
            ChatTemplate::from_source("<script>{{ messages[0].content }}{{ raise_exception('<b>') if tools }}", &[]).unwrap();
        let page = html::page("<i>", &chat, &chat.inspect(Bounds::default()).unwrap(), Bounds::default()).unwrap();
        assert!(!page.contains("<script>v") && !page.contains("<b>&lt;") && page.contains("&lt;i&gt;"));
    }
}
