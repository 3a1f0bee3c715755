//! An HTTP/1.1 server with a bound on connections, and the probes and metrics that it serves: `/healthz`,
//! `/readyz` and `/metrics`.

use std::{
    cmp::Reverse,
    collections::VecDeque,
    convert::Infallible,
    fmt::Write as _,
    net::IpAddr,
    pin::pin,
    sync::{
        Arc, Mutex as StdMutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::{FutureExt as _, future::BoxFuture};
use http::{
    HeaderValue, Method, Response, StatusCode,
    header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE},
};
use http_body_util::{BodyExt as _, Full};
use hyper::{
    Request,
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
    sync::Mutex,
    task::{AbortHandle, spawn, spawn_blocking, yield_now},
    time::{Instant, sleep, timeout},
};

/// The maximum number of connections. One more closes one of the address with the most, so a client with many
/// connections can neither keep probes from being answered nor close the connections of others.
const MAX_CONNECTIONS: usize = 64;
/// The maximum size of all responses in memory that clients have not read, in bytes. A further response closes the
/// oldest connections with such a response.
const MAX_UNREAD: usize = 16 << 20;
/// The pause after a failed accept, for example because file descriptors have run out.
const RECOVERY: Duration = Duration::from_millis(100);

/// Serves `/healthz`, `/readyz` and `/metrics` over HTTP/1.1 until `shutdown` resolves, and then closes all
/// connections.
pub async fn serve(
    listener: TcpListener,
    of: Arc<impl Probes>,
    shutdown: impl Future<Output = ()>,
) {
    serve_with(listener, probes(of), shutdown).await;
}

/// Serves `handler` over HTTP/1.1 until `shutdown` resolves, closes all connections, and returns the result
/// of `shutdown`. A slow client does not delay others. Each request has the peer's `SocketAddr` as an
/// extension.
pub async fn serve_with<H, F, T>(
    listener: TcpListener,
    handler: H,
    shutdown: impl Future<Output = T>,
) -> T
where
    H: Fn(Request<Incoming>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<Full<Bytes>>> + Send + 'static,
{
    let mut shutdown = pin!(shutdown);
    let closing = ClosesConnections(Connections::default());
    let open = &closing.0;
    loop {
        tokio::select! {
            ended = &mut shutdown => return ended,
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => {
                    let (handler, open_here) = (handler.clone(), open.clone());
                    let unread = Unread::default();
                    let is_answering = Arc::<AtomicBool>::default();
                    let (unread_here, is_answering_here) = (Arc::clone(&unread), Arc::clone(&is_answering));
                    let answer = move |mut request: Request<Incoming>| {
                        request.extensions_mut().insert(peer);
                        let (answer, open) = (handler(request), open_here.clone());
                        let (unread, is_answering) = (Arc::clone(&unread_here), Arc::clone(&is_answering_here));
                        async move {
                            is_answering.store(true, Ordering::Relaxed);
                            let response = open.count(&unread, answer.await);
                            is_answering.store(false, Ordering::Relaxed);
                            response
                        }
                    };
                    let task = spawn(serve_connection(stream, answer)).abort_handle();
                    let address = peer.ip();
                    open.admit(OpenConnection { address, task, is_answering, unread });
                }
                Err(error) => {
                    tracing::debug!(%error, "could not accept a connection");
                    sleep(RECOVERY).await;
                }
            },
        }
    }
}

/// The bytes of the responses of a connection that are still in memory.
type Unread = Arc<AtomicUsize>;

/// The open connections, oldest first.
#[derive(Clone, Default)]
struct Connections(Arc<StdMutex<VecDeque<OpenConnection>>>);

struct OpenConnection {
    address: IpAddr,
    task: AbortHandle,
    /// Whether the response to a request is being prepared.
    is_answering: Arc<AtomicBool>,
    unread: Unread,
}

impl OpenConnection {
    fn is_idle(&self) -> bool {
        !self.is_answering.load(Ordering::Relaxed) && self.unread.load(Ordering::Relaxed) == 0
    }
}

impl Connections {
    fn open(&self) -> MutexGuard<'_, VecDeque<OpenConnection>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection. If there are too many, closes one of the address with the most: the oldest idle one,
    /// or the oldest.
    fn admit(&self, newest: OpenConnection) {
        let mut open = self.open();
        open.retain(|connection| !connection.task.is_finished());
        if open.len() == MAX_CONNECTIONS {
            let of = |address: IpAddr| {
                let all = open.iter().chain([&newest]);
                all.filter(|connection| connection.address == address)
                    .count()
            };
            let precedence = |one: &OpenConnection| (Reverse(of(one.address)), !one.is_idle());
            let first = open
                .iter()
                .enumerate()
                .min_by_key(|(_, one)| precedence(one));
            let closed = first.map(|(at, _)| at).and_then(|at| open.remove(at));
            if let Some(closed) = closed {
                closed.task.abort();
            }
        }
        open.push_back(newest);
    }

    /// Counts a response of the connection with these `unread` bytes until it has been sent. Closes other
    /// connections if there is too much.
    fn count(&self, unread: &Unread, response: Response<Full<Bytes>>) -> Response<Full<Bytes>> {
        let response = response.map(|mut body| {
            // The body is one frame, which never waits.
            let frame = body.frame().now_or_never().flatten().and_then(Result::ok);
            let bytes = frame.and_then(|frame| frame.into_data().ok());
            let counted = CountedBytes::new(bytes.unwrap_or_default(), unread);
            Full::new(Bytes::from_owner(counted))
        });
        let open = self.open();
        let of = |connection: &OpenConnection| connection.unread.load(Ordering::Relaxed);
        let mut all: usize = open.iter().map(of).sum();
        let others = open.iter();
        for other in others.filter(|other| !Arc::ptr_eq(&other.unread, unread)) {
            if all <= MAX_UNREAD {
                break;
            }
            if of(other) > 0 {
                all -= of(other);
                other.task.abort();
            }
        }
        response
    }
}

/// Closes all connections when it is dropped.
struct ClosesConnections(Connections);

impl Drop for ClosesConnections {
    fn drop(&mut self) {
        for connection in &*self.0.open() {
            connection.task.abort();
        }
    }
}

/// The bytes of a response, counted until they are dropped.
struct CountedBytes {
    bytes: Bytes,
    unread: Unread,
}

impl CountedBytes {
    fn new(bytes: Bytes, unread: &Unread) -> Self {
        unread.fetch_add(bytes.len(), Ordering::Relaxed);
        Self {
            bytes,
            unread: Arc::clone(unread),
        }
    }
}

impl AsRef<[u8]> for CountedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for CountedBytes {
    fn drop(&mut self) {
        self.unread.fetch_sub(self.bytes.len(), Ordering::Relaxed);
    }
}

/// The time limit for a request head, counted from when the connection is idle. So it limits idle time too.
const HEAD: Duration = Duration::from_secs(10);
/// The maximum age of a connection. After it, the current response can be completed.
const MAX_AGE: Duration = Duration::from_secs(300);
const LAST_ANSWER: Duration = Duration::from_secs(5);
/// The maximum size of a request in memory.
const BUFFER: usize = 16 * 1024;

/// Serves one connection until the client closes it or a time limit ends it. After each request, other tasks get
/// a turn, so clients that send thousands of requests at once do not delay a controller on the same thread.
pub(crate) async fn serve_connection<F>(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    handler: impl Fn(Request<Incoming>) -> F,
) where
    F: Future<Output = Response<Full<Bytes>>>,
{
    let service = service_fn(|request: Request<Incoming>| {
        let answer = handler(request);
        async {
            yield_now().await;
            Ok::<_, Infallible>(answer.await)
        }
    });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .max_buf_size(BUFFER)
            .serve_connection(TokioIo::new(stream), service)
    );
    if timeout(MAX_AGE, connection.as_mut()).await.is_err() {
        connection.as_mut().graceful_shutdown();
        let _ = timeout(LAST_ANSWER, connection).await;
    }
}

