//! The HorizontalPodAutoscalers and KEDA ScaledObjects of a cluster, by the workload that they scale.
//! Autoscalers are found before they have changed a count for the first time.

use std::{
    collections::{BTreeSet, HashMap},
    time::Duration,
};

use dayshift_workload::{Kind, fields::BoundedValue, other_controllers::OtherController};
use futures::future::join_all;
use kube::{Client, Error};
use serde::Deserialize;
use tokio::time::timeout;

use crate::{
    decode::kind_api::collection_path,
    read::{
        list::{get_raw, pages},
        query::Query,
    },
};

/// The longest time to read all of them. They only add warnings to a status, so it should not wait
/// longer.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// The maximum length of a name in bytes. No workload has a longer one.
const MAX_NAME: usize = 253;

/// The targets of HorizontalPodAutoscalers and ScaledObjects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Autoscalers {
    scaled: HashMap<ScaleTargetKey, BTreeSet<OtherController>>,
    forbidden: Vec<ForbiddenList>,
}

/// The API group, kind, namespace and name of a scaled workload.
type ScaleTargetKey = [String; 4];

/// A kind that the API server has and the user may not list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForbiddenList {
    /// The kind in the plural, such as `HorizontalPodAutoscalers`.
    pub name: &'static str,
    /// The resource as RBAC and kubectl name it, such as `horizontalpodautoscalers.autoscaling`.
    pub resource: String,
    /// The message of the API server.
    pub message: String,
}

/// The part of an autoscaler that is read.
#[derive(Clone, Deserialize)]
struct Scaler {
    metadata: ScalerMeta,
    spec: ScalerSpec,
}

#[derive(Clone, Deserialize)]
struct ScalerMeta {
    namespace: String,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ScalerSpec {
    #[serde(default)]
    scale_target_ref: BoundedValue,
}

/// A kind of autoscaler and its API path.
#[derive(Clone, Copy)]
struct ScalerKind {
    owner: OtherController,
    name: &'static str,
    group: &'static str,
    version: &'static str,
    plural: &'static str,
}

const SCALERS: [ScalerKind; 2] = [
    ScalerKind {
        owner: OtherController::Hpa,
        name: "HorizontalPodAutoscalers",
        group: "autoscaling",
        version: "v2",
        plural: "horizontalpodautoscalers",
    },
    ScalerKind {
        owner: OtherController::Keda,
        name: "ScaledObjects",
        group: "keda.sh",
        version: "v1alpha1",
        plural: "scaledobjects",
    },
];

impl Autoscalers {
    /// Reads the autoscalers in the namespaces of a query, with the user's permissions. If the server
    /// does not respond within 5 s, the result is empty: unknown autoscalers are not reported.
    pub async fn find(client: &Client, query: &Query) -> Self {
        let each = query
            .places()
            .into_iter()
            .flat_map(|place| SCALERS.map(|scaler| (scaler, place)));
        let lists = each.map(|(scaler, namespace)| async move {
            let found = timeout(READ_TIMEOUT, scaler.targets(client, namespace)).await;
            (scaler.owner, found.unwrap_or(Ok(Vec::new())))
        });
        let mut all = Self::default();
        for (owner, found) in join_all(lists).await {
            match found {
                Ok(targets) => {
                    for target in targets {
                        all.scaled.entry(target).or_default().insert(owner);
                    }
                }
                Err(forbidden) => {
                    // A kind is reported once, even if it may not be listed in several namespaces.
                    let mut known = all.forbidden.iter();
                    if !known.any(|list: &ForbiddenList| list.resource == forbidden.resource) {
                        all.forbidden.push(forbidden);
                    }
                }
            }
        }
        for owners in all.scaled.values_mut() {
            if owners.contains(&OtherController::Keda) {
                // A ScaledObject creates an HPA of its own.
                owners.remove(&OtherController::Hpa);
            }
        }
        all
    }

    /// The kinds that may not be listed. Their autoscalers are unknown until they change a count.
    pub fn forbidden(&self) -> &[ForbiddenList] {
        &self.forbidden
    }

    /// The autoscalers of a workload.
    pub fn owners(
        &self,
        kind: &Kind,
        namespace: &str,
        name: &str,
    ) -> impl Iterator<Item = OtherController> {
        let key = [kind.group(), kind.name(), namespace, name].map(str::to_owned);
        let owners = self.scaled.get(&key);
        owners.into_iter().flatten().copied()
    }
}

impl ScalerKind {
    /// Lists the targets; empty if they cannot be read.
    async fn targets(
        self,
        client: &Client,
        namespace: Option<&str>,
    ) -> Result<Vec<ScaleTargetKey>, ForbiddenList> {
        let Self {
            group,
            version,
            plural,
            ..
        } = self;
        let root = format!("/apis/{group}/{version}/");
        let path = collection_path(&root, namespace, plural);
        let target = |scaler: Scaler| target(&scaler, self.owner);
        let decode = |json: &[u8]| serde_json::from_slice(json);
        match pages(client, &path, &[], decode, target).await {
            Ok(targets) => Ok(targets.into_iter().flatten().collect()),
            // The API server responds with 403 for an unknown kind too.
            Err(Error::Api(status)) if status.code == 403 && self.is_served(client).await => {
                Err(ForbiddenList {
                    name: self.name,
                    resource: format!("{plural}.{group}"),
                    message: status.message,
                })
            }
            Err(_) => Ok(Vec::new()),
        }
    }

    /// Whether the API server has the group; true if that cannot be determined.
    async fn is_served(self, client: &Client) -> bool {
        let group = get_raw(client, &format!("/apis/{}", self.group)).await;
        !matches!(group, Ok(None))
    }
}

/// The target of an autoscaler. A ScaledObject can omit its version and kind.
fn target(scaler: &Scaler, owner: OtherController) -> Option<ScaleTargetKey> {
    let BoundedValue(target) = &scaler.spec.scale_target_ref;
    let text = |name, default| match target[name].as_str() {
        None if owner == OtherController::Keda => default,
        text => text.unwrap_or_default(),
    };
    let (version, kind) = (text("apiVersion", "apps/v1"), text("kind", "Deployment"));
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let name = target["name"].as_str()?;
    let key = [group, kind, &scaler.metadata.namespace, name];
    // Nothing limits the length of these.
    let is_short = key.iter().all(|text| text.len() <= MAX_NAME);
    is_short.then(|| key.map(str::to_owned))
}
