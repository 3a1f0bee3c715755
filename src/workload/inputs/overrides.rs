//! The overrides of a schedule: `pause`, `wake-until` and `sleep-until`; and `enforce`.

use chrono::{DateTime, Utc};

use crate::workload::keys::Key;
use crate::workload::state::{Phase, State};

/// The overrides of one schedule, by their annotations. Some may be over by now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// dayshift leaves the object alone.
    pub pause: Option<Pause>,
    /// The object runs until then.
    pub wake_until: Option<DateTime<Utc>>,
    /// The object is stopped until then.
    pub sleep_until: Option<DateTime<Utc>>,
    /// Whether a count that is raised by hand while stopped is put back.
    pub enforce: bool,
}

/// How long dayshift leaves an object alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Until the annotation is removed.
    Forever,
    /// Until then.
    Until(DateTime<Utc>),
}

/// The one override that is active at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Override {
    /// dayshift leaves the object alone.
    Pause(Pause),
    /// The object runs until then.
    Wake(DateTime<Utc>),
    /// The object is stopped until then.
    Sleep(DateTime<Utc>),
}

impl Overrides {
    /// The override that is active at `now`: pause beats wake, wake beats sleep, and an override
    /// that ends at `now` is over.
    pub fn at(&self, now: DateTime<Utc>) -> Option<Override> {
        let all = [
            self.pause.map(Override::Pause),
            self.wake_until.map(Override::Wake),
            self.sleep_until.map(Override::Sleep),
        ];
        all.into_iter()
            .flatten()
            .find(|it| it.until().is_none_or(|until| until > now))
    }

    /// These, but for overrides that have ended before and that `kubectl rollout undo` has brought
    /// back: those come with the annotation `override-began`, which goes when an override ends.
    ///
    /// Where it is there, it has to be that of the override that holds the object by its state,
    /// or the override at `now` has to be that one.
    #[must_use]
    pub fn without_ended(self, began: Option<&str>, state: &State, now: DateTime<Utc>) -> Self {
        let counts = began.is_none_or(|began| {
            state.override_began().as_deref() == Some(began)
                || self.at(now).is_some_and(|over| over.holds(state))
        });
        if counts {
            self
        } else {
            Self {
                enforce: self.enforce,
                ..Self::default()
            }
        }
    }

    /// The annotations that name an override.
    pub fn keys(&self) -> Vec<Key> {
        let all = [
            (Key::Pause, self.pause.is_some()),
            (Key::WakeUntil, self.wake_until.is_some()),
            (Key::SleepUntil, self.sleep_until.is_some()),
        ];
        let named = all.into_iter().filter(|(_, is_there)| *is_there);
        named.map(|(key, _)| key).collect()
    }

    /// The annotations that are over at `now`.
    pub fn over_at(&self, now: DateTime<Utc>) -> Vec<Key> {
        let keys = [Key::Pause, Key::WakeUntil, Key::SleepUntil];
        let is_over = |key: &Key| self.until(*key).is_some_and(|until| until <= now);
        keys.into_iter().filter(is_over).collect()
    }

    /// The time that one of the annotations names, if it names one.
    pub fn until(&self, key: Key) -> Option<DateTime<Utc>> {
        match key {
            Key::Pause => self.pause.and_then(Pause::until),
            Key::WakeUntil => self.wake_until,
            Key::SleepUntil => self.sleep_until,
            _ => None,
        }
    }
}

impl Pause {
    /// When it ends by itself, if it does.
    pub const fn until(self) -> Option<DateTime<Utc>> {
        match self {
            Self::Forever => None,
            Self::Until(until) => Some(until),
        }
    }
}

impl Override {
    /// When it ends by itself, if it does.
    pub const fn until(self) -> Option<DateTime<Utc>> {
        match self {
            Self::Pause(pause) => pause.until(),
            Self::Wake(until) | Self::Sleep(until) => Some(until),
        }
    }

    /// The phase of an object on which it has begun.
    pub const fn phase(self) -> Phase {
        match self {
            Self::Pause(_) => Phase::Paused,
            Self::Wake(_) => Phase::Woken,
            Self::Sleep(_) => Phase::Slept,
        }
    }

    /// The annotation that has brought an object into a phase.
    pub const fn key(phase: Phase) -> Option<Key> {
        match phase {
            Phase::Paused => Some(Key::Pause),
            Phase::Woken => Some(Key::WakeUntil),
            Phase::Slept => Some(Key::SleepUntil),
            Phase::Adopted | Phase::Running | Phase::Stopped => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn pause_beats_wake_beats_sleep_until_each_is_over() {
        let hour = |hour| DateTime::UNIX_EPOCH + TimeDelta::hours(hour);
        let all = Overrides {
            pause: Some(Pause::Until(hour(1))),
            wake_until: Some(hour(2)),
            sleep_until: Some(hour(3)),
            enforce: false,
        };
        for (now, expected, over) in [
            (0, Some(Phase::Paused), &[][..]),
            (1, Some(Phase::Woken), &[Key::Pause]),
            (2, Some(Phase::Slept), &[Key::Pause, Key::WakeUntil]),
            (3, None, &[Key::Pause, Key::WakeUntil, Key::SleepUntil]),
        ] {
            assert_eq!(all.at(hour(now)).map(Override::phase), expected, "{now}");
            assert_eq!(all.over_at(hour(now)), over, "{now}");
        }
        let for_ever = Overrides {
            pause: Some(Pause::Forever),
            ..all
        };
        assert_eq!(for_ever.at(hour(9)), Some(Override::Pause(Pause::Forever)));
        assert_eq!(for_ever.over_at(hour(2)), [Key::WakeUntil]);
    }
}