const PLAIN: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
/// <https://github.com/prometheus/OpenMetrics/blob/v1.0.0/specification/OpenMetrics.md>
const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

const METRICS: &str = "/metrics";

/// Serves one request. For HEAD, hyper removes the body.
pub(crate) fn answer<P: Probes>(method: &Method, path: &str, of: &P) -> Response<Full<Bytes>> {
    let answers: fn(&P) -> Response<Full<Bytes>> = match path {
        "/healthz" => |of| probe(of.alive().map(|()| "ok\n".to_owned())),
        "/readyz" => |of| probe(of.ready()),
        METRICS => |of| response(StatusCode::OK, OPEN_METRICS, of.metrics()),
        _ => {
            let text = "not found; try /healthz, /readyz or /metrics\n";
            return plain(StatusCode::NOT_FOUND, text);
        }
    };
    if matches!(*method, Method::GET | Method::HEAD) {
        return answers(of);
    }
    let mut refusal = plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n");
    refusal
        .headers_mut()
        .insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    refusal
}

/// The handler for probes and metrics. If there are very many workloads, rendering metrics takes longer than
/// a boundary may be late, so it runs on another thread, one scrape at a time.
pub(crate) fn probes<P: Probes>(
    of: Arc<P>,
) -> impl Fn(Request<Incoming>) -> BoxFuture<'static, Response<Full<Bytes>>> + Clone {
    let scraping = Arc::new(Mutex::new(()));
    move |request| {
        let (of, scraping) = (Arc::clone(&of), Arc::clone(&scraping));
        let (head, _) = request.into_parts();
        async move {
            if head.uri.path() != METRICS {
                return answer(&head.method, head.uri.path(), &*of);
            }
            let _turn = scraping.lock().await;
            let scrape = move || answer(&head.method, METRICS, &*of);
            let failure = |_| plain(StatusCode::INTERNAL_SERVER_ERROR, "no metrics\n");
            spawn_blocking(scrape).await.unwrap_or_else(failure)
        }
        .boxed()
    }
}

