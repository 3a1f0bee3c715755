//! A watch that first tells of everything there is.

use std::{
    fmt::{Debug, Display},
    time::Duration,
};

use futures::{
    Stream, StreamExt as _,
    stream::{self, BoxStream},
};
use kube::{
    Api, Client, Resource,
    runtime::watcher::{self, Error, Event, watcher},
};
use serde::de::DeserializeOwned;
use tokio::time::{Instant, timeout_at};

use crate::cluster::reading::absence::Absence;
use crate::cluster::reading::discovery::{discover, discover_again};
use crate::cluster::reading::view::{WorkloadView, api_of};
use crate::workload::Kind;

/// How many objects are asked for at a time where they come in pages. A page is in memory three
/// times over while it is read, at some 10 kB for each Deployment.
pub(in crate::cluster) const PAGE: u32 = 100;

/// What asks for a stream and hears nothing for so long asks for pages: a server that ignores the
/// question never says that the stream has told everything.
const FIRST_EVENT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a stream may take to tell everything, which for 10,000 objects is some 2 s: where there is
/// always a change, a server that ignores the question is never silent.
const STREAM_TIMEOUT: Duration = Duration::from_secs(60);

/// How many streams may end before they have told everything, one after another.
const STREAMS: u32 = 3;

type Events<D> = BoxStream<'static, Result<Event<D>, Error>>;

/// What there is, and each change from then on. It never ends: a watch that fails is begun anew
/// when it is next asked for.
///
/// What there is comes as a stream (`sendInitialEvents`, in Kubernetes since 1.34) from a server
/// that has that, in half the time of a list; from any other in pages, as
/// `docs/decisions/api-server/watch-list.md` tells.
pub fn list_watch<D>(
    api: Api<D>,
    config: watcher::Config,
) -> impl Stream<Item = Result<Event<D>, Error>> + Send
where
    D: Resource + Clone + Debug + DeserializeOwned + Send + 'static,
{
    let begin = move |list: List| {
        let config = config.clone();
        let config = match list {
            List::Streamed => config.page_size(PAGE).streaming_lists(),
            List::Paged => config.page_size(PAGE),
            List::Whole => watcher::Config {
                page_size: None,
                ..config
            },
        };
        watcher(api.clone(), config).boxed()
    };
    let watch = ListWatch {
        events: begin(List::Streamed),
        begin: Box::new(begin),
        list: List::Streamed,
        begun: Some(0),
        until: None,
    };
    stream::unfold(watch, |mut watch| async move {
        Some((watch.next().await?, watch))
    })
}

/// The same of a kind, in one namespace or in all. Where no more than its resource is known the
/// server is asked about it first, and again where it has the version no more in which it had it;
/// that it does not have it at all is a list that fails.
pub fn watch_of<D: WorkloadView>(
    client: Client,
    kind: Kind,
    namespace: Option<&str>,
    config: watcher::Config,
) -> impl Stream<Item = Result<Event<D>, Error>> + Send + use<D> {
    let namespace = namespace.map(str::to_owned);
    let watch = move |client: &Client| {
        let api: Api<D> = api_of(client, kind, namespace.as_deref());
        list_watch(api, config.clone()).boxed()
    };
    let first = if kind.is_discovered() {
        Source::Unknown
    } else {
        Source::Open(watch(&client))
    };
    stream::unfold(first, move |source| {
        let (client, watch) = (client.clone(), watch.clone());
        async move {
            let mut events = match source {
                Source::Open(events) => events,
                closed => {
                    let asked = match &closed {
                        Source::Lost => discover_again(&client, kind).await,
                        _ => discover(&client, kind).await,
                    };
                    if let Err(error) = asked {
                        return Some((Err(Error::InitialListFailed(error)), closed));
                    }
                    watch(&client)
                }
            };
            let event = events.next().await?;
            let is_absent = |error| Absence::of(error) == Some(Absence::NotServed);
            let is_lost = kind.is_discovered() && event.as_ref().is_err_and(is_absent);
            let source = if is_lost {
                Source::Lost
            } else {
                Source::Open(events)
            };
            Some((event, source))
        }
    })
}

