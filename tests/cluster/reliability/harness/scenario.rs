//! One case of the table: a fleet with a stop and a start, controllers behind a proxy, and a fault
//! across the stop.

use std::path::PathBuf;
use std::thread;

use chrono::{DateTime, TimeDelta, Utc};

use crate::reliability::harness::figures::{Figures, peak_memory};
use crate::reliability::harness::fleet::{Fleet, FleetState};
use crate::reliability::harness::fleet_watch::FleetWatch;
use crate::reliability::harness::probes::Probes;
use crate::reliability::harness::profile::Profile;
use crate::reliability::harness::proxy::{Proxy, Toxiproxy};
use crate::support::{ControlPlane, Dayshift, Namespace, Soon, soon};

/// The time before the stop at which the fault begins.
const LEAD: i64 = 2;

/// The environment of a case.
pub(crate) struct Place<'a> {
    pub(crate) plane: &'a ControlPlane,
    pub(crate) toxiproxy: &'a Toxiproxy,
    pub(crate) profile: Profile,
}

/// A running case.
pub(crate) struct Scenario<'a> {
    pub(crate) namespace: Namespace<'a>,
    pub(crate) proxy: Proxy<'a>,
    pub(crate) stop: Soon,
    pub(crate) controllers: Vec<Dayshift>,
    kubeconfig: PathBuf,
    flags: Vec<&'static str>,
    fleet: Fleet,
    start: Soon,
    pub(crate) fault_ends: Soon,
    fault: (DateTime<Utc>, DateTime<Utc>),
    watch: FleetWatch,
    probes: Option<Probes>,
    memory: u64,
}

/// The size and duration of a case.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) fleet: i32,
    /// The time before the stop at which everything begins, in seconds.
    pub(crate) lead: i64,
    /// The time after the stop at which the fault ends, in seconds.
    pub(crate) fault: i64,
    /// The time after the fault's end at which the start is due, in seconds.
    pub(crate) recovery: i64,
}

impl<'a> Scenario<'a> {
    /// Creates a Namespace with the shipped RBAC and the fleet, and no controller.
    pub(crate) fn set(place: &Place<'a>, name: &str, size: Size) -> Self {
        Self::set_with(place, name, size, |fleet, namespace, stop, start| {
            fleet.create(namespace, stop, start);
        })
    }

