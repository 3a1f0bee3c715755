//! Finding live workloads: by name, by label, or all of them.

use std::fmt::Debug;

use futures::{StreamExt as _, stream};
use http::{Request, StatusCode};
use kube::{
    Api, Client, Error,
    api::ListParams,
    core::{ObjectList, Status},
};
use serde::de::DeserializeOwned;

use crate::cluster::connection::redact::{redacted, redacted_chain};
use crate::cluster::reading::discovery::discover;
use crate::cluster::reading::list_watch::PAGE;
use crate::cluster::reading::view::{WorkloadView, api_of};
use crate::workload::Kind;

/// How many are read by name at a time.
const AT_ONCE: usize = 8;

/// Which workloads are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// Those of these names, which are taken to be names of objects, in one namespace.
    Named {
        /// The namespace.
        namespace: String,
        /// The kinds and names.
        names: Vec<(Kind, String)>,
    },
    /// All of one namespace, or of all namespaces, or what a label selector takes of them.
    All {
        /// Of these kinds.
        kinds: Vec<Kind>,
        /// The namespace; none for all.
        namespace: Option<String>,
        /// The label selector; none takes everything.
        selector: Option<String>,
    },
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Found<D> {
    /// The workloads, each with its kind: those asked for by name in the order in which they were
    /// named, others by kind, namespace and name.
    pub workloads: Vec<(Kind, D)>,
    /// Those that were named and are not there.
    pub missing: Vec<Missing>,
}

/// A workload that was named and is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}.{}/{name} is not in namespace {namespace}", .kind.singular(), .kind.group())]
pub struct Missing {
    /// Its kind.
    pub kind: Kind,
    /// Where it is not.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// Why nothing can be found, whether it is there or not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// The user may not (403).
    #[error("not allowed to {verb} {} in {place}: {message}", .kind.names_of_all())]
    Forbidden {
        /// The kind of workload.
        kind: Kind,
        /// What is not allowed: `get`, `list` or `watch`.
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
    /// No answer, or none that can be understood.
    #[error("the API server is not available: {0}")]
    Unavailable(String),
}

/// Objects that were asked for and may not be read, or cannot be, beside others that may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Which part of what was asked for.
    pub part: Part,
    /// What the API server says.
    pub error: FindError,
}

/// What may be refused apart from the rest of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The kind.
    pub kind: Kind,
    /// The name, where it is one object; none where it is all of the kind.
    pub name: Option<String>,
}

impl Part {
    /// Whether an object of the query belongs to it.
    pub fn includes(&self, kind: Kind, name: &str) -> bool {
        self.kind == kind && self.name.as_deref().is_none_or(|it| it == name)
    }
}

