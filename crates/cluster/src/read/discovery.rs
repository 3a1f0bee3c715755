//! The kinds that the API server has: name and version of a kind that is only known by its resource,
//! whether its schema has the count field, and the caller's permissions.
//!
//! Schemas are published at `/openapi/v3/apis/…`, which every ServiceAccount may read.

use std::collections::BTreeMap;

use dayshift_workload::Kind;
use futures::{StreamExt as _, stream};
use http::{Request, StatusCode};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{APIGroup, APIResourceList};
use kube::{Client, Error, core::Status};
use serde::{
    Deserialize,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::{Value, json};

use crate::read::list::{FindError, query_error};

/// Asks the API server for the name and the version of a kind if they are unknown. The preferred version
/// of the group is chosen if it has the kind.
///
/// # Errors
/// If the request fails; 404 if the server does not have the kind.
pub async fn discover(client: &Client, kind: &Kind) -> Result<(), Error> {
    if kind.needs_discovery() {
        discover_again(client, kind).await
    } else {
        Ok(())
    }
}

/// Like [`discover`], even if the name is known: the earlier version might have been removed.
///
/// # Errors
/// See [`discover`].
pub async fn discover_again(client: &Client, kind: &Kind) -> Result<(), Error> {
    let group: APIGroup = get(client, format!("/apis/{}", kind.group())).await?;
    let preferred = group.preferred_version.iter();
    for version in preferred.chain(&group.versions) {
        let path = format!("/apis/{}/{}", kind.group(), version.version);
        let resources: APIResourceList = get(client, path).await?;
        let mut resources = resources.resources.into_iter();
        if let Some(found) = resources.find(|resource| resource.name == kind.plural()) {
            kind.discovered(&found.kind, &version.version);
            let schemas = format!("/openapi/v3/apis/{}/{}", kind.group(), version.version);
            // Not every server publishes schemas. Without one, the first patch shows whether the field
            // exists.
            match get::<OpenApi>(client, schemas).await {
                Ok(schemas) if schemas.lacks(&found.kind, kind.path()) => {
                    record_schema_lacks_count(kind);
                }
                Ok(_) => {}
                Err(error) => tracing::debug!(%error, "no schema of {}", kind.resource()),
            }
            return Ok(());
        }
    }
    Err(Error::Api(Box::new(not_found(kind))))
}

/// Records that the schema of a kind does not have the count field, and logs a warning the first time.
/// From then on its objects are rejected.
fn record_schema_lacks_count(kind: &Kind) {
    if kind.record_schema_lacks_count() {
        tracing::warn!(
            kind = kind.argument(),
            field = kind.path().join("."),
            "this kind has no such field: the API server drops what is written there; dayshift \
                scales none of its objects, so remove it from --kinds"
        );
    }
}

/// Records that the API server has dropped the count of an object in a namespace, and logs a warning the first
/// time. From then on the objects of the kind in this namespace are rejected.
pub fn record_dropped_count(kind: &Kind, namespace: &str) {
    if kind.record_dropped_count(namespace) {
        tracing::warn!(
            kind = kind.argument(),
            namespace,
            field = kind.path().join("."),
            "this kind has no such field, or a webhook removes it: the API server drops what is written \
                there; dayshift scales none of its objects in this namespace"
        );
    }
}

async fn get<T: DeserializeOwned>(client: &Client, path: String) -> Result<T, Error> {
    let request = Request::get(path).body(Vec::new());
    client.request(request.map_err(Error::HttpError)?).await
}

fn not_found(kind: &Kind) -> Status {
    let message = format!("the server has no resource {}", kind.resource());
    Status::failure(&message, "NotFound").with_code(StatusCode::NOT_FOUND.as_u16())
}

/// The verbs that dayshift needs for each kind.
pub const VERBS: [&str; 4] = ["get", "list", "watch", "patch"];

/// The verbs that dayshift needs for Jobs if a CronJob sets `stop-jobs`.
pub const JOB_VERBS: [&str; 2] = ["list", "patch"];

const KINDS_AT_ONCE: usize = 8;

/// Whether a kind is available and which permissions are missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindAccess {
    /// The kind.
    pub kind: Kind,
    /// Whether the API server has the kind.
    pub is_served: bool,
    /// The verbs of [`VERBS`] that are not allowed; `None` if that is unknown.
    pub lacks: Option<Vec<&'static str>>,
}

/// Checks these kinds in one namespace or in all.
///
/// # Errors
/// If the API server cannot be reached or fails.
pub async fn kind_access(
    client: &Client,
    kinds: &[Kind],
    namespace: Option<&str>,
) -> Result<Vec<KindAccess>, FindError> {
    let checks = kinds.iter().map(|kind| access_to(client, kind, namespace));
    let results: Vec<_> = stream::iter(checks).buffered(KINDS_AT_ONCE).collect().await;
    results.into_iter().collect()
}

