//! Detects stalls of the machine with a thread that needs little time and measures its own delay.
//!
//! A late result is excused only if this thread was late at the same time, or if Linux reports that a thread
//! of dayshift or of the API server waited for a processor. While a scenario prepares for a boundary, it
//! depends on many programs, so a wait of any thread excuses a delay then (`/proc/pressure/cpu`).

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fmt, fs, thread};

use super::processor_waits::{self, Waited};

/// The time between two measurements.
const SLEEP: Duration = Duration::from_millis(10);

/// The rounds of arithmetic between two sleeps, about 0.2 ms. They detect a host that withholds the processor
/// from all threads.
const ROUNDS: u64 = 20_000;

/// More lost time than this within a second is a stall.
const MAX_LOST: Duration = Duration::from_millis(150);

/// A longer wait of other programs than this within a second is a stall.
const MAX_WAITED: Duration = Duration::from_millis(500);

/// The time between two samples of waits.
const SAMPLE: Duration = Duration::from_millis(100);

/// How long measurements are kept: longer than any scenario runs.
const MEMORY: Duration = Duration::from_secs(600);

static LOSSES: LazyLock<Arc<Mutex<VecDeque<Loss>>>> = LazyLock::new(|| {
    let losses = Arc::<Mutex<VecDeque<Loss>>>::default();
    thread::spawn({
        let losses = Arc::clone(&losses);
        move || measure(&losses)
    });
    losses
});

/// The waits of programs by scenario, and of shared programs.
static WAITS: Mutex<VecDeque<(Instant, Vec<Waited>)>> = Mutex::new(VecDeque::new());

/// The time lost since the previous measurement.
#[derive(Clone, Copy, Debug)]
struct Loss {
    at: Instant,
    lost: Duration,
    /// The part that this thread waited for a processor. The host withheld the rest.
    queued: Duration,
    waited: Duration,
}

/// A stall of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stall {
    /// The longest single loss.
    longest: Duration,
    /// The largest loss within a second.
    second: Duration,
    /// The largest wait within a second.
    waited: Duration,
}

impl Stall {
    /// The worst stall since `begin`. `None` if there was none.
    pub(super) fn since(begin: Instant) -> Option<Self> {
        let worst = Self::worst_since(begin);
        (worst.second > MAX_LOST || worst.waited > MAX_WAITED).then_some(worst)
    }

    /// Whether the time that this scenario's programs lost in this period explains the delay. Half of the
    /// delay is enough, because a program that waits delays others.
    pub(crate) fn explains(from: Instant, to: Instant, excess: Duration) -> bool {
        let losses = LOSSES.lock().unwrap_or_else(PoisonError::into_inner);
        let meanwhile = losses
            .iter()
            .filter(|loss| loss.at >= from && loss.at <= to);
        let withheld: Duration = meanwhile
            .map(|loss| loss.lost.saturating_sub(loss.queued))
            .sum();
        withheld + programs_waited(from, to) >= excess / 2
    }

    /// The largest losses since `begin`, even if they are no stall.
    pub(super) fn worst_since(begin: Instant) -> Self {
        let losses = LOSSES.lock().unwrap_or_else(PoisonError::into_inner);
        let since: Vec<Loss> = losses
            .iter()
            .filter(|loss| loss.at >= begin)
            .copied()
            .collect();
        Self::worst(&since)
    }

    fn worst(losses: &[Loss]) -> Self {
        let (mut first, mut lost, mut waited) = (0, Duration::ZERO, Duration::ZERO);
        let mut worst = Self::default();
        for loss in losses {
            lost += loss.lost;
            waited += loss.waited;
            while loss.at - losses[first].at >= Duration::from_secs(1) {
                lost -= losses[first].lost;
                waited -= losses[first].waited;
                first += 1;
            }
            worst.longest = worst.longest.max(loss.lost);
            worst.second = worst.second.max(lost);
            worst.waited = worst.waited.max(waited);
        }
        worst
    }
}

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            longest,
            second,
            waited,
        } = self;
        let [longest, second, waited] =
            [longest, second, waited].map(|seconds| seconds.as_secs_f64() * 1000.0);
        write!(
            f,
            "{longest:.0} ms at once, {second:.0} ms of a second; \
             in a second somebody waited for a processor for {waited:.0} ms"
        )
    }
}

/// How long a thread of this scenario's programs, or of shared ones, waited.
fn programs_waited(from: Instant, to: Instant) -> Duration {
    let scenario = Some(thread::current().id());
    let waits = WAITS.lock().unwrap_or_else(PoisonError::into_inner);
    let meanwhile = waits
        .iter()
        .filter(|(at, _)| *at >= from && *at <= to + SAMPLE);
    let longest = |all: &Vec<Waited>| {
        let concerned = all.iter().filter(|(of, _)| of.is_none() || *of == scenario);
        concerned.map(|(_, waited)| *waited).max()
    };
    meanwhile.filter_map(|(_, all)| longest(all)).sum()
}

/// Starts measuring.
pub(crate) fn begin() {
    LazyLock::force(&LOSSES);
}

fn measure(losses: &Mutex<VecDeque<Loss>>) {
    // The duration of the arithmetic without a stall.
    let mut least = (0..50).map(|_| timed(work)).min().unwrap_or_default();
    let own = || processor_waits::of_this_thread().unwrap_or_default();
    let (mut waited, mut queued) = (pressure(), own());
    let mut sampled = Instant::now();
    loop {
        let slept = timed(|| thread::sleep(SLEEP));
        let worked = timed(work);
        least = least.min(worked);
        let lost = (slept + worked).saturating_sub(SLEEP + least);
        let (at, pressed, in_queue) = (Instant::now(), pressure(), own());
        let mut losses = losses.lock().unwrap_or_else(PoisonError::into_inner);
        losses.push_back(Loss {
            at,
            lost,
            queued: in_queue.saturating_sub(queued),
            waited: pressed.saturating_sub(waited),
        });
        (waited, queued) = (pressed, in_queue);
        while losses.front().is_some_and(|loss| at - loss.at > MEMORY) {
            losses.pop_front();
        }
        drop(losses);
        if at - sampled >= SAMPLE {
            sampled = at;
            let mut waits = WAITS.lock().unwrap_or_else(PoisonError::into_inner);
            waits.push_back((at, processor_waits::sample()));
            while waits.front().is_some_and(|sample| at - sample.0 > MEMORY) {
                waits.pop_front();
            }
        }
    }
}

/// The total time that any thread has waited for a processor, if Linux reports it.
fn pressure() -> Duration {
    let text = fs::read_to_string("/proc/pressure/cpu").unwrap_or_default();
    let some = text.lines().find(|line| line.starts_with("some "));
    let total = some.and_then(|line| line.rsplit_once("total=")?.1.parse().ok());
    Duration::from_micros(total.unwrap_or_default())
}

fn timed(work: impl FnOnce()) -> Duration {
    let begin = Instant::now();
    work();
    begin.elapsed()
}

fn work() {
    let mut state = black_box(1_u64);
    for _ in 0..ROUNDS {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    black_box(state);
}
