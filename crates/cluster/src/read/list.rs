//! Objects of any kind, as the API server sends them.

use std::fmt::Debug;

use dayshift_workload::Kind;
use http::{Request, StatusCode};
use kube::{
    Api, Client, Error,
    api::ListParams,
    core::{ObjectList, Status},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    connect::redact::{redacted, redacted_chain},
    decode::views::WorkloadView,
};

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

/// The result of a list.
#[derive(Clone, Debug)]
pub enum RawList {
    /// The objects.
    Items(Vec<Value>),
    /// The server has no such kind.
    Absent,
    /// The user may not list them; the words of the API server.
    Forbidden(String),
}

/// The objects of a collection such as `/apis/apps/v1/deployments`, in pages of 500.
///
/// # Errors
/// Where the server is absent or unwilling.
pub async fn list_raw(
    client: &Client,
    path: &str,
    selector: Option<&str>,
) -> Result<RawList, FindError> {
    let selector = selector.map(|it| ("labelSelector", it));
    list_raw_where(client, path, selector.as_slice()).await
}

/// The same with any parameters.
pub(crate) async fn list_raw_where(
    client: &Client,
    path: &str,
    parameters: &[(&str, &str)],
) -> Result<RawList, FindError> {
    let mut all = Vec::new();
    let mut token = String::new();
    let mut limit = Some("500");
    loop {
        let query = {
            let mut query = form_urlencoded::Serializer::new(String::new());
            query.extend_pairs(limit.map(|it| ("limit", it)));
            query.extend_pairs(parameters);
            if !token.is_empty() {
                query.append_pair("continue", &token);
            }
            query.finish()
        };
        let mut page = match get_value(client, &format!("{path}?{query}")).await {
            Ok(page) => page,
            Err(Error::Api(status)) if status.code == 404 => return Ok(RawList::Absent),
            Err(Error::Api(status)) if status.code == 403 => {
                return Ok(RawList::Forbidden(status.message));
            }
            // The server keeps the pages of a list for some minutes only: read all of it at once.
            Err(Error::Api(status)) if status.code == 410 && limit.is_some() => {
                all.clear();
                token.clear();
                limit = None;
                continue;
            }
            Err(error) => return Err(sort(error)),
        };
        if let Some(Value::Array(items)) = page.get_mut("items").map(Value::take) {
            all.extend(items);
        }
        match page["metadata"]["continue"].as_str() {
            Some(next) if !next.is_empty() => next.clone_into(&mut token),
            _ => return Ok(RawList::Items(all)),
        }
    }
}

/// One object, such as `/api/v1/namespaces/dev`; `None` if it does not exist.
///
/// # Errors
/// Where the server is absent or unwilling.
pub async fn get_raw(client: &Client, path: &str) -> Result<Option<Value>, FindError> {
    match get_value(client, path).await {
        Ok(object) => Ok(Some(object)),
        Err(Error::Api(status)) if status.code == 404 => Ok(None),
        Err(error) => Err(sort(error)),
    }
}

async fn get_value(client: &Client, path: &str) -> Result<Value, Error> {
    let request = Request::get(path)
        .body(Vec::new())
        .map_err(Error::HttpError)?;
    client.request(request).await
}

/// Why a request was not answered. The callers tell a missing object and a forbidden one apart
/// before.
pub(crate) fn sort(error: Error) -> FindError {
    match error {
        Error::Api(status) if status.code == 401 => FindError::Unauthorized(status.message),
        Error::Api(status) => {
            let said = format!("{}: {}", status.code, status.message);
            if (400..500).contains(&status.code) && status.code != 429 {
                FindError::Refused(said)
            } else {
                FindError::Unavailable(said)
            }
        }
        Error::Auth(error) => FindError::Unauthorized(redacted(&error)),
        error => FindError::Unavailable(redacted_chain(&error)),
    }
}

/// How many objects a page of a list has. A page is in memory three times over while it is read, at
/// some 10 kB for each Deployment.
pub(crate) const PAGE: u32 = 100;

/// The workloads of a kind in one namespace, or in all.
pub(crate) fn api_of<D: WorkloadView>(
    client: &Client,
    kind: Kind,
    namespace: Option<&str>,
) -> Api<D> {
    match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &kind),
        None => Api::all_with(client.clone(), &kind),
    }
}

/// How many requests of a command are under way at once.
pub(crate) const AT_ONCE: usize = 8;

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
