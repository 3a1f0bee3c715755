//! What a watch has shown so far.

use std::collections::BTreeMap;

use crate::{
    cluster::{FindError, Found, Missing, Query, WatchEvent, WithManagers},
    workload::Kind,
};

/// What a watch has shown so far: the objects as they are now.
#[derive(Debug)]
pub struct LiveView {
    query: Query,
    known: BTreeMap<(String, String, Kind), WithManagers>,
    is_complete: bool,
    outage: Option<FindError>,
}

impl LiveView {
    /// Nothing yet.
    pub const fn new(query: Query) -> Self {
        Self {
            query,
            known: BTreeMap::new(),
            is_complete: false,
            outage: None,
        }
    }

    /// Takes in what the watch shows.
    pub fn observe(&mut self, event: WatchEvent<WithManagers>) {
        if !matches!(event, WatchEvent::Interrupted(_)) {
            self.outage = None;
        }
        match event {
            WatchEvent::Is(kind, managed) => {
                let workload = &managed.workload;
                let (namespace, name) = (workload.namespace(), workload.name());
                let key = (namespace.to_owned(), name.to_owned(), kind);
                self.known.insert(key, *managed);
            }
            WatchEvent::Gone {
                kind,
                namespace,
                name,
            } => {
                self.known.remove(&(namespace, name, kind));
            }
            WatchEvent::Complete => self.is_complete = true,
            WatchEvent::Interrupted(error) => self.outage = Some(error),
        }
    }

    /// Forgets the objects of a kind, which may not be read any more.
    pub fn forget(&mut self, kind: Kind) {
        self.known.retain(|(.., it), _| *it != kind);
    }

    /// The server has answered: nothing is known to be wrong with it.
    pub fn answered(&mut self) {
        self.outage = None;
    }

    /// Whether all has been shown that there was at first.
    pub const fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Why the watch is broken now, if it is: then what is known may be old.
    pub const fn outage(&self) -> Option<&FindError> {
        self.outage.as_ref()
    }

    /// The objects as they are now, by namespace, name and kind.
    pub fn workloads(&self) -> impl Iterator<Item = (Kind, &WithManagers)> {
        self.known.iter().map(|((.., kind), it)| (*kind, it))
    }

    /// The objects as they are now, and those that were named and are not there.
    pub fn found(&self) -> Found<WithManagers> {
        let mut found = Found {
            workloads: Vec::new(),
            missing: Vec::new(),
        };
        let Query::Named { namespace, names } = &self.query else {
            let all = self.known.iter();
            found.workloads = all.map(|((.., kind), it)| (*kind, it.clone())).collect();
            return found;
        };
        for (kind, name) in names {
            let key = (namespace.clone(), name.clone(), *kind);
            match self.known.get(&key) {
                Some(managed) => found.workloads.push((*kind, managed.clone())),
                None => found.missing.push(Missing {
                    kind: *kind,
                    namespace: namespace.clone(),
                    name: name.clone(),
                }),
            }
        }
        found
    }
}
