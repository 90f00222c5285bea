//! The command `render`: it applies a chat template to a conversation, or renders a template in a context.

use std::path::{Path, PathBuf};

use chat_template::json::{Data, Object};
use chat_template::{
    ApplyOptions, ChatTemplate, ContinueFinalMessage, ControlPolicy, ControlTokens, Error, ErrorClass, FixedClock, LoadAs,
    LoadOptions, LocalTime, Prompt, RenderOptions, Template, Writer,
};

use super::explain::{By, Picture};
use super::file::{self, Texts};
use super::{print, show, variable};

const EXAMPLES: &str = "\
Examples:
  chat-template render --model Qwen3-8B --messages conversation.json --add-generation-prompt
  chat-template render --model Qwen3-8B --messages - --tools tools.json --var enable_thinking=false < conversation.json
  chat-template render --template chat.jinja --config tokenizer_config.json --messages conversation.json --json
  chat-template render --model Qwen3-8B --messages conversation.json --continue-final-message reasoning_content
  chat-template render --model Qwen3-8B --messages conversation.json --explain=message --explain-html prompt.html
  echo '{\"x\": 1}' | chat-template render --template chat.jinja --context -

One FILE can be -, which is standard input. No newline is added to the output.

The file of --messages can also contain an object, such as the body of an HTTP request. \"messages\" is its conversation, and \"tools\" and
\"documents\" are used unless an option sets them. Other keys are ignored.

--explain shows blanks and line feeds, and below the prompt a legend and warnings: of a control token that the input wrote, of a token that
begins the prompt twice, and of a variable that no template reads. NO_COLOR turns its colours off; then each part has a row of its own.

--json prints an object with these keys:
  text        the prompt
  generation  the spans of {% generation %} blocks as transformers counts them, which is wrong in macros, set blocks and call blocks
  true_spans  the places of these blocks in the text (not with --context)
  steps       the work of the render, in the unit of --limits
A span is a [start, end] pair. Spans are counted in code points and in bytes (with --context, only in code points).";

/// The arguments of `render`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("source").required(true))]
#[command(group = clap::ArgGroup::new("input").required(true))]
pub struct Arguments {
    /// The folder of a model, with chat_template.jinja or tokenizer_config.json, or a folder models--NAME of the Hugging Face cache.
    #[arg(long, value_name = "DIR", group = "source", conflicts_with = "context")]
    model: Option<PathBuf>,
    /// Loads a folder even if its tokenizer is Python code, which is not run. The special tokens are those that its files name.
    #[arg(long, requires = "model")]
    ignore_remote_code: bool,
    /// Loads the templates of a processor (processor_config.json, chat_template.json) instead of those of a tokenizer.
    #[arg(long, requires = "model")]
    processor: bool,
    /// A template in a file of its own.
    #[arg(long, value_name = "FILE", group = "source")]
    template: Option<PathBuf>,
    /// The tokenizer_config.json with the special tokens for --template.
    #[arg(long, value_name = "FILE", requires = "template", conflicts_with = "context")]
    config: Option<PathBuf>,
    /// The conversation: a JSON array of messages, or an object with "messages". The chat template is applied to it.
    #[arg(long, value_name = "FILE", group = "input")]
    messages: Option<PathBuf>,
    /// The variables of the template: a JSON object. The template is rendered as plain Jinja, without the rules for conversations.
    #[arg(long, value_name = "FILE", group = "input")]
    context: Option<PathBuf>,
    /// The tools: a JSON array of schemas.
    #[arg(long, value_name = "FILE", conflicts_with = "context")]
    tools: Option<PathBuf>,
    /// The documents: a JSON array of objects.
    #[arg(long, value_name = "FILE", conflicts_with = "context")]
    documents: Option<PathBuf>,
    /// Ends the prompt with the beginning of the model's answer.
    #[arg(long, conflicts_with = "context")]
    add_generation_prompt: bool,
    /// Leaves a field of the last message open, so that the model continues it. Without FIELD, it is the content.
    #[arg(long, value_name = "FIELD", num_args = 0..=1, default_missing_value = "content", conflicts_with = "context")]
    continue_final_message: Option<String>,
    /// The name of one of the model's templates.
    #[arg(long, value_name = "NAME", requires = "model")]
    name: Option<String>,
    /// A variable of the template, such as enable_thinking=false. The option can be repeated. There is a warning if no template reads it.
    #[arg(long = "var", value_name = "NAME=JSON", value_parser = variable::parse, conflicts_with = "context")]
    variables: Vec<(String, Data<'static>)>,
    /// The local time for strftime_now, such as 2026-01-02T03:04:05.
    #[arg(long, value_name = "TIME")]
    now: Option<LocalTime>,
    /// The limits of the render: a JSON object such as {"steps": 1000000, "milliseconds": 500}. Others have their defaults.
    #[arg(long, value_name = "FILE")]
    limits: Option<PathBuf>,
    /// Prints a JSON object with the text and the spans of {% generation %} blocks; see below.
    #[arg(long)]
    json: bool,
    /// Colours the text of {% generation %} blocks, or the picture of --explain, which is coloured by default. Without WHEN, it is auto.
    #[arg(long, value_name = "WHEN", num_args = 0..=1, default_missing_value = "auto", conflicts_with = "json")]
    color: Option<When>,
    /// Prints a picture of the prompt instead: where each character came from, or which message owns it. Without BY, it is the origin.
    #[arg(long, value_name = "BY", num_args = 0..=1, default_missing_value = "origin", conflicts_with = "json")]
    explain: Option<By>,
    /// Writes the picture to a file as an HTML page, which loads nothing. Without --explain, nothing is printed.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    explain_html: Option<PathBuf>,
    /// A control token that the picture marks besides those of the model. The option can be repeated.
    #[arg(long = "control-token", value_name = "TOKEN")]
    control_tokens: Vec<String>,
}

impl Arguments {
    /// Returns whether a picture is drawn, which needs a prompt that is traced.
    fn is_explained(&self) -> bool {
        self.explain.is_some() || self.explain_html.is_some()
    }

