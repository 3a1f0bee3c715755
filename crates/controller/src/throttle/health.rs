//! Finds out from several failures whether the server is unavailable or only requests about some objects
//! fail. Used if a single response does not show that.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use crate::ids::Id;

/// The timeout of a request of `dayshift_cluster::Writer`.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// If requests about this many objects of more than one namespace fail, the server is at fault.
const MANY: usize = 16;

/// The failures since the last response of the server.
#[derive(Debug, Default)]
pub(super) struct Health {
    responded: Option<Duration>,
    /// The objects whose requests have failed since then: at most [`MANY`].
    failed: BTreeSet<Id>,
    /// The namespaces of those objects: at most two.
    namespaces: BTreeSet<Arc<str>>,
    /// Objects without a usable response since then: at most two.
    without_response: BTreeSet<Id>,
    /// Whether a probe is in flight.
    is_probing: bool,
}

/// Whether the server has responded to a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProbeResult {
    Response,
    NoResponse,
}

impl Health {
    /// Records that the server has responded.
    pub(super) fn responded(&mut self, now: Duration) {
        self.responded = Some(now);
        self.failed.clear();
        self.namespaces.clear();
        self.without_response.clear();
    }

    /// Records that a request about an object has failed. Returns whether the server is at fault:
    /// requests about many objects have failed since its last response.
    pub(super) fn record_failure(&mut self, id: Id, namespace: &Arc<str>) -> bool {
        if self.failed.len() < MANY {
            self.failed.insert(id);
        }
        if self.namespaces.len() < 2 {
            self.namespaces.insert(namespace.clone());
        }
        self.failed.len() >= MANY && self.namespaces.len() > 1
    }

    /// Records that a request about an object got no usable response. Returns whether the server is
    /// considered unavailable: requests about at least two objects got none, and there was no response
    /// at all for
    /// [`REQUEST_TIMEOUT`]. One object is not enough, regardless of the duration.
    pub(super) fn record_no_response(&mut self, id: Id, now: Duration) -> bool {
        if self.without_response.len() < 2 {
            self.without_response.insert(id);
        }
        self.without_response.len() > 1 && self.is_silent(now)
    }

    /// Records that a request has timed out. Returns whether a probe should be sent, because there was
    /// no response for [`REQUEST_TIMEOUT`]. Timeouts by themselves do not show that the server is
    /// unavailable, because an admission webhook that hangs can cause any number of them.
    pub(super) fn start_probe(&mut self, now: Duration) -> bool {
        let starts = !self.is_probing && self.is_silent(now);
        self.is_probing |= starts;
        starts
    }

    /// Records the end of a probe.
    pub(super) const fn end_probe(&mut self, result: ProbeResult, now: Duration) {
        self.is_probing = false;
        if matches!(result, ProbeResult::Response) {
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
    fn the_server_is_unavailable_if_two_objects_get_no_response_and_there_is_no_other() {
        let (mut health, begun) = (Health::default(), Duration::ZERO);
        assert!(
            !health.record_no_response(id(1), begun) && !health.record_no_response(id(1), begun)
        );
        assert!(health.record_no_response(id(2), begun));
        health.remove(id(1));
        assert!(
            !health.record_no_response(id(2), begun),
            "no other object has timed out"
        );
        health.responded(begun);
        assert!(
            !health.record_no_response(id(2), begun) && !health.record_no_response(id(3), begun)
        );
        assert!(health.record_no_response(id(3), begun + REQUEST_TIMEOUT));
    }

    #[test]
    fn one_probe_at_a_time_is_sent_while_the_server_does_not_respond() {
        let (mut health, begun) = (Health::default(), Duration::ZERO);
        assert!(health.start_probe(begun) && !health.start_probe(begun));
        health.end_probe(ProbeResult::NoResponse, begun);
        assert!(health.start_probe(begun));
        health.end_probe(ProbeResult::Response, begun);
        assert!(!health.start_probe(begun), "the server has just responded");
        assert!(health.start_probe(begun + REQUEST_TIMEOUT));
    }

    /// Whether the server is at fault after requests about these objects of two namespaces have failed,
    /// with a response between `before` and `after`.
    fn is_server_at_fault(before: &[u32], after: &[u32]) -> bool {
        let mut health = Health::default();
        let namespaces = [Arc::from("a"), Arc::from("b")];
        let fail = |health: &mut Health, ids: &[u32]| {
            ids.iter().fold(false, |_, number| {
                health.record_failure(id(*number), &namespaces[usize::from(*number > 100)])
            })
        };
        let is_at_fault = fail(&mut health, before);
        if after.is_empty() {
            return is_at_fault;
        }
        health.responded(Duration::ZERO);
        fail(&mut health, after)
    }

    #[test]
    fn the_server_is_at_fault_if_many_objects_of_two_namespaces_fail_without_a_response() {
        let many: Vec<u32> = (93..109).collect();
        assert!(is_server_at_fault(&many, &[]));
        assert!(
            !is_server_at_fault(&many[1..], &[]),
            "too few objects have failed"
        );
        let of_one_namespace: Vec<u32> = (1..100).collect();
        assert!(
            !is_server_at_fault(&of_one_namespace, &[]),
            "all objects are in one namespace"
        );
        assert!(
            !is_server_at_fault(&[1, 101].repeat(50), &[]),
            "only two objects have failed"
        );
        assert!(
            !is_server_at_fault(&many[..8], &many[8..]),
            "the server responded between the failures"
        );
    }
}
