//! Deployments as large as real ones, many at a time.

use chrono::{DateTime, Utc};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Api, PostParams};
use serde_json::{Value, json};

use crate::large::large;
use crate::support::{ControlPlane, Namespace, block_on};

/// How many of them share a Namespace.
const TEAM: usize = 250;

/// The annotations of one boundary after another: stop, start, stop, …
#[derive(Clone, Debug)]
pub(crate) struct Plan(pub(crate) Vec<DateTime<Utc>>);

impl Plan {
    fn annotations(&self) -> Value {
        let cron = |first: usize| {
            let times = self.0.iter().skip(first).step_by(2);
            let texts: Vec<_> = times
                .map(|at| at.format("%-S %-M %-H %-d %-m *").to_string())
                .collect();
            texts.join("; ")
        };
        let mut annotations = json!({"dayshift/stop": cron(0)});
        if self.0.len() > 1 {
            annotations["dayshift/start"] = cron(1).into();
        }
        annotations
    }
}

/// Namespaces for `count` Deployments.
pub(crate) fn namespaces<'p>(
    plane: &'p ControlPlane,
    name: &str,
    count: usize,
) -> Vec<Namespace<'p>> {
    (0..count.div_ceil(TEAM))
        .map(|_| plane.namespace(name))
        .collect()
}

/// Makes `count` Deployments with three replicas in those Namespaces, each with its own plan or
/// without annotations.
pub(crate) fn create<'a>(
    plane: &ControlPlane,
    teams: &[Namespace<'_>],
    name: &str,
    count: usize,
    plan: impl Fn(usize) -> Option<&'a Plan>,
) {
    let requests = (0..count).map(|number| {
        let team = teams[number / TEAM].name();
        let annotations = plan(number).map_or(json!({}), Plan::annotations);
        create_one(plane, team, format!("{name}-{number:05}"), annotations)
    });
    let all = stream::iter(requests)
        .buffer_unordered(32)
        .try_collect::<()>();
    block_on(all).unwrap();
}

async fn create_one(
    plane: &ControlPlane,
    namespace: &str,
    name: String,
    annotations: Value,
) -> kube::Result<()> {
    let deployments: Api<Deployment> = Api::namespaced(plane.client().clone(), namespace);
    let params = PostParams {
        field_manager: Some("kubectl-client-side-apply".to_owned()),
        ..PostParams::default()
    };
    let definition = serde_json::from_value(large(namespace, &name, &annotations)).unwrap();
    deployments.create(&params, &definition).await.map(drop)
}
