//! The files of a run: compression, pipes, a full disk, and one writer at a time.

use std::io::Write;
use std::process::Stdio;

use super::{Folder, make_rows};

#[test]
fn files_are_compressed_by_their_names() {
    let folder = Folder::new("compression");
    // The output of the first run is the input of the second, which renders another key.
    let rows = make_rows(3000).replace("\"messages\"", "\"messages\": [{\"role\": \"user\"}], \"second\"");
    folder.write("in.jsonl", &rows);
    for (end, magic) in [
        ("", &b"{\"id\""[..]),
        (".gz", &[0x1f, 0x8b]),
        (".zst", &[0x28, 0xb5, 0x2f, 0xfd]),
    ] {
        let first = folder.run(&format!("--input in.jsonl --output a.jsonl{end}"), "");
        assert_eq!(first.2, 0, "{}", first.1);
        let path = folder.0.join(format!("a.jsonl{end}"));
        let bytes = std::fs::read(&path).expect("it is written");
        assert!(bytes.starts_with(magic));
        let second = format!("--messages-key second --input a.jsonl{end} --output b{end}.jsonl");
        let (_, error, status) = folder.run(&second, "");
        assert_eq!(status, 0, "{error}");
        assert_eq!(folder.rows(&format!("b{end}.jsonl")).len(), 3000);
        assert_eq!(folder.read(&format!("b{end}.jsonl")), folder.read("b.jsonl"));
        if !end.is_empty() {
            // The file is cut: the rows before the cut are written, and the run can go on later.
            std::fs::write(&path, &bytes[..bytes.len() - 9]).expect("a file can be written");
            let (_, error, status) = folder.run(&format!("--messages-key second --input a.jsonl{end} --output cut.jsonl"), "");
            assert_eq!(status, 2, "{error}");
            assert!(error.contains("--resume continues the run"), "{error}");
            assert!(folder.read("b.jsonl").starts_with(&folder.read("cut.jsonl")));
            std::fs::write(&path, &bytes).expect("a file can be written");
            let (_, error, status) = folder.run(
                &format!("--messages-key second --input a.jsonl{end} --output cut.jsonl --resume"),
                "",
            );
            assert_eq!(status, 0, "{error}");
            assert_eq!(folder.read("b.jsonl"), folder.read("cut.jsonl"));
        }
        let (out, error, _) = folder.run(&format!("--output empty{end}"), "");
        assert!(out.is_empty() && error.starts_with("0 rows"), "{error}");
        let (_, error, status) = folder.run(&format!("--input empty{end}"), "");
        assert_eq!((status, error.starts_with("0 rows")), (0, true), "{error}");
    }
}

