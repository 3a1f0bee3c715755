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

/// The maximum number of changes of a kind in the history.
const HISTORY: usize = 100_000;
/// The maximum age of the history. Etcd is compacted every five minutes.
const HISTORY_MINUTES: i64 = 5;

#[derive(Debug)]
struct Table {
    objects: Arc<Objects>,
    changes: VecDeque<Change>,
    /// Earlier revisions are forgotten.
    oldest: u64,
    /// The last snapshot of an older revision, for the next page of the same list.
    snapshot: Option<(u64, Arc<Objects>)>,
    /// When objects with a lifetime expire, in order.
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

    /// The objects at `revision`, which must not be in the future.
    fn objects_at(&mut self, revision: u64) -> Result<Arc<Objects>, Compacted> {
        if revision < self.oldest {
            let oldest = self.oldest;
            return Err(Compacted { oldest });
        }
        let last = self.changes.back();
        if last.is_none_or(|change| change.revision <= revision) {
            return Ok(Arc::clone(&self.objects));
        }
        if let Some((at, objects)) = &self.snapshot
            && *at == revision
        {
            return Ok(Arc::clone(objects));
        }
        let mut objects = (*self.objects).clone();
        let newest = self.changes.iter().rev();
        for change in newest.take_while(|change| change.revision > revision) {
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

/// All stored objects. One counter provides all resourceVersions.
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

    /// Adds a table for a custom kind.
    pub(crate) fn make_room(&mut self, resource: &Resource) {
        while self.tables.len() <= resource.index {
            self.tables.push(Table::new());
        }
    }

    /// The current resourceVersion.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    pub(crate) fn get(&self, resource: &Resource, key: &str) -> Option<Arc<Object>> {
        self.tables[resource.index].objects.get(key).cloned()
    }

    /// The current objects.
    pub(crate) fn objects(&self, resource: &Resource) -> Arc<Objects> {
        Arc::clone(&self.tables[resource.index].objects)
    }

    /// The objects at `revision`, which must not be in the future.
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
            let oldest = table.oldest;
            return Err(Compacted { oldest });
        }
        let changes = &table.changes;
        Ok(changes.range(changes.partition_point(|change| change.revision <= revision)..))
    }

    /// Notified when an object of this kind changes.
    pub(crate) fn subscribe(&self, resource: &Resource) -> Listener {
        self.tables[resource.index].changed.listen()
    }

    /// Stores an object with a new `metadata.resourceVersion`, and returns it.
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
        if let (Some(lifetime), None) = (resource.lifetime(), &before)
            && let Ok(lifetime) = chrono::TimeDelta::from_std(lifetime)
        {
            let end = (at + lifetime, Arc::clone(&key), object.revision);
            table.ends.push_back(end);
        }
        Arc::make_mut(&mut table.objects).insert(key, Arc::clone(&object));
        self.log(resource, before, Arc::clone(&object), false, at);
        object
    }

    /// Deletes an object. Returns its last state with the resourceVersion of the deletion.
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

    /// Forgets the history, so that older resourceVersions are expired.
    pub(crate) fn compact(&mut self) {
        let revision = self.revision;
        for table in &mut self.tables {
            table.changes.clear();
            table.snapshot = None;
            table.oldest = revision;
        }
    }

    /// Restores the state at `revision`. A kind whose history does not go back that far is unchanged.
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
            .into_iter()
            .flatten();
        let labels =
            labels.map(|(key, value)| (key.clone(), value.as_str().unwrap_or_default().to_owned()));
        let known = before.as_ref().map(|before| Arc::clone(&before.key));
        let object = Object {
            key: known.unwrap_or_else(|| Arc::from(key)),
            revision: self.revision,
            labels: labels.collect(),
            deleting: value["metadata"]["deletionTimestamp"].is_string(),
            body: Bytes::from(value.to_string()),
        };
        (before, Arc::new(object))
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
        table.snapshot.take_if(|(at, _)| *at < table.oldest);
        table.changed.notify();
    }

    /// Deletes expired objects, like etcd leases.
    fn end_lifetimes(&mut self, resource: &Resource, now: DateTime<Utc>) {
        while let Some((end, key, created)) = self.tables[resource.index].ends.front().cloned()
            && end <= now
        {
            self.tables[resource.index].ends.pop_front();
            let object = self.get(resource, &key);
            if object.is_some_and(|object| object.revision >= created) {
                self.delete(resource, &key, now);
            }
        }
    }
}

/// The objects of a kind by key.
pub(crate) type Objects = BTreeMap<Arc<str>, Arc<Object>>;

/// A stored version of an object.
#[derive(Debug)]
pub(crate) struct Object {
    pub key: Arc<str>,
    pub revision: u64,
    pub labels: Vec<(String, String)>,
    /// Whether it has a `deletionTimestamp`.
    pub deleting: bool,
    /// JSON without `kind` and `apiVersion`, as in lists.
    pub body: Bytes,
}

impl Object {
    /// A version for a response that is not stored.
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

    /// The `status.phase`, or an empty text.
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

/// A write. `before` is absent for a creation. For a deletion, `object` is the last state.
#[derive(Debug)]
pub(crate) struct Change {
    pub revision: u64,
    pub before: Option<Arc<Object>>,
    pub object: Arc<Object>,
    pub deleted: bool,
    pub at: DateTime<Utc>,
}

/// The requested revision is no longer in the history.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Compacted {
    /// The oldest available revision.
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

    /// A listener for notifications from now on.
    pub(crate) fn listen(&self) -> Listener {
        Listener {
            seen: self.0.count.load(Ordering::Acquire),
            shared: Arc::clone(&self.0),
        }
    }
}

/// Waits for notifications, including those since the last call.
#[derive(Debug)]
pub(crate) struct Listener {
    shared: Arc<Shared>,
    seen: u64,
}

impl Listener {
    /// Returns at the next notification, or at once if there was one since the last call.
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

    /// Ignores earlier notifications.
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
    fn older_revision_is_listed_unchanged() {
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
    fn compaction_keeps_the_current_revision() {
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
    fn keys_are_sorted_by_bytes_as_in_etcd() {
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
    fn each_listener_receives_a_notification_once() {
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