fn probe(said: Result<String, String>) -> Response<Full<Bytes>> {
    match said {
        Ok(text) => plain(StatusCode::OK, text),
        Err(text) => plain(StatusCode::SERVICE_UNAVAILABLE, text),
    }
}

fn plain(status: StatusCode, text: impl Into<Bytes>) -> Response<Full<Bytes>> {
    response(status, PLAIN, text)
}

fn response(
    status: StatusCode,
    content_type: HeaderValue,
    body: impl Into<Bytes>,
) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A component with probes and metrics.
pub trait Probes: Send + Sync + 'static {
    /// Liveness.
    ///
    /// # Errors
    ///
    /// The reason why the component hangs and should be restarted.
    fn alive(&self) -> Result<(), String>;

    /// Readiness. The text is shown in both cases.
    ///
    /// # Errors
    ///
    /// The reasons why the component is not ready.
    fn ready(&self) -> Result<String, String>;

    /// The metrics as OpenMetrics 1.0.
    fn metrics(&self) -> String;
}

/// A controller that has not acted for a minute hangs. The text lists kinds that are not watched, even if
/// they do not affect readiness.
impl Probes for dayshift_controller::Telemetry {
    fn alive(&self) -> Result<(), String> {
        match self.is_alive(Instant::now()) {
            true => Ok(()),
            false => Err("the controller has not acted for a minute\n".to_owned()),
        }
    }

    fn ready(&self) -> Result<String, String> {
        let ready = Self::ready(self);
        let mut text = match &ready {
            Ok(()) => "ok\n".to_owned(),
            Err(reasons) => format!("not ready: {}\n", reasons.join("; ")),
        };
        for line in self.unwatched() {
            // Writing to a String never fails.
            let _ = writeln!(text, "{line}");
        }
        match ready {
            Ok(()) => Ok(text),
            Err(_) => Err(text),
        }
    }

    fn metrics(&self) -> String {
        self.render()
    }
}

impl Probes for dayshift_activator::Telemetry {
    fn alive(&self) -> Result<(), String> {
        Ok(())
    }

    fn ready(&self) -> Result<String, String> {
        match self.is_ready() {
            true => Ok("ok\n".to_owned()),
            false => Err("not ready: it has not seen everything, or is shutting down\n".to_owned()),
        }
    }

    fn metrics(&self) -> String {
        self.render()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        pin::Pin,
        sync::Mutex,
        task::{Context, Poll, ready},
    };

