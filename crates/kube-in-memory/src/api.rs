//! [`Api`], the handle to a server in memory, and [`Changes`], which reads stored changes without HTTP.

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

/// A Kubernetes API in memory. Clones share its state.
///
/// Clients from [`Api::client`] use HTTP without a socket. The other methods access the cluster directly: no
/// faults or policies apply, and they add nothing to the request log. [The crate documentation](crate)
/// describes the supported requests.
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
    /// An empty cluster with the Namespaces that every cluster has.
    ///
    /// `now` is the server's clock, used for the `Date` header, `creationTimestamp` and all other times.
    pub fn new(now: impl Fn() -> DateTime<Utc> + Send + Sync + 'static) -> Self {
        let api = Self {
            server: Arc::new(Server::new(now)),
        };
        for name in ["default", "kube-node-lease", "kube-public", "kube-system"] {
            api.namespace(name);
        }
        api
    }

    /// Serves a custom kind, for example `argoproj.io`, `v1alpha1`, `rollouts`, `Rollout`. Its schema
    /// preserves all fields, and it has a status subresource.
    pub fn serve_custom(&self, group: &str, version: &str, plural: &str, kind: &str) {
        self.server
            .serve(Schema::PreservesAll, group, version, plural, kind);
    }

    /// Serves a custom kind whose schema has no `spec.replicas`, so that this field is pruned.
    pub fn serve_without_replicas(&self, group: &str, version: &str, plural: &str, kind: &str) {
        self.server
            .serve(Schema::LacksReplicas, group, version, plural, kind);
    }

    /// Serves a custom kind in this version only, as if its CustomResourceDefinition had changed: requests
    /// for the old version get a 404, all watches end, and the objects are kept.
    ///
    /// # Errors
    ///
    /// 400 if there is no such custom kind.
    pub fn serve_in(&self, kind: &str, version: &str) -> Result<(), Status> {
        self.server.serve_in(kind, version)?;
        self.close_watches();
        Ok(())
    }

    /// Stops serving a kind, as if its CustomResourceDefinition had been deleted: requests get a 404, and all
    /// watches end. Its objects are kept.
    pub fn withdraw(&self, kind: &str) {
        self.server.set_served(kind, false);
        self.close_watches();
    }

    /// Serves a withdrawn kind again, with its objects.
    pub fn serve_again(&self, kind: &str) {
        self.server.set_served(kind, true);
    }

    /// The requests of all clients in the order of their arrival.
    pub fn requests(&self) -> Vec<RequestLine> {
        self.server.log().lines()
    }

    /// Clears the request log.
    pub fn forget_requests(&self) {
        self.server.log().clear();
    }

    /// Limits the request log to the last `limit` requests. The default is 100,000.
    pub fn remember_requests(&self, limit: usize) {
        self.server.log().set_limit(limit);
    }

    /// Calls `hook` for each request before it is served. The hook can inject a fault.
    pub fn on_request(&self, hook: impl Fn(&RequestLine) -> Option<Fault> + Send + Sync + 'static) {
        self.server.set_fault(Some(Arc::new(hook)));
    }

    /// Injects a fault into the next request that `which` accepts. Replaces any other hook.
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

    /// Removes the fault hook.
    pub fn clear_fault(&self) {
        self.server.set_fault(None);
    }

    /// Calls `policy` for each valid write, which it can deny like an admission policy. Direct access is not
    /// affected.
    pub fn on_admission(
        &self,
        policy: impl Fn(&Admission<'_>) -> Option<Status> + Send + Sync + 'static,
    ) {
        self.server.set_policy(Some(Arc::new(policy)));
    }

    /// Calls `policy` for each write before validation, which it can change by a JSON merge patch like a
    /// mutating webhook. The writer owns the changed fields. Direct access is not affected.
    pub fn on_mutation(
        &self,
        policy: impl Fn(&Admission<'_>) -> Option<Value> + Send + Sync + 'static,
    ) {
        self.server.set_mutation(Some(Arc::new(policy)));
    }

    /// Serves SelfSubjectAccessReviews, which `may` answers from their `resourceAttributes`. Without it,
    /// they are an unknown path. Requests are not denied; [`Api::on_request`] can do that.
    pub fn on_access_review(&self, may: impl Fn(&Value) -> bool + Send + Sync + 'static) {
        self.server.set_access_review(Some(Arc::new(may)));
    }

    /// Removes the policies.
    pub fn admit_all(&self) {
        self.server.set_policy(None);
        self.server.set_mutation(None);
    }

    /// Ends all watches, like a restart of the server.
    pub fn close_watches(&self) {
        self.server.close_watches();
    }

    /// Forgets the history. Requests with an older resourceVersion get a 410.
    pub fn compact(&self) {
        self.server.store().compact();
    }

    /// Restores the state at this resourceVersion, like etcd from a backup: later changes are lost, the
    /// counter continues from there, and a watch from a later version shows nothing until the counter reaches
    /// it. The history must go back that far.
    pub fn restore(&self, revision: u64) {
        self.server.store().restore(revision);
        self.server.close_watches();
    }

    /// The current resourceVersion.
    pub fn revision(&self) -> u64 {
        self.server.store().revision()
    }
}

/// A stream of changes from [`Api::changes`] or [`Api::changes_of`].
pub struct Changes {
    server: Arc<Server>,
    resource: Arc<Resource>,
    /// The revision up to which changes have been returned.
    place: u64,
    changed: Listener,
}

/// A created, changed or deleted object.
#[derive(Debug)]
pub struct StoredChange {
    /// The time of the change by the server's clock.
    pub at: DateTime<Utc>,
    /// Whether the object was deleted.
    pub deleted: bool,
    object: Arc<Object>,
}

impl Api {
    /// The changes of Deployments from now on.
    pub fn changes(&self) -> Changes {
        self.changes_of_resource(Arc::new(DEPLOYMENTS.clone()))
    }

    /// The changes of a kind from now on.
    ///
    /// # Errors
    ///
    /// 400 for an unknown kind.
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
    /// Waits for the next change. Changes that are no longer in the history are skipped. It holds 100,000
    /// changes for five minutes.
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
    /// The stored object, or the last state of a deleted one.
    ///
    /// # Errors
    ///
    /// The object does not deserialize to `T`.
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
