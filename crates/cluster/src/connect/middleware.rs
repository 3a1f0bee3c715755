//! An observer of every request: its verb, its code, and the server's time.
//!
//! The client of a command with a user waiting: it asks a busy server again.
//!
//! A client that acts as somebody else, by impersonation.
//!
//! The API server's time.

use std::{error::Error as StdError, sync::Arc, time::Duration};

use bytes::Bytes;
use chrono::{DateTime, Datelike as _, Utc};
use futures::StreamExt as _;
use http::{
    Extensions, HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode,
    header::{self, InvalidHeaderValue},
};
use http_body_util::{BodyDataStream, BodyExt as _, Either, LengthLimitError, Limited};
use kube::{Client, client::Body};
use tokio::time::{sleep, timeout};
use tower::{BoxError, service_fn};
use tower_http::timeout::TimeoutBody;

use crate::decode::kind_api::kind_of_collection;

/// One request and its result.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The verb as RBAC names it: `list`, `watch`, `get`, `patch` or `create`.
    pub verb: &'static str,
    /// The status code; `None` without an answer.
    pub code: Option<u16>,
    /// The server's clock when it answered, in whole seconds (RFC 9110, `Date`).
    pub date: Option<DateTime<Utc>>,
}

/// The longest wait of a request other than a watch for its answer, and of an answer for its next
/// byte.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the rest of an event of a watch may take: the server sends an event as a whole. What holds it
/// up, such as a proxy that fills its buffer first, may hold it up until the watch ends.
const EVENT_TIMEOUT: Duration = Duration::from_secs(10);

/// The largest answer in bytes that is read as a whole. A page of a list is in memory three times
/// over while it is read, and a container of dayshift has 64 MiB.
const MAX_ANSWER: usize = 8 << 20;

/// The same client, which calls `look` after each request. Every request but a watch has a time
/// limit, which kube does not set.
pub fn instrument(client: Client, look: impl Fn(Exchange) + Send + Sync + 'static) -> Client {
    let namespace = client.default_namespace().to_owned();
    let look = Arc::new(look);
    let service = service_fn(move |request: Request<Body>| {
        let (client, look) = (client.clone(), look.clone());
        async move {
            let verb = verb(&request);
            let answer = match verb {
                "watch" => unlimited(&client, request).await,
                _ => in_time(&client, request).await,
            };
            look(Exchange {
                verb,
                code: answer
                    .as_ref()
                    .ok()
                    .map(|response| response.status().as_u16()),
                date: answer.as_ref().ok().and_then(date),
            });
            answer
        }
    });
    Client::new(service, namespace)
}

/// The body of an answer, with or without a time limit.
pub(crate) type Timely = Either<Body, TimeoutBody<Body>>;

/// The answer to a watch, without a time limit.
pub(crate) async fn unlimited(
    client: &Client,
    request: Request<Body>,
) -> Result<Response<Timely>, BoxError> {
    Ok(client.send(request).await?.map(Either::Left))
}

/// The answer to any other request, with [`REQUEST_TIMEOUT`].
pub(crate) async fn in_time(
    client: &Client,
    request: Request<Body>,
) -> Result<Response<Timely>, BoxError> {
    let answer = timeout(REQUEST_TIMEOUT, client.send(request)).await??;
    Ok(answer.map(|body| Either::Right(TimeoutBody::new(REQUEST_TIMEOUT, body))))
}

/// A whole body, if it has at most [`MAX_ANSWER`] bytes; else the error is a [`LengthLimitError`].
///
/// [`LengthLimitError`]: http_body_util::LengthLimitError
pub(crate) async fn bounded(body: Body) -> Result<Bytes, BoxError> {
    Ok(Limited::new(body, MAX_ANSWER).collect().await?.to_bytes())
}

/// The next piece of a watch. `is_within_event` says whether an event has begun and not ended: then
/// the watch ends here if the rest does not come.
pub(crate) async fn next_piece(
    body: &mut BodyDataStream<Body>,
    is_within_event: bool,
) -> Option<Result<Bytes, kube::Error>> {
    match is_within_event {
        false => body.next().await,
        true => timeout(EVENT_TIMEOUT, body.next()).await.ok()?,
    }
}

/// Whether an error says that a body is larger than [`bounded`] allows.
pub(crate) fn is_too_large(error: &(dyn StdError + 'static)) -> bool {
    let mut link = Some(error);
    while let Some(error) = link {
        if error.is::<LengthLimitError>() {
            return true;
        }
        link = error.source();
    }
    false
}

/// The verb of a request, as RBAC names it.
pub(crate) fn verb(request: &Request<Body>) -> &'static str {
    match *request.method() {
        Method::GET if is_watch(request) => "watch",
        Method::GET if kind_of_collection(request.uri().path()).is_some() => "list",
        Method::GET => "get",
        Method::PATCH => "patch",
        Method::POST => "create",
        _ => "other",
    }
}

/// Whether its answer continues until the server or the client ends it.
pub(crate) fn is_watch(request: &Request<Body>) -> bool {
    let query = request.uri().query();
    query.is_some_and(|query| query.contains("watch=true"))
}

