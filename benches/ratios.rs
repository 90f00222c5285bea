//! The table of ratios: what minijinja takes over what this crate takes, and what this crate takes over a renderer written by hand.
//!
//! ```text
//! cargo bench --bench ratios [-- TEMPLATE]
//! ```
//!
//! Takes about two minutes. Where the corpus is, ten of its templates are in the table too. Without `--bench`, which cargo gives, each row
//! is checked and none is timed.
#![allow(clippy::restriction, clippy::pedantic, reason = "a bench that cannot run shall stop")]

mod arena;

use std::hint::black_box;

use chat_template::Template;
use minijinja::Environment;
use serde_json::Value;

use arena::conversation::{Size, conversation, read_anew};
use arena::corpus::{CorpusTemplate, first_by_hash};
use arena::stopwatch::{fastest, fastest_of, speed_of_two_threads};
use arena::{Contest, Engines, FAMILIES, Family, rival};

/// The sizes that the means are of.
const COUNTED: [Size; 4] = [Size::Messages(10), Size::Messages(100), Size::Messages(1000), Size::Tools(5)];

/// The numbers of messages that growth is looked at with: the second one's context is larger than many caches.
const GROWING: [usize; 2] = [1000, 10_000];

/// How many batches of each are taken for it.
const GROWTH_BATCHES: usize = 150;

/// How many templates of the corpus are in the table.
const CORPUS_TEMPLATES: usize = 10;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let timed = arguments.iter().any(|argument| argument == "--bench");
    let wanted = arguments.iter().find(|argument| !argument.starts_with("--"));
    let environment = rival::environment();
    let families: Vec<Family> = FAMILIES
        .into_iter()
        .filter(|family| wanted.is_none_or(|wanted| family.name.contains(wanted.as_str())))
        .collect();
    let context = corpus_conversation();
    let corpus = match wanted {
        None => first_by_hash(&environment, &context, CORPUS_TEMPLATES),
        Some(_) => Vec::new(),
    };
    if !timed {
        check(&environment, &families);
        return;
    }
    let rows = show_renders(&environment, &families);
    show_means("the rows marked *, of", rows.iter().filter(|row| COUNTED.contains(&row.size)));
    show_growth(&environment, &families);
    show_corpus(&environment, &corpus, &context);
    show_compiles(&environment, &families, &corpus);
    show_threads(&environment, &families);
}

/// Nanoseconds a message.
struct Row {
    family: &'static str,
    size: Size,
    copy: f64,
    by_hand: f64,
    ours: f64,
    rival: f64,
    ours_from_text: f64,
    rival_from_text: f64,
}

impl Row {
    fn ratio(&self) -> f64 {
        self.rival / self.ours
    }

    fn ratio_by_hand(&self) -> f64 {
        self.ours / self.by_hand
    }

    fn ratio_from_text(&self) -> f64 {
        self.rival_from_text / self.ours_from_text
    }

    fn new(contest: &Contest<'_>, family: &'static str, size: Size, has_hand: bool) -> Self {
        let times = fastest([
            &|| drop(black_box(contest.copy())),
            &|| {
                if has_hand {
                    drop(black_box(contest.by_hand()));
                }
            },
            &|| drop(black_box(contest.ours())),
            &|| drop(black_box(contest.rival())),
            &|| drop(black_box(contest.ours_from_text())),
            &|| drop(black_box(contest.rival_from_text())),
            &|| drop(black_box(contest.rival_from_text_over_json())),
        ]);
        let [copy, by_hand, ours, rival, ours_from_text, direct, over_json] = times.map(|time| time / size.messages() as f64);
        Self {
            family,
            size,
            copy,
            by_hand,
            ours,
            rival,
            ours_from_text,
            rival_from_text: direct.min(over_json),
        }
    }
}

fn check(environment: &Environment<'_>, families: &[Family]) {
    for family in families {
        let engines = Engines::new(environment, family);
        for size in Size::of(family) {
            let contest = Contest::checked(&engines, read_anew(conversation(family, size)));
            println!("{}, {}: {} bytes, equal", family.name, size.label(), contest.output().len());
        }
    }
}

fn show_renders(environment: &Environment<'_>, families: &[Family]) -> Vec<Row> {
    println!("render: ns a message; minijinja over ours, ours over by hand; from JSON text, and minijinja over ours\n");
    println!(
        "| template | messages | copy | by hand | ours | minijinja | ratio | by hand | ours, text | minijinja, text | ratio |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    let mut rows = Vec::new();
    for family in families {
        let engines = Engines::new(environment, family);
        for size in Size::of(family) {
            let contest = Contest::checked(&engines, read_anew(conversation(family, size)));
            let row = Row::new(&contest, family.name, size, true);
            let mark = if COUNTED.contains(&size) { "*" } else { "" };
            println!(
                "| {} | {}{mark} | {:.1} | {:.0} | {:.0} | {:.0} | {:.2} | {:.1} | {:.0} | {:.0} | {:.2} |",
                row.family,
                size.label(),
                row.copy,
                row.by_hand,
                row.ours,
                row.rival,
                row.ratio(),
                row.ratio_by_hand(),
                row.ours_from_text,
                row.rival_from_text,
                row.ratio_from_text()
            );
            rows.push(row);
        }
    }
    rows
}

fn show_means<'r>(of: &str, rows: impl Iterator<Item = &'r Row> + Clone) {
    let count = rows.clone().count();
    let mean = |ratio: fn(&Row) -> f64| (rows.clone().map(|row| ratio(row).ln()).sum::<f64>() / count as f64).exp();
    let least = |ratio: fn(&Row) -> f64| rows.clone().map(ratio).fold(f64::INFINITY, f64::min);
    println!("\n{of} which there are {count}: geometric means and the least");
    println!(
        "- minijinja over ours: {:.2}, least {:.2}",
        mean(Row::ratio),
        least(Row::ratio)
    );
    println!("- ours over by hand: {:.2}", mean(Row::ratio_by_hand));
    println!(
        "- from JSON text, minijinja over ours: {:.2}, least {:.2}",
        mean(Row::ratio_from_text),
        least(Row::ratio_from_text)
    );
}

