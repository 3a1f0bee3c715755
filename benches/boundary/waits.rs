//! Starts with dependencies: chains of five, and a star around a database, compared with starts
//! without dependencies.

use std::{collections::BTreeMap, fmt, path::Path, thread, time::Duration};

use chrono::{TimeDelta, Utc};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Api, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use serde::Serialize;
use serde_json::json;
use tokio::time::{sleep, timeout};

use super::{
    burst::{count, milliseconds, percentile},
    support::{Assets, ControlPlane, Dayshift, Parts, Request, block_on, deployment, soon},
};

/// The time until the database of a star is ready, while all others wait.
const STAR_READY_AFTER: Duration = Duration::from_secs(5);

/// The timeout of every wait.
const TIMEOUT: Duration = Duration::from_secs(600);

/// The shape of the dependencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum Shape {
    /// No dependencies.
    Free,
    /// Chains of five.
    Chains,
    /// All depend on the first.
    Star,
}

/// Times are in milliseconds.
#[derive(Debug, Serialize)]
pub(crate) struct Waits {
    pub(crate) shape: Shape,
    pub(crate) starts: usize,
    /// Requests of dayshift for each start: a patch and an Event.
    pub(crate) patches_each: f64,
    pub(crate) events_each: f64,
    /// Other requests except watches.
    pub(crate) others: usize,
    /// Requests about waiting starts before their dependency was ready.
    pub(crate) while_waiting: usize,
    /// Delay of the first patch: after the boundary, or after the response to the status update
    /// of the dependency.
    pub(crate) first: f64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
    /// From the first patch to the last.
    pub(crate) took: f64,
}

impl Shape {
    /// The dependency of the start with this number.
    fn needed(self, number: usize) -> Option<usize> {
        match self {
            Self::Chains if !number.is_multiple_of(5) => Some(number - 1),
            Self::Star if number > 0 => Some(0),
            _ => None,
        }
    }

    /// Whether another start depends on this number.
    fn is_needed(self, number: usize, all: usize) -> bool {
        (number + 1 < all) && self.needed(number + 1) == Some(number)
    }
}

fn name(number: usize) -> String {
    format!("web-{number:05}")
}

fn number(name: &str) -> usize {
    name.rsplit('-').next().unwrap().parse().unwrap()
}

/// Measures each shape with `all` Deployments in one namespace.
pub(crate) fn run(assets: &Assets, program: &Path, all: usize) -> Vec<Waits> {
    let plane = ControlPlane::start(assets, Parts::Server);
    let kubeconfig = plane.install();
    let mut dayshift = Dayshift::run_program(program, kubeconfig, &["run"]);
    dayshift.wait_ready();
    let shapes = [Shape::Free, Shape::Chains, Shape::Star];
    let figures = shapes.map(|shape| one(&plane, shape, all));
    dayshift.stop();
    figures.into()
}

fn one(plane: &ControlPlane, shape: Shape, all: usize) -> Waits {
    let team = plane.namespace("waits");
    let api: Api<Deployment> = Api::namespaced(plane.client().clone(), team.name());
    // Time to create and adopt them: fifty a second on a busy machine.
    let start = soon(15 + i64::try_from(all / 25).unwrap());
    let params = PostParams::default();
    let creations = (0..all).map(|number| {
        let web = deployment(&name(number)).replicas(0).start(start.text());
        let web = match shape.needed(number) {
            Some(needed) => {
                web.annotation("dayshift/after", format!("deploy/{}, 1h", name(needed)))
            }
            None => web,
        };
        let (api, params) = (&api, &params);
        async move { api.create(params, &web.into()).await }
    });
    let creations = stream::iter(creations).buffered(32).try_collect::<Vec<_>>();
    block_on(creations).unwrap();
    assert!(
        start.0 > Utc::now() + TimeDelta::seconds(5),
        "the preparation took too long: the machine is too busy"
    );
    // Skip requests that still belong to adoptions.
    let half_second = TimeDelta::milliseconds(500);
    let rest = (start.0 - Utc::now() - half_second).to_std().unwrap();
    thread::sleep(rest);
    let mark = plane.audit().mark();
    let started =
        block_on(async { timeout(TIMEOUT, report_dependencies_ready(&api, shape, all)).await });
    started.expect("not all are started");
    // The Events are sent last.
    let mut requests = plane.audit().since(mark);
    let begun = Utc::now();
    while requests.iter().filter(|it| is_event(it)).count() < all {
        assert!(
            begun + TimeDelta::seconds(60) > Utc::now(),
            "too few Events"
        );
        thread::sleep(Duration::from_millis(200));
        requests = plane.audit().since(mark);
    }
    requests.retain(|it| it.namespace == team.name());
    measure(&requests, shape, start.micros(), all)
}

