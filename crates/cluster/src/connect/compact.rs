//! A client that requests workloads as protobuf and returns JSON to its callers.

use dayshift_workload::Kind;
use futures::stream;
use http::{HeaderMap, HeaderValue, Request, Response, header};
use http_body_util::{BodyExt as _, Either, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::body::{Bytes, Frame};
use kube::{Client, client::Body};
use tower::{BoxError, service_fn};

use crate::{
    connect::middleware::{bounded, next_piece},
    decode::{
        kind_api::KindApi,
        protobuf::{CONFIG_MAPS, CORE_ROOT, Frames, MAX_EVENT, to_json},
    },
};

/// The accepted types. A server or proxy that does not support the first answers with the second.
const ACCEPT: HeaderValue =
    HeaderValue::from_static("application/vnd.kubernetes.protobuf, application/json");
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// Wraps a client: it requests workloads as protobuf and returns JSON with only the fields that
/// [`Workload`](crate::Workload) reads. This is cheaper for the API server, which has already encoded
/// the objects for other watchers, and for dayshift (`docs/decisions/api-server/protobuf.md`).
pub fn compact(client: Client) -> Client {
    let namespace = client.default_namespace().to_owned();
    let service = service_fn(move |request: Request<Body>| {
        let client = client.clone();
        async move { send(&client, request).await }
    });
    Client::new(service, namespace)
}

/// A request extension for callers that read more of the response than a [`Workload`](crate::Workload):
/// the response stays JSON.
#[derive(Clone, Copy)]
pub(crate) struct FullObject;

type JsonBody = UnsyncBoxBody<Bytes, BoxError>;

async fn send(
    client: &Client,
    mut request: Request<Body>,
) -> Result<Response<Either<Body, JsonBody>>, BoxError> {
    let needs_full_object = request.extensions().get::<FullObject>().is_some();
    if !needs_full_object && is_sent_as_protobuf(request.uri().path()) {
        request.headers_mut().insert(header::ACCEPT, ACCEPT);
    }
    let (mut parts, body) = client.send(request).await?.into_parts();
    let body = match body_format(&parts.headers) {
        BodyFormat::Json => Either::Left(body),
        BodyFormat::Message => Either::Right(decode_body(body).await?),
        BodyFormat::Stream => Either::Right(decode_stream(body)),
    };
    if let Either::Right(_) = body {
        parts.headers.remove(header::CONTENT_LENGTH);
        let json = HeaderValue::from_static("application/json");
        parts.headers.insert(header::CONTENT_TYPE, json);
    }
    Ok(Response::from_parts(parts, body))
}

/// Whether objects at this path are decoded from protobuf.
fn is_sent_as_protobuf(path: &str) -> bool {
    let built_in = Kind::BUILT_IN;
    let mut apis = built_in.iter().map(KindApi::new);
    apis.any(|api| api.message().is_some() && api.is_above(path)) || is_of_config_maps(path)
}

/// Whether this is the path of all ConfigMaps, or of those in a namespace. JSON has up to six bytes for a
/// byte of text, so that one ConfigMap could exceed the largest event that is read.
fn is_of_config_maps(path: &str) -> bool {
    let path = path.strip_prefix(CORE_ROOT);
    let path = path.and_then(|path| path.strip_suffix(CONFIG_MAPS));
    path.is_some_and(|path| match path.strip_prefix("namespaces/") {
        Some(namespace) => namespace.find('/') == Some(namespace.len().saturating_sub(1)),
        None => path.is_empty(),
    })
}

enum BodyFormat {
    Json,
    Message,
    Stream,
}

fn body_format(headers: &HeaderMap) -> BodyFormat {
    let format_of = |text: &HeaderValue| {
        let text = text.to_str().ok()?;
        let parameters = text.strip_prefix(PROTOBUF)?;
        Some(if parameters.contains("stream=watch") {
            BodyFormat::Stream
        } else {
            BodyFormat::Message
        })
    };
    headers
        .get(header::CONTENT_TYPE)
        .and_then(format_of)
        .unwrap_or(BodyFormat::Json)
}

async fn decode_body(body: Body) -> Result<JsonBody, BoxError> {
    let json = to_json(bounded(body).await?, MAX_EVENT)?;
    Ok(Full::from(json)
        .map_err(|never| match never {})
        .boxed_unsync())
}

fn decode_stream(body: Body) -> JsonBody {
    let begun = (body.into_data_stream(), Frames::default());
    let lines = stream::unfold(begun, |(mut body, mut frames)| async move {
        let piece = next_piece(&mut body, frames.are_within_event()).await?;
        let lines = piece.map_err(BoxError::from);
        let lines = lines.and_then(|bytes| Ok(Frame::data(Bytes::from(frames.push(&bytes)?))));
        Some((lines, (body, frames)))
    });
    StreamBody::new(lines).boxed_unsync()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::StreamExt as _;
    use tokio::time::{Instant, timeout};
    use tower::service_fn;

    use super::*;

    /// Reads a watch whose server sends `sent` and then nothing. Returns the received bytes and the time
    /// at which the watch ended, or `None` if it does not end.
    async fn read(sent: &'static [u8]) -> Option<(Bytes, Duration)> {
        let server = service_fn(move |_: Request<Body>| async move {
            let begin = Ok::<_, BoxError>(Frame::data(Bytes::from_static(sent)));
            let body = StreamBody::new(stream::iter([begin]).chain(stream::pending()));
            let response = Response::builder().header(header::CONTENT_TYPE, STREAM);
            Ok::<_, BoxError>(response.body(body)?)
        });
        let client = compact(Client::new(server, "default"));
        let since = Instant::now();
        let response = client.send(Request::new(Body::empty())).await.unwrap();
        let read = timeout(Duration::from_secs(3600), response.into_body().collect());
        let read = read.await.ok()?.unwrap().to_bytes();
        Some((read, since.elapsed()))
    }

    const STREAM: &str = "application/vnd.kubernetes.protobuf;stream=watch";

    #[tokio::test(start_paused = true)]
    async fn a_watch_ends_if_the_rest_of_an_event_does_not_arrive() {
        for begun in [&[0][..], &[0, 0, 0, 9], &[0, 0, 0, 9, 1]] {
            let end = Some((Bytes::new(), Duration::from_secs(10)));
            assert_eq!(read(begun).await, end, "{begun:?}");
        }
        assert_eq!(read(&[]).await, None, "nothing has begun");
    }

    #[test]
    fn other_kinds_of_the_same_group_are_not_decoded_as_protobuf() {
        for (path, expected) in [
            ("/apis/batch/v1/namespaces/dev/cronjobs", true),
            ("/apis/batch/v1/cronjobs", true),
            ("/apis/batch/v1/namespaces/dev/cronjobs/report", true),
            ("/apis/apps/v1/namespaces/deployments/deployments/web", true),
            ("/api/v1/configmaps", true),
            ("/api/v1/namespaces/dev/configmaps", true),
            ("/api/v1/namespaces/dev/configmaps/dayshift", false),
            ("/api/v1/namespaces/configmaps", false),
            ("/api/v1/namespaces/dev/secrets/configmaps", false),
            ("/apis/batch/v1/namespaces/dev/jobs", false),
            ("/apis/batch/v1/namespaces/cronjobs/jobs/report-1", false),
        ] {
            assert_eq!(is_sent_as_protobuf(path), expected, "{path}");
        }
    }
}
