//! A proxy of HTTP before the API server that says for a while that it is closed.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use kube::Client;
use kube::client::Body;
use tokio::net::TcpListener;
use tokio::runtime;
use tokio::sync::oneshot;

use crate::support::ControlPlane;

/// What it answers while it is closed: a status and a `Retry-After`.
type EventNote = (u16, &'static str);

/// A port of 127.0.0.1 that leads to the API server, for one user.
pub(crate) struct Gate {
    address: SocketAddr,
    inner: Arc<Inner>,
    _end: oneshot::Sender<()>,
}

struct Inner {
    client: Client,
    note: Mutex<Option<EventNote>>,
    turned_away: AtomicUsize,
}

impl Gate {
    /// For the user of the kubeconfig: whoever asks is taken for that one.
    pub(crate) fn before(plane: &ControlPlane, kubeconfig: &Path) -> Self {
        let (end, ended) = oneshot::channel();
        let (bound, address) = mpsc::channel();
        let inner = Arc::new(Inner {
            client: plane.client_of(kubeconfig),
            note: Mutex::default(),
            turned_away: AtomicUsize::new(0),
        });
        thread::spawn({
            let inner = Arc::clone(&inner);
            move || {
                let runtime = runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .unwrap();
                runtime.block_on(async {
                    tokio::select! {
                        () = serve(inner, bound) => {}
                        _ = ended => {}
                    }
                });
            }
        });
        Self {
            address: address.recv().unwrap(),
            inner,
            _end: end,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers everything with this; what is being answered goes on.
    pub(crate) fn close(&self, code: u16, retry_after: &'static str) {
        *self.inner.note.lock().unwrap() = Some((code, retry_after));
    }

    /// Lets everything through again; returns how much was turned away.
    pub(crate) fn open(&self) -> usize {
        *self.inner.note.lock().unwrap() = None;
        self.inner.turned_away.load(Ordering::Relaxed)
    }
}

async fn serve(inner: Arc<Inner>, bound: mpsc::Sender<SocketAddr>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    bound.send(listener.local_addr().unwrap()).unwrap();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let inner = Arc::clone(&inner);
        let answer = service_fn(move |request: Request<Incoming>| {
            let inner = Arc::clone(&inner);
            async move { inner.answer(request).await }
        });
        tokio::spawn(async move {
            // A client that leaves breaks the connection; that is its right.
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
        let note = *self.note.lock().unwrap();
        if let Some((code, retry_after)) = note {
            self.turned_away.fetch_add(1, Ordering::Relaxed);
            let closed = Body::from(b"closed for maintenance\n".to_vec());
            let closed = Response::builder()
                .status(code)
                .header("retry-after", retry_after)
                .body(closed);
            return Ok(closed.unwrap());
        }
        let mut request = Request::from_parts(head, Body::from(body.to_vec()));
        request.headers_mut().remove("host");
        self.client.send(request).await
    }
}
