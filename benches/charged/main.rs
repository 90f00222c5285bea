//! Whether work is charged by what it costs: the time that a step takes, for each filter, test, method, global function, operator and
//! statement, while the input doubles from a thousand to a million.
//!
//! ```text
//! cargo bench --bench charged [-- NAME]
//! ```
//!
//! The names are those of grammar/reachable.md, which a test keeps complete; each is tried on values of all kinds and with several
//! arguments, so that a new one needs no line here, but where nothing fits. Prints the dearest, and fails where a step of one takes more
//! than 20 times the median, or where a name could not be tried.
#![allow(clippy::restriction, clippy::pedantic, reason = "a bench that cannot run shall stop")]

mod subjects;

use std::collections::BTreeMap;

use chat_template::{Limits, RenderOptions, Template};
use cpu_time::ThreadTime;
use serde_json::{Value, json};
use subjects::{PRELUDE, subjects};

/// How much dearer than the median a step may be.
const MOST: f64 = 20.0;

/// Shorter renders say more about the clock than about the work, in seconds.
const SHORTEST: f64 = 0.000_2;

/// A longer one ends the doubling: it says enough, and there are many.
const LONGEST: f64 = 0.004;

/// How often something short is done in one render.
const OFTEN: usize = 16;

/// How many runs make sure, as long as they take no longer than this together.
const SURE: u32 = 20;
const ENOUGH: f64 = 0.4;

/// How often what is dear is measured until it is believed.
const AGAIN: usize = 5;

/// How many rows are shown.
const SHOWN: usize = 100;

/// An expression or a statement, and what it took while its input doubled.
struct Row {
    name: String,
    tried: Tried,
    samples: Vec<Sample>,
}

/// What one size took.
struct Sample {
    size: usize,
    /// Without what the values took.
    seconds: f64,
    steps: u64,
    /// Whether it was long enough to be timed.
    counts: bool,
    /// Whether it is the least of many.
    is_sure: bool,
}

impl Sample {
    fn nanoseconds_a_step(&self) -> f64 {
        self.seconds * 1e9 / self.steps.max(1) as f64
    }
}

impl Row {
    /// The samples that say something, the dearest last.
    fn figures(&self) -> Vec<(f64, usize)> {
        let counting = self.samples.iter().enumerate().filter(|(_, sample)| sample.counts);
        let mut figures: Vec<_> = counting.map(|(index, sample)| (sample.nanoseconds_a_step(), index)).collect();
        figures.sort_by(|one, other| one.0.total_cmp(&other.0));
        figures
    }

    fn dearest(&self) -> Option<(f64, usize)> {
        self.figures().last().copied()
    }

    fn usual(&self) -> Option<f64> {
        let figures = self.figures();
        figures.get(figures.len() / 2).map(|figure| figure.0)
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let wanted = arguments.iter().find(|argument| !argument.starts_with("--"));
    let mut bench = Bench::new();
    let mut rows: Vec<Row> = Vec::new();
    let mut untried = Vec::new();
    for (name, tries) in subjects() {
        if wanted.is_some_and(|wanted| !name.contains(wanted.as_str())) {
            continue;
        }
        let tried = rows.len();
        for template in tries {
            rows.extend(bench.row(&name, &template));
        }
        if rows.len() == tried {
            untried.push(name);
        }
    }
    let mut usual: Vec<f64> = rows.iter().filter_map(Row::usual).collect();
    usual.sort_by(f64::total_cmp);
    let median = usual.get(usual.len() / 2).copied().unwrap_or(0.0);
    let timed = usual.len();
    // Whatever looks dear is measured again until only what is dear still does.
    loop {
        rows.sort_by(|one, other| other.dearest().partial_cmp(&one.dearest()).expect("times are numbers"));
        let unsure = rows.iter_mut().take(SHOWN).find_map(|row| {
            let (_, index) = row.dearest()?;
            (!row.samples[index].is_sure).then_some((row, index))
        });
        let Some((row, index)) = unsure else { break };
        bench.make_sure(&row.tried, &mut row.samples[index], median * MOST);
    }
    println!(
        "{} expressions and statements, {timed} of them long enough to be timed; a step takes {median:.1} ns in the median\n",
        rows.len(),
    );
    println!("| ns a step | times the median | size | what |\n|--:|--:|--:|---|");
    let mut over = 0;
    for row in rows.iter().take(SHOWN) {
        let Some((figure, index)) = row.dearest() else { break };
        let (times, size, name) = (figure / median, row.samples[index].size, row.name.replace('|', "\\|"));
        over += u32::from(times > MOST);
        println!("| {figure:.1} | {times:.1} | {size} | {name} |");
    }
    println!("\n{over} take more than {MOST} times the median");
    if !untried.is_empty() {
        println!("nothing could be tried of {untried:?}");
    }
    std::process::exit(i32::from(over > 0 || !untried.is_empty()));
}

/// A template compiled: once, often enough to be timed where it is short, and the values alone.
struct Tried {
    once: Template,
    often: Template,
    prelude: String,
}

/// Contexts, limits, and what the values of a prelude take.
struct Bench {
    contexts: Vec<(usize, Value)>,
    limits: Limits,
    around: BTreeMap<String, (Template, Vec<Option<Took>>)>,
}

/// Seconds and steps.
type Took = (f64, u64);

impl Bench {
    fn new() -> Self {
        let sizes = (0..11).map(|doublings| 1000 << doublings);
        // More than by default, so that what is large can be made; but nothing that would not end soon.
        let limits = json!({"steps": 64_000_000, "value": 128 << 20, "live": 512 << 20, "bits": 1 << 24, "width": 1 << 24});
        Self {
            contexts: sizes.map(|size| (size, context(size))).collect(),
            limits: serde_json::from_value(limits).expect("limits"),
            around: BTreeMap::new(),
        }
    }

