//! Prints tables of ratios: the time of minijinja divided by the time of this crate, and the time of this crate divided by the time of a
//! renderer written by hand.
//!
//! ```text
//! cargo bench --bench ratios [-- TEMPLATE | corpus]
//! ```
//!
//! Takes about two minutes. If the corpus is available, ten of its templates are measured too, or with `corpus` only these. Without the argument `--bench`, which
//! `cargo bench` passes, the outputs are checked and nothing is measured.
#![allow(clippy::restriction, clippy::pedantic, reason = "a bench that cannot run should panic")]

mod comparison;

use std::hint::black_box;

use chat_template::Template;
use minijinja::Environment;
use serde_json::Value;

use comparison::conversation::{Size, conversation, reparse};
use comparison::corpus::{CorpusTemplate, first_by_hash};
use comparison::stopwatch::{measure, measure_batches, measure_two_threads};
use comparison::{Comparison, Engines, FAMILIES, Family, minijinja_setup};

/// The size whose start is most of the time.
const SHORTEST: Size = Size::Messages(1);

/// The sizes of which the means are computed.
const COUNTED: [Size; 4] = [Size::Messages(10), Size::Messages(100), Size::Messages(1000), Size::Tools(5)];

/// The two numbers of messages whose times are compared to measure growth. The context of the second is larger than many caches.
const GROWING: [usize; 2] = [1000, 10_000];

/// The number of batches for measuring growth.
const GROWTH_BATCHES: usize = 150;

/// The number of templates of the corpus that are measured.
const CORPUS_TEMPLATES: usize = 10;

/// The sizes with which they are measured.
const CORPUS_SIZES: [Size; 4] = [SHORTEST, Size::Messages(10), Size::Messages(100), Size::Tools(5)];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let timed = arguments.iter().any(|argument| argument == "--bench");
    let wanted = arguments.iter().find(|argument| !argument.starts_with("--"));
    let environment = minijinja_setup::environment();
    let families: Vec<Family> = FAMILIES
        .into_iter()
        .filter(|family| wanted.is_none_or(|wanted| family.name.contains(wanted.as_str())))
        .collect();
    let contexts = CORPUS_SIZES.map(corpus_conversation);
    let corpus = match wanted.map(String::as_str) {
        None | Some("corpus") => first_by_hash(&environment, &contexts, CORPUS_TEMPLATES),
        Some(_) => Vec::new(),
    };
    if !timed {
        check(&environment, &families);
        return;
    }
    if families.is_empty() {
        show_corpus(&environment, &corpus, &contexts);
        show_compiles(&environment, &families, &corpus);
        return;
    }
    let rows = show_renders(&environment, &families);
    let counted: Vec<&Row> = rows.iter().filter(|row| COUNTED.contains(&row.size)).collect();
    show_means(&counted);
    let shortest = rows.iter().filter(|row| row.size == SHORTEST);
    let ratios: Vec<f64> = shortest.map(Row::ratio_of_apply).collect();
    println!(
        "- with one message, minijinja over `apply`: {:.2}",
        geometric_mean(ratios.into_iter())
    );
    show_growth(&environment, &families);
    show_corpus(&environment, &corpus, &contexts);
    show_compiles(&environment, &families, &corpus);
    show_threads(&environment, &families);
}

/// The times of one template and one size, in nanoseconds per message.
struct Row {
    family: &'static str,
    size: Size,
    copy: f64,
    by_hand: f64,
    apply: f64,
    ours: f64,
    minijinja: f64,
    ours_from_text: f64,
    minijinja_from_text: f64,
}

impl Row {
    fn ratio_of_apply(&self) -> f64 {
        self.minijinja / self.apply
    }

    fn apply_by_hand(&self) -> f64 {
        self.apply / self.by_hand
    }

    fn ratio(&self) -> f64 {
        self.minijinja / self.ours
    }

    fn ratio_by_hand(&self) -> f64 {
        self.ours / self.by_hand
    }

    fn ratio_from_text(&self) -> f64 {
        self.minijinja_from_text / self.ours_from_text
    }

    fn new(comparison: &Comparison<'_>, family: &'static str, size: Size, has_hand: bool) -> Self {
        let times = measure([
            &|| drop(black_box(comparison.copy_output())),
            &|| {
                if has_hand {
                    drop(black_box(comparison.render_by_hand()));
                }
            },
            &|| drop(black_box(comparison.apply_ours())),
            &|| drop(black_box(comparison.render_ours())),
            &|| drop(black_box(comparison.render_minijinja_ready())),
            &|| drop(black_box(comparison.render_ours_from_text())),
            &|| drop(black_box(comparison.render_minijinja_from_text())),
            &|| drop(black_box(comparison.render_minijinja_from_text_over_json())),
        ]);
        let [copy, by_hand, apply, ours, minijinja, ours_from_text, direct, over_json] =
            times.map(|time| time / size.messages() as f64);
        Self {
            family,
            size,
            copy,
            by_hand,
            apply,
            ours,
            minijinja,
            ours_from_text,
            minijinja_from_text: direct.min(over_json),
        }
    }
}

