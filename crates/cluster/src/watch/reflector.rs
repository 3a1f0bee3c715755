//! A watch that first lists everything, and never ends: its events, its pauses after failures, and the
//! names that it has shown, with which each list is compared.

use std::{
    collections::VecDeque,
    fmt::Display,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use dayshift_workload::Kind;
use futures::{Stream, stream};
use k8s_openapi::api::{core::v1::Service, discovery::v1::EndpointSlice};
use kube::{Client, Error, Resource, api::WatchParams, client::Body, core::WatchEvent};
use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use crate::{
    decode::{views::WorkloadView, workload::Version},
    delays::{CALM, Delays, MAX_RETRY_AFTER},
    read::{list::PAGE, namespaces::NamespaceMeta, services::SLICES_ROOT},
    watch::{
        known_names::{KnownNames, ObjectName},
        request::{Absence, Collection, EventLines, NextPage, Page, WatchError, WatchSource},
    },
};

/// A stream that is silent for this long is given up for pages: a server that ignores the question
/// never marks the end of the list.
const STREAM_SILENCE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a stream may take to list everything; 10,000 objects take some 2 s. With constant
/// changes, a server that ignores the question is never silent.
const STREAM_TIMEOUT: Duration = Duration::from_secs(60);

/// How many streams in a row may end before they have listed everything.
const MAX_CUT_STREAMS: u32 = 3;

/// How long a watch may wait for its answer: longer than a busy API server lets a request wait in a
/// queue (a quarter of its `--request-timeout`).
const GRANT_TIMEOUT: Duration = Duration::from_secs(20);

/// How far the server may miss the requested end of a watch. A watch that is still open after that
/// was cut off without a word.
const LIFE_MARGIN: Duration = Duration::from_secs(5);

/// A watch that ends sooner than this is opened again after a pause.
const MIN_CALM_LIFE: Duration = Duration::from_secs(1);

/// One watch, and its progress.
pub struct Reflector<D> {
    source: WatchSource,
    list: ListMode,
    state: WatchState<D>,
    /// The events to return before anything else.
    queued: VecDeque<ReflectorEvent<D>>,
    /// The names that were shown and not deleted since.
    known: Arc<Mutex<KnownNames>>,
    /// How many streams in a row have ended before they had listed everything.
    cut_streams: u32,
    /// From when on the next grant comes no earlier than usual; `None` since a failure.
    resume_trusted_after: Option<Instant>,
    pauses: Pauses,
    /// When the server may be asked again.
    paused_until: Instant,
}

/// How the next list is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListMode {
    /// As the beginning of the watch.
    Streamed,
    /// In pages of so many.
    Paged(u32),
    /// All at once.
    Whole,
}

enum WatchState<D> {
    /// Everything has to be listed anew.
    Unlisted,
    /// A list in pages is under way.
    Paging(Page<D>),
    /// The list is complete, as of this version.
    Listed(String),
    Open(OpenWatch),
}

type Step<D> = Result<Option<ReflectorEvent<D>>, WatchError>;

impl<D: WorkloadView> Reflector<D> {
    /// A watch of a kind, in one namespace or in all. If only the resource is known, the server is
    /// asked about it first, and again when it drops the version in use; that it does not have the
    /// kind at all is a failure like any other.
    pub fn for_kind(
        client: Client,
        kind: Kind,
        namespace: Option<&str>,
        selectors: WatchParams,
        random: fastrand::Rng,
    ) -> Self {
        let source = WatchSource::new(client, Collection::Kind(kind), namespace, selectors);
        Self::new(source, random)
    }
}

impl Reflector<NamespaceMeta> {
    /// A watch of the metadata of Namespaces.
    pub fn for_namespaces(client: Client, selectors: WatchParams, random: fastrand::Rng) -> Self {
        let source = WatchSource::new(client, Collection::Namespaces, None, selectors);
        Self::new(source, random)
    }
}

