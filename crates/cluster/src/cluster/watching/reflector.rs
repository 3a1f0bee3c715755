//! A watch that first lists everything, and never ends.

use std::{fmt::Display, mem, time::Duration};

use dayshift_workload::Kind;
use futures::{Stream, stream};
use kube::{Client, Error, Resource, api::WatchParams, client::Body, core::WatchEvent};
use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use crate::{
    cluster::{
        reading::{
            namespace::NamespaceMeta,
            view::{PAGE, WorkloadView},
        },
        watching::{
            answer::EventLines,
            error::{Absence, WatchError},
            event::ReflectorEvent,
            open::{INITIAL_EVENTS_END, Open, given},
            page::{Next, Page},
            pauses::Pauses,
            request::{Collection, Source},
        },
        workload::Version,
    },
    delays::Delays,
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
    source: Source,
    list: List,
    state: State<D>,
    /// The events to return before anything else.
    queued: Option<ReflectorEvent<D>>,
    /// How many streams in a row have ended before they had listed everything.
    cut_streams: u32,
    /// From when on the next grant comes no earlier than usual; `None` since a failure.
    usual_from: Option<Instant>,
    pauses: Pauses,
    /// When the server may be asked again.
    paused_until: Instant,
}

/// How the next list is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    /// As the beginning of the watch.
    Streamed,
    /// In pages of so many.
    Paged(u32),
    /// All at once.
    Whole,
}

enum State<D> {
    /// Everything has to be listed anew.
    Unlisted,
    /// A list in pages is under way.
    Paging(Page<D>),
    /// The list is complete, as of this version.
    Listed(String),
    Open(Open),
}

type Step<D> = Result<Option<ReflectorEvent<D>>, WatchError>;

impl<D: WorkloadView> Reflector<D> {
    /// A watch of a kind, in one namespace or in all. If only the resource is known, the server is
    /// asked about it first, and again when it drops the version in use; that it does not have the
    /// kind at all is a failure like any other.
    pub fn of_kind(
        client: Client,
        kind: Kind,
        namespace: Option<&str>,
        selectors: WatchParams,
        random: fastrand::Rng,
    ) -> Self {
        let source = Source::new(client, Collection::Kind(kind), namespace, selectors);
        Self::new(source, random)
    }
}

impl Reflector<NamespaceMeta> {
    /// A watch of the metadata of Namespaces.
    pub fn of_namespaces(client: Client, selectors: WatchParams, random: fastrand::Rng) -> Self {
        let source = Source::new(client, Collection::Namespaces, None, selectors);
        Self::new(source, random)
    }
}

