//! `chat-template render`: a conversation through the contract, or a context through the bare engine.

use std::path::{Path, PathBuf};

use chat_template::json::{Data, Object};
use chat_template::{
    ApplyOptions, ChatTemplate, ContinueFinalMessage, Error, ErrorClass, FixedClock, LoadAs, LoadOptions, LocalTime, Prompt,
    RenderOptions, Template,
};

use super::file::{self, Texts};
use super::{print, show, variable};

const EXAMPLES: &str = "\
Examples:
  chat-template render --model Qwen3-8B --messages conversation.json --add-generation-prompt
  chat-template render --model Qwen3-8B --messages - --tools tools.json --var enable_thinking=false < conversation.json
  chat-template render --template chat.jinja --config tokenizer_config.json --messages conversation.json --json
  chat-template render --model Qwen3-8B --messages conversation.json --continue-final-message reasoning_content
  echo '{\"x\": 1}' | chat-template render --template chat.jinja --context -

A FILE that is - is standard input. The output is printed as it is, without a newline of our own.

The messages may be an object, such as the body of a request, with \"messages\" and, where no option gives them, \"tools\" and
\"documents\"; other keys are ignored.

--json prints one object: \"text\"; \"generation\", the spans of {% generation %} blocks as transformers counts them, which is wrong inside
macros, set blocks and call blocks; \"true_spans\", the places where their text is; and \"steps\", the work of the render. Spans are
[start, end] pairs, once in code points and once in bytes. With --context there are \"text\", \"generation\" and \"steps\".";

/// What `render` takes.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("source").required(true))]
#[command(group = clap::ArgGroup::new("input").required(true))]
pub struct Arguments {
    /// The model's folder, with chat_template.jinja or tokenizer_config.json in it, or its folder models--NAME in the Hugging Face cache.
    #[arg(long, value_name = "DIR", group = "source", conflicts_with = "context")]
    model: Option<PathBuf>,
    /// Reads a model's folder whose tokenizer is code too, with the special tokens that its files name.
    #[arg(long, requires = "model")]
    ignore_remote_code: bool,
    /// Looks for the model's templates where a processor does: processor_config.json, chat_template.json.
    #[arg(long, requires = "model")]
    processor: bool,
    /// The template.
    #[arg(long, value_name = "FILE", group = "source")]
    template: Option<PathBuf>,
    /// The tokenizer_config.json that gives the special tokens to a --template.
    #[arg(long, value_name = "FILE", requires = "template", conflicts_with = "context")]
    config: Option<PathBuf>,
    /// The conversation, a JSON array of messages or an object with "messages"; it is rendered as apply_chat_template does.
    #[arg(long, value_name = "FILE", group = "input")]
    messages: Option<PathBuf>,
    /// The variables, a JSON object, for the template engine alone.
    #[arg(long, value_name = "FILE", group = "input")]
    context: Option<PathBuf>,
    /// The tools, a JSON array of schemas.
    #[arg(long, value_name = "FILE", conflicts_with = "context")]
    tools: Option<PathBuf>,
    /// The documents, a JSON array of objects.
    #[arg(long, value_name = "FILE", conflicts_with = "context")]
    documents: Option<PathBuf>,
    /// Opens the model's answer at the end.
    #[arg(long, conflicts_with = "context")]
    add_generation_prompt: bool,
    /// Leaves the last message open, so that the model continues it: its content, or the field that is named.
    #[arg(long, value_name = "FIELD", num_args = 0..=1, default_missing_value = "content", conflicts_with = "context")]
    continue_final_message: Option<String>,
    /// Which of the model's templates it is to be.
    #[arg(long, value_name = "NAME", requires = "model")]
    name: Option<String>,
    /// A variable of your own, such as enable_thinking=false; may be repeated. A name that no template takes gives a warning.
    #[arg(long = "var", value_name = "NAME=JSON", value_parser = variable::parse, conflicts_with = "context")]
    variables: Vec<(String, Data<'static>)>,
    /// The local time that strftime_now sees, such as 2026-01-02T03:04:05.
    #[arg(long, value_name = "TIME")]
    now: Option<LocalTime>,
    /// Limits that are not the defaults, a JSON object such as {"steps": 1000000, "milliseconds": 500}.
    #[arg(long, value_name = "FILE")]
    limits: Option<PathBuf>,
    /// Prints a JSON object with the text and the spans of {% generation %} blocks, as described below.
    #[arg(long)]
    json: bool,
    /// Shows what {% generation %} blocks wrote in colour; auto is when the output is a terminal and NO_COLOR is not set.
    #[arg(long, value_name = "WHEN", num_args = 0..=1, default_missing_value = "auto", conflicts_with_all = ["json", "context"])]
    color: Option<When>,
}

/// When there is colour.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum When {
    /// In a terminal, unless NO_COLOR is set.
    Auto,
    /// Into files and pipes too.
    Always,
    /// Not at all.
    Never,
}

