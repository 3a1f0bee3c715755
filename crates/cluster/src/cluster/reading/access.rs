//! Whether the API server has a kind, and what the caller may do with it.

use dayshift_workload::Kind;
use futures::{StreamExt as _, stream};
use http::Request;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResourceList;
use kube::{Client, Error};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{discovery::discover, find::FindError, raw::sort};

/// The verbs that dayshift needs for a kind.
pub const VERBS: [&str; 4] = ["get", "list", "watch", "patch"];

/// The verbs that dayshift needs for Jobs, where a CronJob asks for `stop-jobs`.
pub const JOB_VERBS: [&str; 2] = ["list", "patch"];

/// How many kinds are asked about at once.
const AT_ONCE: usize = 8;

/// The API server's answer about a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindAccess {
    /// Which one.
    pub kind: Kind,
    /// Whether the server has it.
    pub is_served: bool,
    /// Which of [`VERBS`] are not allowed; `None` if the server does not say.
    pub lacks: Option<Vec<&'static str>>,
}

/// Asks about each of these kinds, in one namespace or in all.
///
/// # Errors
/// Where the server is absent or unwilling.
pub async fn kind_access(
    client: &Client,
    kinds: &[Kind],
    namespace: Option<&str>,
) -> Result<Vec<KindAccess>, FindError> {
    let asked = kinds.iter().map(|kind| one(client, *kind, namespace));
    let answers: Vec<_> = stream::iter(asked).buffered(AT_ONCE).collect().await;
    answers.into_iter().collect()
}

async fn one(
    client: &Client,
    kind: Kind,
    namespace: Option<&str>,
) -> Result<KindAccess, FindError> {
    let is_served = is_served(client, kind).await?;
    let lacks = if is_served {
        lacking(client, (kind.group(), kind.plural()), &VERBS, namespace).await?
    } else {
        None
    };
    Ok(KindAccess {
        kind,
        is_served,
        lacks,
    })
}

/// Which of [`JOB_VERBS`] are not allowed, in one namespace or in all; `None` if the server does not say.
///
/// # Errors
/// Where the server is absent or unwilling.
pub async fn lacking_for_jobs(
    client: &Client,
    namespace: Option<&str>,
) -> Result<Option<Vec<&'static str>>, FindError> {
    lacking(client, ("batch", "jobs"), &JOB_VERBS, namespace).await
}

/// Which of these verbs on a resource, by its group and plural, are not allowed; `None` if the server does
/// not say.
async fn lacking(
    client: &Client,
    (group, plural): (&str, &str),
    verbs: &[&'static str],
    namespace: Option<&str>,
) -> Result<Option<Vec<&'static str>>, FindError> {
    let mut lacks = Some(Vec::new());
    for verb in verbs {
        let attributes = of_resource(group, plural, verb, namespace);
        match is_allowed(client, &attributes).await? {
            Some(true) => {}
            Some(false) => lacks.iter_mut().for_each(|it| it.push(*verb)),
            None => lacks = None,
        }
    }
    Ok(lacks)
}

async fn is_served(client: &Client, kind: Kind) -> Result<bool, FindError> {
    let found = if kind.is_discovered() {
        discover(client, kind).await.map(|()| true)
    } else {
        let path = format!("/apis/{}", kind.api_version());
        let listed = get::<APIResourceList>(client, &path).await;
        listed.map(|it| it.resources.iter().any(|it| it.name == kind.plural()))
    };
    match found {
        Err(Error::Api(status)) if status.code == 404 => Ok(false),
        found => found.map_err(sort),
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
/// Where the server is absent, or refuses the question.
pub async fn may_list(
    client: &Client,
    kind: Kind,
    namespace: Option<&str>,
) -> Result<bool, FindError> {
    let found = review(client, &of_kind(kind, "list", namespace)).await;
    Ok(found.map_err(sort)?.unwrap_or_default())
}

/// Whether the client may patch this Namespace.
///
/// # Errors
/// As [`may_list`].
pub async fn may_patch_namespace(client: &Client, name: &str) -> Result<bool, FindError> {
    let attributes = json!({
        "group": "", "resource": "namespaces", "verb": "patch", "namespace": name, "name": name,
    });
    let found = review(client, &attributes).await;
    Ok(found.map_err(sort)?.unwrap_or_default())
}

/// Whether the server allows it to the caller; `None` if it does not say.
async fn is_allowed(client: &Client, attributes: &Value) -> Result<Option<bool>, FindError> {
    match review(client, attributes).await {
        Err(Error::Api(status)) if (400..500).contains(&status.code) && status.code != 429 => {
            Ok(None)
        }
        answer => answer.map_err(sort),
    }
}

fn of_kind(kind: Kind, verb: &str, namespace: Option<&str>) -> Value {
    of_resource(kind.group(), kind.plural(), verb, namespace)
}

fn of_resource(group: &str, plural: &str, verb: &str, namespace: Option<&str>) -> Value {
    json!({"group": group, "resource": plural, "verb": verb, "namespace": namespace})
}

/// The server's answer, of which it stores nothing; `None` if it does not say.
async fn review(client: &Client, attributes: &Value) -> Result<Option<bool>, Error> {
    const PATH: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    });
    let request = Request::post(PATH).body(review.to_string().into_bytes());
    let review: Review = client.request(request.map_err(Error::HttpError)?).await?;
    Ok(review.status.map(|it| it.allowed))
}

async fn get<T: serde::de::DeserializeOwned>(client: &Client, path: &str) -> Result<T, Error> {
    let request = Request::get(path).body(Vec::new());
    client.request(request.map_err(Error::HttpError)?).await
}
