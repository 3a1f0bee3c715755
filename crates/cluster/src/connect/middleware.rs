//! Wrappers around a client: observation of requests, time limits, retries if the server asks for them,
//! and impersonation. Also the helpers that bound the size and the duration of responses.

use std::{error::Error as StdError, iter::successors, sync::Arc, time::Duration};

use bytes::Bytes;
use chrono::{DateTime, Datelike as _, Utc};
use dayshift_text::cut_bytes;
use futures::StreamExt as _;
use http::{
    Extensions, HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode,
    header::{self, InvalidHeaderValue},
};
use http_body_util::{BodyDataStream, BodyExt as _, Either, LengthLimitError, Limited};
use kube::{Client, client::Body, core::Status};
use tokio::time::{sleep, timeout};
use tower::{BoxError, service_fn};
use tower_http::timeout::TimeoutBody;

use crate::decode::{kind_api::is_collection, protobuf::Malformed};

/// One request and its result.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The verb as RBAC names it: `list`, `watch`, `get`, `patch` or `create`.
    pub verb: &'static str,
    /// The status code; `None` if there was no response.
    pub code: Option<u16>,
    /// The server's clock when it responded, in whole seconds (the `Date` header of RFC 9110).
    pub date: Option<DateTime<Utc>>,
}

/// The longest time that a request other than a watch waits for its response, and a response for its
/// next byte.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// The longest time that the rest of a watch event may take to arrive. The server sends each event as a
/// whole, but a proxy that fills its buffer first could delay the rest until the watch ends.
const EVENT_TIMEOUT: Duration = Duration::from_secs(10);

/// The largest response that is read as a whole, and the largest event of a watch in JSON, in bytes. One
/// object always fits: etcd stores at most 1.5 MiB by default, and JSON escapes a character such as `<`
/// as six bytes. While a page of a list is decoded, it is in memory three times, and dayshift's container
/// has 64 MiB.
pub(crate) const MAX_RESPONSE: usize = 10 << 20;

/// Wraps a client: calls `observe` after each request, and sets a time limit for every request but a
/// watch. kube sets none.
pub fn instrument(client: Client, observe: impl Fn(Exchange) + Send + Sync + 'static) -> Client {
    let namespace = client.default_namespace().to_owned();
    let observe = Arc::new(observe);
    let service = service_fn(move |request: Request<Body>| {
        let (client, observe) = (client.clone(), observe.clone());
        async move {
            let verb = verb(&request);
            let response = match verb {
                "watch" => unlimited(&client, request).await,
                _ => with_time_limit(&client, request).await,
            };
            observe(Exchange {
                verb,
                code: response
                    .as_ref()
                    .ok()
                    .map(|response| response.status().as_u16()),
                date: response.as_ref().ok().and_then(date),
            });
            response
        }
    });
    Client::new(service, namespace)
}

/// A response body, with or without a time limit.
pub(crate) type TimeLimitedBody = Either<Body, TimeoutBody<Body>>;

/// Sends a watch, which has no time limit.
pub(crate) async fn unlimited(
    client: &Client,
    request: Request<Body>,
) -> Result<Response<TimeLimitedBody>, BoxError> {
    Ok(client.send(request).await?.map(Either::Left))
}

/// Sends any other request, with [`REQUEST_TIMEOUT`].
pub(crate) async fn with_time_limit(
    client: &Client,
    request: Request<Body>,
) -> Result<Response<TimeLimitedBody>, BoxError> {
    let response = timeout(REQUEST_TIMEOUT, client.send(request)).await??;
    Ok(response.map(|body| Either::Right(TimeoutBody::new(REQUEST_TIMEOUT, body))))
}

/// Reads a whole body of at most [`MAX_RESPONSE`] bytes. If it is larger, the error is a
/// [`LengthLimitError`].
///
/// [`LengthLimitError`]: http_body_util::LengthLimitError
pub(crate) async fn bounded(body: Body) -> Result<Bytes, BoxError> {
    bounded_by(body, MAX_RESPONSE).await
}

