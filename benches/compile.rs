//! Measures how long compiling the five templates takes, and compares it with minijinja: `cargo bench --bench compile`.
#![allow(clippy::restriction, clippy::pedantic, reason = "a bench that cannot run should panic")]

mod comparison;

use std::hint::black_box;

use chat_template::Template;
use criterion::{BenchmarkId, Criterion};

use comparison::{FAMILIES, minijinja_setup};

fn compile(criterion: &mut Criterion) {
    let environment = minijinja_setup::environment();
    let mut group = criterion.benchmark_group("compile");
    for family in FAMILIES {
        group.bench_function(BenchmarkId::new("chat-template", family.name), |bencher| {
            bencher.iter(|| Template::compile(black_box(family.source)).expect("it compiles"));
        });
        group.bench_function(BenchmarkId::new("minijinja", family.name), |bencher| {
            bencher.iter(|| {
                let compiled = environment.template_from_str(black_box(family.source));
                black_box(compiled.expect("it compiles"));
            });
        });
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    compile(&mut criterion);
    criterion.final_summary();
}
