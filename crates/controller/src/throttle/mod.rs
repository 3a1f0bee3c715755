//! Limits the requests in flight, and delays requests after failures.
//!
//! How much may be sent now: the circuit breaker, the window, and missing permissions.

use std::{sync::Arc, time::Duration};

use dayshift_cluster::{
    delays::Delays,
    write::{FailureKind, Unavailable},
};

use crate::{
    clock::guard::Now,
    ids::Id,
    object::work::Backoff,
    throttle::{health::Health, permissions::Permissions, window::Window},
};

mod health;
pub(crate) mod permissions;
pub(crate) mod window;

/// Limits the requests that can be sent now, and delays requests after failures.
///
/// The circuit breaker opens only by failures of the server: nothing is sent until its hold ends. An
/// object's own failures are in its [`Work`](crate::object::work::Work).
pub(crate) struct Throttle {
    server: Backoff,
    window: Window,
    pub(crate) permissions: Permissions,
    health: Health,
    pub(crate) random: fastrand::Rng,
}

/// Whose failure it is that a request got no usable response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blame {
    /// The server's: it may not be reachable.
    Server,
    /// The object's.
    Object,
    /// The object's, as far as is known. A list, which passes no admission, should show whether the
    /// server responds at all.
    Ask,
}

impl Throttle {
    /// Sends at most this many starts and stops of a namespace at once. The seed is that of the
    /// jitter.
    pub(crate) fn new(max_in_flight: usize, seed: u64) -> Self {
        Self {
            server: Backoff::default(),
            window: Window::new(max_in_flight),
            permissions: Permissions::default(),
            health: Health::default(),
            random: fastrand::Rng::with_seed(seed),
        }
    }

    /// Whether requests may be sent: not while the server is away or too busy.
    pub(crate) fn may_send(&self, now: Now) -> bool {
        !self.server.is_active(now)
    }

    /// Until when nothing is sent, or was.
    pub(crate) fn server_until(&self) -> Option<Duration> {
        self.server.until()
    }

    /// How many requests may be in flight.
    pub(crate) const fn window(&self) -> usize {
        self.window.size()
    }

    /// The server has responded to a write or a read.
    pub(crate) fn responded(&mut self, now: Now) {
        self.health.responded(now.elapsed);
        self.window.responded();
        self.server.succeed(now);
    }

    /// A request about an object got no usable response: whose failure that is.
    pub(crate) fn blame(&mut self, id: Id, why: &Unavailable, now: Now) -> Blame {
        match why.kind {
            FailureKind::Unreachable | FailureKind::Overloaded => Blame::Server,
            FailureKind::Admission | FailureKind::KindBackend | FailureKind::TooLarge => {
                Blame::Object
            }
            FailureKind::TimedOut if self.health.start_probe(now.elapsed) => Blame::Ask,
            FailureKind::TimedOut => Blame::Object,
            // Responses to others show whether the server is at fault.
            FailureKind::Failed | FailureKind::NotServed => {
                match self.health.not_served(id, now.elapsed) {
                    true => Blame::Server,
                    false => Blame::Object,
                }
            }
        }
    }

    /// The server has failed: stops sending for a while. Requests that were in flight together fail
    /// together: returns false if this is no new failure.
    pub(crate) fn server_failed(&mut self, why: &Unavailable, now: Now) -> bool {
        self.server.clear_if_expired(now);
        let is_new = self
            .server
            .fail(&Delays::SERVER, why.retry_after, now, &mut self.random);
        if is_new {
            self.window.failed(why.kind);
        }
        is_new
    }

    /// A request about an object has failed by itself: opens the circuit breaker if many others of
    /// several namespaces have, too.
    pub(crate) fn object_failed(
        &mut self,
        id: Id,
        namespace: &Arc<str>,
        why: &Unavailable,
        now: Now,
    ) {
        if why.kind == FailureKind::Failed && self.health.failed(id, namespace) {
            self.server_failed(why, now);
        }
    }

    /// A list that shows whether the server responds has ended.
    pub(crate) const fn end_probe(&mut self, has_responded: bool, now: Now) {
        self.health.end_probe(has_responded, now.elapsed);
    }

    /// Forgets an object.
    pub(crate) fn remove(&mut self, id: Id) {
        self.permissions.remove(id);
        self.health.remove(id);
    }
}
