//! Wakes: one patch for a workload, however many connections wait for it.

use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use chrono::{DateTime, SubsecRound as _, TimeDelta, Utc};
use dayshift_cluster::write::PatchError;
use dayshift_workload::{AnnotationChange, Dependency, Key, Override, OverrideCommand};
use tokio::time::Instant;

use crate::{
    connections::head::Head,
    cover::Cover,
    pauses::Pauses,
    routes::{Routes, Target},
    service::ServiceName,
    settings::Settings,
    waking::needs::Needs,
};

/// A connection that asks for a wake.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) service: ServiceName,
    pub(crate) port: Box<str>,
    pub(crate) from: IpAddr,
    pub(crate) head: Option<Head>,
}

impl Request {
    /// What asks for what, in words: `A request from 10.0.0.1 for dev.example.com/ to Service web, port
    /// http,`.
    pub(crate) fn words(&self) -> String {
        let what = match &self.head {
            None => format!("A connection from {}", self.from),
            Some(head) => format!(
                "A request from {} for {}{}",
                self.from, head.host, head.path
            ),
        };
        let port = match &*self.port {
            "" => String::new(),
            port => format!(", port {port},"),
        };
        format!("{what} to Service {}{port}", self.service.name)
    }
}

/// A workload that is to be woken, and by what.
#[derive(Clone, Debug)]
pub(crate) struct Wake {
    pub(crate) target: Arc<Target>,
    pub(crate) request: Request,
    pub(crate) until: DateTime<Utc>,
    pub(crate) annotations: Vec<AnnotationChange>,
    /// For which other workload, if it is not one of the Service that was asked for.
    pub(crate) needed_by: Option<Dependency>,
    /// What it needs that stays stopped, each with the reason.
    pub(crate) without: Vec<String>,
}

/// The wakes that are wanted and under way.
pub(crate) struct Wakes {
    /// Services that somebody has asked for.
    wanted: BTreeMap<ServiceName, Wanted>,
    /// The UIDs of workloads whose patch is under way.
    in_flight: HashSet<Arc<str>>,
    /// The UIDs of those that are not patched for a while.
    pauses: Pauses<Arc<str>>,
    /// Services that were woken, and when.
    starting: HashMap<ServiceName, Instant>,
    took: Took,
}

/// A Service that somebody has asked for.
pub(crate) struct Wanted {
    request: Request,
    since: Instant,
    /// Until when workloads were to be woken for it, by UID: what they need is woken as long, even if they
    /// are quicker.
    until: HashMap<Arc<str>, DateTime<Utc>>,
}

impl Wakes {
    pub(crate) fn new(took: Took, seed: u64) -> Self {
        Self {
            wanted: BTreeMap::new(),
            in_flight: HashSet::new(),
            pauses: Pauses::new(seed),
            starting: HashMap::new(),
            took,
        }
    }

    /// Takes in what somebody asks for.
    pub(crate) fn ask(&mut self, request: Request) {
        let service = request.service.clone();
        self.wanted
            .entry(service)
            .or_insert_with(|| Wanted::by(request));
    }

    /// The wakes that are due: what is wanted and what that needs, asleep and not being woken yet.
    /// What two of them need is woken once, for the longer of both.
    pub(crate) fn due(
        &mut self,
        cover: &Cover,
        settings: &Settings,
        now: DateTime<Utc>,
    ) -> Vec<Wake> {
        let at = Instant::now();
        let mut due: BTreeMap<Arc<str>, Wake> = BTreeMap::new();
        self.wanted.retain(|service, known| {
            let Some(route) = cover.routes.get(service) else {
                return false;
            };
            let wanted = route.targets.iter();
            let mut wanted: Vec<_> = wanted
                .flat_map(|it| known.wakes_of(it, &cover.needs, settings.max_wake, now))
                .collect();
            let is_wanted = !wanted.is_empty();
            wanted.retain(|it| {
                let uid = it.uid();
                !self.pauses.is_paused(uid, at) && !self.in_flight.contains(uid)
            });
            for wake in wanted {
                let uid = Arc::clone(wake.uid());
                if due.get(&uid).is_none_or(|it| it.until < wake.until) {
                    due.insert(uid, wake);
                }
            }
            is_wanted && known.since.elapsed() < settings.hold
        });
        self.in_flight.extend(due.keys().cloned());
        due.into_values().collect()
    }

