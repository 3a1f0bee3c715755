//! Serving one connection: it is held while the workload starts, and forwarded to a pod as soon as one is
//! ready.

use std::{
    future::pending,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};
use dayshift_cluster::{clock::Clock, log_limit::LogLimit};
use dayshift_schedule::Zone;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy_bidirectional},
    net::TcpStream,
    sync::{mpsc, watch},
    time::{Instant, sleep, sleep_until, timeout, timeout_at},
};
use tokio_util::io::{InspectReader, InspectWriter};

use crate::{
    http::{FirstBytes, Head, MAX_HEAD, can_end_head, ends_with_its_client},
    limits::{ConnectionLimits, ConnectionPermit},
    memory_budget::{HeadBuffer, HeadMemory},
    pods::{PodVerifier, connect_to_any},
    response::{ANSWER, Outcome, ServiceStatus, response},
    routes::{Prospect, ReadySince, Route, Routes},
    service::ServiceName,
    settings::Settings,
    start_times::StartTimes,
    target::{ASLEEP, OUT_OF_HOURS, TargetState},
    telemetry::{ConnectionOutcome, Telemetry},
    use_observer::UseObserver,
    wakes::WakeRequest,
};

/// If a client sends nothing for this long, it uses a protocol in which the server sends first. One that
/// disconnects sooner only checked that the port is open.
const SILENCE: Duration = Duration::from_secs(1);

/// The time limit for a complete request head.
const HEAD: Duration = Duration::from_secs(5);

/// The maximum idle time of a forwarded connection. Otherwise a namespace could hold its share of connections
/// permanently with a pod of its own.
const IDLE: Duration = Duration::from_secs(3600);

/// How long a visitor who keeps a workload awake waits until the watch shows the new end.
const KEEP: Duration = Duration::from_secs(5);

/// The time limit for a client to read a response.
const LAST_BYTES: Duration = Duration::from_secs(2);

/// A TCP stream, or its replacement in a test.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// The state that all connections share.
#[derive(Clone)]
pub(crate) struct ConnectionContext {
    pub(crate) routes: watch::Receiver<Arc<Routes>>,
    pub(crate) requests: mpsc::Sender<WakeRequest>,
    pub(crate) limits: ConnectionLimits,
    pub(crate) ready_since: ReadySince,
    pub(crate) heads: HeadMemory,
    pub(crate) logs: LogLimit,
    pub(crate) pods: PodVerifier,
    pub(crate) start_times: StartTimes,
    pub(crate) telemetry: Arc<Telemetry>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) clock: Clock,
}

/// The first bytes of a client.
struct Opening {
    bytes: HeadBuffer,
    /// The request head, if the client uses HTTP.
    head: Option<Head>,
    /// Whether the client disconnected.
    is_gone: bool,
}

