//! Compiling the five templates, beside minijinja: `cargo bench --bench compile`.
#![allow(clippy::restriction, clippy::pedantic, reason = "a bench that cannot run shall stop")]

mod arena;

use std::hint::black_box;

use chat_template::Template;
use criterion::{BenchmarkId, Criterion};

use arena::{FAMILIES, rival};

fn compile(criterion: &mut Criterion) {
    let environment = rival::environment();
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
