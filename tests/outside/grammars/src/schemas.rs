//! Checks grammars of JSON schemas with the cases of JSON-Schema-Test-Suite.
//!
//! ```text
//! | keyword | valid | let through | invalid | refused | let through, and the keyword is lost | let through in silence |
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use chat_template::ChatTemplate;
use chat_template::grammar::{GrammarFormat, GrammarOptions};
use llguidance::ParserFactory;
use serde_json::Value;

use super::accept;

/// The counts of a file, in the order of the table.
type Row = [usize; 6];

/// Prints a table of the files in a folder of the suite. Returns whether all that is let through fits, or something is lost.
pub fn check(folder: &Path, factory: &ParserFactory) -> bool {
    let template = ChatTemplate::from_source("{% for m in messages %}{{ m.content }}{% endfor %}", &[]).expect("it compiles");
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let entries = std::fs::read_dir(folder).expect("the folder is readable");
    for path in entries.map(|entry| entry.expect("the folder is readable").path()) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let groups: Vec<Value> = serde_json::from_str(&text).expect("a file is JSON");
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let row = rows.entry(name.clone()).or_default();
        for group in &groups {
            let options = GrammarOptions::default()
                .with_format(GrammarFormat::Lark)
                .with_json_schema(&group["schema"]);
            // A schema that no value fits has no grammar.
            let grammar = template.grammar(&options).ok().flatten();
            for case in group["tests"].as_array().into_iter().flatten() {
                let text = case["data"].to_string();
                let is_accepted = grammar
                    .as_ref()
                    .is_some_and(|grammar| accept(factory, &grammar.text, &text).is_ok());
                let is_told = grammar.as_ref().is_some_and(|grammar| !grammar.lost.is_empty());
                match (case["valid"] == true, is_accepted, is_told) {
                    (true, accepted, _) => {
                        row[0] += 1;
                        row[1] += usize::from(accepted);
                    }
                    (false, accepted, told) => {
                        row[2] += 1;
                        row[if !accepted {
                            3
                        } else if told {
                            4
                        } else {
                            5
                        }] += 1;
                        if accepted && !told {
                            eprintln!("{name}: {} lets through {text}", group["schema"]);
                        }
                    }
                }
            }
        }
    }
    println!("| keyword | valid | let through | invalid | refused | let through, told | let through in silence |");
    println!("|---|---|---|---|---|---|---|");
    for (name, row) in &rows {
        let cells: Vec<String> = row.iter().map(usize::to_string).collect();
        println!("| {name} | {} |", cells.join(" | "));
    }
    rows.values().all(|row| row[5] == 0)
}
