//! The command `grammar`, which prints what a model may write, as a grammar for the engine that samples.

use std::path::{Path, PathBuf};

use chat_template::grammar::{GrammarFormat, GrammarOptions};
use chat_template::request::ToolChoice;
use chat_template::response::ResponseTemplate;
use chat_template::{ChatTemplate, Limits};
use serde_json::Value;

use super::file::Texts;
use super::model::Source;
use super::show;
use super::{print, print_json};

/// The arguments of `grammar`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  chat-template grammar --model Qwen3-8B --tools tools.json --tool-choice required
  chat-template grammar --model Qwen3-8B --tools tools.json --format lark
  chat-template grammar --model Qwen3-8B --json-schema answer.json --format structural-tag --json")]
#[command(group = Source::required())]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    /// The tools: a JSON list.
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// Which tools the model may call: auto, none, required, or the name of one.
    #[arg(long, value_name = "CHOICE", default_value = "auto")]
    tool_choice: String,
    /// Lets the model call one tool in a message.
    #[arg(long)]
    single_call: bool,
    /// The JSON schema of the answer.
    #[arg(long, value_name = "FILE")]
    json_schema: Option<PathBuf>,
    /// Does not let the model reason, unless the prompt has begun the reasoning.
    #[arg(long)]
    no_reasoning: bool,
    /// The variables of the request: a JSON object such as {"enable_thinking": false}.
    #[arg(long, value_name = "FILE")]
    variables: Option<PathBuf>,
    /// The notation.
    #[arg(long, value_name = "FORMAT", default_value = "gbnf")]
    format: Format,
    /// Prints a JSON object: the text of the grammar, the triggers, and the keywords of schemas that it does not keep.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    /// For llama.cpp.
    Gbnf,
    /// For llguidance.
    Lark,
    /// For xgrammar.
    StructuralTag,
}

/// Prints the grammar of what a model may write.
pub fn run(arguments: &Arguments) -> Result<(), String> {
    let explain = |error: chat_template::Error| arguments.source.explain(&error);
    let files = [&arguments.tools, &arguments.json_schema, &arguments.variables];
    let given = files.iter().filter_map(|path| path.as_deref());
    let texts = Texts::read(arguments.source.files().chain(given), Limits::default())?;
    let chat = arguments.source.load_chosen(&texts)?;
    let values = files.map(|path| path.as_deref().map(|path| read_value(&texts, path)).transpose());
    let [tools, json_schema, variables] = values;
    let (tools, json_schema, variables) = (tools?, json_schema?, variables?);
    let tool_choice = match arguments.tool_choice.as_str() {
        "auto" => ToolChoice::Auto,
        "none" => ToolChoice::None,
        "required" => ToolChoice::Required,
        name => ToolChoice::Function(name),
    };
    let description = find_description(&chat, &texts).map_err(explain)?;
    let options = GrammarOptions::default()
        .with_format(match arguments.format {
            Format::Gbnf => GrammarFormat::Gbnf,
            Format::Lark => GrammarFormat::Lark,
            Format::StructuralTag => GrammarFormat::StructuralTag,
        })
        .with_tools(tools.as_ref())
        .with_tool_choice(tool_choice)
        .with_parallel_calls(!arguments.single_call)
        .with_json_schema(json_schema.as_ref())
        .with_reasoning(!arguments.no_reasoning)
        .with_variables(variables.as_ref())
        .with_description(description.as_ref())
        .with_bounds(texts.bounds());
    let grammar = chat.grammar(&options).map_err(explain)?;
    let Some(grammar) = grammar else {
        return Err("error: the model may write anything: there is neither a schema nor a tool that it can call".to_owned());
    };
    if arguments.json {
        return print_json(|out| show::write_line(&grammar, out)).map_err(|error| format!("error: {error}"));
    }
    for (path, keyword) in &grammar.lost {
        eprintln!("warning: {path}: the grammar does not keep {keyword}");
    }
    for trigger in &grammar.triggers {
        eprintln!("trigger: {}", Value::from(trigger.as_str()));
    }
    print(grammar.text).map_err(|error| format!("error: {error}"))
}

fn read_value(texts: &Texts, path: &Path) -> Result<Value, String> {
    serde_json::to_value(texts.parse_json(path)?).map_err(|error| format!("error: {}: {error}", path.display()))
}

/// Returns the description of what the model writes: that of its files, or else the derived one.
fn find_description(chat: &ChatTemplate, texts: &Texts) -> Result<Option<ResponseTemplate>, chat_template::Error> {
    if let Some(declared) = chat.response_template()? {
        return Ok(Some(declared.clone()));
    }
    let report = chat.inspect(texts.bounds())?;
    report.response()?.template.as_ref().map(ResponseTemplate::new).transpose()
}