/// Serves a connection to a Service port until it ends.
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
    let (outcome, head) = tokio::select! {
        biased;
        ended = connection.run(stream, &place) => ended,
        () = place.ended() => (ConnectionOutcome::Full, None),
    };
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
    async fn run(
        &self,
        mut stream: impl Stream,
        place: &ConnectionPermit,
    ) -> (ConnectionOutcome, Option<Head>) {
        if !self.shared.ready_since.is_served(&self.service, &self.port) {
            return (ConnectionOutcome::Refused, None);
        }
        let deadline = Instant::now() + self.shared.settings.hold;
        let mut opening = Opening {
            bytes: self.buffer(),
            head: None,
            is_gone: false,
        };
        // If a pod is ready, the connection is forwarded without reading from the client.
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
                    self.respond(&mut stream, head.as_ref(), Outcome::TimedOut)
                        .await;
                    ConnectionOutcome::TimedOut
                }
            };
            return (outcome, head);
        };
        place.keep();
        let uses = self.use_observer(!opening.bytes.is_empty());
        let passed = async {
            pod.write_all(&opening.bytes).await?;
            // Long connections should not keep this memory.
            drop(opening);
            forward(&mut stream, &mut pod, uses).await
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
            .is_some_and(|route| route.has_backends(&self.port))
    }

    fn prospect(&self) -> Prospect {
        let gone = "the activator does not cover this Service any more";
        let now = self.shared.clock.now();
        self.route()
            .map_or(Prospect::Nothing(gone), |route| route.prospect(now))
    }

    /// Responds if the connection is not held. Requests a wake if the workload can be woken.
    async fn answer(
        &self,
        stream: &mut impl Stream,
        head: Option<&Head>,
    ) -> Option<ConnectionOutcome> {
        let route = self.route();
        if let Some(head) = head {
            let is_answered = head.is_plain_read
                && route
                    .as_ref()
                    .is_some_and(|route| route.answers(&head.path));
            if is_answered {
                respond(stream, ANSWER).await;
                return Some(ConnectionOutcome::Answered);
            }
            if self.is_ignored(head) {
                self.respond(stream, Some(head), Outcome::Ignored).await;
                return Some(ConnectionOutcome::Ignored);
            }
            if head.keeps_awake && route.as_ref().is_some_and(|route| route.can_be_kept()) {
                return Some(self.keep_awake(stream, head).await);
            }
        }
        match self.prospect() {
            Prospect::Nothing(why) => return Some(self.refuse(stream, head, why).await),
            Prospect::Running if !self.is_use(head) => {}
            Prospect::Running | Prospect::Wakeable => self.ask(head).await,
        }
        let head = head.filter(|head| head.wants_page)?;
        self.respond(stream, Some(head), Outcome::Starting).await;
        Some(ConnectionOutcome::Page)
    }

    /// Prolongs the wake that the page shows, and responds when the watch has shown it.
    async fn keep_awake(&self, stream: &mut impl Stream, head: &Head) -> ConnectionOutcome {
        if head.is_cross_site {
            self.respond(stream, Some(head), Outcome::CrossSite).await;
            return ConnectionOutcome::Refused;
        }
        if let Prospect::Nothing(why) = self.prospect() {
            return self.refuse(stream, Some(head), why).await;
        }
        let mut routes = self.shared.routes.clone();
        if self.kept_end().is_some() {
            self.ask(Some(head)).await;
            let shown =
                async { while self.kept_end().is_some() && routes.changed().await.is_ok() {} };
            let _ = timeout(KEEP, shown).await;
        }
        let limits = self.shared.settings.wake_limits;
        let is_kept = |route: Arc<Route>| route.targets.iter().any(|target| target.is_kept(limits));
        let (response, outcome) = match self.route().is_some_and(is_kept) {
            true => (Outcome::Kept, ConnectionOutcome::Kept),
            // It has not begun, or the API server has rejected the new end.
            false => (Outcome::NotKept, ConnectionOutcome::Refused),
        };
        self.respond(stream, Some(head), response).await;
        outcome
    }

    /// The new end of the wake if a visitor keeps the workload awake now; `None` if that prolongs nothing.
    fn kept_end(&self) -> Option<DateTime<Utc>> {
        let limits = self.shared.settings.wake_limits;
        self.route()?.kept_end(self.shared.clock.now(), limits)
    }

    /// Whether this request wakes nothing, by its path or its agent.
    fn is_ignored(&self, head: &Head) -> bool {
        let route = self.route();
        route.is_some_and(|route| route.ignores(&head.path))
            || head.is_by(&self.shared.settings.ignored_agents)
    }

    /// Whether use of the Service prolongs a wake now.
    fn observes_use(&self) -> bool {
        self.route().is_some_and(|route| route.observes_use)
    }

    /// Whether this is a use that prolongs a wake now: no probe, heartbeat or ignored path.
    fn is_use(&self, head: Option<&Head>) -> bool {
        let is_heartbeat = |head: &Head| {
            let route = self.route();
            head.is_plain_read && route.is_some_and(|route| route.is_heartbeat(&head.path))
        };
        self.observes_use() && head.is_none_or(|head| !is_heartbeat(head) && !self.is_ignored(head))
    }

    /// Requests a wake. If the queue is closed, the next connection requests it.
    async fn ask(&self, head: Option<&Head>) {
        let _ = self.shared.requests.send(self.request(head.cloned())).await;
    }

    fn request(&self, head: Option<Head>) -> WakeRequest {
        WakeRequest {
            service: self.service.clone(),
            port: self.port.clone(),
            from: self.from.ip(),
            head,
        }
    }

    /// Reports use of the connection while it is forwarded, if use can prolong a wake.
    fn use_observer(&self, has_sent: bool) -> Option<UseObserver<'_>> {
        let route = self.route()?;
        let mut targets = route.targets.iter();
        let on_use = |head: Option<Head>| {
            if self.is_use(head.as_ref()) {
                // If the queue is full, a later use is reported.
                let _ = self.shared.requests.try_send(self.request(head));
            }
        };
        targets
            .any(|target| target.rules.wake.while_used)
            .then(|| UseObserver::new(has_sent, || self.buffer(), || self.observes_use(), on_use))
    }

    /// An empty buffer for a request head.
    fn buffer(&self) -> HeadBuffer {
        self.shared.heads.buffer(&self.service.namespace)
    }

    async fn refuse(
        &self,
        stream: &mut impl Stream,
        head: Option<&Head>,
        why: &'static str,
    ) -> ConnectionOutcome {
        let opens = || self.route()?.opens_at(self.shared.clock.now());
        let outcome = match why {
            OUT_OF_HOURS | ASLEEP if opens().is_some() => Outcome::Closed(why),
            why => Outcome::Stopped(why),
        };
        self.respond(stream, head, outcome).await;
        ConnectionOutcome::Refused
    }

    /// Sends a response if the client uses HTTP.
    async fn respond(&self, stream: &mut impl Stream, head: Option<&Head>, outcome: Outcome<'_>) {
        let Some(head) = head else {
            return;
        };
        let now = self.shared.clock.now();
        let status = self.status(outcome, now);
        let page = &self.shared.settings.page;
        respond(stream, &response(head, outcome, &status, page, now)).await;
    }

    fn status(&self, outcome: Outcome<'_>, now: DateTime<Utc>) -> ServiceStatus {
        let Some(route) = self.route() else {
            return ServiceStatus::default();
        };
        let targets = route.targets.iter();
        let wake = targets.clone().filter(|target| target.is_wakeable(now));
        // The wake that this request causes.
        let asked = wake.map(|target| target.wake_end(now, self.shared.settings.wake_limits));
        let asked = asked.max().filter(|_| outcome == Outcome::Starting);
        ServiceStatus {
            name: self.service.name.to_string(),
            zone: targets
                .clone()
                .next()
                .map_or(Zone::UTC, |target| target.rules.zone),
            since: targets
                .clone()
                .filter(|target| target.state == TargetState::Asleep)
                .filter_map(|target| target.since)
                .min(),
            until: targets
                .clone()
                .filter_map(|target| target.until)
                .max()
                .or(asked),
            keep: self.kept_end().filter(|_| outcome == Outcome::Starting),
            opens: route.opens_at(now).filter(|_| outcome != Outcome::Starting),
            elapsed: self.shared.start_times.elapsed(&self.service),
            typical: self.shared.start_times.median(&self.service),
            stages: route.stages.clone(),
            // The conditions of a stopped workload are those of an earlier start.
            failure: targets
                .clone()
                .filter(|target| target.state == TargetState::Running)
                .find_map(|target| target.failure.clone()),
        }
    }

    /// Connects to a ready pod, waiting until there is one.
    async fn pod(&self, deadline: Instant) -> Option<TcpStream> {
        let mut routes = self.shared.routes.clone();
        loop {
            let route = routes.borrow_and_update().get(&self.service).cloned()?;
            let backends = route.backends(&self.port);
            let connected = timeout_at(
                deadline,
                connect_to_any(&self.shared.pods, &self.service, &route.selector, &backends),
            );
            if let Some(pod) = connected.await.ok()? {
                return Some(pod);
            }
            if let Prospect::Nothing(_) = route.prospect(self.shared.clock.now()) {
                return None;
            }
            // A pod that does not accept the connection might do so soon.
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
    /// Reads until the protocol is known, at most a request head.
    async fn read(&mut self, stream: &mut impl Stream) -> io::Result<()> {
        let until = Instant::now() + HEAD;
        loop {
            let wait = if self.bytes.is_empty() {
                SILENCE
            } else {
                until.saturating_duration_since(Instant::now())
            };
            let before = self.bytes.len();
            let mut part = [0; 1024];
            // Without memory for the rest of its head, the connection is held like one of another protocol.
            if !self.bytes.reserve(part.len()) {
                return Ok(());
            }
            match timeout(wait, stream.read(&mut part)).await {
                // The server sends first, or the head is incomplete: the connection is held.
                Err(_) => return Ok(()),
                Ok(Err(error)) => return Err(error),
                Ok(Ok(0)) => {
                    self.is_gone = ends_with_its_client(&self.bytes);
                    return Ok(());
                }
                Ok(Ok(count)) => self.bytes.push(&part[..count]),
            }
            if !can_end_head(&self.bytes, before) {
                continue;
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

    /// Reads further, up to [`MAX_HEAD`] in total and as far as there is memory, until the client disconnects. Never
    /// returns if the client only closed its sending side and might still expect a response.
    async fn until_gone(&mut self, stream: &mut impl Stream) {
        let mut part = [0; 1024];
        while self.bytes.len() < MAX_HEAD && self.bytes.reserve(part.len()) {
            match stream.read(&mut part).await {
                Err(_) => return,
                Ok(0) if ends_with_its_client(&self.bytes) => return,
                // A half-close: the client might still expect a response.
                Ok(0) => break,
                Ok(count) => self.bytes.push(&part[..count]),
            }
        }
        pending::<()>().await;
    }
}

/// Copies in both directions until both sides have closed, or the connection has been idle for [`IDLE`].
async fn forward(
    client: &mut impl Stream,
    pod: &mut impl Stream,
    uses: Option<UseObserver<'_>>,
) -> io::Result<()> {
    // When bytes were last copied.
    let state = Mutex::new((Instant::now(), uses));
    let lock = || state.lock().unwrap_or_else(PoisonError::into_inner);
    let note = |observe: &dyn Fn(&mut UseObserver<'_>)| {
        let mut state = lock();
        state.0 = Instant::now();
        if let Some(uses) = &mut state.1 {
            observe(uses);
        }
    };
    let client = InspectReader::new(client, |bytes: &[u8]| note(&|uses| uses.sent(bytes)));
    let mut client = InspectWriter::new(client, |_: &[u8]| note(&|uses| uses.answered()));
    let idle = async {
        loop {
            let until = lock().0 + IDLE;
            if until <= Instant::now() {
                return;
            }
            sleep_until(until).await;
        }
    };
    tokio::select! {
        copied = copy_bidirectional(&mut client, pod) => copied.map(|_| ()),
        () = idle => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// Sends a final response. The remaining input is read first: if a socket is closed with unread input, it
/// resets the connection and the response can be lost.
async fn respond(stream: &mut impl Stream, answer: &[u8]) {
    let sent = async {
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
    let _ = timeout(LAST_BYTES, sent).await;
}

#[cfg(test)]
mod tests {
    use tokio::io::duplex;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn idle_forwarded_connection_is_closed() {
        let ((mut client, mut inside), (mut outside, mut pod)) = (duplex(64), duplex(64));
        let begun = Instant::now();
        let talk = async {
            sleep(IDLE / 2).await;
            client.write_all(b"ping").await.unwrap();
            let mut got = [0; 4];
            pod.read_exact(&mut got).await.unwrap();
            pending::<()>().await;
        };
        let ended = tokio::select! {
            ended = forward(&mut inside, &mut outside, None) => ended,
            () = talk => Ok(()),
        };
        assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(begun.elapsed().as_secs(), (IDLE / 2 + IDLE).as_secs());
    }
}