/// Renders and prints.
pub fn run(arguments: &Arguments) -> Result<(), String> {
    let files = [
        &arguments.template,
        &arguments.config,
        &arguments.messages,
        &arguments.context,
        &arguments.tools,
        &arguments.documents,
    ];
    let texts = Texts::read(files.into_iter().flatten().map(PathBuf::as_path))?;
    let text = match (&arguments.context, &arguments.messages) {
        (Some(context), _) => render(arguments, &texts, context)?,
        (None, Some(messages)) => apply(arguments, &texts, messages)?,
        (None, None) => return Err("error: there is neither --messages nor --context".to_owned()),
    };
    print(text).map_err(|error| format!("error: {error}"))
}

/// The bare engine.
fn render(arguments: &Arguments, texts: &Texts, context: &Path) -> Result<String, String> {
    let path = arguments.template.as_deref().unwrap_or(Path::new(""));
    let in_file = |error| in_file(path, &error);
    let limits = file::limits(arguments.limits.as_deref())?;
    let template = Template::compile_with(texts.of(path), &limits).map_err(in_file)?;
    let context = texts.json(context)?;
    let fixed = arguments.now.map(FixedClock);
    let mut options = RenderOptions {
        limits: &limits,
        generation: arguments.json,
        ..RenderOptions::default()
    };
    if let Some(clock) = &fixed {
        options.clock = clock;
    }
    let rendered = template.render_with(&context, &options).map_err(in_file)?;
    Ok(match arguments.json {
        true => show::rendered(&rendered),
        false => rendered.text,
    })
}

/// The contract.
fn apply(arguments: &Arguments, texts: &Texts, messages: &Path) -> Result<String, String> {
    let chat = chat_template(arguments, texts)?;
    let input = texts.json(messages)?;
    let from_input = |what: &str| match &input {
        Data::Object(body) => body.get(what).cloned(),
        _ => None,
    };
    let of_option = |option: &Option<PathBuf>, what: &str| match (option, from_input(what)) {
        (Some(path), _) => objects(texts.json(path)?, path, what),
        (None, Some(given)) => objects(given, messages, what),
        (None, None) => Ok(Data::None),
    };
    let tools = of_option(&arguments.tools, "tools")?;
    let documents = of_option(&arguments.documents, "documents")?;
    let messages = objects(from_input("messages").unwrap_or_else(|| input.clone()), messages, "messages")?;
    for warning in variable::warnings(&arguments.variables, &chat.variables()) {
        eprintln!("{warning}");
    }
    let variables = arguments.variables.iter();
    let variables = Object::new(variables.map(|(name, value)| (name.as_str().into(), value.clone())).collect());
    let colored = match arguments.color {
        Some(When::Always) => true,
        Some(When::Auto) => show::is_in_colour(),
        Some(When::Never) | None => false,
    };
    let limits = file::limits(arguments.limits.as_deref())?;
    let fixed = arguments.now.map(FixedClock);
    let mut options = ApplyOptions {
        limits: &limits,
        tools: Some(&tools),
        documents: Some(&documents),
        chat_template: arguments.name.as_deref(),
        add_generation_prompt: arguments.add_generation_prompt,
        continue_final_message: match &arguments.continue_final_message {
            Some(field) => ContinueFinalMessage::Field(field),
            None => ContinueFinalMessage::No,
        },
        variables: Some(&variables),
        // A continued message has no spans of the reference's: it refuses to be asked for them.
        generation: arguments.json && arguments.continue_final_message.is_none(),
        true_spans: arguments.json || colored,
        ..ApplyOptions::default()
    };
    if let Some(clock) = &fixed {
        options.clock = clock;
    }
    let prompt: Prompt = chat.apply(&messages, &options).map_err(|error| hinted(arguments, &error))?;
    Ok(match (arguments.json, colored) {
        (true, _) => show::prompt(&prompt),
        (false, true) => show::colored(&prompt.text, &prompt.true_spans.bytes),
        (false, false) => prompt.text,
    })
}