    /// Returns whether the output is coloured. `default` is the answer without the option.
    fn is_colored(&self, default: When) -> bool {
        match self.color.unwrap_or(default) {
            When::Always => true,
            When::Auto => show::shows_color(),
            When::Never => false,
        }
    }
}

/// The roles from which a template may form a control token without a warning.
const ROLES: [&str; 6] = ["system", "developer", "user", "assistant", "tool", "function"];

/// When to colour the output.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum When {
    /// If the output is a terminal and NO_COLOR is not set.
    Auto,
    /// Also in files and pipes.
    Always,
    /// Never.
    Never,
}

/// Renders a template and prints the result.
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
        (None, None) => return Err("error: --messages or --context is missing".to_owned()),
    };
    print(text).map_err(|error| format!("error: {error}"))
}

/// Renders a template in a context.
fn render(arguments: &Arguments, texts: &Texts, context: &Path) -> Result<String, String> {
    let path = arguments.template.as_deref().unwrap_or(Path::new(""));
    let with_path = |error| with_path(path, &error);
    let limits = file::read_limits(arguments.limits.as_deref())?;
    let template = Template::compile_with(texts.get(path), &limits).map_err(with_path)?;
    let data = texts.parse_json(context)?;
    if !matches!(data, Data::Object(_)) {
        let (path, found) = (context.display(), show::describe_type(&data));
        return Err(format!(
            "error: {path}: the context must be an object of variables, and this is {found}"
        ));
    }
    let fixed = arguments.now.map(FixedClock);
    let mut options = RenderOptions {
        limits: &limits,
        generation: arguments.json,
        trace: arguments.is_explained(),
        ..RenderOptions::default()
    };
    if let Some(clock) = &fixed {
        options.clock = clock;
    }
    let rendered = template.render_with(&data, &options).map_err(with_path)?;
    if arguments.json {
        return Ok(show::write_rendered(&rendered));
    }
    if arguments.is_explained() {
        let variable = |name: &str| match &data {
            Data::Object(context) => context.get(name),
            _ => None,
        };
        let bos = match variable("bos_token") {
            Some(Data::Str(bos)) => Some(&**bos),
            _ => None,
        };
        let mut prompt = Prompt::default();
        (prompt.text, prompt.segments) = (rendered.text, rendered.segments);
        let tokens = tokens_of(arguments, Vec::new());
        prompt.untrusted = prompt.control_tokens(&tokens);
        prompt.untrusted.retain(|token| token.writer != Writer::Template);
        let picture = Picture::new(&prompt, &tokens, variable("messages"), bos, Vec::new());
        return explain(arguments, &picture);
    }
    Ok(rendered.text)
}

