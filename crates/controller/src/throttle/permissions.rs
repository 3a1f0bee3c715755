//! Missing permissions: one object asks at a time, for all of its kind and namespace.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ops::Bound,
    sync::Arc,
    time::Duration,
};

use dayshift_cluster::delays::Delays;
use dayshift_workload::{Kind, WorkloadRef};

use crate::{clock::guard::Now, ids::Id, object::work::Backoff};

/// The permission to patch the objects of a kind in a namespace.
pub(crate) type Permission = (Kind, Arc<str>);

/// The permission to patch this object.
pub(crate) fn permission(object: &WorkloadRef) -> Permission {
    (object.kind.clone(), object.namespace.clone())
}

/// The permissions that are missing, as far as is known.
#[derive(Default)]
pub(crate) struct Permissions {
    missing: BTreeMap<Permission, Missing>,
    /// The permission for which each of these objects waits, or asks.
    waits: HashMap<Id, Permission>,
    /// Objects that were permitted while others of their permission were forbidden: a Role may name
    /// objects, and those do not wait for the rest.
    granted: BTreeSet<Id>,
}

/// A missing permission, half-open when its hold ends.
#[derive(Default)]
struct Missing {
    backoff: Backoff,
    /// Whether an object may ask when the hold ends.
    is_armed: bool,
    /// The objects that wait for it, in order, so that equal runs give equal results.
    waiting: BTreeSet<Id>,
    /// The object that asks, and has no response yet.
    asks: Option<Id>,
    /// The object that asked last.
    turn: Id,
}

impl Missing {
    /// Lets the next object ask, each in its turn: a response to one need not hold for all.
    fn next_to_ask(&mut self) -> Option<Id> {
        if self.asks.is_some() {
            return None;
        }
        let mut later = self
            .waiting
            .range((Bound::Excluded(self.turn), Bound::Unbounded));
        let next = later.next().or(self.waiting.first()).copied()?;
        self.waiting.remove(&next);
        self.turn = next;
        self.asks = Some(next);
        Some(next)
    }

    fn next(&self) -> Option<Duration> {
        self.backoff.until().filter(|_| self.is_armed)
    }
}

impl Permissions {
    /// The permission to patch an object is missing: it waits with the others of its kind and
    /// namespace. Returns how many times in a row it was missing.
    pub(crate) fn forbid(
        &mut self,
        object: &WorkloadRef,
        id: Id,
        now: Now,
        random: &mut fastrand::Rng,
    ) -> u32 {
        let key = permission(object);
        self.granted.remove(&id);
        let missing = self.missing.entry(key.clone()).or_default();
        missing.asks = missing.asks.filter(|asks| *asks != id);
        if missing.asks.is_none() {
            missing.backoff.fail(&Delays::FORBIDDEN, None, now, random);
            missing.is_armed = true;
        }
        missing.waiting.insert(id);
        let failures = missing.backoff.failures();
        self.waits.insert(id, key);
        failures
    }

    /// A patch of this object was not forbidden. Returns the objects that waited for that; `None`
    /// if the permission was not missing.
    pub(crate) fn permit(&mut self, object: &WorkloadRef, id: Id) -> Option<BTreeSet<Id>> {
        if self.waits.is_empty() || self.granted.contains(&id) {
            return None;
        }
        let missing = self.missing.remove(&permission(object))?;
        self.granted.insert(id);
        let mut released = missing.waiting;
        released.extend(missing.asks);
        for released in &released {
            self.waits.remove(released);
        }
        self.waits.remove(&id);
        released.remove(&id);
        Some(released)
    }

    /// Whether a patch of an object may be sent now; otherwise the object waits for the permission.
    pub(crate) fn admits(&mut self, object: &WorkloadRef, id: Id) -> bool {
        if self.waits.is_empty() || self.granted.contains(&id) {
            return true;
        }
        let key = permission(object);
        match self.missing.get_mut(&key) {
            Some(missing) if missing.asks != Some(id) => {
                missing.waiting.insert(id);
                self.waits.insert(id, key);
                false
            }
            _ => true,
        }
    }

    /// Takes one object that may ask now.
    pub(crate) fn pop_due(&mut self, now: Now) -> Option<Id> {
        let due = |missing: &Missing| missing.next().is_some_and(|at| at <= now.elapsed);
        for missing in self.missing.values_mut().filter(|missing| due(missing)) {
            missing.is_armed = false;
            if let Some(id) = missing.next_to_ask() {
                return Some(id);
            }
        }
        None
    }

    /// When the next object may ask.
    pub(crate) fn next(&self) -> Option<Duration> {
        self.missing.values().filter_map(Missing::next).min()
    }

    /// This object has nothing to ask for: lets the next one that waits for the same permission ask
    /// in its place.
    pub(crate) fn withdraw(&mut self, id: Id) {
        let Some(key) = self.waits.remove(&id) else {
            return;
        };
        let Some(missing) = self.missing.get_mut(&key) else {
            return;
        };
        missing.waiting.remove(&id);
        missing.asks = missing.asks.filter(|asks| *asks != id);
        if missing.asks.is_some() {
            return;
        }
        if missing.waiting.is_empty() {
            self.missing.remove(&key);
        } else {
            missing.is_armed = true;
        }
    }

    /// Forgets an object.
    pub(crate) fn remove(&mut self, id: Id) {
        self.granted.remove(&id);
        self.withdraw(id);
    }

