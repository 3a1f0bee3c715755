//! [`Api`], the handle to a server in memory, and [`Changes`], a reader of what the server stores that
//! needs no HTTP request.

use std::sync::{Arc, Mutex};

use chrono::{DateTime, Utc};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    objects::{DEPLOYMENTS, Resource, Schema},
    server::{Admission, Fault, RequestLine, Server, lock},
    status::Status,
    store::{Listener, Object},
};

/// A Kubernetes API in memory. Clones share it.
///
/// [`Api::client`] speaks HTTP to it without a socket. The other methods reach in directly, as an
/// administrator would: they need no client, meet no fault or policy and leave no line in the
/// request log. What it answers and what it does not: [the crate's page](crate).
#[derive(Clone)]
pub struct Api {
    pub(crate) server: Arc<Server>,
}

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Api").finish_non_exhaustive()
    }
}

impl Api {
    /// An empty cluster with the namespaces that every cluster has.
    ///
    /// `now` is the server's clock: the `Date` header, `creationTimestamp` and all other times.
    pub fn new(now: impl Fn() -> DateTime<Utc> + Send + Sync + 'static) -> Self {
        let api = Self {
            server: Arc::new(Server::new(now)),
        };
        for name in ["default", "kube-node-lease", "kube-public", "kube-system"] {
            api.namespace(name);
        }
        api
    }

    /// From now on a custom kind is served, as if a CustomResourceDefinition were there that leaves
    /// its members alone and has the status apart: such as `argoproj.io`, `v1alpha1`, `rollouts`,
    /// `Rollout`.
    pub fn serve_custom(&self, group: &str, version: &str, plural: &str, kind: &str) {
        self.server
            .serve(Schema::PreservesAll, group, version, plural, kind);
    }

    /// The same, as if its schema had no `spec.replicas`: what is written there is dropped.
    pub fn serve_without_replicas(&self, group: &str, version: &str, plural: &str, kind: &str) {
        self.server
            .serve(Schema::LacksReplicas, group, version, plural, kind);
    }

    /// From now on a custom kind is served in this version, and in no other, as if the served
    /// versions of its CustomResourceDefinition were changed: the requests of the version before
    /// get a 404, all watches end, and the objects are those that it had.
    ///
    /// # Errors
    /// A 400 where no custom kind of this name is served.
    pub fn serve_in(&self, kind: &str, version: &str) -> Result<(), Status> {
        self.server.serve_in(kind, version)?;
        self.close_watches();
        Ok(())
    }

    /// From now on a kind is not served, as if its CustomResourceDefinition were gone or the server
    /// had been started without it: its requests get a 404, and all watches end. Its objects are
    /// kept.
    pub fn withdraw(&self, kind: &str) {
        self.server.set_served(kind, false);
        self.close_watches();
    }

    /// A kind that was taken away is served again, with the objects that it had.
    pub fn serve_again(&self, kind: &str) {
        self.server.set_served(kind, true);
    }

    /// The requests of all clients, oldest first, in the order of their arrival.
    pub fn requests(&self) -> Vec<RequestLine> {
        self.server.log().lines()
    }

    /// Forgets the requests so far.
    pub fn forget_requests(&self) {
        self.server.log().clear();
    }

    /// Remembers the last `limit` requests from now on, at first 100,000; 0 remembers none.
    pub fn remember_requests(&self, limit: usize) {
        self.server.log().set_limit(limit);
    }

    /// From now on `hook` sees each request before it is served, and may spoil it.
    pub fn on_request(&self, hook: impl Fn(&RequestLine) -> Option<Fault> + Send + Sync + 'static) {
        self.server.set_fault(Some(Arc::new(hook)));
    }

    /// Spoils the next request that `which` accepts, once; replaces any other hook.
    pub fn fail_next(
        &self,
        which: impl Fn(&RequestLine) -> bool + Send + Sync + 'static,
        fault: Fault,
    ) {
        let fault = Mutex::new(Some(fault));
        self.on_request(move |line| {
            if which(line) {
                lock(&fault).take()
            } else {
                None
            }
        });
    }

