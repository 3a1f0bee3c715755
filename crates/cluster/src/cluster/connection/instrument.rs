//! An observer of every request: its verb, its code, and the server's time.

use std::{error::Error as StdError, sync::Arc, time::Duration};

use bytes::Bytes;
use chrono::{DateTime, Datelike as _, Utc};
use futures::StreamExt as _;
use http::{Method, Request, Response, header};
use http_body_util::{BodyDataStream, BodyExt as _, Either, LengthLimitError, Limited};
use kube::{Client, client::Body};
use tokio::time::timeout;
use tower::{BoxError, service_fn};
use tower_http::timeout::TimeoutBody;

use crate::cluster::resource::kind_of_collection;

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
pub(super) type Timely = Either<Body, TimeoutBody<Body>>;

/// The answer to a watch, without a time limit.
pub(super) async fn unlimited(
    client: &Client,
    request: Request<Body>,
) -> Result<Response<Timely>, BoxError> {
    Ok(client.send(request).await?.map(Either::Left))
}

/// The answer to any other request, with [`REQUEST_TIMEOUT`].
pub(super) async fn in_time(
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
pub(super) fn verb(request: &Request<Body>) -> &'static str {
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
pub(super) fn is_watch(request: &Request<Body>) -> bool {
    let query = request.uri().query();
    query.is_some_and(|query| query.contains("watch=true"))
}

/// The server's time; `None` if it is so far off that sums with it would overflow.
pub(crate) fn date<B>(response: &Response<B>) -> Option<DateTime<Utc>> {
    let text = response.headers().get(header::DATE)?.to_str().ok()?;
    let date = DateTime::parse_from_rfc2822(text).ok()?.to_utc();
    (1970..=9999).contains(&date.year()).then_some(date)
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
