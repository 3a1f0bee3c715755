//! Whose turn it was: the order in which requests arrived at the API server.
//!
//! A slow machine makes everything late, but it changes no order. What waits behind somebody else's
//! queue shows here on any machine, and by how much.

use chrono::{DateTime, Utc};

use crate::support::Request;

/// How many requests of the trouble may come between somebody else's instant and the stop that is due
/// then: what had places already (`--max-in-flight`), and as many again that share the turns with it.
const MOST: usize = 64;

/// Those of the trouble that arrived after somebody else's instant and before what was due then.
pub(crate) struct Turns {
    /// When the requests of the trouble arrived, in order, in microseconds since 1970.
    arrived: Vec<i64>,
    /// The most that came first.
    before: usize,
}

impl Turns {
    /// Of the trouble's own requests, all that were answered by now.
    pub(crate) fn of(trouble: &[Request]) -> Self {
        let mut arrived: Vec<i64> = trouble.iter().map(|each| each.received).collect();
        arrived.sort_unstable();
        Self { arrived, before: 0 }
    }

    /// Takes note of one request of somebody else, for what was due at `due`.
    pub(crate) fn note(&mut self, due: DateTime<Utc>, request: &Request) {
        let until = |micros: i64| self.arrived.partition_point(|each| *each < micros);
        let before = until(request.received).saturating_sub(until(due.timestamp_micros()));
        self.before = self.before.max(before);
    }

    /// How many came before any of those, which have to be few.
    pub(crate) fn few(&self) -> usize {
        let before = self.before;
        assert!(
            before <= MOST,
            "{before} requests of the trouble came before one that was due, more than {MOST}"
        );
        before
    }
}