#[test]
fn a_closed_pipe_ends_the_run_quietly() {
    let folder = Folder::new("closed");
    folder.write("in.jsonl", make_rows(20_000));
    let mut command = folder.command("--input in.jsonl");
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the command ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// The rows after the error would be missing, although the reader of the prompts is still there.
#[test]
fn a_closed_pipe_of_errors_is_an_error() {
    let folder = Folder::new("closed-errors");
    folder.write("in.jsonl", "x\n".repeat(20_000));
    let mut child = folder
        .command("--input in.jsonl")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    drop(child.stderr.take());
    assert_eq!(child.wait().expect("the command ends").code(), Some(2));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let folder = Folder::new("full");
    let (_, error, status) = folder.run("--output /dev/full --errors /dev/null", make_rows(10));
    assert_eq!(status, 2);
    assert!(error.starts_with("error: /dev/full: No space left on device"), "{error}");
    assert!(error.contains("the run ended early: 0 rows are written, 0 failed"), "{error}");
}

#[test]
fn a_run_starts_only_if_it_can() {
    let folder = Folder::new("start");
    folder.write("in.jsonl", make_rows(2));
    std::fs::create_dir(folder.0.join("empty")).expect("a folder can be made");
    for (arguments, part) in [
        ("--input absent.jsonl --output out.jsonl", "error: absent.jsonl: "),
        ("--input empty --output out.jsonl", "error: empty: this folder has no files"),
        ("--input in.jsonl --output in.jsonl", "must be different files"),
        ("--jobs 0", "a whole number from 1"),
        (
            "--input in.jsonl --output absent/out.jsonl",
            "absent/out.jsonl: there is no folder absent",
        ),
        ("--input in.jsonl --resume", "--resume needs an --output that is a file"),
    ] {
        let (_, error, status) = folder.run(arguments, "");
        assert_eq!((status, error.contains(part)), (2, true), "{error}");
        assert!(!folder.0.join("out.jsonl.journal").exists(), "{arguments}");
    }
    std::fs::create_dir(folder.0.join("other.jsonl.journal")).expect("a folder can be made");
    let (_, error, status) = folder.run("--input in.jsonl --output other.jsonl", "");
    assert_eq!(
        (status, error.as_str()),
        (
            2,
            "error: other.jsonl.journal: the journal is not a file; delete it, or choose another --output\n"
        )
    );
    let run = "--input in.jsonl --output out.jsonl --resume";
    assert_eq!(folder.run(run, "").2, 0);
    let (_, error, status) = folder.run(run, "");
    assert!(
        error.starts_with("out.jsonl: the output is complete\n2 rows: 2 written"),
        "{error}"
    );
    assert_eq!(status, 0);
    std::fs::remove_file(folder.0.join("out.jsonl.journal")).expect("it exists");
    assert!(folder.run(run, "").1.contains("this file has no journal"));
}

#[cfg(unix)]
#[test]
fn an_output_has_one_writer() {
    let folder = Folder::new("writers");
    let row = make_rows(1);
    let mut command = folder.command("--output out.jsonl");
    let mut first = command
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command runs");
    let mut input = first.stdin.take().expect("it is piped");
    input.write_all(row.as_bytes()).expect("the command reads");
    // The first bytes of the input are read before the output is opened.
    for _ in 0..1000 {
        if folder.0.join("out.jsonl").exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let holder = format!("error: out.jsonl: the process {} is writing this output\n", first.id());
    for arguments in ["--output out.jsonl", "--output out.jsonl --resume"] {
        let (_, error, status) = folder.run(arguments, "");
        assert_eq!((error.as_str(), status), (holder.as_str(), 2));
    }
    input.write_all(b"bad\n").expect("the command reads");
    drop(input);
    assert_eq!(first.wait().expect("the command ends").code(), Some(1));
    // The status of a complete output stays.
    let (_, error, status) = folder.run("--output out.jsonl --resume", row.clone() + "bad\n");
    assert_eq!(status, 1, "{error}");
    assert!(
        error.contains("2 rows: 1 written, 1 failed (out.jsonl.errors.jsonl)"),
        "{error}"
    );
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_says_how_it_continues() {
    let folder = Folder::new("interrupted");
    let mut command = folder.command("--output out.jsonl");
    command.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command runs");
    let mut input = child.stdin.take().expect("it is piped");
    input.write_all(make_rows(1).as_bytes()).expect("the command reads");
    // The output is opened after the handler of the signal is set.
    for _ in 0..1000 {
        if folder.0.join("out.jsonl").exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let sent = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.expect("the command runs").success());
    let output = child.wait_with_output().expect("the command ends");
    assert_eq!(output.status.code(), Some(130));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("the same command with --resume continues the run"), "{error}");
}

#[test]
fn a_file_that_is_read_is_not_written_under_another_name() {
    let folder = Folder::new("names");
    folder.write("in.jsonl", make_rows(3));
    folder.write("limits.json", "{}");
    for name in ["in.jsonl", "t.jinja", "limits.json"] {
        let link = folder.0.join("link.jsonl");
        std::fs::hard_link(folder.0.join(name), &link).expect("a link can be made");
        let before = folder.read(name);
        for arguments in ["--output link.jsonl", "--output out.jsonl --errors link.jsonl"] {
            let (_, error, status) = folder.run(&format!("--limits limits.json --input in.jsonl {arguments}"), "");
            assert_eq!((status, error.contains("must be different files")), (2, true), "{error}");
            assert_eq!(folder.read(name), before);
        }
        std::fs::remove_file(link).expect("it exists");
    }
    let (_, error, _) = folder.run("--input in.jsonl --output new.jsonl --errors ./new.jsonl", "");
    assert!(error.contains("must be different files"), "{error}");
}

#[cfg(unix)]
#[test]
fn two_runs_do_not_share_a_file() {
    let folder = Folder::new("shared");
    folder.write("out.jsonl", "");
    std::os::unix::fs::symlink("out.jsonl", folder.0.join("link.jsonl")).expect("a link can be made");
    let mut command = folder.command("--output out.jsonl --errors errors.jsonl");
    let mut first = command
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command runs");
    let mut input = first.stdin.take().expect("it is piped");
    input.write_all(make_rows(1).as_bytes()).expect("the command reads");
    // The journal gets its first line after the files are locked.
    for _ in 0..1000 {
        if std::fs::metadata(folder.0.join("out.jsonl.journal")).is_ok_and(|journal| journal.len() > 0) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    for arguments in ["--output link.jsonl", "--output other.jsonl --errors errors.jsonl"] {
        let (_, error, status) = folder.run(arguments, "");
        assert_eq!((error.contains("is writing this output"), status), (true, 2), "{error}");
    }
    drop(input);
    assert_eq!(first.wait().expect("the command ends").code(), Some(0));
    assert_eq!(folder.rows("out.jsonl").len(), 1);
}