/// Returns the array of objects that a file holds, or null where an argument may be missing. The contract takes more than that, in words
/// that are about Python's types; on a command line anything else is a mistake.
fn objects<'t>(given: Data<'t>, path: &Path, what: &str) -> Result<Data<'t>, String> {
    let found = match &given {
        Data::List(items) => match items.iter().position(|item| !matches!(item, Data::Object(_))) {
            None => return Ok(given),
            Some(index) => format!("its element {index} is no object"),
        },
        Data::None if what != "messages" => return Ok(Data::None),
        Data::Object(_) if what == "messages" => "found an object without \"messages\"".to_owned(),
        Data::Object(_) => "found an object".to_owned(),
        Data::Str(_) => "found a string".to_owned(),
        _ => "found something else".to_owned(),
    };
    Err(format!(
        "error: {}: expected an array of {what}, each an object: {found}",
        path.display()
    ))
}

/// An error with the file of its template in front, unless it is the conversation's, and with the option that raises a limit.
fn in_file(path: &Path, error: &Error) -> String {
    match error.class() {
        ErrorClass::Request => error.to_string(),
        _ => format!("{}: {error}{}", path.display(), limit_option(error)),
    }
}

/// A line about the option that raises the limit that was reached, if there is one.
fn limit_option(error: &Error) -> String {
    let reached = error.reached();
    let limit = reached.filter(|reached| reached.limit.setting().is_some_and(|setting| setting.starts_with("Limits::")));
    limit.map_or_else(String::new, |reached| {
        let doubled = reached.allowed.saturating_mul(2);
        format!(
            "\n`--limits FILE` sets it, where FILE holds {{\"{}\": {doubled}}}",
            reached.limit.name()
        )
    })
}

/// An error with what helps on a command line: where the template was looked for, when there is none, and its file. A model's error
/// names the file itself, which is one of several.
fn hinted(arguments: &Arguments, error: &Error) -> String {
    if let Some(path) = &arguments.template {
        return in_file(path, error);
    }
    match &arguments.model {
        Some(model) if error.message().starts_with("Cannot use chat template functions") => format!(
            "{error}\n{} was looked through for chat_template.jinja, additional_chat_templates and tokenizer_config.json; a processor's \
             templates are found with --processor",
            model.display()
        ),
        _ => format!("{error}{}", limit_option(error)),
    }
}

/// Why a folder cannot be read. What has no place in a template is a fault of a file, which the message names, and none of a render.
fn unread(error: &Error) -> String {
    match error.line() {
        Some(_) => error.to_string(),
        None => format!("error: {}", error.message()),
    }
}

fn chat_template(arguments: &Arguments, texts: &Texts) -> Result<ChatTemplate, String> {
    if let Some(model) = &arguments.model {
        let options = LoadOptions {
            load_as: if arguments.processor {
                LoadAs::Processor
            } else {
                LoadAs::Tokenizer
            },
            ignore_remote_code: arguments.ignore_remote_code,
            ..LoadOptions::default()
        };
        let chat = ChatTemplate::from_dir_with(model, &options).map_err(|error| unread(&error))?;
        return match &arguments.name {
            // For the contract an unknown name is a template; on a command line it is a slip.
            Some(name) if !chat.names().contains(&name.as_str()) => Err(format!(
                "error: {} has no template named {name}; it has {}",
                model.display(),
                match chat.names().as_slice() {
                    [] => "a single one without a name, or none".to_owned(),
                    names => names.join(", "),
                }
            )),
            _ => Ok(chat),
        };
    }
    let path = arguments.template.as_deref().unwrap_or(Path::new(""));
    let chat = ChatTemplate::from_source(texts.of(path), &[]);
    let Some(config) = &arguments.config else {
        return Ok(chat);
    };
    let tokens = ChatTemplate::from_config_data(&texts.json(config)?).map_err(|error| format!("{}: {error}", config.display()))?;
    let tokens = tokens.special_tokens().iter().cloned();
    Ok(chat.with_special_tokens(tokens))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{ApplyOptions, ChatTemplate, in_file};

    #[test]
    fn an_error_of_the_template_has_its_file_in_front() {
        let told = |source: &str, messages: &str| {
            let prompt = ChatTemplate::from_source(source, &[]).apply_json(messages, &ApplyOptions::default());
            prompt.map_err(|error| in_file(Path::new("t.jinja"), &error)).unwrap_err()
        };
        assert!(told("{{", "[{}]").starts_with("t.jinja: syntax error: "));
        assert!(told("{{ a.b }}", "[{}]").starts_with("t.jinja: undefined error: "));
        assert!(told("{{ raise_exception('no') }}", "[{}]").starts_with("t.jinja: raised error: "));
        assert!(!told("", "[1]").contains("t.jinja"));
    }
}
