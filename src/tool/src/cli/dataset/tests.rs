//! Resuming a run at each state in which it can be killed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use chat_template::json::Object;
use chat_template::{ChatTemplate, Limits};
use chat_template_rows::{Known, Reader};
use indicatif::ProgressBar;

use super::journal::{Checkpoint, Journal};
use super::notes::Notes;
use super::row::Renderer;
use super::run::{Files, Run};

/// Rows of different lengths, two of which fail, with a blank line. The last one has no line feed.
const INPUT: &str = "{\"id\": 1, \"messages\": [{\"role\": \"user\", \"content\": \"é\"}]}\n{\"messages\": 1}\n\n{\"messages\": [{\"role\": \"user\", \"content\": \"longer\"}]}\nx\n\
                     {\"messages\": [{\"role\": \"user\", \"content\": \"\"}]}\n{\"messages\": [{\"role\": \"user\", \"content\": \"last\"}]}";

/// The sizes of chunks and answers with which each row is a chunk.
const ROWS: [usize; 2] = [10, usize::MAX];

/// The sizes of chunks and answers with which a chunk has several rows, and each answer is written at once.
const PARTS: [usize; 2] = [100, 1];

/// A folder for one test, which is removed when the test ends. A folder in memory makes waiting for the disk fast.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let memory = PathBuf::from("/dev/shm");
        let parent = if memory.is_dir() { memory } else { std::env::temp_dir() };
        let path = parent.join(format!("chat-template-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run(folder: &Path, end: &str, sizes: [usize; 2], interval: Duration) -> Run {
    let [chunk_size, answers_size] = sizes;
    let input = folder.join("in.jsonl");
    std::fs::write(&input, INPUT).unwrap();
    let chat = ChatTemplate::from_source("<{{ messages[0].content }}>", &[]).unwrap();
    Run {
        renderer: Renderer {
            name: None,
            reader: Reader::default(),
            known: Known::new(&chat),
            wants_spans: false,
            masks: None,
            is_strict: false,
            wants_turns: false,
            tokenizer: None,
            notes: Notes::default(),
            chat,
            add_generation_prompt: false,
            continue_final_message: None,
            variables: Object::default(),
            limits: Limits::default(),
            clock: None,
            max_row: 1000,
        },
        files: Files {
            input: vec![input],
            output: folder.join(format!("out.jsonl{end}")),
            errors: Some(folder.join(format!("errors.jsonl{end}"))),
        },
        pool: rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap(),
        chunk_size,
        answers_size,
        interval,
    }
}

/// Renders the rows and returns the state at the end.
fn render(run: &Run, resumes: bool) -> Result<Checkpoint, String> {
    let start = run.find_start(resumes)?;
    let ended = run.render(start, None, &ProgressBar::hidden())?;
    Ok(ended.expect("the output is a file"))
}

/// Writes the three files of an interrupted run, resumes it, and returns the output and the errors.
fn resume(run: &Run, interrupted: [&[u8]; 3]) -> [Vec<u8>; 2] {
    let errors = run.files.errors.clone().unwrap();
    let output = run.files.output.clone();
    let journal = Journal::path(&output);
    for (path, bytes) in [&output, &errors, &journal].into_iter().zip(interrupted) {
        std::fs::write(path, bytes).unwrap();
    }
    let ended = render(run, true).unwrap();
    assert_eq!((ended.written, ended.failed), (4, 2));
    assert!(ended.is_complete);
    [output, errors].map(|path| std::fs::read(path).unwrap())
}

#[test]
fn a_run_resumes_from_files_that_end_at_any_byte() {
    for (end, sizes) in [
        ("", ROWS),
        (".gz", ROWS),
        (".zst", ROWS),
        ("", PARTS),
        (".gz", PARTS),
        (".zst", PARTS),
    ] {
        let folder = Folder::new(&format!("resume{end}"));
        let whole = run(&folder.0, end, sizes, Duration::ZERO);
        render(&whole, false).unwrap();
        let files = [
            &whole.files.output,
            whole.files.errors.as_ref().unwrap(),
            &Journal::path(&whole.files.output),
        ];
        let [output, errors, journal] = files.map(|path| std::fs::read(path).unwrap());
        assert!(
            journal.iter().filter(|byte| **byte == b'\n').count() > if sizes == ROWS { 3 } else { 1 },
            "there are checkpoints"
        );
        let expected = [output.clone(), errors.clone()];
        // Compressed files are cut at each seventh byte only, because resuming these takes long.
        let step = if end.is_empty() { 1 } else { 7 };
        // These runs add no checkpoints, so that a cut journal stays so.
        let resumed = run(&folder.0, end, sizes, Duration::MAX);
        for cut in (0..=output.len()).rev().step_by(step) {
            assert_eq!(
                resume(&resumed, [&output[..cut], &errors, &journal]),
                expected,
                "output {cut}"
            );
        }
        for cut in (0..=errors.len()).rev().step_by(step) {
            assert_eq!(
                resume(&resumed, [&output, &errors[..cut], &journal]),
                expected,
                "errors {cut}"
            );
        }
        for cut in (0..=journal.len()).rev().step_by(step) {
            assert_eq!(
                resume(&resumed, [&output, &errors, &journal[..cut]]),
                expected,
                "journal {cut}"
            );
        }
        // A digit of a checkpoint that changes on the disk must not change the result.
        let checkpoints = journal.iter().position(|byte| *byte == b'\n').unwrap();
        for (at, byte) in journal
            .iter()
            .enumerate()
            .skip(checkpoints)
            .filter(|(_, byte)| byte.is_ascii_digit())
            .step_by(step)
        {
            let mut damaged = journal.clone();
            damaged[at] = if *byte == b'1' { b'2' } else { b'1' };
            assert_eq!(resume(&resumed, [&output, &errors, &damaged]), expected, "journal {at}");
        }
        // A simple generator of random numbers.
        let mut state = 1_usize;
        let mut random = |most: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % (most + 1)
        };
        for _ in 0..300 / step {
            let cuts = [random(output.len()), random(errors.len()), random(journal.len())];
            let cut = [&output[..cuts[0]], &errors[..cuts[1]], &journal[..cuts[2]]];
            assert_eq!(resume(&resumed, cut), expected, "{cuts:?}");
        }
    }
}

