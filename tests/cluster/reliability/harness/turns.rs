//! The order in which requests arrived at the API server.
//!
//! A slow machine makes everything late, but it changes no order. Waiting behind another
//! namespace's queue is visible here on any machine, with its length.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use crate::support::Request;

/// The maximum number of requests of the faulty fleet between another object's due time and its
/// stop: those that had slots already (`--max-in-flight`), and as many again that share the turns
/// with it.
const MAX_BEFORE: usize = 64;

/// The requests of the faulty fleet that arrived after another object's due time and before its
/// request.
pub(crate) struct Turns<'r> {
    /// When the requests of the faulty fleet arrived, in microseconds since 1970, in order, and for
    /// which object.
    arrived: Vec<(i64, &'r str)>,
    /// The maximum number that came first.
    before: usize,
}

impl<'r> Turns<'r> {
    /// All requests of the faulty fleet that are answered by now.
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

    /// Records one request in the same Namespace, which is first come, first served, so that each
    /// object of the faulty fleet might have waited already, once.
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

    /// The maximum number that came before any of those, which must be small.
    pub(crate) fn few(&self) -> usize {
        let before = self.before;
        assert!(
            before <= MAX_BEFORE,
            "{before} requests of the trouble came before one that was due, more than {MAX_BEFORE}"
        );
        before
    }
}
