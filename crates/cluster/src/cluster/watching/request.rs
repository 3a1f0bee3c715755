//! Requests of a watch.

use std::time::Duration;

use dayshift_workload::Kind;
use http::Request;
use kube::{
    Client, Error,
    api::{ListParams, WatchParams},
    client::Body,
    core::Request as Requests,
};

use crate::cluster::{
    reading::{
        discovery::{discover, discover_again},
        namespace::NAMESPACES_PATH,
    },
    resource::Resource,
    watching::{answer::granted, error::WatchError},
};

/// The objects of a watch, in one namespace or in all.
pub(super) struct Source {
    client: Client,
    collection: Collection,
    namespace: Option<String>,
    /// Which of them.
    selectors: WatchParams,
    /// Whether the server did not have the kind under its known name in the last answer.
    pub(super) is_lost: bool,
}

/// What a watch shows.
#[derive(Clone, Copy)]
pub(super) enum Collection {
    /// The workloads of a kind.
    Kind(Kind),
    /// The metadata of Namespaces.
    Namespaces,
    /// Objects that every server has: the root of their API, and their plural.
    BuiltIn(&'static str, &'static str),
}

impl Collection {
    const fn kind(self) -> Option<Kind> {
        match self {
            Self::Kind(kind) => Some(kind),
            Self::Namespaces | Self::BuiltIn(..) => None,
        }
    }

    const fn is_metadata_alone(self) -> bool {
        matches!(self, Self::Namespaces)
    }

    fn path(self, namespace: Option<&str>) -> String {
        match self {
            Self::Kind(kind) => Resource::of(kind).path(namespace),
            Self::Namespaces => NAMESPACES_PATH.to_owned(),
            Self::BuiltIn(root, plural) => match namespace {
                Some(namespace) => format!("{root}namespaces/{namespace}/{plural}"),
                None => format!("{root}{plural}"),
            },
        }
    }
}

impl Source {
    pub(super) fn new(
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
            is_lost: false,
        }
    }

    /// Asks the server for the name of the kind, if it is unknown or outdated.
    pub(super) async fn find(&mut self) -> Result<(), WatchError> {
        let found = match self.collection.kind() {
            Some(kind) if self.is_lost => discover_again(&self.client, kind).await,
            Some(kind) => discover(&self.client, kind).await,
            None => Ok(()),
        };
        found.map_err(|error| WatchError::new("list", error))?;
        self.is_lost = false;
        Ok(())
    }

    /// Whether the server may have the kind under another version.
    pub(super) fn may_have_moved(&self) -> bool {
        self.collection.kind().is_some_and(Kind::is_discovered)
    }

    /// Asks for a page of this many after that token; without a limit, for all at once.
    pub(super) async fn list(
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
            match self.collection.is_metadata_alone() {
                false => requests.list(&params),
                true => requests.list_metadata(&params),
            },
        )
        .await
    }

    /// Asks for each change after this version, for this long. With `is_list` the answer begins
    /// with a list, no older than that.
    pub(super) async fn watch(
        &self,
        version: &str,
        is_list: bool,
        lasts: Duration,
    ) -> Result<Body, WatchError> {
        let params = WatchParams {
            timeout: u32::try_from(lasts.as_secs()).ok(),
            send_initial_events: is_list,
            ..self.selectors.clone()
        };
        let requests = self.requests();
        self.send(
            "watch",
            match self.collection.is_metadata_alone() {
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
        let answer = self.client.send(request.map(Body::from)).await;
        granted(verb, answer.map_err(failed)?).await
    }
}
