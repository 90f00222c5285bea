//! Rendering the five templates, beside minijinja and beside one copy of the output: `cargo bench --bench render`.
#![allow(clippy::restriction, clippy::pedantic, reason = "a bench that cannot run shall stop")]

mod arena;

use criterion::{BenchmarkId, Criterion, Throughput};

use arena::conversation::{Size, conversation};
use arena::{Contest, Engines, FAMILIES, rival};

const SIZES: [Size; 5] = [
    Size::Messages(10),
    Size::Messages(100),
    Size::Messages(1000),
    Size::Messages(10_000),
    Size::Tools(5),
];

fn render(criterion: &mut Criterion) {
    let environment = rival::environment();
    for family in FAMILIES {
        let engines = Engines::new(&environment, family.source);
        let mut group = criterion.benchmark_group(format!("render/{}", family.name));
        for size in SIZES {
            let context = conversation(&family, size);
            let contest = Contest::new(&engines, &context);
            group.throughput(Throughput::Elements(size.messages() as u64));
            if size.messages() >= 1000 {
                // A render takes milliseconds here, and the default would take minutes.
                group.sample_size(20);
            }
            let id = |engine: &str| BenchmarkId::new(engine, size.label());
            group.bench_function(id("chat-template"), |bencher| bencher.iter(|| contest.ours()));
            group.bench_function(id("minijinja"), |bencher| bencher.iter(|| contest.rival()));
            group.bench_function(id("minijinja from JSON"), |bencher| {
                bencher.iter(|| contest.rival_from_json())
            });
            group.bench_function(id("copy"), |bencher| bencher.iter(|| contest.copy()));
        }
        group.finish();
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    render(&mut criterion);
    criterion.final_summary();
}