/// The server's time; `None` if it is so far off that sums with it would overflow.
pub(crate) fn date<B>(response: &Response<B>) -> Option<DateTime<Utc>> {
    let text = response.headers().get(header::DATE)?.to_str().ok()?;
    let date = DateTime::parse_from_rfc2822(text).ok()?.to_utc();
    (1970..=9999).contains(&date.year()).then_some(date)
}

/// How many times one request is sent, as in client-go (`rest.Request`, `maxRetries`).
const TRIES: u32 = 10;

/// The longest that one request waits for a busy server, all its pauses together. A maintenance
/// page may ask for an hour; the user should hear that, not wait for it.
const PATIENCE: Duration = Duration::from_secs(60);

/// The same client, which sends a request again if the server asks for that: a 429 or a 5xx with
/// `Retry-After`, as kubectl does. `tell` hears of each pause. Every try but that of a watch has a
/// time limit.
///
/// The controller does not use it: it sends less at once instead, and other requests meanwhile.
pub fn with_retry_after(client: Client, tell: impl Fn(Duration) + Send + Sync + 'static) -> Client {
    let namespace = client.default_namespace().to_owned();
    let tell = Arc::new(tell);
    let service = service_fn(move |request: Request<Body>| {
        let (client, tell) = (client.clone(), tell.clone());
        async move {
            // The caller begins a failed watch anew.
            if verb(&request) == "watch" {
                return unlimited(&client, request).await;
            }
            send_with_retries(&client, request, &*tell).await
        }
    });
    Client::new(service, namespace)
}

/// The answer to a request, after as many tries as the server asks for and a user accepts.
async fn send_with_retries(
    client: &Client,
    mut request: Request<Body>,
    tell: &(impl Fn(Duration) + Sync),
) -> Result<Response<Timely>, BoxError> {
    let mut patience = PATIENCE;
    for _ in 1..TRIES {
        let Some(again) = copy(&request) else { break };
        let answer = in_time(client, request).await?;
        let Some(pause) = asked_pause(answer.status(), answer.headers()) else {
            return Ok(answer);
        };
        let Some(left) = patience.checked_sub(pause) else {
            return Ok(answer);
        };
        patience = left;
        drop(answer);
        tell(pause);
        sleep(pause).await;
        request = again;
    }
    in_time(client, request).await
}

/// A copy of the request; `None` if its body can be sent only once, as no body of ours.
fn copy(request: &Request<Body>) -> Option<Request<Body>> {
    let mut copy = Request::new(request.body().try_clone()?);
    *copy.method_mut() = Method::clone(request.method());
    *copy.uri_mut() = request.uri().clone();
    *copy.headers_mut() = HeaderMap::clone(request.headers());
    *copy.extensions_mut() = Extensions::clone(request.extensions());
    Some(copy)
}

/// The pause that the server asks for before the same request.
fn asked_pause(code: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    let is_passing = code == StatusCode::TOO_MANY_REQUESTS || code.is_server_error();
    retry_after(headers).filter(|_| is_passing)
}

/// `Retry-After` in seconds, the only form that the API server uses.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?;
    Some(Duration::from_secs(text.parse().ok()?))
}

/// <https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/>
const USER: HeaderName = HeaderName::from_static("impersonate-user");
const GROUP: HeaderName = HeaderName::from_static("impersonate-group");

/// The same client with the rights of this user in these groups. The API server adds
/// `system:authenticated` to them by itself. It lets the client do so only with the right to
/// impersonate each of them.
///
/// # Errors
/// Where a name cannot stand in a header.
pub fn acting_as(
    client: &Client,
    user: &str,
    groups: &[String],
) -> Result<Client, InvalidHeaderValue> {
    let mut named = HeaderMap::new();
    named.insert(USER, HeaderValue::from_bytes(user.as_bytes())?);
    for group in groups {
        named.append(GROUP, HeaderValue::from_bytes(group.as_bytes())?);
    }
    let namespace = client.default_namespace().to_owned();
    let client = client.clone();
    let service = service_fn(move |mut request: Request<Body>| {
        let client = client.clone();
        // A header that is there already would be another user.
        request.headers_mut().extend(named.clone());
        async move { client.send(request).await }
    });
    Ok(Client::new(service, namespace))
}

/// The time of the API server's clock, to a second, from the `Date` header of an answer that
/// everybody gets (`/version`); `None` without an answer.
pub async fn server_time(client: &Client) -> Option<DateTime<Utc>> {
    let request = Request::get("/version").body(Body::empty()).ok()?;
    date(&client.send(request).await.ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_of_another_era_is_none() {
        for (text, expected) in [
            ("Fri, 20 Nov 2026 10:00:00 GMT", true),
            ("31 Dec 262142 23:59:59 GMT", false),
            ("1 Jan 99999 00:00:00 GMT", false),
            ("yesterday", false),
        ] {
            let response = Response::builder().header(header::DATE, text);
            let response = response.body(Body::empty()).unwrap();
            assert_eq!(date(&response).is_some(), expected, "{text}");
        }
    }
}