/// Updates the status of each dependency to ready until all run.
async fn report_dependencies_ready(api: &Api<Deployment>, shape: Shape, all: usize) {
    let params = WatchParams::default().timeout(290).disable_bookmarks();
    let mut events = api.watch(&params, "0").await.unwrap().boxed();
    let mut runs = BTreeMap::new();
    while runs.len() < all {
        let Some(Ok(WatchEvent::Added(it) | WatchEvent::Modified(it))) = events.next().await else {
            panic!("the watch has ended");
        };
        let name = it.metadata.name.unwrap();
        let count = it.spec.unwrap().replicas.unwrap_or_default();
        if count == 0 || runs.insert(name.clone(), count).is_some() {
            continue;
        }
        if shape.is_needed(number(&name), all) {
            let (api, generation) = (api.clone(), it.metadata.generation);
            let status = json!({"status": {
                "observedGeneration": generation, "replicas": count, "readyReplicas": count,
            }});
            tokio::spawn(async move {
                if shape == Shape::Star {
                    sleep(STAR_READY_AFTER).await;
                }
                let params = PatchParams::default();
                let patch = Patch::Merge(status);
                api.patch_status(&name, &params, &patch).await.unwrap();
            });
        }
    }
}

fn is_event(request: &Request) -> bool {
    request.is_dayshift() && request.resource == "events" && request.verb == "create"
}

fn measure(requests: &[Request], shape: Shape, instant: i64, all: usize) -> Waits {
    let (ours, others): (Vec<_>, Vec<_>) = requests.iter().partition(|it| it.is_dayshift());
    let statuses = others
        .iter()
        .filter(|it| it.resource == "deployments/status");
    let ready: BTreeMap<_, _> = statuses.map(|it| (number(&it.name), it.answered)).collect();
    let patches = ours.iter().filter(|it| it.verb == "patch");
    let patches: Vec<_> = patches.collect();
    let cause = |it: &Request| match shape.needed(number(&it.name)) {
        Some(needed) => ready.get(&needed).copied().unwrap_or(i64::MAX),
        None => instant,
    };
    // Only starts that wait, unless the shape has none.
    let waits = |it: &Request| shape == Shape::Free || shape.needed(number(&it.name)).is_some();
    let late: Vec<_> = patches
        .iter()
        .filter(|it| it.is_made() && waits(it))
        .collect();
    let late: Vec<_> = late.into_iter().map(|it| it.received - cause(it)).collect();
    let arrived: Vec<_> = patches.iter().map(|it| it.received).collect();
    let arrival = |part| milliseconds(percentile(&late, part));
    let events = ours.iter().filter(|it| is_event(it)).count();
    let watches = ours.iter().filter(|it| it.verb == "watch").count();
    // The server can respond a little after it stored and sent the status.
    let early = |it: &&&Request| {
        it.resource == "deployments" && it.verb != "watch" && it.received < cause(it) - 100_000
    };
    Waits {
        shape,
        starts: all,
        patches_each: count(patches.len()) / count(all),
        events_each: count(events) / count(all),
        others: ours.len() - patches.len() - events - watches,
        while_waiting: ours.iter().filter(early).count(),
        first: arrival(0.0),
        p50: arrival(0.5),
        p99: arrival(0.99),
        max: arrival(1.0),
        took: milliseconds(percentile(&arrived, 1.0) - percentile(&arrived, 0.0)),
    }
}

impl fmt::Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, after) = match self.shape {
            Shape::Free => ("without dependencies", "the boundary"),
            Shape::Chains => ("in chains of five", "their dependency was ready"),
            Shape::Star => ("all waiting for one database", "the database was ready"),
        };
        writeln!(f, "{} starts, {what}", self.starts)?;
        writeln!(
            f,
            "  after {after}: first {:.1} ms, p50 {:.1} ms, p99 {:.1} ms, last {:.1} ms",
            self.first, self.p50, self.p99, self.max
        )?;
        writeln!(
            f,
            "  {:.2} patches and {:.2} Events each, {} others, {} while they wait; {:.1} s in all",
            self.patches_each,
            self.events_each,
            self.others,
            self.while_waiting,
            self.took / 1e3
        )
    }
}
