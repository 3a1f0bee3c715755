//! One connection: taken, perhaps held, and handed on byte for byte.

use std::{future::pending, io, net::SocketAddr, sync::Arc, time::Duration};

use dayshift_cluster::clock::Clock;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy_bidirectional},
    net::TcpStream,
    sync::{mpsc, watch},
    time::{Instant, sleep, timeout, timeout_at},
};

use crate::{
    http::{
        FirstBytes, Head, MAX_HEAD, StoppedService, ends_with_its_client, plain, refused, starting,
    },
    limits::{ConnectionLimits, ConnectionPermit},
    pods::{PodVerifier, connect_to_any},
    routes::{Prospect, Route, Routes},
    service::ServiceName,
    settings::Settings,
    telemetry::{ConnectionOutcome, Telemetry},
    wakes::{StartDurations, WakeRequest},
};

/// A client that says nothing for this long speaks a protocol in which the server speaks first. One that
/// leaves sooner only looked whether somebody listens.
const SILENCE: Duration = Duration::from_secs(1);

/// How long the head of a request may take to come whole.
const HEAD: Duration = Duration::from_secs(5);

/// How long the end of an answer may take to be read.
const LAST_BYTES: Duration = Duration::from_secs(2);

/// A connection, or what stands for one in a test.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// What every connection shares.
#[derive(Clone)]
pub(crate) struct ConnectionContext {
    pub(crate) routes: watch::Receiver<Arc<Routes>>,
    pub(crate) requests: mpsc::Sender<WakeRequest>,
    pub(crate) places: ConnectionLimits,
    pub(crate) pods: PodVerifier,
    pub(crate) took: StartDurations,
    pub(crate) telemetry: Arc<Telemetry>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) clock: Clock,
}

/// What a client said first.
struct Opening {
    bytes: Vec<u8>,
    /// Where it speaks HTTP.
    head: Option<Head>,
    /// Whether it left before it was known what it wants.
    is_gone: bool,
}

/// Serves a connection to a port of a Service until it ends.
pub(crate) async fn serve(
    shared: ConnectionContext,
    service: ServiceName,
    port: Box<str>,
    stream: impl Stream,
    from: SocketAddr,
    place: ConnectionPermit,
) {
    let connection = Connection {
        service,
        port,
        from,
        shared,
    };
    let (outcome, head) = connection.run(stream).await;
    drop(place);
    let head = head.unwrap_or_default();
    let telemetry = &connection.shared.telemetry;
    telemetry.ended(outcome);
    tracing::debug!(
        service = %connection.service,
        port = &*connection.port,
        from = %connection.from.ip(),
        host = head.host,
        path = head.path,
        agent = head.agent,
        outcome = outcome.name(),
        "a connection ended"
    );
}

struct Connection {
    service: ServiceName,
    port: Box<str>,
    from: SocketAddr,
    shared: ConnectionContext,
}

impl Connection {
    async fn run(&self, mut stream: impl Stream) -> (ConnectionOutcome, Option<Head>) {
        let deadline = Instant::now() + self.shared.settings.hold;
        let mut opening = Opening {
            bytes: Vec::new(),
            head: None,
            is_gone: false,
        };
        // Where a pod is ready, nothing has to be read.
        let is_held = !self.is_ready();
        if is_held {
            match opening.read(&mut stream).await {
                Ok(()) if !opening.is_gone => {}
                Ok(()) if opening.bytes.is_empty() => return (ConnectionOutcome::Silent, None),
                Ok(()) | Err(_) => return (ConnectionOutcome::Left, None),
            }
        }
        let head = opening.head.take();
        if !self.is_ready()
            && let Some(ended) = self.answer(&mut stream, head.as_ref()).await
        {
            return (ended, head);
        }
        let pod = tokio::select! {
            biased;
            pod = self.pod(deadline) => pod,
            () = opening.until_gone(&mut stream), if is_held => return (ConnectionOutcome::Left, head),
        };
        let Some(mut pod) = pod else {
            let outcome = match self.prospect() {
                Prospect::Nothing(why) => self.refuse(&mut stream, head.as_ref(), why).await,
                Prospect::Running | Prospect::Wakeable => {
                    let text = format!("{} did not become ready in time\n", self.service);
                    if let Some(head) = &head {
                        say(&mut stream, &plain(head, &text)).await;
                    }
                    ConnectionOutcome::TimedOut
                }
            };
            return (outcome, head);
        };
        let passed = async {
            pod.write_all(&opening.bytes).await?;
            // Nothing of it is needed while a long connection goes on.
            drop(opening);
            copy_bidirectional(&mut stream, &mut pod).await
        };
        self.shared
            .telemetry
            .handed_on(deadline, self.shared.settings.hold);
        match passed.await {
            Ok(_) => (ConnectionOutcome::HandedOn, head),
            Err(_) => (ConnectionOutcome::Cut, head),
        }
    }

    fn route(&self) -> Option<Arc<Route>> {
        self.shared.routes.borrow().get(&self.service).cloned()
    }

    fn is_ready(&self) -> bool {
        self.route()
            .is_some_and(|route| !route.backends(&self.port).is_empty())
    }

    fn prospect(&self) -> Prospect {
        let gone = "nobody stands in for it any more";
        let now = self.shared.clock.now();
        self.route()
            .map_or(Prospect::Nothing(gone), |route| route.prospect(now))
    }

