//! Lists a collection and then watches it. The stream of events never ends.
//!
//! [`Reflector`] is a state machine over four states: unlisted, listing in pages, listed and open. It
//! streams the initial list if the server supports that, falls back to pages, resumes after
//! interruptions, and pauses after failures. Errors are returned as events. Each complete
//! list is compared with the names that the watch has shown, and missing objects are reported as
//! deleted.

use std::{
    collections::VecDeque,
    fmt::Display,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use dayshift_workload::Kind;
use futures::{Stream, stream};
use kube::{Client, Error, api::WatchParams, client::Body, core::WatchEvent};
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use crate::{
    decode::{
        metadata::Part,
        views::{Decode, WorkloadView},
        workload::Version,
    },
    delays::{CALM, Delays, MAX_RETRY_AFTER},
    read::list::PAGE,
    watch::{
        known_names::{KnownNames, ObjectName},
        request::{Absence, Collection, EventLines, NextPage, Page, WatchError, WatchSource},
    },
};

/// If a stream is silent for this long, the list falls back to pages: a server that ignores
/// `sendInitialEvents` never marks the end of the list.
const STREAM_SILENCE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a stream may take to list everything. 10,000 objects take about 2 s. A server that ignores
/// `sendInitialEvents` is never silent if objects change constantly.
const STREAM_TIMEOUT: Duration = Duration::from_secs(60);

/// How many consecutive streams may end before they have listed everything.
const MAX_CUT_STREAMS: u32 = 3;

/// How long a watch waits for its response: longer than a busy API server keeps a request in its queue
/// (a quarter of its `--request-timeout`).
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(20);

/// How long after its requested end a watch may stay open. After that, the connection is considered lost.
const LIFE_MARGIN: Duration = Duration::from_secs(5);

/// If a watch ends sooner, the next one starts after a pause.
const MIN_WATCH_DURATION: Duration = Duration::from_secs(1);

/// A watch of one collection, with its progress.
pub struct Reflector<D> {
    source: WatchSource,
    list: ListMode,
    state: WatchState<D>,
    /// Events to return before any other.
    queued: VecDeque<ReflectorEvent<D>>,
    /// The names that were shown and not deleted since.
    known: Arc<Mutex<KnownNames>>,
    /// How many consecutive streams have ended before they had listed everything.
    cut_streams: u32,
    /// From this time on, a resumed watch needs no check for a resourceVersion rollback; `None` after a
    /// failure.
    resume_trusted_after: Option<Instant>,
    pauses: Pauses,
    /// The earliest time of the next request.
    paused_until: Instant,
}

/// How the next list is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListMode {
    /// As the beginning of a watch.
    Streamed,
    /// In pages of this size.
    Paged(u32),
    /// All at once.
    Whole,
}

enum WatchState<D> {
    /// Everything should be listed again.
    Unlisted,
    /// A paged list is in progress.
    Paging(Page<D>),
    /// The list is complete, as of this version.
    Listed(String),
    Open(OpenWatch),
}

type Step<D> = Result<Option<ReflectorEvent<D>>, WatchError>;

impl<D: WorkloadView> Reflector<D> {
    /// Watches a kind, in one namespace or in all. If only its resource is known, the API server is
    /// asked for its version first, and again if that version is removed. A kind that the server does
    /// not have is a failure like any other.
    pub fn for_kind(
        client: Client,
        kind: &Kind,
        namespace: Option<&str>,
        selectors: WatchParams,
        random: fastrand::Rng,
    ) -> Self {
        let source = WatchSource::new(client, Collection::Kind(kind.clone()), namespace, selectors);
        Self::new(source, random)
    }
}

impl<D: Part> Reflector<D> {
    /// Watches objects that every server has, in one namespace or in all.
    pub fn for_parts(
        client: Client,
        namespace: Option<&str>,
        selectors: WatchParams,
        random: fastrand::Rng,
    ) -> Self {
        let all = Collection::of_parts::<D>();
        Self::new(WatchSource::new(client, all, namespace, selectors), random)
    }
}

