//! Which workloads a HorizontalPodAutoscaler or a ScaledObject scales, whether it has done so yet or not.

use std::{
    collections::{BTreeSet, HashMap},
    time::Duration,
};

use futures::future::join_all;
use http::Request;
use kube::{Client, Error};
use serde::Deserialize;
use tokio::time::timeout;

use crate::workload::{Kind, Owner};

/// How many are read with one request.
const PAGE: usize = 500;

/// How long the reader waits for all of them: what they add is not worth more.
const PATIENCE: Duration = Duration::from_secs(5);

/// The workloads that HorizontalPodAutoscalers and KEDA's ScaledObjects name as their target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Autoscalers(HashMap<(Kind, String, String), BTreeSet<Owner>>);

#[derive(Deserialize)]
struct List {
    metadata: ListMeta,
    items: Vec<Autoscaler>,
}

#[derive(Deserialize)]
struct ListMeta {
    #[serde(default, rename = "continue")]
    token: Option<String>,
}

#[derive(Deserialize)]
struct Autoscaler {
    metadata: Meta,
    spec: Spec,
}

#[derive(Deserialize)]
struct Meta {
    namespace: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    scale_target_ref: Target,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Target {
    #[serde(default)]
    api_version: Option<String>,
    #[serde(default)]
    kind: Option<String>,
    name: String,
}

/// Who scales, and where the API server has such objects.
const LISTS: [(Owner, &str, &str); 2] = [
    (
        Owner::Hpa,
        "/apis/autoscaling/v2",
        "horizontalpodautoscalers",
    ),
    (Owner::Keda, "/apis/keda.sh/v1alpha1", "scaledobjects"),
];

impl Autoscalers {
    /// Reads those of a namespace, or of all, with the rights of the user. Without the permission
    /// to list them, and where the server does not answer in 5 s, there are none: what is not
    /// known is not told.
    pub async fn find(client: &Client, namespace: Option<&str>) -> Self {
        let lists = LISTS.map(|(owner, root, plural)| async move {
            let place = namespace.map_or_else(String::new, |name| format!("/namespaces/{name}"));
            let path = format!("{root}{place}/{plural}?limit={PAGE}");
            let found = timeout(PATIENCE, listed(client, &path, owner)).await;
            (owner, found.ok().and_then(Result::ok).unwrap_or_default())
        });
        let mut all = Self::default();
        for (owner, found) in join_all(lists).await {
            for target in found {
                all.0.entry(target).or_default().insert(owner);
            }
        }
        for owners in all.0.values_mut() {
            if owners.contains(&Owner::Keda) {
                // It makes an HPA of its own.
                owners.remove(&Owner::Hpa);
            }
        }
        all
    }

    /// Who of them scales this workload.
    pub fn owners(&self, kind: Kind, namespace: &str, name: &str) -> impl Iterator<Item = Owner> {
        let key = (kind, namespace.to_owned(), name.to_owned());
        let owners = self.0.get(&key);
        owners.into_iter().flatten().copied()
    }
}

async fn listed(
    client: &Client,
    path: &str,
    owner: Owner,
) -> Result<Vec<(Kind, String, String)>, Error> {
    let mut found = Vec::new();
    let mut rest = String::new();
    loop {
        let request = Request::get(format!("{path}{rest}")).body(Vec::new());
        let request = request.map_err(Error::HttpError)?;
        let page: List = client.request(request).await?;
        for it in page.items {
            let target = it.spec.scale_target_ref;
            // Both may be left out of a ScaledObject.
            let by_default = |text: &str| (owner == Owner::Keda).then(|| text.to_owned());
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
