//! The requests of a watch and their responses: paged lists, streams of events with bounded memory, and
//! errors.

use std::{error::Error as StdError, io, mem, time::Duration, vec};

use bytes::BytesMut;
use dayshift_workload::Kind;
use http::{Request, Response};
use http_body_util::{BodyDataStream, BodyExt as _};
use kube::{
    Client, Error,
    api::{ListParams, WatchParams},
    client::Body,
    core::{ObjectList, Request as Requests, Status, WatchEvent},
};
use memchr::memchr;

use crate::{
    connect::middleware::{
        MAX_RESPONSE, bounded, causes, error_status, is_too_large, next_piece, retry_after,
    },
    decode::{
        kind_api::{KindApi, collection_path},
        metadata::Part,
        views::{Decode, SpecMembers},
    },
    read::discovery::{discover, discover_again},
};

/// A collection to watch, in one namespace or in all, and the client for it.
#[derive(Clone)]
pub(crate) struct WatchSource {
    client: Client,
    collection: Collection,
    namespace: Option<String>,
    /// The label and field selectors.
    selectors: WatchParams,
    /// Whether the last response was that the server does not serve the kind in its known version.
    pub(crate) needs_rediscovery: bool,
}

/// The collection that is watched.
#[derive(Clone)]
pub(crate) enum Collection {
    /// The workloads of a kind.
    Kind(Kind),
    /// A collection that every server has, as in [`Part`].
    BuiltIn {
        root: &'static str,
        plural: &'static str,
        is_metadata_only: bool,
    },
}

impl Collection {
    pub(crate) const fn of_parts<P: Part>() -> Self {
        Self::BuiltIn {
            root: P::ROOT,
            plural: P::PLURAL,
            is_metadata_only: P::IS_METADATA_ONLY,
        }
    }

    const fn kind(&self) -> Option<&Kind> {
        match self {
            Self::Kind(kind) => Some(kind),
            Self::BuiltIn { .. } => None,
        }
    }

    const fn is_metadata_only(&self) -> bool {
        matches!(
            self,
            Self::BuiltIn {
                is_metadata_only: true,
                ..
            }
        )
    }

    fn path(&self, namespace: Option<&str>) -> String {
        match self {
            Self::Kind(kind) => KindApi::new(kind).path(namespace),
            Self::BuiltIn { root, plural, .. } => collection_path(root, namespace, plural),
        }
    }
}

impl WatchSource {
    pub(crate) fn new(
        client: Client,
        collection: Collection,
        namespace: Option<&str>,
        selectors: WatchParams,
    ) -> Self {
        Self {
            client,
            collection,
            namespace: namespace.map(str::to_owned),
            selectors,
            needs_rediscovery: false,
        }
    }

    /// Asks the API server for the version of the kind if it is unknown or outdated.
    pub(crate) async fn discover_kind(&mut self) -> Result<(), WatchError> {
        let found = match self.collection.kind() {
            Some(kind) if self.needs_rediscovery => discover_again(&self.client, kind).await,
            Some(kind) => discover(&self.client, kind).await,
            None => Ok(()),
        };
        found.map_err(|error| WatchError::new("list", error))?;
        self.needs_rediscovery = false;
        Ok(())
    }

    /// The members of a `spec` that are decoded.
    pub(crate) fn spec_members(&self) -> SpecMembers {
        let kind = self.collection.kind();
        kind.map_or(SpecMembers::Known, SpecMembers::for_kind)
    }

    /// Whether the server might have the kind in another version.
    pub(crate) fn may_have_moved(&self) -> bool {
        self.collection.kind().is_some_and(Kind::is_discovered)
    }

    /// Requests a page after a token. Without a limit, requests all objects.
    pub(crate) async fn list(
        &self,
        limit: Option<u32>,
        token: Option<String>,
    ) -> Result<Body, WatchError> {
        let params = ListParams {
            label_selector: self.selectors.label_selector.clone(),
            field_selector: self.selectors.field_selector.clone(),
            limit,
            continue_token: token,
            ..ListParams::default()
        };
        let requests = self.requests();
        self.send(
            "list",
            match self.collection.is_metadata_only() {
                false => requests.list(&params),
                true => requests.list_metadata(&params),
            },
        )
        .await
    }

    /// Requests the current list, followed by its changes for a limited time.
    pub(crate) async fn watch_with_list(&self, lasts: Duration) -> Result<Body, WatchError> {
        let params = WatchParams {
            send_initial_events: true,
            ..self.selectors.clone()
        };
        self.request_changes("0", params, lasts).await
    }

    /// Requests the changes after a version, for a limited time.
    pub(crate) async fn watch(&self, version: &str, lasts: Duration) -> Result<Body, WatchError> {
        let params = WatchParams {
            send_initial_events: false,
            ..self.selectors.clone()
        };
        self.request_changes(version, params, lasts).await
    }

