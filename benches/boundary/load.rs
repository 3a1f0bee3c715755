//! Many workloads of realistic size.

use std::fmt;

use chrono::{DateTime, Utc};
use dayshift_workload::Kind;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use kube::{
    api::{Api, DynamicObject, PostParams},
    discovery::ApiResource,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    large::large,
    support::{ControlPlane, Namespace, block_on},
};

/// The number of workloads in a Namespace.
const TEAM: usize = 250;

/// The number of workloads of each kind.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Fleet {
    pub(crate) deployments: usize,
    pub(crate) stateful_sets: usize,
    pub(crate) cron_jobs: usize,
}

impl Fleet {
    pub(crate) fn deployments(deployments: usize) -> Self {
        Self {
            deployments,
            ..Self::default()
        }
    }

    /// The number of workloads of all kinds.
    pub(crate) fn len(self) -> usize {
        self.deployments + self.stateful_sets + self.cron_jobs
    }

    fn kind(self, number: usize) -> Kind {
        if number < self.deployments {
            Kind::DEPLOYMENT
        } else if number < self.deployments + self.stateful_sets {
            Kind::STATEFUL_SET
        } else {
            Kind::CRON_JOB
        }
    }
}

impl fmt::Display for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Deployments", self.deployments)?;
        if self.stateful_sets + self.cron_jobs > 0 {
            write!(
                f,
                ", {} StatefulSets and {} CronJobs",
                self.stateful_sets, self.cron_jobs
            )?;
        }
        Ok(())
    }
}

/// The annotations of successive boundaries: stop, start, stop, …
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

/// Creates the Namespaces for `count` workloads.
pub(crate) fn namespaces<'p>(
    plane: &'p ControlPlane,
    name: &str,
    count: usize,
) -> Vec<Namespace<'p>> {
    (0..count.div_ceil(TEAM))
        .map(|_| plane.namespace(name))
        .collect()
}

/// Creates a fleet in these Namespaces: three replicas each if the kind has replicas, each with its
/// own plan or without annotations. Returns the server's objects as JSON.
pub(crate) fn create<'a>(
    plane: &ControlPlane,
    teams: &[Namespace<'_>],
    name: &str,
    fleet: Fleet,
    plan: impl Fn(usize) -> Option<&'a Plan>,
) -> Vec<(Kind, Vec<u8>)> {
    let requests = (0..fleet.len()).map(|number| {
        let team = teams[number / TEAM].name();
        let annotations = plan(number).map_or(json!({}), Plan::annotations);
        let name = format!("{name}-{number:05}");
        let kind = fleet.kind(number);
        async move { create_one(plane, &kind, team, name, annotations).await }
    });
    let all = stream::iter(requests).buffered(32).try_collect();
    block_on(all).unwrap()
}

async fn create_one(
    plane: &ControlPlane,
    kind: &Kind,
    namespace: &str,
    name: String,
    annotations: Value,
) -> kube::Result<(Kind, Vec<u8>)> {
    let resource = ApiResource {
        group: kind.group().to_owned(),
        version: kind.version().into_owned(),
        api_version: kind.api_version().clone(),
        kind: kind.name().to_owned(),
        plural: kind.plural().to_owned(),
    };
    let api: Api<DynamicObject> =
        Api::namespaced_with(plane.client().clone(), namespace, &resource);
    let params = PostParams {
        field_manager: Some("kubectl-client-side-apply".to_owned()),
        ..PostParams::default()
    };
    let definition = definition(kind, namespace, &name, &annotations);
    let definition = serde_json::from_value(definition).unwrap();
    let made = api.create(&params, &definition).await?;
    Ok((kind.clone(), serde_json::to_vec(&made).unwrap()))
}

/// An object of this kind with realistic pods.
fn definition(kind: &Kind, namespace: &str, name: &str, annotations: &Value) -> Value {
    let mut object = large(namespace, name, annotations);
    object["apiVersion"] = kind.api_version().into();
    object["kind"] = kind.name().into();
    if *kind == Kind::STATEFUL_SET {
        object["spec"]["serviceName"] = name.into();
    } else if *kind == Kind::CRON_JOB {
        let mut template = object["spec"]["template"].take();
        template["spec"]["restartPolicy"] = "OnFailure".into();
        object["spec"] = json!({
            "schedule": "17 3 * * *",
            "suspend": false,
            "jobTemplate": {"spec": {"template": template}},
        });
    }
    object
}
