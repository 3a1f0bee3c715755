//! The HorizontalPodAutoscalers and KEDA ScaledObjects of a cluster, by the workload that they scale.
//! Autoscalers are found before they have changed a count for the first time.

use std::collections::{BTreeSet, HashMap};

use dayshift_workload::{Kind, fields::BoundedValue, other_controllers::OtherController};
use futures::future::join_all;
use kube::{Client, Error};
use serde::Deserialize;
use tokio::time::timeout;

use crate::{
    decode::kind_api::collection_path,
    read::{
        list::{ListError, READ_TIMEOUT, get_raw, pages},
        query::Query,
    },
};

/// The maximum length of a name in bytes. No workload has a longer one.
const MAX_NAME: usize = 253;

/// The targets of HorizontalPodAutoscalers and ScaledObjects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Autoscalers {
    scaled: HashMap<ScaleTargetKey, BTreeSet<OtherController>>,
    unreadable: Vec<UnreadableList>,
}

/// The API group, kind, namespace and name of a scaled workload.
type ScaleTargetKey = [String; 4];

/// A kind that the API server has and whose list is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableList {
    /// The kind in the plural, such as `HorizontalPodAutoscalers`.
    pub name: &'static str,
    /// The resource as RBAC and kubectl name it, such as `horizontalpodautoscalers.autoscaling`.
    pub resource: String,
    /// The reason.
    pub error: ListError,
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
    /// Reads the autoscalers in the namespaces of a query, with the user's permissions. Each list
    /// can take 5 s.
    pub async fn find(client: &Client, query: &Query) -> Self {
        let each = query
            .places()
            .into_iter()
            .flat_map(|place| SCALERS.map(|scaler| (scaler, place)));
        let lists = each.map(|(scaler, namespace)| async move {
            let found = timeout(READ_TIMEOUT, scaler.targets(client, namespace)).await;
            (scaler, found.unwrap_or(Err(ListError::TimedOut)))
        });
        let mut all = Self::default();
        for (scaler, found) in join_all(lists).await {
            match found {
                Ok(targets) => {
                    for target in targets {
                        all.scaled.entry(target).or_default().insert(scaler.owner);
                    }
                }
                Err(error) => {
                    // A kind is reported once, even if it cannot be listed in several namespaces.
                    let mut known = all.unreadable.iter();
                    if !known.any(|list: &UnreadableList| list.name == scaler.name) {
                        all.unreadable.push(UnreadableList {
                            name: scaler.name,
                            resource: format!("{}.{}", scaler.plural, scaler.group),
                            error,
                        });
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

    /// The kinds whose lists are missing. Their autoscalers are unknown until they change a count.
    pub fn unreadable(&self) -> &[UnreadableList] {
        &self.unreadable
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
    /// Lists the targets; empty if the API server does not have the kind or fails.
    async fn targets(
        self,
        client: &Client,
        namespace: Option<&str>,
    ) -> Result<Vec<ScaleTargetKey>, ListError> {
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
                Err(ListError::Forbidden(status.message))
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
