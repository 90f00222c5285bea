//! The command `render`: it applies a chat template to a conversation, or renders a template with a context.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use chat_template::internal::AssistantSpans;
use chat_template::internal::Keeps;
use chat_template::json::{self, Data, Object};
use chat_template::request::{Change, ChangeKind, Policy, PrepareOptions};
use chat_template::{
    ApplyOptions, ChatTemplate, Limits, PrefixBroken, Prompt, PromptOptions, RenderOptions, Template, TokenOrigin,
};
use chat_template_rows::{Cause, Conversation, Known, find_losses};

use super::encoder::Encoder;
use super::explain::{Explained, Picture};
use super::file::{Texts, check_written, shown};
use super::masks::Masks;
use super::model::{Settings, Source, with_path};
use super::show::{self, When};
use super::{print, print_json, print_text, warn};

const EXAMPLES: &str = "\
Examples:
  chat-template render --model Qwen3-8B --messages conversation.json --add-generation-prompt
  chat-template render --model Qwen3-8B --messages - --tools tools.json --var enable_thinking=false < conversation.json
  chat-template render --template chat.jinja --config tokenizer_config.json --messages conversation.json --json
  chat-template render --model Qwen3-8B --messages conversation.json --continue-final-message reasoning_content
  chat-template render --model Qwen3-8B --messages conversation.json --explain=message --explain-html prompt.html
  chat-template render --model Qwen3-8B --request body.json --explain
  chat-template render --model Qwen3-8B --request body.json --tokenizer Qwen3-8B/tokenizer.json --count
  chat-template render --model Qwen3-8B --messages longer.json --after prompt.txt --sampled answer.txt --add-generation-prompt
  echo '{\"x\": 1}' | chat-template render --template chat.jinja --context -

One FILE can be -, which is standard input. No newline is added to the output.

The file of --messages can also contain an object with \"messages\", \"tools\" and \"documents\". An option replaces its tools or documents.

The file of --request is the body of a request of Chat Completions, Responses or Messages. It is changed where this template needs it.
--explain lists the changes; without it, standard error has a warning for each value that the prompt does not have.

--explain shows blanks and line feeds, and below the prompt a legend and warnings: of a control token that the input wrote, of a token that
begins the prompt twice, of a variable that no template reads, and if it is unknown which text the model writes. With colours, that text is
underlined. NO_COLOR turns the colours off; then each part has a row of its own.

--json prints an object with these keys:
  text              the prompt
  reference_spans   the spans of {% generation %} blocks as transformers counts them, which is wrong in macros, set blocks and call blocks
  generation_spans  the places of these blocks in the text
  segments          where each character came from, and the message that owns it
  assistant         the spans of what the model would write, or {\"unknown\": the reason}
  turns             the header, the body, the close and the fields of each message
  steps             the work of the render, in the unit of --limits
  changes           what was changed in the file of --request, with its place and the reason
If the prompt has no text of the model although a message is the assistant's, or if that text is unknown, standard error has a warning.
A span is a [start, end] pair. Spans are counted in code points. Those of reference_spans and generation_spans are counted in bytes too.";

/// The arguments of `render`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("input").required(true))]
#[command(group = Source::required())]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    /// The conversation: a JSON array of messages, or an object with "messages". The chat template is applied to it.
    #[arg(long, value_name = "FILE", group = "input")]
    messages: Option<PathBuf>,
    /// The variables of the template: a JSON object. The template is rendered as plain Jinja, without the rules for conversations.
    #[arg(long, value_name = "FILE", group = "input", conflicts_with_all = ["model", "config", "tools", "documents"])]
    #[arg(conflicts_with_all = ["add_generation_prompt", "continue_final_message", "variables"])]
    context: Option<PathBuf>,
    /// The body of a chat request. The messages, the tools and the variables in it are changed where the chat template needs it.
    #[arg(long, value_name = "FILE", group = "input", conflicts_with_all = ["tools", "documents"])]
    #[arg(conflicts_with_all = ["add_generation_prompt", "continue_final_message", "variables"])]
    request: Option<PathBuf>,
    /// Fails if the body of --request has to be changed.
    #[arg(long, conflicts_with_all = ["messages", "context", "exact"])]
    strict: bool,
    /// Makes none of the changes to the body of --request that this template needs.
    #[arg(long, conflicts_with_all = ["messages", "context"])]
    exact: bool,
    /// Prints the number of tokens of the prompt of --request in place of the prompt.
    #[arg(long, requires = "tokenizer", conflicts_with_all = ["json", "color", "explain", "explain_html"])]
    count: bool,
    /// Leaves out the oldest rounds of the conversation of --request until its prompt has at most N tokens.
    #[arg(long, value_name = "N", requires = "tokenizer")]
    fit: Option<usize>,
    /// The file tokenizer.json of the model, for --count and --fit.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["messages", "context"])]
    tokenizer: Option<PathBuf>,
    /// The tools: a JSON array of schemas.
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// The documents: a JSON array of objects.
    #[arg(long, value_name = "FILE")]
    documents: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
    /// The prompt that the model has seen. Only the text after it is printed, which is an error if the prompt does not begin with it.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["context", "request", "json", "color", "explain", "explain_html"])]
    after: Option<PathBuf>,
    /// What the model wrote after the prompt of --after. It takes the place of the last assistant message.
    #[arg(long, value_name = "FILE", requires = "after")]
    sampled: Option<PathBuf>,
    /// Prints a JSON object with the text, its spans and its turns; see below.
    #[arg(long)]
    json: bool,
    /// Colours the text of {% generation %} blocks, or the picture of --explain, which is coloured by default. Without WHEN, it is auto.
    #[arg(long, value_name = "WHEN", num_args = 0..=1, default_missing_value = "auto", conflicts_with = "json")]
    color: Option<When>,
    #[command(flatten)]
    explained: Explained,
    #[command(flatten)]
    masks: Masks,
}

