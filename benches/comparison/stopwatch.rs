//! Measures times so that other programs on the machine disturb them little: as processor time of the thread, as the shortest of several
//! batches, and with the batches of all actions interleaved.
//!
//! ```text
//! let [first, second] = measure([&|| first(), &|| second()]);   // nanoseconds
//! ```

use std::hint::black_box;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;

/// The time that a batch should take. It is long compared with a tick of the clock, and short enough that few batches are interrupted.
const BATCH: Duration = Duration::from_millis(3);

/// The number of batches of each action, of which the shortest counts.
const BATCHES: usize = 9;

/// Returns the shortest time of each action in nanoseconds.
pub fn measure<const N: usize>(actions: [&dyn Fn(); N]) -> [f64; N] {
    measure_batches(BATCHES, actions)
}

/// Returns the shortest time of each action in nanoseconds, measured with this number of batches.
///
/// An action that needs much of a shared cache needs many batches, because another program can occupy the cache for seconds.
pub fn measure_batches<const N: usize>(batches: usize, actions: [&dyn Fn(); N]) -> [f64; N] {
    let rounds = actions.map(rounds_per_batch);
    let mut best = [f64::INFINITY; N];
    for _ in 0..batches {
        for ((action, rounds), best) in actions.iter().zip(rounds).zip(&mut best) {
            // The other actions have used the caches since the last batch. One run fills them again before the measurement.
            action();
            let nanoseconds = time_batch(action, rounds).as_nanos() as f64 / f64::from(rounds);
            *best = best.min(nanoseconds);
        }
    }
    best
}

fn rounds_per_batch(action: &dyn Fn()) -> u32 {
    let mut rounds = 1;
    while time_batch(action, rounds) < BATCH && rounds < 1 << 20 {
        rounds *= 2;
    }
    rounds
}

fn time_batch(action: &dyn Fn(), rounds: u32) -> Duration {
    let start = ThreadTime::now();
    for _ in 0..rounds {
        action();
    }
    start.elapsed()
}

/// Returns how many times as much work two threads do as one, by elapsed time and by processor time.
///
/// The first figure is the best of many short measurements, and needs two free processors. The second shows whether the threads slow each
/// other down (by a shared cache line, a counter or a spinning lock), also on a busy machine.
pub fn measure_two_threads(action: &(dyn Fn() -> String + Sync)) -> [f64; 2] {
    const TRIES: usize = 150;
    let rounds = rounds_per_batch(&|| drop(black_box(action()))).div_ceil(4);
    let mut best = [[f64::INFINITY; 2]; 2];
    for _ in 0..TRIES {
        for (count, best) in (1..).zip(&mut best) {
            for (time, best) in time_threads(count, rounds, action).into_iter().zip(best) {
                *best = best.min(time.as_secs_f64());
            }
        }
    }
    let [one, two] = best;
    [2.0 * one[0] / two[0], 2.0 * one[1] / two[1]]
}

/// Runs all rounds in each of several threads. Returns the time from the first start to the last end, and the mean processor time.
fn time_threads(threads: u32, rounds: u32, action: &(dyn Fn() -> String + Sync)) -> [Duration; 2] {
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
