//! Paged lists and single objects, typed or as JSON, and the error that all queries share.

use std::time::Duration;

use bytes::Bytes;
use dayshift_workload::{Kind, fields::BoundedValue};
use http::{Request, StatusCode};
use kube::{Client, Error, client::Body, core::ObjectList};
use serde_json::Value;

use crate::{
    connect::{
        middleware::{MAX_RESPONSE, bounded_by, error_status, is_too_large},
        redact::{redacted, redacted_chain},
    },
    decode::{kind_api::collection_path, metadata::Part},
};

/// Why a query failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// The user does not have the permission (403).
    #[error("not allowed to {verb} {} in {place}: {message}", .kind.names_of_all())]
    Forbidden {
        /// The kind.
        kind: Kind,
        /// The verb that is not allowed: `get`, `list` or `watch`.
        verb: &'static str,
        /// `namespace dev` or `all namespaces`.
        place: String,
        /// The message of the API server.
        message: String,
    },
    /// The server does not have the kind (404).
    #[error("the API server does not have {}: {message}", .kind.resource())]
    NotServed {
        /// The kind.
        kind: Kind,
        /// The message of the API server.
        message: String,
    },
    /// The server does not accept the credentials (401).
    #[error("the API server does not accept the credentials: {0}")]
    Unauthorized(String),
    /// The server rejects the request.
    #[error("the API server refuses: {0}")]
    Rejected(String),
    /// There is no response, or one that cannot be decoded.
    #[error("the API server is not available: {0}")]
    Unavailable(String),
}

impl FindError {
    /// Whether the error concerns only one kind or one object, so that others might be readable.
    pub fn is_refusal(&self) -> bool {
        self.kind().is_some()
    }

    /// The kind that the error concerns; `None` if it concerns all.
    pub fn kind(&self) -> Option<&Kind> {
        match self {
            Self::Forbidden { kind, .. } | Self::NotServed { kind, .. } => Some(kind),
            Self::Unauthorized(_) | Self::Rejected(_) | Self::Unavailable(_) => None,
        }
    }

    pub(crate) fn classify(verb: &'static str, kind: &Kind, place: &str, error: Error) -> Self {
        match error {
            Error::Api(status) if status.code == 403 => Self::Forbidden {
                kind: kind.clone(),
                verb,
                place: place.to_owned(),
                message: status.message,
            },
            Error::Api(status) if status.code == 404 => Self::NotServed {
                kind: kind.clone(),
                message: status.message,
            },
            error => query_error(error),
        }
    }
}

/// The result of a list of any kind.
#[derive(Clone, Debug)]
pub enum RawList<K> {
    /// The kept part of each object.
    Items(Vec<K>),
    /// The server does not have the kind.
    Absent,
    /// The user may not list the kind; the message of the API server.
    Forbidden(String),
}

/// The longest time to read a list that only adds information to a status, which should not wait longer.
pub(crate) const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// Why a list that only adds information is missing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// The user may not list the kind; the message of the API server.
    #[error("{0}")]
    Forbidden(String),
    /// The list is not complete within the time limit.
    #[error("the list takes longer than {} s", READ_TIMEOUT.as_secs())]
    TimedOut,
}

impl ListError {
    /// Whether the user lacks a permission.
    pub const fn is_forbidden(&self) -> bool {
        matches!(self, Self::Forbidden(_))
    }
}

/// Lists a collection such as `/apis/apps/v1/deployments`, in pages, and keeps the result of a function of each
/// object: whole objects can have megabytes each.
///
/// # Errors
/// If the API server cannot be reached, or the request fails for another reason than a missing kind or
/// permission.
pub async fn list_raw<K>(
    client: &Client,
    path: &str,
    selector: Option<&str>,
    kept: impl Fn(Value) -> K,
) -> Result<RawList<K>, FindError> {
    let selector = selector.map(|selector| ("labelSelector", selector));
    list_raw_where(client, path, selector.as_slice(), kept).await
}

/// Like [`list_raw`], with any query parameters.
pub(crate) async fn list_raw_where<K>(
    client: &Client,
    path: &str,
    parameters: &[(&str, &str)],
    kept: impl Fn(Value) -> K,
) -> Result<RawList<K>, FindError> {
    // Each object is bounded by itself, because any user can write one.
    let kept = |BoundedValue(object)| kept(object);
    let decode = |json: &[u8]| serde_json::from_slice(json);
    match pages(client, path, parameters, decode, kept).await {
        Ok(items) => Ok(RawList::Items(items)),
        Err(Error::Api(status)) if status.code == 404 => Ok(RawList::Absent),
        Err(Error::Api(status)) if status.code == 403 => Ok(RawList::Forbidden(status.message)),
        Err(error) => Err(query_error(error)),
    }
}

/// The largest page of several objects, in bytes. Some lists are read in the process of the controller, and decoded
/// labels need ten times their bytes.
const MAX_PAGE: usize = 4 << 20;

/// The largest list that is read at once, in bytes.
const MAX_WHOLE: usize = 64 << 20;

