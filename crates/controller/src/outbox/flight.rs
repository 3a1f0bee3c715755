//! The requests in flight, each in a slot of its class.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use crate::{
    ids::RequestId,
    object::work::Class,
    outbox::slots::{Limits, Slots},
};

/// A request that takes longer gives its slot up, and continues in a slow one.
pub(crate) const SLOW: Duration = Duration::from_secs(1);

/// The requests in flight, each with its purpose.
///
/// No write takes a slot from others for longer than a second: then it becomes slow, and if there are
/// too many slow ones, the oldest of them is given up. An admission webhook that hangs so costs its
/// own objects their responses, and others at most a second.
pub(crate) struct Flight<A> {
    requests: HashMap<RequestId, Underway<A>>,
    /// Since when each write is in flight; ended ones may be among them.
    young: VecDeque<(Duration, RequestId)>,
    /// The slow ones, the oldest first.
    slow: VecDeque<RequestId>,
    max_slow: usize,
    slots: Slots,
    last_id: RequestId,
}

struct Underway<A> {
    class: Class,
    namespace: Arc<str>,
    about: A,
}

impl<A> Flight<A> {
    /// No requests yet, with slots for this many slow ones.
    pub(crate) fn new(max_slow: usize) -> Self {
        Self {
            requests: HashMap::new(),
            young: VecDeque::new(),
            slow: VecDeque::new(),
            max_slow,
            slots: Slots::default(),
            last_id: 0,
        }
    }

    /// Begins a request, which takes a slot of its class.
    pub(crate) fn begin(
        &mut self,
        class: Class,
        namespace: &Arc<str>,
        about: A,
        now: Duration,
    ) -> RequestId {
        self.last_id += 1;
        let id = self.last_id;
        self.slots.take(class, namespace);
        let underway = Underway {
            class,
            namespace: namespace.clone(),
            about,
        };
        self.requests.insert(id, underway);
        match class {
            Class::Slow => self.slow.push_back(id),
            Class::Transition | Class::Adoption => self.young.push_back((now, id)),
            // Only requests of the same class wait for their slots.
            Class::Event | Class::Managers | Class::NotReady | Class::Jobs | Class::Server => {}
        }
        id
    }

    /// Ends a request, and returns its purpose; `None` if it was given up.
    pub(crate) fn end(&mut self, id: RequestId) -> Option<A> {
        let request = self.requests.remove(&id)?;
        self.slots.free(request.class, &request.namespace);
        if request.class == Class::Slow {
            self.slow.retain(|slow| *slow != id);
        }
        Some(request.about)
    }

    /// Marks one request that has been in flight for too long as slow. Returns `None` if there is
    /// none, and otherwise the request that is given up for it, if any.
    pub(crate) fn release_slow_requests(&mut self, now: Duration) -> Option<Option<RequestId>> {
        let (begun, id) = self.young.front().copied()?;
        let request = self.requests.get_mut(&id);
        if request.is_some() && now < begun + SLOW {
            return None;
        }
        self.young.pop_front();
        let Some(request) = request else {
            return Some(None);
        };
        let class = std::mem::replace(&mut request.class, Class::Slow);
        let namespace = request.namespace.clone();
        self.slots.free(class, &namespace);
        self.slots.take(Class::Slow, &namespace);
        self.slow.push_back(id);
        let is_full = self.slow.len() > self.max_slow;
        Some(self.slow.front().copied().filter(|_| is_full))
    }

    /// When a request becomes slow.
    pub(crate) fn next_slow(&self) -> Option<Duration> {
        self.young.front().map(|(begun, _)| *begun + SLOW)
    }

    pub(crate) const fn slots(&self) -> &Slots {
        &self.slots
    }

    /// Whether one more request of the class may be in flight.
    pub(crate) const fn has_slot(&self, class: Class, limits: Limits) -> bool {
        self.slots.is_one_free(class, limits)
    }

    /// What a request is about.
    #[cfg(test)]
    pub(crate) fn about(&self, id: RequestId) -> Option<&A> {
        self.requests.get(&id).map(|request| &request.about)
    }

    /// How many requests are in flight, of every class.
    pub(crate) fn len(&self) -> usize {
        self.requests.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(flight: &mut Flight<&'static str>, about: &'static str, at: u64) -> RequestId {
        let now = Duration::from_secs(at);
        flight.begin(Class::Transition, &"dev".into(), about, now)
    }

    #[test]
    fn a_slow_request_frees_its_slot_and_the_oldest_slow_one_is_given_up() {
        let mut flight = Flight::new(2);
        let ids: Vec<_> = [("a", 0), ("b", 0), ("c", 1)]
            .map(|(about, at)| begin(&mut flight, about, at))
            .into();
        assert_eq!(flight.slots().taken(Class::Transition), 3);
        assert_eq!(flight.next_slow(), Some(SLOW));
        assert_eq!(
            flight.release_slow_requests(Duration::from_millis(999)),
            None
        );
        assert_eq!(flight.release_slow_requests(SLOW), Some(None));
        assert_eq!(flight.release_slow_requests(SLOW), Some(None));
        assert_eq!(flight.release_slow_requests(SLOW), None);
        assert_eq!(flight.slots().taken(Class::Slow), 2);
        assert_eq!(flight.release_slow_requests(2 * SLOW), Some(Some(ids[0])));
        assert_eq!(flight.end(ids[0]), Some("a"));
        assert_eq!(flight.end(ids[0]), None, "a late response");
        for id in &ids[1..] {
            assert!(flight.end(*id).is_some());
        }
        assert_eq!((flight.len(), flight.slots().taken(Class::Slow)), (0, 0));
    }
}
