//! Times that a busy machine spoils least: those of the thread on its processor, the least of several batches, and who is compared takes
//! turns, batch by batch.
//!
//! ```text
//! let [ours, theirs] = fastest([&|| ours(), &|| theirs()]);   // nanoseconds
//! ```

use std::hint::black_box;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;

/// How long one batch should take: long against the clock, short against what else the machine does.
const BATCH: Duration = Duration::from_millis(3);

/// How many batches each has, of which the fastest counts.
const BATCHES: usize = 9;

/// The nanoseconds that each of these takes at best.
pub fn fastest<const N: usize>(actions: [&dyn Fn(); N]) -> [f64; N] {
    fastest_of(BATCHES, actions)
}

/// The same of so many batches. What needs much of a cache that is shared wants many: who shares it takes it for seconds.
pub fn fastest_of<const N: usize>(batches: usize, actions: [&dyn Fn(); N]) -> [f64; N] {
    let rounds = actions.map(rounds_in_a_batch);
    let mut best = [f64::INFINITY; N];
    for _ in 0..batches {
        for ((action, rounds), best) in actions.iter().zip(rounds).zip(&mut best) {
            // The others have used the caches meanwhile. In a batch of one round that would be all that is measured.
            action();
            let nanoseconds = batch(action, rounds).as_nanos() as f64 / f64::from(rounds);
            *best = best.min(nanoseconds);
        }
    }
    best
}

fn rounds_in_a_batch(action: &dyn Fn()) -> u32 {
    let mut rounds = 1;
    while batch(action, rounds) < BATCH && rounds < 1 << 20 {
        rounds *= 2;
    }
    rounds
}

fn batch(action: &dyn Fn(), rounds: u32) -> Duration {
    let start = ThreadTime::now();
    for _ in 0..rounds {
        action();
    }
    start.elapsed()
}

/// How many times as much two threads get done in the time of one: by the clock on the wall, and by the time on their processors.
///
/// The first is the best of many short tries, and still wants two processors that are free; the second sees threads that hinder each
/// other (by a line of cache, a counter, a lock that spins) on a busy machine too.
pub fn speed_of_two_threads(action: &(dyn Fn() -> String + Sync)) -> [f64; 2] {
    const TRIES: usize = 150;
    let rounds = rounds_in_a_batch(&|| drop(black_box(action()))).div_ceil(4);
    let mut best = [[f64::INFINITY; 2]; 2];
    for _ in 0..TRIES {
        for (count, best) in (1..).zip(&mut best) {
            for (time, best) in threads_times(count, rounds, action).into_iter().zip(best) {
                *best = best.min(time.as_secs_f64());
            }
        }
    }
    let [one, two] = best;
    [2.0 * one[0] / two[0], 2.0 * one[1] / two[1]]
}

/// So many threads, each doing all the rounds: the time from the first start to the last end, and the mean of their times on a processor.
fn threads_times(threads: u32, rounds: u32, action: &(dyn Fn() -> String + Sync)) -> [Duration; 2] {
    let barrier = Barrier::new(threads as usize);
    let run = || {
        barrier.wait();
        let (start, busy) = (Instant::now(), ThreadTime::now());
        for _ in 0..rounds {
            drop(black_box(action()));
        }
        (start, Instant::now(), busy.elapsed())
    };
    let runs: Vec<(Instant, Instant, Duration)> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        let joined = started.into_iter().map(|thread| thread.join());
        joined.map(|run| run.expect("no render panics")).collect()
    });
    let start = runs.iter().map(|(start, ..)| *start).min().expect("there is a thread");
    let end = runs.iter().map(|(_, end, _)| *end).max().expect("there is a thread");
    [end - start, runs.iter().map(|(.., busy)| *busy).sum::<Duration>() / threads]
}
