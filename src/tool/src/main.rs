//! The program `chat-template`.

fn main() -> std::process::ExitCode {
    chat_template_cli::run()
}
