//! What all clients, watches and handles of one [`Api`](crate::Api) share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::fault::Fault;
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

/// What all clones and watches of an [`Api`] share.
pub(crate) struct Server {
    clock: Box<dyn Fn() -> DateTime<Utc> + Send + Sync>,
    store: Mutex<Store>,
    log: Mutex<Log>,
    fault: Mutex<Option<Arc<FaultHook>>>,
    policy: Mutex<Option<Arc<Policy>>>,
    closing: Notifier,
}

impl Server {
    pub(crate) fn new(clock: impl Fn() -> DateTime<Utc> + Send + Sync + 'static) -> Self {
        Self {
            clock: Box::new(clock),
            store: Mutex::new(Store::new()),
            log: Mutex::new(Log::new(REQUESTS)),
            fault: Mutex::new(None),
            policy: Mutex::new(None),
            closing: Notifier::default(),
        }
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        (self.clock)()
    }

    pub(crate) fn store(&self) -> MutexGuard<'_, Store> {
        lock(&self.store)
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

    pub(crate) fn fault(&self, line: &RequestLine) -> Option<Fault> {
        let hook = lock(&self.fault).clone();
        hook.and_then(|hook| hook(line))
    }

    pub(crate) fn refusal(&self, admission: &Admission<'_>) -> Option<Status> {
        let policy = lock(&self.policy).clone();
        policy.and_then(|policy| policy(admission))
    }
}

/// A lock that a panicking test thread has left is still good: no write is left half done in it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
