//! Every object that concerns us, and what is known of it. No request leaves from here.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};
use tokio::time::Instant;

use crate::{
    cluster::{Version, Workload},
    workload::{Change, Decision, DecisionContext, Kind, Memory, Observed, Prefix, decide},
};

use crate::controller::ids::{Id, WatchId};
use crate::controller::objects::entry::Entry;
use crate::controller::objects::parse_cache::ParseCache;
use crate::controller::objects::work::Work;
use crate::controller::settings::{OwnPod, Settings};
use crate::controller::telemetry::overdue::Deadlines;
use crate::controller::telemetry::snapshot::ObjectSnapshot;
use crate::controller::time::guarded_clock::SeenAt;

/// What an event of a watch comes to.
#[derive(Default)]
pub(in crate::controller) struct Observation {
    /// The object, if it concerns us and the event says anything new of it.
    pub(in crate::controller) id: Option<Id>,
    /// Another object of that name, which is gone.
    pub(in crate::controller) replaced: Option<Id>,
}

pub(in crate::controller) struct Index {
    prefix: Prefix,
    own_pod: Option<OwnPod>,
    catch_up: TimeDelta,
    dry_run: bool,
    parse_cache: ParseCache,
    entries: HashMap<Id, Entry>,
    by_name: HashMap<(Kind, Box<str>), Id>,
    last_id: Id,
}

impl Index {
    pub(in crate::controller) fn new(settings: &Settings) -> Self {
        Self {
            prefix: settings.prefix.clone(),
            own_pod: settings.own_pod.clone(),
            catch_up: settings.catch_up,
            dry_run: settings.dry_run,
            parse_cache: ParseCache::new(settings.default_zone),
            entries: HashMap::new(),
            by_name: HashMap::new(),
            last_id: 0,
        }
    }

    /// Takes in an object as a watch shows it. What is older than what is known is merely late.
    pub(in crate::controller) fn observe(
        &mut self,
        (kind, workload): (Kind, &Workload),
        watch: WatchId,
        seen_at: SeenAt,
    ) -> Observation {
        let name = (kind, full_name(workload.namespace(), workload.name()));
        let known = self.by_name.get(&name).copied();
        if known.is_none() && !workload.concerns(&self.prefix) || self.is_own(kind, workload) {
            return Observation::default();
        }
        let observed = workload.observe(kind, &self.prefix);
        if let Some(id) = known
            && let Some(entry) = self.entries.get_mut(&id)
            && entry.observed.object == observed.object
        {
            entry.listed = true;
            let is_news = !workload.version().is_before(entry.version);
            if is_news {
                self.update(id, observed, workload.version(), seen_at);
            }
            return Observation {
                id: is_news.then_some(id),
                replaced: None,
            };
        }
        if let Some(id) = known {
            self.forget(id);
        }
        let concerns_us = observed.concerns_us();
        Observation {
            id: concerns_us.then(|| self.add(name, observed, workload.version(), watch, seen_at)),
            replaced: known,
        }
    }

