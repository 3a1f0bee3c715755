//! Requests in flight, each in a place of its lane, and their results.

use std::{
    collections::{HashMap, VecDeque},
    panic::resume_unwind,
    sync::Arc,
    time::Duration,
};

use chrono::{DateTime, Utc};
use dayshift_cluster::{
    Workload,
    decode::{Version, WithManagers},
    write::{AnnounceError, EventObject, PatchError, ReadError, Unavailable},
};
use dayshift_workload::{Change, Observed, WorkloadRef, events::EventText};
use futures::future::{AbortHandle, AbortRegistration, Abortable};
use tokio::{task::JoinSet, time::Instant};

use crate::{
    ids::Id,
    jobs::pass::Passed,
    objects::history::{KnownVersions, VersionQuestion},
    queue::lanes::Lane,
    reverts::lookups::Lookup,
};

/// An Event to be sent.
pub(crate) struct PendingEvent {
    pub(crate) object: EventObject,
    pub(crate) text: EventText,
    pub(crate) at: DateTime<Utc>,
    /// How many times it was sent.
    pub(crate) tries: u32,
}

/// An object that is not ready and should be, to be read for the reason.
#[derive(Clone, Debug)]
pub(crate) struct NotReady {
    pub(crate) id: Id,
    pub(crate) object: WorkloadRef,
}

/// The result of a request.
pub(crate) enum Finished {
    Patched(Box<Patched>),
    Read {
        id: Id,
        /// The versions that were known when it was sent.
        known: Version,
        result: Box<Result<Workload, ReadError>>,
    },
    Announced {
        event: Box<PendingEvent>,
        result: Result<(), AnnounceError>,
    },
    LookedUp {
        lookup: Box<Lookup>,
        result: Box<Result<WithManagers, ReadError>>,
    },
    /// Why an object is not ready.
    LookedInto {
        not_ready: Box<NotReady>,
        result: Box<Result<WithManagers, ReadError>>,
    },
    LookedAtJobs(Box<Passed>),
    ToldTheTime(Result<Version, ReadError>),
    /// How far the server's history is.
    ToldTheVersion {
        question: Box<VersionQuestion>,
        result: Result<Version, ReadError>,
    },
    /// Whether the server has answered a request that passes no admission.
    Probed {
        has_answered: bool,
    },
}

/// A patch, with or without an answer.
pub(crate) struct Patched {
    pub(crate) sent: Sent,
    pub(crate) result: Result<Workload, PatchError>,
}

/// A patch that was sent.
pub(crate) struct Sent {
    pub(crate) id: Id,
    pub(crate) observed: Arc<Observed>,
    pub(crate) known: KnownVersions,
    pub(crate) change: Change,
    pub(crate) at: DateTime<Utc>,
    pub(crate) monotonic: Instant,
}

/// A request that takes longer gives its place up, and continues in a slow one.
const SLOW: Duration = Duration::from_secs(1);

type RequestId = u64;

/// Requests in flight.
///
/// No request keeps a place from others for longer than a second: then it moves to the slow lane,
/// and if that is full, the request that has been there longest is given up. An admission webhook
/// that hangs so costs its own objects their answers, and others at most a second.
pub(crate) struct InFlight {
    /// Each is a task of its own: it is written while the controller decides about the next.
    requests: JoinSet<(RequestId, Finished)>,
    underway: HashMap<RequestId, Underway>,
    /// Since when each request has been in flight; ended ones may be among them.
    young: VecDeque<(Instant, RequestId)>,
    /// The slow ones, the oldest first.
    slow: VecDeque<RequestId>,
    max_slow: usize,
    /// How many places of each lane are taken, in all and by each namespace.
    taken: Places,
    taken_by: HashMap<Arc<str>, Places>,
    last_id: RequestId,
}

type Places = [usize; 4];

struct Underway {
    lane: Lane,
    namespace: Arc<str>,
    abort: AbortHandle,
}

impl InFlight {
    /// No requests yet, with this many places for slow ones.
    pub(crate) fn new(max_slow: usize) -> Self {
        Self {
            requests: JoinSet::new(),
            underway: HashMap::new(),
            young: VecDeque::new(),
            slow: VecDeque::new(),
            max_slow,
            taken: Places::default(),
            taken_by: HashMap::new(),
            last_id: 0,
        }
    }

