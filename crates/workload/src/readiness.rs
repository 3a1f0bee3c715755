//! How much of an object is ready, from its `status`.

use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    replicas::Replicas,
    state::{Phase, State},
};

/// How long a start can take before a user is notified, unless configured otherwise.
pub const READY_WITHIN: TimeDelta = TimeDelta::minutes(10);

/// How much of an object is ready. Its own schedule does not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Readiness {
    /// The status does not report it, or the kind has no such field.
    #[default]
    Unknown,
    /// The status has a number of ready replicas.
    Replicas {
        /// The number of ready replicas.
        ready: Replicas,
        /// Whether the status belongs to the current `spec`. Before the object's controller has
        /// observed a new `spec`, the status is that of the old one.
        is_current: bool,
    },
    /// The status has a condition.
    Condition {
        /// Whether the condition is `True`.
        holds: bool,
        /// Whether the status belongs to the current `spec`.
        is_current: bool,
    },
}

impl Readiness {
    /// Whether an object with this count is ready; `None` if unknown.
    pub fn is_ready(self, count: Replicas) -> Option<bool> {
        match self {
            Self::Unknown => None,
            Self::Replicas { .. } if count == Replicas::ZERO => Some(true),
            Self::Replicas { ready, is_current } => Some(is_current && ready >= count),
            Self::Condition { holds, is_current } => Some(is_current && holds),
        }
    }

    /// The time by which an object that dayshift has started should be ready. `None` if it is
    /// ready, if its readiness is unknown, if dayshift did not start it, or if `within` is zero.
    pub fn due(self, count: Replicas, state: &State, within: TimeDelta) -> Option<DateTime<Utc>> {
        let is_started = matches!(state.phase, Some(Phase::Running | Phase::Woken));
        let is_not_ready = count > Replicas::ZERO && self.is_ready(count) == Some(false);
        let started = state.last.filter(|_| is_started && is_not_ready)?;
        (within > TimeDelta::zero())
            .then(|| started.checked_add_signed(within))
            .flatten()
    }

    /// The number of ready replicas, if the status has one.
    pub const fn replicas(self) -> Option<Replicas> {
        match self {
            Self::Replicas { ready, .. } => Some(ready),
            Self::Unknown | Self::Condition { .. } => None,
        }
    }

    /// An object with this count that is not ready: `1 of 3 replicas are ready`.
    pub fn text(self, count: Replicas) -> String {
        match self.replicas() {
            Some(ready) => format!("{ready} of {count} replicas are ready"),
            None => "it is not ready".to_owned(),
        }
    }

    /// A table cell for an object with this count: `1/3`, `yes` or `no`; `None` if unknown.
    pub fn short_text(self, count: Replicas) -> Option<String> {
        match self {
            Self::Replicas { ready, .. } => Some(format!("{ready}/{count}")),
            Self::Unknown | Self::Condition { .. } => {
                let is_ready = self.is_ready(count)?;
                Some(if is_ready { "yes" } else { "no" }.to_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn current(ready: u32) -> Readiness {
        Readiness::Replicas {
            ready: Replicas::new(ready),
            is_current: true,
        }
    }

    fn outdated(ready: u32) -> Readiness {
        Readiness::Replicas {
            ready: Replicas::new(ready),
            is_current: false,
        }
    }

    #[test]
    fn an_object_is_ready_if_its_whole_count_is_in_a_current_status() {
        for (readiness, count, is_ready, word) in [
            (Readiness::Unknown, 3, None, None),
            (current(0), 3, Some(false), Some("0/3")),
            (current(3), 3, Some(true), Some("3/3")),
            (current(0), 0, Some(true), Some("0/0")),
            (outdated(0), 0, Some(true), Some("0/0")),
            // A rollout can surge above the count.
            (current(4), 3, Some(true), Some("4/3")),
            // The status is older than the current pod template.
            (outdated(3), 3, Some(false), Some("3/3")),
        ] {
            let count = Replicas::new(count);
            assert_eq!(readiness.is_ready(count), is_ready, "{readiness:?}");
            assert_eq!(readiness.short_text(count).as_deref(), word);
        }
        let state = |phase| State {
            phase: Some(phase),
            last: Some(DateTime::UNIX_EPOCH),
            ..State::default()
        };
        let due = |readiness: Readiness, phase, count, within| {
            readiness.due(Replicas::new(count), &state(phase), within)
        };
        let is_due = Some(DateTime::UNIX_EPOCH + READY_WITHIN);
        let none = TimeDelta::zero();
        for (readiness, phase, count, within, expected) in [
            (current(2), Phase::Running, 3, READY_WITHIN, is_due),
            (outdated(3), Phase::Woken, 3, READY_WITHIN, is_due),
            (current(3), Phase::Running, 3, READY_WITHIN, None),
            (outdated(0), Phase::Running, 0, READY_WITHIN, None),
            (current(0), Phase::Adopted, 3, READY_WITHIN, None),
            (current(0), Phase::Stopped, 3, READY_WITHIN, None),
            (Readiness::Unknown, Phase::Running, 3, READY_WITHIN, None),
            (current(0), Phase::Running, 3, none, None),
            (current(0), Phase::Running, 3, TimeDelta::MAX, None),
        ] {
            assert_eq!(
                due(readiness, phase, count, within),
                expected,
                "{readiness:?}"
            );
        }
        for (holds, is_current, is_ready, word) in [
            (true, true, true, "yes"),
            (true, false, false, "no"),
            (false, true, false, "no"),
        ] {
            let readiness = Readiness::Condition { holds, is_current };
            assert_eq!(readiness.is_ready(Replicas::ONE), Some(is_ready));
            assert_eq!(readiness.short_text(Replicas::ONE).as_deref(), Some(word));
        }
    }
}
