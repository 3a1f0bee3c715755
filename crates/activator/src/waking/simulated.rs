//! What a request would wake, for simulations: no connection is taken, and nothing is written.

use std::{collections::BTreeMap, net::IpAddr, sync::Arc};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::Zone;
use dayshift_workload::{AnnotationChange, Observed, WorkloadRef};

use crate::{
    cover::target,
    index::stays_stopped,
    routes::{Prospect, Route},
    service::ServiceName,
    waking::{
        needs::Needs,
        wakes::{Request, Wanted},
    },
};

/// A workload that a request wakes.
#[derive(Clone, Debug)]
pub struct RequestedWake {
    /// Which one.
    pub object: WorkloadRef,
    /// Until when.
    pub until: DateTime<Utc>,
    /// What is written on it.
    pub annotations: Vec<AnnotationChange>,
}

/// What a request to a Service of this workload wakes at that instant: itself and what it needs, of all
/// that there are.
///
/// # Errors
/// It wakes nothing: why.
pub fn request_wakes(
    object: &WorkloadRef,
    all: &[&Observed],
    default_zone: Zone,
    now: DateTime<Utc>,
) -> Result<Vec<RequestedWake>, &'static str> {
    let all = all
        .iter()
        .filter(|it| it.object.namespace == object.namespace);
    let mut needs = Needs::default();
    let mut root = None;
    for observed in all.clone() {
        let Some(target) = target(observed, default_zone, now).map(Arc::new) else {
            continue;
        };
        needs.add(&target, |needed| {
            let mut others = all.clone();
            others.any(|it| needed.is(&it.object) && stays_stopped(it))
        });
        if observed.object == *object {
            root = Some(target);
        }
    }
    let root = root.ok_or("it has no schedule, or does not ask for it by wake-on-request")?;
    let route = Route {
        ports: BTreeMap::new(),
        targets: vec![Arc::clone(&root)],
        ready: BTreeMap::new(),
        selector: BTreeMap::new(),
    };
    match route.prospect(now) {
        Prospect::Running => return Err("it runs, or starts already"),
        Prospect::Nothing(why) => return Err(why),
        Prospect::Wakeable => {}
    }
    let mut wanted = Wanted::by(Request {
        service: ServiceName {
            namespace: object.namespace.clone(),
            name: (&*object.name).into(),
        },
        port: "".into(),
        from: IpAddr::from([127, 0, 0, 1]),
        head: None,
    });
    // The longest that an annotation can ask for is the default of --max-wake too.
    let wakes = wanted.wakes_of(&root, &needs, TimeDelta::hours(24), now);
    let wakes = wakes.into_iter().map(|it| RequestedWake {
        object: it.target.observed.object.clone(),
        until: it.until,
        annotations: it.annotations,
    });
    Ok(wakes.collect())
}
