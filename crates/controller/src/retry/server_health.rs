//! Whose failure it is, if the answer does not say: one object's, or the server's.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use tokio::time::Instant;

use crate::ids::Id;

/// The time limit of one request (`cluster::Writer`).
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// If this many different objects of more than one namespace fail, the server is at fault.
const MANY: usize = 16;

/// Failures since the server last did what it was asked.
#[derive(Debug, Default)]
pub(crate) struct ServerHealth {
    answered: Option<Instant>,
    /// The objects that have failed since then, and their namespaces: only as many as decide.
    failed: BTreeSet<Id>,
    namespaces: BTreeSet<Arc<str>>,
    /// The first two objects without a usable answer since then.
    unanswered: BTreeSet<Id>,
    /// Whether a request that passes no admission is under way.
    is_probed: bool,
}

impl ServerHealth {
    /// The server has answered.
    pub(crate) fn record_answer(&mut self, now: Instant) {
        self.answered = Some(now);
        self.failed.clear();
        self.namespaces.clear();
        self.unanswered.clear();
    }

    /// The server has failed to do what it was asked about one object. Returns whether the server
    /// is at fault: many others have failed too since its last answer.
    pub(crate) fn record_failure(&mut self, id: Id, namespace: &Arc<str>) -> bool {
        if self.failed.len() < MANY {
            self.failed.insert(id);
        }
        if self.namespaces.len() < 2 {
            self.namespaces.insert(namespace.clone());
        }
        self.failed.len() >= MANY && self.namespaces.len() > 1
    }

    /// An object has got no usable answer. Returns whether the server counts as away: others have
    /// got none either, and it has answered nothing for the time of one request. One object alone
    /// says nothing about the server, however long it lasts.
    pub(crate) fn record_unanswered(&mut self, id: Id, now: Instant) -> bool {
        if self.unanswered.len() < 2 {
            self.unanswered.insert(id);
        }
        self.unanswered.len() > 1 && self.is_silent(now)
    }

    /// A request has timed out. Returns whether to send the server a request that passes no
    /// admission, because it has answered nothing for the time of one request: a webhook that hangs
    /// says nothing about the server, for however many objects.
    pub(crate) fn start_probe(&mut self, now: Instant) -> bool {
        let starts = !self.is_probed && self.is_silent(now);
        self.is_probed |= starts;
        starts
    }

    /// The probe was answered, or not.
    pub(crate) const fn end_probe(&mut self, has_answered: bool, now: Instant) {
        self.is_probed = false;
        if has_answered {
            self.answered = Some(now);
        }
    }

    /// Forgets an object.
    pub(crate) fn remove(&mut self, id: Id) {
        self.unanswered.remove(&id);
    }

    fn is_silent(&self, now: Instant) -> bool {
        self.answered
            .is_none_or(|answered| now >= answered + REQUEST_TIMEOUT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_away_where_two_objects_get_no_answer_and_nothing_else_does() {
        let (mut health, begun) = (ServerHealth::default(), Instant::now());
        assert!(!health.record_unanswered(1, begun) && !health.record_unanswered(1, begun));
        assert!(health.record_unanswered(2, begun));
        health.remove(1);
        assert!(!health.record_unanswered(2, begun), "it is alone now");
        health.record_answer(begun);
        assert!(!health.record_unanswered(2, begun) && !health.record_unanswered(3, begun));
        assert!(health.record_unanswered(3, begun + REQUEST_TIMEOUT));
    }

    #[test]
    fn one_probe_at_a_time_asks_a_server_that_is_silent() {
        let (mut health, begun) = (ServerHealth::default(), Instant::now());
        assert!(health.start_probe(begun) && !health.start_probe(begun));
        health.end_probe(false, begun);
        assert!(health.start_probe(begun));
        health.end_probe(true, begun);
        assert!(!health.start_probe(begun), "it has answered");
        assert!(health.start_probe(begun + REQUEST_TIMEOUT));
    }

    /// Whether the last of these objects, of two namespaces, fails because of the server, with an
    /// answer before the objects of `after`.
    fn is_servers(before: &[Id], after: &[Id]) -> bool {
        let mut health = ServerHealth::default();
        let namespaces = [Arc::from("a"), Arc::from("b")];
        let fail = |health: &mut ServerHealth, ids: &[Id]| {
            ids.iter().fold(false, |_, id| {
                health.record_failure(*id, &namespaces[usize::from(*id > 100)])
            })
        };
        let is_servers = fail(&mut health, before);
        if after.is_empty() {
            return is_servers;
        }
        health.record_answer(Instant::now());
        fail(&mut health, after)
    }

    #[test]
    fn failures_are_the_server_s_where_many_fail_and_nothing_succeeds() {
        let many: Vec<Id> = (93..109).collect();
        assert!(is_servers(&many, &[]));
        assert!(!is_servers(&many[1..], &[]), "these are too few");
        assert!(
            !is_servers(&(1..100).collect::<Vec<_>>(), &[]),
            "one namespace"
        );
        assert!(
            !is_servers(&[1, 101].repeat(50), &[]),
            "the same two again and again"
        );
        assert!(
            !is_servers(&many[..8], &many[8..]),
            "an answer lies between"
        );
    }
}