/// Lists a collection in pages, and keeps the result of a function of each object. If a page is too large, it is
/// requested again with a tenth of its size, because any user can write objects of megabytes. After each page, the
/// next one can have twice as many objects: those of one user should not slow down the rest of the list.
pub(crate) async fn pages<D: Clone, K>(
    client: &Client,
    path: &str,
    parameters: &[(&str, &str)],
    decode: impl Fn(&[u8]) -> serde_json::Result<ObjectList<D>>,
    kept: impl Fn(D) -> K,
) -> Result<Vec<K>, Error> {
    let mut all = Vec::new();
    let (mut limit, mut token) = (Some(PAGE), String::new());
    // Whether the token is that of an expired list.
    let mut is_renewed = false;
    loop {
        let query = {
            let mut query = form_urlencoded::Serializer::new(String::new());
            query.extend_pairs(limit.iter().map(|limit| ("limit", limit.to_string())));
            query.extend_pairs(parameters);
            if !token.is_empty() {
                query.append_pair("continue", &token);
            }
            query.finish()
        };
        let max = match limit {
            None => MAX_WHOLE,
            Some(1) => MAX_RESPONSE,
            Some(_) => MAX_PAGE,
        };
        let page = match get(client, &format!("{path}?{query}"), max).await {
            // The server keeps the pages of a list for a few minutes only. kube-apiserver then offers a token for the
            // rest as it is now. If another server does not, read everything at once.
            Err(Error::Api(status)) if status.code == 410 && limit.is_some() => {
                let renewed = status.metadata.and_then(|list| list.continue_);
                let renewed = renewed.filter(|token| !token.is_empty() && !is_renewed);
                is_renewed = renewed.is_some();
                if renewed.is_none() {
                    all.clear();
                    limit = None;
                }
                token = renewed.unwrap_or_default();
                continue;
            }
            Err(error) if limit > Some(1) && is_too_large(&error) => {
                limit = limit.map(|limit| limit.div_ceil(10));
                continue;
            }
            page => decode(&page?).map_err(Error::SerdeError)?,
        };
        all.extend(page.items.into_iter().map(&kept));
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(next) => token = next,
            None => return Ok(all),
        }
        limit = limit.map(|limit| PAGE.min(2 * limit));
        is_renewed = false;
    }
}

/// Reads one object, such as `/api/v1/namespaces/dev`; `None` if it does not exist.
///
/// # Errors
/// If the API server cannot be reached or the request fails.
pub async fn get_raw(client: &Client, path: &str) -> Result<Option<Value>, FindError> {
    match get(client, path, MAX_RESPONSE).await {
        Ok(json) => match serde_json::from_slice(&json) {
            Ok(BoundedValue(object)) => Ok(Some(object)),
            Err(error) => Err(query_error(Error::SerdeError(error))),
        },
        Err(Error::Api(status)) if status.code == 404 => Ok(None),
        Err(error) => Err(query_error(error)),
    }
}

/// Reads a response of at most `max` bytes.
pub(crate) async fn get(client: &Client, path: &str, max: usize) -> Result<Bytes, Error> {
    let request = Request::get(path)
        .body(Body::empty())
        .map_err(Error::HttpError)?;
    let (parts, body) = client.send(request).await?.into_parts();
    let text = bounded_by(body, max).await.map_err(Error::Service)?;
    let code = parts.status;
    if !code.is_client_error() && !code.is_server_error() {
        return Ok(text);
    }
    Err(Error::Api(error_status(code, &text)))
}

/// Classifies an error. Callers handle missing objects and missing permissions before.
pub(crate) fn query_error(error: Error) -> FindError {
    match error {
        Error::Api(status) => {
            let code = StatusCode::from_u16(status.code).unwrap_or_default();
            let message = format!("{code}: {}", status.message);
            match code {
                StatusCode::UNAUTHORIZED => FindError::Unauthorized(status.message),
                StatusCode::TOO_MANY_REQUESTS => FindError::Unavailable(message),
                code if code.is_client_error() => FindError::Rejected(message),
                _ => FindError::Unavailable(message),
            }
        }
        Error::Auth(error) => FindError::Unauthorized(redacted(&error)),
        error => FindError::Unavailable(redacted_chain(&error)),
    }
}

/// The page size of a list. While a page is decoded, it is in memory three times, at about 10 kB for
/// each Deployment.
pub(crate) const PAGE: u32 = 100;

/// How many requests a command sends concurrently.
pub(crate) const AT_ONCE: usize = 8;