impl<D: Decode> Reflector<D> {
    pub(crate) fn new(source: WatchSource, random: fastrand::Rng) -> Self {
        Self {
            source,
            list: ListMode::Streamed,
            state: WatchState::Unlisted,
            queued: VecDeque::new(),
            known: Arc::default(),
            cut_streams: 0,
            resume_trusted_after: None,
            pauses: Pauses::new(random),
            paused_until: Instant::now(),
        }
    }

    /// The stream of all events.
    pub fn into_stream(self) -> impl Stream<Item = ReflectorEvent<D>> + Send {
        stream::unfold(self, |mut reflector| async {
            Some((reflector.next().await, reflector))
        })
    }

    /// The same watch from the beginning. It shares the names that it has shown with this one: if the
    /// next list does not contain one of them, it reports that object as deleted.
    pub(super) fn restarted(&self) -> Self {
        Self {
            known: Arc::clone(&self.known),
            ..Self::new(self.source.clone(), self.pauses.random.clone())
        }
    }

    fn known(&self) -> MutexGuard<'_, KnownNames> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn next(&mut self) -> ReflectorEvent<D> {
        loop {
            if let Some(event) = self.queued.pop_front() {
                if self.queued.is_empty() {
                    // Free the memory of the queue, which is rarely used.
                    self.queued = VecDeque::new();
                }
                return event;
            }
            sleep_until(self.paused_until).await;
            let step = match mem::replace(&mut self.state, WatchState::Unlisted) {
                WatchState::Unlisted => self.start_list().await,
                WatchState::Paging(page) => self.next_from_page(page).await,
                WatchState::Listed(version) => self.resume(version).await,
                WatchState::Open(open) => self.read(open).await,
            };
            match step {
                Ok(None) => {}
                Ok(Some(event)) => return event,
                Err(error) => return self.fail(error),
            }
        }
    }

    /// Starts a list: as a stream (`sendInitialEvents`, since Kubernetes 1.34) if the server supports
    /// it, otherwise in pages. A stream takes half as long (`docs/decisions/api-server/watch-list.md`).
    async fn start_list(&mut self) -> Step<D> {
        self.source.discover_kind().await?;
        if self.list != ListMode::Streamed {
            self.state = WatchState::Paging(Page::none());
            return Ok(None);
        }
        let life = self.pauses.life();
        let stream = self.source.watch_with_list(life);
        match timeout(STREAM_SILENCE_TIMEOUT, stream).await {
            Ok(Ok(body)) => {
                let init = self.init();
                self.queued.push_back(init);
                Ok(Some(self.open(body, life, None, None)))
            }
            Ok(Err(error)) if error.rejects_streams() => {
                self.list_in_pages(&error);
                Ok(None)
            }
            Ok(Err(error)) => Err(error),
            Err(silence) => {
                self.list_in_pages(&silence);
                Ok(None)
            }
        }
    }

    /// Requests the list in pages from now on, instead of as a stream.
    fn list_in_pages(&mut self, why: &dyn Display) {
        tracing::debug!(%why, "listing in pages instead of a stream");
        self.list = ListMode::Paged(PAGE);
    }

    /// Returns the next object of a page, or requests the next page.
    async fn next_from_page(&mut self, mut page: Page<D>) -> Step<D> {
        if let Some(object) = page.objects.next() {
            self.state = WatchState::Paging(page);
            return Ok(Some(self.applied(object, ObjectSource::List)));
        }
        let (is_first, token) = match page.next {
            NextPage::First => (true, None),
            NextPage::After(token) => (false, Some(token)),
            NextPage::End(version) => {
                // A watch that starts right after a list can be trusted.
                self.resume_trusted_after = Some(Instant::now());
                self.state = WatchState::Listed(version);
                return Ok(Some(self.listed()));
            }
        };
        let limit = match self.list {
            ListMode::Paged(limit) => Some(limit),
            ListMode::Streamed | ListMode::Whole => None,
        };
        match Page::fetch(&self.source, limit, token).await {
            Ok(page) => {
                self.state = WatchState::Paging(page);
                Ok(is_first.then(|| self.init()))
            }
            // The continue token has expired (410). Request everything at once, as client-go does
            // (`pager.FullListIfExpired`).
            Err(error) if error.is_expired() && limit.is_some() => {
                tracing::debug!(%error, "the continue token has expired; listing all at once");
                self.list = ListMode::Whole;
                Ok(None)
            }
            Err(error) => {
                if error.is_too_large() {
                    self.list = ListMode::Paged(limit.map_or(PAGE, |limit| limit.div_ceil(10)));
                }
                Err(error)
            }
        }
    }

    /// Resumes the watch from a version.
    async fn resume(&mut self, version: String) -> Step<D> {
        let life = self.pauses.life();
        let watch = timeout(RESPONSE_TIMEOUT, self.source.watch(&version, life)).await;
        let accepted = watch.unwrap_or_else(|late| {
            let error = Error::Service(late.into());
            Err(WatchError::new("watch", error))
        });
        match accepted {
            Ok(body) => {
                let is_trusted = self
                    .resume_trusted_after
                    .is_some_and(|from| Instant::now() >= from);
                let unverified_version = (!is_trusted).then(|| Version::parse(&version));
                Ok(Some(self.open(
                    body,
                    life,
                    Some(version),
                    unverified_version,
                )))
            }
            Err(error) => {
                // The API server accepts a watch from an expired version and ends it with an event.
                // Other servers might reject it in the response.
                if !matches!(error.code(), Some(400 | 410)) {
                    self.state = WatchState::Listed(version);
                }
                Err(error)
            }
        }
    }

    /// Handles a watch that the server has accepted.
    fn open(
        &mut self,
        body: Body,
        life: Duration,
        version: Option<String>,
        unverified_version: Option<Version>,
    ) -> ReflectorEvent<D> {
        let since = Instant::now();
        self.resume_trusted_after = Some(since + life.saturating_sub(LIFE_MARGIN));
        self.state = WatchState::Open(OpenWatch {
            events: EventLines::new(body, self.source.spec_members()),
            since,
            life,
            version,
            has_events: false,
            is_last_event_malformed: false,
        });
        ReflectorEvent::Opened { unverified_version }
    }

    /// Returns the next event of an open watch.
    async fn read(&mut self, mut open: OpenWatch) -> Step<D> {
        let until = match open.version {
            Some(_) => open.since + open.life + LIFE_MARGIN,
            None => (open.since + STREAM_TIMEOUT).min(Instant::now() + STREAM_SILENCE_TIMEOUT),
        };
        match timeout_at(until, open.events.next()).await {
            Ok(Some(Ok(event))) => self.handle(open, event),
            // Later events can still be readable, and do not wait: the server has not failed.
            Ok(Some(Err(error @ Error::SerdeError(_)))) => {
                open.is_last_event_malformed = true;
                self.state = WatchState::Open(open);
                let error = WatchError::new("watch", error);
                Ok(Some(ReflectorEvent::Failed(error)))
            }
            Ok(Some(Err(error))) => self.watch_failed(open, error),
            Err(silence) if open.version.is_none() => {
                self.list_in_pages(&silence);
                Ok(None)
            }
            Ok(None) | Err(_) => self.watch_ended(open),
        }
    }

    fn handle(&mut self, mut open: OpenWatch, event: WatchEvent<D>) -> Step<D> {
        let was_broken = mem::take(&mut open.is_last_event_malformed);
        open.has_events = true;
        let reported = match event {
            WatchEvent::Error(status) => return self.watch_failed(open, Error::Api(status)),
            WatchEvent::Bookmark(bookmark) => {
                let meta = bookmark.metadata;
                let is_listed = open.version.is_some();
                let is_end = !is_listed && meta.annotations.contains_key(INITIAL_EVENTS_END);
                if is_listed || is_end {
                    open.version = Some(required_version(Some(meta.resource_version))?);
                }
                is_end.then(|| self.listed())
            }
            WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                let source = open.advance(&object)?;
                Some(self.applied(object, source))
            }
            WatchEvent::Deleted(object) => {
                open.advance(&object)?;
                Some(ReflectorEvent::Deleted {
                    name: self.known().remove(&object),
                    uid: Some(object.meta().uid.clone().unwrap_or_default()),
                })
            }
        };
        self.state = WatchState::Open(open);
        if was_broken {
            self.queued.extend(reported);
            return Ok(Some(ReflectorEvent::Opened {
                unverified_version: None,
            }));
        }
        Ok(reported)
    }

    /// Handles a watch that has ended, or that is silent after its requested end.
    fn watch_ended(&mut self, open: OpenWatch) -> Step<D> {
        let is_short = open.since.elapsed() < MIN_WATCH_DURATION;
        if let Some(version) = open.version {
            self.state = WatchState::Listed(version);
            // A server that ends every watch without an event would never show a change.
            if is_short && !open.has_events {
                let why = Error::Service(
                    "the server closed the watch immediately, without an event".into(),
                );
                return Err(WatchError::new("watch", why));
            }
        } else {
            self.count_cut_stream(&"it ends too soon");
        }
        if is_short {
            self.paused_until = self.pauses.next(&Delays::SERVER, None);
        }
        Ok(None)
    }

    /// Handles a watch that has failed. It resumes from its version unless the server no longer has it
    /// (410).
    fn watch_failed(&mut self, open: OpenWatch, error: Error) -> Step<D> {
        let error = WatchError::new("watch", error);
        match open.version {
            Some(version) if !error.is_expired() => self.state = WatchState::Listed(version),
            Some(_) => {}
            None => self.count_cut_stream(&error),
        }
        Err(error)
    }

    /// Counts a stream that ended before it had listed everything. A proxy might cut off every stream
    /// that takes so long or is so large.
    fn count_cut_stream(&mut self, why: &dyn Display) {
        self.cut_streams += 1;
        if self.cut_streams >= MAX_CUT_STREAMS {
            self.list_in_pages(why);
        }
    }

    /// Completes a list. The next one can be a stream again.
    fn listed(&mut self) -> ReflectorEvent<D> {
        (self.list, self.cut_streams) = (ListMode::Streamed, 0);
        let (objects, gone) = self.known().end_list();
        let gone = gone.into_iter();
        let gone = gone.map(|name| ReflectorEvent::Deleted { name, uid: None });
        self.queued.extend(gone);
        self.queued.push_back(ReflectorEvent::Listed { objects });
        self.queued
            .pop_front()
            .unwrap_or(ReflectorEvent::Listed { objects })
    }

    /// Records that a list starts.
    fn init(&mut self) -> ReflectorEvent<D> {
        self.known().begin_list();
        ReflectorEvent::Init
    }

    fn applied(&mut self, object: D, source: ObjectSource) -> ReflectorEvent<D> {
        ReflectorEvent::Applied {
            name: self.known().add(&object),
            object,
            source,
        }
    }

    fn fail(&mut self, error: WatchError) -> ReflectorEvent<D> {
        let absence = error.absence();
        if absence == Some(Absence::NotServed) && self.source.may_have_moved() {
            self.source.needs_rediscovery = true;
            self.state = WatchState::Unlisted;
        }
        let delays = match absence {
            Some(_) => Delays::ABSENT,
            None => Delays::SERVER,
        };
        self.paused_until = self.pauses.next(&delays, error.retry_after);
        self.resume_trusted_after = None;
        ReflectorEvent::Failed(error)
    }
}

