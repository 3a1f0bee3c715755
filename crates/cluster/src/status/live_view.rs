//! What a watch has shown so far.

use std::collections::BTreeMap;

use dayshift_workload::Kind;

use super::kind_watches::Shown;
use crate::cluster::{FindError, Found, Missing, Part, Query, Refused, WatchEvent, WithManagers};

/// What a watch has shown so far: the objects as they are now.
#[derive(Debug)]
pub struct LiveView {
    query: Query,
    known: BTreeMap<(String, String, Kind), WithManagers>,
    is_complete: bool,
    outage: Option<FindError>,
    refused: Vec<Refused>,
}

impl LiveView {
    /// Nothing yet.
    pub const fn new(query: Query) -> Self {
        Self {
            query,
            known: BTreeMap::new(),
            is_complete: false,
            outage: None,
            refused: Vec::new(),
        }
    }

    /// Takes in what the watches show, and what they may not show now.
    pub fn take_in(&mut self, shown: Vec<Shown>, refused: Vec<Refused>) {
        for one in shown {
            match one {
                Shown::Event(event) => self.observe(event),
                Shown::Refused(part) => self.forget(&part),
            }
        }
        self.refused = refused;
    }

    fn observe(&mut self, event: WatchEvent<WithManagers>) {
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

    /// Forgets what may not be read any more.
    fn forget(&mut self, part: &Part) {
        self.known
            .retain(|(namespace, name, kind), _| !part.has(*kind, namespace, name));
    }

    /// What may not be read now, and why.
    pub fn refused(&self) -> &[Refused] {
        &self.refused
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

    /// The objects as they are now, and those that were named and are not there, as far as that may
    /// be known.
    pub fn found(&self) -> Found<WithManagers> {
        let mut found = Found {
            workloads: Vec::new(),
            missing: Vec::new(),
        };
        if !self.query.is_by_name() {
            let all = self.known.iter();
            found.workloads = all.map(|((.., kind), it)| (*kind, it.clone())).collect();
            return found;
        }
        for (part, _) in self.query.parts() {
            let is_refused = self.refused.iter().any(|it| it.part == part);
            let (kind, namespace, name) = (part.kind, part.namespace, part.name);
            let key = (
                namespace.unwrap_or_default(),
                name.unwrap_or_default(),
                kind,
            );
            match self.known.get(&key) {
                Some(managed) => found.workloads.push((kind, managed.clone())),
                None if is_refused => {}
                None => found.missing.push(Missing {
                    kind,
                    namespace: key.0,
                    name: key.1,
                }),
            }
        }
        found
    }
}