async fn access_to(
    client: &Client,
    kind: &Kind,
    namespace: Option<&str>,
) -> Result<KindAccess, FindError> {
    let is_served = is_served(client, kind).await?;
    let lacks = if is_served {
        lacking(client, (kind.group(), kind.plural()), &VERBS, namespace).await?
    } else {
        None
    };
    Ok(KindAccess {
        kind: kind.clone(),
        is_served,
        lacks,
    })
}

/// The verbs of [`JOB_VERBS`] that are not allowed, in one namespace or in all; `None` if that is
/// unknown.
///
/// # Errors
/// If the API server cannot be reached or fails.
pub async fn lacking_for_jobs(
    client: &Client,
    namespace: Option<&str>,
) -> Result<Option<Vec<&'static str>>, FindError> {
    lacking(client, ("batch", "jobs"), &JOB_VERBS, namespace).await
}

/// The verbs that are not allowed on a resource, given its group and plural; `None` if that is unknown.
async fn lacking(
    client: &Client,
    (group, plural): (&str, &str),
    verbs: &[&'static str],
    namespace: Option<&str>,
) -> Result<Option<Vec<&'static str>>, FindError> {
    let mut lacks = Some(Vec::new());
    for verb in verbs {
        let attributes = resource_attributes(group, plural, verb, namespace);
        match is_allowed(client, &attributes).await? {
            Some(true) => {}
            Some(false) => lacks.iter_mut().for_each(|lacks| lacks.push(*verb)),
            None => lacks = None,
        }
    }
    Ok(lacks)
}

async fn is_served(client: &Client, kind: &Kind) -> Result<bool, FindError> {
    let found = if kind.is_discovered() {
        discover(client, kind).await.map(|()| true)
    } else {
        let path = format!("/apis/{}", kind.api_version());
        let listed = get::<APIResourceList>(client, path).await;
        listed.map(|resource| {
            resource
                .resources
                .iter()
                .any(|resource| resource.name == kind.plural())
        })
    };
    match found {
        Err(Error::Api(status)) if status.code == 404 => Ok(false),
        found => found.map_err(query_error),
    }
}

#[derive(Deserialize)]
struct Review {
    status: Option<ReviewStatus>,
}

#[derive(Deserialize)]
struct ReviewStatus {
    allowed: bool,
}

/// Whether the client may list a kind, in one namespace or in all.
///
/// # Errors
/// If the API server cannot be reached or rejects the access review.
pub async fn may_list(
    client: &Client,
    kind: &Kind,
    namespace: Option<&str>,
) -> Result<bool, FindError> {
    may(client, &kind_attributes(kind, "list", namespace)).await
}

/// Whether the client may patch a kind, in one namespace or in all, and with a name this object.
///
/// # Errors
/// See [`may_list`].
pub async fn may_patch(
    client: &Client,
    kind: &Kind,
    namespace: Option<&str>,
    name: Option<&str>,
) -> Result<bool, FindError> {
    let mut attributes = kind_attributes(kind, "patch", namespace);
    attributes["name"] = name.into();
    may(client, &attributes).await
}

/// Whether the client may patch this Namespace.
///
/// # Errors
/// See [`may_list`].
pub async fn may_patch_namespace(client: &Client, name: &str) -> Result<bool, FindError> {
    let attributes = json!({
        "group": "", "resource": "namespaces", "verb": "patch", "namespace": name, "name": name,
    });
    may(client, &attributes).await
}

async fn may(client: &Client, attributes: &Value) -> Result<bool, FindError> {
    let is_allowed = review(client, attributes).await.map_err(query_error)?;
    Ok(is_allowed.unwrap_or_default())
}

/// Whether the caller has the permission; `None` if the server rejects the access review.
async fn is_allowed(client: &Client, attributes: &Value) -> Result<Option<bool>, FindError> {
    match review(client, attributes).await {
        Err(Error::Api(status)) if (400..500).contains(&status.code) && status.code != 429 => {
            Ok(None)
        }
        result => result.map_err(query_error),
    }
}

fn kind_attributes(kind: &Kind, verb: &str, namespace: Option<&str>) -> Value {
    resource_attributes(kind.group(), kind.plural(), verb, namespace)
}

fn resource_attributes(group: &str, plural: &str, verb: &str, namespace: Option<&str>) -> Value {
    json!({"group": group, "resource": plural, "verb": verb, "namespace": namespace})
}

/// Sends a SelfSubjectAccessReview, which the server does not store. `None` if the response has no
/// status.
async fn review(client: &Client, attributes: &Value) -> Result<Option<bool>, Error> {
    const PATH: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    });
    let request = Request::post(PATH).body(review.to_string().into_bytes());
    let review: Review = client.request(request.map_err(Error::HttpError)?).await?;
    Ok(review.status.map(|status| status.allowed))
}