/// Like [`bounded`], of at most this many bytes.
pub(crate) async fn bounded_by(body: Body, max: usize) -> Result<Bytes, BoxError> {
    Ok(Limited::new(body, max).collect().await?.to_bytes())
}

/// Returns the next piece of a watch. If an event has begun and not ended (`is_within_event`), the watch
/// ends here when the rest does not arrive in time.
pub(crate) async fn next_piece(
    body: &mut BodyDataStream<Body>,
    is_within_event: bool,
) -> Option<Result<Bytes, kube::Error>> {
    match is_within_event {
        false => body.next().await,
        true => timeout(EVENT_TIMEOUT, body.next()).await.ok()?,
    }
}

/// The maximum length of the message in an error response that is kept, in bytes. A webhook can write one of
/// megabytes, which would fill the logs and the queue of Events.
pub(crate) const MAX_MESSAGE: usize = 1024;

/// The status in the body of an error response. A proxy can respond with any text.
pub(crate) fn error_status(code: StatusCode, body: &[u8]) -> Box<Status> {
    let mut status = serde_json::from_slice::<Status>(body).unwrap_or_else(|_| {
        let text = String::from_utf8_lossy(body);
        Status::failure(cut_bytes(text.trim(), 200), "Unknown")
    });
    let kept = cut_bytes(&status.message, MAX_MESSAGE).len();
    status.message.truncate(kept);
    status.with_code(code.as_u16()).boxed()
}

/// Whether the error means that a body exceeded the limit of [`bounded`], or its JSON that of
/// [`to_json`](crate::decode::protobuf::to_json).
pub(crate) fn is_too_large(error: &(dyn StdError + 'static)) -> bool {
    causes(error).any(|error| {
        let malformed = error.downcast_ref::<Malformed>();
        error.is::<LengthLimitError>() || matches!(malformed, Some(Malformed::LargeJson))
    })
}

/// Whether the error means that a response arrived but cannot be decoded.
pub(crate) fn is_malformed(error: &(dyn StdError + 'static)) -> bool {
    causes(error).any(<dyn StdError>::is::<Malformed>)
}

/// An error and its causes.
pub(crate) fn causes<'e>(
    error: &'e (dyn StdError + 'static),
) -> impl Iterator<Item = &'e (dyn StdError + 'static)> {
    successors(Some(error), |error| (*error).source())
}

/// The verb of a request as RBAC names it.
pub(crate) fn verb(request: &Request<Body>) -> &'static str {
    match *request.method() {
        Method::GET if is_watch(request) => "watch",
        Method::GET if is_collection(request.uri().path()) => "list",
        Method::GET => "get",
        Method::PATCH => "patch",
        Method::POST => "create",
        _ => "other",
    }
}

/// Whether the response continues until the server or the client ends it.
pub(crate) fn is_watch(request: &Request<Body>) -> bool {
    let query = request.uri().query();
    query.is_some_and(|query| query.contains("watch=true"))
}

/// The server's time; `None` if it is so far off that calculations with it would overflow.
pub(crate) fn date<B>(response: &Response<B>) -> Option<DateTime<Utc>> {
    let text = response.headers().get(header::DATE)?.to_str().ok()?;
    let date = DateTime::parse_from_rfc2822(text).ok()?.to_utc();
    (1970..=9999).contains(&date.year()).then_some(date)
}

/// How many times a request is sent, as in client-go (`rest.Request`, `maxRetries`).
const TRIES: u32 = 10;

/// The longest time that one request waits for a busy server, with all its pauses. If a maintenance page
/// asks for an hour, the user should get the error instead of waiting.
const MAX_RETRY_TIME: Duration = Duration::from_secs(60);

