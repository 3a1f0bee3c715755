//! The workloads that a HorizontalPodAutoscaler or a ScaledObject scales, or will scale.

use std::{
    collections::{BTreeSet, HashMap},
    time::Duration,
};

use dayshift_workload::{Kind, other_controllers::OtherController};
use futures::future::join_all;
use http::Request;
use kube::{Client, Error};
use serde::Deserialize;
use tokio::time::timeout;

use crate::read::query::Query;

/// How many objects one request reads.
const SCALERS_PER_PAGE: usize = 500;

/// The longest wait for all of them: their use is not worth more.
const PATIENCE: Duration = Duration::from_secs(5);

/// The workloads that HorizontalPodAutoscalers and KEDA's ScaledObjects name as their target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Autoscalers {
    scaled: HashMap<(Kind, String, String), BTreeSet<OtherController>>,
    forbidden: Vec<ForbiddenList>,
}

/// Objects that the user may not list, of a kind that the API server has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForbiddenList {
    /// `HorizontalPodAutoscalers`.
    pub name: &'static str,
    /// `horizontalpodautoscalers.autoscaling`, as RBAC and kubectl name them.
    pub resource: String,
    /// The words of the API server.
    pub message: String,
}

#[derive(Deserialize)]
struct ScalerPage {
    metadata: ScalerPageMeta,
    items: Vec<ScalerObject>,
}

#[derive(Deserialize)]
struct ScalerPageMeta {
    #[serde(default, rename = "continue")]
    token: Option<String>,
}

#[derive(Deserialize)]
struct ScalerObject {
    metadata: ScalerMeta,
    spec: ScalerSpec,
}

#[derive(Deserialize)]
struct ScalerMeta {
    namespace: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ScalerSpec {
    scale_target_ref: ScaleTargetRef,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ScaleTargetRef {
    #[serde(default)]
    api_version: Option<String>,
    #[serde(default)]
    kind: Option<String>,
    name: String,
}

/// The autoscaler, and the path of such objects.
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
    /// Reads those in the namespaces of a query, with the rights of the user. If the server does
    /// not answer in 5 s, there are none: unknown ones are not reported.
    pub async fn find(client: &Client, query: &Query) -> Self {
        let places: Vec<_> = match &*query.namespaces() {
            [] => vec![None],
            several => several.iter().map(|it| Some(*it)).collect(),
        };
        let each = places
            .into_iter()
            .flat_map(|place| SCALERS.map(|it| (it, place)));
        let lists = each.map(|(scaler, namespace)| async move {
            let found = timeout(PATIENCE, scaler.targets(client, namespace)).await;
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
                    // A kind that may not be listed in several namespaces is reported once.
                    let mut known = all.forbidden.iter();
                    if !known.any(|it: &ForbiddenList| it.resource == forbidden.resource) {
                        all.forbidden.push(forbidden);
                    }
                }
            }
        }
        for owners in all.scaled.values_mut() {
            if owners.contains(&OtherController::Keda) {
                // A ScaledObject makes an HPA of its own.
                owners.remove(&OtherController::Hpa);
            }
        }
        all
    }

    /// The kinds that may not be listed, so that autoscalers which have not acted yet are unknown.
    pub fn forbidden(&self) -> &[ForbiddenList] {
        &self.forbidden
    }

    /// The autoscaler of this workload.
    pub fn owners(
        &self,
        kind: Kind,
        namespace: &str,
        name: &str,
    ) -> impl Iterator<Item = OtherController> {
        let key = (kind, namespace.to_owned(), name.to_owned());
        let owners = self.scaled.get(&key);
        owners.into_iter().flatten().copied()
    }
}

impl ScalerKind {
    /// Their targets; none if they cannot be read.
    async fn targets(
        self,
        client: &Client,
        namespace: Option<&str>,
    ) -> Result<Vec<(Kind, String, String)>, ForbiddenList> {
        let Self {
            group,
            version,
            plural,
            ..
        } = self;
        let place = namespace.map_or_else(String::new, |name| format!("/namespaces/{name}"));
        let path = format!("/apis/{group}/{version}{place}/{plural}?limit={SCALERS_PER_PAGE}");
        match list_targets(client, &path, self.owner).await {
            Ok(targets) => Ok(targets),
            // The API server says the same about a kind that it does not have.
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

    /// Whether the API server has the group; true if it does not say.
    async fn is_served(self, client: &Client) -> bool {
        let request = Request::get(format!("/apis/{}", self.group)).body(Vec::new());
        let Ok(request) = request else { return true };
        let answer = client.request::<serde_json::Value>(request).await;
        !matches!(answer, Err(Error::Api(status)) if status.code == 404)
    }
}

async fn list_targets(
    client: &Client,
    path: &str,
    owner: OtherController,
) -> Result<Vec<(Kind, String, String)>, Error> {
    let mut found = Vec::new();
    let mut rest = String::new();
    loop {
        let request = Request::get(format!("{path}{rest}")).body(Vec::new());
        let request = request.map_err(Error::HttpError)?;
        let page: ScalerPage = client.request(request).await?;
        for it in page.items {
            let target = it.spec.scale_target_ref;
            // A ScaledObject may leave both out.
            let by_default = |text: &str| (owner == OtherController::Keda).then(|| text.to_owned());
            let version = target.api_version.or_else(|| by_default("apps/v1"));
            let kind = target.kind.or_else(|| by_default("Deployment"));
            let (version, kind) = (version.unwrap_or_default(), kind.unwrap_or_default());
            if let Some(kind) = Kind::of(&version, &kind) {
                found.push((kind, it.metadata.namespace, target.name));
            }
        }
        match page.metadata.token.filter(|token| !token.is_empty()) {
            // The server's own token: characters of base64url alone.
            Some(token) => rest = format!("&continue={token}"),
            None => return Ok(found),
        }
    }
}
