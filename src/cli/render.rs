//! `chat-template render`.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use chat_template::{FixedClock, LocalTime, RenderOptions, Template, json};

/// What `render` takes.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  chat-template render --template chat.jinja --context conversation.json\n  \
                        echo '{\"x\": 1}' | chat-template render --template chat.jinja --context -"
)]
pub struct Arguments {
    /// The template; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    template: PathBuf,
    /// The variables, a JSON object; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    context: PathBuf,
    /// The local time that strftime_now sees, such as 2026-01-02T03:04:05.
    #[arg(long, value_name = "TIME")]
    now: Option<LocalTime>,
}

/// Renders and prints the output as it is, without a newline of our own.
pub fn run(arguments: &Arguments) -> Result<(), String> {
    if is_stdin(&arguments.template) && is_stdin(&arguments.context) {
        return Err("error: only one of --template and --context can be standard input".to_owned());
    }
    let source = read(&arguments.template)?;
    let context = read(&arguments.context)?;
    let in_file = |path: &Path| {
        let path = path.display().to_string();
        move |error: chat_template::Error| format!("{path}: {error}")
    };
    let template = Template::compile(&source).map_err(in_file(&arguments.template))?;
    let context = json::read(&context, json::DEPTH).map_err(|error| format!("{}: {error}", arguments.context.display()))?;
    let fixed = arguments.now.map(FixedClock);
    let mut options = RenderOptions::default();
    if let Some(clock) = &fixed {
        options.clock = clock;
    }
    let rendered = template
        .render_with(&context, &options)
        .map_err(in_file(&arguments.template))?;
    let mut out = std::io::stdout().lock();
    let written = out.write_all(rendered.text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| format!("error: standard output: {error}"))
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

fn read(path: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let result = match is_stdin(path) {
        true => std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes),
        false => std::fs::read(path),
    };
    let bytes = result.map_err(|error| format!("error: {}: {error}", path.display()))?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("error: {}: invalid UTF-8 at byte {at}", path.display())
    })
}
