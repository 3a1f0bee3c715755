//! Limits the requests in flight, and delays requests after failures: the circuit breaker, the AIMD
//! window, and missing permissions. Also decides whether the server or an object is to blame for a
//! failure.

use std::{sync::Arc, time::Duration};

use dayshift_cluster::{
    delays::Delays,
    write::{FailureKind, Unavailable},
};
use dayshift_workload::WorkloadRef;

use crate::{
    clock::{backoff::Backoff, guard::Now},
    ids::Id,
    throttle::{health::Health, permissions::Permissions},
};

mod health;
pub(crate) mod permissions;

pub(crate) use self::health::ProbeResult;

/// Limits the requests that can be sent now, and delays requests after failures.
///
/// The circuit breaker opens only after failures of the server. Then nothing is sent until its backoff
/// ends. The backoff of one object is in its [`Work`](crate::object::work::Work).
pub(crate) struct Throttle {
    pub(crate) server: Breaker,
    pub(crate) permissions: Permissions,
    health: Health,
    pub(crate) random: fastrand::Rng,
}

/// The cause of a failure without a usable response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blame {
    /// The server.
    Server,
    /// The object, or its admission webhook.
    Object,
    /// Unknown, so the failure counts as that of the object. A probe should show whether the server
    /// responds at all.
    Probe,
}

impl Throttle {
    /// Creates a throttle that allows at most `max_in_flight` starts and stops of a namespace at once.
    /// `seed` is for the jitter.
    pub(crate) fn new(max_in_flight: usize, seed: u64) -> Self {
        Self {
            server: Breaker::new(max_in_flight),
            permissions: Permissions::default(),
            health: Health::default(),
            random: fastrand::Rng::with_seed(seed),
        }
    }

    /// Records that the server has responded to a write or a read.
    pub(crate) fn responded(&mut self, now: Now) {
        self.health.responded(now.elapsed);
        self.server.responded(now);
    }

    /// Determines the cause of a request about an object that got no usable response.
    pub(crate) fn blame(&mut self, id: Id, why: &Unavailable, now: Now) -> Blame {
        match why.kind {
            FailureKind::Unreachable | FailureKind::Overloaded => Blame::Server,
            FailureKind::Admission | FailureKind::KindBackend | FailureKind::TooLarge => {
                Blame::Object
            }
            FailureKind::TimedOut if self.health.start_probe(now.elapsed) => Blame::Probe,
            FailureKind::TimedOut => Blame::Object,
            // Responses to requests about other objects show whether the server is at fault.
            FailureKind::Failed | FailureKind::NotServed => {
                match self.health.record_no_response(id, now.elapsed) {
                    true => Blame::Server,
                    false => Blame::Object,
                }
            }
        }
    }

    /// Opens the circuit breaker after a failure of the server. Returns whether this is a new failure:
    /// concurrent requests fail together and count once.
    pub(crate) fn server_failed(&mut self, why: &Unavailable, now: Now) -> bool {
        self.server.fail(why, now, &mut self.random)
    }

    /// Records a failed request about an object. Opens the circuit breaker if requests about many
    /// objects of several namespaces have failed.
    pub(crate) fn object_failed(
        &mut self,
        id: Id,
        namespace: &Arc<str>,
        why: &Unavailable,
        now: Now,
    ) {
        if why.kind == FailureKind::Failed && self.health.record_failure(id, namespace) {
            self.server_failed(why, now);
        }
    }

    /// Records the result of a probe.
    pub(crate) const fn end_probe(&mut self, result: ProbeResult, now: Now) {
        self.health.end_probe(result, now.elapsed);
    }

    /// Forgets an object.
    pub(crate) fn remove(&mut self, object: &WorkloadRef, id: Id) {
        self.permissions.remove(object, id);
        self.health.remove(id);
    }
}

/// Stops requests after failures of the server (a circuit breaker), and limits the number in flight:
/// additive increase, multiplicative decrease (AIMD).
#[derive(Debug)]
pub(crate) struct Breaker {
    backoff: Backoff,
    max: usize,
    window: usize,
    /// The number of responses since the window last changed or the server failed.
    responses: usize,
}

impl Breaker {
    /// Creates a closed breaker with this initial and maximum number of requests in flight.
    pub(crate) fn new(max: usize) -> Self {
        Self {
            backoff: Backoff::default(),
            max,
            window: max,
            responses: 0,
        }
    }

    /// Whether requests can be sent: the breaker is closed.
    pub(crate) fn may_send(&self, now: Now) -> bool {
        !self.backoff.is_active(now)
    }

    /// When it closes, or has closed; `None` without a failure.
    pub(crate) fn until(&self) -> Option<Duration> {
        self.backoff.until()
    }

    /// How many requests can be in flight.
    pub(crate) const fn window(&self) -> usize {
        self.window
    }

    /// Applies a failure of the server, which opens the breaker. Halves the window if the server is
    /// overloaded. Returns whether this is a new failure: concurrent requests fail together and count
    /// once.
    pub(crate) fn fail(&mut self, why: &Unavailable, now: Now, random: &mut fastrand::Rng) -> bool {
        self.backoff.clear_if_expired(now);
        let retry_after = why.retry_after;
        let is_new = self.backoff.fail(&Delays::SERVER, retry_after, now, random);
        if is_new {
            self.responses = 0;
            if why.kind == FailureKind::Overloaded {
                self.window = (self.window / 2).max(1);
            }
        }
        is_new
    }

    /// Applies a response. The window grows by one after `max` responses, which is slow enough for a
    /// server that remains overloaded.
    pub(crate) fn responded(&mut self, now: Now) {
        self.backoff.succeed(now);
        self.responses += 1;
        if self.responses >= self.max {
            self.responses = 0;
            self.window = (self.window + 1).min(self.max);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 32;

    /// A breaker after this many failures, an hour apart.
    fn after(failures: u64, kind: FailureKind) -> Breaker {
        let (mut breaker, mut random) = (Breaker::new(MAX), fastrand::Rng::with_seed(1));
        let mut why = Unavailable::timed_out(Duration::from_secs(10));
        why.kind = kind;
        for failure in 0..failures {
            assert!(breaker.fail(&why, Now::at_second(3600 * failure), &mut random));
            assert!(!breaker.may_send(Now::at_second(3600 * failure)));
        }
        breaker
    }

    #[test]
    fn halves_if_the_server_is_overloaded_but_not_if_it_is_unreachable() {
        for (failures, size) in [(0, 32), (1, 16), (2, 8), (5, 1), (9, 1)] {
            let overloaded = after(failures, FailureKind::Overloaded);
            assert_eq!(overloaded.window(), size, "{failures}");
            let unreachable = after(failures, FailureKind::Unreachable);
            assert_eq!(unreachable.window(), MAX, "{failures}: unreachable");
        }
    }

    #[test]
    fn grows_by_one_after_a_full_window_of_responses() {
        let mut breaker = after(5, FailureKind::Overloaded);
        for (responses, size) in [(31, 1), (1, 2), (32, 3), (32 * 100, 32)] {
            (0..responses).for_each(|_| breaker.responded(Now::at_second(86_400)));
            assert_eq!(breaker.window(), size);
        }
    }
}