    /// Whether no permission is missing, as far as is known.
    pub(crate) fn has_all(&self) -> bool {
        self.waits.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    fn web(kind: &Kind, namespace: &str) -> WorkloadRef {
        WorkloadRef {
            kind: kind.clone(),
            namespace: namespace.into(),
            name: "web".into(),
            uid: "u".into(),
        }
    }

    fn dev() -> WorkloadRef {
        web(&Kind::DEPLOYMENT, "dev")
    }

    fn ids(numbers: impl IntoIterator<Item = u32>) -> BTreeSet<Id> {
        numbers.into_iter().map(Id::new).collect()
    }

    /// Permissions, and the time.
    struct GateState {
        permissions: Permissions,
        random: fastrand::Rng,
        now: Now,
    }

    impl GateState {
        fn new() -> Self {
            Self {
                permissions: Permissions::default(),
                random: fastrand::Rng::with_seed(1),
                now: Now {
                    wall: DateTime::UNIX_EPOCH,
                    elapsed: Duration::from_secs(100),
                    ahead: None,
                },
            }
        }

        fn forbid(&mut self, number: u32) -> u32 {
            let (id, now) = (Id::new(number), self.now);
            self.permissions.forbid(&dev(), id, now, &mut self.random)
        }

        fn admits(&mut self, number: u32) -> bool {
            self.permissions.admits(&dev(), Id::new(number))
        }

        fn permit(&mut self, number: u32) -> Option<BTreeSet<Id>> {
            self.permissions.permit(&dev(), Id::new(number))
        }

        /// The objects that may ask now.
        fn due(&mut self) -> Vec<Id> {
            std::iter::from_fn(|| self.permissions.pop_due(self.now)).collect()
        }

        /// Lets time pass until objects may ask.
        fn next_due(&mut self) -> Vec<Id> {
            self.now.elapsed = self.permissions.next().unwrap();
            self.due()
        }
    }

    #[test]
    fn a_permission_is_missing_for_one_kind_of_one_namespace() {
        let mut scene = GateState::new();
        assert!(scene.permissions.has_all());
        scene.forbid(1);
        assert!(!scene.permissions.has_all() && !scene.admits(2));
        let sets = web(&Kind::STATEFUL_SET, "dev");
        let prod = web(&Kind::DEPLOYMENT, "prod");
        assert!(scene.permissions.admits(&sets, Id::new(3)));
        assert!(scene.permissions.admits(&prod, Id::new(4)));
        assert_eq!(scene.permissions.permit(&sets, Id::new(3)), None);
        assert_eq!(scene.permit(9), Some(ids([1, 2])));
        assert!(scene.permissions.has_all() && scene.admits(5));
    }

    #[test]
    fn one_object_asks_at_a_time_each_in_its_turn() {
        let mut scene = GateState::new();
        // They were in flight together.
        for id in [1, 2, 3] {
            assert_eq!(scene.forbid(id), 1);
        }
        assert!(!scene.admits(4));
        for (failures, asks) in [(2, 1), (3, 2), (4, 3), (5, 4), (6, 1)] {
            assert_eq!(scene.next_due(), [Id::new(asks)]);
            assert!(scene.admits(asks) && !scene.admits(asks % 4 + 1));
            scene.now.elapsed += Duration::from_secs(60);
            assert_eq!(scene.due(), [], "until the response");
            assert_eq!(scene.forbid(asks), failures);
        }
        assert_eq!(scene.next_due(), [Id::new(2)]);
        assert_eq!(scene.permit(2), Some(ids([1, 3, 4])));
        assert_eq!(scene.permissions.next(), None);
    }

    #[test]
    fn an_object_with_nothing_to_ask_lets_the_next_one_ask() {
        let mut scene = GateState::new();
        for id in 1..=4 {
            scene.forbid(id);
        }
        scene.permissions.remove(Id::new(4));
        assert_eq!(scene.next_due(), [Id::new(1)]);
        scene.permissions.withdraw(Id::new(1));
        assert_eq!(scene.due(), [Id::new(2)], "at once");
        scene.permissions.remove(Id::new(2));
        assert_eq!(scene.due(), [Id::new(3)]);
        scene.permissions.remove(Id::new(3));
        assert!(scene.permissions.has_all(), "nothing asks for it");
        assert_eq!(scene.permissions.next(), None);
    }

    /// The Role names only the first one.
    #[test]
    fn an_object_that_is_permitted_by_name_does_not_wait_for_the_others() {
        let mut scene = GateState::new();
        scene.forbid(2);
        assert!(!scene.admits(1));
        assert_eq!(scene.next_due(), [Id::new(1)]);
        assert_eq!(scene.permit(1), Some(ids([2])));
        assert_eq!(scene.forbid(2), 1);
        assert!(scene.admits(1));
        assert_eq!(scene.permit(1), None, "no news");
        scene.forbid(1);
        assert!(!scene.admits(1), "it is taken away");
    }

    #[test]
    fn namespaces_that_come_and_go_leave_nothing_behind() {
        let mut scene = GateState::new();
        for number in 0..10_000 {
            let object = web(&Kind::DEPLOYMENT, &format!("team-{number}"));
            let (id, now) = (Id::new(number), scene.now);
            let permissions = &mut scene.permissions;
            permissions.forbid(&object, id, now, &mut scene.random);
            permissions.remove(id);
        }
        let permissions = &scene.permissions;
        assert!(permissions.missing.is_empty() && permissions.granted.is_empty());
        assert!(permissions.has_all());
    }
}
