//! Readiness and liveness of the controller, which its probes report. Readiness is a set of
//! [`Condition`]s, each with the text that explains why the controller is not ready.

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
    /// Each kind that the API server serves and RBAC allows watching has been listed, and at least
    /// one kind in each watched namespace.
    Listed,
    /// Each of those watches is open.
    Watching,
    /// The API server responds to requests.
    Reachable,
    /// No permission to patch workloads is missing, as far as responses have shown.
    Permitted,
    /// The machine's clock agrees with the API server's. True until a difference is observed.
    Clock,
}

impl Condition {
    /// All conditions, in the order of their declaration, and the text if one is not met.
    const ALL: [(Self, &str); 5] = [
        (Self::Listed, "the workloads have not been listed yet"),
        (Self::Watching, "the workloads are not being watched"),
        (Self::Reachable, "the API server does not answer or refuses"),
        (
            Self::Permitted,
            "the permission to patch workloads is missing in a namespace",
        ),
        (Self::Clock, "the clock is too far from the API server's"),
    ];
}

/// Every [`Condition`], and whether shutdown has begun.
#[derive(Debug)]
pub(crate) struct ReadinessConditions {
    met: [AtomicBool; Condition::ALL.len()],
    ending: AtomicBool,
    unwatched: Mutex<Vec<String>>,
}

impl ReadinessConditions {
    pub(crate) fn new() -> Self {
        Self {
            met: Condition::ALL.map(|(condition, _)| {
                let is_initially_met = matches!(condition, Condition::Permitted | Condition::Clock);
                AtomicBool::new(is_initially_met)
            }),
            ending: AtomicBool::new(false),
            unwatched: Mutex::default(),
        }
    }

    pub(crate) fn set(&self, condition: Condition, holds: bool) {
        self.met[condition as usize].store(holds, Ordering::Relaxed);
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

    /// Whether [`Self::check`] returns `Ok`. Does not allocate.
    pub(crate) fn is_ready(&self) -> bool {
        !self.ending.load(Ordering::Relaxed)
            && self.met.iter().all(|met| met.load(Ordering::Relaxed))
    }

    pub(crate) fn check(&self) -> Result<(), Vec<&'static str>> {
        if self.ending.load(Ordering::Relaxed) {
            return Err(vec!["dayshift is shutting down"]);
        }
        let each = Condition::ALL.into_iter().zip(&self.met);
        let unmet = each.filter(|(_, met)| !met.load(Ordering::Relaxed));
        let unmet: Vec<_> = unmet.map(|((_, text), _)| text).collect();
        if unmet.is_empty() { Ok(()) } else { Err(unmet) }
    }
}

/// The maximum time between two steps of a live controller. It makes a step at least once a second, and
/// a step takes much less than a minute in any cluster.
const MAX_SILENCE: Duration = Duration::from_secs(60);

/// When the controller last finished a step.
#[derive(Debug, Default)]
pub(crate) struct Heartbeat(Mutex<Option<Instant>>);

impl Heartbeat {
    pub(crate) fn beat(&self, now: Instant) {
        *lock(&self.0) = Some(now);
    }

    /// Whether the last step was recent, or no controller has started yet.
    pub(crate) fn is_alive(&self, now: Instant) -> bool {
        let last = *lock(&self.0);
        last.is_none_or(|at| now.saturating_duration_since(at) < MAX_SILENCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_ready_while_every_condition_is_met_and_before_shutdown() {
        let readiness = ReadinessConditions::new();
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