impl<D: Resource + Clone + DeserializeOwned + Send + 'static> Reflector<D> {
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

    /// All of its events.
    pub fn into_stream(self) -> impl Stream<Item = ReflectorEvent<D>> + Send {
        stream::unfold(self, |mut reflector| async {
            Some((reflector.next().await, reflector))
        })
    }

    /// The same watch, which reports what its first list lacks of these names.
    #[must_use]
    pub(super) fn with_known(self, known: Arc<Mutex<KnownNames>>) -> Self {
        Self { known, ..self }
    }

    fn known(&self) -> MutexGuard<'_, KnownNames> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn next(&mut self) -> ReflectorEvent<D> {
        loop {
            if let Some(event) = self.queued.pop_front() {
                if self.queued.is_empty() {
                    // No memory is kept for a queue that is seldom used.
                    self.queued = VecDeque::new();
                }
                return event;
            }
            sleep_until(self.paused_until).await;
            let step = match mem::replace(&mut self.state, WatchState::Unlisted) {
                WatchState::Unlisted => self.begin().await,
                WatchState::Paging(page) => self.page(page).await,
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

    /// Begins a list: as a stream (`sendInitialEvents`, in Kubernetes since 1.34) if the server has
    /// that, in half the time of a list, otherwise in pages
    /// (`docs/decisions/api-server/watch-list.md`).
    async fn begin(&mut self) -> Step<D> {
        self.source.find().await?;
        if self.list != ListMode::Streamed {
            self.state = WatchState::Paging(Page::none());
            return Ok(None);
        }
        let life = self.pauses.life();
        let stream = self.source.watch("0", true, life);
        match timeout(STREAM_SILENCE_TIMEOUT, stream).await {
            Ok(Ok(body)) => {
                let init = self.init();
                self.queued.push_back(init);
                Ok(Some(self.open(body, life, None, None)))
            }
            Ok(Err(error)) if error.refuses_streams() => {
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

    /// Uses pages for this list.
    fn list_in_pages(&mut self, why: &dyn Display) {
        tracing::debug!(%why, "the server does not stream the list; listing in pages");
        self.list = ListMode::Paged(PAGE);
    }

    /// Returns the next object of a page, or asks for the next page.
    async fn page(&mut self, mut page: Page<D>) -> Step<D> {
        if let Some(object) = page.objects.next() {
            self.state = WatchState::Paging(page);
            return Ok(Some(self.applied(object, true)));
        }
        let (is_first, token) = match page.next {
            NextPage::First => (true, None),
            NextPage::After(token) => (false, Some(token)),
            NextPage::End(version) => {
                // A watch that begins right after a list comes no earlier than usual.
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
            // The server keeps the pages for some minutes only. client-go then asks for everything
            // at once (`pager.FullListIfExpired`).
            Err(error) if error.is_expired() && limit.is_some() => {
                tracing::debug!(%error, "the server does not keep the pages; listing all at once");
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

    /// Asks to continue the watch from a version.
    async fn resume(&mut self, version: String) -> Step<D> {
        let life = self.pauses.life();
        let watch = timeout(GRANT_TIMEOUT, self.source.watch(&version, false, life)).await;
        let granted = watch.unwrap_or_else(|late| {
            let error = Error::Service(late.into());
            Err(WatchError::new("watch", error))
        });
        match granted {
            Ok(body) => {
                let is_trusted = self
                    .resume_trusted_after
                    .is_some_and(|from| Instant::now() >= from);
                let early = (!is_trusted).then(|| Version::parse(&version));
                Ok(Some(self.open(body, life, Some(version), early)))
            }
            Err(error) => {
                // The API server itself grants a watch from a version that it no longer has, and
                // ends it with an event; others may refuse it in their answer.
                if !matches!(error.code(), Some(400 | 410)) {
                    self.state = WatchState::Listed(version);
                }
                Err(error)
            }
        }
    }

    /// The server has granted the watch.
    fn open(
        &mut self,
        body: Body,
        life: Duration,
        version: Option<String>,
        early: Option<Version>,
    ) -> ReflectorEvent<D> {
        let since = Instant::now();
        self.resume_trusted_after = Some(since + life.saturating_sub(LIFE_MARGIN));
        self.state = WatchState::Open(OpenWatch {
            events: EventLines::new(body),
            since,
            life,
            version,
            has_told: false,
            is_broken: false,
        });
        ReflectorEvent::Opened { early }
    }

    /// Returns the next event of an open watch.
    async fn read(&mut self, mut open: OpenWatch) -> Step<D> {
        let until = match open.version {
            Some(_) => open.since + open.life + LIFE_MARGIN,
            None => (open.since + STREAM_TIMEOUT).min(Instant::now() + STREAM_SILENCE_TIMEOUT),
        };
        match timeout_at(until, open.events.next()).await {
            Ok(Some(Ok(event))) => self.take_in(open, event),
            // The events after it can be read.
            Ok(Some(Err(error @ Error::SerdeError(_)))) => {
                open.is_broken = true;
                self.state = WatchState::Open(open);
                Err(WatchError::new("watch", error))
            }
            Ok(Some(Err(error))) => self.cut_off(open, error),
            Err(silence) if open.version.is_none() => {
                self.list_in_pages(&silence);
                Ok(None)
            }
            Ok(None) | Err(_) => self.ended(open),
        }
    }

    fn take_in(&mut self, mut open: OpenWatch, event: WatchEvent<D>) -> Step<D> {
        let was_broken = mem::take(&mut open.is_broken);
        open.has_told = true;
        let told = match event {
            WatchEvent::Error(status) => return self.cut_off(open, Error::Api(status)),
            WatchEvent::Bookmark(bookmark) => {
                let meta = bookmark.metadata;
                let is_listed = open.version.is_some();
                let is_end = !is_listed && meta.annotations.contains_key(INITIAL_EVENTS_END);
                if is_listed || is_end {
                    open.version = Some(given(Some(meta.resource_version))?);
                }
                is_end.then(|| self.listed())
            }
            WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                let is_change = open.advance(&object)?;
                Some(self.applied(object, !is_change))
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
            self.queued.extend(told);
            return Ok(Some(ReflectorEvent::Opened { early: None }));
        }
        Ok(told)
    }

    /// The watch has ended, as each does, or is silent beyond its end.
    fn ended(&mut self, open: OpenWatch) -> Step<D> {
        let is_short = open.since.elapsed() < MIN_CALM_LIFE;
        if let Some(version) = open.version {
            self.state = WatchState::Listed(version);
            // What answers each watch with nothing would never show a change.
            if is_short && !open.has_told {
                let why = Error::Service("it has ended at once, without an event".into());
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

    /// The watch has failed. It continues where it was, unless the server no longer has that
    /// version (410).
    fn cut_off(&mut self, open: OpenWatch, error: Error) -> Step<D> {
        let error = WatchError::new("watch", error);
        match open.version {
            Some(version) if !error.is_expired() => self.state = WatchState::Listed(version),
            Some(_) => {}
            None => self.count_cut_stream(&error),
        }
        Err(error)
    }

    /// A stream has ended before it had listed everything: something may cut off each that takes so
    /// long, or is so large.
    fn count_cut_stream(&mut self, why: &dyn Display) {
        self.cut_streams += 1;
        if self.cut_streams >= MAX_CUT_STREAMS {
            self.list_in_pages(why);
        }
    }

    /// The list is complete. The next list may be a stream again.
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

    /// A list begins.
    fn init(&mut self) -> ReflectorEvent<D> {
        self.known().begin_list();
        ReflectorEvent::Init
    }

    fn applied(&mut self, object: D, in_list: bool) -> ReflectorEvent<D> {
        ReflectorEvent::Applied {
            name: self.known().add(&object),
            object,
            in_list,
        }
    }

    fn fail(&mut self, error: WatchError) -> ReflectorEvent<D> {
        let absence = error.absence();
        if absence == Some(Absence::NotServed) && self.source.may_have_moved() {
            self.source.is_lost = true;
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

/// An event of a watch.
#[derive(Debug)]
pub enum ReflectorEvent<D> {
    /// The API server has granted the watch.
    Opened {
        /// The version from which it continues, if that is earlier than usual: it was broken, or
        /// the server was away, and may have come back with an older history. A watch that begins
        /// at a version still to come shows nothing, not even bookmarks, and no error
        /// (k8s.io/apiserver's cacher).
        early: Option<Version>,
    },
    /// A list begins.
    Init,
    /// An object of the list, or one that is new or has changed.
    Applied {
        /// Its name. All events of one object share the text.
        name: ObjectName,
        /// The object.
        object: D,
        /// Whether it comes from a list, which shows the current state of the cluster.
        in_list: bool,
    },
    /// An object was deleted, or is out of scope now.
    Deleted {
        /// Its name.
        name: ObjectName,
        /// The UID, if the server has reported the deletion; `None` if a complete list lacks an
        /// object that an earlier list or change has shown. Then the object of that name is gone,
        /// whatever its UID was (as `DeletedFinalStateUnknown` of client-go).
        uid: Option<String>,
    },
    /// The list is complete. Everything that it lacks was reported as deleted before.
    Listed {
        /// How many objects the list contains.
        objects: usize,
    },
    /// The watch is broken. It is tried again after a growing pause.
    Failed(WatchError),
}

impl<D: Resource> ReflectorEvent<D> {
    /// A change of an object, with a name of its own.
    pub fn changed(object: D) -> Self {
        Self::Applied {
            name: ObjectName::from_resource(&object),
            object,
            in_list: false,
        }
    }
}

/// The bookmark that marks the end of the list.
pub(crate) const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// A watch that the server has granted.
pub(crate) struct OpenWatch {
    pub(crate) events: EventLines,
    pub(crate) since: Instant,
    /// The requested life of the watch.
    pub(crate) life: Duration,
    /// The version of its last event; `None` during the list.
    pub(crate) version: Option<String>,
    /// Whether it has told anything.
    pub(crate) has_told: bool,
    /// Whether the last event could not be read.
    pub(crate) is_broken: bool,
}

impl OpenWatch {
    /// Notes that this was told; whether it is a change, and not one of what there is.
    pub(crate) fn advance(&mut self, object: &impl Resource) -> Result<bool, WatchError> {
        let version = given(object.meta().resource_version.clone())?;
        let is_change = self.version.is_some();
        self.version = is_change.then_some(version);
        Ok(is_change)
    }
}

/// The version in an event. A watch that continued without one would miss changes.
pub(crate) fn given(version: Option<String>) -> Result<String, WatchError> {
    let version = version.filter(|it| !it.is_empty());
    version.ok_or_else(|| WatchError::no_version("watch"))
}

/// The requested life of a watch is between these, in seconds, so that watches which began together
/// do not begin anew together.
const MIN_LIFE: u64 = 260;
const MAX_LIFE: u64 = 290;

/// The pauses of one watch.
pub(crate) struct Pauses {
    failures: u32,
    /// When the last one ended.
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

    /// When the server may be asked again that has just failed.
    pub(crate) fn next(&mut self, delays: &Delays, retry_after: Option<Duration>) -> Instant {
        let now = Instant::now();
        if self.last_ended.is_some_and(|ended| now > ended + CALM) {
            self.failures = 0;
        }
        self.failures = self.failures.saturating_add(1);
        let delay = delays.delay(self.failures, &mut self.random);
        let asked = retry_after.unwrap_or_default().min(MAX_RETRY_AFTER);
        let until = now + delay.max(asked);
        self.last_ended = Some(until);
        until
    }

    /// How long the next watch is to last.
    pub(crate) fn life(&mut self) -> Duration {
        Duration::from_secs(self.random.u64(MIN_LIFE..=MAX_LIFE))
    }
}

impl Reflector<Service> {
    /// A watch of Services, in one namespace or in all.
    pub fn for_services(client: Client, namespace: Option<&str>, random: fastrand::Rng) -> Self {
        let all = Collection::BuiltIn("/api/v1/", "services");
        let source = WatchSource::new(client, all, namespace, WatchParams::default());
        Self::new(source, random)
    }
}

impl Reflector<EndpointSlice> {
    /// A watch of EndpointSlices, in one namespace or in all.
    pub fn for_slices(
        client: Client,
        namespace: Option<&str>,
        selectors: WatchParams,
        random: fastrand::Rng,
    ) -> Self {
        let all = Collection::BuiltIn(SLICES_ROOT, "endpointslices");
        let source = WatchSource::new(client, all, namespace, selectors);
        Self::new(source, random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_while_tries_fail_and_are_short_again_after_a_calm() {
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
