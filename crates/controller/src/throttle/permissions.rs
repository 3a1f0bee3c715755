//! Missing permissions to patch. While one is missing for a kind in a namespace, one object at a time
//! retries on behalf of all (a half-open circuit breaker).

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
    sync::Arc,
    time::Duration,
};

use dayshift_cluster::delays::Delays;
use dayshift_workload::{Kind, WorkloadRef};

use crate::{
    clock::{backoff::Backoff, guard::Now, scheduler::Scheduler},
    ids::Id,
};

/// The permission to patch the objects of a kind in a namespace.
pub(crate) type Permission = (Kind, Arc<str>);

/// The permission to patch this object.
pub(crate) fn permission(object: &WorkloadRef) -> Permission {
    (object.kind.clone(), object.namespace.clone())
}

/// The missing permissions, according to responses.
#[derive(Default)]
pub(crate) struct Permissions {
    missing: BTreeMap<Permission, Missing>,
    /// When an object should retry on behalf of all that wait for the permission.
    retries: Scheduler<Permission, Duration>,
    /// Objects that could be patched while the permission was missing for others: a Role can contain
    /// the names of objects. They do not wait.
    granted: BTreeSet<Id>,
}

/// A missing permission, for which at least one object waits or retries.
#[derive(Default)]
struct Missing {
    backoff: Backoff,
    /// The objects that wait. They are ordered, so that equal runs have equal results.
    waiting: BTreeSet<Id>,
    /// The object that retries and has no response yet.
    retrying: Option<Id>,
    /// The object that retried last.
    last_retried: Id,
}

impl Missing {
    /// Takes the next object to retry. Objects take turns, because a permission can differ between them.
    fn next_to_retry(&mut self) -> Option<Id> {
        if self.retrying.is_some() {
            return None;
        }
        let mut later = self
            .waiting
            .range((Bound::Excluded(self.last_retried), Bound::Unbounded));
        let next = later.next().or(self.waiting.first()).copied()?;
        self.waiting.remove(&next);
        self.last_retried = next;
        self.retrying = Some(next);
        Some(next)
    }
}

impl Permissions {
    /// Records that the permission to patch an object is missing. The object waits with the others of
    /// its kind and namespace. Returns the number of failures in a row.
    pub(crate) fn forbid(
        &mut self,
        object: &WorkloadRef,
        id: Id,
        now: Now,
        random: &mut fastrand::Rng,
    ) -> u32 {
        self.granted.remove(&id);
        let key = permission(object);
        let missing = self.missing.entry(key.clone()).or_default();
        missing.retrying = missing.retrying.filter(|retrying| *retrying != id);
        if missing.retrying.is_none() {
            missing.backoff.fail(&Delays::FORBIDDEN, None, now, random);
            self.retries
                .set(key, missing.backoff.until().unwrap_or_default());
        }
        missing.waiting.insert(id);
        missing.backoff.failures()
    }

    /// Records that a patch of an object was permitted. Returns the objects that waited for the
    /// permission; `None` if it was not missing.
    pub(crate) fn permit(&mut self, object: &WorkloadRef, id: Id) -> Option<BTreeSet<Id>> {
        if self.missing.is_empty() || self.granted.contains(&id) {
            return None;
        }
        let key = permission(object);
        let missing = self.missing.remove(&key)?;
        self.retries.cancel(&key);
        self.granted.insert(id);
        let mut released = missing.waiting;
        released.extend(missing.retrying);
        released.remove(&id);
        Some(released)
    }

    /// Whether a patch of an object can be sent now. If not, the object waits for the permission.
    pub(crate) fn admits(&mut self, object: &WorkloadRef, id: Id) -> bool {
        if self.missing.is_empty() || self.granted.contains(&id) {
            return true;
        }
        match self.missing.get_mut(&permission(object)) {
            Some(missing) if missing.retrying != Some(id) => {
                missing.waiting.insert(id);
                false
            }
            _ => true,
        }
    }

    /// Takes one object that should retry now.
    pub(crate) fn pop_due(&mut self, now: Now) -> Option<Id> {
        while let Some((key, _)) = self.retries.take_due(now.elapsed) {
            let missing = self.missing.get_mut(&key);
            if let Some(id) = missing.and_then(Missing::next_to_retry) {
                return Some(id);
            }
        }
        None
    }

    /// When the next object should retry.
    pub(crate) fn next(&self) -> Option<Duration> {
        self.retries.next()
    }

    /// Removes an object that has nothing to send. If it was its turn to retry, the next object retries
    /// instead.
    pub(crate) fn withdraw(&mut self, object: &WorkloadRef, id: Id) {
        if self.missing.is_empty() {
            return;
        }
        let key = permission(object);
        let Some(missing) = self.missing.get_mut(&key) else {
            return;
        };
        let is_retrying = missing
            .retrying
            .take_if(|retrying| *retrying == id)
            .is_some();
        let is_affected = missing.waiting.remove(&id) || is_retrying;
        if !is_affected || missing.retrying.is_some() {
            return;
        }
        if missing.waiting.is_empty() {
            self.missing.remove(&key);
            self.retries.cancel(&key);
        } else {
            self.retries
                .set(key, missing.backoff.until().unwrap_or_default());
        }
    }