/// An event of a [`Reflector`].
#[derive(Debug)]
pub enum ReflectorEvent<D> {
    /// The API server has accepted the watch.
    Opened {
        /// The version from which the watch continues, if it must be verified. This is necessary if the
        /// watch failed or ended early, because the server might have been restored from an older
        /// backup in the meantime. A watch that starts at a future version shows nothing, neither
        /// bookmarks nor an error (the cacher of k8s.io/apiserver).
        unverified_version: Option<Version>,
    },
    /// A list starts.
    Init,
    /// An object that is in the list, is new or has changed.
    Applied {
        /// The name. All events of one object share its strings.
        name: ObjectName,
        /// The object.
        object: D,
        /// Whether it comes from a list or from a change.
        source: ObjectSource,
    },
    /// An object was deleted or left the scope of the watch.
    Deleted {
        /// The name of the object.
        name: ObjectName,
        /// The UID, if the server has reported the deletion. `None` if a complete list does not contain
        /// an object that was shown before; then the object with this name no longer exists, whatever
        /// its UID was (like client-go's `DeletedFinalStateUnknown`).
        uid: Option<String>,
    },
    /// The list is complete. Objects that it does not contain have been reported as deleted.
    Listed {
        /// The number of objects in the list.
        objects: usize,
    },
    /// The watch has failed. It is retried after a growing pause.
    Failed(WatchError),
}