    fn update(&mut self, id: Id, observed: Observed, version: Version, seen_at: SeenAt) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.version = version;
            entry.show(observed, &mut self.parse_cache, seen_at, self.dry_run);
        }
    }

    /// Takes in the object as the server gave it to us alone, asked when `known` was known of it;
    /// false where it is another of that name by now.
    ///
    /// Such an answer counts even where its version is older: then the server's history went back,
    /// as it does where etcd is restored from a backup. But the watch may have shown something
    /// newer since. Whether the object is in scope an answer does not tell.
    pub(in crate::controller) fn observe_answer(
        &mut self,
        id: Id,
        workload: &Workload,
        known: Version,
        seen_at: SeenAt,
    ) -> bool {
        let Some(entry) = self.entries.get(&id) else {
            return false;
        };
        let object = &entry.observed.object;
        if &*object.uid != workload.uid() {
            return false;
        }
        let observed = workload.observe(object.kind, &self.prefix);
        let version = workload.version();
        if entry.version == known || !version.is_before(entry.version) {
            self.update(id, observed, version, seen_at);
        }
        true
    }

    fn add(
        &mut self,
        name: (Kind, Box<str>),
        mut observed: Observed,
        version: Version,
        watch: WatchId,
        seen_at: SeenAt,
    ) -> Id {
        self.last_id += 1;
        let (inputs, parsed) = self.parse_cache.of(&observed.inputs);
        observed.inputs = inputs;
        let entry = Entry {
            memory: Memory::of(&observed),
            observed,
            parsed,
            version,
            seen: seen_at.by_clock,
            unsure: seen_at.unsure,
            watch,
            listed: true,
            expired: Vec::new(),
            work: Work::default(),
        };
        self.entries.insert(self.last_id, entry);
        self.by_name.insert(name, self.last_id);
        self.last_id
    }

    /// The object of that name is gone, or out of scope.
    pub(in crate::controller) fn gone(&mut self, kind: Kind, workload: &Workload) -> Option<Id> {
        let name = (kind, full_name(workload.namespace(), workload.name()));
        let id = *self.by_name.get(&name)?;
        let is_it = self
            .get(id)
            .is_some_and(|entry| &*entry.observed.object.uid == workload.uid());
        is_it.then(|| self.forget(id));
        is_it.then_some(id)
    }

    pub(in crate::controller) fn forget(&mut self, id: Id) {
        if let Some(entry) = self.entries.remove(&id) {
            let object = &entry.observed.object;
            let name = full_name(&object.namespace, &object.name);
            self.by_name.remove(&(object.kind, name));
        }
    }

    /// A list begins: what it does not show is gone when it ends.
    pub(in crate::controller) fn list_begins(&mut self, watch: WatchId) {
        for entry in self
            .entries
            .values_mut()
            .filter(|entry| entry.watch == watch)
        {
            entry.listed = false;
        }
    }

    /// A list has ended: what it did not show is forgotten.
    pub(in crate::controller) fn list_ends(&mut self, watch: WatchId) -> Vec<Id> {
        let vanished: Vec<Id> = self
            .entries
            .iter()
            .filter(|(_, entry)| entry.watch == watch && !entry.listed)
            .map(|(id, _)| *id)
            .collect();
        for id in &vanished {
            self.forget(*id);
        }
        vanished
    }

    /// What to do with an object now.
    pub(in crate::controller) fn decide(&self, id: Id, now: DateTime<Utc>) -> Option<Decision> {
        let entry = self.entries.get(&id)?;
        let context = DecisionContext {
            parsed: &entry.parsed,
            observed: &entry.observed,
            memory: &entry.memory,
            seen: entry.seen,
            catch_up: self.catch_up,
            prefix: &self.prefix,
        };
        Some(decide(&context, now))
    }

    /// Takes in a change that the server has made of what was observed.
    pub(in crate::controller) fn wrote(&mut self, id: Id, observed: &Observed, change: &Change) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.memory.wrote(observed, change);
        }
    }

    /// Makes the change here alone, for a dry run.
    pub(in crate::controller) fn pretend(&mut self, id: Id, change: &Change) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.memory.wrote(&entry.observed, change);
            entry.observed.replicas = change.replicas;
            entry.observed.labels = change.state.to_labels();
            entry.observed.error.clone_from(&change.error);
            entry
                .observed
                .override_began
                .clone_from(&change.override_began);
            entry.lift(&change.expired, &mut self.parse_cache);
        }
    }

    pub(in crate::controller) fn get(&self, id: Id) -> Option<&Entry> {
        self.entries.get(&id)
    }

    pub(in crate::controller) fn get_mut(&mut self, id: Id) -> Option<&mut Entry> {
        self.entries.get_mut(&id)
    }

    /// All ids, in the order of first sight.
    pub(in crate::controller) fn ids(&self) -> Vec<Id> {
        let mut ids: Vec<_> = self.entries.keys().copied().collect();
        ids.sort_unstable();
        ids
    }

    /// The clock shows something else than before, `now`: what is known from the future may have
    /// been put right by another scaler in the meantime, and what was seen may never have been
    /// from the future.
    pub(in crate::controller) fn look_again(&mut self, now: DateTime<Utc>) {
        for entry in self.entries.values_mut() {
            entry.memory.observe(&entry.observed, now);
        }
    }

    /// The clock is right again and shows `now` at `at`: when something was seen in the meantime
    /// is known at last. The clock may have been set, or the machine have slept: only how long
    /// ago it was tells.
    pub(in crate::controller) fn make_sure(&mut self, now: DateTime<Utc>, at: Instant) {
        for entry in self.entries.values_mut() {
            if let Some(seen) = entry.unsure.take() {
                let ago = at.saturating_duration_since(seen);
                entry.seen = now - TimeDelta::from_std(ago).unwrap_or_default();
            }
        }
    }

    /// What is known of each object at `now`, in no order.
    pub(in crate::controller) fn snapshots(
        &self,
        now: DateTime<Utc>,
    ) -> impl Iterator<Item = ObjectSnapshot> {
        self.entries.values().map(move |entry| entry.snapshot(now))
    }

    /// How many objects are in each state, `invalid` where the schedule is refused.
    pub(in crate::controller) fn census(&self) -> HashMap<&'static str, usize> {
        let mut census = HashMap::new();
        for entry in self.entries.values() {
            *census.entry(entry.counted_as()).or_default() += 1;
        }
        census
    }

    /// When how many objects become overdue.
    pub(in crate::controller) fn deadlines(&self, now: DateTime<Utc>) -> Deadlines {
        let mut deadlines = Deadlines::default();
        for deadline in self.entries.values().filter_map(|it| it.deadline(now)) {
            deadlines.add(deadline);
        }
        deadlines
    }

    /// One that is overdue at `now`: the one seen first.
    pub(in crate::controller) fn first_overdue(&self, now: DateTime<Utc>) -> Option<&Entry> {
        let overdue = self
            .entries
            .iter()
            .filter(|(_, it)| it.overdue(now).is_some());
        overdue.min_by_key(|(id, _)| **id).map(|(_, it)| it)
    }

    fn is_own(&self, kind: Kind, workload: &Workload) -> bool {
        self.own_pod
            .as_ref()
            .is_some_and(|pod| pod.belongs_to(kind, workload.namespace(), workload.name()))
    }
}

