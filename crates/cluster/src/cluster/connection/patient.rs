//! The client of a command with a user waiting: it asks a busy server again.

use std::{sync::Arc, time::Duration};

use http::{Extensions, HeaderMap, Method, Request, Response, StatusCode, header};
use kube::{Client, client::Body};
use tokio::time::sleep;
use tower::{BoxError, service_fn};

use crate::cluster::connection::instrument::{Timely, in_time, unlimited, verb};

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
pub fn patient(client: Client, tell: impl Fn(Duration) + Send + Sync + 'static) -> Client {
    let namespace = client.default_namespace().to_owned();
    let tell = Arc::new(tell);
    let service = service_fn(move |request: Request<Body>| {
        let (client, tell) = (client.clone(), tell.clone());
        async move {
            // The caller begins a failed watch anew.
            if verb(&request) == "watch" {
                return unlimited(&client, request).await;
            }
            send(&client, request, &*tell).await
        }
    });
    Client::new(service, namespace)
}

/// The answer to a request, after as many tries as the server asks for and a user accepts.
async fn send(
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
