//! Detects that this machine stood still, by a thread that asks for next to nothing and is late.
//!
//! A program that is late on a machine that was punctual is late by itself. So nothing is told
//! again for being late, unless this thread was late at the same time, or Linux says that a thread of
//! the program itself, or of the API server that it writes to, waited for a processor: what others
//! waited is no excuse. A story that has not come as far as it wants before its own instant waits for many
//! programs that come and go, so there it counts that anybody waited (`/proc/pressure/cpu`).

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fmt, fs, thread};

use super::processor_waits::{self, Waited};

/// How long it sleeps between two looks at the clock.
const SLEEP: Duration = Duration::from_millis(10);

/// Rounds of arithmetic between two sleeps, some 0.2 ms, that show what a processor withholds
/// without ever letting a thread wait: a host that lends it to somebody else.
const ROUNDS: u64 = 20_000;

/// What may be lost within one second; more is a stall.
const MAX_LOST: Duration = Duration::from_millis(150);

/// How long others may wait for a processor within one second; longer is a stall.
const MAX_WAITED: Duration = Duration::from_millis(500);

/// How long between two looks at what the programs waited.
const SAMPLE: Duration = Duration::from_millis(100);

/// How far back it remembers: longer than any story.
const MEMORY: Duration = Duration::from_secs(600);

static LOSSES: LazyLock<Arc<Mutex<VecDeque<Loss>>>> = LazyLock::new(|| {
    let losses = Arc::<Mutex<VecDeque<Loss>>>::default();
    thread::spawn({
        let losses = Arc::clone(&losses);
        move || measure(&losses)
    });
    losses
});

/// What the programs of each story waited, and those that all share.
static WAITS: Mutex<VecDeque<(Instant, Vec<Waited>)>> = Mutex::new(VecDeque::new());

/// What was withheld up to an instant, since the one before.
#[derive(Clone, Copy, Debug)]
struct Loss {
    at: Instant,
    lost: Duration,
    /// The part of it that this thread waited for a processor of this machine: a host withholds the rest.
    queued: Duration,
    waited: Duration,
}

/// A machine that stood still.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stall {
    /// The longest at once.
    longest: Duration,
    /// The most in any second.
    second: Duration,
    /// The most in any second that somebody waited for a processor.
    waited: Duration,
}

impl Stall {
    /// The worst since `begin`; none where the machine was punctual.
    pub(super) fn since(begin: Instant) -> Option<Self> {
        let worst = Self::worst_since(begin);
        (worst.second > MAX_LOST || worst.waited > MAX_WAITED).then_some(worst)
    }

    /// Whether what was withheld between two instants from the programs of this thread's story may be
    /// why something came so much too late: half of it, since one who waits keeps others waiting.
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

    /// What was withheld since `begin`, whether that is much or not.
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

/// How long a thread of the programs of this thread's story, or of those that all share, waited.
fn programs_waited(from: Instant, to: Instant) -> Duration {
    let story = Some(thread::current().id());
    let waits = WAITS.lock().unwrap_or_else(PoisonError::into_inner);
    let meanwhile = waits
        .iter()
        .filter(|(at, _)| *at >= from && *at <= to + SAMPLE);
    let longest = |all: &Vec<Waited>| {
        let concerned = all.iter().filter(|(of, _)| of.is_none() || *of == story);
        concerned.map(|(_, waited)| *waited).max()
    };
    meanwhile.filter_map(|(_, all)| longest(all)).sum()
}

/// Begins to measure; what was before is not known.
pub(crate) fn begin() {
    LazyLock::force(&LOSSES);
}

fn measure(losses: &Mutex<VecDeque<Loss>>) {
    // What the arithmetic takes where nothing is withheld.
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

/// How long somebody has waited for a processor since the machine began, where Linux says it.
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
