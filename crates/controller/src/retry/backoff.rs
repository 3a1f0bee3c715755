//! The one back-off of the controller: what waits after a failure, and until when.

use std::{
    collections::{BTreeSet, HashMap},
    ops::Bound,
    sync::Arc,
    time::Duration,
};

use dayshift_cluster::delays::Delays;
use dayshift_workload::{Kind, WorkloadRef};
use tokio::time::Instant;

use crate::{ids::Id, time::scheduler::Scheduler};

/// The subject of a failure. A request may be sent when none of its keys is held.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Key {
    /// All requests about objects.
    Server,
    /// The objects of a kind in a namespace, while the permission to patch them is missing.
    Permission(Kind, Arc<str>),
    /// One object.
    Object(Id),
    /// All Events.
    Events,
    /// The Events of one namespace.
    EventNamespace(Arc<str>),
}

impl Key {
    /// The permission to patch this object.
    pub(crate) fn permission(object: &WorkloadRef) -> Self {
        Self::Permission(object.kind, object.namespace.clone())
    }
}

/// A key that nothing waits for is forgotten this long after its last hold, so that namespaces that
/// come and go leave nothing behind.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60);

/// The keys that are held, and until when.
pub(crate) struct Backoff {
    holds: HashMap<Key, Hold>,
    /// When each hold ends, or its key is forgotten.
    ends: Scheduler<Key, Instant>,
    /// The permission for which each of these objects waits, or asks.
    waits: HashMap<Id, Key>,
    /// Objects that were let through while others of their permission were refused: a Role may name
    /// objects, and those do not wait for the rest.
    granted: BTreeSet<Id>,
    random: fastrand::Rng,
}

/// The state of one key.
struct Hold {
    failures: u32,
    until: Instant,
    /// The objects that wait for it, in order, so that equal runs give equal results.
    waiting: BTreeSet<Id>,
    /// The object that was let through when the hold ended, and has had no answer yet.
    probe: Option<Id>,
    /// The object that was let through last.
    turn: Id,
}

impl Hold {
    fn new(now: Instant) -> Self {
        Self {
            failures: 0,
            until: now,
            waiting: BTreeSet::new(),
            probe: None,
            turn: 0,
        }
    }

    /// Lets one object through, each in its turn: an answer to one need not hold for all.
    fn let_one_through(&mut self) -> Option<Id> {
        if self.probe.is_none() {
            let mut later = self
                .waiting
                .range((Bound::Excluded(self.turn), Bound::Unbounded));
            let next = later.next().or(self.waiting.first()).copied()?;
            self.waiting.remove(&next);
            self.turn = next;
            self.probe = Some(next);
            return Some(next);
        }
        None
    }
}

