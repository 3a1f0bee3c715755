//! Asking the API server about kinds that are known by their resource alone.

use http::{Request, StatusCode};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{APIGroup, APIResourceList};
use kube::{Client, Error, core::Status};
use serde::de::DeserializeOwned;

use crate::workload::{CustomKind, Kind};

/// Finds out how the API server calls a kind, where that is not known yet, and in which version
/// it serves it: the preferred one of its group, if it has the kind.
///
/// # Errors
/// Where the server is absent or unwilling; 404 where it does not have the kind.
pub async fn discover(client: &Client, kind: Kind) -> Result<(), Error> {
    match kind {
        Kind::Custom(custom) if !custom.is_discovered() => discover_again(client, custom).await,
        _ => Ok(()),
    }
}

/// The same, whatever is known: the version that was served before may be gone.
///
/// # Errors
/// As for [`discover`].
pub async fn discover_again(client: &Client, custom: &CustomKind) -> Result<(), Error> {
    let group: APIGroup = get(client, format!("/apis/{}", custom.group())).await?;
    let preferred = group.preferred_version.iter();
    for version in preferred.chain(&group.versions) {
        let path = format!("/apis/{}/{}", custom.group(), version.version);
        let resources: APIResourceList = get(client, path).await?;
        let mut resources = resources.resources.into_iter();
        if let Some(found) = resources.find(|it| it.name == custom.plural()) {
            custom.discovered(&found.kind, &version.version);
            return Ok(());
        }
    }
    Err(Error::Api(Box::new(not_found(custom))))
}

async fn get<T: DeserializeOwned>(client: &Client, path: String) -> Result<T, Error> {
    let request = Request::get(path).body(Vec::new());
    client.request(request.map_err(Error::HttpError)?).await
}

fn not_found(custom: &CustomKind) -> Status {
    let message = format!("the server has no resource {}", custom.resource());
    Status::failure(&message, "NotFound").with_code(StatusCode::NOT_FOUND.as_u16())
}
