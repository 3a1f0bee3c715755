//! The only place in dayshift that reads the time and sleeps.

use std::{
    io,
    sync::{
        Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    thread,
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use tokio::{
    sync::Notify,
    task::yield_now,
    time::{Instant, sleep},
};

/// Wall time: the machine's clock, or a simulated clock that is derived from the runtime's time.
///
/// A simulated clock on tokio's paused time is exact at any speed. Time advances only while every task
/// waits, and then it jumps to the next time that a task waits for.
#[derive(Clone, Debug)]
pub struct Clock(ClockSource);

#[derive(Clone, Debug)]
enum ClockSource {
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

/// The longest single sleep on the machine's clock. If the clock is stepped, sleepers notice within this
/// time.
const MAX_SLEEP: Duration = Duration::from_secs(1);

/// How long before its end a sleep moves from tokio to the alarm. tokio's timers fire up to 2 ms late,
/// because both the timer and the wait for sockets are rounded up to a millisecond.
const ALARM_LEAD: Duration = Duration::from_millis(3);

impl Clock {
    /// The machine's own clock.
    pub const fn system() -> Self {
        Self(ClockSource::System)
    }

    /// Creates a clock that shows `start` now and advances with the runtime's time. If it is created
    /// before the paused runtime has slept, it shows whole milliseconds at each wake-up.
    pub fn simulated(start: DateTime<Utc>) -> Self {
        Self(ClockSource::Simulated(Arc::new(Simulated {
            start,
            begun: Instant::now(),
            stepped_by: AtomicI64::new(0),
            stepped: Notify::new(),
        })))
    }

    /// The wall time.
    pub fn now(&self) -> DateTime<Utc> {
        match &self.0 {
            ClockSource::System => Utc::now(),
            ClockSource::Simulated(clock) => {
                let passed = TimeDelta::from_std(clock.begun.elapsed()).unwrap_or(TimeDelta::MAX);
                let stepped = TimeDelta::microseconds(clock.stepped_by.load(Ordering::Relaxed));
                clock
                    .start
                    .checked_add_signed(passed + stepped)
                    .unwrap_or(DateTime::<Utc>::MAX_UTC)
            }
        }
    }

    /// Moves a simulated clock forward or back, as an administrator or a time server would. Does nothing
    /// on the machine's clock.
    pub fn step(&self, by: TimeDelta) {
        if let ClockSource::Simulated(clock) = &self.0 {
            clock
                .stepped_by
                .fetch_add(by.num_microseconds().unwrap_or(0), Ordering::Relaxed);
            clock.stepped.notify_waiters();
        }
    }

    /// Sleeps until about `at`, or less: at most a second on the machine's clock, and until the next
    /// step on a simulated one. The caller should read [`Clock::now`] afterwards and sleep again if it
    /// is too early.
    pub async fn doze_until(&self, at: DateTime<Utc>) {
        let left = (at - self.now()).to_std().unwrap_or(Duration::ZERO);
        match &self.0 {
            // Let other tasks run first, so that queued requests are sent.
            _ if left.is_zero() => yield_now().await,
            ClockSource::System => match (&*ALARM, left.saturating_sub(ALARM_LEAD)) {
                (Ok(alarm), Duration::ZERO) => alarm.wait(left).await,
                (Ok(_), most) => sleep(most.min(MAX_SLEEP)).await,
                (Err(_), _) => sleep(left.min(MAX_SLEEP)).await,
            },
            ClockSource::Simulated(clock) => {
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

    /// Monotonic time, unaffected by steps of the wall clock. Use it to measure durations.
    pub fn monotonic(&self) -> Instant {
        Instant::now()
    }
}

/// Ends sleeps on the machine's clock. Started by the first sleep.
static ALARM: LazyLock<io::Result<Arc<Alarm>>> = LazyLock::new(Alarm::begin);

/// A thread that sleeps instead of tokio's timers, which are less exact
/// (`docs/decisions/controller/alarm.md`).
#[derive(Debug, Default)]
struct Alarm {
    /// The next time to ring: the earliest end of all sleeps.
    at: Mutex<Option<std::time::Instant>>,
    is_set: Condvar,
    rings: Notify,
}

impl Alarm {
    fn begin() -> io::Result<Arc<Self>> {
        let alarm = Arc::new(Self::default());
        let thread = Arc::clone(&alarm);
        thread::Builder::new()
            .name("alarm".to_owned())
            .spawn(move || thread.ring_when_due())?;
        Ok(alarm)
    }

    fn ring_when_due(&self) -> ! {
        let mut at = self.lock();
        loop {
            let left = at.map(|at| at.saturating_duration_since(std::time::Instant::now()));
            at = match left {
                None => self.is_set.wait(at).unwrap_or_else(PoisonError::into_inner),
                Some(Duration::ZERO) => {
                    *at = None;
                    self.rings.notify_waiters();
                    at
                }
                Some(left) => {
                    let woken = self.is_set.wait_timeout(at, left);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// Waits for `left`, or until the alarm rings for another sleep.
    async fn wait(&self, left: Duration) {
        let ring = self.rings.notified();
        self.set(std::time::Instant::now() + left);
        ring.await;
    }

    fn set(&self, end: std::time::Instant) {
        let mut at = self.lock();
        if at.is_none_or(|at| end < at) {
            *at = Some(end);
            self.is_set.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<std::time::Instant>> {
        self.at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A measurement of real time while a clock is simulated. Paces a simulation that a user watches, such as
/// `dayshift sandbox`.
#[derive(Clone, Copy, Debug)]
pub struct RealTime {
    begun: std::time::Instant,
}

impl RealTime {
    /// Starts measuring.
    pub fn begin() -> Self {
        Self {
            begun: std::time::Instant::now(),
        }
    }

    /// Waits until `passed` of real time has elapsed since the start. Simulated time does not advance
    /// meanwhile: tokio advances a paused clock only if no blocking thread is busy.
    pub async fn reach(&self, passed: Duration) {
        let left = passed.saturating_sub(self.begun.elapsed());
        if !left.is_zero() {
            // The task cannot panic. If the runtime shuts down first, the result is not needed.
            let _ = tokio::task::spawn_blocking(move || thread::sleep(left)).await;
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
    async fn sleeping_for_a_simulated_year_takes_no_real_time() {
        let clock = Clock::simulated(start());
        let later = start() + TimeDelta::days(365);
        clock.sleep_until(later).await;
        assert_eq!(clock.now(), later);
    }

    #[tokio::test(start_paused = true)]
    async fn a_sleeper_notices_a_clock_step() {
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
    async fn one_sleep_on_the_machine_clock_lasts_at_most_a_second() {
        let clock = Clock::system();
        let begun = clock.monotonic();
        clock.doze_until(clock.now() + TimeDelta::days(1)).await;
        assert_eq!(clock.monotonic() - begun, MAX_SLEEP);
    }

    /// Compares the alarm with a thread that sleeps until the same time, which is as late as a busy
    /// machine makes it.
    #[tokio::test]
    async fn the_alarm_is_as_punctual_as_a_thread_and_never_early() {
        let clock = Clock::system();
        let (mut late, mut thread_late) = (Vec::new(), Vec::new());
        for number in 0..60 {
            let left = TimeDelta::microseconds(number * 1_249 % 9_000);
            let at = clock.now() + left;
            let thread = thread::spawn(move || {
                thread::sleep((at - Utc::now()).to_std().unwrap_or_default());
                Utc::now() - at
            });
            let mut sleeps = 0;
            while clock.now() < at {
                clock.doze_until(at).await;
                sleeps += 1;
            }
            late.push(clock.now() - at);
            thread_late.push(thread.join().unwrap());
            assert!(sleeps <= 20, "{sleeps} sleeps for {left}");
        }
        assert!(late.iter().all(|late| *late >= TimeDelta::zero()));
        let median = |mut late: Vec<TimeDelta>| {
            late.sort();
            late[late.len() / 2]
        };
        let (late, thread_late) = (median(late), median(thread_late));
        let difference = late - thread_late;
        assert!(
            difference < TimeDelta::microseconds(600),
            "{late} and {thread_late}"
        );
    }

    #[tokio::test]
    async fn the_earliest_of_several_sleeps_ends_first() {
        let clock = Clock::system();
        let begun = clock.now();
        let wait = |left| clock.sleep_until(begun + TimeDelta::milliseconds(left));
        tokio::select! {
            biased;
            () = wait(600_000) => panic!("ten minutes have passed"),
            () = wait(2) => {}
        }
        assert!(clock.now() - begun >= TimeDelta::milliseconds(2));
    }

    #[test]
    fn the_alarm_thread_sleeps_while_no_task_waits() {
        let alarm = Alarm::begin().unwrap();
        let is_set = || alarm.lock().is_some();
        alarm.set(std::time::Instant::now() + Duration::from_secs(3600));
        assert!(is_set());
        alarm.set(std::time::Instant::now());
        // The thread wakes up for this time, and then waits until it is set again.
        while is_set() {
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn simulated_time_does_not_advance_while_real_time_passes() {
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