    /// A patch has ended.
    pub(crate) fn finished(&mut self, wake: &Wake, result: &Result<(), PatchError>) {
        let uid = &wake.target.observed.object.uid;
        self.in_flight.remove(uid);
        match result {
            Ok(()) => {
                // The watch shows it in a moment; until then it must not be patched again.
                self.pauses.rest(uid.clone(), Duration::from_secs(5));
                self.starting
                    .entry(wake.request.service.clone())
                    .or_insert_with(Instant::now);
            }
            Err(PatchError::Conflict) => {
                self.pauses.rest(uid.clone(), Duration::from_millis(100));
            }
            Err(_) => self.pauses.fail(uid.clone()),
        }
    }

    /// Notes what is ready by now, and forgets what is over.
    pub(crate) fn note(&mut self, routes: &Routes) {
        let took = &self.took;
        self.starting.retain(|service, since| {
            let route = routes.get(service);
            let is_ready = route.is_some_and(|it| it.ready.values().any(|it| !it.is_empty()));
            if is_ready {
                took.note(service, since.elapsed());
            }
            !is_ready && route.is_some() && since.elapsed() < Duration::from_secs(3600)
        });
        self.pauses.forget_calm();
    }
}

impl Wake {
    fn uid(&self) -> &Arc<str> {
        &self.target.observed.object.uid
    }
}

impl Wanted {
    /// Asked for now.
    pub(crate) fn by(request: Request) -> Self {
        Self {
            request,
            since: Instant::now(),
            until: HashMap::new(),
        }
    }

    /// The wakes of a workload of the Service, and of what it needs: until the same instant, however long
    /// a request to those would wake them. Of one that starts already, only of what it needs.
    pub(crate) fn wakes_of(
        &mut self,
        root: &Arc<Target>,
        needs: &Needs,
        max_wake: TimeDelta,
        now: DateTime<Utc>,
    ) -> Vec<Wake> {
        let uid = &root.observed.object.uid;
        let is_wakeable = root.is_wakeable(now);
        let until = match root.starts_until.or(self.until.get(uid).copied()) {
            _ if is_wakeable => now + root.wake.lasts,
            Some(until) => until,
            None => return Vec::new(),
        };
        let until = until.min(now + max_wake).trunc_subsecs(0);
        self.until.insert(uid.clone(), until);
        let with = needs.woken_with(root, now);
        let needed_by = Dependency::from_workload(&root.observed.object);
        let needed = with.targets.iter();
        let mut wakes: Vec<_> = needed
            .map(|it| wake(it, &self.request, until, Some(needed_by.clone())))
            .collect();
        if is_wakeable {
            let mut own = wake(root, &self.request, until, None);
            own.without = with.without;
            wakes.push(own);
        }
        wakes
    }
}

fn wake(
    target: &Arc<Target>,
    request: &Request,
    until: DateTime<Utc>,
    needed_by: Option<Dependency>,
) -> Wake {
    let inputs = &target.observed.inputs;
    let command = OverrideCommand::Begin(Override::Wake(until));
    let annotations = command.annotations(inputs, target.zone);
    // Somebody's sleep goes on after the wake, with its author and reason.
    let mut annotations: Vec<_> = annotations
        .into_iter()
        .filter(|(key, _)| *key == Key::WakeUntil)
        .collect();
    if inputs.own().text(Key::SleepUntil).is_none() {
        let reason = format!("request to Service {}", request.service.name);
        annotations.push((Key::Reason, Some(reason)));
        if inputs.own().text(Key::OverrideBy).is_some() {
            annotations.push((Key::OverrideBy, None));
        }
    }
    Wake {
        target: Arc::clone(target),
        request: request.clone(),
        until,
        annotations,
        needed_by,
        without: Vec::new(),
    }
}

/// How many starts are remembered for each Service, and for how many Services.
const MAX_STARTS: usize = 3;
const MAX_SERVICES: usize = 10_000;

/// How long the last starts took, in seconds, by Service.
#[derive(Clone, Debug, Default)]
pub(crate) struct Took(Arc<Mutex<HashMap<ServiceName, VecDeque<u64>>>>);

impl Took {
    /// The last ones, the newest first.
    pub(crate) fn of(&self, service: &ServiceName) -> Vec<u64> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(service)
            .map(|it| it.iter().copied().collect())
            .unwrap_or_default()
    }

    fn note(&self, service: &ServiceName, took: Duration) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_SERVICES {
            all.clear();
        }
        let starts = all.entry(service.clone()).or_default();
        starts.push_front(took.as_secs().max(1));
        starts.truncate(MAX_STARTS);
    }
}