    /// Requests are served as they should be again.
    pub fn serve_well(&self) {
        self.server.set_fault(None);
    }

    /// From now on `policy` is asked about each valid write, and may refuse it, as an admission
    /// policy does. Writes made directly are not asked about.
    pub fn on_admission(
        &self,
        policy: impl Fn(&Admission<'_>) -> Option<Status> + Send + Sync + 'static,
    ) {
        self.server.set_policy(Some(Arc::new(policy)));
    }

    /// From now on `policy` is asked about each write before it is checked, and may change it by a
    /// JSON merge patch, as a mutating policy or webhook does: what it sets counts as set by the
    /// writer. Writes made directly are not asked about.
    pub fn on_mutation(
        &self,
        policy: impl Fn(&Admission<'_>) -> Option<Value> + Send + Sync + 'static,
    ) {
        self.server.set_mutation(Some(Arc::new(policy)));
    }

    /// Every valid write is admitted again, as it came.
    pub fn admit_all(&self) {
        self.server.set_policy(None);
        self.server.set_mutation(None);
    }

    /// Ends all watches, as a restart of the server does.
    pub fn close_watches(&self) {
        self.server.close_watches();
    }

    /// Forgets all history: what begins at an older resourceVersion is answered with 410.
    pub fn compact(&self) {
        self.server.store().compact();
    }

    /// The server comes back with etcd restored from a backup that was taken at this
    /// resourceVersion: it counts on from there, and a watch from a later one shows nothing until
    /// that is reached. The history has to go back so far.
    pub fn restore(&self, revision: u64) {
        self.server.store().restore(revision);
        self.server.close_watches();
    }

    /// The newest resourceVersion.
    pub fn revision(&self) -> u64 {
        self.server.store().revision()
    }
}

/// The changes of one kind, in order: see [`Api::changes`] and [`Api::changes_of`].
pub struct Changes {
    server: Arc<Server>,
    resource: Arc<Resource>,
    /// Everything up to here has been returned.
    place: u64,
    changed: Listener,
}

/// An object that was created, changed or deleted.
#[derive(Debug)]
pub struct StoredChange {
    /// When, by the server's clock.
    pub at: DateTime<Utc>,
    /// Whether it is gone.
    pub deleted: bool,
    object: Arc<Object>,
}

impl Api {
    /// All changes of Deployments from now on.
    pub fn changes(&self) -> Changes {
        self.changes_of_resource(Arc::new(DEPLOYMENTS.clone()))
    }

    /// All changes of a kind from now on.
    ///
    /// # Errors
    /// 400 for a kind that is not served.
    pub fn changes_of(&self, kind: &str) -> Result<Changes, Status> {
        self.server
            .kind(kind)
            .map(|resource| self.changes_of_resource(resource))
    }

    fn changes_of_resource(&self, resource: Arc<Resource>) -> Changes {
        let store = self.server.store();
        let changed = store.subscribe(&resource);
        Changes {
            server: Arc::clone(&self.server),
            resource,
            place: store.revision(),
            changed,
        }
    }
}

impl Changes {
    /// Waits for the next change. What the server has forgotten meanwhile is passed over: it
    /// remembers a hundred thousand changes for five minutes.
    pub async fn next(&mut self) -> Option<StoredChange> {
        loop {
            self.changed.catch_up();
            if let Some(change) = self.read() {
                return Some(change);
            }
            self.changed.notified().await;
        }
    }

    fn read(&mut self) -> Option<StoredChange> {
        let store = self.server.store();
        let mut changes = match store.changes_after(&self.resource, self.place) {
            Ok(changes) => changes,
            Err(compacted) => store.changes_after(&self.resource, compacted.oldest).ok()?,
        };
        let change = changes.next()?;
        self.place = change.revision;
        Some(StoredChange {
            at: change.at,
            deleted: change.deleted,
            object: Arc::clone(&change.object),
        })
    }
}

impl StoredChange {
    /// The object as it was stored, or as it was last, before it was deleted.
    ///
    /// # Errors
    /// Where it is not a `T`.
    pub fn object<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_slice(&self.object.body)
    }
}

impl std::fmt::Debug for Changes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Changes")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}