    /// Ends the connection where it is not to be held, and asks for a wake where it is.
    async fn answer(
        &self,
        stream: &mut impl Stream,
        head: Option<&Head>,
    ) -> Option<ConnectionOutcome> {
        let route = self.route();
        if let Some(head) = head {
            let is_ignored = route
                .as_ref()
                .is_some_and(|route| route.ignores(&head.path));
            if is_ignored || head.is_by(&self.shared.settings.ignored_agents) {
                let text = format!(
                    "{} is stopped, and this request does not wake it\n",
                    self.service
                );
                say(stream, &plain(head, &text)).await;
                return Some(ConnectionOutcome::Ignored);
            }
        }
        match self.prospect() {
            Prospect::Nothing(why) => return Some(self.refuse(stream, head, why).await),
            Prospect::Running => {}
            Prospect::Wakeable => self.ask(head).await,
        }
        let head = head.filter(|head| head.wants_page)?;
        say(stream, &starting(head, &self.story(route.as_deref()))).await;
        Some(ConnectionOutcome::Page)
    }

    /// Has the Service woken. Who cannot be heard now is heard by the next one.
    async fn ask(&self, head: Option<&Head>) {
        let request = WakeRequest {
            service: self.service.clone(),
            port: self.port.clone(),
            from: self.from.ip(),
            head: head.cloned(),
        };
        let _ = self.shared.requests.send(request).await;
    }

    async fn refuse(
        &self,
        stream: &mut impl Stream,
        head: Option<&Head>,
        why: &'static str,
    ) -> ConnectionOutcome {
        if let Some(head) = head {
            let story = self.story(self.route().as_deref());
            say(stream, &refused(head, &story, why)).await;
        }
        ConnectionOutcome::Refused
    }

    fn story(&self, route: Option<&Route>) -> StoppedService {
        StoppedService {
            service: self.service.clone(),
            since: route
                .and_then(|route| route.targets.iter().filter_map(|target| target.since).min()),
            took: self.shared.took.last(&self.service),
        }
    }

    /// A connection to a pod that is ready, once there is one.
    async fn pod(&self, deadline: Instant) -> Option<TcpStream> {
        let mut routes = self.shared.routes.clone();
        loop {
            let route = routes.borrow_and_update().get(&self.service).cloned()?;
            let backends = route.backends(&self.port);
            let connected = timeout_at(
                deadline,
                connect_to_any(&self.shared.pods, &self.service, &route.selector, backends),
            );
            if let Some(pod) = connected.await.ok()? {
                return Some(pod);
            }
            if let Prospect::Nothing(_) = route.prospect(self.shared.clock.now()) {
                return None;
            }
            // One that is ready and does not answer may do so in a moment.
            let again = async {
                if backends.is_empty() {
                    routes.changed().await.is_ok()
                } else {
                    sleep(Duration::from_millis(100)).await;
                    true
                }
            };
            if !timeout_at(deadline, again).await.unwrap_or_default() {
                return None;
            }
        }
    }
}

impl Opening {
    /// Reads until it is known what the client speaks: no more than the head of a request.
    async fn read(&mut self, stream: &mut impl Stream) -> io::Result<()> {
        let until = Instant::now() + HEAD;
        loop {
            let wait = if self.bytes.is_empty() {
                SILENCE
            } else {
                until.saturating_duration_since(Instant::now())
            };
            let mut part = [0; 1024];
            match timeout(wait, stream.read(&mut part)).await {
                // The server speaks first, or the head does not come whole: held like any other.
                Err(_) => return Ok(()),
                Ok(Err(error)) => return Err(error),
                Ok(Ok(0)) => {
                    self.is_gone = ends_with_its_client(&self.bytes);
                    return Ok(());
                }
                Ok(Ok(count)) => self.bytes.extend_from_slice(&part[..count]),
            }
            match FirstBytes::parse(&self.bytes) {
                FirstBytes::Incomplete if self.bytes.len() < MAX_HEAD => {}
                FirstBytes::Incomplete | FirstBytes::Other => return Ok(()),
                FirstBytes::Request(head) => {
                    self.head = Some(head);
                    return Ok(());
                }
            }
        }
    }

    /// Reads on, up to [`MAX_HEAD`] in all, until the client has left: it has reset the connection, or
    /// has ended its side of one that comes to nothing unless it says more. Never returns otherwise.
    async fn until_gone(&mut self, stream: &mut impl Stream) {
        let mut part = [0; 1024];
        while self.bytes.len() < MAX_HEAD {
            match stream.read(&mut part).await {
                Err(_) => return,
                Ok(0) if ends_with_its_client(&self.bytes) => return,
                // A half-close: it still waits for an answer.
                Ok(0) => break,
                Ok(count) => self.bytes.extend_from_slice(&part[..count]),
            }
        }
        pending::<()>().await;
    }
}

/// Sends a last answer. What the client still says is read: a socket that is closed with bytes unread
/// resets the connection, and the answer may be lost.
async fn say(stream: &mut impl Stream, answer: &[u8]) {
    let said = async {
        stream.write_all(answer).await?;
        stream.shutdown().await?;
        let mut part = [0; 1024];
        let mut left = 64 * 1024_usize;
        while left > 0 {
            let count = stream.read(&mut part).await?;
            if count == 0 {
                break;
            }
            left = left.saturating_sub(count);
        }
        io::Result::Ok(())
    };
    let _ = timeout(LAST_BYTES, said).await;
}