fn full_name(namespace: &str, name: &str) -> Box<str> {
    format!("{namespace}/{name}").into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn web(version: u32, replicas: u32) -> Workload {
        serde_json::from_value(json!({
            "metadata": {
                "namespace": "dev", "name": "web", "uid": "1",
                "resourceVersion": version.to_string(),
                "annotations": {"dayshift/stop": "19:00"},
            },
            "spec": {"replicas": replicas},
        }))
        .unwrap()
    }

    fn version(of: u32) -> Version {
        web(of, 0).version()
    }

    /// What is known after an answer of an older version that was asked for when `known` was.
    fn replicas_after_an_older_answer(known: u32) -> u32 {
        let mut index = Index::new(&Settings::default());
        let seen_at = SeenAt {
            by_clock: DateTime::UNIX_EPOCH,
            unsure: None,
        };
        let id = index
            .observe((Kind::Deployment, &web(100, 3)), 0, seen_at)
            .id
            .unwrap();
        assert!(
            index
                .observe((Kind::Deployment, &web(50, 5)), 0, seen_at)
                .id
                .is_none(),
            "it is merely late"
        );
        assert!(index.observe_answer(id, &web(50, 5), version(known), seen_at));
        index.get(id).unwrap().observed.replicas.get()
    }

    /// As where etcd was restored from a backup: conflicts would go on until versions catch up.
    #[test]
    fn an_answer_is_believed_though_its_version_is_older() {
        assert_eq!(replicas_after_an_older_answer(100), 5);
    }

    #[test]
    fn an_answer_is_late_where_the_watch_has_shown_something_newer_since_it_was_asked_for() {
        assert_eq!(replicas_after_an_older_answer(90), 3);
    }
}
