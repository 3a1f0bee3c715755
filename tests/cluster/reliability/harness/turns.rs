//! Whose turn it was: the order in which requests arrived at the API server.
//!
//! A slow machine makes everything late, but it changes no order. What waits behind somebody else's
//! queue shows here on any machine, and by how much.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use crate::support::Request;

/// How many requests of the trouble may come between somebody else's instant and the stop that is due
/// then: what had places already (`--max-in-flight`), and as many again that share the turns with it.
const MAX_BEFORE: usize = 64;

/// Those of the trouble that arrived after somebody else's instant and before what was due then.
pub(crate) struct Turns<'r> {
    /// When the requests of the trouble arrived, in microseconds since 1970, in order, and for what.
    arrived: Vec<(i64, &'r str)>,
    /// The most that came first.
    before: usize,
}

impl<'r> Turns<'r> {
    /// Of the trouble's own requests, all that were answered by now.
    pub(crate) fn of(trouble: &'r [Request]) -> Self {
        let requests = trouble.iter().map(|each| (each.received, &*each.name));
        let mut arrived: Vec<_> = requests.collect();
        arrived.sort_unstable();
        Self { arrived, before: 0 }
    }

    /// Takes note of one request in another Namespace, for what was due at `due`: Namespaces take
    /// turns.
    pub(crate) fn note_elsewhere(&mut self, due: DateTime<Utc>, request: &Request) {
        let before = self.between(due, request).len();
        self.before = self.before.max(before);
    }

    /// Takes note of one in the same Namespace: there it is first come, first served, so that each
    /// object of the trouble may have waited already, once.
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

    /// How many came before any of those, which have to be few.
    pub(crate) fn few(&self) -> usize {
        let before = self.before;
        assert!(
            before <= MAX_BEFORE,
            "{before} requests of the trouble came before one that was due, more than {MAX_BEFORE}"
        );
        before
    }
}
