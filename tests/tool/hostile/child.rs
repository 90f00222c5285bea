//! Runs the port as a child process with little time and memory, and sends it a hostile line and then a harmless one.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

/// The resources that a child can use.
#[derive(Clone, Copy)]
pub struct Allowance {
    /// The processor time in seconds, if it is limited.
    pub seconds: Option<u32>,
    /// The address space in KiB.
    pub kib: u32,
}

/// The result of a request to a child.
pub struct Outcome {
    /// The answer, or `None` if the child died.
    pub answer: Option<String>,
    /// The processor time that the child used, in seconds.
    pub seconds: f64,
    /// The peak memory of the child in MiB.
    pub mib: f64,
}

/// Starts a port with these arguments, sends it a line, and returns the outcome.
pub fn send(binary: &str, arguments: &[&str], line: &[u8], allowed: Allowance) -> Outcome {
    let seconds = allowed
        .seconds
        .map_or(String::new(), |seconds| format!("ulimit -t {seconds}; "));
    let script = format!("ulimit -c 0; {seconds}ulimit -v {}; exec \"$0\" port \"$@\"", allowed.kib);
    let mut child = Command::new("sh")
        .args(["-c", &script, binary])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("sh runs");
    let answer = exchange_lines(&mut child, line);
    let (seconds, mib) = read_usage(child.id());
    drop(child.stdin.take());
    child.wait().expect("the child ends");
    Outcome { answer, seconds, mib }
}

/// Sends a line and a harmless second line. Returns the first answer if the child also answers the second line.
///
/// If the first line is empty, the port does not answer it, and the answer to the second line is returned.
fn exchange_lines(child: &mut Child, line: &[u8]) -> Option<String> {
    let mut input = child.stdin.take()?;
    let mut output = BufReader::new(child.stdout.take()?);
    let result = std::thread::scope(|scope| {
        // A thread writes the lines, because the child can answer, or die, before it has read everything.
        let writer = scope.spawn(|| {
            let written = input
                .write_all(line)
                .and_then(|()| input.write_all(b"{\"template\": \"still here\"}\n"));
            (written.and_then(|()| input.flush()).is_ok(), input)
        });
        let mut first = String::new();
        let mut second = String::new();
        let mut read = output.read_line(&mut first);
        if read.is_ok() && !first.contains("still here") {
            read = output.read_line(&mut second);
        }
        let (_, input) = writer.join().expect("the writer does not panic");
        let survived = read.is_ok() && (first.contains("still here") || second.contains("still here"));
        (survived.then_some(first), input)
    });
    child.stdin = Some(result.1);
    result.0
}

/// Returns the processor time in seconds and the peak memory in MiB of a child that nobody has waited for.
fn read_usage(id: u32) -> (f64, f64) {
    let read = |file: &str| std::fs::read_to_string(format!("/proc/{id}/{file}")).unwrap_or_default();
    let status = read("status");
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    let stat = read("stat");
    // The fields after the name in parentheses, which is the second field.
    let fields: Vec<&str> = stat
        .rsplit_once(')')
        .map_or(Vec::new(), |(_, rest)| rest.split_whitespace().collect());
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (
        (ticks(11) + ticks(12)) / 100.0,
        peak.and_then(|peak| peak.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0,
    )
}
