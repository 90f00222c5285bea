//! A port as a child process. It gets one request at a time, and is restarted after each request that it did not answer.
//!
//! ```text
//! → {"id": "loops/first", "template": …}
//! ← {"id": "loops/first", "output": "1"}
//! ```
//!
//! Three threads serve a child: one writes requests, one reads answers, and one stores the end of its standard error. They are not
//! joined, because a process that the child started may keep a pipe open for ever. This module does not know which answers are
//! right.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::answer::Answer;
use super::report::PortInfo;
use super::score::Verdict;
use super::versions::check_version;
use chat_template::internal;
use chat_template::json::{Data, Object};

/// The largest size of an answer in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// The number of lines that are read ahead. A port that writes more then waits until its pipe is read.
const LINES_AHEAD: usize = 1;

/// The number of bytes at the end of a port's standard error that are stored.
const LAST_WORDS: usize = 600;

/// A port's reply to a request.
#[derive(Debug)]
pub enum Reply {
    /// The port answered.
    Answer(Answer),
    /// The port does not support the request. The text is its reason.
    Unsupported(String),
    /// The port did not answer. The text says what happened.
    Fault(Verdict, String),
}

impl Reply {
    /// Returns the verdict on a reply that is not the expected one.
    pub(super) fn verdict(&self) -> Verdict {
        match self {
            Self::Fault(verdict, _) => *verdict,
            Self::Answer(_) | Self::Unsupported(_) => Verdict::Wrong,
        }
    }

    /// Describes the reply in lines that can be compared with those of another reply.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Answer(answer) => answer.describe(),
            Self::Unsupported(why) => why.clone(),
            Self::Fault(verdict, text) => format!("{}: {text}", verdict.name()),
        }
    }
}

/// A port that starts at its first request.
pub struct Port<'c> {
    command: &'c [String],
    timeout: Duration,
    running: Option<Running>,
    /// The number of times that the port was started.
    pub starts: u64,
}

struct Running {
    child: Child,
    requests: Sender<String>,
    lines: Receiver<Vec<u8>>,
    last_words: Receiver<String>,
    /// The id of the last request that the process answered.
    answered: Option<String>,
}

impl<'c> Port<'c> {
    /// Returns a port with this command: a program and its arguments.
    pub fn new(command: &'c [String], timeout: Duration) -> Self {
        Self {
            command,
            timeout,
            running: None,
            starts: 0,
        }
    }

    /// Returns the port's description of itself. Missing parts are empty.
    ///
    /// # Errors
    /// Returns a message if the command cannot be started.
    pub fn describe(&mut self) -> Result<PortInfo, String> {
        let mut info = PortInfo {
            command: shlex::try_join(self.command.iter().map(String::as_str)).unwrap_or_else(|_| self.command.join(" ")),
            ..PortInfo::default()
        };
        let line = match self.line("{\"id\":0,\"describe\":true}")? {
            Ok(line) => line,
            Err(_) => return Ok(info),
        };
        let Ok(Value::Object(answer)) = serde_json::from_slice(&line) else {
            self.stop();
            return Ok(info);
        };
        let port = answer.get("port").unwrap_or(&Value::Null);
        let said = |key: &str| port.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let entries = |key: &str| port.get(key).and_then(Value::as_object).into_iter().flatten();
        info.name = said("name");
        info.version = said("version");
        info.language = said("language");
        info.homepage = said("homepage");
        info.limits = said("limits");
        let requests = port.get("requests").and_then(Value::as_array).into_iter().flatten();
        info.requests = requests.filter_map(Value::as_str).map(str::to_owned).collect();
        let lacks = entries("capabilities").filter(|(_, has)| **has == Value::Bool(false));
        info.lacks = lacks.map(|(name, _)| name.clone()).collect();
        let versions = entries("mirrors").filter_map(|(name, version)| Some((name.clone(), version.as_str()?.to_owned())));
        info.mirrors = versions
            .filter(|(name, version)| check_version(name, version).is_ok())
            .collect();
        Ok(info)
    }

    /// Returns whether the port answers `apply` requests: its description lists them, or lists nothing, and it answers the smallest
    /// one.
    ///
    /// # Errors
    /// Returns a message if the command cannot be started.
    pub fn knows_apply(&mut self, info: &PortInfo) -> Result<bool, String> {
        if !info.requests.is_empty() && !info.requests.iter().any(|name| name == "apply") {
            return Ok(false);
        }
        let request = r#"{"id":"apply","apply":{"template":"","messages":[]}}"#;
        Ok(match self.ask("apply", request)? {
            Reply::Answer(Answer::Error(failure)) => failure.kind != "request",
            Reply::Answer(_) => true,
            Reply::Unsupported(_) | Reply::Fault(..) => false,
        })
    }