/// Workloads of the cluster, each as a `D`: [`Workload`](crate::cluster::Workload), or another view of one;
/// and what of the query may not be read, beside the rest. A list is read in pages of 100.
///
/// # Errors
/// Where the server is absent or unwilling, and where nothing of it may be read. A name that does not
/// exist is not an error; it stands in [`Found::missing`].
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
    // Lists come one after the other: each may be long.
    let at_once = if query.is_by_name() { AT_ONCE } else { 1 };
    let mut answers = stream::iter(parts)
        .map(|(part, _)| async move { (found_of(client, query, &part).await, part) })
        .buffered(at_once);
    while let Some((answer, part)) = answers.next().await {
        match (answer, part) {
            (Ok(workloads), Part { kind, name }) => {
                if let Some(name) = name.filter(|_| workloads.is_empty()) {
                    found.missing.push(Missing {
                        kind,
                        namespace: query.namespace().unwrap_or_default().to_owned(),
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

/// The workloads of a part of a query; none where the one that it names is not there.
async fn found_of<D: WorkloadView>(
    client: &Client,
    query: &Query,
    part: &Part,
) -> Result<Vec<D>, FindError> {
    let kind = part.kind;
    let answer = async {
        discover(client, kind).await?;
        let api = api_of::<D>(client, kind, query.namespace());
        match &part.name {
            Some(name) => api.get_opt(name).await.map(Vec::from_iter),
            None => listed(&api, query.selector()).await,
        }
    };
    let verb = if part.name.is_some() { "get" } else { "list" };
    let sorted = |error| FindError::sort(verb, kind, &query.place(), error);
    answer.await.map_err(sorted)
}

/// Whether there is a namespace of that name; `None` where that cannot be told, such as without
/// the permission to ask.
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

/// The namespace of a query that found nothing, where it does not exist; `None` where it does, or
/// the user may not ask.
pub async fn missing_namespace<'q>(client: &Client, query: &'q Query) -> Option<&'q str> {
    let name = query.namespace()?;
    (namespace_exists(client, name).await == Some(false)).then_some(name)
}

/// What is said of a namespace that does not exist.
pub fn no_namespace(name: &str) -> String {
    format!("namespace {name} does not exist")
}

/// All of them, in pages.
pub(in crate::cluster) async fn listed<D: Clone + Debug + DeserializeOwned>(
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
            // The server keeps the pages of a list for some minutes only: all of it at once.
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
    /// The one namespace that it is about; `None` for all.
    pub fn namespace(&self) -> Option<&str> {
        match self {
            Self::Named { namespace, .. } => Some(namespace),
            Self::All { namespace, .. } => namespace.as_deref(),
        }
    }

    /// The label selector, where there is one.
    fn selector(&self) -> Option<&str> {
        match self {
            Self::Named { .. } => None,
            Self::All { selector, .. } => selector.as_deref(),
        }
    }

    /// What of it may be refused apart: each kind, or each name, and the query for that alone.
    pub fn parts(&self) -> Vec<(Part, Self)> {
        let part = |kind: Kind, name: Option<&String>| Part {
            kind,
            name: name.cloned(),
        };
        match self {
            Self::Named { namespace, names } => {
                let of = |it: &(Kind, String)| Self::Named {
                    namespace: namespace.clone(),
                    names: vec![it.clone()],
                };
                let each = names.iter();
                each.map(|it| (part(it.0, Some(&it.1)), of(it))).collect()
            }
            Self::All {
                kinds,
                namespace,
                selector,
            } => {
                let of = |kind| Self::All {
                    kinds: vec![kind],
                    namespace: namespace.clone(),
                    selector: selector.clone(),
                };
                let each = kinds.iter();
                each.map(|kind| (part(*kind, None), of(*kind))).collect()
            }
        }
    }

    /// The same without what is refused.
    pub fn without(&self, refused: &[Refused]) -> Self {
        let is_left = |kind: Kind, name: Option<&String>| {
            let is_it = |it: &Refused| (it.part.kind, it.part.name.as_ref()) == (kind, name);
            !refused.iter().any(is_it)
        };
        let mut rest = self.clone();
        match &mut rest {
            Self::Named { names, .. } => names.retain(|(kind, name)| is_left(*kind, Some(name))),
            Self::All { kinds, .. } => kinds.retain(|kind| is_left(*kind, None)),
        }
        rest
    }

    /// Whether the objects are named.
    pub const fn is_by_name(&self) -> bool {
        matches!(self, Self::Named { .. })
    }

    /// That nothing with a schedule is among what it asks for: `no scheduled Deployment in
    /// namespace lab matches app=web`.
    pub fn nothing_scheduled(&self) -> String {
        let kind = match self {
            Self::All { kinds, .. } if kinds.len() == 1 => kinds[0].name(),
            _ => "workload",
        };
        match self {
            Self::All {
                selector: Some(selector),
                ..
            } => format!("no scheduled {kind} in {} matches {selector}", self.place()),
            Self::All {
                namespace: None, ..
            } => format!("no {kind} has a schedule in any namespace"),
            _ => format!("no {kind} has a schedule in {}", self.place()),
        }
    }

    /// `namespace dev` or `all namespaces`.
    pub fn place(&self) -> String {
        match self {
            Self::Named { namespace, .. }
            | Self::All {
                namespace: Some(namespace),
                ..
            } => format!("namespace {namespace}"),
            Self::All { .. } => "all namespaces".to_owned(),
        }
    }
}

impl FindError {
    /// Whether it is about a kind, or one object, alone: others may be read.
    pub const fn is_refusal(&self) -> bool {
        self.kind().is_some()
    }

    /// The kind that it is about; `None` where it is about all.
    pub const fn kind(&self) -> Option<Kind> {
        match self {
            Self::Forbidden { kind, .. } | Self::NotServed { kind, .. } => Some(*kind),
            Self::Unauthorized(_) | Self::Refused(_) | Self::Unavailable(_) => None,
        }
    }

    pub(in crate::cluster) fn sort(
        verb: &'static str,
        kind: Kind,
        place: &str,
        error: Error,
    ) -> Self {
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
