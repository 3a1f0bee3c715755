//! Discovery of kinds that are known by their resource alone.

use dayshift_workload::Kind;
use http::{Request, StatusCode};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{APIGroup, APIResourceList};
use kube::{Client, Error, core::Status};
use serde::de::DeserializeOwned;

use super::open_api::OpenApi;

/// Asks the API server for the name of a kind, unless it is known, and for the version to use: the
/// preferred one of its group, if that has the kind.
///
/// # Errors
/// If the server is absent or unwilling; 404 if it does not have the kind.
pub async fn discover(client: &Client, kind: Kind) -> Result<(), Error> {
    if kind.is_unasked() {
        discover_again(client, kind).await
    } else {
        Ok(())
    }
}

/// The same, even if the name is known: the earlier version may be gone.
///
/// # Errors
/// As for [`discover`].
pub async fn discover_again(client: &Client, kind: Kind) -> Result<(), Error> {
    let group: APIGroup = get(client, format!("/apis/{}", kind.group())).await?;
    let preferred = group.preferred_version.iter();
    for version in preferred.chain(&group.versions) {
        let path = format!("/apis/{}/{}", kind.group(), version.version);
        let resources: APIResourceList = get(client, path).await?;
        let mut resources = resources.resources.into_iter();
        if let Some(found) = resources.find(|it| it.name == kind.plural()) {
            kind.discovered(&found.kind, &version.version);
            let schemas = format!("/openapi/v3/apis/{}/{}", kind.group(), version.version);
            // Not every server has schemas; the first patch shows what they would.
            match get::<OpenApi>(client, schemas).await {
                Ok(schemas) if schemas.lacks(&found.kind, kind.path()) => note_lacks_count(kind),
                Ok(_) => {}
                Err(error) => tracing::debug!(%error, "no schema of {}", kind.resource()),
            }
            return Ok(());
        }
    }
    Err(Error::Api(Box::new(not_found(kind))))
}

/// Notes that the schema of a kind does not allow its count, and logs that if it is news. Its
/// objects are refused from now on.
pub fn note_lacks_count(kind: Kind) {
    if kind.note_lacks_count(true) {
        tracing::warn!(
            kind = kind.argument(),
            field = kind.path().join("."),
            "this kind has no such field: the API server drops what is written there; dayshift \
                scales none of its objects, so remove it from --kinds"
        );
    }
}

async fn get<T: DeserializeOwned>(client: &Client, path: String) -> Result<T, Error> {
    let request = Request::get(path).body(Vec::new());
    client.request(request.map_err(Error::HttpError)?).await
}

fn not_found(kind: Kind) -> Status {
    let message = format!("the server has no resource {}", kind.resource());
    Status::failure(&message, "NotFound").with_code(StatusCode::NOT_FOUND.as_u16())
}