impl Arguments {
    /// Returns whether the output is coloured. `default` is the answer without the option.
    fn is_colored(&self, default: When) -> bool {
        self.color.unwrap_or(default).is_colored()
    }

    /// Returns the options for what the output shows besides the text.
    fn show_options<'o>(&self, roles: &'o [&'o str]) -> PromptOptions<'o> {
        PromptOptions::default()
            .with_generation_spans(self.json || self.is_colored(When::Never))
            .with_trace(self.json)
            .with_assistant((self.json || self.explained.is_wanted()).then(|| self.masks.options(roles)))
    }

    /// Draws a picture, and returns an empty string in place of the prompt.
    fn draw(&self, picture: &Picture<'_>) -> Result<String, String> {
        let source = self.source.model.as_ref().or(self.source.template.as_ref());
        let title = source
            .and_then(|source| source.file_name())
            .map(|name| name.to_string_lossy());
        self.explained
            .draw(picture, &title.unwrap_or("prompt".into()), self.is_colored(When::Auto))?;
        Ok(String::new())
    }
}

/// Renders a template and prints the result.
pub fn run(arguments: &Arguments) -> Result<(), String> {
    let files = [
        &arguments.messages,
        &arguments.context,
        &arguments.request,
        &arguments.tools,
        &arguments.documents,
        &arguments.after,
        &arguments.sampled,
    ];
    let files = files.into_iter().flatten().map(PathBuf::as_path);
    let read = arguments
        .source
        .list_read()
        .into_iter()
        .chain(arguments.settings.limits.clone());
    let read = read.chain(files.clone().map(Path::to_owned));
    check_written(read, arguments.explained.page()).map_err(|message| format!("error: {message}"))?;
    let texts = Texts::read(
        arguments.source.files().chain(files),
        arguments.settings.read_limits(Limits::default())?,
    )?;
    let text = match (&arguments.context, &arguments.messages, &arguments.request) {
        (Some(context), ..) => render(arguments, &texts, context)?,
        (_, Some(messages), _) => apply(arguments, &texts, messages)?,
        (.., Some(request)) => prepare(arguments, &texts, request)?,
        (None, None, None) => return Err("error: --messages, --request or --context is missing".to_owned()),
    };
    print_text(&text).map_err(|error| format!("error: {error}"))
}

/// Renders a template with a context.
fn render(arguments: &Arguments, texts: &Texts, context: &Path) -> Result<String, String> {
    let path = arguments.source.template.as_deref().unwrap_or(Path::new(""));
    let with_path = |error| with_path(path, &error);
    let template = Template::compile_with(texts.get(path), texts.bounds()).map_err(with_path)?;
    let data = texts.parse_json(context)?;
    if !matches!(data, Data::Object(_)) {
        let (path, found) = (context.display(), data.describe());
        return Err(format!(
            "error: {path}: the context must be an object of variables, and this is {found}"
        ));
    }
    let fixed = arguments.settings.clock();
    let roles = arguments.masks.roles();
    let mut options = RenderOptions::default()
        .with_bounds(texts.bounds())
        .with_reference_spans(arguments.json)
        .with_generation_spans(arguments.json)
        .with_trace(arguments.json || arguments.explained.is_wanted());
    if let Some(clock) = &fixed {
        options = options.with_clock(clock);
    }
    let assistant = options.trace.then(|| arguments.masks.options(&roles));
    let mut prompt = template.render_prompt(&data, &options, assistant).map_err(with_path)?;
    let variable = |name: &str| match &data {
        Data::Object(context) => context.get(name),
        _ => None,
    };
    if arguments.json {
        warn_of_mask(prompt.assistant_spans(), variable("messages"));
        return print_line(|out| show::write_line(&prompt, out));
    }
    if arguments.explained.is_wanted() {
        let bos = match variable("bos_token") {
            Some(Data::Str(bos)) => Some(&**bos),
            _ => None,
        };
        let tokens = arguments.explained.control_tokens();
        prompt.untrusted = prompt
            .control_tokens(&tokens, texts.bounds())
            .map_err(|error| error.to_string())?;
        prompt.untrusted.retain(|token| token.origin != TokenOrigin::Template);
        return arguments.draw(&Picture::new(&prompt, &tokens, variable("messages"), bos, Vec::new())?);
    }
    Ok(prompt.text)
}

/// Applies a chat template to a conversation.
fn apply(arguments: &Arguments, texts: &Texts, messages: &Path) -> Result<String, String> {
    let chat = arguments.source.load(texts)?;
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
    let messages = check_messages(&input, messages)?;
    let mut unread = arguments.settings.warn_of_unread(&chat);
    let read = chat.variables();
    for (name, value) in [("tools", &tools), ("documents", &documents)] {
        if !matches!(value, Data::None) && !read.contains(&name) {
            unread.push(format!("warning: the template does not read {name}"));
        }
    }
    if !arguments.explained.is_printed() {
        unread.drain(..).for_each(|warning| warn(&warning));
    }
    let fixed = arguments.settings.clock();
    let variables = arguments.settings.variables.iter();
    let variables = Object::new(variables.map(|(name, value)| (name.as_str().into(), value.clone())).collect());
    let own_tokens = arguments.explained.control_tokens();
    let roles = arguments.masks.roles();
    let mut options = ApplyOptions::default()
        .with_prompt(arguments.show_options(&roles))
        .with_bounds(texts.bounds())
        .with_tools(&tools)
        .with_documents(&documents)
        .with_chat_template(arguments.source.name.as_deref())
        .with_add_generation_prompt(arguments.settings.add_generation_prompt)
        .with_continue_final_message(arguments.settings.continued_field())
        .with_variables(&variables)
        // In the reference, the spans of a continued message are an error.
        .with_reference_spans(arguments.json && arguments.settings.continue_final_message.is_none())
        .with_control_tokens(arguments.explained.policy(&own_tokens));
    if let Some(clock) = &fixed {
        options = options.with_clock(clock);
    }
    let explain = |error| arguments.source.explain(&error);
    if let Some(seen) = &arguments.after {
        let sampled = arguments.sampled.as_deref().map(|sampled| texts.get(sampled));
        let next = chat.append(&messages, texts.get(seen), sampled, &options).map_err(explain)?;
        return next.into_result().map(|next| next.text().to_owned()).map_err(explain_broken);
    }
    let keeps = if arguments.explained.is_wanted() {
        Keeps::Sources
    } else {
        Keeps::Nothing
    };
    let prompt = chat.apply_keeping(&messages, &options, keeps).map_err(explain)?;
    if keeps == Keeps::Sources {
        unread.extend(list_lost(&chat, (&messages, &tools, &documents), &prompt, &options));
    }
    if let Some(index) = find_repr(&messages, &prompt.text) {
        let warning = format!(
            "warning: the template prints the parts of message {} in Python's notation; pass {{\"messages\": […]}} as --request to give it \
             the form of content that it takes",
            index.saturating_add(1)
        );
        if arguments.explained.is_printed() {
            unread.push(warning)
        } else {
            warn(&warning)
        }
    }
    show_prompt(arguments, &chat, &prompt, Some(&messages), unread, None)
}

/// Returns a warning for each part of a conversation that its prompt does not show.
fn list_lost(
    chat: &ChatTemplate,
    (messages, tools, documents): (&Data<'_>, &Data<'_>, &Data<'_>),
    prompt: &Prompt,
    options: &ApplyOptions<'_>,
) -> Vec<String> {
    let source = chat_template_rows::Source {
        known: &Known::new(chat),
        conversation: &Conversation::of(messages),
        tools: Some(tools),
        documents: Some(documents),
        variables: None,
        kept: &[],
        is_masked: false,
        render: &|messages| chat.apply(messages, options).ok().map(|prompt| prompt.text),
    };
    let losses = find_losses(&source, prompt).unwrap_or_default();
    let lost = losses.iter().filter(|loss| loss.cause <= Cause::Document);
    lost.map(|loss| format!("warning: {loss}")).collect()
}

/// Returns the message for a prompt that does not begin with the text of `--after`.
fn explain_broken(broken: PrefixBroken) -> String {
    let looks = broken.looks_at.iter();
    let looks: String = looks
        .map(|(line, expression)| format!("\nline {line} looks at {expression}"))
        .collect();
    format!("error: {broken}{looks}")
}

/// Returns the messages of the file of `--messages`. A request's body is an error, because only some of its values would be used.
fn check_messages<'t>(input: &Data<'t>, path: &Path) -> Result<Data<'t>, String> {
    let Data::Object(body) = input else {
        return check_objects(input.clone(), path, "messages");
    };
    let (name, key) = (shown(path).display(), |key: &&str| body.get(key).is_some());
    if let Some(messages) = body.get("messages") {
        let mut keys = body.entries().iter().map(|(key, _)| &**key);
        return match keys.find(|key| !["messages", "tools", "documents"].contains(key)) {
            None => check_objects(messages.clone(), path, "messages"),
            Some(other) => Err(format!(
                "error: {name}: --messages takes \"messages\", \"tools\" and \"documents\", and this object also has {other:?}; pass the \
                 body of a request as --request"
            )),
        };
    }
    Err(match ["role", "input"].into_iter().find(key) {
        Some("role") => {
            format!("error: {name}: this is one message; put it in [ ], because a conversation is an array of messages")
        }
        Some("input") => format!("error: {name}: this is the body of a request; pass it as --request"),
        _ => format!("error: {name}: expected an array of messages, each an object, and this is an object without \"messages\""),
    })
}

