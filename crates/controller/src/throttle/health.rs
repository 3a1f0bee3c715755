//! Whose failure it is, if the response does not show that: one object's, or the server's.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use crate::ids::Id;

/// The time limit of one request (`cluster::Writer`).
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// If this many different objects of more than one namespace fail, the server is at fault.
const MANY: usize = 16;

/// Failures since the last response.
#[derive(Debug, Default)]
pub(super) struct Health {
    responded: Option<Duration>,
    /// The objects that have failed since then, and their namespaces: only as many as decide.
    failed: BTreeSet<Id>,
    namespaces: BTreeSet<Arc<str>>,
    /// The first two objects without a usable response since then.
    without_response: BTreeSet<Id>,
    /// Whether a request that passes no admission is under way.
    is_probed: bool,
}

impl Health {
    /// The server has responded.
    pub(super) fn responded(&mut self, now: Duration) {
        self.responded = Some(now);
        self.failed.clear();
        self.namespaces.clear();
        self.without_response.clear();
    }

    /// A request about one object has failed. Returns whether the server is at fault: many others
    /// have failed too since its last response.
    pub(super) fn failed(&mut self, id: Id, namespace: &Arc<str>) -> bool {
        if self.failed.len() < MANY {
            self.failed.insert(id);
        }
        if self.namespaces.len() < 2 {
            self.namespaces.insert(namespace.clone());
        }
        self.failed.len() >= MANY && self.namespaces.len() > 1
    }

    /// A request about one object got no usable response. Returns whether the server counts as away:
    /// others got none either, and there was no response at all for the time of one request. One
    /// object does not show that, however long it lasts.
    pub(super) fn not_served(&mut self, id: Id, now: Duration) -> bool {
        if self.without_response.len() < 2 {
            self.without_response.insert(id);
        }
        self.without_response.len() > 1 && self.is_silent(now)
    }

    /// A request has timed out. Returns whether to send the server a request that passes no
    /// admission, because there was no response for the time of one request: a webhook that hangs
    /// does not show that the server is away, for however many objects.
    pub(super) fn start_probe(&mut self, now: Duration) -> bool {
        let starts = !self.is_probed && self.is_silent(now);
        self.is_probed |= starts;
        starts
    }

    /// The probe has ended, with a response or without.
    pub(super) const fn end_probe(&mut self, has_responded: bool, now: Duration) {
        self.is_probed = false;
        if has_responded {
            self.responded = Some(now);
        }
    }

    /// Forgets an object.
    pub(super) fn remove(&mut self, id: Id) {
        self.without_response.remove(&id);
    }

    fn is_silent(&self, now: Duration) -> bool {
        self.responded
            .is_none_or(|responded| now >= responded + REQUEST_TIMEOUT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> Id {
        Id::new(number)
    }

    #[test]
    fn a_server_is_away_if_two_objects_and_nothing_else_get_no_response() {
        let (mut health, begun) = (Health::default(), Duration::ZERO);
        assert!(!health.not_served(id(1), begun) && !health.not_served(id(1), begun));
        assert!(health.not_served(id(2), begun));
        health.remove(id(1));
        assert!(!health.not_served(id(2), begun), "it is the only one now");
        health.responded(begun);
        assert!(!health.not_served(id(2), begun) && !health.not_served(id(3), begun));
        assert!(health.not_served(id(3), begun + REQUEST_TIMEOUT));
    }

    #[test]
    fn one_probe_at_a_time_asks_a_server_that_is_silent() {
        let (mut health, begun) = (Health::default(), Duration::ZERO);
        assert!(health.start_probe(begun) && !health.start_probe(begun));
        health.end_probe(false, begun);
        assert!(health.start_probe(begun));
        health.end_probe(true, begun);
        assert!(!health.start_probe(begun), "it has responded");
        assert!(health.start_probe(begun + REQUEST_TIMEOUT));
    }

    /// Whether the last of these objects, of two namespaces, fails because of the server, with a
    /// response before the objects of `after`.
    fn is_servers(before: &[u32], after: &[u32]) -> bool {
        let mut health = Health::default();
        let namespaces = [Arc::from("a"), Arc::from("b")];
        let fail = |health: &mut Health, ids: &[u32]| {
            ids.iter().fold(false, |_, number| {
                health.failed(id(*number), &namespaces[usize::from(*number > 100)])
            })
        };
        let is_servers = fail(&mut health, before);
        if after.is_empty() {
            return is_servers;
        }
        health.responded(Duration::ZERO);
        fail(&mut health, after)
    }

    #[test]
    fn failures_are_the_server_s_if_many_fail_and_nothing_succeeds() {
        let many: Vec<u32> = (93..109).collect();
        assert!(is_servers(&many, &[]));
        assert!(!is_servers(&many[1..], &[]), "these are too few");
        let of_one_namespace: Vec<u32> = (1..100).collect();
        assert!(!is_servers(&of_one_namespace, &[]), "one namespace");
        assert!(!is_servers(&[1, 101].repeat(50), &[]), "the same two again");
        assert!(!is_servers(&many[..8], &many[8..]), "a response between");
    }
}
