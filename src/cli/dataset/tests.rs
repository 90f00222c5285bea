//! Resuming a run at each state in which it can be killed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::json::Object;
use crate::{ChatTemplate, Limits};
use indicatif::ProgressBar;

use super::journal::Journal;
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
            messages_key: "messages".to_owned(),
            is_sharegpt: false,
            wants_spans: false,
            masks: None,
            is_strict: false,
            removes_null: false,
            wants_turns: false,
            notes: Notes::new(&chat),
            chat,
            add_generation_prompt: false,
            continue_final_message: None,
            variables: Object::default(),
            limits: Limits::default(),
            clock: None,
            max_row: 1000,
        },
        files: Files {
            input,
            output: folder.join(format!("out.jsonl{end}")),
            errors: Some(folder.join(format!("errors.jsonl{end}"))),
        },
        pool: rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap(),
        chunk_size,
        answers_size,
        interval,
    }
}

/// Writes the three files of an interrupted run, resumes it, and returns the output and the errors.
fn resume(run: &Run, interrupted: [&[u8]; 3]) -> [Vec<u8>; 2] {
    let errors = run.files.errors.clone().unwrap();
    let output = run.files.output.clone();
    let journal = Journal::path(&output);
    for (path, bytes) in [&output, &errors, &journal].into_iter().zip(interrupted) {
        std::fs::write(path, bytes).unwrap();
    }
    let start = run.find_start(true).unwrap().expect("there is a journal");
    let (ended, journal) = run
        .render(&start, &ProgressBar::hidden())
        .unwrap()
        .expect("the output is a file");
    assert_eq!((ended.written, ended.failed), (4, 2));
    journal.unwrap().remove().unwrap();
    assert!(run.find_start(true).unwrap().is_none(), "the output is complete");
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
        whole
            .render(&whole.find_start(false).unwrap().unwrap(), &ProgressBar::hidden())
            .unwrap();
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
        // These runs add no checkpoints, so that a cut journal stays so.
        let resumed = run(&folder.0, end, sizes, Duration::MAX);
        for cut in 0..=output.len() {
            assert_eq!(
                resume(&resumed, [&output[..cut], &errors, &journal]),
                expected,
                "output {cut}"
            );
        }
        for cut in 0..=errors.len() {
            assert_eq!(
                resume(&resumed, [&output, &errors[..cut], &journal]),
                expected,
                "errors {cut}"
            );
        }
        for cut in 0..=journal.len() {
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
        for _ in 0..300 {
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
    let start = first.find_start(false).unwrap().unwrap();
    first.render(&start, &ProgressBar::hidden()).unwrap();
    let message = |run: &Run, resumes: bool| run.find_start(resumes).map(|_| ()).unwrap_err();
    assert!(message(&first, false).contains("continue it with --resume"));
    let mut other = run(&folder.0, "", ROWS, Duration::ZERO);
    other.renderer.wants_spans = true;
    assert!(message(&other, true).contains("other options"));
    let start = first.find_start(true).unwrap().unwrap();
    std::fs::write(&first.files.input, INPUT.replace("longer", "longest")).unwrap();
    let failure = first.render(&start, &ProgressBar::hidden()).map(|_| ()).unwrap_err();
    assert!(failure.contains("another input"), "{failure}");
}

#[test]
fn the_input_the_output_and_the_errors_are_different_files() {
    let folder = Folder::new("same");
    let mut run = run(&folder.0, "", ROWS, Duration::ZERO);
    assert_eq!(run.files.check(), Ok(()));
    run.files.output = folder.0.join(".").join("in.jsonl");
    assert!(run.files.check().is_err());
}