    use dayshift_controller::{Condition, Telemetry};
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _, ReadBuf},
        net::TcpStream,
        time::{Interval, interval},
    };

    use super::*;

    /// How a client reads the responses.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Reading {
        Everything,
        Nothing,
    }

    /// A client that repeats the same bytes at an interval.
    struct Peer {
        request: &'static str,
        repeat: Interval,
        reading: Reading,
        received: Arc<Mutex<String>>,
    }

    impl AsyncRead for Peer {
        fn poll_read(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            if !self.request.is_empty() {
                ready!(self.repeat.poll_tick(cx));
                let fits = self.request.len().min(buffer.remaining());
                buffer.put_slice(&self.request.as_bytes()[..fits]);
                return Poll::Ready(Ok(()));
            }
            Poll::Pending
        }
    }

    impl AsyncWrite for Peer {
        fn poll_write(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            if self.reading == Reading::Nothing {
                return Poll::Pending;
            }
            self.received
                .lock()
                .unwrap()
                .push_str(str::from_utf8(bytes).unwrap());
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    /// Serves a client that sends `request` every `interval_ms`. Returns the duration of the connection and
    /// the bytes that the client received.
    async fn serve_client(
        request: &'static str,
        interval_ms: u64,
        reading: Reading,
    ) -> (Duration, String) {
        let received = Arc::default();
        let repeat = interval(Duration::from_millis(interval_ms));
        let peer = Peer {
            request,
            repeat,
            reading,
            received: Arc::clone(&received),
        };
        let telemetry = Arc::new(Telemetry::new("2026-11-20T10:00:00Z".parse().unwrap()));
        let begun = Instant::now();
        serve_connection(peer, probes(telemetry)).await;
        let received = received.lock().unwrap().clone();
        (begun.elapsed(), received)
    }

    #[tokio::test(start_paused = true)]
    async fn silent_connection_is_closed() {
        assert_eq!(serve_client("", 1, Reading::Everything).await.0, HEAD);
    }

    #[tokio::test(start_paused = true)]
    async fn slow_request_head_is_closed_in_time() {
        assert_eq!(serve_client("GET", 1000, Reading::Everything).await.0, HEAD);
    }

    #[tokio::test(start_paused = true)]
    async fn endless_request_head_is_rejected() {
        let (lasted, received) = serve_client("GET", 1, Reading::Everything).await;
        assert!(received.starts_with("HTTP/1.1 431 "), "{received}");
        assert!(lasted < HEAD, "{lasted:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn client_that_does_not_read_is_closed() {
        let (lasted, _) =
            serve_client("GET /healthz HTTP/1.1\r\n\r\n", 1000, Reading::Nothing).await;
        assert_eq!(lasted, MAX_AGE + LAST_ANSWER);
    }

    #[tokio::test(start_paused = true)]
    async fn busy_connection_is_served_until_its_maximum_age() {
        let (lasted, received) =
            serve_client("GET /healthz HTTP/1.1\r\n\r\n", 7000, Reading::Everything).await;
        assert_eq!(received.matches("HTTP/1.1 200 OK").count(), 43);
        assert_eq!(lasted, MAX_AGE);
    }

    fn telemetry() -> Telemetry {
        Telemetry::new("2026-11-20T10:00:00Z".parse().unwrap())
    }

    #[test]
    fn only_get_and_head_on_three_paths_are_served() {
        for (method, path, expected) in [
            (Method::GET, "/healthz", 200),
            (Method::HEAD, "/healthz", 200),
            (Method::GET, "/readyz", 503),
            (Method::GET, "/metrics", 200),
            (Method::POST, "/metrics", 405),
            (Method::OPTIONS, "/healthz", 405),
            (Method::PUT, "/readyz", 405),
            (Method::DELETE, "/metrics", 405),
            (Method::PATCH, "/metrics", 405),
            (Method::TRACE, "/healthz", 405),
            (Method::CONNECT, "/healthz", 405),
            (Method::GET, "/metrics/../debug", 404),
            (Method::GET, "//metrics", 404),
            (Method::GET, "/METRICS", 404),
            (Method::GET, "/debug/pprof", 404),
            (Method::GET, "*", 404),
            (Method::GET, "/", 404),
            (Method::GET, "/healthz/", 404),
            (Method::POST, "/elsewhere", 404),
        ] {
            let answer = answer(&method, path, &telemetry());
            assert_eq!(answer.status(), expected, "{method} {path}");
            assert_eq!(
                answer.headers().contains_key(ALLOW),
                expected == 405,
                "{method} {path}"
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn controller_is_not_alive_after_a_minute_without_acting() {
        let telemetry = telemetry();
        let status = || answer(&Method::GET, "/healthz", &telemetry).status();
        tokio::time::advance(Duration::from_secs(3600)).await;
        assert_eq!(status(), 200, "none has begun");
        for (silence, expected) in [(0, 200), (59, 200), (61, 503), (1, 200)] {
            telemetry.record_step(Instant::now());
            tokio::time::advance(Duration::from_secs(silence)).await;
            assert_eq!(status(), expected, "{silence} s");
        }
    }

    #[tokio::test]
    async fn readiness_contains_the_reasons() {
        let telemetry = telemetry();
        telemetry.set(Condition::Reachable, true);
        telemetry.set(Condition::Watching, true);
        let body = answer(&Method::GET, "/readyz", &telemetry)
            .into_body()
            .collect()
            .await;
        assert_eq!(
            body.unwrap().to_bytes(),
            "not ready: the workloads have not been listed yet\n"
        );
        telemetry.set(Condition::Listed, true);
        assert_eq!(answer(&Method::GET, "/readyz", &telemetry).status(), 200);
    }

    #[tokio::test]
    async fn readiness_lists_unwatched_kinds() {
        let telemetry = telemetry();
        let missing = "cannot watch statefulsets.apps: forbidden";
        telemetry.set_unwatched(vec![missing.to_owned()]);
        telemetry.set(Condition::Reachable, true);
        telemetry.set(Condition::Watching, true);
        for (listed, expected) in [
            (
                false,
                "not ready: the workloads have not been listed yet\ncannot watch statefulsets.apps: forbidden\n",
            ),
            (true, "ok\ncannot watch statefulsets.apps: forbidden\n"),
        ] {
            telemetry.set(Condition::Listed, listed);
            let answer = answer(&Method::GET, "/readyz", &telemetry);
            assert_eq!(answer.status().is_success(), listed);
            let body = answer.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(body, expected);
        }
    }

    #[tokio::test]
    async fn other_tasks_get_a_turn_after_each_request_of_a_connection() {
        const REQUESTS: usize = 500;
        let (mut client, stream) = tokio::io::duplex(1 << 20);
        let requests = "GET /healthz HTTP/1.1\r\n\r\n".repeat(REQUESTS);
        client.write_all(requests.as_bytes()).await.unwrap();
        let served = Arc::<AtomicUsize>::default();
        let count = Arc::clone(&served);
        let handler = move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            async { plain(StatusCode::OK, "ok\n") }
        };
        let server = spawn(serve_connection(stream, handler));
        let mut turns = 0;
        while served.load(Ordering::Relaxed) < REQUESTS {
            yield_now().await;
            turns += 1;
            let served = served.load(Ordering::Relaxed);
            assert!(served <= turns, "{served} requests in {turns} turns");
        }
        server.abort();
    }

    #[tokio::test]
    async fn idle_connection_of_the_address_with_the_most_is_closed() {
        let connections = Connections::default();
        let connect = |last: u8, is_answering: bool| {
            connections.admit(OpenConnection {
                address: [10, 0, 0, last].into(),
                task: spawn(std::future::pending::<()>()).abort_handle(),
                is_answering: Arc::new(is_answering.into()),
                unread: Unread::default(),
            });
        };
        connect(1, false);
        connect(2, true);
        connect(2, false);
        (3..MAX_CONNECTIONS).for_each(|_| connect(2, true));
        let tasks: Vec<_> = (connections.open().iter())
            .map(|connection| connection.task.clone())
            .collect();
        for (newest, closed) in [(3, 2), (4, 1), (1, 3)] {
            connect(newest, true);
            yield_now().await;
            assert!(tasks[closed].is_finished(), "{newest}: {closed}");
            assert_eq!(connections.open().len(), MAX_CONNECTIONS);
        }
        assert!(!tasks[0].is_finished());
        let expected = MAX_CONNECTIONS - 4;
        let of_the_most = (connections.open().iter())
            .filter(|connection| connection.address == IpAddr::from([10, 0, 0, 2]))
            .count();
        assert_eq!(of_the_most, expected);
    }

    /// Everyone who can reach the port can request large responses and not read them.
    #[tokio::test]
    async fn unread_responses_close_the_oldest_connections() {
        const LARGE: usize = MAX_UNREAD / 2 - 1_000;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let handler = |request: Request<Incoming>| async move {
            let size = if request.uri().path() == METRICS {
                LARGE
            } else {
                1
            };
            Response::new(Full::new(Bytes::from(vec![b'x'; size])))
        };
        let server = spawn(serve_with(listener, handler, std::future::pending::<()>()));
        let get = async |path: &str| {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n");
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut begin = [0; 15];
            stream.read_exact(&mut begin).await.unwrap();
            assert_eq!(&begin, b"HTTP/1.1 200 OK");
            stream
        };
        let mut hoard = Vec::new();
        for _ in 0..20 {
            hoard.push(get(METRICS).await);
        }
        get("/healthz").await;
        let mut complete = Vec::new();
        for stream in &mut hoard {
            let mut body = vec![0; LARGE];
            complete.push(stream.read_exact(&mut body).await.is_ok());
        }
        assert_eq!(complete, [[false; 18].as_slice(), &[true; 2]].concat());
        server.abort();
    }
}
