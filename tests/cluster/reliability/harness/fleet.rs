//! Deployments with different counts, so that a lost or exchanged count is detected.

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt as _, stream};
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Api, ListParams, PostParams};

use crate::support::{DeploymentBuilder, Namespace, Soon, block_on, deployment};

/// The label of all Deployments in a fleet.
pub(crate) const SELECTOR: &str = "fleet=web";

/// `web-000` with 1 replica, `web-001` with 2 and so on, all with one stop and one start.
#[derive(Clone)]
pub(crate) struct Fleet {
    originals: BTreeMap<String, i32>,
}

/// The observed state of a fleet.
#[derive(Clone, Debug, Default)]
pub(crate) struct FleetState {
    states: BTreeMap<String, String>,
    versions: BTreeSet<(String, String)>,
    /// The number of object versions that contain the original count neither as their count nor as the saved
    /// count.
    pub(crate) lost: usize,
    /// The number of object versions whose count does not match their state.
    pub(crate) wrong: usize,
}

impl Fleet {
    pub(crate) fn of(size: i32) -> Self {
        let originals = (0..size).map(|index| (format!("web-{index:03}"), 1 + index));
        Self {
            originals: originals.collect(),
        }
    }

    pub(crate) fn create(&self, namespace: &Namespace<'_>, stop: Soon, start: Soon) {
        self.create_with(namespace, &stop.text(), &start.text());
    }

    /// Creates the Deployments with these times.
    pub(crate) fn create_with(&self, namespace: &Namespace<'_>, stop: &str, start: &str) {
        self.create_each(namespace, |_| (stop.to_owned(), start.to_owned()));
    }

    /// Creates the Deployments with a stop and a start for each number.
    pub(crate) fn create_each(
        &self,
        namespace: &Namespace<'_>,
        times: impl Fn(usize) -> (String, String),
    ) {
        self.create_from(namespace, |number, web| {
            let (stop, start) = times(number);
            web.stop(stop).start(start)
        });
    }

    /// Creates the Deployments without a schedule of their own.
    pub(crate) fn create_unscheduled(&self, namespace: &Namespace<'_>) {
        self.create_from(namespace, |_, web| web);
    }

    fn create_from(
        &self,
        namespace: &Namespace<'_>,
        with_times: impl Fn(usize, DeploymentBuilder) -> DeploymentBuilder,
    ) {
        let api = deployments(namespace);
        let params = PostParams::default();
        let create = |(number, (name, replicas)): (usize, (&String, &i32))| {
            let web = deployment(name).replicas(*replicas).label("fleet", "web");
            let web = with_times(number, web).into();
            let (api, params) = (&api, &params);
            async move { api.create(params, &web).await.unwrap() }
        };
        let each = self.originals.iter().enumerate().map(create);
        let creations = stream::iter(each).buffer_unordered(16);
        block_on(creations.for_each(|_| std::future::ready(())));
    }

    pub(crate) fn len(&self) -> usize {
        self.originals.len()
    }

    /// Records one version of a Deployment. Returns false if it is known.
    pub(crate) fn record_version(
        &self,
        deployment: &Deployment,
        fleet_state: &mut FleetState,
    ) -> bool {
        let metadata = &deployment.metadata;
        let name = metadata.name.clone().unwrap();
        let version = metadata.resource_version.clone().unwrap();
        if !fleet_state.versions.insert((name.clone(), version)) {
            return false;
        }
        let label = |key: &str| metadata.labels.as_ref()?.get(key).cloned();
        let original = self.originals[&name];
        let replicas = deployment.spec.as_ref().unwrap().replicas.unwrap();
        let saved: Option<i32> = label("dayshift/saved-replicas").map(|it| it.parse().unwrap());
        let state = label("dayshift/state").unwrap_or_default();
        let right = match &*state {
            "" | "adopted" | "running" => (original, None),
            "stopped" => (0, Some(original)),
            other => panic!("{name} is {other}"),
        };
        fleet_state.wrong += usize::from((replicas, saved) != right);
        fleet_state.lost += usize::from(replicas != original && saved != Some(original));
        fleet_state.states.insert(name, state);
        true
    }

    /// The state of the fleet, from one list.
    pub(crate) fn look(&self, namespace: &Namespace<'_>) -> FleetState {
        let mut fleet_state = FleetState::default();
        for deployment in list(namespace) {
            self.record_version(&deployment, &mut fleet_state);
        }
        fleet_state
    }

    /// The number of wrong counts now, if all Deployments should run.
    pub(crate) fn count_wrong(&self, namespace: &Namespace<'_>) -> usize {
        let all = list(namespace);
        let right = all.iter().filter(|deployment| {
            let replicas = deployment.spec.as_ref().unwrap().replicas.unwrap();
            self.originals[deployment.metadata.name.as_ref().unwrap()] == replicas
        });
        self.len() - right.count()
    }
}

impl FleetState {
    /// The number of Deployments in that state.
    pub(crate) fn count(&self, state: &str) -> usize {
        self.states.values().filter(|known| *known == state).count()
    }

    /// The number of writes to all of them since their creation.
    pub(crate) fn writes(&self) -> usize {
        self.versions.len() - self.states.len()
    }
}

/// All Deployments of a fleet.
fn list(namespace: &Namespace<'_>) -> Vec<Deployment> {
    let params = ListParams::default().labels(SELECTOR);
    let all = block_on(deployments(namespace).list(&params));
    all.unwrap().items
}

fn deployments(namespace: &Namespace<'_>) -> Api<Deployment> {
    Api::namespaced(namespace.plane().client().clone(), namespace.name())
}
