//! Healthy objects beside a fleet whose requests fail.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::thread;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use k8s_openapi::api::apps::v1::Deployment;

use crate::e2e::LOG_LAG;
use crate::reliability::harness::figures::{Figures, Others, peak_memory};
use crate::reliability::harness::fleet::Fleet;
use crate::reliability::harness::fleet_watch::FleetWatch;
use crate::reliability::harness::probes::Probes;
use crate::reliability::harness::profile::Profile;
use crate::reliability::harness::scenario::Place;
use crate::reliability::harness::turns::Turns;
use crate::reliability::harness::webhook::Webhook;
use crate::support::{Dayshift, Namespace, Request, Soon, deployment, soon, too_late, too_slow};

/// The number of healthy objects that stop at each time, in each of the two Namespaces.
const HEALTHY: usize = 3;

/// The timeout for a healthy object after its time.
const TIMEOUT: TimeDelta = TimeDelta::seconds(45);

/// The maximum time from the end of the fault until the fleet is stopped. A denied patch is retried after
/// half a minute, then after a minute. On a busy machine the first attempt might have got no response.
const RECOVERY: TimeDelta = TimeDelta::seconds(120);

/// A fleet whose patches a webhook blocks, and healthy objects in its Namespace and in another one. One
/// controller manages the whole cluster.
pub(crate) struct Beside<'a> {
    controller: Dayshift,
    namespaces: [CleanedNamespace<'a>; 2],
    fleet: Fleet,
    stop: Soon,
    /// When each healthy object stops, by name. Both Namespaces have objects with the same names.
    healthy: BTreeMap<String, Soon>,
    probes: Probes,
    watch: FleetWatch,
    webhook: Webhook<'a>,
    profile: Profile,
}

impl<'a> Beside<'a> {
    /// Waits until all objects are adopted. `delays` are the times from the fleet's stop to the healthy ones'
    /// stops.
    pub(crate) fn begin(
        place: &Place<'a>,
        name: &str,
        size: i32,
        delays: &[i64],
        spoil: impl FnOnce(&Namespace<'a>) -> Webhook<'a>,
    ) -> Self {
        let namespaces =
            [name, "elsewhere"].map(|name| CleanedNamespace(place.plane.namespace(name)));
        let webhook = spoil(&namespaces[0]);
        let stop = soon(9);
        let fleet = Fleet::of(size);
        let watch = FleetWatch::of(&namespaces[0], fleet.clone());
        let mut controller = Dayshift::run(place.plane, &["run"]);
        controller.wait_ready();
        // All objects start tomorrow.
        fleet.create(&namespaces[0], stop, Soon(stop.0 - TimeDelta::hours(1)));
        let mut healthy = BTreeMap::new();
        for delay in delays {
            let due = stop.plus(*delay);
            for number in 0..HEALTHY {
                let name = format!("healthy-{delay}-{number}");
                for namespace in &namespaces {
                    namespace.create(deployment(&name).replicas(2).stop(due.text()));
                }
                healthy.insert(name, due);
            }
        }
        let all = size as usize;
        stop.await_true("all workloads are adopted", || {
            let adopted = watch.state().count("adopted") == all;
            let also = |namespace: &CleanedNamespace<'_>| {
                let state = |name| namespace.label(name, "dayshift/state");
                healthy.keys().all(|name| state(name).is_some())
            };
            adopted && namespaces.iter().all(also)
        });
        Self {
            probes: Probes::of(controller.address().unwrap()),
            namespaces,
            fleet,
            stop,
            healthy,
            controller,
            watch,
            webhook,
            profile: place.profile,
        }
    }

    /// Waits until all healthy objects are stopped, each at most this many seconds late (see
    /// [`Profile::allows`]).
    pub(crate) fn others_within(&self, seconds: f64) -> f64 {
        let seconds = self.profile.allows(seconds);
        let last = *self.healthy.values().max().unwrap();
        last.wait();
        let begin = Utc::now();
        let (late, due) = loop {
            if let Some(late) = self.lateness() {
                break late;
            }
            let waited = Utc::now() - begin;
            if waited >= TIMEOUT {
                // A stalled server logs late changes as unsuccessful.
                match self.unconfirmed_changes() {
                    0 => panic!("healthy workloads are not stopped after {waited}"),
                    some => too_slow(&format!("{some} responses about healthy workloads")),
                }
            }
            thread::sleep(Duration::from_millis(200));
        };
        if late > seconds {
            too_late("a healthy workload was stopped", due.0, late, seconds);
        }
        late
    }

    /// The number of changes of healthy objects that the log shows neither as successful nor as rejected.
    fn unconfirmed_changes(&self) -> usize {
        let unconfirmed_changes = |each: &Request| {
            each.is_write()
                && self.healthy.contains_key(&each.name)
                && !matches!(each.code, 200 | 409 | 422)
        };
        let requests = self.namespaces.iter().map(|it| it.requests());
        requests.flatten().filter(unconfirmed_changes).count()
    }

