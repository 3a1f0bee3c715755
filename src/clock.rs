//! The one place that reads the time and sleeps.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use tokio::{
    sync::Notify,
    time::{Instant, sleep},
};

/// Wall time, either the machine's own or one that is derived from the runtime's clock.
///
/// A simulated clock on tokio's paused time is exact at any speed: time moves only while nobody
/// has anything to do, and then straight to the next instant that somebody waits for.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    System,
    Simulated(Arc<Simulated>),
}

#[derive(Debug)]
struct Simulated {
    start: DateTime<Utc>,
    begun: Instant,
    stepped_by: AtomicI64, // microseconds
    stepped: Notify,
}

/// The longest sleep on the machine's own clock, so that a stepped clock is noticed within it.
const MAX_SLEEP: Duration = Duration::from_secs(1);

impl Clock {
    /// The machine's own clock.
    pub const fn system() -> Self {
        Self(Source::System)
    }

    /// A clock that shows `start` now and goes on with the runtime's clock. Made before the
    /// paused runtime has slept, it shows whole milliseconds at each wake-up.
    pub fn simulated(start: DateTime<Utc>) -> Self {
        Self(Source::Simulated(Arc::new(Simulated {
            start,
            begun: Instant::now(),
            stepped_by: AtomicI64::new(0),
            stepped: Notify::new(),
        })))
    }

    /// The wall time.
    pub fn now(&self) -> DateTime<Utc> {
        match &self.0 {
            Source::System => Utc::now(),
            Source::Simulated(clock) => {
                let gone = TimeDelta::from_std(clock.begun.elapsed()).unwrap_or(TimeDelta::MAX);
                let stepped = TimeDelta::microseconds(clock.stepped_by.load(Ordering::Relaxed));
                clock
                    .start
                    .checked_add_signed(gone + stepped)
                    .unwrap_or(DateTime::<Utc>::MAX_UTC)
            }
        }
    }

    /// Sets a simulated clock forward or back, as a person or a time server would; the machine's
    /// own clock is left alone.
    pub fn step(&self, by: TimeDelta) {
        if let Source::Simulated(clock) = &self.0 {
            clock
                .stepped_by
                .fetch_add(by.num_microseconds().unwrap_or(0), Ordering::Relaxed);
            clock.stepped.notify_waiters();
        }
    }

    /// Sleeps until about `at`, or less: at most a second on the machine's own clock, and until
    /// a step on a simulated one. Whoever waits for an instant reads [`Clock::now`] afterwards
    /// and sleeps again.
    pub async fn doze_until(&self, at: DateTime<Utc>) {
        let left = (at - self.now()).to_std().unwrap_or(Duration::ZERO);
        match &self.0 {
            Source::System => sleep(left.min(MAX_SLEEP)).await,
            Source::Simulated(clock) => {
                tokio::select! {
                    () = sleep(left) => {}
                    () = clock.stepped.notified() => {}
                }
            }
        }
    }

    /// Sleeps until the wall time is `at` or later.
    pub async fn sleep_until(&self, at: DateTime<Utc>) {
        while self.now() < at {
            self.doze_until(at).await;
        }
    }

    /// Time that no step of the wall clock touches, to measure how long something takes.
    pub fn monotonic(&self) -> Instant {
        Instant::now()
    }
}

/// Real time beside a simulated clock, for whoever watches what happens on it.
#[derive(Clone, Copy, Debug)]
pub struct RealTime {
    begun: std::time::Instant,
}

impl RealTime {
    /// Begins to count.
    pub fn begin() -> Self {
        Self {
            begun: std::time::Instant::now(),
        }
    }

    /// Waits until so much real time has passed since the beginning. Simulated time stands still
    /// meanwhile: tokio moves a paused clock only while no thread is at work for the runtime.
    pub async fn reach(&self, passed: Duration) {
        let left = passed.saturating_sub(self.begun.elapsed());
        if !left.is_zero() {
            // It cannot panic, and at the end of the runtime nobody waits for it.
            let _ = tokio::task::spawn_blocking(move || std::thread::sleep(left)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> DateTime<Utc> {
        "2026-11-20T10:00:00Z".parse().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_year_passes_at_once_and_exactly() {
        let clock = Clock::simulated(start());
        let later = start() + TimeDelta::days(365);
        clock.sleep_until(later).await;
        assert_eq!(clock.now(), later);
    }

    #[tokio::test(start_paused = true)]
    async fn who_sleeps_notices_a_step() {
        let clock = Clock::simulated(start());
        let sleeper = tokio::spawn({
            let clock = clock.clone();
            async move {
                clock.sleep_until(start() + TimeDelta::hours(2)).await;
                clock.monotonic()
            }
        });
        let begun = clock.monotonic();
        sleep(Duration::from_secs(60)).await;
        clock.step(TimeDelta::hours(2));
        assert_eq!(sleeper.await.unwrap() - begun, Duration::from_secs(60));
    }

    #[tokio::test(start_paused = true)]
    async fn simulated_time_stands_still_while_real_time_passes() {
        let clock = Clock::simulated(start());
        let real = RealTime::begin();
        tokio::select! {
            () = real.reach(Duration::from_millis(2)) => {}
            () = clock.sleep_until(start() + TimeDelta::days(365)) => panic!("a year has passed"),
        }
        assert_eq!(clock.now(), start());
        assert!(real.begun.elapsed() >= Duration::from_millis(2));
        real.reach(Duration::ZERO).await;
    }
}