/// Returns control tokens with those of the command line.
fn tokens_of<'a>(arguments: &'a Arguments, mut tokens: Vec<&'a str>) -> Vec<&'a str> {
    tokens.extend(arguments.control_tokens.iter().map(String::as_str));
    tokens
}

/// Writes a picture to the file of `--explain-html`, and returns that of `--explain`.
fn explain(arguments: &Arguments, picture: &Picture<'_>) -> Result<String, String> {
    if let Some(path) = &arguments.explain_html {
        let source = arguments.model.as_ref().or(arguments.template.as_ref());
        let title = source
            .and_then(|source| source.file_name())
            .map(|name| name.to_string_lossy());
        let page = picture.page(&title.unwrap_or("prompt".into()));
        std::fs::write(path, page).map_err(|error| format!("error: {}: {error}", path.display()))?;
    }
    let terminal = |by| picture.terminal(by, arguments.is_colored(When::Auto));
    Ok(arguments.explain.map(terminal).unwrap_or_default())
}

/// Applies a chat template to a conversation.
fn apply(arguments: &Arguments, texts: &Texts, messages: &Path) -> Result<String, String> {
    let chat = load_template(arguments, texts)?;
    let input = texts.parse_json(messages)?;
    let from_input = |what: &str| match &input {
        Data::Object(body) => body.get(what).cloned(),
        _ => None,
    };
    let of_option = |option: &Option<PathBuf>, what: &str| match (option, from_input(what)) {
        (Some(path), _) => check_objects(texts.parse_json(path)?, path, what),
        (None, Some(value)) => check_objects(value, messages, what),
        (None, None) => Ok(Data::None),
    };
    let tools = of_option(&arguments.tools, "tools")?;
    let documents = of_option(&arguments.documents, "documents")?;
    let messages = check_objects(from_input("messages").unwrap_or_else(|| input.clone()), messages, "messages")?;
    let unread = variable::warn_of_unread(&arguments.variables, &chat.variables());
    if arguments.explain.is_none() {
        unread.iter().for_each(|warning| eprintln!("{warning}"));
    }
    let variables = arguments.variables.iter();
    let variables = Object::new(variables.map(|(name, value)| (name.as_str().into(), value.clone())).collect());
    let is_colored = arguments.is_colored(When::Never);
    let own_tokens = tokens_of(arguments, Vec::new());
    let limits = file::read_limits(arguments.limits.as_deref())?;
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
        // In the reference, the spans of a continued message are an error.
        generation: arguments.json && arguments.continue_final_message.is_none(),
        true_spans: arguments.json || is_colored || arguments.is_explained(),
        control_tokens: ControlTokens {
            policy: if arguments.is_explained() {
                ControlPolicy::Split
            } else {
                ControlPolicy::Leave
            },
            tokens: &own_tokens,
            roles: &ROLES,
        },
        ..ApplyOptions::default()
    };
    if let Some(clock) = &fixed {
        options.clock = clock;
    }
    let prompt: Prompt = chat
        .apply(&messages, &options)
        .map_err(|error| with_hint(arguments, &error))?;
    if arguments.is_explained() {
        let mut tokens = chat.special_tokens().iter();
        let bos = tokens.find(|(name, _)| name == "bos_token").map(|(_, bos)| bos.as_str());
        let tokens = tokens_of(arguments, chat.control_tokens());
        return explain(arguments, &Picture::new(&prompt, &tokens, Some(&messages), bos, unread));
    }
    match (arguments.json, is_colored) {
        (true, _) => show::write_prompt(&prompt),
        (false, true) => Ok(show::color_spans(&prompt.text, &prompt.true_spans.bytes)),
        (false, false) => Ok(prompt.text),
    }
}