    /// What a template takes while its input doubles; none where it fails with a small one.
    fn row(&mut self, name: &str, template: &str) -> Option<Row> {
        let words: Vec<&str> = template.split(|letter: char| !letter.is_alphanumeric()).collect();
        let asked = PRELUDE.iter().filter(|(word, _)| words.contains(word));
        let prelude: String = asked.map(|(_, set)| *set).collect();
        let rounds = |rounds: usize, body: &str| {
            let source = format!("{prelude}{{% for q in range({rounds}) %}}{body}{{% endfor %}}");
            Template::compile(&source).ok()
        };
        let tried = Tried {
            once: rounds(1, template)?,
            often: rounds(OFTEN, template)?,
            prelude: prelude.clone(),
        };
        let empty = rounds(1, "").expect("the prelude compiles");
        self.around
            .entry(prelude)
            .or_insert_with(|| (empty, vec![None; self.contexts.len()]));
        let mut samples = Vec::new();
        for index in 0..self.contexts.len() {
            let Some((seconds, sample)) = self.sample(&tried, index, 1) else {
                break;
            };
            samples.push(sample);
            if seconds > LONGEST {
                break;
            }
        }
        (!samples.is_empty()).then(|| Row {
            name: format!("{name}: {template}"),
            tried,
            samples,
        })
    }

    /// One size: the seconds of one run, and what was measured.
    fn sample(&mut self, tried: &Tried, index: usize, runs: u32) -> Option<(f64, Sample)> {
        let (around, steps_around) = self.around(&tried.prelude, index)?;
        let size = self.contexts[index].0;
        let least = SHORTEST.max(around / 2.0);
        let (once, steps) = self.timed(&tried.once, index, runs)?;
        let mut sample = Sample {
            size,
            seconds: once - around,
            steps: steps.saturating_sub(steps_around),
            counts: once - around >= least,
            is_sure: runs > 1,
        };
        if !sample.counts && around < LONGEST / 4.0 {
            if let Some((often, steps)) = self.timed(&tried.often, index, runs) {
                sample.seconds = often - around;
                sample.steps = steps.saturating_sub(steps_around);
                sample.counts = sample.seconds >= least;
            }
        }
        Some((once, sample))
    }

    /// Measures again, and once more where that is still dear: a machine that is busy makes a time longer, and never shorter.
    fn make_sure(&mut self, tried: &Tried, sample: &mut Sample, most: f64) {
        sample.is_sure = true;
        let Some(index) = self.contexts.iter().position(|(size, _)| *size == sample.size) else {
            return;
        };
        for _ in 0..AGAIN {
            // What the values take is measured again too, for the machine may be busier by now.
            if let Some((_, known)) = self.around.get_mut(&tried.prelude) {
                known[index] = None;
            }
            if let Some((_, again)) = self.sample(tried, index, SURE) {
                *sample = again;
            }
            if !sample.counts || sample.nanoseconds_a_step() < most {
                return;
            }
        }
    }

    /// What the values of a prelude take.
    fn around(&mut self, prelude: &str, index: usize) -> Option<Took> {
        let (empty, known) = &self.around[prelude];
        if let Some(took) = known[index] {
            return Some(took);
        }
        let took = self.timed(empty, index, SURE)?;
        self.around.get_mut(prelude)?.1[index] = Some(took);
        Some(took)
    }

    /// The shortest of so many runs; none where it fails.
    fn timed(&self, template: &Template, index: usize, runs: u32) -> Option<Took> {
        let options = RenderOptions {
            limits: &self.limits,
            ..RenderOptions::default()
        };
        let mut least: Option<Took> = None;
        let mut all = 0.0;
        for _ in 0..runs {
            let start = ThreadTime::now();
            let rendered = template.render_with(&self.contexts[index].1, &options).ok()?;
            let seconds = start.elapsed().as_secs_f64();
            if least.is_none_or(|(shortest, _)| seconds < shortest) {
                least = Some((seconds, rendered.steps));
            }
            all += seconds;
            if all > ENOUGH {
                break;
            }
        }
        least
    }
}

fn context(size: usize) -> Value {
    let dict: serde_json::Map<String, Value> = (0..size / 8).map(|number| (number.to_string(), json!(number))).collect();
    let many: serde_json::Map<String, Value> = (0..1000).map(|number| (format!("k{number}"), json!(number))).collect();
    json!({
        "n": size,
        "x": {"y": 1},
        "s": "ab <&%s{} ".repeat(size / 10),
        "u": "é".repeat(size / 2),
        "l": (0..size / 4).collect::<Vec<_>>(),
        "t": (0..size / 8).map(|number| number.to_string()).collect::<Vec<_>>(),
        "p": (0..size / 16).map(|number| vec![number % 7, number]).collect::<Vec<_>>(),
        "d": dict,
        "many": many,
    })
}
