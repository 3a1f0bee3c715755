//! The order in which requests arrived at the API server.
//!
//! A slow machine makes all requests late, but does not change their order. So a request that waits behind
//! another namespace's queue is visible on any machine.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use crate::support::Request;

/// The maximum number of requests for the faulty fleet between the due time and the stop of another object.
/// When the object is due, `--max-in-flight` requests can have slots already, and the same number can get
/// slots in turn with its namespace.
const MAX_BEFORE: usize = 64;

/// The requests for the faulty fleet that arrived after the due time of another object and before its
/// request.
pub(crate) struct Turns<'r> {
    /// The arrival times of the requests for the faulty fleet, in microseconds since 1970, and the name of
    /// the object of each.
    arrived: Vec<(i64, &'r str)>,
    /// The maximum number of requests for the faulty fleet before the request of a due object.
    before: usize,
}

impl<'r> Turns<'r> {
    /// The requests for the faulty fleet that have a response by now.
    pub(crate) fn of(trouble: &'r [Request]) -> Self {
        let requests = trouble.iter().map(|each| (each.received, &*each.name));
        let mut arrived: Vec<_> = requests.collect();
        arrived.sort_unstable();
        Self { arrived, before: 0 }
    }

    /// Records one request in another Namespace, due at `due`: Namespaces take turns.
    pub(crate) fn note_elsewhere(&mut self, due: DateTime<Utc>, request: &Request) {
        let before = self.between(due, request).len();
        self.before = self.before.max(before);
    }

    /// Records one request in the same Namespace, where requests are first come, first served: each object of
    /// the faulty fleet might be before it, once.
    pub(crate) fn note_beside(&mut self, due: DateTime<Utc>, request: &Request) {
        let between = self.between(due, request);
        let waited: BTreeSet<_> = between.iter().map(|each| each.1).collect();
        self.before = self.before.max(between.len() - waited.len());
    }

    fn between(&self, due: DateTime<Utc>, request: &Request) -> &[(i64, &'r str)] {
        let until = |micros: i64| self.arrived.partition_point(|each| each.0 < micros);
        let (from, to) = (until(due.timestamp_micros()), until(request.received));
        self.arrived.get(from..to).unwrap_or_default()
    }

    /// Returns the maximum number of requests before that of a due object. Panics if it is larger than
    /// [`MAX_BEFORE`].
    pub(crate) fn most_before(&self) -> usize {
        let before = self.before;
        assert!(
            before <= MAX_BEFORE,
            "{before} requests of the faulty fleet came before that of a due object, more than {MAX_BEFORE}"
        );
        before
    }
}