fn check(environment: &Environment<'_>, families: &[Family]) {
    for family in families {
        let engines = Engines::new(environment, family);
        for size in Size::of(family) {
            let comparison = Comparison::checked(&engines, reparse(conversation(family, size)));
            println!(
                "{}, {}: {} bytes, equal",
                family.name,
                size.label(),
                comparison.output().len()
            );
        }
    }
}

fn show_renders(environment: &Environment<'_>, families: &[Family]) -> Vec<Row> {
    println!(
        "ns a message: `apply` and `render`; minijinja's `render` with a ready context over each, and each over by hand; `render` from \
         JSON text, and minijinja over ours\n"
    );
    println!(
        "| template | messages | copy | by hand | minijinja | apply | ratio | by hand | render | ratio | by hand | text | minijinja, \
         text | ratio |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    let mut rows = Vec::new();
    for family in families {
        let engines = Engines::new(environment, family);
        for size in Size::of(family) {
            let comparison = Comparison::checked(&engines, reparse(conversation(family, size)));
            let row = Row::new(&comparison, family.name, size, true);
            let mark = if COUNTED.contains(&size) { "*" } else { "" };
            println!(
                "| {} | {}{mark} | {:.1} | {:.0} | {:.0} | {:.0} | {:.2} | {:.1} | {:.0} | {:.2} | {:.1} | {:.0} | {:.0} | {:.2} |",
                row.family,
                size.label(),
                row.copy,
                row.by_hand,
                row.minijinja,
                row.apply,
                row.ratio_of_apply(),
                row.apply_by_hand(),
                row.ours,
                row.ratio(),
                row.ratio_by_hand(),
                row.ours_from_text,
                row.minijinja_from_text,
                row.ratio_from_text()
            );
            rows.push(row);
        }
    }
    rows
}

fn show_means(rows: &[&Row]) {
    let mean = |ratio: fn(&Row) -> f64| geometric_mean(rows.iter().map(|row| ratio(row)));
    let least = |ratio: fn(&Row) -> f64| rows.iter().map(|row| ratio(row)).fold(f64::INFINITY, f64::min);
    println!("\nthe {} rows marked *: geometric means and minima", rows.len());
    println!(
        "- minijinja over `apply`: {:.2}, minimum {:.2}",
        mean(Row::ratio_of_apply),
        least(Row::ratio_of_apply)
    );
    println!("- `apply` over by hand: {:.2}", mean(Row::apply_by_hand));
    println!(
        "- minijinja over `render`: {:.2}, minimum {:.2}",
        mean(Row::ratio),
        least(Row::ratio)
    );
    println!("- `render` over by hand: {:.2}", mean(Row::ratio_by_hand));
    println!(
        "- from JSON text, minijinja over ours: {:.2}, minimum {:.2}",
        mean(Row::ratio_from_text),
        least(Row::ratio_from_text)
    );
}

fn geometric_mean(ratios: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = ratios.len() as f64;
    (ratios.map(f64::ln).sum::<f64>() / count).exp()
}

/// Prints the time per message with 10 000 messages divided by that with 1000 messages. Prints it also divided by the growth of the copy,
/// and without the time of the copy.
///
/// The growth comes from the caches of the processor, so it depends on the layout of the context in memory. The function written by hand
/// reads the same context and does little else.
fn show_growth(environment: &Environment<'_>, families: &[Family]) {
    println!("\na message among 10 000 over one among 1000\n");
    println!("| template | context | copy | by hand | ours | ours over copy | ours without the time of the copy |");
    println!("|---|---|--:|--:|--:|--:|--:|");
    for family in families {
        let engines = Engines::new(environment, family);
        for (label, is_read) in [("as made", false), ("as read", true)] {
            let comparisons = GROWING.map(|count| {
                let made = conversation(family, Size::Messages(count));
                Comparison::checked(&engines, if is_read { reparse(made) } else { made })
            });
            let growth = |[short, long]: [f64; 2]| long / short;
            let copy = times_per_message(&comparisons, Comparison::copy_output);
            let ours = times_per_message(&comparisons, Comparison::render_ours);
            println!(
                "| {} | {label} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} |",
                family.name,
                growth(copy),
                growth(times_per_message(&comparisons, Comparison::render_by_hand)),
                growth(ours),
                growth(ours) / growth(copy),
                growth([ours[0] - copy[0], ours[1] - copy[1]])
            );
        }
    }
}

/// Returns the nanoseconds per message of a short and a long conversation.
///
/// The batches of the two are not interleaved, because other programs would displace the long conversation from the cache while the short
/// one runs.
fn times_per_message<'e>(comparisons: &[Comparison<'e>; 2], render: fn(&Comparison<'e>) -> String) -> [f64; 2] {
    std::array::from_fn(|at| {
        let [time] = measure_batches(GROWTH_BATCHES, [&|| drop(black_box(render(&comparisons[at])))]);
        time / GROWING[at] as f64
    })
}

