//! The stored objects, the recent history of each kind, and the listeners that wait for a change.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use chrono::{DateTime, Utc};
use hyper::body::Bytes;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::objects::{RESOURCES, Resource};

/// How many changes of a kind can be watched from, or listed at, in retrospect.
const HISTORY: usize = 100_000;
/// How long they can: etcd is compacted every five minutes.
const HISTORY_MINUTES: i64 = 5;

#[derive(Debug)]
struct Table {
    objects: Arc<Objects>,
    changes: VecDeque<Change>,
    /// Revisions before this one are forgotten.
    oldest: u64,
    /// The last snapshot taken of an older revision, for the next page of the same list.
    snapshot: Option<(u64, Arc<Objects>)>,
    /// When objects with a lifetime end, in order.
    ends: VecDeque<(DateTime<Utc>, Arc<str>, u64)>,
    changed: Notifier,
}

impl Table {
    fn new() -> Self {
        Self {
            objects: Arc::default(),
            changes: VecDeque::new(),
            oldest: 1,
            snapshot: None,
            ends: VecDeque::new(),
            changed: Notifier::default(),
        }
    }

    /// All objects as they were at `revision`, which is not ahead of the store's.
    fn objects_at(&mut self, revision: u64) -> Result<Arc<Objects>, Compacted> {
        if revision < self.oldest {
            return Err(Compacted {
                oldest: self.oldest,
            });
        }
        if self
            .changes
            .back()
            .is_none_or(|change| change.revision <= revision)
        {
            return Ok(Arc::clone(&self.objects));
        }
        if let Some((at, objects)) = &self.snapshot
            && *at == revision
        {
            return Ok(Arc::clone(objects));
        }
        let mut objects = (*self.objects).clone();
        for change in self
            .changes
            .iter()
            .rev()
            .take_while(|change| change.revision > revision)
        {
            match &change.before {
                Some(before) => {
                    objects.insert(Arc::clone(&before.key), Arc::clone(before));
                }
                None => {
                    objects.remove(&change.object.key);
                }
            }
        }
        let objects = Arc::new(objects);
        self.snapshot = Some((revision, Arc::clone(&objects)));
        Ok(objects)
    }
}

/// Everything the server stores. One counter gives all resourceVersions.
#[derive(Debug)]
pub(crate) struct Store {
    revision: u64,
    tables: Vec<Table>,
}

impl Store {
    pub(crate) fn new() -> Self {
        Self {
            revision: 1,
            tables: RESOURCES.iter().map(|_| Table::new()).collect(),
        }
    }

    /// Makes a table for a kind that is not one of the server's own.
    pub(crate) fn make_room(&mut self, resource: &Resource) {
        while self.tables.len() <= resource.index {
            self.tables.push(Table::new());
        }
    }

