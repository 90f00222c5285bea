//! Checks that steps are charged in proportion to time. Measures the time of a step for each filter, test, method, global function,
//! operator and statement, while the size of the input doubles from a thousand to a million.
//!
//! ```text
//! cargo bench --bench charged [-- NAME]
//! ```
//!
//! The names are those of grammar/reachable.md, which a test keeps complete. Each is called on values of all types with several arguments,
//! so most new names need no change here. Prints the slowest steps. Fails if one takes more than 20 times the median, or if a name could not
//! be called without an error.
#![allow(clippy::restriction, clippy::pedantic, reason = "a bench that cannot run shall stop")]

mod subjects;

use std::collections::BTreeMap;

use chat_template::{Limits, RenderOptions, Template};
use cpu_time::ThreadTime;
use serde_json::{Value, json};
use subjects::{PRELUDE, subjects};

/// The most time that a step can take, as a multiple of the median.
const MOST: f64 = 20.0;

/// The least time of a measurement in seconds. A shorter one depends too much on the clock.
const SHORTEST: f64 = 0.000_2;

/// The time of a render in seconds after which the size is not doubled again, to save time.
const LONGEST: f64 = 0.004;

/// The number of repetitions in one render, for expressions that take little time.
const OFTEN: usize = 16;

/// The number of runs of a sure measurement. There are fewer if they take longer than `ENOUGH` seconds together.
const SURE: u32 = 20;
const ENOUGH: f64 = 0.4;

/// The most times that a slow step is measured again.
const AGAIN: usize = 5;

/// The number of rows that are printed.
const SHOWN: usize = 100;

/// An expression or a statement, with its measurements.
struct Row {
    name: String,
    tried: Tried,
    samples: Vec<Sample>,
}

/// The measurement of one size.
struct Sample {
    size: usize,
    /// The time, without that of making the values.
    seconds: f64,
    steps: u64,
    /// Whether the time was long enough to be measured.
    counts: bool,
    /// Whether the time is the shortest of several runs.
    is_sure: bool,
}

impl Sample {
    fn nanoseconds_per_step(&self) -> f64 {
        self.seconds * 1e9 / self.steps.max(1) as f64
    }
}

impl Row {
    /// Returns the nanoseconds per step of the samples that count, each with the index of its sample, in ascending order.
    fn figures(&self) -> Vec<(f64, usize)> {
        let counting = self.samples.iter().enumerate().filter(|(_, sample)| sample.counts);
        let mut figures: Vec<_> = counting
            .map(|(index, sample)| (sample.nanoseconds_per_step(), index))
            .collect();
        figures.sort_by(|one, other| one.0.total_cmp(&other.0));
        figures
    }

    /// Returns the most nanoseconds per step, and the index of the sample.
    fn slowest(&self) -> Option<(f64, usize)> {
        self.figures().last().copied()
    }

    /// Returns the median of the nanoseconds per step.
    fn median(&self) -> Option<f64> {
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
    let mut medians: Vec<f64> = rows.iter().filter_map(Row::median).collect();
    medians.sort_by(f64::total_cmp);
    let median = medians.get(medians.len() / 2).copied().unwrap_or(0.0);
    let timed = medians.len();
    // The slowest rows are measured again, until all rows that are printed are sure.
    loop {
        rows.sort_by(|one, other| other.slowest().partial_cmp(&one.slowest()).expect("times are numbers"));
        let unsure = rows.iter_mut().take(SHOWN).find_map(|row| {
            let (_, index) = row.slowest()?;
            (!row.samples[index].is_sure).then_some((row, index))
        });
        let Some((row, index)) = unsure else { break };
        bench.measure_again(&row.tried, &mut row.samples[index], median * MOST);
    }
    println!(
        "{} expressions and statements, {timed} of them long enough to be timed; a step takes {median:.1} ns in the median\n",
        rows.len(),
    );
    println!("| ns a step | times the median | size | what |\n|--:|--:|--:|---|");
    let mut over = 0;
    for row in rows.iter().take(SHOWN) {
        let Some((figure, index)) = row.slowest() else { break };
        let (times, size, name) = (figure / median, row.samples[index].size, row.name.replace('|', "\\|"));
        over += u32::from(times > MOST);
        println!("| {figure:.1} | {times:.1} | {size} | {name} |");
    }
    println!("\n{over} steps take more than {MOST} times the median");
    if !untried.is_empty() {
        println!("nothing could be tried of {untried:?}");
    }
    std::process::exit(i32::from(over > 0 || !untried.is_empty()));
}

/// The compiled templates of an expression or a statement: with one repetition and with several. The prelude makes the values.
struct Tried {
    once: Template,
    often: Template,
    prelude: String,
}

/// The contexts by size, the limits, and the cost of making the values of each prelude.
struct Bench {
    contexts: Vec<(usize, Value)>,
    limits: Limits,
    around: BTreeMap<String, (Template, Vec<Option<Took>>)>,
}

/// The seconds and the steps of a render.
type Took = (f64, u64);

impl Bench {
    fn new() -> Self {
        let sizes = (0..11).map(|doublings| 1000 << doublings);
        // These limits are higher than the defaults, so that large values can be made, but every render ends soon.
        let limits = json!({"steps": 64_000_000, "value": 128 << 20, "live": 512 << 20, "bits": 1 << 24, "width": 1 << 24});
        Self {
            contexts: sizes.map(|size| (size, context(size))).collect(),
            limits: serde_json::from_value(limits).expect("limits"),
            around: BTreeMap::new(),
        }
    }

    /// Measures a template while the size of its input doubles. Returns `None` if it fails with the smallest input.
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

    /// Measures one size. Returns the seconds of a render with one repetition, and the sample.
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

    /// Measures a sample again, several times if it is still slow. A busy machine makes a time longer but never shorter.
    fn measure_again(&mut self, tried: &Tried, sample: &mut Sample, most: f64) {
        sample.is_sure = true;
        let Some(index) = self.contexts.iter().position(|(size, _)| *size == sample.size) else {
            return;
        };
        for _ in 0..AGAIN {
            // The cost of the values is measured again as well, because the machine can be busier now.
            if let Some((_, known)) = self.around.get_mut(&tried.prelude) {
                known[index] = None;
            }
            if let Some((_, again)) = self.sample(tried, index, SURE) {
                *sample = again;
            }
            if !sample.counts || sample.nanoseconds_per_step() < most {
                return;
            }
        }
    }

    /// Returns the cost of making the values of a prelude.
    fn around(&mut self, prelude: &str, index: usize) -> Option<Took> {
        let (empty, known) = &self.around[prelude];
        if let Some(took) = known[index] {
            return Some(took);
        }
        let took = self.timed(empty, index, SURE)?;
        self.around.get_mut(prelude)?.1[index] = Some(took);
        Some(took)
    }

    /// Returns the time and the steps of the shortest of several runs, or `None` if the template fails.
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