/// Returns the index of the first message whose content is a list that the prompt has in Python's notation.
fn find_repr(messages: &Data<'_>, prompt: &str) -> Option<usize> {
    let Data::List(messages) = messages else { return None };
    messages.iter().position(|message| {
        let Data::Object(message) = message else { return false };
        let Some(Data::List(parts)) = message.get("content") else {
            return false;
        };
        let Some(Data::Object(part)) = parts.first() else {
            return false;
        };
        let key = part.entries().first();
        key.is_some_and(|(key, _)| prompt.contains(&format!("[{{'{key}': ")))
    })
}

/// Prepares the body of a request for a chat template, and applies the template.
fn prepare(arguments: &Arguments, texts: &Texts, request: &Path) -> Result<String, String> {
    let chat = arguments.source.load(texts)?;
    let body = texts.parse_json(request)?;
    let fixed = arguments.settings.clock();
    let mut prepare_options = PrepareOptions::default()
        .with_policy(match (arguments.strict, arguments.exact) {
            (true, _) => Policy::Strict,
            (_, true) => Policy::Exact,
            (false, false) => Policy::Fit,
        })
        .with_chat_template(arguments.source.name.as_deref())
        .with_bounds(texts.bounds());
    let explain = |error| arguments.source.explain(&error);
    if let Some(clock) = &fixed {
        prepare_options = prepare_options.with_clock(clock);
    }
    let prepared = chat.prepare_with(&body, &prepare_options).map_err(explain)?;
    let own_tokens = arguments.explained.control_tokens();
    let roles = arguments.masks.roles();
    let mut options = arguments
        .show_options(&roles)
        .with_bounds(texts.bounds())
        .with_control_tokens(arguments.explained.policy(&own_tokens));
    if let Some(clock) = &fixed {
        options = options.with_clock(clock);
    }
    if arguments.tokenizer.is_some() && !arguments.count && arguments.fit.is_none() {
        return Err("error: --tokenizer is for --count and --fit, and neither is there".to_owned());
    }
    let tokenizer = arguments.tokenizer.as_deref().map(Encoder::read).transpose();
    let tokenizer = tokenizer.map_err(|error| format!("error: {error}"))?;
    let count = |text: &str| match &tokenizer {
        Some(tokenizer) => tokenizer.encode(text).map(|(ids, _)| ids.len()),
        None => Err("--tokenizer is missing".to_owned()),
    };
    let prepared = match arguments.fit {
        Some(limit) => prepared.fit(limit, &count, &options).map_err(explain)?,
        None => prepared,
    };
    let (prompt, changes) = prepared.render_with(&options).map_err(explain)?;
    if arguments.count {
        return count(&prompt.text)
            .map(|count| format!("{count}\n"))
            .map_err(|error| format!("error: {error}"));
    }
    let notes = changes.iter().map(|change| format!("changed: {change}")).collect();
    let messages = serde_json::to_value(prepared.messages()).map_err(|error| format!("error: {error}"))?;
    let messages = json::to_data(&messages).map_err(|error| format!("error: {error}"))?;
    show_prompt(arguments, &chat, &prompt, Some(&messages), notes, Some(&changes))
}

