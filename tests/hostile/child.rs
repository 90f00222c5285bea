//! A port as a child with little time and memory: it is asked a hostile line and then a plain one.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

/// What a child may use.
#[derive(Clone, Copy)]
pub struct Allowed {
    /// Seconds of its processor; none where that says nothing.
    pub seconds: Option<u32>,
    /// KiB of address space.
    pub kib: u32,
}

/// What became of a child.
pub struct Outcome {
    /// Its answer; none where it died.
    pub answer: Option<String>,
    /// Seconds of its processor.
    pub seconds: f64,
    /// The most memory that it had, in MiB.
    pub mib: f64,
}

/// Asks a port with these arguments.
pub fn ask(binary: &str, arguments: &[&str], line: &[u8], allowed: Allowed) -> Outcome {
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
    let answer = exchange(&mut child, line);
    let (seconds, mib) = usage(child.id());
    drop(child.stdin.take());
    child.wait().expect("the child ends");
    Outcome { answer, seconds, mib }
}

/// The first answer, if the child gives the second too. An empty line has no answer of its own.
fn exchange(child: &mut Child, line: &[u8]) -> Option<String> {
    let mut input = child.stdin.take()?;
    let mut output = BufReader::new(child.stdout.take()?);
    let result = std::thread::scope(|scope| {
        // The child may answer, or die, before it has read everything.
        let writer = scope.spawn(|| {
            let written = input
                .write_all(line)
                .and_then(|()| input.write_all(b"{\"template\": \"still here\"}\n"));
            (written.and_then(|()| input.flush()).is_ok(), input)
        });
        let mut first = String::new();
        let mut second = String::new();
        let read = output.read_line(&mut first).and_then(|_| match first.contains("still here") {
            true => Ok(0),
            false => output.read_line(&mut second),
        });
        let (_, input) = writer.join().expect("the writer does not panic");
        let survived = read.is_ok() && (first.contains("still here") || second.contains("still here"));
        (survived.then_some(first), input)
    });
    child.stdin = Some(result.1);
    result.0
}

/// Processor time and memory so far, of a child that waits, or of one that died and was not waited for.
fn usage(id: u32) -> (f64, f64) {
    let read = |file: &str| std::fs::read_to_string(format!("/proc/{id}/{file}")).unwrap_or_default();
    let status = read("status");
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    let stat = read("stat");
    // Behind the name in brackets: the fields from the third on.
    let fields: Vec<&str> = stat
        .rsplit_once(')')
        .map_or(Vec::new(), |(_, rest)| rest.split_whitespace().collect());
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (
        (ticks(11) + ticks(12)) / 100.0,
        peak.and_then(|peak| peak.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0,
    )
}
