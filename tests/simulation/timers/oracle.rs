//! When each workload should run, without code of dayshift.

use super::scenario::{CREATED, HOURS, Lasts, Second, TimerWorkload};

const DAY: Second = 24 * 3600;

/// The expected state of one workload.
#[derive(Debug)]
pub(super) struct Expected {
    replicas: i32,
    has_hours: bool,
    lasts: Lasts,
    pub(super) count: i32,
    /// The start from which the timer counts. It stays after its stop, until the next start.
    timer: Option<Second>,
    /// Up to when the controller has applied boundaries.
    applied: Second,
    /// The end of the wake in progress.
    wake: Option<Second>,
    /// Whether a stop has saved a count that no start of dayshift has restored.
    is_saved: bool,
    /// Whether it was deployed since the controller last saw it.
    is_deployed: bool,
    /// The number of stops by the timer.
    pub(super) stops: usize,
}

/// A boundary at a time; `true` is a start.
type Boundary = (Second, bool);

impl Expected {
    /// A workload that the controller adopts at `now`.
    pub(super) fn adopted(workload: &TimerWorkload, lasts: Lasts, now: Second) -> Self {
        Self {
            replicas: workload.replicas,
            has_hours: workload.has_hours,
            lasts,
            count: workload.replicas,
            timer: Some(CREATED),
            applied: now,
            wake: None,
            is_saved: false,
            is_deployed: false,
            stops: 0,
        }
    }

    /// A user scales it.
    pub(super) fn scale(&mut self, is_up: bool) {
        self.count = if is_up { self.replicas } else { 0 };
    }

    pub(super) fn deploy(&mut self) {
        self.is_deployed = true;
    }

    /// A wake begins, or ends at another time.
    pub(super) fn wake(&mut self, until: Second, now: Second) {
        if self.wake.replace(until).is_some() {
            return;
        }
        self.start();
        self.applied = now;
        if !self.lasts.since_creation {
            self.timer = Some(now);
        } else if self.timer.is_none() {
            self.timer = Some(CREATED);
        }
    }

    pub(super) fn resume(&mut self, now: Second) {
        if self.wake.is_some() {
            self.wake = Some(now);
        }
    }

    /// Another `stop-after` takes effect. It never stops the workload at once; if dayshift has stopped it and
    /// it should be running now, it starts.
    pub(super) fn edit(&mut self, lasts: Lasts, now: Second) {
        if lasts == self.lasts {
            return;
        }
        self.lasts = lasts;
        self.adopt(now);
        let is_stopped = self.count == 0 && self.is_saved && self.wake.is_none();
        if is_stopped && self.required(now) == Some(true) {
            self.start();
            self.timer = Some(self.began(now));
        }
    }

    fn adopt(&mut self, at: Second) {
        self.applied = self.applied.max(at);
        if self.count == 0 {
            self.keep_expired(at);
        } else if self.runs_out().is_none_or(|out| out <= self.applied) {
            self.timer = Some(self.began(self.applied));
        }
    }

    /// The next time at which something happens by itself.
    pub(super) fn next_event(&self, now: Second) -> Option<Second> {
        let events = [self.next_boundary(now), self.wake];
        events.into_iter().flatten().filter(|at| *at > now).min()
    }

    /// The next time in the label: the end of a wake, or the next boundary.
    pub(super) fn next(&self, now: Second) -> Option<Second> {
        self.wake.or_else(|| self.next_boundary(now))
    }

    fn next_boundary(&self, now: Second) -> Option<Second> {
        let hours = HOURS.map(|of_day| now + 1 + (of_day - now - 1).rem_euclid(DAY));
        let hours = hours.into_iter().filter(|_| self.has_hours);
        let out = self.runs_out().filter(|at| *at > now);
        hours.chain(out).min()
    }

    /// The controller sees the workload, and applies everything that is due.
    pub(super) fn act(&mut self, now: Second) {
        self.see(now);
        match self.wake {
            Some(end) if end > now => {}
            Some(end) => {
                self.wake = None;
                self.end_wake(end, now);
            }
            None => {}
        }
        while self.wake.is_none()
            && let Some((at, is_start)) = self.latest(now).filter(|it| it.0 > self.applied)
        {
            self.apply(at, is_start, None, now);
        }
    }

    /// Finds starts by users and deploys.
    fn see(&mut self, now: Second) {
        let is_over = self.runs_out().is_some_and(|out| out <= self.applied);
        let is_running = self.count > 0;
        let is_deployed = std::mem::take(&mut self.is_deployed) && !self.lasts.since_creation;
        match self.timer {
            None if is_running => self.timer = Some(self.began(now)),
            Some(_) if is_running && is_over && self.wake.is_none() => {
                self.timer = Some(self.began(now));
            }
            Some(_) if is_running && !is_over && is_deployed => self.timer = Some(now),
            Some(_) if !is_running && !is_over => self.timer = None,
            _ => {}
        }
    }

    fn end_wake(&mut self, end: Second, now: Second) {
        let kept = self.timer.filter(|_| self.runs_out() > Some(now));
        let newest = self.latest(now).map_or(end, |it| it.0.max(end));
        match self.required(now) {
            Some(is_start) => self.apply(newest, is_start, kept, now),
            None => self.adopt(end),
        }
    }

    /// Applies a boundary. A start keeps the timer of a wake that has just ended. A start that was missed for long is
    /// not stopped at once.
    fn apply(&mut self, at: Second, is_start: bool, kept: Option<Second>, now: Second) {
        self.applied = self.applied.max(at);
        if is_start {
            self.start();
            let began = self.began(at);
            let is_over = began + self.lasts.seconds <= now;
            let began = if is_over { self.began(now) } else { began };
            self.timer = Some(kept.unwrap_or(began));
            return;
        }
        self.stops += usize::from(self.runs_out() == Some(at) && self.count > 0);
        self.is_saved |= self.count > 0;
        self.count = 0;
        self.keep_expired(at);
    }

    fn start(&mut self) {
        self.count = self.replicas;
        self.is_saved = false;
    }

    fn keep_expired(&mut self, at: Second) {
        self.timer = self.timer.filter(|_| self.runs_out() <= Some(at));
    }

    /// The start from which the timer counts after a start at `at`.
    fn began(&self, at: Second) -> Second {
        let is_preview = self.lasts.since_creation && CREATED + self.lasts.seconds > at;
        if is_preview { CREATED } else { at }
    }

    fn runs_out(&self) -> Option<Second> {
        Some(self.timer? + self.lasts.seconds)
    }

    /// The latest boundary of the hours or of the timer.
    fn latest(&self, now: Second) -> Option<Boundary> {
        let out = self.runs_out().filter(|out| *out <= now);
        let out = out.map(|out| (out, false));
        out.into_iter().chain(self.hours_at(now)).max()
    }

    /// Whether it should run, by its latest boundary.
    fn required(&self, now: Second) -> Option<bool> {
        self.latest(now).map(|it| it.1)
    }

    /// The latest boundary of the hours, perhaps of the day before.
    fn hours_at(&self, now: Second) -> Option<Boundary> {
        let boundaries = HOURS.map(|of_day| now - (now - of_day).rem_euclid(DAY));
        let [start, stop] = boundaries;
        let latest = (start.max(stop), start > stop);
        self.has_hours.then_some(latest)
    }
}
