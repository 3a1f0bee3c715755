//! A faulty admission webhook that is called only for dayshift's requests.

use std::convert::Infallible;
use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};

use crate::reliability::harness::fleet::SELECTOR;
use crate::support::{ControlPlane, Namespace, ServerThread, wait_until};

/// The webhook's response about one object.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Verdict {
    /// No response.
    Silence,
    /// HTTP 500, so that the API server gets no decision.
    Broken,
    /// A denial with this status and `Retry-After` in seconds, 0 for none.
    Denied { code: u16, retry_after: u32 },
}

/// The requests for which the webhook is called.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Asked {
    /// The stops of a fleet.
    Stops,
    /// New Events.
    Events,
}

/// A webhook that the API server calls for dayshift's requests in one Namespace, until this is dropped. Then
/// its pending calls are released.
pub(crate) struct Webhook<'a> {
    plane: &'a ControlPlane,
    name: String,
    asked: Asked,
    calls: Arc<AtomicUsize>,
    _server: ServerThread,
}

/// The verdict for the name of an object.
type Oracle = Arc<dyn Fn(&str) -> Verdict + Send + Sync>;

impl<'a> Webhook<'a> {
    /// A webhook that the server begins to call after about a second.
    pub(crate) fn on(
        namespace: &Namespace<'a>,
        asked: Asked,
        oracle: impl Fn(&str) -> Verdict + Send + Sync + 'static,
    ) -> Self {
        let plane = namespace.plane();
        let calls = Arc::<AtomicUsize>::default();
        let server = ServerThread::start({
            let (tls, oracle, calls) = (tls(plane), Arc::new(oracle), Arc::clone(&calls));
            move |listener| serve(tls, oracle, calls, listener)
        });
        let definition = definition(plane, namespace.name(), asked, server.address);
        namespace.create_all(&definition.to_string());
        Self {
            plane,
            name: namespace.name().to_owned(),
            asked,
            calls,
            _server: server,
        }
    }

    /// Asserts that the webhook was called for all stops of a fleet of this size, or for some of its Events,
    /// which need not all be in flight at once. On a busy machine the last calls are some seconds late.
    pub(crate) fn assert_called(&self, fleet: usize) {
        let least = match self.asked {
            Asked::Stops => fleet,
            Asked::Events => 1,
        };
        wait_until(&format!("{least} calls of the webhook"), || {
            self.calls.load(Ordering::Relaxed) >= least
        });
    }
}

impl Drop for Webhook<'_> {
    fn drop(&mut self) {
        let webhooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
        self.plane.remove(&format!("{webhooks}/{}", self.name));
    }
}

fn definition(plane: &ControlPlane, name: &str, asked: Asked, address: SocketAddr) -> Value {
    let authority = STANDARD.encode(fs::read(plane.ca()).unwrap());
    let mut webhook = json!({
        "name": "webhook.example.com",
        "clientConfig": {"url": format!("https://{address}/"), "caBundle": authority},
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Fail",
        "timeoutSeconds": 30,
    });
    let mut conditions = vec![json!({
        "name": "dayshift-asks",
        "expression": "request.userInfo.username.endsWith(':dayshift')",
    })];
    let (group, operation, resource) = match asked {
        Asked::Stops => {
            let (key, value) = SELECTOR.split_once('=').unwrap();
            webhook["objectSelector"] = json!({"matchLabels": {key: value}});
            let zero = json!({"name": "stops", "expression": "object.spec.replicas == 0"});
            conditions.push(zero);
            ("apps", "UPDATE", "deployments")
        }
        Asked::Events => ("events.k8s.io", "CREATE", "events"),
    };
    webhook["matchConditions"] = conditions.into();
    webhook["rules"] = json!([{
        "apiGroups": [group], "apiVersions": ["v1"],
        "operations": [operation], "resources": [resource],
    }]);
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [webhook],
    })
}

/// Uses the API server's own certificate, which is for 127.0.0.1.
fn tls(plane: &ControlPlane) -> TlsAcceptor {
    let chain = CertificateDer::pem_file_iter(plane.ca()).unwrap();
    let chain = chain.map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_file(plane.key()).unwrap();
    let config = ServerConfig::builder().with_no_client_auth();
    TlsAcceptor::from(Arc::new(config.with_single_cert(chain, key).unwrap()))
}

async fn serve(tls: TlsAcceptor, oracle: Oracle, calls: Arc<AtomicUsize>, listener: TcpListener) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        tokio::spawn(serve_connection(
            tls.clone(),
            stream,
            Arc::clone(&oracle),
            Arc::clone(&calls),
        ));
    }
}

async fn serve_connection(
    tls: TlsAcceptor,
    stream: TcpStream,
    oracle: Oracle,
    calls: Arc<AtomicUsize>,
) {
    let answer = service_fn(move |request: Request<Incoming>| {
        let (oracle, calls) = (Arc::clone(&oracle), Arc::clone(&calls));
        async move {
            let body = request.into_body().collect().await.unwrap().to_bytes();
            let review: Value = serde_json::from_slice(&body).unwrap();
            calls.fetch_add(1, Ordering::Relaxed);
            let verdict = oracle(name(&review["request"]));
            Ok::<_, Infallible>(carry_out(verdict, &review).await)
        }
    });
    if let Ok(stream) = tls.accept(stream).await {
        // The API server may close the connection at any time.
        let _ = http1::Builder::new()
            .serve_connection(TokioIo::new(stream), answer)
            .await;
    }
}

/// The object of the request: for an Event, the regarding object.
fn name(request: &Value) -> &str {
    let about = &request["object"]["regarding"]["name"];
    about.as_str().or(request["name"].as_str()).unwrap()
}

async fn carry_out(verdict: Verdict, review: &Value) -> Response<Full<Bytes>> {
    let status = match verdict {
        Verdict::Silence => std::future::pending().await,
        Verdict::Broken => {
            let mut broken = Response::new(Full::from("out of order"));
            *broken.status_mut() = http::StatusCode::INTERNAL_SERVER_ERROR;
            return broken;
        }
        Verdict::Denied { code, retry_after } => json!({
            "code": code,
            "message": "this team never sleeps",
            "details": {"retryAfterSeconds": retry_after},
        }),
    };
    let answer = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {"uid": review["request"]["uid"], "allowed": false, "status": status},
    });
    let mut response = Response::new(Full::from(answer.to_string()));
    let json = http::HeaderValue::from_static("application/json");
    response.headers_mut().insert("content-type", json);
    response
}