/// Returns the prompt in the form that the arguments choose, or draws its picture with notes and returns an empty string.
fn show_prompt(
    arguments: &Arguments,
    chat: &ChatTemplate,
    prompt: &Prompt,
    messages: Option<&Data<'_>>,
    notes: Vec<String>,
    changes: Option<&[Change]>,
) -> Result<String, String> {
    if arguments.explained.is_wanted() {
        let mut named = chat.special_tokens().iter();
        let bos = named.find(|(name, _)| name == "bos_token").map(|(_, bos)| bos.as_str());
        let tokens = [chat.control_tokens(), arguments.explained.control_tokens()].concat();
        return arguments.draw(&Picture::new(prompt, &tokens, messages, bos, notes)?);
    }
    if !arguments.json {
        let dropped = changes
            .into_iter()
            .flatten()
            .filter(|change| change.kind == ChangeKind::Dropped);
        dropped.for_each(|change| warn(&format!("warning: {change}")));
    }
    match (arguments.json, arguments.is_colored(When::Never)) {
        (true, _) => {
            warn_of_mask(prompt.assistant_spans(), messages);
            print_line(|out| show::write_prompt(prompt, changes, out))
        }
        (false, true) => {
            let colored = show::color_spans(&prompt.text, &prompt.generation_spans.bytes);
            print(colored)
                .map(|()| String::new())
                .map_err(|error| format!("error: {error}"))
        }
        (false, false) => Ok(prompt.text.clone()),
    }
}