#[test]
fn a_run_does_not_resume_with_other_options_or_another_input() {
    let folder = Folder::new("other");
    let first = run(&folder.0, "", ROWS, Duration::ZERO);
    let journal = Journal::path(&first.files.output);
    render(&first, false).unwrap();
    // The run was killed before the last checkpoint.
    let mut lines = std::fs::read_to_string(&journal).unwrap();
    lines.truncate(lines.trim_end().rfind('\n').unwrap() + 1);
    std::fs::write(&journal, &lines).unwrap();
    let message = |run: &Run, resumes: bool| render(run, resumes).unwrap_err();
    assert!(message(&first, false).contains("continue it with --resume"));
    let mut other = run(&folder.0, "", ROWS, Duration::ZERO);
    other.renderer.wants_spans = true;
    assert!(message(&other, true).contains("other options"));
    let mut other = run(&folder.0, "", ROWS, Duration::ZERO);
    other.files.errors = Some(folder.0.join("others.jsonl"));
    assert!(message(&other, true).contains("other options"));
    for changed in ["longest", "lönge"] {
        std::fs::write(&first.files.input[0], INPUT.replace("longer", changed)).unwrap();
        assert!(message(&first, true).contains("another input"));
    }
}

#[test]
fn a_complete_output_grows_with_its_input() {
    let folder = Folder::new("appended");
    let run = run(&folder.0, "", ROWS, Duration::ZERO);
    let whole = render(&run, false).unwrap();
    let read = || [&run.files.output, run.files.errors.as_ref().unwrap()].map(|path| std::fs::read_to_string(path).unwrap());
    let before = read();
    assert_eq!(render(&run, true).unwrap(), whole);
    assert_eq!(read(), before);
    std::fs::write(
        &run.files.input[0],
        format!("{INPUT}\nbad\n{{\"messages\": [{{\"role\": \"user\", \"content\": \"new\"}}]}}\n"),
    )
    .unwrap();
    let ended = render(&run, true).unwrap();
    assert_eq!((ended.written, ended.failed), (whole.written + 1, whole.failed + 1));
    let resumed = read();
    // The line numbers are those of the whole input.
    render(&run, false).unwrap();
    assert_eq!(read(), resumed);
    std::fs::write(&run.files.input[0], format!("{INPUT} ")).unwrap();
    assert!(render(&run, true).unwrap_err().contains("another input"));
}

#[test]
fn the_input_the_output_and_the_errors_are_different_files() {
    let folder = Folder::new("same");
    let mut run = run(&folder.0, "", ROWS, Duration::ZERO);
    assert_eq!(run.files.check([""; 0]), Ok(()));
    run.files.output = folder.0.join(".").join("in.jsonl");
    assert!(run.files.check([""; 0]).is_err());
}
