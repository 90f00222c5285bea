//! Checks that steps are charged in proportion to time, so that their limit alone, without one on time, bounds the time. Measures the time
//! of a step of whole programs: of random ones that the fuzzer makes, of programs with each filter, test, method, global
//! function, operator and statement, and of requests that do more than render, while their input grows.
//!
//! ```text
//! cargo bench -p chat-template-cli --bench charged [-- NAME] [--minutes N] [--seed N]
//! ```
//!
//! Prints the programs with the slowest steps. A program that exceeds the maximum is shortened first, as far as it still exceeds it.
//! Fails if a step takes more than 20 times the median, if a render takes much longer than its limit, or if a name could not be called
//! without an error. NAME selects programs by a part of their names; random programs are `random`.
#![allow(clippy::restriction, clippy::pedantic, reason = "a bench that cannot run should panic")]

mod growth;
mod ladders;
mod requests;
mod subjects;

use std::time::{Duration, Instant};

use chat_template::{Limits, RenderOptions, Template, json};
use chat_template_cli::conformance::random_request;
use cpu_time::ThreadTime;
use serde_json::Value;

/// The maximum time of a step, as a multiple of the median.
const MAX_FACTOR: f64 = 20.0;

/// The number of steps that take as long as starting a render.
const START: f64 = 200.0;

/// The shortest measurement that counts, in seconds. A shorter one depends too much on the clock.
const SHORTEST: f64 = 0.000_1;

/// The time of a render in seconds above which its input does not grow any more.
const LONGEST: f64 = 0.02;

/// The number of runs of a repeated measurement, of which the fastest counts. A busy machine makes a time longer but never shorter.
const REPEATS: usize = 20;

/// The time in seconds of all runs of a measurement after which it is not repeated again.
const MAX_SECONDS: f64 = 0.4;

/// The number of programs that are printed.
const SHOWN: usize = 60;

/// The deadline of a render in milliseconds, and the time after it from which the render counts as late.
const DEADLINE: u64 = 50;
const LATE: Duration = Duration::from_millis(100);

/// A program, and the slowest of its measurements.
struct Row {
    name: String,
    template: String,
    context: Value,
    /// The nanoseconds of a step.
    figure: f64,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let number = |option: &str, default: u64| {
        let place = arguments.iter().position(|argument| argument == option);
        place.map_or(default, |place| arguments[place + 1].parse().expect("a number"))
    };
    let (minutes, seed) = (number("--minutes", 2), number("--seed", 1));
    let wanted = arguments.first().filter(|argument| !argument.starts_with("--"));
    let is_wanted = |name: &str| wanted.is_none_or(|wanted| name.contains(wanted.as_str()));
    let bench = Bench::new();
    let (mut measured, mut untried) = (Measured::default(), Vec::new());
    let contexts: Vec<Value> = (0..11).map(|doublings| growth::context(1000 << doublings)).collect();
    for (name, templates) in subjects::subjects() {
        if !is_wanted(&name) {
            continue;
        }
        let tried = measured.tried;
        for template in &templates {
            measured.add(&bench, bench.row(&name, template, &contexts));
        }
        if measured.tried == tried {
            untried.push(name);
        }
    }
    for (name, template, contexts) in ladders::ladders() {
        if is_wanted(&name) {
            measured.add(&bench, bench.row(&name, &template, &contexts));
        }
    }
    for (name, make) in requests::list() {
        if is_wanted(&name) {
            let (figure, size) = requests::measure(&make, [START, SHORTEST, LONGEST], &bench.limits);
            measured.add_figure(format!("{name} of {size} bytes"), figure);
        }
    }
    for (name, figure) in requests::measure_texts() {
        if is_wanted(&name) {
            measured.add_figure(name, figure);
        }
    }
    let (began, mut programs) = (Instant::now(), 0);
    while is_wanted("random") && began.elapsed() < Duration::from_secs(minutes * 60) {
        let request = random_request(seed, programs);
        programs += 1;
        // The reader of this crate accepts integers of any size. A value of serde_json cannot hold them.
        let request = json::read(&request).expect("JSON");
        let Ok(request) = serde_json::to_value(&request) else {
            continue;
        };
        let contexts: Vec<Value> = [1, 100].map(|factor| growth::grow(&request["context"], factor)).to_vec();
        let template = request["template"].as_str().expect("a template");
        measured.add(&bench, bench.row(&format!("random {}", programs - 1), template, &contexts));
    }
    let Measured {
        tried,
        mut figures,
        rows,
    } = measured;
    figures.sort_by(f64::total_cmp);
    let median = figures.get(figures.len() / 2).copied().unwrap_or(1.0);
    println!(
        "{tried} programs, {programs} of them random, {} timed; a step takes {median:.1} ns in the median\n",
        figures.len()
    );
    println!("| ns a step | times the median | what |\n|--:|--:|---|");
    let mut over = 0;
    for row in &rows {
        let times = row.figure / median;
        let template = if times > MAX_FACTOR {
            over += 1;
            bench.reduce(row, median * MAX_FACTOR)
        } else {
            row.template.clone()
        };
        let shown = format!("{}: {template}", row.name).replace('|', "\\|").replace('\n', "\\n");
        println!(
            "| {:.1} | {times:.1} | {} |",
            row.figure,
            shown.chars().take(300).collect::<String>()
        );
    }
    let late = bench.late.into_inner();
    println!("\n{over} programs take more than {MAX_FACTOR} times the median");
    println!(
        "{} renders end more than {LATE:?} after a deadline of {DEADLINE} ms: {late:#?}",
        late.len()
    );
    if !untried.is_empty() {
        println!("every call of these fails: {untried:?}");
    }
    std::process::exit(i32::from(over > 0 || !late.is_empty() || !untried.is_empty()));
}

