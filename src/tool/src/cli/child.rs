//! Child processes of this program, for crates that trust their files: a small file makes them panic, or ask for gigabytes, which aborts a
//! process. A child has limits on its memory and its processor time, and its end is an error of its parent.

use std::process::{Child, Command, Stdio};

/// The memory of a child in bytes: this much, and more for each byte of its file.
#[cfg(any(feature = "tokenizer", feature = "parquet"))]
const MEMORY: (u64, u64) = (384 << 20, 16);

/// The number of bytes of a file or a message for which a child has one more second.
#[cfg(any(feature = "tokenizer", feature = "parquet"))]
const BYTES_A_SECOND: u64 = 256 << 10;

/// Starts this program. `prepare` sets its arguments. Its standard output is a pipe, and its other streams are closed, unless `prepare` sets
/// them.
pub fn start(prepare: impl FnOnce(&mut Command)) -> std::io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .env("RUST_BACKTRACE", "0");
    // A signal from the terminal ends the parent, which ends the child.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    prepare(&mut command);
    command.spawn()
}

/// Ends a child that may still run.
pub fn end(child: &mut Child) {
    // A child that has ended cannot be killed.
    let _ = child.kill();
    let _ = child.wait();
}

/// Limits the memory of this process by the size of its file.
#[cfg(all(any(feature = "tokenizer", feature = "parquet"), unix))]
pub fn limit_memory(file: u64) {
    use rustix::process::{Resource, Rlimit, setrlimit};

    let most = Some(MEMORY.0.saturating_add(MEMORY.1.saturating_mul(file)));
    // A system without this limit has only the limit on time.
    let _ = setrlimit(
        Resource::As,
        Rlimit {
            current: most,
            maximum: most,
        },
    );
}

/// Limits the processor time that this process may use from now on: some seconds, and more by the size of a file or a message.
#[cfg(all(any(feature = "tokenizer", feature = "parquet"), unix))]
pub fn limit_time(seconds: u64, size: u64) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use rustix::time::{ClockId, clock_gettime};

    let used = u64::try_from(clock_gettime(ClockId::ProcessCPUTime).tv_sec).unwrap_or_default();
    let allowed = size.checked_div(BYTES_A_SECOND).unwrap_or_default().saturating_add(seconds);
    let maximum = getrlimit(Resource::Cpu).maximum;
    // The limit is in whole seconds.
    let current = Some(used.saturating_add(allowed));
    let _ = setrlimit(Resource::Cpu, Rlimit { current, maximum });
}

#[cfg(all(any(feature = "tokenizer", feature = "parquet"), not(unix)))]
pub fn limit_memory(_: u64) {}

#[cfg(all(any(feature = "tokenizer", feature = "parquet"), not(unix)))]
pub fn limit_time(_: u64, _: u64) {}