    /// The maximum lateness of the healthy objects in seconds, once all are stopped: until the API server
    /// applied the change.
    fn lateness(&self) -> Option<(f64, Soon)> {
        let mut worst = (i64::MIN, self.stop);
        for namespace in &self.namespaces {
            let requests = namespace.requests();
            for (name, due) in &self.healthy {
                let stopped = made(&requests, name).nth(1)?;
                worst = worst.max((stopped.answered - due.micros(), *due));
            }
        }
        Some((worst.0 as f64 / 1e6, worst.1))
    }

    /// Ends the fault, and asserts that it had an effect, that the fleet is then stopped, and that no count
    /// is lost.
    pub(crate) fn ends(mut self, late: f64) -> Figures {
        self.webhook.assert_called(self.fleet.len());
        drop(self.webhook);
        let healed = Utc::now();
        let settled = loop {
            if let Some(settled) = self.watch.settled() {
                break settled;
            }
            let fleet_state = self.watch.state();
            assert_eq!(
                (fleet_state.lost, fleet_state.wrong),
                (0, 0),
                "lost and wrong counts"
            );
            let left = self.fleet.len() - fleet_state.count("stopped");
            let waited = Utc::now() - healed;
            assert!(
                waited < RECOVERY,
                "{left} are not stopped {waited} after the fault"
            );
            thread::sleep(Duration::from_millis(200));
        };
        let fleet_state = self.watch.state();
        assert_eq!(
            (fleet_state.lost, fleet_state.wrong),
            (0, 0),
            "lost and wrong counts"
        );
        let unready = self.probes.unready_from(self.stop.0);
        let ready = self.probes.ready_since();
        let memory = peak_memory(self.controller.id());
        let status = self.controller.stop();
        assert!(status.success(), "{status}\n{}", self.controller.log());

        let changes = 2 * (self.fleet.len() + self.healthy.len() * self.namespaces.len());
        let requests = settled_log(&self.namespaces, changes);
        let name = self.namespaces[0].name();
        let (fleet, healthy): (Vec<_>, Vec<_>) = requests
            .iter()
            .cloned()
            .partition(|each| each.namespace == name && !self.healthy.contains_key(&each.name));
        let mut turns = Turns::of(&fleet);
        for (name, due) in &self.healthy {
            for namespace in &self.namespaces {
                let of_it = healthy
                    .iter()
                    .filter(|each| each.namespace == namespace.name());
                let of_it: Vec<_> = of_it.cloned().collect();
                let stop = made(&of_it, name).nth(1).unwrap();
                if namespace.name() == self.namespaces[0].name() {
                    turns.note_beside(due.0, stop);
                } else {
                    turns.note_elsewhere(due.0, stop);
                }
            }
        }
        let others = Others {
            late,
            unseen: None,
            before: turns.most_before(),
        };
        println!("{others:?}");
        let count = |which: fn(&&Request) -> bool| requests.iter().filter(which).count();
        let since = |from: DateTime<Utc>, to: DateTime<Utc>| {
            (to - from).max(TimeDelta::zero()).as_seconds_f64()
        };
        Figures {
            others: Some(others),
            lost: fleet_state.lost,
            wrong: fleet_state.wrong,
            late: Some(since(self.stop.0, settled)),
            settled: Some(since(healed, settled)),
            healed,
            bound: 0.0,
            unready: unready.map(|at| since(self.stop.0, at)),
            ready: ready.map(|at| since(healed, at)),
            memory,
            writes: count(|each| each.is_made()) as f64 / changes as f64,
            tries: count(|each| each.verb == "patch") as f64 / changes as f64,
        }
    }
}

/// The requests of dayshift, once the log contains this many changes, or after a timeout. A change that was
/// applied but not answered in time is unsuccessful in the log.
fn settled_log(namespaces: &[CleanedNamespace<'_>], changes: usize) -> Vec<Request> {
    let begin = Instant::now();
    loop {
        let requests = namespaces.iter().flat_map(|it| it.requests());
        let requests: Vec<Request> = requests.collect();
        let made = requests.iter().filter(|each| each.is_made()).count();
        if made >= changes || begin.elapsed() > LOG_LAG {
            return requests;
        }
        thread::sleep(Duration::from_millis(200));
    }
}

/// A Namespace whose Deployments are deleted when this is dropped, because the controller of the next case
/// watches the whole cluster.
pub(crate) struct CleanedNamespace<'a>(pub(crate) Namespace<'a>);

impl<'a> Deref for CleanedNamespace<'a> {
    type Target = Namespace<'a>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Drop for CleanedNamespace<'_> {
    fn drop(&mut self) {
        self.0.delete_all::<Deployment>();
    }
}

/// The changes of a Deployment that dayshift made, in order.
pub(crate) fn made<'r>(requests: &'r [Request], name: &str) -> impl Iterator<Item = &'r Request> {
    requests
        .iter()
        .filter(move |each| each.is_made() && each.name == name)
}