    /// The newest resourceVersion.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    pub(crate) fn get(&self, resource: &Resource, key: &str) -> Option<Arc<Object>> {
        self.tables[resource.index].objects.get(key).cloned()
    }

    /// All objects as they are now.
    pub(crate) fn objects(&self, resource: &Resource) -> Arc<Objects> {
        Arc::clone(&self.tables[resource.index].objects)
    }

    /// All objects as they were at `revision`, which is not ahead of the store's.
    pub(crate) fn objects_at(
        &mut self,
        resource: &Resource,
        revision: u64,
    ) -> Result<Arc<Objects>, Compacted> {
        self.tables[resource.index].objects_at(revision)
    }

    /// The changes after `revision`, oldest first.
    pub(crate) fn changes_after(
        &self,
        resource: &Resource,
        revision: u64,
    ) -> Result<impl Iterator<Item = &Change>, Compacted> {
        let table = &self.tables[resource.index];
        if revision < table.oldest {
            return Err(Compacted {
                oldest: table.oldest,
            });
        }
        let first = table
            .changes
            .partition_point(|change| change.revision <= revision);
        Ok(table.changes.range(first..))
    }

    /// Wakes whenever an object of this kind changes.
    pub(crate) fn subscribe(&self, resource: &Resource) -> Listener {
        self.tables[resource.index].changed.listen()
    }

    /// Stores a new version of an object and returns it, `metadata.resourceVersion` set.
    pub(crate) fn put(
        &mut self,
        resource: &Resource,
        key: &str,
        value: &mut Value,
        at: DateTime<Utc>,
    ) -> Arc<Object> {
        self.end_lifetimes(resource, at);
        let (before, object) = self.version(resource, key, value);
        let table = &mut self.tables[resource.index];
        let key = Arc::clone(&object.key);
        if let (Some(lifetime), None) = (resource.lifetime, &before)
            && let Ok(lifetime) = chrono::TimeDelta::from_std(lifetime)
        {
            table
                .ends
                .push_back((at + lifetime, Arc::clone(&key), object.revision));
        }
        Arc::make_mut(&mut table.objects).insert(key, Arc::clone(&object));
        self.log(resource, before, Arc::clone(&object), false, at);
        object
    }

    /// Removes an object. Returns its last state with the deletion's resourceVersion.
    pub(crate) fn delete(
        &mut self,
        resource: &Resource,
        key: &str,
        at: DateTime<Utc>,
    ) -> Option<Arc<Object>> {
        let mut value = self.get(resource, key)?.value();
        let (before, object) = self.version(resource, key, &mut value);
        Arc::make_mut(&mut self.tables[resource.index].objects).remove(key);
        self.log(resource, before, Arc::clone(&object), true, at);
        Some(object)
    }

    /// Forgets all history: watches and lists from an older resourceVersion are expired.
    pub(crate) fn compact(&mut self) {
        let revision = self.revision;
        for table in &mut self.tables {
            table.changes.clear();
            table.snapshot = None;
            table.oldest = revision;
        }
    }

    /// Everything is as it was at `revision` once more, and counts on from there. Without history
    /// that goes back so far, nothing happens to a kind.
    pub(crate) fn restore(&mut self, revision: u64) {
        for table in &mut self.tables {
            if let Ok(objects) = table.objects_at(revision) {
                table.objects = objects;
            }
            table.changes.clear();
            table.snapshot = None;
            table.oldest = revision;
        }
        self.revision = revision;
    }

    fn version(
        &mut self,
        resource: &Resource,
        key: &str,
        value: &mut Value,
    ) -> (Option<Arc<Object>>, Arc<Object>) {
        self.revision += 1;
        value["metadata"]["resourceVersion"] = json!(self.revision.to_string());
        let before = self.get(resource, key);
        let labels = value["metadata"]["labels"]
            .as_object()
            .map_or_else(Vec::new, |labels| {
                labels
                    .iter()
                    .map(|(key, value)| {
                        (key.clone(), value.as_str().unwrap_or_default().to_owned())
                    })
                    .collect()
            });
        let deleting = value["metadata"]["deletionTimestamp"].is_string();
        let key = before
            .as_ref()
            .map_or_else(|| Arc::from(key), |before| Arc::clone(&before.key));
        let body = Bytes::from(value.to_string());
        (
            before,
            Arc::new(Object {
                key,
                revision: self.revision,
                labels,
                deleting,
                body,
            }),
        )
    }

    fn log(
        &mut self,
        resource: &Resource,
        before: Option<Arc<Object>>,
        object: Arc<Object>,
        deleted: bool,
        at: DateTime<Utc>,
    ) {
        let table = &mut self.tables[resource.index];
        let revision = object.revision;
        table.changes.push_back(Change {
            revision,
            before,
            object,
            deleted,
            at,
        });
        let horizon = at - chrono::TimeDelta::minutes(HISTORY_MINUTES);
        while let Some(first) = table.changes.front()
            && (table.changes.len() > HISTORY || first.at < horizon)
        {
            table.oldest = first.revision;
            table.changes.pop_front();
        }
        if table
            .snapshot
            .as_ref()
            .is_some_and(|(at, _)| *at < table.oldest)
        {
            table.snapshot = None;
        }
        table.changed.notify();
    }

    /// Deletes what has outlived its lifetime, as etcd's leases do.
    fn end_lifetimes(&mut self, resource: &Resource, now: DateTime<Utc>) {
        while let Some((end, key, created)) = self.tables[resource.index].ends.front().cloned()
            && end <= now
        {
            self.tables[resource.index].ends.pop_front();
            if self
                .get(resource, &key)
                .is_some_and(|object| object.revision >= created)
            {
                self.delete(resource, &key, now);
            }
        }
    }
}

/// All objects of one kind, by key.
pub(crate) type Objects = BTreeMap<Arc<str>, Arc<Object>>;

/// One stored version of an object.
#[derive(Debug)]
pub(crate) struct Object {
    pub key: Arc<str>,
    pub revision: u64,
    pub labels: Vec<(String, String)>,
    /// Whether it has a `deletionTimestamp`.
    pub deleting: bool,
    /// JSON without `kind` and `apiVersion`, as it stands in lists.
    pub body: Bytes,
}

impl Object {
    /// A version that is answered with, but not kept.
    pub(crate) fn unstored(key: Arc<str>, revision: u64, value: &Value) -> Self {
        Self {
            key,
            revision,
            labels: Vec::new(),
            deleting: false,
            body: Bytes::from(value.to_string()),
        }
    }

    pub(crate) fn value(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Its `status.phase`, where it has one.
    pub(crate) fn phase(&self) -> String {
        let value = self.value();
        let phase = value["status"]["phase"].as_str();
        phase.unwrap_or_default().to_owned()
    }

    pub(crate) fn namespace(&self) -> &str {
        self.key
            .split_once('/')
            .map_or("", |(namespace, _)| namespace)
    }

    pub(crate) fn name(&self) -> &str {
        self.key
            .split_once('/')
            .map_or(&*self.key, |(_, name)| name)
    }
}

/// One write. `before` is absent for a creation; a deletion has the last state as its `object`.
#[derive(Debug)]
pub(crate) struct Change {
    pub revision: u64,
    pub before: Option<Arc<Object>>,
    pub object: Arc<Object>,
    pub deleted: bool,
    pub at: DateTime<Utc>,
}

/// The state asked for is no longer known.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Compacted {
    /// The oldest revision that still is.
    pub oldest: u64,
}

