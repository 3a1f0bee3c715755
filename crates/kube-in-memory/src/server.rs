//! What all clients, watches and handles of one [`Api`](crate::Api) share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::fault::Fault;
use crate::objects::{RESOURCES, Resource, Schema, custom};
use crate::request_log::{Log, RequestLine};
use crate::status::Status;
use crate::store::{Listener, Notifier, Store};

/// How many requests are remembered unless [`Api::remember_requests`](crate::Api::remember_requests)
/// says otherwise.
const REQUESTS: usize = 100_000;

/// What an admission policy is asked about: a valid write, before it is stored.
#[derive(Clone, Copy, Debug)]
pub struct Admission<'a> {
    /// `create`, `update` (patches too) or `delete`.
    pub verb: &'static str,
    /// The plural, such as `deployments`.
    pub resource: &'static str,
    /// The object's namespace; empty for a Namespace.
    pub namespace: &'a str,
    /// The object's name.
    pub name: &'a str,
    /// The object as stored; absent on creation.
    pub old: Option<&'a Value>,
    /// The object as it would be stored; null on deletion.
    pub new: &'a Value,
    /// The field manager who writes.
    pub manager: &'a str,
}

pub(crate) type FaultHook = dyn Fn(&RequestLine) -> Option<Fault> + Send + Sync;
pub(crate) type Policy = dyn Fn(&Admission<'_>) -> Option<Status> + Send + Sync;
pub(crate) type Mutation = dyn Fn(&Admission<'_>) -> Option<Value> + Send + Sync;

/// What all clones and watches of an [`Api`] share.
pub(crate) struct Server {
    clock: Box<dyn Fn() -> DateTime<Utc> + Send + Sync>,
    store: Mutex<Store>,
    kinds: Mutex<Kinds>,
    log: Mutex<Log>,
    fault: Mutex<Option<Arc<FaultHook>>>,
    policy: Mutex<Option<Arc<Policy>>>,
    mutation: Mutex<Option<Arc<Mutation>>>,
    closing: Notifier,
}

/// The kinds of one server.
struct Kinds {
    /// Each with whether it is served.
    all: Vec<(&'static Resource, bool)>,
    /// Those that are.
    served: Arc<[&'static Resource]>,
}

impl Kinds {
    fn new() -> Self {
        Self {
            all: RESOURCES.iter().map(|kind| (kind, true)).collect(),
            served: RESOURCES.iter().collect(),
        }
    }

    /// Makes the list of those that are served anew.
    fn list(&mut self) {
        let served = self.all.iter().filter(|(_, served)| *served);
        self.served = served.map(|(kind, _)| *kind).collect();
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
            closing: Notifier::default(),
        }
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        (self.clock)()
    }

    pub(crate) fn store(&self) -> MutexGuard<'_, Store> {
        lock(&self.store)
    }

    /// The kinds that are served now.
    pub(crate) fn kinds(&self) -> Arc<[&'static Resource]> {
        Arc::clone(&lock(&self.kinds).served)
    }

    /// The kind of this name, or a 400.
    pub(crate) fn kind(&self, kind: &str) -> Result<&'static Resource, Status> {
        let kinds = self.kinds();
        let known = kinds.iter().find(|known| known.kind == kind);
        let unknown = || Status::bad_request(format!("no matches for kind {kind:?}"));
        known.copied().ok_or_else(unknown)
    }

    /// Serves a kind from now on.
    pub(crate) fn serve(&self, resource: &'static Resource) {
        self.store().make_room(resource);
        let mut kinds = lock(&self.kinds);
        kinds.all.retain(|(known, _)| known.index != resource.index);
        kinds.all.push((resource, true));
        kinds.list();
    }

    /// Serves a custom kind in this version from now on, in place of any other; its objects go with
    /// it. A 400 where there is no such kind.
    pub(crate) fn serve_in(&self, kind: &str, version: &str) -> Result<(), Status> {
        let old = self.kind(kind)?;
        let new = custom(
            Schema::PreservesAll,
            old.group,
            version,
            old.plural,
            old.kind,
        );
        if !old.custom || new.index == old.index {
            return Ok(());
        }
        self.serve(new);
        self.store().swap(old, new);
        let mut kinds = lock(&self.kinds);
        kinds.all.retain(|(known, _)| known.index != old.index);
        kinds.list();
        Ok(())
    }

    /// Whether the kind of this name is served from now on.
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

    /// Ends all watches.
    pub(crate) fn close_watches(&self) {
        self.closing.notify();
    }

    /// Wakes when all watches are to end.
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

    pub(crate) fn fault(&self, line: &RequestLine) -> Option<Fault> {
        let hook = lock(&self.fault).clone();
        hook.and_then(|hook| hook(line))
    }

    pub(crate) fn refusal(&self, admission: &Admission<'_>) -> Option<Status> {
        let policy = lock(&self.policy).clone();
        policy.and_then(|policy| policy(admission))
    }

    /// What a mutating policy changes of a write, as a JSON merge patch.
    pub(crate) fn mutation(&self, admission: &Admission<'_>) -> Option<Value> {
        let mutation = lock(&self.mutation).clone();
        mutation.and_then(|mutation| mutation(admission))
    }
}

/// A lock that a panicking test thread has left is still good: no write is left half done in it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