/// Wraps a client for commands: if the server asks for a retry, with a 429 or a 5xx and `Retry-After`,
/// the request is sent again, as kubectl does. Calls `on_pause` before each pause. Every attempt but a
/// watch has a time limit.
///
/// The controller does not use it. It reduces the number of concurrent requests instead, and sends other
/// requests meanwhile.
pub fn with_retry_after(
    client: Client,
    on_pause: impl Fn(Duration) + Send + Sync + 'static,
) -> Client {
    let namespace = client.default_namespace().to_owned();
    let on_pause = Arc::new(on_pause);
    let service = service_fn(move |request: Request<Body>| {
        let (client, on_pause) = (client.clone(), on_pause.clone());
        async move {
            // If a watch fails, the caller restarts it.
            if verb(&request) == "watch" {
                return unlimited(&client, request).await;
            }
            send_with_retries(&client, request, &*on_pause).await
        }
    });
    Client::new(service, namespace)
}

/// Sends a request as many times as the server asks for, within [`TRIES`] and [`MAX_RETRY_TIME`].
async fn send_with_retries(
    client: &Client,
    mut request: Request<Body>,
    on_pause: &(impl Fn(Duration) + Sync),
) -> Result<Response<TimeLimitedBody>, BoxError> {
    let mut remaining = MAX_RETRY_TIME;
    for _ in 1..TRIES {
        let Some(again) = copy(&request) else { break };
        let response = with_time_limit(client, request).await?;
        let Some(pause) = requested_pause(response.status(), response.headers()) else {
            return Ok(response);
        };
        let Some(left) = remaining.checked_sub(pause) else {
            return Ok(response);
        };
        remaining = left;
        drop(response);
        on_pause(pause);
        sleep(pause).await;
        request = again;
    }
    with_time_limit(client, request).await
}

/// Copies a request; `None` if its body can be sent only once, which no body of dayshift's is.
fn copy(request: &Request<Body>) -> Option<Request<Body>> {
    let mut copy = Request::new(request.body().try_clone()?);
    *copy.method_mut() = Method::clone(request.method());
    *copy.uri_mut() = request.uri().clone();
    *copy.headers_mut() = HeaderMap::clone(request.headers());
    *copy.extensions_mut() = Extensions::clone(request.extensions());
    Some(copy)
}

/// The pause that the server asks for before the same request.
fn requested_pause(code: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    let is_passing = code == StatusCode::TOO_MANY_REQUESTS || code.is_server_error();
    retry_after(headers).filter(|_| is_passing)
}

/// Parses `Retry-After` in seconds, the only form that the API server uses.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?;
    Some(Duration::from_secs(text.parse().ok()?))
}

/// See <https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/>.
const USER: HeaderName = HeaderName::from_static("impersonate-user");
const GROUP: HeaderName = HeaderName::from_static("impersonate-group");

/// Wraps a client: it impersonates this user with these groups. The API server adds
/// `system:authenticated` to the groups. The client needs the right to impersonate the user and each
/// group.
///
/// # Errors
/// If a name is not a valid header value.
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
        // Another value of this header would name a different user.
        request.headers_mut().extend(named.clone());
        async move { client.send(request).await }
    });
    Ok(Client::new(service, namespace))
}

/// The API server's clock, to the second, from the `Date` header of a response that every client may
/// read (`/version`). `None` if there is no response.
pub async fn server_time(client: &Client) -> Option<DateTime<Utc>> {
    let request = Request::get("/version").body(Body::empty()).ok()?;
    date(&client.send(request).await.ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_of_the_api_server_and_of_proxies_are_cut() {
        let long = "x".repeat(1 << 20);
        let status = Status::failure(&long, "Forbidden");
        let status = serde_json::to_string(&status).unwrap();
        for (body, expected) in [(status, MAX_MESSAGE), (long, 200)] {
            let status = error_status(StatusCode::FORBIDDEN, body.as_bytes());
            assert_eq!(status.message.len(), expected, "{body:.40}");
        }
    }

    #[test]
    fn a_date_outside_the_calendar_is_ignored() {
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
