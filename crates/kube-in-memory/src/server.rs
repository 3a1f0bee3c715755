//! The state that all clients, watches and handles of one [`Api`](crate::Api) share: the store, the kinds
//! that are served, the request log, and the hooks that inject faults and admission policies.

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

/// How many requests are remembered unless [`Api::remember_requests`](crate::Api::remember_requests)
/// says otherwise.
const REQUESTS: usize = 100_000;

/// What an admission policy is asked about: a valid write, before it is stored.
#[derive(Clone, Copy, Debug)]
pub struct Admission<'a> {
    /// `create`, `update` (patches too) or `delete`.
    pub verb: &'a str,
    /// The plural, such as `deployments`.
    pub resource: &'a str,
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
    all: Vec<(Arc<Resource>, bool)>,
    /// Those that are.
    served: Arc<[Arc<Resource>]>,
    /// How many tables the store has.
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

    /// Makes the list of those that are served anew.
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
    pub(crate) fn kinds(&self) -> Arc<[Arc<Resource>]> {
        Arc::clone(&lock(&self.kinds).served)
    }

    /// The kind of this name, or a 400.
    pub(crate) fn kind(&self, kind: &str) -> Result<Arc<Resource>, Status> {
        let kinds = self.kinds();
        let known = kinds.iter().find(|known| known.kind == kind);
        let unknown = || Status::bad_request(format!("no matches for kind {kind:?}"));
        known.cloned().ok_or_else(unknown)
    }

    /// Serves a custom kind from now on.
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

    /// Serves a custom kind in this version from now on, in place of any other; its objects are kept.
    /// A 400 if there is no such kind.
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

/// What a fault hook may do to a request.
#[derive(Clone, Debug)]
pub enum Fault {
    /// Answer this instead: an outage, a refusal by RBAC or by a policy.
    Answer(Status),
    /// The same after this time (tokio's clock): what stands in the way has to be asked first.
    AnswerAfter(Duration, Status),
    /// The connection breaks before the server has read the request.
    DropBefore,
    /// The request takes effect, then the connection breaks: the answer is lost.
    DropAfter,
    /// The request never arrives and no answer ever comes.
    Hang,
    /// The request is served after this time (tokio's clock).
    Delay(Duration),
}

/// One request, as an audit log has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestLine {
    /// `get`, `list`, `watch`, `create`, `update`, `patch` or `delete`; empty for `/version` and
    /// the like.
    pub verb: &'static str,
    /// The plural, such as `deployments`; for a path of no resource, the path.
    pub resource: String,
    /// The namespace; empty where the request spans all of them.
    pub namespace: String,
    /// The object's name; empty for lists, watches and creations.
    pub name: String,
    /// The query, as sent.
    pub query: String,
    /// The answer's HTTP code; `None` while there is none, or when it was lost.
    pub code: Option<u16>,
    /// When it arrived, by the server's clock.
    pub at: DateTime<Utc>,
    /// Who asked: the name given to the client.
    pub who: String,
}

/// The last requests, oldest first, in a ring.
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

    /// Adds a line and returns its place, for [`Log::answered`].
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