/// The schemas of one group and version. Unused parts are skipped during decoding.
#[derive(Debug, Deserialize)]
pub(crate) struct OpenApi {
    #[serde(default)]
    components: Components,
}

#[derive(Debug, Default, Deserialize)]
struct Components {
    #[serde(default)]
    schemas: BTreeMap<String, Schema>,
}

#[derive(Debug, Deserialize)]
struct Schema {
    properties: Option<BTreeMap<String, Schema>>,
    #[serde(default, rename = "x-kubernetes-preserve-unknown-fields")]
    keeps_unknown: bool,
    #[serde(default, rename = "x-kubernetes-group-version-kind")]
    kinds: Vec<GroupVersionKind>,
    /// Each of these can add properties.
    #[serde(rename = "additionalProperties")]
    additional: Option<IgnoredAny>,
    #[serde(rename = "allOf")]
    all_of: Option<IgnoredAny>,
    #[serde(rename = "$ref")]
    reference: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
struct GroupVersionKind {
    kind: String,
}

impl Schema {
    /// The properties; `None` if there can be others.
    fn all_properties(&self) -> Option<&BTreeMap<String, Self>> {
        let may_have_others = self.keeps_unknown
            || self.additional.is_some()
            || self.all_of.is_some()
            || self.reference.is_some();
        self.properties.as_ref().filter(|_| !may_have_others)
    }

    /// Whether the schema does not allow a field.
    fn lacks<T: AsRef<str>>(&self, path: &[T]) -> bool {
        let (Some((name, below)), Some(properties)) = (path.split_first(), self.all_properties())
        else {
            return false;
        };
        properties
            .get(name.as_ref())
            .is_none_or(|schema| schema.lacks(below))
    }
}

impl OpenApi {
    /// Whether the schema of a kind is known and does not allow a field such as `spec.replicas`. If so,
    /// the API server drops writes to it. `metadata` exists in every object.
    pub(crate) fn lacks<T: AsRef<str>>(&self, kind: &str, path: &[T]) -> bool {
        let mut schemas = self.components.schemas.values();
        let schema = schemas.find(|schema| schema.kinds.iter().any(|schema| schema.kind == kind));
        path.first()
            .is_none_or(|token| token.as_ref() != "metadata")
            && schema.is_some_and(|schema| schema.lacks(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lacks(properties: &Value, more: &Value) -> bool {
        let mut schema = json!({
            "type": "object",
            "properties": properties,
            "x-kubernetes-group-version-kind": [{"group": "g", "kind": "Plane", "version": "v1"}],
        });
        let more = more.as_object().unwrap().clone();
        schema.as_object_mut().unwrap().extend(more);
        let all = json!({"openapi": "3.0.0", "components": {"schemas": {
            "com.example.v1.Plane": schema,
            "com.example.v1.PlaneList": {"type": "object", "required": ["items"]},
        }}});
        let read: OpenApi = serde_json::from_value(all).unwrap();
        let count = ["spec", "replicas"];
        assert!(!read.lacks("Boat", &count));
        assert!(!read.lacks("Plane", &["metadata", "annotations", "a/b"]));
        read.lacks("Plane", &count)
    }

    #[test]
    fn a_count_field_is_missing_only_if_the_schema_excludes_it() {
        let none = json!({});
        let keeps = json!({"x-kubernetes-preserve-unknown-fields": true});
        let spec = |spec: Value| json!({"metadata": {"type": "object"}, "spec": spec});
        let folds = json!({"type": "object", "properties": {"folds": {"type": "integer"}}});
        for (properties, more, expected) in [
            (spec(folds.clone()), &none, true),
            (json!({"metadata": {}, "data": {}}), &none, true),
            (spec(folds), &keeps, false),
            (
                spec(json!({"properties": {"replicas": {"type": "integer"}}})),
                &none,
                false,
            ),
            (
                spec(
                    json!({"properties": {"folds": {}}, "x-kubernetes-preserve-unknown-fields": true}),
                ),
                &none,
                false,
            ),
            (
                spec(json!({"type": "object", "additionalProperties": {"type": "integer"}})),
                &none,
                false,
            ),
            (spec(json!({"type": "object"})), &none, false),
            (
                spec(json!({"$ref": "#/components/schemas/Spec"})),
                &none,
                false,
            ),
            (
                spec(json!({"allOf": [{"$ref": "#/components/schemas/Spec"}]})),
                &none,
                false,
            ),
        ] {
            assert_eq!(lacks(&properties, more), expected, "{properties} {more}");
        }
    }
}
