//! What is woken with a workload, as its `after` names it.
//!
//! An object is woken for another one only if its own annotation or its Namespace's, `wake-on-request`,
//! says that requests wake it. So nobody's database is started by somebody else's annotation.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::Arc,
};

use chrono::{DateTime, Utc};
use dayshift_workload::Dependency;

use crate::routes::{NeededState, OUT_OF_HOURS, Target};

/// The workloads that others may need, by namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    targets: BTreeMap<Place, Arc<Target>>,
    /// Needed, stopped by dayshift, and without the annotation.
    not_asking: BTreeSet<Place>,
}

type Place = (Arc<str>, Dependency);

/// What is woken with a workload, and what it needs besides that stays stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WokenWith {
    pub(crate) targets: Vec<Arc<Target>>,
    /// Each with the reason.
    pub(crate) without: Vec<String>,
}

impl Needs {
    /// Takes in a workload. Whether one that it needs stays stopped, since it does not ask to be woken, is
    /// asked of the second.
    pub(crate) fn add(
        &mut self,
        target: &Arc<Target>,
        stays_stopped: impl Fn(&Dependency) -> bool,
    ) {
        let object = &target.observed.object;
        let namespace = &object.namespace;
        let not_asking = target.needs.iter().filter(|it| stays_stopped(it));
        self.not_asking
            .extend(not_asking.map(|it| (namespace.clone(), it.clone())));
        let place = (namespace.clone(), Dependency::from_workload(object));
        self.targets.insert(place, Arc::clone(target));
    }

    /// What a wake of this workload wakes besides: what it needs, and what that needs in turn. A circle
    /// is gone through once.
    pub(crate) fn woken_with(&self, root: &Target, now: DateTime<Utc>) -> WokenWith {
        let mut with = WokenWith::default();
        let namespace = &root.observed.object.namespace;
        let mut seen = HashSet::from([Dependency::from_workload(&root.observed.object)]);
        let mut next = root.needs.clone();
        while let Some(needed) = next.pop() {
            if !seen.insert(needed.clone()) {
                continue;
            }
            let place = (namespace.clone(), needed);
            let Some(target) = self.targets.get(&place) else {
                if self.not_asking.contains(&place) {
                    let why = "has no annotation wake-on-request";
                    with.without.push(format!("{}, which {why}", place.1));
                }
                continue;
            };
            match target.standing {
                NeededState::Asleep if target.counts_at(now) => {
                    next.extend_from_slice(&target.needs);
                    with.targets.push(Arc::clone(target));
                }
                NeededState::Running if target.starts_until.is_some() => {
                    next.extend_from_slice(&target.needs);
                }
                NeededState::Running => {}
                NeededState::Asleep => with.without.push(stopped(&place.1, OUT_OF_HOURS)),
                NeededState::Off(why) => with.without.push(stopped(&place.1, why)),
            }
        }
        with
    }
}

fn stopped(needed: &Dependency, why: &str) -> String {
    format!("{needed}, which stays stopped: {why}")
}