/// Returns the value if it is an array of objects, or null and not the messages. The contract accepts more types, and its errors are about
/// types of Python.
fn check_objects<'t>(value: Data<'t>, path: &Path, what: &str) -> Result<Data<'t>, String> {
    let found = match &value {
        Data::List(items) => match items.iter().enumerate().find(|(_, item)| !matches!(item, Data::Object(_))) {
            None => return Ok(value),
            Some((index, item)) => format!("its element {index} is {}", show::describe_type(item)),
        },
        Data::None if what != "messages" => return Ok(Data::None),
        Data::Object(_) if what == "messages" => "this is an object without \"messages\"".to_owned(),
        other => format!("this is {}", show::describe_type(other)),
    };
    Err(format!(
        "error: {}: expected an array of {what}, each an object, and {found}",
        path.display()
    ))
}

/// Returns the text of an error after the path of the template, unless it is about the conversation, and before the option for its limit.
fn with_path(path: &Path, error: &Error) -> String {
    match error.class() {
        ErrorClass::Request => error.to_string(),
        _ => format!("{}: {error}{}", path.display(), explain_limit(error)),
    }
}

/// Returns a line about the option that raises the limit, or an empty string if the error is about something else.
fn explain_limit(error: &Error) -> String {
    let reached = error.reached();
    let limit = reached.filter(|reached| reached.limit.setting().is_some_and(|setting| setting.starts_with("Limits::")));
    limit.map_or_else(String::new, |reached| {
        let doubled = reached.allowed.saturating_mul(2);
        format!(
            "\non the command line, pass `--limits FILE` with a file such as {{\"{}\": {doubled}}}",
            reached.limit.name()
        )
    })
}

/// Returns the text of an error with the path of its template. The errors of a model name their files themselves.
fn with_hint(arguments: &Arguments, error: &Error) -> String {
    match &arguments.template {
        Some(path) => with_path(path, error),
        None => format!("{error}{}", explain_limit(error)),
    }
}

/// Returns the text of an error of loading a model, with options in place of the fields of [`LoadOptions`].
fn explain_load_error(error: &Error) -> String {
    let message = error
        .message()
        .replace("set LoadOptions::ignore_remote_code", "pass --ignore-remote-code");
    let hint = if message.ends_with("is not a folder") {
        "; pass a template as --template"
    } else {
        ""
    };
    format!("error: {message}{hint}")
}

fn load_template(arguments: &Arguments, texts: &Texts) -> Result<ChatTemplate, String> {
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
        let chat = ChatTemplate::from_dir_with(model, &options).map_err(|error| explain_load_error(&error))?;
        let (path, names) = (model.display(), chat.names());
        return match &arguments.name {
            _ if names.is_empty() && chat.source().is_none() => Err(format!(
                "error: {path}: the model has no template in chat_template.jinja, additional_chat_templates or \
                 tokenizer_config.json; pass one as --template, or pass --processor to load the templates of a processor"
            )),
            // For the contract, an unknown name is the source of a template.
            Some(name) if !names.contains(&name.as_str()) => Err(format!(
                "error: {path}: there is no template named {name}; {}",
                match names.as_slice() {
                    [] => "the only template has no name, so omit --name".to_owned(),
                    names => format!("the names are {}", names.join(", ")),
                }
            )),
            _ => Ok(chat),
        };
    }
    let path = arguments.template.as_deref().unwrap_or(Path::new(""));
    let chat = ChatTemplate::from_source(texts.get(path), &[]);
    let Some(config) = &arguments.config else {
        return Ok(chat);
    };
    let tokens = ChatTemplate::from_config_data(&texts.parse_json(config)?);
    let tokens = tokens.map_err(|error| format!("error: {}: {}", config.display(), error.message()))?;
    let tokens = tokens.special_tokens().iter().cloned();
    Ok(chat.with_special_tokens(tokens))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{ApplyOptions, ChatTemplate, with_path};

    #[test]
    fn an_error_of_the_template_begins_with_its_path() {
        let shown = |source: &str, messages: &str| {
            let prompt = ChatTemplate::from_source(source, &[]).apply_json(messages, &ApplyOptions::default());
            prompt.map_err(|error| with_path(Path::new("t.jinja"), &error)).unwrap_err()
        };
        assert!(shown("{{", "[{}]").starts_with("t.jinja: syntax error: "));
        assert!(shown("{{ a.b }}", "[{}]").starts_with("t.jinja: undefined error: "));
        assert!(shown("{{ raise_exception('no') }}", "[{}]").starts_with("t.jinja: raised error: "));
        assert!(!shown("", "[1]").contains("t.jinja"));
    }
}