    /// Sends one request, and returns the reply.
    ///
    /// # Errors
    /// Returns a message if the command cannot be started.
    pub fn ask(&mut self, id: &str, request: &str) -> Result<Reply, String> {
        let earlier = self.running.as_ref().and_then(|running| running.answered.clone());
        match (self.ask_once(id, request)?, earlier) {
            // An earlier request may be the reason, so the request is sent once more to a fresh process.
            (Reply::Fault(verdict @ (Verdict::Crashed | Verdict::Rubbish | Verdict::OutOfOrder), text), Some(earlier)) => {
                Ok(match self.ask_once(id, request)? {
                    Reply::Fault(verdict, text) => Reply::Fault(verdict, text),
                    _ => Reply::Fault(
                        Verdict::Flaky,
                        format!(
                            "{} after the request {earlier:?}, and not in a fresh process: {text}",
                            verdict.name()
                        ),
                    ),
                })
            }
            (reply, _) => Ok(reply),
        }
    }

    fn ask_once(&mut self, id: &str, request: &str) -> Result<Reply, String> {
        let reply = match self.line(request)? {
            Ok(line) => read_reply(id, &line),
            Err(fault) => fault,
        };
        match (&reply, &mut self.running) {
            (Reply::Fault(..), _) => self.stop(),
            (_, Some(running)) => running.answered = Some(id.to_owned()),
            (_, None) => {}
        }
        Ok(reply)
    }

    /// Sends a line and waits for the line that answers it. The inner error is a fault of the port.
    ///
    /// # Errors
    /// Returns a message if the command cannot be started.
    pub fn line(&mut self, request: &str) -> Result<Result<Vec<u8>, Reply>, String> {
        let timeout = self.timeout;
        let running = self.start()?;
        // A line that was not requested would be taken for the answer to this request.
        if let Ok(line) = running.lines.try_recv() {
            let text = format!("a line that answers no request: {}", shorten(&line));
            return Ok(Err(self.fault(Verdict::Rubbish, text)));
        }
        // If the child has ended, this fails, and so does the reading.
        let _ = running.requests.send(format!("{request}\n"));
        Ok(match running.lines.recv_timeout(timeout) {
            Ok(line) => Ok(line),
            Err(RecvTimeoutError::Timeout) => {
                let text = format!("no answer in {} s", timeout.as_secs_f64());
                Err(self.fault(Verdict::TimedOut, text))
            }
            Err(RecvTimeoutError::Disconnected) => {
                let text = running.end();
                Err(self.fault(Verdict::Crashed, text))
            }
        })
    }

    fn fault(&mut self, verdict: Verdict, text: String) -> Reply {
        self.stop();
        Reply::Fault(verdict, text)
    }

    fn start(&mut self) -> Result<&mut Running, String> {
        if self.running.is_none() {
            self.running = Some(start(self.command)?);
            self.starts = self.starts.saturating_add(1);
        }
        // The child was started above, so this error cannot occur.
        self.running.as_mut().ok_or_else(|| "the port is not running".to_owned())
    }

    fn stop(&mut self) {
        if let Some(mut running) = self.running.take() {
            // The child may have ended already.
            let _ = running.child.kill();
            let _ = running.child.wait();
        }
    }
}

impl Drop for Port<'_> {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Running {
    /// Describes how the child ended, with the end of its standard error.
    fn end(&mut self) -> String {
        // The pipe is closed. The process needs a moment to end; one that does not is killed afterwards.
        let words = self.last_words.recv_timeout(Duration::from_millis(300)).unwrap_or_default();
        let how = match self.child.try_wait() {
            Ok(Some(status)) => format!("the port ended ({status})"),
            _ => "the port closed its standard output".to_owned(),
        };
        match words.trim() {
            "" => how,
            words => format!("{how}; its standard error ends with:\n{words}"),
        }
    }
}

fn start(command: &[String]) -> Result<Running, String> {
    let Some((program, arguments)) = command.split_first() else {
        return Err("the command is empty".to_owned());
    };
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{program} cannot be started: {error}"))?;
    let (requests, to_write) = channel::<String>();
    let (read, lines) = sync_channel(LINES_AHEAD);
    let (said, last_words) = channel();
    if let Some(stdin) = child.stdin.take() {
        thread::spawn(move || write_requests(stdin, &to_write));
    }
    if let Some(stdout) = child.stdout.take() {
        thread::spawn(move || read_lines(stdout, &read));
    }
    if let Some(stderr) = child.stderr.take() {
        thread::spawn(move || {
            // The receiver may have been dropped.
            let _ = said.send(end_of(stderr));
        });
    }
    Ok(Running {
        child,
        requests,
        lines,
        last_words,
        answered: None,
    })
}

