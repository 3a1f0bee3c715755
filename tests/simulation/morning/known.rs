//! The oracle's knowledge of an object, and its due start.

use super::scenario::MorningWorkload;

/// Milliseconds since the beginning of the day.
pub(super) type Milli = i64;

/// The maximum time of an action that nothing delays.
pub(super) const SOON: Milli = 1_500;
/// The maximum time in which a controller observes a change.
pub(super) const MOMENT: Milli = 60;

const EVENING: Milli = 18 * 3_600_000;

/// The namespace and name of an object.
pub(super) type Place = (String, String);

/// The oracle's knowledge of an object.
pub(super) struct KnownWorkload {
    pub(super) named: Vec<Place>,
    pub(super) within: Milli,
    pub(super) ready_within: Milli,
    pub(super) start: Milli,
    pub(super) replicas: i64,
    pub(super) is_gone: bool,
    /// Since when the object is ready, and until when it was last ready.
    pub(super) ready_since: Option<Milli>,
    pub(super) ready_until: Milli,
    /// The last start, and its label `last`.
    pub(super) started: Option<(Milli, Milli)>,
    pub(super) was_ready: bool,
    /// The label `last`.
    pub(super) label: Milli,
    /// Whether its labels show a start. An edit of the schedule removes that.
    pub(super) is_started: bool,
    pub(super) edited: Milli,
    pub(super) wake_until: Milli,
    pub(super) sleep_until: Milli,
    /// Since when all dependencies of the due start are ready; also set if it has none.
    pub(super) free_since: Option<Milli>,
    pub(super) is_refused: bool,
}

/// A due start.
#[derive(Clone, Copy)]
pub(super) struct DueStart {
    pub(super) since: Milli,
    /// Whether a user requested the start, as opposed to a boundary.
    pub(super) is_request: bool,
}

/// `sts/db; deploy/cache, 5m` as names, and the time limit in milliseconds.
fn read_after(namespace: &str, text: &str) -> (Vec<Place>, Milli) {
    let (names, within) = text.split_once(',').unwrap_or((text, "10m"));
    let (number, unit) = within.trim().split_at(within.trim().len() - 1);
    let unit = if unit == "m" { 60_000 } else { 1_000 };
    let names = names
        .split(';')
        .filter_map(|it| it.trim().strip_prefix("deploy/"));
    let places = names.map(|name| (namespace.to_owned(), name.to_owned()));
    (places.collect(), number.parse::<Milli>().unwrap() * unit)
}

impl KnownWorkload {
    pub(super) fn of(workload: &MorningWorkload) -> Self {
        let (named, within) = read_after(workload.namespace, &workload.after);
        Self {
            named,
            within,
            ready_within: workload.ready_within.map_or(600, |it| it.1) * 1000,
            start: workload.start * 1000,
            replicas: 0,
            is_gone: false,
            ready_since: None,
            ready_until: -1,
            started: None,
            was_ready: false,
            label: 0,
            is_started: false,
            edited: 0,
            wake_until: 0,
            sleep_until: 0,
            free_since: None,
            is_refused: false,
        }
    }

    /// The start that is due at `now`, whether or not the object already runs.
    pub(super) fn due(&self, now: Milli) -> Option<DueStart> {
        if self.is_gone {
            return None;
        }
        if now < self.wake_until {
            return Some(DueStart {
                since: self.edited,
                is_request: true,
            });
        }
        if now < self.sleep_until {
            return None;
        }
        let by_clock = self.start.max(self.sleep_until);
        // A start that waited from before a wake until the end of the wake is due again.
        let is_request = self.edited >= by_clock && self.wake_until == 0;
        let since = if is_request { self.edited } else { by_clock };
        let is_open = self.start <= now && now < EVENING;
        is_open.then_some(DueStart { since, is_request })
    }

    /// The time of the next start, if no start is due.
    pub(super) fn next_start(&self, now: Milli) -> Milli {
        self.start.max(self.sleep_until).max(now)
    }

    /// Until when the object holds a slot, if it holds one.
    pub(super) fn slot_until(&self, up: Milli) -> Option<Milli> {
        let (started, last) = self.started?;
        if self.is_gone || self.was_ready || self.replicas == 0 {
            return None;
        }
        // A restarted controller counts from the time in the labels.
        if up > started && !self.is_started {
            return None;
        }
        let from = if up > started {
            last.min(started)
        } else {
            started
        };
        Some(from + self.ready_within)
    }
}

/// `2026-11-24T09.00.00Z` as milliseconds of its day.
pub(super) fn time_of_label(label: &str) -> Milli {
    let (_, time) = label.trim_end_matches('Z').split_once('T').unwrap();
    let parts = time.split('.').map(|it| it.parse::<Milli>().unwrap());
    parts.fold(0, |all, part| all * 60 + part) * 1000
}