/// Returns a conversation that most templates accept, with at most one tool call in a turn.
fn corpus_conversation(size: Size) -> Value {
    let [_, tools, ..] = FAMILIES;
    reparse(conversation(&tools, size))
}

fn show_corpus(environment: &Environment<'_>, corpus: &[CorpusTemplate], contexts: &[Value]) {
    if corpus.is_empty() {
        return;
    }
    println!("\nthe first long templates of the corpus by sha256: ns a message\n");
    println!("| template | messages | copy | minijinja | apply | ratio | render | ratio | text | minijinja, text | ratio |");
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    let mut rows = Vec::new();
    for template in corpus {
        let engines = Engines::compile(environment, &template.source).expect("it was compiled before");
        for (size, context) in CORPUS_SIZES.into_iter().zip(contexts) {
            let comparison = Comparison::checked(&engines, context.clone());
            let row = Row::new(&comparison, "", size, false);
            println!(
                "| {} | {} | {:.1} | {:.0} | {:.0} | {:.2} | {:.0} | {:.2} | {:.0} | {:.0} | {:.2} |",
                template.name,
                size.label(),
                row.copy,
                row.minijinja,
                row.apply,
                row.ratio_of_apply(),
                row.ours,
                row.ratio(),
                row.ours_from_text,
                row.minijinja_from_text,
                row.ratio_from_text()
            );
            rows.push(row);
        }
    }
    let sizes = CORPUS_SIZES.iter().map(|size| (size.label(), vec![*size]));
    for (label, sizes) in std::iter::once(("all".to_owned(), CORPUS_SIZES.to_vec())).chain(sizes) {
        let ratios = |ratio: fn(&Row) -> f64| {
            rows.iter()
                .filter(|row| sizes.contains(&row.size))
                .map(ratio)
                .collect::<Vec<_>>()
        };
        let mean = |ratio| geometric_mean(ratios(ratio).into_iter());
        println!(
            "\n{label}: geometric mean of `apply` {:.2}, of `render` {:.2} (least {:.2}), from JSON text {:.2}",
            mean(Row::ratio_of_apply),
            mean(Row::ratio),
            ratios(Row::ratio).into_iter().fold(f64::INFINITY, f64::min),
            mean(Row::ratio_from_text)
        );
    }
}

fn show_compiles(environment: &Environment<'_>, families: &[Family], corpus: &[CorpusTemplate]) {
    println!("\ncompile: µs, and ours over minijinja's\n");
    println!("| template | bytes | ours | minijinja | ours over minijinja |");
    println!("|---|--:|--:|--:|--:|");
    let own = families.iter().map(|family| (family.name, family.source));
    let theirs = corpus
        .iter()
        .map(|template| (template.name.as_str(), template.source.as_str()));
    let mut ratios = Vec::new();
    for (name, source) in own.chain(theirs) {
        let [ours, minijinja] = measure([&|| drop(black_box(Template::compile(source))), &|| {
            drop(black_box(environment.template_from_str(source)))
        }]);
        let (bytes, ratio) = (source.len(), ours / minijinja);
        ratios.push(ratio);
        println!(
            "| {name} | {bytes} | {:.1} | {:.1} | {ratio:.2} |",
            ours / 1e3,
            minijinja / 1e3
        );
    }
    println!("\ngeometric mean {:.2}", geometric_mean(ratios.into_iter()));
}

fn show_threads(environment: &Environment<'_>, families: &[Family]) {
    println!(
        "\none compiled template in two threads, 100 messages: how much more work they do than one, by elapsed time and by processor time"
    );
    for family in families {
        let engines = Engines::new(environment, family);
        let comparison = Comparison::checked(&engines, reparse(conversation(family, Size::Messages(100))));
        let [wall, busy] = measure_two_threads(&|| comparison.render_ours());
        println!("- {}: {wall:.2}, {busy:.2}", family.name);
    }
}