/// Writes requests in a thread of its own, because a port that does not read would block it.
fn write_requests(mut stdin: ChildStdin, requests: &Receiver<String>) {
    for request in requests {
        if stdin.write_all(request.as_bytes()).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn read_lines(stdout: impl Read, lines: &SyncSender<Vec<u8>>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        match stdout.by_ref().take(MAX_BYTES).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) if lines.send(line).is_err() => return,
            Ok(_) => {}
        }
    }
}

fn end_of(mut stderr: impl Read) -> String {
    let (mut kept, mut piece) = (Vec::new(), [0; 1024]);
    while let Ok(read) = stderr.read(&mut piece) {
        if read == 0 {
            break;
        }
        kept.extend_from_slice(piece.get(..read).unwrap_or_default());
        let surplus = kept.len().saturating_sub(LAST_WORDS);
        kept.drain(..surplus);
    }
    String::from_utf8_lossy(&kept).into_owned()
}

fn read_reply(id: &str, line: &[u8]) -> Reply {
    let rubbish = |fault: String| Reply::Fault(Verdict::Rubbish, format!("{fault}: {}", shorten(line)));
    let replaced = replace_lone_surrogates(line);
    let answer = match internal::read_bytes(&replaced) {
        Ok(Data::Object(answer)) => answer,
        Ok(_) => return rubbish("not a JSON object".to_owned()),
        Err(error) => return rubbish(format!("not JSON ({error})")),
    };
    match answer.get("id") {
        Some(Data::Str(answered)) if answered == id => {}
        // This is the protocol's answer to a line that the port could not read.
        Some(Data::None) | None if is_request_error(&answer) => {}
        None => return rubbish("an answer without an id".to_owned()),
        Some(_) => {
            let text = format!("the answer to another request: {}", shorten(line));
            return Reply::Fault(Verdict::OutOfOrder, text);
        }
    }
    if let Some(reason) = answer.get("unsupported") {
        return Reply::Unsupported(match reason {
            Data::Str(reason) => reason.clone().into_owned(),
            _ => String::new(),
        });
    }
    match Answer::read(&answer) {
        Ok(answer) => Reply::Answer(answer),
        Err(fault) => rubbish(fault),
    }
}

/// Replaces the escape of each surrogate that is not in a pair, such as `\ud83d`, by that of U+FFFD. JavaScript's `JSON.stringify` writes
/// such escapes, and no string of Rust can contain what they mean.
fn replace_lone_surrogates(line: &[u8]) -> Vec<u8> {
    let unit = |at: usize| match line.get(at..at.checked_add(6)?)? {
        [b'\\', b'u', digits @ ..] => u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok(),
        _ => None,
    };
    let (mut replaced, mut at) = (Vec::with_capacity(line.len()), 0_usize);
    while let Some(byte) = line.get(at) {
        let (text, length): (&[u8], usize) = match (unit(at), unit(at.saturating_add(6))) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (line.get(at..at.saturating_add(12)).unwrap_or_default(), 12),
            (Some(0xd800..=0xdfff), _) => (b"\\ufffd", 6),
            _ if *byte == b'\\' => (line.get(at..at.saturating_add(2).min(line.len())).unwrap_or_default(), 2),
            _ => (std::slice::from_ref(byte), 1),
        };
        replaced.extend_from_slice(text);
        at = at.saturating_add(length);
    }
    replaced
}

fn is_request_error(answer: &Object<'_>) -> bool {
    match answer.get("error") {
        Some(Data::Object(error)) => matches!(error.get("kind"), Some(Data::Str(kind)) if kind == "request"),
        _ => false,
    }
}

fn shorten(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end();
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_surrogate_is_replaced() {
        let replaced = |text: &str| String::from_utf8(replace_lone_surrogates(text.as_bytes())).unwrap();
        assert_eq!(replaced(r#"{"output": "\\ud83d"}"#), r#"{"output": "\\ud83d"}"#);
        assert_eq!(
            replaced(r#""\ud83d" "\\ud83d" "\udE00\ud83d\ude00""#),
            r#""\ufffd" "\\ud83d" "\ufffd\ud83d\ude00""#
        );
        assert_eq!(replaced("\\"), "\\");
        let reply = read_reply("a/b", br#"{"id": "a/b", "error": {"kind": "type", "message": "\ud83d"}}"#);
        assert!(matches!(reply, Reply::Answer(Answer::Error(_))));
    }
}