/// What a message costs among 10 000 over what it costs among 1000, and that once the growth of the copy is taken off: over how many times
/// as long the copy takes.
///
/// It is the processor's caches that are looked at here, so that it matters how the context lies in memory. The function written by hand
/// reads the same context and does little else.
fn show_growth(environment: &Environment<'_>, families: &[Family]) {
    println!("\na message among 10 000 over one among 1000\n");
    println!("| template | context | copy | by hand | ours | ours over copy | ours without the time of the copy |");
    println!("|---|---|--:|--:|--:|--:|--:|");
    for family in families {
        let engines = Engines::new(environment, family);
        for (label, is_read) in [("as made", false), ("as read", true)] {
            let contests = GROWING.map(|count| {
                let made = conversation(family, Size::Messages(count));
                Contest::checked(&engines, if is_read { read_anew(made) } else { made })
            });
            let growth = |[short, long]: [f64; 2]| long / short;
            let copy = a_message(&contests, Contest::copy);
            let ours = a_message(&contests, Contest::ours);
            println!(
                "| {} | {label} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} |",
                family.name,
                growth(copy),
                growth(a_message(&contests, Contest::by_hand)),
                growth(ours),
                growth(ours) / growth(copy),
                growth([ours[0] - copy[0], ours[1] - copy[1]])
            );
        }
    }
}

/// The nanoseconds a message that a short conversation takes, and a long one. They do not take turns: while the short one ran, others
/// would take the share of the cache that the long one needs.
fn a_message<'e>(contests: &[Contest<'e>; 2], render: fn(&Contest<'e>) -> String) -> [f64; 2] {
    std::array::from_fn(|at| {
        let [time] = fastest_of(GROWTH_BATCHES, [&|| drop(black_box(render(&contests[at])))]);
        time / GROWING[at] as f64
    })
}

/// A hundred messages, and one call a turn: what most templates take.
fn corpus_conversation() -> Value {
    let [_, tools, ..] = FAMILIES;
    read_anew(conversation(&tools, Size::Messages(100)))
}

fn show_corpus(environment: &Environment<'_>, corpus: &[CorpusTemplate], context: &Value) {
    if corpus.is_empty() {
        return;
    }
    println!("\nthe first templates of the corpus by sha256: 100 messages, ns a message\n");
    println!("| template | copy | ours | minijinja | ratio | ours, text | minijinja, text | ratio |");
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    let mut rows = Vec::new();
    for template in corpus {
        let engines = Engines::compile(environment, &template.source).expect("it was compiled before");
        let contest = Contest::checked(&engines, context.clone());
        let row = Row::new(&contest, "", Size::Messages(100), false);
        println!(
            "| {} | {:.1} | {:.0} | {:.0} | {:.2} | {:.0} | {:.0} | {:.2} |",
            template.name,
            row.copy,
            row.ours,
            row.rival,
            row.ratio(),
            row.ours_from_text,
            row.rival_from_text,
            row.ratio_from_text()
        );
        rows.push(row);
    }
    let mean = |ratio: fn(&Row) -> f64| (rows.iter().map(|row| ratio(row).ln()).sum::<f64>() / rows.len() as f64).exp();
    println!(
        "\ngeometric mean {:.2}, from JSON text {:.2}",
        mean(Row::ratio),
        mean(Row::ratio_from_text)
    );
}

fn show_compiles(environment: &Environment<'_>, families: &[Family], corpus: &[CorpusTemplate]) {
    println!("\ncompile: µs, and ours over minijinja's\n");
    println!("| template | bytes | ours | minijinja | ours over minijinja |");
    println!("|---|--:|--:|--:|--:|");
    let own = families.iter().map(|family| (family.name, family.source));
    let theirs = corpus
        .iter()
        .map(|template| (template.name.as_str(), template.source.as_str()));
    let mut logarithms = Vec::new();
    for (name, source) in own.chain(theirs) {
        let [ours, minijinja] = fastest([&|| drop(black_box(Template::compile(source))), &|| {
            drop(black_box(environment.template_from_str(source)))
        }]);
        let (bytes, ratio) = (source.len(), ours / minijinja);
        logarithms.push(ratio.ln());
        println!(
            "| {name} | {bytes} | {:.1} | {:.1} | {ratio:.2} |",
            ours / 1e3,
            minijinja / 1e3
        );
    }
    let mean = logarithms.iter().sum::<f64>() / logarithms.len() as f64;
    println!("\ngeometric mean {:.2}", mean.exp());
}

fn show_threads(environment: &Environment<'_>, families: &[Family]) {
    println!(
        "\none compiled template in two threads, 100 messages: how much more is done than in one, by the wall and by the processors"
    );
    for family in families {
        let engines = Engines::new(environment, family);
        let contest = Contest::checked(&engines, read_anew(conversation(family, Size::Messages(100))));
        let [wall, busy] = speed_of_two_threads(&|| contest.ours());
        println!("- {}: {wall:.2}, {busy:.2}", family.name);
    }
}
