//! Reading and writing one Namespace if another program answers.
#![allow(clippy::unwrap_used)]

use dayshift_cluster::{Writer, read::NamespaceMeta};
use dayshift_workload::Prefix;
use http::{Request, Response};
use kube::{Client, client::Body};
use serde_json::{Value, json};
use tower::{BoxError, service_fn};

fn writer(answer: &Value) -> Writer {
    let body = answer.to_string();
    let service = service_fn(move |_: Request<Body>| {
        let body = Body::from(body.clone().into_bytes());
        async move { Ok::<_, BoxError>(Response::new(body)) }
    });
    Writer::for_command(Client::new(service, "default"), Prefix::default())
}

/// For example, a proxy or a cache in front of the API server: an override would use another team's
/// hours.
#[tokio::test]
async fn ignores_a_response_about_another_namespace() {
    let named = |name: &str| json!({"metadata": {"name": name, "uid": "u"}});
    let dev: NamespaceMeta = serde_json::from_value(named("dev")).unwrap();
    for (answer, expected) in [
        (named("dev"), true),
        (named("prod"), false),
        (
            json!({"kind": "Status", "metadata": {}, "status": "Failure", "code": 503}),
            false,
        ),
    ] {
        let writer = writer(&answer);
        let read = writer.read_namespace("dev").await;
        assert_eq!(read.is_ok(), expected, "{answer}");
        let written = writer.annotate_namespace(&dev, &[]).await;
        assert_eq!(written.is_ok(), expected, "{answer}");
    }
}
