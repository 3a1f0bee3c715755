//! Finding live workloads: by name, by label, or all of them.

use std::{collections::BTreeSet, fmt::Debug};

use dayshift_workload::Kind;
use futures::{StreamExt as _, stream};
use http::{Request, StatusCode};
use kube::{
    Api, Client, Error, ResourceExt,
    api::ListParams,
    core::{ObjectList, Status},
};
use serde::de::DeserializeOwned;

use crate::cluster::{
    connection::redact::{redacted, redacted_chain},
    reading::{
        discovery::discover,
        namespace::NamespaceMeta,
        query::{Part, Query, place_of},
        view::{PAGE, WorkloadView, api_of},
    },
};

/// How many requests of a command are under way at once.
pub(super) const AT_ONCE: usize = 8;

/// The workloads that were found.
#[derive(Clone, Debug)]
pub struct Found<D> {
    /// The workloads, each with its kind: those asked for by name in the order in which they were
    /// named, others by kind, namespace and name.
    pub workloads: Vec<(Kind, D)>,
    /// Workloads that were named and do not exist.
    pub missing: Vec<Missing>,
}

/// A workload that was named and does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}.{}/{name} is not in namespace {namespace}", .kind.singular(), .kind.group())]
pub struct Missing {
    /// Its kind.
    pub kind: Kind,
    /// The namespace that does not have it.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// Why nothing can be found, whether it exists or not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// The user may not (403).
    #[error("not allowed to {verb} {} in {place}: {message}", .kind.names_of_all())]
    Forbidden {
        /// The kind of workload.
        kind: Kind,
        /// The verb that is not allowed: `get`, `list` or `watch`.
        verb: &'static str,
        /// `namespace dev` or `all namespaces`.
        place: String,
        /// The words of the API server.
        message: String,
    },
    /// The server does not have the kind (404).
    #[error("the API server does not have {}: {message}", .kind.resource())]
    NotServed {
        /// The kind of workload.
        kind: Kind,
        /// The words of the API server.
        message: String,
    },
    /// The server does not know who asks (401).
    #[error("the API server does not accept the credentials: {0}")]
    Unauthorized(String),
    /// The server does not want the request.
    #[error("the API server refuses: {0}")]
    Refused(String),
    /// No answer, or one that cannot be understood.
    #[error("the API server is not available: {0}")]
    Unavailable(String),
}

/// A part of a query that the user may not read, beside others that could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The part of the query.
    pub part: Part,
    /// What the API server says.
    pub error: FindError,
}

/// Workloads of the cluster, each as a `D`: [`Workload`](crate::cluster::Workload), or another view
/// of one; and the parts of the query that may not be read. A list is read in pages of 100.
///
/// # Errors
/// If the server is absent or unwilling, or nothing of the query may be read. A name that does not
/// exist is not an error; it is in [`Found::missing`].
pub async fn find<D: WorkloadView>(
    client: &Client,
    query: &Query,
) -> Result<(Found<D>, Vec<Refused>), FindError> {
    let parts = query.parts();
    let all = parts.len();
    let mut found = Found {
        workloads: Vec::new(),
        missing: Vec::new(),
    };
    let mut refused = Vec::new();
    // One list after another: each may be long.
    let at_once = if query.is_by_name() { AT_ONCE } else { 1 };
    let mut answers = stream::iter(parts)
        .map(|(part, _)| async move { (found_of(client, query, &part).await, part) })
        .buffered(at_once);
    while let Some((answer, part)) = answers.next().await {
        match (answer, part) {
            (
                Ok(workloads),
                Part {
                    kind,
                    namespace,
                    name,
                },
            ) => {
                if let Some(name) = name.filter(|_| workloads.is_empty()) {
                    found.missing.push(Missing {
                        kind,
                        namespace: namespace.unwrap_or_default(),
                        name,
                    });
                }
                let of_kind = workloads.into_iter().map(|it| (kind, it));
                found.workloads.extend(of_kind);
            }
            (Err(error), part) if error.is_refusal() => refused.push(Refused { part, error }),
            (Err(error), _) => return Err(error),
        }
    }
    match refused.first() {
        Some(first) if refused.len() == all => Err(first.error.clone()),
        _ => Ok((found, refused)),
    }
}

/// The workloads of a part of a query; none if the named one does not exist.
async fn found_of<D: WorkloadView>(
    client: &Client,
    query: &Query,
    part: &Part,
) -> Result<Vec<D>, FindError> {
    let kind = part.kind;
    let answer = async {
        discover(client, kind).await?;
        let api = api_of::<D>(client, kind, part.namespace.as_deref());
        match &part.name {
            Some(name) => api.get_opt(name).await.map(Vec::from_iter),
            None => listed(&api, query.selector()).await,
        }
    };
    let verb = if part.name.is_some() { "get" } else { "list" };
    let place = place_of(part.namespace.as_slice());
    let sorted = |error| FindError::sort(verb, kind, &place, error);
    answer.await.map_err(sorted)
}

