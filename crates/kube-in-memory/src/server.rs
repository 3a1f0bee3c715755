//! The state that all clients, watches and handles of an [`Api`](crate::Api) share: the store, the served
//! kinds, the request log, and the hooks for faults and admission.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::{
    objects::{RESOURCES, Resource, Schema, custom},
    status::Status,
    store::{Listener, Notifier, Store},
};

/// The default length of the request log; see [`Api::remember_requests`](crate::Api::remember_requests).
const REQUESTS: usize = 100_000;

/// A valid write before it is stored, as admission policies see it.
#[derive(Clone, Copy, Debug)]
pub struct Admission<'a> {
    /// `create`, `update` (including patches) or `delete`.
    pub verb: &'a str,
    /// The plural, for example `deployments`.
    pub resource: &'a str,
    /// The namespace of the object. Empty for a Namespace.
    pub namespace: &'a str,
    /// The name of the object.
    pub name: &'a str,
    /// The stored object. `None` for a creation.
    pub old: Option<&'a Value>,
    /// The new object. Null for a deletion.
    pub new: &'a Value,
    /// The field manager of the write.
    pub manager: &'a str,
}

pub(crate) type FaultHook = dyn Fn(&RequestLine) -> Option<Fault> + Send + Sync;
pub(crate) type Policy = dyn Fn(&Admission<'_>) -> Option<Status> + Send + Sync;
pub(crate) type AccessReview = dyn Fn(&Value) -> bool + Send + Sync;
pub(crate) type Mutation = dyn Fn(&Admission<'_>) -> Option<Value> + Send + Sync;

pub(crate) struct Server {
    clock: Box<dyn Fn() -> DateTime<Utc> + Send + Sync>,
    store: Mutex<Store>,
    kinds: Mutex<Kinds>,
    log: Mutex<Log>,
    fault: Mutex<Option<Arc<FaultHook>>>,
    policy: Mutex<Option<Arc<Policy>>>,
    mutation: Mutex<Option<Arc<Mutation>>>,
    access_review: Mutex<Option<Arc<AccessReview>>>,
    closing: Notifier,
}

/// The kinds of one server.
struct Kinds {
    /// All kinds, and whether they are served.
    all: Vec<(Arc<Resource>, bool)>,
    /// The served kinds.
    served: Arc<[Arc<Resource>]>,
    /// The number of tables in the store.
    tables: usize,
}

impl Kinds {
    fn new() -> Self {
        let all = RESOURCES.iter().cloned().map(Arc::new);
        let served: Arc<[_]> = all.collect();
        Self {
            all: served.iter().map(|kind| (Arc::clone(kind), true)).collect(),
            tables: served.len(),
            served,
        }
    }

    /// Collects the served kinds after a change of `all`.
    fn list(&mut self) {
        let served = self.all.iter().filter(|(_, served)| *served);
        self.served = served.map(|(kind, _)| Arc::clone(kind)).collect();
    }
}

impl Server {
    pub(crate) fn new(clock: impl Fn() -> DateTime<Utc> + Send + Sync + 'static) -> Self {
        Self {
            clock: Box::new(clock),
            store: Mutex::new(Store::new()),
            kinds: Mutex::new(Kinds::new()),
            log: Mutex::new(Log::new(REQUESTS)),
            fault: Mutex::new(None),
            policy: Mutex::new(None),
            mutation: Mutex::new(None),
            access_review: Mutex::new(None),
            closing: Notifier::default(),
        }
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        (self.clock)()
    }

    pub(crate) fn store(&self) -> MutexGuard<'_, Store> {
        lock(&self.store)
    }

    /// The served kinds.
    pub(crate) fn kinds(&self) -> Arc<[Arc<Resource>]> {
        Arc::clone(&lock(&self.kinds).served)
    }

    /// The kind of this name. The error is a 400.
    pub(crate) fn kind(&self, kind: &str) -> Result<Arc<Resource>, Status> {
        let kinds = self.kinds();
        let known = kinds.iter().find(|known| known.kind == kind);
        let unknown = || Status::bad_request(format!("no matches for kind {kind:?}"));
        known.cloned().ok_or_else(unknown)
    }

    /// Serves a custom kind.
    pub(crate) fn serve(
        &self,
        schema: Schema,
        group: &str,
        version: &str,
        plural: &str,
        kind: &str,
    ) {
        let mut kinds = lock(&self.kinds);
        let name = (group, version, plural, kind);
        let known = kinds.all.iter().position(|(known, _)| known.id() == name);
        let index = match known {
            Some(at) => kinds.all.remove(at).0.index,
            None => {
                kinds.tables += 1;
                kinds.tables - 1
            }
        };
        let resource = custom(schema, index, group, version, plural, kind);
        self.store().make_room(&resource);
        kinds.all.push((Arc::new(resource), true));
        kinds.list();
    }

    /// Serves a custom kind in this version instead of all others, and keeps its objects. The error is a 400
    /// if it does not exist.
    pub(crate) fn serve_in(&self, kind: &str, version: &str) -> Result<(), Status> {
        let old = self.kind(kind)?;
        if !old.custom || old.version == version {
            return Ok(());
        }
        let (schema, group, plural) = (Schema::PreservesAll, &*old.group, &*old.plural);
        let new = custom(schema, old.index, group, version, plural, kind);
        let mut kinds = lock(&self.kinds);
        let is_replaced = |known: &Resource| known.index == old.index || known.id() == new.id();
        kinds.all.retain(|(known, _)| !is_replaced(known));
        kinds.all.push((Arc::new(new), true));
        kinds.list();
        Ok(())
    }

    /// Sets whether the kind is served.
    pub(crate) fn set_served(&self, kind: &str, wanted: bool) {
        let mut kinds = lock(&self.kinds);
        for (known, served) in &mut kinds.all {
            if known.kind == kind {
                *served = wanted;
            }
        }
        kinds.list();
    }

    pub(crate) fn log(&self) -> MutexGuard<'_, Log> {
        lock(&self.log)
    }

    pub(crate) fn close_watches(&self) {
        self.closing.notify();
    }

    /// Notified when all watches should end.
    pub(crate) fn closing(&self) -> Listener {
        self.closing.listen()
    }

    pub(crate) fn set_fault(&self, hook: Option<Arc<FaultHook>>) {
        *lock(&self.fault) = hook;
    }

    pub(crate) fn set_policy(&self, policy: Option<Arc<Policy>>) {
        *lock(&self.policy) = policy;
    }

    pub(crate) fn set_mutation(&self, mutation: Option<Arc<Mutation>>) {
        *lock(&self.mutation) = mutation;
    }

    pub(crate) fn set_access_review(&self, review: Option<Arc<AccessReview>>) {
        *lock(&self.access_review) = review;
    }

    /// The answer to a SelfSubjectAccessReview; `None` if the server does not serve them.
    pub(crate) fn access_review(&self, attributes: &Value) -> Option<bool> {
        let review = lock(&self.access_review).clone();
        review.map(|review| review(attributes))
    }

    pub(crate) fn fault(&self, line: &RequestLine) -> Option<Fault> {
        let hook = lock(&self.fault).clone();
        hook.and_then(|hook| hook(line))
    }

    pub(crate) fn refusal(&self, admission: &Admission<'_>) -> Option<Status> {
        let policy = lock(&self.policy).clone();
        policy.and_then(|policy| policy(admission))
    }

    /// The change of a mutating policy, as a JSON merge patch.
    pub(crate) fn mutation(&self, admission: &Admission<'_>) -> Option<Value> {
        let mutation = lock(&self.mutation).clone();
        mutation.and_then(|mutation| mutation(admission))
    }
}