/// Prints the JSON that a function writes, and returns an empty string in place of it.
fn print_line(write: impl FnOnce(&mut &mut dyn Write) -> io::Result<()>) -> Result<String, String> {
    let printed = print_json(write).map_err(|error| format!("error: {error}"));
    printed.map(|()| String::new())
}

/// Prints a warning if the mask of the assistant is unknown or empty.
fn warn_of_mask(assistant: &AssistantSpans, messages: Option<&Data<'_>>) {
    if let Some(warning) = show::warn_of_mask(assistant, messages) {
        warn(&warning);
    }
}

/// Returns the value if it is an array of objects, or if it is null and not the messages. The contract accepts more types, and its errors
/// name types of Python.
fn check_objects<'t>(value: Data<'t>, path: &Path, what: &str) -> Result<Data<'t>, String> {
    let found = match &value {
        Data::List(items) => match items.iter().enumerate().find(|(_, item)| !matches!(item, Data::Object(_))) {
            None => return Ok(value),
            Some((index, item)) => format!("its element {index} is {}", item.describe()),
        },
        Data::None if what != "messages" => return Ok(Data::None),
        other => format!("this is {}", other.describe()),
    };
    Err(format!(
        "error: {}: expected an array of {what}, each an object, and {found}",
        shown(path).display()
    ))
}