/// Whether a namespace of that name exists; `None` if unknown, such as without the permission to
/// ask.
pub async fn namespace_exists(client: &Client, name: &str) -> Option<bool> {
    let request = Request::get(format!("/api/v1/namespaces/{name}"))
        .body(Vec::new())
        .ok()?;
    match client.request::<serde_json::Value>(request).await {
        Ok(_) => Some(true),
        Err(Error::Api(status)) if status.code == 404 && status.reason == "NotFound" => {
            let is_it = status.details.is_some_and(|it| it.kind == "namespaces");
            is_it.then_some(false)
        }
        Err(_) => None,
    }
}

/// The names of the namespaces that a label selector matches.
///
/// # Errors
/// What the API server says.
pub async fn selected_namespaces(
    client: &Client,
    selector: &str,
) -> Result<BTreeSet<String>, String> {
    let api = Api::<NamespaceMeta>::all(client.clone());
    let listed = listed(&api, Some(selector)).await;
    let names = listed.map(|all| all.iter().map(ResourceExt::name_any).collect());
    names.map_err(|error| match error {
        Error::Api(status) => status.message,
        error => redacted_chain(&error),
    })
}

/// The namespaces of a query without any match that do not exist; none if the user may not ask.
pub async fn missing_namespaces(
    client: &Client,
    query: &Query,
    is_found: impl Fn(&str) -> bool,
) -> Vec<String> {
    let mut missing = Vec::new();
    for name in query.namespaces().into_iter().filter(|it| !is_found(it)) {
        if namespace_exists(client, name).await == Some(false) {
            missing.push(name.to_owned());
        }
    }
    missing
}

/// The message about namespaces that do not exist.
pub fn no_namespaces<N: AsRef<str>>(names: &[N]) -> String {
    let verb = if names.len() == 1 { "does" } else { "do" };
    format!("{} {verb} not exist", place_of(names))
}

/// All of them, in pages.
pub(crate) async fn listed<D: Clone + Debug + DeserializeOwned>(
    api: &Api<D>,
    selector: Option<&str>,
) -> Result<Vec<D>, Error> {
    let mut params = ListParams::default().limit(PAGE);
    if let Some(selector) = selector {
        params = params.labels(selector);
    }
    let mut all = Vec::new();
    loop {
        let page: ObjectList<D> = match api.list(&params).await {
            // The server keeps the pages of a list for some minutes only: read all of it at once.
            Err(Error::Api(status)) if status.code == 410 && params.limit.is_some() => {
                all.clear();
                params.limit = None;
                params.continue_token = None;
                continue;
            }
            page => page?,
        };
        all.extend(page.items);
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => params.continue_token = Some(token),
            None => return Ok(all),
        }
    }
}

impl Query {
    /// The same without the refused parts.
    #[must_use]
    pub fn without(&self, refused: &[Refused]) -> Self {
        self.only(|part| !refused.iter().any(|it| it.part == *part))
    }
}

impl FindError {
    /// Whether it concerns one kind or one object alone, so that others may be read.
    pub const fn is_refusal(&self) -> bool {
        self.kind().is_some()
    }

    /// The kind that it concerns; `None` for all.
    pub const fn kind(&self) -> Option<Kind> {
        match self {
            Self::Forbidden { kind, .. } | Self::NotServed { kind, .. } => Some(*kind),
            Self::Unauthorized(_) | Self::Refused(_) | Self::Unavailable(_) => None,
        }
    }

    pub(crate) fn sort(verb: &'static str, kind: Kind, place: &str, error: Error) -> Self {
        match error {
            Error::Api(status) => Self::answered(verb, kind, place, *status),
            Error::Auth(error) => Self::Unauthorized(redacted(&error)),
            error => Self::Unavailable(redacted_chain(&error)),
        }
    }

    fn answered(verb: &'static str, kind: Kind, place: &str, status: Status) -> Self {
        let code = StatusCode::from_u16(status.code).unwrap_or_default();
        let message = status.message;
        match code {
            StatusCode::FORBIDDEN => Self::Forbidden {
                kind,
                verb,
                place: place.to_owned(),
                message,
            },
            StatusCode::NOT_FOUND => Self::NotServed { kind, message },
            StatusCode::UNAUTHORIZED => Self::Unauthorized(message),
            code if code.is_client_error() && code != StatusCode::TOO_MANY_REQUESTS => {
                Self::Refused(format!("{code}: {message}"))
            }
            code => Self::Unavailable(format!("{code}: {message}")),
        }
    }
}