impl<D: Resource + Clone + DeserializeOwned + Send + 'static> Reflector<D> {
    pub(super) fn new(source: Source, random: fastrand::Rng) -> Self {
        Self {
            source,
            list: List::Streamed,
            state: State::Unlisted,
            queued: None,
            cut_streams: 0,
            usual_from: None,
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

    async fn next(&mut self) -> ReflectorEvent<D> {
        loop {
            if let Some(event) = self.queued.take() {
                return event;
            }
            sleep_until(self.paused_until).await;
            let step = match mem::replace(&mut self.state, State::Unlisted) {
                State::Unlisted => self.begin().await,
                State::Paging(page) => self.page(page).await,
                State::Listed(version) => self.resume(version).await,
                State::Open(open) => self.read(open).await,
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
        if self.list != List::Streamed {
            self.state = State::Paging(Page::none());
            return Ok(None);
        }
        let life = self.pauses.life();
        let stream = self.source.watch("0", true, life);
        match timeout(STREAM_SILENCE_TIMEOUT, stream).await {
            Ok(Ok(body)) => {
                self.queued = Some(ReflectorEvent::Init);
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
        self.list = List::Paged(PAGE);
    }

    /// Returns the next object of a page, or asks for the next page.
    async fn page(&mut self, mut page: Page<D>) -> Step<D> {
        if let Some(object) = page.objects.next() {
            self.state = State::Paging(page);
            return Ok(Some(ReflectorEvent::InitApply(object)));
        }
        let (is_first, token) = match page.next {
            Next::First => (true, None),
            Next::After(token) => (false, Some(token)),
            Next::End(version) => {
                // A watch that begins right after a list comes no earlier than usual.
                self.usual_from = Some(Instant::now());
                self.state = State::Listed(version);
                return Ok(Some(self.listed()));
            }
        };
        let limit = match self.list {
            List::Paged(limit) => Some(limit),
            List::Streamed | List::Whole => None,
        };
        match Page::fetch(&self.source, limit, token).await {
            Ok(page) => {
                self.state = State::Paging(page);
                Ok(is_first.then_some(ReflectorEvent::Init))
            }
            // The server keeps the pages for some minutes only. client-go then asks for everything
            // at once (`pager.FullListIfExpired`).
            Err(error) if error.is_expired() && limit.is_some() => {
                tracing::debug!(%error, "the server does not keep the pages; listing all at once");
                self.list = List::Whole;
                Ok(None)
            }
            Err(error) => {
                if error.is_too_large() {
                    self.list = List::Paged(limit.map_or(PAGE, |limit| limit.div_ceil(10)));
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
                let is_usual = self.usual_from.is_some_and(|from| Instant::now() >= from);
                let early = (!is_usual).then(|| Version::parse(&version));
                Ok(Some(self.open(body, life, Some(version), early)))
            }
            Err(error) => {
                // The API server itself grants a watch from a version that it no longer has, and
                // ends it with an event; others may refuse it in their answer.
                if !matches!(error.code(), Some(400 | 410)) {
                    self.state = State::Listed(version);
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
        self.usual_from = Some(since + life.saturating_sub(LIFE_MARGIN));
        self.state = State::Open(Open {
            events: EventLines::of(body),
            since,
            life,
            version,
            has_told: false,
            is_broken: false,
        });
        ReflectorEvent::Opened { early }
    }

    /// Returns the next event of an open watch.
    async fn read(&mut self, mut open: Open) -> Step<D> {
        let until = match open.version {
            Some(_) => open.since + open.life + LIFE_MARGIN,
            None => (open.since + STREAM_TIMEOUT).min(Instant::now() + STREAM_SILENCE_TIMEOUT),
        };
        match timeout_at(until, open.events.next()).await {
            Ok(Some(Ok(event))) => self.take_in(open, event),
            // The events after it can be read.
            Ok(Some(Err(error @ Error::SerdeError(_)))) => {
                open.is_broken = true;
                self.state = State::Open(open);
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

    fn take_in(&mut self, mut open: Open, event: WatchEvent<D>) -> Step<D> {
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
                Some(match open.advance(&object)? {
                    true => ReflectorEvent::Apply(object),
                    false => ReflectorEvent::InitApply(object),
                })
            }
            WatchEvent::Deleted(object) => {
                open.advance(&object)?;
                Some(ReflectorEvent::Delete(object))
            }
        };
        self.state = State::Open(open);
        if was_broken {
            self.queued = told;
            return Ok(Some(ReflectorEvent::Opened { early: None }));
        }
        Ok(told)
    }

    /// The watch has ended, as each does, or is silent beyond its end.
    fn ended(&mut self, open: Open) -> Step<D> {
        let is_short = open.since.elapsed() < MIN_CALM_LIFE;
        if let Some(version) = open.version {
            self.state = State::Listed(version);
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
    fn cut_off(&mut self, open: Open, error: Error) -> Step<D> {
        let error = WatchError::new("watch", error);
        match open.version {
            Some(version) if !error.is_expired() => self.state = State::Listed(version),
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
        (self.list, self.cut_streams) = (List::Streamed, 0);
        ReflectorEvent::Done
    }

    fn fail(&mut self, error: WatchError) -> ReflectorEvent<D> {
        let absence = error.absence();
        if absence == Some(Absence::NotServed) && self.source.may_have_moved() {
            self.source.is_lost = true;
            self.state = State::Unlisted;
        }
        let delays = match absence {
            Some(_) => Delays::ABSENT,
            None => Delays::SERVER,
        };
        self.paused_until = self.pauses.next(&delays, error.retry_after);
        self.usual_from = None;
        ReflectorEvent::Failed(error)
    }
}
