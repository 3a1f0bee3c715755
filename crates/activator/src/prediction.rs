//! Predicts the wakes of a request, for a simulation without connections.

use std::{collections::BTreeMap, net::IpAddr, sync::Arc};

use chrono::{DateTime, Utc};
use dayshift_schedule::{Tzdata, Zone};
use dayshift_workload::{AnnotationChange, KindTable, Observed, WorkloadRef};

use crate::{
    index::stays_stopped,
    routes::{Prospect, Route, WakeDependencies},
    service::ServiceName,
    target::{KnownRules, WakeLimits, WakeTarget},
    wakes::{RequestedService, WakeRequest},
};

/// A workload that a request would wake.
#[derive(Clone, Debug)]
pub struct RequestedWake {
    /// The workload.
    pub object: WorkloadRef,
    /// The end of the wake.
    pub until: DateTime<Utc>,
    /// The annotations to write.
    pub annotations: Vec<AnnotationChange>,
}

/// The workloads that a request to this one would wake, or whose wake it would prolong, out of `all`: itself
/// and its dependencies. The activator has its default limits.
///
/// # Errors
///
/// The reason why a request wakes nothing.
pub fn request_wakes(
    object: &WorkloadRef,
    all: &[&Observed],
    default_zone: Zone,
    tzdata: &Tzdata,
    kinds: &KindTable,
    now: DateTime<Utc>,
) -> Result<Vec<RequestedWake>, &'static str> {
    let all = all
        .iter()
        .filter(|observed| observed.object.namespace == object.namespace);
    let mut rules = KnownRules::new(default_zone, tzdata, kinds, now);
    let mut needs = WakeDependencies::default();
    let mut root = None;
    for observed in all.clone() {
        let target = WakeTarget::new(observed, &mut rules, None);
        let Some(target) = target.map(Arc::new) else {
            continue;
        };
        needs.add(&target, |needed| {
            let mut others = all.clone();
            others.any(|observed| needed.is(&observed.object) && stays_stopped(observed))
        });
        if observed.object == *object {
            root = Some(target);
        }
    }
    let root = root.ok_or("it has no schedule, or does not ask for it by wake-on-request")?;
    let limits = WakeLimits::default();
    let route = Route {
        ports: BTreeMap::new(),
        targets: vec![Arc::clone(&root)],
        ready: BTreeMap::new(),
        selector: BTreeMap::new(),
        stages: Vec::new(),
        observes_use: root.prolonged_end(now, limits).is_some(),
    };
    match route.prospect(now) {
        Prospect::Running if route.observes_use => {}
        Prospect::Running => return Err("it runs, or starts already"),
        Prospect::Nothing(why) => return Err(why),
        Prospect::Wakeable => {}
    }
    let mut wanted = RequestedService::by(WakeRequest {
        service: ServiceName {
            namespace: object.namespace.clone(),
            name: (&*object.name).into(),
        },
        port: "".into(),
        from: IpAddr::from([127, 0, 0, 1]),
        head: None,
    });
    let wakes = wanted.wakes_of(&[root], &needs, limits, now);
    let wakes = wakes.into_iter().map(|wake| RequestedWake {
        object: wake.target.observed.object.clone(),
        until: wake.until,
        annotations: wake.annotations,
    });
    Ok(wakes.collect())
}
