//! Responses that exceed the memory of a dayshift container.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use futures::stream;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Empty, StreamBody};
use hyper::body::{Bytes, Frame};
use kube::{Client, client::Body};
use tower::{BoxError, service_fn};

use super::{seen, watch_by};

/// A server without streamed lists that has this many Deployments of this size; it honors a limit
/// if `knows_pages` is set. Also returns the counter of the bytes that it produced.
fn server(objects: usize, bytes: usize, knows_pages: bool) -> (Client, Arc<AtomicUsize>) {
    let made = Arc::<AtomicUsize>::default();
    let count = Arc::clone(&made);
    let answers = service_fn(move |request: Request<Body>| {
        let count = Arc::clone(&count);
        async move {
            let query = request.uri().query().unwrap_or_default();
            let pairs: Vec<_> = form_urlencoded::parse(query.as_bytes()).collect();
            let value = |name: &str| {
                let found = pairs.iter().find(|(key, _)| key == name);
                found.map(|(_, value)| value.parse::<usize>().unwrap())
            };
            if query.contains("watch=true") {
                let answer = Response::builder().status(422);
                let nothing = Empty::new().map_err(|never| match never {});
                return Ok::<_, BoxError>(answer.body(nothing.boxed_unsync())?);
            }
            let begin = value("continue").unwrap_or(0);
            let limit = value("limit").filter(|_| knows_pages);
            let end = limit.map_or(objects, |limit| objects.min(begin + limit));
            let next = match end < objects {
                true => end.to_string(),
                false => String::new(),
            };
            let head = format!(
                r#"{{"kind":"DeploymentList","metadata":{{"resourceVersion":"7","continue":"{next}"}},"items":["#
            );
            // Produced while it is read: in full, it might exceed the memory of the test.
            let items = (begin..end).map(move |at| {
                let comma = if at == begin { "" } else { "," };
                let notes = "x".repeat(bytes);
                let text = format!(
                    r#"{comma}{{"metadata":{{"name":"web-{at}","resourceVersion":"5"}},"spec":{{"notes":"{notes}"}}}}"#
                );
                count.fetch_add(text.len(), Ordering::Relaxed);
                text
            });
            let pieces = [head].into_iter().chain(items).chain(["]}".to_owned()]);
            let pieces = pieces.map(|it| Ok::<_, BoxError>(Frame::data(Bytes::from(it))));
            Ok(Response::new(
                StreamBody::new(stream::iter(pieces)).boxed_unsync(),
            ))
        }
    });
    (Client::new(answers, "default"), made)
}

#[tokio::test(start_paused = true)]
async fn requests_smaller_pages_if_a_page_is_too_large() {
    for (bytes, failures) in [(10_000, 0), (900_000, 1), (1_100_000, 2)] {
        let (client, _) = server(12, bytes, true);
        let mut events = watch_by(client);
        let failed = "error ".repeat(failures);
        let names: Vec<_> = (0..12).map(|it| format!("+web-{it}")).collect();
        let reported = seen(&mut events, failures + 14).await;
        assert_eq!(reported, format!("{failed}init {} ready", names.join(" ")));
    }
}

/// 400 MB, of which at most 10 MiB are read at a time.
#[tokio::test(start_paused = true)]
async fn limits_the_size_of_a_list_without_pages() {
    let (client, made) = server(200, 2_000_000, false);
    let mut events = watch_by(client);
    assert_eq!(seen(&mut events, 3).await, "error error error");
    let read = made.load(Ordering::Relaxed) / 3;
    assert!(read < (10 << 20) + 2 * 2_000_000, "{read} bytes each time");
}
