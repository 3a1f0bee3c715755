//! The requests in flight, each in a slot of its class.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use crate::{ids::RequestId, object::work::Class, outbox::Slots};

/// A write that takes longer is slow: it frees its slot and continues in a slot of the slow class.
pub(crate) const SLOW: Duration = Duration::from_secs(1);

/// The requests in flight, each with its purpose.
///
/// A write occupies a slot of its class for at most a second. Then it moves to the slow class, and if
/// that is full, the oldest slow request is aborted. So an admission webhook that hangs delays writes
/// to other objects by at most a second.
pub(crate) struct Flight<A> {
    requests: HashMap<RequestId, InFlightRequest<A>>,
    /// When each write that is not slow yet was sent. May contain writes that have ended.
    started: VecDeque<(Duration, RequestId)>,
    /// The slow requests, the oldest first.
    slow: VecDeque<RequestId>,
    max_slow: usize,
    slots: Slots,
    last_id: RequestId,
}

struct InFlightRequest<A> {
    class: Class,
    namespace: Arc<str>,
    purpose: A,
}

impl<A> Flight<A> {
    /// Creates the table without requests. At most `max_slow` requests of the slow class are kept.
    pub(crate) fn new(max_slow: usize) -> Self {
        Self {
            requests: HashMap::new(),
            started: VecDeque::new(),
            slow: VecDeque::new(),
            max_slow,
            slots: Slots::default(),
            last_id: 0,
        }
    }

    /// Adds a request that is sent at `now`, in a slot of its class.
    pub(crate) fn begin(
        &mut self,
        class: Class,
        namespace: &Arc<str>,
        purpose: A,
        now: Duration,
    ) -> RequestId {
        self.last_id += 1;
        let id = self.last_id;
        self.slots.take(class, namespace);
        let request = InFlightRequest {
            class,
            namespace: namespace.clone(),
            purpose,
        };
        self.requests.insert(id, request);
        match class {
            Class::Slow => self.slow.push_back(id),
            Class::Transition | Class::Adoption => self.started.push_back((now, id)),
            // These keep their slots if they are slow, because only requests of the same class wait for
            // the slots.
            Class::Event | Class::Managers | Class::NotReady | Class::Jobs | Class::Server => {}
        }
        id
    }

    /// Removes a request and returns its purpose; `None` if it was aborted before.
    pub(crate) fn end(&mut self, id: RequestId) -> Option<A> {
        let request = self.requests.remove(&id)?;
        self.slots.free(request.class, &request.namespace);
        if request.class == Class::Slow {
            self.slow.retain(|slow| *slow != id);
        }
        Some(request.purpose)
    }

    /// Moves writes that have been in flight for longer than [`SLOW`] to the slow class. If it becomes too
    /// full, returns its oldest request, which should be aborted before the next call.
    pub(crate) fn mark_slow(&mut self, now: Duration) -> Option<RequestId> {
        loop {
            let (begun, id) = self.started.front().copied()?;
            let Some(request) = self.requests.get_mut(&id) else {
                self.started.pop_front(); // The write has ended.
                continue;
            };
            if now < begun + SLOW {
                return None;
            }
            self.started.pop_front();
            let class = std::mem::replace(&mut request.class, Class::Slow);
            let namespace = request.namespace.clone();
            self.slots.free(class, &namespace);
            self.slots.take(Class::Slow, &namespace);
            self.slow.push_back(id);
            if self.slow.len() > self.max_slow {
                return self.slow.front().copied();
            }
        }
    }

    /// When the next request becomes slow.
    pub(crate) fn next_slow(&self) -> Option<Duration> {
        self.started.front().map(|(begun, _)| *begun + SLOW)
    }

    pub(crate) const fn slots(&self) -> &Slots {
        &self.slots
    }

    /// The purpose of a request in flight.
    #[cfg(test)]
    pub(crate) fn purpose(&self, id: RequestId) -> Option<&A> {
        self.requests.get(&id).map(|request| &request.purpose)
    }

    /// How many requests are in flight, of every class.
    pub(crate) fn len(&self) -> usize {
        self.requests.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(flight: &mut Flight<&'static str>, purpose: &'static str, at: u64) -> RequestId {
        let now = Duration::from_secs(at);
        flight.begin(Class::Transition, &"dev".into(), purpose, now)
    }

    #[test]
    fn a_slow_request_frees_its_slot_and_the_oldest_slow_request_is_aborted() {
        let mut flight = Flight::new(2);
        let ids: Vec<_> = [("a", 0), ("b", 0), ("c", 1)]
            .map(|(purpose, at)| begin(&mut flight, purpose, at))
            .into();
        assert_eq!(flight.slots().taken(Class::Transition), 3);
        assert_eq!(flight.next_slow(), Some(SLOW));
        let early = Duration::from_millis(999);
        assert_eq!(flight.mark_slow(early), None);
        assert_eq!(flight.slots().taken(Class::Slow), 0);
        assert_eq!(flight.mark_slow(SLOW), None);
        assert_eq!(flight.slots().taken(Class::Slow), 2);
        assert_eq!(flight.mark_slow(2 * SLOW), Some(ids[0]));
        assert_eq!(flight.end(ids[0]), Some("a"));
        assert_eq!(
            flight.end(ids[0]),
            None,
            "the response to an aborted request is ignored"
        );
        for id in &ids[1..] {
            assert!(flight.end(*id).is_some());
        }
        assert_eq!((flight.len(), flight.slots().taken(Class::Slow)), (0, 0));
    }
}