    /// Like [`Self::set`], with a fleet that `create` creates with this stop and start.
    pub(crate) fn set_with(
        place: &Place<'a>,
        name: &str,
        size: Size,
        create: impl FnOnce(&Fleet, &Namespace<'_>, Soon, Soon),
    ) -> Self {
        let namespace = place.plane.namespace(name);
        namespace.apply_file("manifests/namespaced.yaml");
        let proxy = place.toxiproxy.to(place.plane.url());
        let kubeconfig = place
            .plane
            .kubeconfig_via(&proxy.url(), namespace.name(), "dayshift");
        let stop = soon(size.lead);
        let fault_ends = stop.plus(size.fault);
        let start = fault_ends.plus(size.recovery);
        let fleet = Fleet::of(size.fleet);
        let watch = FleetWatch::of(&namespace, fleet.clone());
        create(&fleet, &namespace, stop, start);
        Self {
            namespace,
            proxy,
            stop,
            controllers: Vec::new(),
            kubeconfig,
            flags: Vec::new(),
            fleet,
            start,
            fault_ends,
            fault: (Utc::now(), Utc::now()),
            watch,
            probes: None,
            memory: 0,
        }
    }

    /// Like [`Self::set`], with a controller that has adopted all workloads.
    pub(crate) fn begin(place: &Place<'a>, name: &str, size: Size) -> Self {
        let mut scenario = Self::set(place, name, size);
        scenario.run();
        scenario.await_adopted();
        scenario
    }

    /// Uses another kubeconfig for later controllers.
    pub(crate) fn connect_with(&mut self, kubeconfig: PathBuf) {
        self.kubeconfig = kubeconfig;
    }

    /// Uses a kubeconfig for the server at `url` for later controllers.
    pub(crate) fn connect_via(&mut self, url: &str) {
        let plane = self.namespace.plane();
        let kubeconfig = plane.kubeconfig_via(url, self.namespace.name(), "dayshift");
        self.connect_with(kubeconfig);
    }

    /// Limits later controllers to one request in flight.
    pub(crate) fn slow_down(&mut self) {
        self.flags.push("--max-in-flight=1");
    }

    /// Lets later controllers read the defaults of the team, and not those of the Namespace, for which they have no
    /// permission.
    pub(crate) fn read_team_defaults(&mut self) {
        self.flags
            .extend(["--team-defaults", "--namespace-defaults=false"]);
    }

    /// Starts another controller, and waits until it is ready.
    pub(crate) fn run(&mut self) {
        self.begin_controller().wait_ready();
        self.probes = self.controllers[0].address().map(Probes::of);
    }

    /// Starts another controller, which might not be ready yet.
    pub(crate) fn begin_controller(&mut self) -> &mut Dayshift {
        let mut arguments = vec!["run", "-n", self.namespace.name()];
        arguments.extend(&self.flags);
        let controller = Dayshift::run_as(&self.kubeconfig, &arguments);
        self.controllers.push(controller);
        self.controllers.last_mut().unwrap()
    }

    /// Ends the polling of readiness, because the controllers are killed and restarted.
    pub(crate) fn stop_probes(&mut self) {
        self.probes = None;
    }

    /// Records the beginning and end of the fault.
    pub(crate) fn record_fault(&mut self, from: DateTime<Utc>, to: DateTime<Utc>) {
        self.fault = (from, to);
    }

    /// Waits until all are adopted, which must happen before the fault.
    pub(crate) fn await_adopted(&self) {
        self.await_adopted_before(LEAD);
    }

    /// Like [`Self::await_adopted`], for a fault that begins this many seconds before the stop.
    pub(crate) fn await_adopted_before(&self, lead: i64) {
        let begin = Soon(self.stop.0 - TimeDelta::seconds(lead));
        begin.await_true("all workloads are adopted", || {
            self.look().count("adopted") == self.fleet.len()
        });
    }

    /// Runs a fault across the stop, from 2 s before it.
    pub(crate) fn run_fault(&mut self, begin: impl FnOnce(&mut Self), end: impl FnOnce(&mut Self)) {
        self.run_fault_from(LEAD, begin, end);
    }

    /// Runs a fault across the stop, from `lead` seconds before it.
    pub(crate) fn run_fault_from(
        &mut self,
        lead: i64,
        begin: impl FnOnce(&mut Self),
        end: impl FnOnce(&mut Self),
    ) {
        let begins = self.stop.0 - TimeDelta::seconds(lead);
        if let Ok(rest) = (begins - Utc::now()).to_std() {
            thread::sleep(rest);
        }
        self.fault.0 = Utc::now();
        begin(self);
        self.stop.assert_in_future("the fault has begun");
        self.fault_ends.wait();
        end(self);
        self.fault.1 = Utc::now();
    }

    /// The state of the fleet. Asserts that no write to a Deployment has lost its original count or set a
    /// wrong one.
    pub(crate) fn look(&self) -> FleetState {
        let fleet_state = self.watch.state();
        assert_eq!(
            (fleet_state.lost, fleet_state.wrong),
            (0, 0),
            "lost and wrong counts"
        );
        fleet_state
    }

    /// Waits until all are stopped, which must happen before the start.
    pub(crate) fn await_settled(&self) -> DateTime<Utc> {
        self.start
            .before("all are stopped", || self.watch.settled())
    }

    /// Records the memory of the controllers, and ends them.
    pub(crate) fn stop_controllers(&mut self) {
        self.note_memory();
        for mut controller in self.controllers.drain(..) {
            let status = controller.stop();
            assert!(status.success(), "{status}\n{}", controller.log());
        }
    }

    pub(crate) fn note_memory(&mut self) {
        let peaks = self
            .controllers
            .iter()
            .map(|controller| peak_memory(controller.id()));
        self.memory = peaks.chain([self.memory]).max().unwrap_or_default();
    }

    /// The current value of one of the controller's metrics.
    pub(crate) fn metric(&self, line: &str) -> u64 {
        let (_, text) = self.controllers[0].get("/metrics").unwrap();
        let found = text.lines().filter_map(|each| each.strip_prefix(line));
        found
            .filter_map(|rest| rest.trim().parse::<u64>().ok())
            .sum()
    }

    /// Ends a case without waiting until the fleet is stopped.
    pub(crate) fn breaks_off(mut self) -> Figures {
        let FleetState { lost, wrong, .. } = self.look();
        self.probes = None;
        self.stop_controllers();
        Figures {
            lost,
            wrong,
            memory: self.memory,
            ..Figures::default()
        }
    }

    /// Ends a case: waits until the fleet is stopped, and until it runs again with its counts, and stops the
    /// controllers.
    pub(crate) fn ends(mut self) -> Figures {
        let settled = self.await_settled();
        let unready_from = self
            .probes
            .as_ref()
            .and_then(|it| it.unready_from(self.fault.0));
        let all = self.fleet.len();
        let end = self.start.plus(30);
        let fleet_state = end.before("all run again", || {
            let fleet_state = self.look();
            (fleet_state.count("running") == all).then_some(fleet_state)
        });
        let wrong = self.fleet.count_wrong(&self.namespace);
        assert_eq!(wrong, 0, "counts at the end");
        assert_eq!(fleet_state.writes(), 3 * all, "one write for each change");
        let ready_since = self.probes.as_ref().and_then(Probes::ready_since);
        self.probes = None;
        self.stop_controllers();
        let requests = self.namespace.requests();
        let tries = requests.iter().filter(|each| each.verb == "patch");
        let since = |from: DateTime<Utc>, to: DateTime<Utc>| {
            (to - from).max(TimeDelta::zero()).as_seconds_f64()
        };
        Figures {
            others: None,
            lost: fleet_state.lost,
            wrong,
            late: Some(since(self.stop.0, settled)),
            settled: Some(since(self.fault.1, settled)),
            healed: self.fault.1,
            bound: 0.0,
            unready: unready_from.map(|at| since(self.fault.0, at)),
            ready: ready_since.map(|at| since(self.fault.1, at)),
            memory: self.memory,
            writes: fleet_state.writes() as f64 / (3 * all) as f64,
            tries: tries.count() as f64 / (3 * all) as f64,
        }
    }
}