impl Backoff {
    /// Nothing is held back. The seed is that of the jitter.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            holds: HashMap::new(),
            ends: Scheduler::new(),
            waits: HashMap::new(),
            granted: BTreeSet::new(),
            random: fastrand::Rng::with_seed(seed),
        }
    }

    /// Holds a key after a failure, for at least as long as the server asked. Requests that were
    /// under way together fail together: returns false if this is no new failure.
    pub(crate) fn fail(
        &mut self,
        key: Key,
        delays: &Delays,
        retry_after: Option<Duration>,
        now: Instant,
    ) -> bool {
        let hold = self
            .holds
            .entry(key.clone())
            .or_insert_with(|| Hold::new(now));
        let is_counted = now >= hold.until;
        if is_counted {
            hold.failures = hold.failures.saturating_add(1);
        }
        let delay = delays.delay(hold.failures, &mut self.random);
        let delay = delay.max(retry_after.unwrap_or_default());
        hold.until = hold.until.max(now + delay);
        self.ends.set(key, hold.until);
        is_counted
    }

    /// The server has answered. A pause that it asked for still counts: the answer may be to an
    /// earlier request.
    pub(crate) fn succeed(&mut self, key: &Key, now: Instant) {
        match self.holds.get_mut(key) {
            Some(hold) if now < hold.until => hold.failures = 0,
            Some(_) => self.clear(key),
            None => {}
        }
    }

    /// Releases a key.
    pub(crate) fn clear(&mut self, key: &Key) {
        if self.holds.remove(key).is_some() {
            self.ends.cancel(key);
        }
    }

    /// The permission to patch an object is missing: it waits with the others of its kind and
    /// namespace, and one of them asks at a time. Returns how many times in a row it was missing.
    pub(crate) fn forbid(&mut self, object: &WorkloadRef, id: Id, now: Instant) -> u32 {
        let key = Key::permission(object);
        self.granted.remove(&id);
        if let Some(hold) = self.holds.get_mut(&key) {
            hold.probe = hold.probe.filter(|probe| *probe != id);
        }
        let is_asked = self
            .holds
            .get(&key)
            .is_some_and(|hold| hold.probe.is_some());
        if !is_asked {
            self.fail(key.clone(), &Delays::FORBIDDEN, None, now);
        }
        let Some(hold) = self.holds.get_mut(&key) else {
            return 0;
        };
        hold.waiting.insert(id);
        self.waits.insert(id, key);
        hold.failures
    }

    /// A patch of this object was not forbidden. Returns the objects that waited for that; `None`
    /// if the permission was not missing.
    pub(crate) fn permit(&mut self, object: &WorkloadRef, id: Id) -> Option<BTreeSet<Id>> {
        if self.waits.is_empty() || self.granted.contains(&id) {
            return None;
        }
        let key = Key::permission(object);
        let hold = self.holds.remove(&key)?;
        self.ends.cancel(&key);
        self.granted.insert(id);
        let mut released = hold.waiting;
        released.extend(hold.probe);
        for released in &released {
            self.waits.remove(released);
        }
        self.waits.remove(&id);
        released.remove(&id);
        Some(released)
    }

    /// Whether the permission allows a patch of an object now; otherwise the object waits.
    pub(crate) fn admit(&mut self, object: &WorkloadRef, id: Id) -> bool {
        if self.waits.is_empty() || self.granted.contains(&id) {
            return true;
        }
        let key = Key::permission(object);
        match self.holds.get_mut(&key) {
            Some(hold) if hold.probe != Some(id) => {
                hold.waiting.insert(id);
                self.waits.insert(id, key);
                false
            }
            _ => true,
        }
    }

    /// Takes one object to be tried again now.
    pub(crate) fn take_released(&mut self, now: Instant) -> Option<Id> {
        while let Some((key, _)) = self.ends.take_due(now) {
            let Some(hold) = self.holds.get_mut(&key) else {
                continue;
            };
            match &key {
                Key::Object(id) => return Some(*id),
                Key::Permission(..) => {
                    if let Some(id) = hold.let_one_through() {
                        return Some(id);
                    }
                }
                Key::Server | Key::Events | Key::EventNamespace(_) => {
                    let forgotten = hold.until + FORGOTTEN_AFTER;
                    if now < forgotten {
                        self.ends.set(key, forgotten);
                    } else {
                        self.holds.remove(&key);
                    }
                }
            }
        }
        None
    }

    /// This object has nothing to ask for, and no failures: lets the next one that waits for the
    /// same permission through in its place.
    pub(crate) fn withdraw(&mut self, id: Id) {
        self.clear(&Key::Object(id));
        let Some(key) = self.waits.remove(&id) else {
            return;
        };
        let Some(hold) = self.holds.get_mut(&key) else {
            return;
        };
        hold.waiting.remove(&id);
        hold.probe = hold.probe.filter(|probe| *probe != id);
        if hold.probe.is_some() {
            return;
        }
        if hold.waiting.is_empty() {
            self.clear(&key);
        } else {
            let until = hold.until;
            self.ends.set(key, until);
        }
    }

    /// Forgets an object.
    pub(crate) fn remove(&mut self, id: Id) {
        self.granted.remove(&id);
        self.withdraw(id);
    }

    /// Until when a key is held, or was.
    pub(crate) fn until(&self, key: &Key) -> Option<Instant> {
        self.holds.get(key).map(|hold| hold.until)
    }

    /// Whether a key is held now.
    pub(crate) fn is_held(&self, key: &Key, now: Instant) -> bool {
        self.until(key).is_some_and(|until| now < until)
    }

    /// How many times in a row requests of a key have failed.
    pub(crate) fn failures(&self, key: &Key) -> u32 {
        self.holds.get(key).map_or(0, |hold| hold.failures)
    }

    /// Whether no permission is missing, as far as is known.
    pub(crate) fn has_every_permission(&self) -> bool {
        self.waits.is_empty()
    }

    /// When the next hold ends, or a key is forgotten.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.ends.next()
    }

    /// How many records all keys take together.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        let of_objects = self.waits.len() + self.granted.len();
        self.holds.len() + self.ends.len() + of_objects
    }
}