/// Lists objects that every server has, in one namespace or in all, and keeps the result of a function of each.
pub(crate) async fn listed<P: Part, K>(
    client: &Client,
    namespace: Option<&str>,
    selector: Option<&str>,
    kept: impl Fn(P) -> K,
) -> Result<Vec<K>, Error> {
    let path = collection_path(P::ROOT, namespace, P::PLURAL);
    let selector = selector.map(|selector| ("labelSelector", selector));
    let decode = |json: &[u8]| serde_json::from_slice(json);
    pages(client, &path, selector.as_slice(), decode, kept).await
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        sync::{Arc, Mutex},
    };

    use http::Response;
    use serde_json::json;
    use tower::service_fn;

    use super::*;

    #[tokio::test]
    async fn page_of_megabytes_is_read_in_smaller_pages() {
        let queries = Arc::<Mutex<Vec<String>>>::default();
        let asked = Arc::clone(&queries);
        let server = service_fn(move |request: Request<Body>| {
            let query = request.uri().query().unwrap().to_owned();
            let bytes = match &*query {
                "limit=100" => 5 << 20,
                // One object can be larger than a page of several.
                "limit=1" => 5 << 20,
                _ => 4 << 20,
            };
            asked.lock().unwrap().push(query);
            let page = json!({"metadata": {}, "items": [{"text": "x".repeat(bytes)}]});
            let response = Response::new(Body::from(page.to_string().into_bytes()));
            async { Ok::<_, Infallible>(response) }
        });
        let client = Client::new(server, "dev");
        let list = list_raw(&client, "/apis/apps/v1/deployments", None, |object| object).await;
        let Ok(RawList::Items(items)) = list else {
            panic!("{list:.300?}");
        };
        assert_eq!(items.len(), 1);
        assert_eq!(
            *queries.lock().unwrap(),
            ["limit=100", "limit=10", "limit=1"]
        );
    }

    /// A server whose object `n` has this many bytes. A page is at most `limit` objects from the number in the token
    /// on, and `expired` is the response to the first request with a token.
    fn server(sizes: &[usize], mut expired: Option<Value>) -> (Client, Arc<Mutex<Vec<String>>>) {
        let sizes = sizes.to_vec();
        let queries = Arc::<Mutex<Vec<String>>>::default();
        let asked = Arc::clone(&queries);
        let server = service_fn(move |request: Request<Body>| {
            let query = request.uri().query().unwrap_or_default().to_owned();
            let number = |name: &str| {
                let mut pairs = form_urlencoded::parse(query.as_bytes());
                let found = pairs.find(|(key, _)| key == name);
                found.map(|(_, text)| text.parse::<usize>().unwrap())
            };
            let (from, limit) = (number("continue"), number("limit"));
            let response = match expired.take_if(|_| from.is_some()) {
                Some(status) => Response::builder().status(410).body(status.to_string()),
                None => {
                    let from = from.unwrap_or_default();
                    let end = limit.map_or(sizes.len(), |limit| sizes.len().min(from + limit));
                    let item = |number: usize| json!({"number": number, "text": "x".repeat(sizes[number])});
                    let items: Vec<_> = (from..end).map(item).collect();
                    let next = (end < sizes.len()).then(|| end.to_string());
                    let page = json!({"metadata": {"continue": next}, "items": items});
                    Response::builder().body(page.to_string())
                }
            };
            asked.lock().unwrap().push(query);
            let response = response.unwrap().map(|text| Body::from(text.into_bytes()));
            async { Ok::<_, Infallible>(response) }
        });
        (Client::new(server, "dev"), queries)
    }

    async fn numbers(client: &Client) -> Result<Vec<u64>, Error> {
        let number = |object: Value| object["number"].as_u64().unwrap();
        let decode = |json: &[u8]| serde_json::from_slice(json);
        pages(client, "/apis/apps/v1/deployments", &[], decode, number).await
    }

    #[tokio::test]
    async fn large_objects_of_one_user_do_not_slow_down_the_rest_of_the_list() {
        let mut sizes = vec![3 << 20; 4];
        sizes.extend([10; 1_000]);
        let (client, queries) = server(&sizes, None);
        let found = numbers(&client).await.unwrap();
        assert_eq!(found, (0..1_004).collect::<Vec<_>>());
        let queries = queries.lock().unwrap();
        assert!(queries.len() < 30, "{} requests", queries.len());
    }

    #[tokio::test]
    async fn rest_of_an_expired_list_is_read_in_pages_with_the_token_of_the_server() {
        let expired = |token: Option<&str>| {
            Some(json!({
                "kind": "Status", "status": "Failure", "reason": "Expired", "code": 410,
                "metadata": {"continue": token},
            }))
        };
        // 80 MB in pages of less than 4 MiB.
        let sizes = [20_000; 4_000];
        let (client, queries) = server(&sizes, expired(Some("50")));
        let found = numbers(&client).await.unwrap();
        // The server decides where the rest begins.
        let expected: Vec<_> = (0..100).chain(50..4_000).collect();
        assert_eq!(found, expected);
        let queries = queries.lock().unwrap().clone();
        assert!(
            queries.iter().all(|query| query.contains("limit=100")),
            "{queries:?}"
        );
        // Without a token, the list is read at once, up to a bound.
        let (client, queries) = server(&sizes[..150], expired(None));
        assert_eq!(numbers(&client).await.unwrap().len(), 150);
        assert_eq!(
            *queries.lock().unwrap(),
            ["limit=100", "limit=100&continue=100", ""]
        );
        let (client, _) = server(&sizes, expired(None));
        let failed = numbers(&client).await.unwrap_err();
        assert!(is_too_large(&failed), "{failed:?}");
    }
}
