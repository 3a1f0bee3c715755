//! Readiness (whether the controller can do its work, and if not, why) and liveness.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;

use crate::telemetry::shapes::lock;

/// A condition of readiness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The first list has come for each kind that the API server has and lets us watch, and for at
    /// least one kind in each watched namespace.
    Listed,
    /// Each of those watches is open.
    Watching,
    /// The API server answers requests.
    Reachable,
    /// No patch has been refused for a missing permission since the last one that was granted.
    Permitted,
    /// The machine's clock agrees with the API server's. Holds until a difference is seen.
    Clock,
}

impl Condition {
    const ALL: [Self; 5] = [
        Self::Listed,
        Self::Watching,
        Self::Reachable,
        Self::Permitted,
        Self::Clock,
    ];

    const fn unmet(self) -> &'static str {
        match self {
            Self::Listed => "the workloads have not been listed yet",
            Self::Watching => "the workloads are not being watched",
            Self::Reachable => "the API server does not answer or refuses",
            Self::Permitted => "the permission to patch workloads is missing in a namespace",
            Self::Clock => "the clock is too far from the API server's",
        }
    }
}

/// Every [`Condition`], and whether shutdown has begun.
#[derive(Debug)]
pub(crate) struct Readiness {
    met: [AtomicBool; Condition::ALL.len()],
    ending: AtomicBool,
    unwatched: Mutex<Vec<String>>,
}

impl Readiness {
    pub(crate) fn new() -> Self {
        Self {
            met: Condition::ALL.map(|condition| {
                let holds_at_first = matches!(condition, Condition::Permitted | Condition::Clock);
                AtomicBool::new(holds_at_first)
            }),
            ending: AtomicBool::new(false),
            unwatched: Mutex::default(),
        }
    }

    pub(crate) fn set(&self, condition: Condition, holds: bool) {
        for (known, met) in Condition::ALL.into_iter().zip(&self.met) {
            if known == condition {
                met.store(holds, Ordering::Relaxed);
            }
        }
    }

    pub(crate) fn set_unwatched(&self, unwatched: Vec<String>) {
        *lock(&self.unwatched) = unwatched;
    }

    pub(crate) fn unwatched(&self) -> Vec<String> {
        lock(&self.unwatched).clone()
    }

    pub(crate) fn end(&self) {
        self.ending.store(true, Ordering::Relaxed);
    }

    /// Whether [`Self::check`] finds nothing. Does not allocate a reason.
    pub(crate) fn is_ready(&self) -> bool {
        !self.ending.load(Ordering::Relaxed)
            && self.met.iter().all(|met| met.load(Ordering::Relaxed))
    }

    pub(crate) fn check(&self) -> Result<(), Vec<&'static str>> {
        if self.ending.load(Ordering::Relaxed) {
            return Err(vec!["dayshift is shutting down"]);
        }
        let unmet: Vec<_> = Condition::ALL
            .into_iter()
            .zip(&self.met)
            .filter(|(_, met)| !met.load(Ordering::Relaxed))
            .map(|(condition, _)| condition.unmet())
            .collect();
        if unmet.is_empty() { Ok(()) } else { Err(unmet) }
    }
}

/// The longest time between two passes of a controller: it makes one each second, and no cluster
/// gives it a minute of work in one pass.
const MAX_SILENCE: Duration = Duration::from_secs(60);

/// When the controller last finished a pass.
#[derive(Debug, Default)]
pub(crate) struct Heartbeat(Mutex<Option<Instant>>);

impl Heartbeat {
    pub(crate) fn beat(&self, now: Instant) {
        *lock(&self.0) = Some(now);
    }

    /// Whether a controller works, or none has begun yet.
    pub(crate) fn is_alive(&self, now: Instant) -> bool {
        let last = *lock(&self.0);
        last.is_none_or(|at| now.saturating_duration_since(at) < MAX_SILENCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_ready_while_every_condition_holds_and_the_end_has_not_begun() {
        let readiness = Readiness::new();
        assert_eq!(
            readiness.check().unwrap_err(),
            [
                "the workloads have not been listed yet",
                "the workloads are not being watched",
                "the API server does not answer or refuses"
            ],
        );
        readiness.set(Condition::Listed, true);
        readiness.set(Condition::Watching, true);
        readiness.set(Condition::Reachable, true);
        assert_eq!(readiness.check(), Ok(()));

        readiness.set(Condition::Clock, false);
        assert_eq!(
            readiness.check().unwrap_err(),
            ["the clock is too far from the API server's"],
        );
        readiness.set(Condition::Clock, true);
        readiness.end();
        assert_eq!(
            readiness.check().unwrap_err(),
            ["dayshift is shutting down"]
        );
    }
}
