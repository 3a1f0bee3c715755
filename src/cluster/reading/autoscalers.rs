//! Which workloads a HorizontalPodAutoscaler scales, whether it has done so yet or not.

use std::{collections::HashSet, time::Duration};

use http::Request;
use kube::{Client, Error};
use serde::Deserialize;
use tokio::time::timeout;

use crate::workload::Kind;

/// How many are read with one request.
const PAGE: usize = 500;

/// How long the reader waits for all of them: what they add is not worth more.
const PATIENCE: Duration = Duration::from_secs(5);

/// The workloads that HorizontalPodAutoscalers name as their target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Autoscalers(HashSet<(Kind, String, String)>);

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
    api_version: String,
    kind: String,
    name: String,
}

impl Autoscalers {
    /// Reads those of a namespace, or of all, with the rights of the user. Without the permission
    /// to list them, and where the server does not answer in 5 s, there are none: what is not
    /// known is not told.
    pub async fn find(client: &Client, namespace: Option<&str>) -> Self {
        match timeout(PATIENCE, listed(client, namespace)).await {
            Ok(Ok(found)) => found,
            Ok(Err(_)) | Err(_) => Self::default(),
        }
    }

    /// Whether one of them scales this workload.
    pub fn scale(&self, kind: Kind, namespace: &str, name: &str) -> bool {
        self.0
            .contains(&(kind, namespace.to_owned(), name.to_owned()))
    }
}

async fn listed(client: &Client, namespace: Option<&str>) -> Result<Autoscalers, Error> {
    let place = namespace.map_or_else(String::new, |name| format!("/namespaces/{name}"));
    let path = format!("/apis/autoscaling/v2{place}/horizontalpodautoscalers?limit={PAGE}");
    let mut found = Autoscalers::default();
    let mut rest = String::new();
    loop {
        let request = Request::get(format!("{path}{rest}")).body(Vec::new());
        let request = request.map_err(Error::HttpError)?;
        let page: List = client.request(request).await?;
        for it in page.items {
            let target = it.spec.scale_target_ref;
            if let Some(kind) = Kind::of(&target.api_version, &target.kind) {
                found.0.insert((kind, it.metadata.namespace, target.name));
            }
        }
        match page.metadata.token.filter(|token| !token.is_empty()) {
            // The server's own token: characters of base64url alone.
            Some(token) => rest = format!("&continue={token}"),
            None => return Ok(found),
        }
    }
}