/// A lock is usable even if a test has panicked, because no write leaves partial state.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A fault that a hook injects into a request.
#[derive(Clone, Debug)]
pub enum Fault {
    /// Respond with this status, for example an outage or a denial by RBAC.
    Answer(Status),
    /// Respond with this status after a delay (tokio's clock).
    AnswerAfter(Duration, Status),
    /// Break the connection before the request takes effect.
    DropBefore,
    /// Break the connection after the request has taken effect, so that the response is lost.
    DropAfter,
    /// Never respond, without effect.
    Hang,
    /// Serve the request after a delay (tokio's clock).
    Delay(Duration),
}

/// A line of the request log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestLine {
    /// `get`, `list`, `watch`, `create`, `update`, `patch` or `delete`. Empty for paths such as `/version`.
    pub verb: &'static str,
    /// The plural, for example `deployments`, or the path if it is no resource.
    pub resource: String,
    /// The namespace. Empty if the request is for all.
    pub namespace: String,
    /// The name of the object. Empty for lists, watches and creations.
    pub name: String,
    /// The query as sent.
    pub query: String,
    /// The HTTP status. `None` until the response, or if it was lost.
    pub code: Option<u16>,
    /// The time of arrival by the server's clock.
    pub at: DateTime<Utc>,
    /// The name of the client.
    pub who: String,
}

/// The last requests, oldest first.
#[derive(Debug)]
pub(crate) struct Log {
    lines: VecDeque<RequestLine>,
    first: usize,
    limit: usize,
}

impl Log {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            lines: VecDeque::new(),
            first: 0,
            limit,
        }
    }

    pub(crate) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
        self.trim();
    }

    /// Adds a line and returns its position for [`Log::answered`].
    pub(crate) fn push(&mut self, line: RequestLine) -> usize {
        let place = self.first + self.lines.len();
        self.lines.push_back(line);
        self.trim();
        place
    }

    pub(crate) fn answered(&mut self, place: usize, code: u16) {
        let line = place
            .checked_sub(self.first)
            .and_then(|index| self.lines.get_mut(index));
        if let Some(line) = line {
            line.code = Some(code);
        }
    }

    pub(crate) fn lines(&self) -> Vec<RequestLine> {
        self.lines.iter().cloned().collect()
    }

    pub(crate) fn clear(&mut self) {
        self.first += self.lines.len();
        self.lines.clear();
    }

    fn trim(&mut self) {
        while self.lines.len() > self.limit {
            self.lines.pop_front();
            self.first += 1;
        }
    }
}