    /// Forgets an object.
    pub(crate) fn remove(&mut self, object: &WorkloadRef, id: Id) {
        self.granted.remove(&id);
        self.withdraw(object, id);
    }

    /// Whether no permission is known to be missing.
    pub(crate) fn has_all(&self) -> bool {
        self.missing.is_empty()
    }
}

#[cfg(test)]
mod tests {
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

    /// The permissions, and the current time.
    struct Fixture {
        permissions: Permissions,
        random: fastrand::Rng,
        now: Now,
    }

    impl Fixture {
        fn new() -> Self {
            Self {
                permissions: Permissions::default(),
                random: fastrand::Rng::with_seed(1),
                now: Now::at_second(100),
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

        /// The objects that should retry now.
        fn due(&mut self) -> Vec<Id> {
            std::iter::from_fn(|| self.permissions.pop_due(self.now)).collect()
        }

        /// Advances to the next retry, and returns the objects that should retry.
        fn next_due(&mut self) -> Vec<Id> {
            self.now.elapsed = self.permissions.next().unwrap();
            self.due()
        }
    }

    #[test]
    fn a_permission_is_missing_for_one_kind_of_one_namespace() {
        let mut fixture = Fixture::new();
        assert!(fixture.permissions.has_all());
        fixture.forbid(1);
        assert!(!fixture.permissions.has_all() && !fixture.admits(2));
        let sets = web(&Kind::STATEFUL_SET, "dev");
        let prod = web(&Kind::DEPLOYMENT, "prod");
        assert!(fixture.permissions.admits(&sets, Id::new(3)));
        assert!(fixture.permissions.admits(&prod, Id::new(4)));
        assert_eq!(fixture.permissions.permit(&sets, Id::new(3)), None);
        assert_eq!(fixture.permit(9), Some(ids([1, 2])));
        assert!(fixture.permissions.has_all() && fixture.admits(5));
    }

    #[test]
    fn objects_retry_one_at_a_time_in_turn() {
        let mut fixture = Fixture::new();
        // Three patches were in flight at once, so they count as one failure.
        for id in [1, 2, 3] {
            assert_eq!(fixture.forbid(id), 1);
        }
        assert!(!fixture.admits(4));
        for (failures, retrying) in [(2, 1), (3, 2), (4, 3), (5, 4), (6, 1)] {
            assert_eq!(fixture.next_due(), [Id::new(retrying)]);
            assert!(fixture.admits(retrying) && !fixture.admits(retrying % 4 + 1));
            fixture.now.elapsed += Duration::from_secs(60);
            assert_eq!(
                fixture.due(),
                [],
                "no other object retries before the response"
            );
            assert_eq!(fixture.forbid(retrying), failures);
        }
        assert_eq!(fixture.next_due(), [Id::new(2)]);
        assert_eq!(fixture.permit(2), Some(ids([1, 3, 4])));
        assert_eq!(fixture.permissions.next(), None);
    }

    #[test]
    fn the_next_object_retries_if_one_is_removed_or_has_nothing_to_send() {
        let mut fixture = Fixture::new();
        for id in 1..=4 {
            fixture.forbid(id);
        }
        fixture.permissions.remove(&dev(), Id::new(4));
        assert_eq!(fixture.next_due(), [Id::new(1)]);
        fixture.permissions.withdraw(&dev(), Id::new(1));
        assert_eq!(
            fixture.due(),
            [Id::new(2)],
            "the next object retries immediately"
        );
        fixture.permissions.remove(&dev(), Id::new(2));
        assert_eq!(fixture.due(), [Id::new(3)]);
        fixture.permissions.remove(&dev(), Id::new(3));
        assert!(fixture.permissions.has_all(), "no object waits");
        assert_eq!(fixture.permissions.next(), None);
    }

    /// The Role allows only the first object, by its name.
    #[test]
    fn an_object_that_is_permitted_by_name_does_not_wait_for_the_others() {
        let mut fixture = Fixture::new();
        fixture.forbid(2);
        assert!(!fixture.admits(1));
        assert_eq!(fixture.next_due(), [Id::new(1)]);
        assert_eq!(fixture.permit(1), Some(ids([2])));
        assert_eq!(fixture.forbid(2), 1);
        assert!(fixture.admits(1));
        assert_eq!(fixture.permit(1), None, "already granted");
        fixture.forbid(1);
        assert!(!fixture.admits(1), "the permission was removed");
    }

    #[test]
    fn deleted_namespaces_leave_no_state() {
        let mut fixture = Fixture::new();
        for number in 0..10_000 {
            let object = web(&Kind::DEPLOYMENT, &format!("team-{number}"));
            let (id, now) = (Id::new(number), fixture.now);
            let permissions = &mut fixture.permissions;
            permissions.forbid(&object, id, now, &mut fixture.random);
            permissions.remove(&object, id);
        }
        let permissions = &fixture.permissions;
        assert!(permissions.missing.is_empty() && permissions.granted.is_empty());
        assert!(permissions.retries.is_empty());
        assert!(permissions.has_all());
    }
}