    /// Sends a request, in a place of the lane. Its future must end when it is given up.
    pub(crate) fn send<F>(
        &mut self,
        lane: Lane,
        namespace: &Arc<str>,
        now: Instant,
        request: impl FnOnce(AbortRegistration) -> F,
    ) where
        F: Future<Output = Finished> + Send + 'static,
    {
        self.last_id += 1;
        let id = self.last_id;
        let (abort, registration) = AbortHandle::new_pair();
        let request = request(registration);
        self.requests.spawn(async move { (id, request.await) });
        let underway = Underway {
            lane,
            namespace: namespace.clone(),
            abort,
        };
        self.take(lane, namespace);
        self.underway.insert(id, underway);
        match lane {
            Lane::Slow => self.slow.push_back(id),
            Lane::Transition | Lane::Adoption => self.young.push_back((now, id)),
            // Only other Events wait for their places.
            Lane::Event => {}
        }
    }

    /// Sends a request that takes no place.
    pub(crate) fn send_aside(&mut self, request: impl Future<Output = Finished> + Send + 'static) {
        self.requests.spawn(async move { (0, request.await) });
    }

    /// The result of the next request that ends; `None` if none is in flight.
    pub(crate) async fn next(&mut self) -> Option<Finished> {
        let ended = self.requests.join_next().await?;
        // Nobody cancels one, so what ends without a result has panicked.
        let (id, finished) = ended.unwrap_or_else(|error| resume_unwind(error.into_panic()));
        if let Some(Underway {
            lane, namespace, ..
        }) = self.underway.remove(&id)
        {
            self.give_back(lane, &namespace);
            if lane == Lane::Slow {
                self.slow.retain(|slow| *slow != id);
            }
        }
        Some(finished)
    }

    /// Moves requests that have been in flight for long to the slow lane.
    pub(crate) fn move_slow(&mut self, now: Instant) {
        while let Some((begun, id)) = self.young.front().copied()
            && (now >= begun + SLOW || !self.underway.contains_key(&id))
        {
            self.young.pop_front();
            let Some(request) = self.underway.get_mut(&id) else {
                continue;
            };
            let lane = std::mem::replace(&mut request.lane, Lane::Slow);
            let namespace = request.namespace.clone();
            self.give_back(lane, &namespace);
            self.take(Lane::Slow, &namespace);
            self.slow.push_back(id);
            if self.slow.len() > self.max_slow
                && let Some(oldest) = self.slow.pop_front()
                && let Some(oldest) = self.underway.get(&oldest)
            {
                oldest.abort.abort();
            }
        }
    }

    /// When a request becomes slow.
    pub(crate) fn next_slow(&self) -> Option<Instant> {
        self.young.front().map(|(begun, _)| *begun + SLOW)
    }

    /// How many places of a lane are taken.
    pub(crate) const fn taken(&self, lane: Lane) -> usize {
        self.taken[lane as usize]
    }

    /// How many places of a lane a namespace has taken.
    pub(crate) fn taken_by(&self, lane: Lane, namespace: &str) -> usize {
        let taken = self.taken_by.get(namespace);
        taken.map_or(0, |taken| taken[lane as usize])
    }

    /// How many requests are in flight, of every kind.
    pub(crate) fn len(&self) -> usize {
        self.requests.len()
    }

    fn take(&mut self, lane: Lane, namespace: &Arc<str>) {
        self.taken[lane as usize] += 1;
        if let Some(places) = self.taken_by.get_mut(namespace) {
            places[lane as usize] += 1;
        } else {
            let mut places = Places::default();
            places[lane as usize] = 1;
            self.taken_by.insert(namespace.clone(), places);
        }
    }

    fn give_back(&mut self, lane: Lane, namespace: &Arc<str>) {
        self.taken[lane as usize] -= 1;
        if let Some(places) = self.taken_by.get_mut(namespace) {
            places[lane as usize] -= 1;
            if *places == Places::default() {
                self.taken_by.remove(namespace);
            }
        }
    }
}

/// The result of a request that may be given up.
pub(crate) async fn unless_given_up<T, E: From<Unavailable>>(
    registration: AbortRegistration,
    request: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let answer = Abortable::new(request, registration).await;
    answer.unwrap_or_else(|_| {
        let mut why = Unavailable::timed_out(SLOW);
        why.reason += ", and others wait";
        Err(why.into())
    })
}