/// Whether an object comes from a list or from a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectSource {
    /// Lists show the current state of the cluster.
    List,
    /// Changes can be late.
    Change,
}

impl<D: Decode> ReflectorEvent<D> {
    /// Creates an event for one changed object.
    pub fn changed(object: D) -> Self {
        Self::Applied {
            name: ObjectName::from_object(&object),
            object,
            source: ObjectSource::Change,
        }
    }
}

/// The annotation of the bookmark that ends the initial list.
pub(crate) const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// A watch that the server has accepted.
pub(crate) struct OpenWatch {
    pub(crate) events: EventLines,
    pub(crate) since: Instant,
    /// The requested duration of the watch.
    pub(crate) life: Duration,
    /// The version of the last event; `None` during the initial list.
    pub(crate) version: Option<String>,
    /// Whether any event has arrived.
    pub(crate) has_events: bool,
    /// Whether the last event was malformed.
    pub(crate) is_last_event_malformed: bool,
}

impl OpenWatch {
    /// Records the version of an object. Returns whether the event is part of the initial list.
    pub(crate) fn advance(&mut self, object: &impl Decode) -> Result<ObjectSource, WatchError> {
        let version = required_version(object.meta().resource_version.clone())?;
        if self.version.is_none() {
            return Ok(ObjectSource::List);
        }
        self.version = Some(version);
        Ok(ObjectSource::Change)
    }
}