/// Wakes all listeners.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notifier(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    count: AtomicU64,
    notify: Notify,
}

impl Notifier {
    pub(crate) fn notify(&self) {
        self.0.count.fetch_add(1, Ordering::Release);
        self.0.notify.notify_waiters();
    }

    /// A listener that is woken by each notification from now on.
    pub(crate) fn listen(&self) -> Listener {
        Listener {
            seen: self.0.count.load(Ordering::Acquire),
            shared: Arc::clone(&self.0),
        }
    }
}

/// Waits for notifications. One that comes while nobody waits is not lost.
#[derive(Debug)]
pub(crate) struct Listener {
    shared: Arc<Shared>,
    seen: u64,
}

impl Listener {
    /// Returns at the next notification, or at once where there was one since the last call.
    pub(crate) async fn notified(&mut self) {
        loop {
            let notified = self.shared.notify.notified();
            let count = self.shared.count.load(Ordering::Acquire);
            if count != self.seen {
                self.seen = count;
                return;
            }
            notified.await;
        }
    }

    /// Forgets the notifications so far.
    pub(crate) fn catch_up(&mut self) {
        self.seen = self.shared.count.load(Ordering::Acquire);
    }
}

#[cfg(test)]
mod tests {
    use std::{future::Future, pin::pin, task::Context};

    use super::*;
    use crate::objects::DEPLOYMENTS;

    fn put(store: &mut Store, name: &str, mark: u64) -> u64 {
        let mut value = json!({"metadata": {"name": name}, "mark": mark});
        store
            .put(
                DEPLOYMENTS,
                &format!("default/{name}"),
                &mut value,
                Utc::now(),
            )
            .revision
    }

    fn marks(objects: &Objects) -> Vec<(String, u64)> {
        let mark = |object: &Arc<Object>| object.value()["mark"].as_u64().unwrap();
        objects
            .values()
            .map(|object| (object.name().to_owned(), mark(object)))
            .collect()
    }

    #[test]
    fn an_older_revision_is_listed_as_it_was() {
        let mut store = Store::new();
        put(&mut store, "a", 1);
        let then = put(&mut store, "b", 1);
        put(&mut store, "a", 2);
        put(&mut store, "c", 1);
        store.delete(DEPLOYMENTS, "default/b", Utc::now()).unwrap();

        let old = store.objects_at(DEPLOYMENTS, then).unwrap();
        assert_eq!(marks(&old), [("a".to_owned(), 1), ("b".to_owned(), 1)]);
        let new = store.objects_at(DEPLOYMENTS, store.revision()).unwrap();
        assert_eq!(marks(&new), [("a".to_owned(), 2), ("c".to_owned(), 1)]);
    }

    #[test]
    fn a_compacted_revision_is_gone_and_the_newest_is_not() {
        let mut store = Store::new();
        let then = put(&mut store, "a", 1);
        let now = put(&mut store, "a", 2);
        store.compact();
        assert_eq!(
            store.objects_at(DEPLOYMENTS, then).unwrap_err(),
            Compacted { oldest: now }
        );
        assert!(store.changes_after(DEPLOYMENTS, then).is_err());
        assert_eq!(store.changes_after(DEPLOYMENTS, now).unwrap().count(), 0);
    }

    #[test]
    fn keys_are_in_the_order_of_their_bytes_as_in_etcd() {
        let mut store = Store::new();
        for key in ["a/z", "a-b/a", "b/a"] {
            store.put(DEPLOYMENTS, key, &mut json!({"metadata": {}}), Utc::now());
        }
        let keys: Vec<_> = store
            .objects(DEPLOYMENTS)
            .keys()
            .map(ToString::to_string)
            .collect();
        assert_eq!(keys, ["a-b/a", "a/z", "b/a"]);
    }

    #[test]
    fn each_listener_sees_a_notification_once_also_afterwards() {
        let notifier = Notifier::default();
        let mut listeners = [notifier.listen(), notifier.listen()];
        notifier.notify();
        notifier.notify();
        let mut nobody = Context::from_waker(std::task::Waker::noop());
        for listener in &mut listeners {
            assert!(pin!(listener.notified()).poll(&mut nobody).is_ready());
            assert!(pin!(listener.notified()).poll(&mut nobody).is_pending());
        }
        notifier.notify();
        listeners[0].catch_up();
        assert!(pin!(listeners[0].notified()).poll(&mut nobody).is_pending());
        assert!(pin!(listeners[1].notified()).poll(&mut nobody).is_ready());
    }
}
