//! An HTTP proxy in front of the API server that rejects requests, or leaves them without a response, for
//! some time.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use kube::Client;
use kube::client::Body;
use tokio::net::TcpListener;

use crate::support::{ControlPlane, Namespace, ServerThread};

/// How the proxy treats requests during a fault.
#[derive(Clone, Copy)]
enum Fault {
    /// Responds to each request with this status and `Retry-After`.
    Refuses(u16, &'static str),
    /// Never responds to requests with this text in their query, not even after the fault.
    Swallows(&'static str),
    /// Forwards patches whose path ends with this text, and replaces the body of the response with bytes that
    /// cannot be decoded.
    Garbles(&'static str),
}

/// A port of 127.0.0.1 that leads to the API server, for one user.
pub(crate) struct Gate {
    server: ServerThread,
    inner: Arc<Inner>,
}

struct Inner {
    client: Client,
    fault: Mutex<Option<Fault>>,
    /// The number of requests that the fault affected.
    met: AtomicUsize,
}

impl Gate {
    /// A proxy for the ServiceAccount `dayshift` of this Namespace: it sends every request as that account.
    pub(crate) fn before(namespace: &Namespace<'_>) -> Self {
        let plane = namespace.plane();
        Self::with(plane, &plane.kubeconfig_of(namespace.name(), "dayshift"))
    }

    /// A proxy for the user of this kubeconfig.
    pub(crate) fn with(plane: &ControlPlane, kubeconfig: &Path) -> Self {
        let inner = Arc::new(Inner {
            client: plane.client_of(kubeconfig),
            fault: Mutex::default(),
            met: AtomicUsize::new(0),
        });
        let server = ServerThread::start({
            let inner = Arc::clone(&inner);
            move |listener| serve(inner, listener)
        });
        Self { server, inner }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.server.address)
    }

    /// Responds to every request with this status. Earlier requests complete.
    pub(crate) fn close(&self, code: u16, retry_after: &'static str) {
        *self.inner.fault.lock().unwrap() = Some(Fault::Refuses(code, retry_after));
    }

    /// From now on does not respond to requests with this text in their query. Open watches continue.
    pub(crate) fn swallow(&self, query: &'static str) {
        *self.inner.fault.lock().unwrap() = Some(Fault::Swallows(query));
    }

    /// From now on makes the responses to patches of objects with this name undecodable.
    pub(crate) fn garble(&self, name: &'static str) {
        *self.inner.fault.lock().unwrap() = Some(Fault::Garbles(name));
    }

    /// Forwards everything again; returns how many requests were affected.
    pub(crate) fn open(&self) -> usize {
        *self.inner.fault.lock().unwrap() = None;
        self.inner.met.load(Ordering::Relaxed)
    }
}

async fn serve(inner: Arc<Inner>, listener: TcpListener) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let inner = Arc::clone(&inner);
        let answer = service_fn(move |request: Request<Incoming>| {
            let inner = Arc::clone(&inner);
            async move { inner.answer(request).await }
        });
        tokio::spawn(async move {
            // A client may break the connection.
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), answer)
                .await;
        });
    }
}

impl Inner {
    async fn answer(&self, request: Request<Incoming>) -> kube::Result<Response<Body>> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.unwrap_or_default().to_bytes();
        let fault = *self.fault.lock().unwrap();
        let query = head.uri.query().unwrap_or_default();
        match fault {
            Some(Fault::Refuses(code, retry_after)) => {
                self.met.fetch_add(1, Ordering::Relaxed);
                let closed = Body::from(b"closed for maintenance\n".to_vec());
                let closed = Response::builder()
                    .status(code)
                    .header("retry-after", retry_after)
                    .body(closed);
                return Ok(closed.unwrap());
            }
            Some(Fault::Swallows(part)) if query.contains(part) => {
                self.met.fetch_add(1, Ordering::Relaxed);
                std::future::pending::<()>().await;
            }
            Some(Fault::Swallows(_) | Fault::Garbles(_)) | None => {}
        }
        let garbles = matches!(fault, Some(Fault::Garbles(name))
            if head.method == Method::PATCH && head.uri.path().ends_with(name));
        let mut request = Request::from_parts(head, Body::from(body.to_vec()));
        request.headers_mut().remove("host");
        let mut response = self.client.send(request).await?;
        if garbles {
            self.met.fetch_add(1, Ordering::Relaxed);
            response.headers_mut().remove("content-length");
            *response.body_mut() = Body::from(b"k8s\0\xff\xff".to_vec());
        }
        Ok(response)
    }
}