    async fn request_changes(
        &self,
        version: &str,
        params: WatchParams,
        lasts: Duration,
    ) -> Result<Body, WatchError> {
        let params = WatchParams {
            timeout: u32::try_from(lasts.as_secs()).ok(),
            ..params
        };
        let requests = self.requests();
        self.send(
            "watch",
            match self.collection.is_metadata_only() {
                false => requests.watch(&params, version),
                true => requests.watch_metadata(&params, version),
            },
        )
        .await
    }

    fn requests(&self) -> Requests {
        Requests::new(self.collection.path(self.namespace.as_deref()))
    }

    async fn send(
        &self,
        verb: &'static str,
        request: Result<Request<Vec<u8>>, kube::core::request::Error>,
    ) -> Result<Body, WatchError> {
        let failed = |error| WatchError::new(verb, error);
        let request = request.map_err(|error| failed(Error::BuildRequest(error)))?;
        let response = self.client.send(request.map(Body::from)).await;
        accepted(verb, response.map_err(failed)?).await
    }
}

/// A page of a list.
pub(crate) struct Page<D> {
    pub(crate) objects: vec::IntoIter<D>,
    pub(crate) next: NextPage,
}

/// The continuation of a list after a page.
pub(crate) enum NextPage {
    /// Nothing was requested yet.
    First,
    /// The next page has this token.
    After(PageToken),
    /// The list is complete, as of this version.
    End(String),
}

/// The continue token of a list.
pub(crate) struct PageToken {
    text: String,
    /// The version of the list according to its first page. If a watch started from the version of a
    /// later page, it would miss changes of objects on earlier pages.
    version: Option<String>,
}

impl<D: Decode> Page<D> {
    /// The state before the first page.
    pub(crate) fn none() -> Self {
        Self {
            objects: Vec::new().into_iter(),
            next: NextPage::First,
        }
    }

    /// Requests the page after a token, or the first one. Without a limit it contains everything.
    pub(crate) async fn fetch(
        source: &WatchSource,
        limit: Option<u32>,
        token: Option<PageToken>,
    ) -> Result<Self, WatchError> {
        let failed = |error| WatchError::new("list", error);
        let (text, version) = token.map(|token| (token.text, token.version)).unzip();
        let body = source.list(limit, text.clone()).await?;
        let read = bounded(body).await;
        let read = read.map_err(|error| failed(Error::Service(error)))?;
        let list: ObjectList<D> = source
            .spec_members()
            .decode_list(&read)
            .map_err(|error| failed(Error::SerdeError(error)))?;
        let non_empty = |text: Option<String>| text.filter(|text| !text.is_empty());
        let next = non_empty(list.metadata.continue_);
        if next.is_some() && next == text {
            return Err(failed(Error::Service(
                "a page has its own continue token".into(),
            )));
        }
        let version = version
            .flatten()
            .or(non_empty(list.metadata.resource_version));
        let next = match next {
            Some(text) => NextPage::After(PageToken { text, version }),
            None => NextPage::End(version.ok_or_else(|| WatchError::no_version("list"))?),
        };
        let objects = list.items.into_iter();
        Ok(Self { objects, next })
    }
}

/// Returns the body of a successful response, otherwise the error.
pub(crate) async fn accepted(
    verb: &'static str,
    response: Response<Body>,
) -> Result<Body, WatchError> {
    let (parts, body) = response.into_parts();
    if parts.status.is_success() {
        return Ok(body);
    }
    let text = bounded(body).await;
    let text = text.map_err(|error| WatchError::new(verb, Error::Service(error)))?;
    let error = WatchError::new(verb, Error::Api(error_status(parts.status, &text)));
    Err(WatchError {
        retry_after: retry_after(&parts.headers).or(error.retry_after),
        ..error
    })
}

/// The status in an error response. If the response is not from the API server, for example from a
/// proxy, the status has its text.
/// The longest line that is read to its end, in bytes. A server with another limit for etcd can send an event
/// of more than [`MAX_RESPONSE`] bytes, which is dropped.
const MAX_LINE: usize = 64 << 20;

/// The events of a watch, one line of JSON each.
pub(crate) struct EventLines {
    members: SpecMembers,
    body: BodyDataStream<Body>,
    read: BytesMut,
    /// How many buffered bytes are known to contain no line break.
    searched: usize,
    /// The length of the beginning of a line that was dropped, because it is too long.
    dropped: usize,
    /// Whether a dropped line was logged.
    is_logged: bool,
}

impl EventLines {
    pub(crate) fn new(body: Body, members: SpecMembers) -> Self {
        Self {
            members,
            body: body.into_data_stream(),
            read: BytesMut::new(),
            searched: 0,
            dropped: 0,
            is_logged: false,
        }
    }