/// The version of an event. Without one, a resumed watch would miss changes.
pub(crate) fn required_version(version: Option<String>) -> Result<String, WatchError> {
    let version = version.filter(|version| !version.is_empty());
    version.ok_or_else(|| WatchError::no_version("watch"))
}

/// The requested duration of a watch is between these, in seconds, so that watches that started together
/// do not restart together.
const MIN_LIFE: u64 = 260;
const MAX_LIFE: u64 = 290;

/// The pauses and the requested durations of one watch.
pub(crate) struct Pauses {
    failures: u32,
    /// The end of the last pause.
    last_ended: Option<Instant>,
    random: fastrand::Rng,
}

impl Pauses {
    pub(crate) fn new(random: fastrand::Rng) -> Self {
        Self {
            failures: 0,
            last_ended: None,
            random,
        }
    }

    /// Records a failure and returns the earliest time of the next request.
    pub(crate) fn next(&mut self, delays: &Delays, retry_after: Option<Duration>) -> Instant {
        let now = Instant::now();
        if self.last_ended.is_some_and(|ended| now > ended + CALM) {
            self.failures = 0;
        }
        self.failures = self.failures.saturating_add(1);
        let delay = delays.delay(self.failures, &mut self.random);
        let requested = retry_after.unwrap_or_default().min(MAX_RETRY_AFTER);
        let until = now + delay.max(requested);
        self.last_ended = Some(until);
        until
    }

    /// The requested duration of the next watch.
    pub(crate) fn life(&mut self) -> Duration {
        Duration::from_secs(self.random.u64(MIN_LIFE..=MAX_LIFE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_with_failures_and_reset_after_a_calm_period() {
        let mut pauses = Pauses::new(fastrand::Rng::with_seed(1));
        let mut next = || pauses.next(&Delays::SERVER, None);
        let first = Duration::from_millis(200);
        assert!(next() <= Instant::now() + first);
        for _ in 0..10 {
            sleep_until(next()).await;
        }
        assert!(next() > Instant::now() + first);
        tokio::time::sleep(2 * CALM).await;
        assert!(next() <= Instant::now() + first);
    }
}