/// The number of programs, the figures of those that took long enough to be timed, and the slowest programs, the slowest first.
#[derive(Default)]
struct Measured {
    tried: usize,
    figures: Vec<f64>,
    rows: Vec<Row>,
}

impl Measured {
    fn add(&mut self, bench: &Bench, row: Option<Row>) {
        let Some(mut row) = row else { return };
        self.tried += 1;
        if row.figure == 0.0 {
            return;
        }
        self.figures.push(row.figure);
        if !self.is_slow(row.figure) {
            return;
        }
        // A single run can be slow by chance, and would then take the place of a program that always is.
        if let Some((figure, _)) = bench.measure(&row.template, &row.context, REPEATS) {
            row.figure = figure;
        }
        self.keep(row);
    }

    /// Adds the figure of a request that has no program.
    fn add_figure(&mut self, name: String, figure: f64) {
        self.tried += 1;
        if figure > 0.0 {
            self.figures.push(figure);
            let (template, context) = (String::new(), Value::Null);
            self.keep(Row {
                name,
                template,
                context,
                figure,
            });
        }
    }

    fn keep(&mut self, row: Row) {
        if self.is_slow(row.figure) {
            let place = self.rows.partition_point(|other| other.figure >= row.figure);
            self.rows.insert(place, row);
            self.rows.truncate(SHOWN);
        }
    }

    /// Returns whether a figure is one of the highest so far.
    fn is_slow(&self, figure: f64) -> bool {
        self.rows.len() < SHOWN || self.rows.last().is_some_and(|last| figure > last.figure)
    }
}

/// The limits of the renders, and the programs that ended late.
struct Bench {
    limits: Limits,
    late: std::cell::RefCell<Vec<String>>,
}

impl Bench {
    fn new() -> Self {
        // These limits are higher than the defaults, so that large values can be made, but every render ends soon.
        let limits = serde_json::json!({"milliseconds": null, "steps": 64_000_000, "value": 128 << 20, "live": 512 << 20, "bits": 1 << 24, "width": 1 << 24});
        Self {
            limits: serde_json::from_value(limits).expect("limits"),
            late: std::cell::RefCell::default(),
        }
    }

    /// Measures a program while its input grows. The figure is 0 if all renders are too short to be timed: their steps count as cheap.
    /// Returns `None` if no render succeeds.
    fn row(&self, name: &str, template: &str, contexts: &[Value]) -> Option<Row> {
        let mut slowest: Option<(f64, &Value)> = None;
        for context in contexts {
            let Some((figure, seconds)) = self.measure(template, context, 1) else {
                self.check_deadline(name, template, context);
                break;
            };
            let figure = if seconds >= SHORTEST { figure } else { 0.0 };
            if slowest.is_none_or(|(most, _)| figure > most) {
                slowest = Some((figure, context));
            }
            if seconds > LONGEST {
                self.check_deadline(name, template, context);
                break;
            }
        }
        let (figure, context) = slowest?;
        Some(Row {
            name: name.to_owned(),
            template: template.to_owned(),
            context: context.clone(),
            figure,
        })
    }

    /// Returns the nanoseconds of a step, and the seconds of the render, or `None` if it fails.
    fn measure(&self, template: &str, context: &Value, runs: usize) -> Option<(f64, f64)> {
        let template = Template::compile(template).ok()?;
        let options = RenderOptions::default().with_bounds(&self.limits);
        let (mut least, mut all, mut steps) = (f64::MAX, 0.0, 0);
        for _ in 0..runs {
            let start = ThreadTime::now();
            let rendered = template.render(context, &options).ok()?;
            steps = rendered.steps;
            // Dropping the output is not part of the render.
            let seconds = start.elapsed().as_secs_f64();
            least = seconds.min(least);
            all += seconds;
            if all > MAX_SECONDS {
                break;
            }
        }
        Some((least * 1e9 / (steps as f64 + START), least))
    }

    /// Records a program if two runs of it end long after its deadline.
    fn check_deadline(&self, name: &str, template: &str, context: &Value) {
        let limits = Limits::default().with_milliseconds(DEADLINE);
        let options = RenderOptions::default().with_bounds(&limits);
        let Ok(template) = Template::compile(template) else { return };
        let is_late = || {
            let start = ThreadTime::now();
            drop(template.render(context, &options));
            start.elapsed() > Duration::from_millis(DEADLINE) + LATE
        };
        if is_late() && is_late() {
            self.late.borrow_mut().push(name.to_owned());
        }
    }

    /// Removes parts of a program, the longest first, while its steps take more than `most` nanoseconds.
    fn reduce(&self, row: &Row, most: f64) -> String {
        let mut template: Vec<char> = row.template.chars().collect();
        let mut length = template.len() / 2;
        while length > 0 {
            let mut at = 0;
            while at + length <= template.len() {
                let mut shorter = template.clone();
                shorter.drain(at..at + length);
                let text: String = shorter.iter().collect();
                match self.measure(&text, &row.context, 3) {
                    Some((figure, seconds)) if figure > most && seconds > SHORTEST => template = shorter,
                    _ => at += length,
                }
            }
            length /= 2;
        }
        template.into_iter().collect()
    }
}