    /// Returns the next event, or `None` at the end of the watch. An incomplete line is dropped, and so is
    /// one of more than [`MAX_RESPONSE`] bytes: a user can write such an object, and the others must not wait
    /// for it.
    pub(crate) async fn next<D>(&mut self) -> Option<Result<WatchEvent<D>, Error>>
    where
        D: Decode,
    {
        loop {
            if let Some(end) = memchr(b'\n', &self.read[self.searched..]) {
                let line = match self.searched + end + 1 {
                    // Free the buffer while the watch is silent.
                    all if all == self.read.len() => mem::take(&mut self.read),
                    some => self.read.split_to(some),
                };
                self.searched = 0;
                if self.dropped > 0 || line.len() > MAX_RESPONSE {
                    self.dropped = 0;
                    self.log_dropped();
                    continue;
                }
                return Some(event(&line, self.members));
            }
            self.searched = self.read.len();
            if self.searched > MAX_RESPONSE {
                self.dropped += self.searched;
                self.searched = 0;
                self.read = BytesMut::new();
            }
            if self.dropped + self.searched > MAX_LINE {
                let why = format!("the API server has sent an event of more than {MAX_LINE} bytes");
                return Some(Err(Error::Service(why.into())));
            }
            let is_within_event = self.dropped > 0 || !self.read.is_empty();
            match next_piece(&mut self.body, is_within_event).await? {
                Ok(piece) => self.read.extend_from_slice(&piece),
                // A proxy or a load balancer has closed the connection, as many do after some minutes.
                Err(error) if is_cut_off(&error) => return None,
                Err(error) => return Some(Err(Error::ReadEvents(io::Error::other(error)))),
            }
        }
    }

    fn log_dropped(&mut self) {
        if !mem::replace(&mut self.is_logged, true) {
            tracing::warn!("an object needs more than {MAX_RESPONSE} bytes in JSON; it is ignored");
        }
    }
}

/// Decodes a line. It can also be a bare status.
fn event<D: Decode>(line: &[u8], members: SpecMembers) -> Result<WatchEvent<D>, Error> {
    members.decode_event(line).map_err(|error| {
        let status = serde_json::from_slice::<Status>(line);
        match status.ok().filter(|status| status.code > 0) {
            Some(status) => Error::Api(Box::new(status)),
            None => Error::SerdeError(error),
        }
    })
}

fn is_cut_off(error: &(dyn StdError + 'static)) -> bool {
    let is_end = |error: &(dyn StdError + 'static)| {
        let error = error.downcast_ref::<io::Error>();
        error.is_some_and(|error| error.kind() == io::ErrorKind::UnexpectedEof)
    };
    causes(error).any(is_end) || error.to_string().contains("unexpected EOF during chunk")
}

/// Why a watch has failed. The reflector retries.
#[derive(Debug, thiserror::Error)]
#[error("the {verb} failed: {error}")]
pub struct WatchError {
    /// The verb of the request, as RBAC names it: `list` or `watch`.
    pub verb: &'static str,
    /// The failure.
    #[source]
    pub error: Error,
    /// The pause that the server asks for.
    pub(crate) retry_after: Option<Duration>,
}

/// Why a kind cannot be watched, if the response stays the same until an administrator changes the
/// cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Absence {
    /// The permission is missing (403).
    #[error("forbidden")]
    Forbidden,
    /// The API server does not have the kind (404), for example because its CustomResourceDefinition is
    /// not installed.
    #[error("the API server does not have this kind")]
    NotServed,
}

impl WatchError {
    pub(crate) fn new(verb: &'static str, error: Error) -> Self {
        let retry_after = match &error {
            Error::Api(status) => status
                .details
                .as_ref()
                .map(|details| details.retry_after_seconds),
            _ => None,
        };
        Self {
            verb,
            error,
            retry_after: retry_after.map(|seconds| Duration::from_secs(seconds.into())),
        }
    }

    /// The response to a request has no version from which a watch could continue.
    pub(crate) fn no_version(verb: &'static str) -> Self {
        let why = "the response has no metadata.resourceVersion";
        Self::new(verb, Error::Service(why.into()))
    }

    /// The reason, if only a change of the cluster can fix the failure.
    pub fn absence(&self) -> Option<Absence> {
        match self.code()? {
            403 => Some(Absence::Forbidden),
            404 => Some(Absence::NotServed),
            _ => None,
        }
    }

    /// Whether the server no longer has the version, so that everything must be listed again (410).
    pub fn is_expired(&self) -> bool {
        self.code() == Some(410)
    }

    /// Whether the server rejects a streamed list: it might not support them, or allow only lists.
    pub(crate) fn rejects_streams(&self) -> bool {
        matches!(self.code(), Some(400 | 403 | 404 | 405 | 406 | 415 | 422))
    }

    /// The status code of the response, or of the event that ended the watch.
    pub(crate) fn code(&self) -> Option<u16> {
        match &self.error {
            Error::Api(status) => Some(status.code),
            _ => None,
        }
    }

    /// Whether the response is larger than the limit.
    pub(crate) fn is_too_large(&self) -> bool {
        is_too_large(&self.error)
    }
}