/// Where the events of a kind come from.
enum Source<D> {
    /// It may have to be asked for first.
    Unknown,
    Open(Events<D>),
    /// The server does not have what was asked for: it may have another version of it.
    Lost,
}

/// How the server is asked for what there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    /// At the beginning of the watch.
    Streamed,
    /// In pages.
    Paged,
    /// All at once.
    Whole,
}

struct ListWatch<D> {
    events: Events<D>,
    /// Begins anew, with what there is.
    begin: Box<dyn Fn(List) -> Events<D> + Send>,
    list: List,
    /// How often what there is has begun to be told; none once it was told to its end.
    begun: Option<u32>,
    /// When a stream that has begun to tell it has to have come to the end.
    until: Option<Instant>,
}

impl<D> ListWatch<D> {
    async fn next(&mut self) -> Option<Result<Event<D>, Error>> {
        let event = if self.list == List::Streamed && self.begun.is_some() {
            let silent = Instant::now() + FIRST_EVENT_TIMEOUT;
            let until = self.until.map_or(silent, |until| until.min(silent));
            match timeout_at(until, self.events.next()).await {
                Ok(Some(Err(error))) if is_refusal(&error) => self.pages(&error).await,
                Ok(event) => event,
                Err(silence) => self.pages(&silence).await,
            }
        } else {
            self.events.next().await
        };
        match &event {
            Some(Ok(Event::Init)) if self.begun.is_none() && self.list != List::Streamed => {
                // What kept the last list from being a stream may be over.
                (self.list, self.begun, self.until) = (List::Streamed, Some(0), None);
                self.events = (self.begin)(self.list);
                return Box::pin(self.next()).await;
            }
            Some(Ok(Event::Init)) => {
                self.begun = Some(self.begun.unwrap_or(0) + 1);
                self.until = Some(Instant::now() + STREAM_TIMEOUT);
            }
            Some(Ok(Event::InitDone)) => (self.begun, self.until) = (None, None),
            Some(Err(error)) if self.list == List::Paged && has_expired(error) => {
                tracing::debug!(%error, "the server does not keep the pages; listing all at once");
                return self.anew(List::Whole).await;
            }
            Some(Err(error)) => {
                self.until = None;
                if self.begun.is_none() && is_lost(error) {
                    // kube would ask for the same again and again.
                    self.events = (self.begin)(self.list);
                    self.begun = Some(0);
                }
            }
            _ => {}
        }
        if self.begun > Some(STREAMS) && self.list == List::Streamed {
            return self.pages(&"it ends too soon").await;
        }
        event
    }

    /// Lists in pages this time.
    async fn pages(&mut self, why: &(dyn Display + Sync)) -> Option<Result<Event<D>, Error>> {
        tracing::debug!(%why, "the server does not stream the list; listing in pages");
        self.anew(List::Paged).await
    }

    /// Begins anew, and lists so.
    async fn anew(&mut self, list: List) -> Option<Result<Event<D>, Error>> {
        self.list = list;
        self.events = (self.begin)(list);
        self.events.next().await
    }
}

/// Whether the server does not have the rest of a list any more: it keeps the pages for some minutes
/// only. client-go asks for all at once then (`pager.FullListIfExpired`).
fn has_expired(error: &Error) -> bool {
    matches!(error, Error::InitialListFailed(kube::Error::Api(status)) if status.code == 410)
}

/// Whether the server has no such place in its history from which the watch was to go on, and says
/// so instead of granting it: the API server itself grants it first.
fn is_lost(error: &Error) -> bool {
    matches!(
        error,
        Error::WatchStartFailed(kube::Error::Api(status)) if matches!(status.code, 400 | 410)
    )
}

/// Whether the server will not give this stream: it may not know such a thing, or may not be
/// permitted to, where a list in pages is.
fn is_refusal(error: &Error) -> bool {
    matches!(
        error,
        Error::WatchStartFailed(kube::Error::Api(status))
            if matches!(status.code, 400 | 403 | 404 | 405 | 406 | 415 | 422)
    )
}
