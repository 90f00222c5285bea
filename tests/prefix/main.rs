//! The verdicts on prefixes over a folder of templates. These tests take minutes, and are run by hand:
//!
//! ```text
//! CORPUS=../shared/corpus/templates cargo test --release --test prefix -- --ignored --nocapture
//! ```
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test reports a broken expectation by failing"
)]
#![cfg(feature = "inspect")]

use std::path::PathBuf;
use std::time::Instant;

use chat_template::ChatTemplate;
use chat_template::report::Verdict;

/// Returns the templates of the folder that the variable `CORPUS` names, each with its name. Those that do not compile are left out.
fn read_corpus() -> Vec<(String, ChatTemplate)> {
    let folder = PathBuf::from(std::env::var("CORPUS").unwrap_or_else(|_| "../shared/corpus/templates".to_owned()));
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let tokens = [
        ("bos_token", "<s>"),
        ("eos_token", "</s>"),
        ("unk_token", "<unk>"),
        ("pad_token", "<pad>"),
    ];
    let read = |path: PathBuf| {
        let source = String::from_utf8(std::fs::read(&path).unwrap()).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, ChatTemplate::from_source(source, &tokens))
    };
    let templates = paths.into_iter().map(read);
    templates.filter(|(_, template)| template.check().is_ok()).collect()
}

#[test]
#[ignore = "reads a folder of templates"]
fn verdicts_are_counted() {
    let mut counts = std::collections::BTreeMap::new();
    let mut times = Vec::new();
    for (name, template) in read_corpus() {
        let start = Instant::now();
        let report = template.inspect().unwrap();
        times.push((start.elapsed(), name.clone()));
        for (way, boundary) in report.prefix.boundaries() {
            *counts.entry((way, format!("{:?}", boundary.verdict))).or_insert(0) += 1;
            if boundary.verdict == Verdict::Unknown {
                println!("unknown {way} {name}");
            }
        }
    }
    println!("{counts:#?}");
    times.sort();
    for index in [50, 90, 99, 100] {
        println!("{index} %: {:?}", times[(times.len() - 1) * index / 100]);
    }
}
