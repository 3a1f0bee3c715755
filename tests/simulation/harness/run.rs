//! Runs a scenario in a cluster in memory, and checks the objects whenever all faults have been recovered
//! from.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use chrono_tz::Tz;
use dayshift_cluster::clock::Clock;
use kube_in_memory::Api;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    checker::{
        check_settled::CheckResult,
        objects::object::{NEVER, Object},
        observer::Observer,
        rules::timeline::Timelines,
    },
    harness::{
        controller::{ControllerProcess, Crashes, Running},
        files::Files,
        listen::listen,
        troubles::Troubles,
    },
    scenario::{
        calendar::Plan,
        definition::{Kind, Scenario},
        fault::{A_MOMENT, RETRIED},
        intent::Intent,
        kinds, names,
        op::{NAMED, Op, PLACES, SELECTED, Slot, TEAMS, place},
        prefix,
    },
};

/// The time in which a user's change is applied if there are no faults, in milliseconds.
pub(super) const SETTLING: i64 = 20;

pub struct Harness<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) api: Api,
    pub(super) truth: Clock,
    pub(super) observer: Arc<Mutex<Observer>>,
    pub(super) controllers: Vec<ControllerProcess>,
    crashes: Crashes,
    pub(super) troubles: Troubles,
    pub(crate) slot_intents: Vec<SlotIntent>,
    /// The intent of the annotations of each Namespace.
    pub(crate) defaults: [Intent; PLACES.len()],
    pub(crate) snapshots: Vec<Vec<(Value, Intent)>>,
    pub(super) zone: Tz,
    /// The controllers' `--default-hours`, or `--default-start` and `--default-stop`, by their
    /// keys.
    pub(super) flag: BTreeMap<String, String>,
    pub(super) files: Files,
    /// Until when faults might not have been recovered from, in milliseconds.
    troubled: i64,
    /// The longest recovery time of the faults so far, in milliseconds.
    pub(super) recovery: i64,
}

/// The user's intent for an object: the annotations, and the manifest in the repository.
#[derive(Clone, Default)]
pub(crate) struct SlotIntent {
    pub(crate) intent: Intent,
    pub(crate) manifest: Intent,
    pub(crate) replicas: u32,
}

/// The result of a scenario.
#[derive(Debug, Default)]
pub struct ScenarioOutcome {
    pub trace: Vec<String>,
    pub failure: Option<String>,
    pub writes: usize,
    pub faults: usize,
    pub looks: BTreeMap<CheckResult, usize>,
}

/// All plans that an object can have: the plans of the scenario, and each of them combined with the plan of
/// its Namespace, from which the object inherits the keys that it does not set.
fn with_inherited(plans: &[Plan]) -> Vec<Plan> {
    let mut all = plans.to_vec();
    all.extend(plans.iter().filter_map(Plan::bare));
    for own in plans {
        all.extend(plans.iter().map(|other| own.beside(other)));
    }
    all
}

/// Runs a scenario from its beginning to its end.
pub fn run(scenario: &Scenario) -> ScenarioOutcome {
    prefix::begin(scenario.prefix.as_deref());
    names::begin(&scenario.plans, scenario.are_named);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut harness = Harness::new(scenario);
        harness.run_steps().await;
        harness.outcome()
    })
}

impl<'a> Harness<'a> {
    fn new(scenario: &'a Scenario) -> Self {
        let truth = Clock::simulated(scenario.begin);
        let api = Api::new({
            let truth = truth.clone();
            move || truth.now()
        });
        for [group, version, plural, kind] in
            kinds::ALL.into_iter().filter_map(kinds::KindInfo::custom)
        {
            api.serve_custom(group, version, plural, kind);
        }
        for (namespace, team) in PLACES.into_iter().zip(TEAMS) {
            api.namespace(namespace);
            let labels = json!({"metadata": {"labels": {"team": team}}});
            api.merge("Namespace", "", namespace, &labels).unwrap();
        }
        let mut observer = Observer::new(
            with_inherited(&scenario.plans).into(),
            Timelines::new(scenario.dates()),
            truth.clone(),
            scenario.kind == Kind::NoFaults,
        );
        observer.scoped = scenario.scoped;
        observer.namespaces = scenario.namespaces.clone();
        observer.excluded = scenario.excluded.clone();
        let selector = scenario.namespace_selector.as_deref();
        let is_it = |(it, _): &(&str, _)| Some(*it) == selector;
        observer.own = scenario.scales_itself.then(|| place(0));
        observer.selected = SELECTED.into_iter().find(is_it).map(|(_, names)| names);
        let observer = Arc::new(Mutex::new(observer));
        listen(&api, &truth, &observer);
        observer.lock().unwrap().troubled.in_flight = scenario.in_flight;
        let crashes = Crashes::default();
        let fleets = scenario.steps.iter().map(|step| match step.op {
            Op::MakeFleet(count, ..) => count,
            _ => 0,
        });
        let objects = NAMED + fleets.max().unwrap_or(0);
        let controller = |number: usize| {
            let seed = scenario.seed.wrapping_mul(31).wrapping_add(number as u64);
            ControllerProcess::of(seed, scenario.begin, crashes.clone())
        };
        Self {
            scenario,
            truth,
            observer,
            controllers: (0..scenario.controllers).map(controller).collect(),
            slot_intents: vec![SlotIntent::default(); objects],
            defaults: std::array::from_fn(|_| Intent::default()),
            snapshots: vec![Vec::new(); objects],
            crashes,
            troubles: Troubles::default(),
            zone: scenario.zone,
            flag: BTreeMap::new(),
            files: Files::given(&scenario.calendars),
            troubled: 0,
            recovery: RETRIED + A_MOMENT,
            api,
        }
    }

    pub(super) fn observer(&self) -> MutexGuard<'_, Observer> {
        self.observer.lock().unwrap()
    }

    /// Whether there was a failure. If a controller ended, that is reported before the failures that it
    /// causes.
    fn has_failed(&self) -> bool {
        let crash = self.crashes.lock().unwrap().first().cloned();
        let mut observer = self.observer();
        observer.failure = crash.or(observer.failure.take());
        observer.failure.is_some()
    }

    pub(crate) fn now(&self) -> i64 {
        self.truth.now().timestamp_millis()
    }

    async fn run_steps(&mut self) {
        for step in &self.scenario.steps {
            self.pass_until(self.scenario.instant(step.at).timestamp_millis())
                .await;
            if self.scenario.kind == Kind::NoFaults {
                self.check_objects();
            }
            if self.has_failed() {
                return;
            }
            let now = self.now();
            self.observer().note(now, &format!("{:?}", step.op));
            self.observer().since = 0;
            self.apply_op(&step.op).await;
        }
        self.end().await;
    }

    /// All faults end: after the recovery, all objects must be settled, and due work must be done exactly on
    /// time.
    async fn end(&mut self) {
        // Let the controllers observe the last step before their clocks are corrected. Within the same
        // millisecond, the order is unknown.
        self.pass(1).await;
        self.files.make_readable();
        for number in 0..self.controllers.len() {
            self.read_calendars(number);
            self.controllers[number].faults.end();
            self.controllers[number].is_faulty = false;
            self.set_clock(number, ControllerProcess::clock_right);
            self.start(number);
        }
        self.troubles.end();
        let now = self.now();
        let had_troubles = self.observer().troubled.end(now);
        let recovered = had_troubles.map_or(0, |until| until - now);
        self.trouble(
            SETTLING
                + recovered.max(match self.is_fault_free() {
                    true => 0,
                    false => self.recovery,
                }),
        );
        let now = self.now();
        self.observer().note(now, "all is well");
        let recovered = self.troubled;
        self.pass(recovered - now).await;
        self.observer().record_recovery(recovered);
        self.check_objects();
        self.are_ready();
        let now = self.now();
        let next = self
            .objects()
            .into_iter()
            .filter_map(|object| Object::of(&object).state.next)
            .filter(|next| *next != NEVER);
        let next = next
            .map(|next| next * 1000)
            .filter(|next| *next > now)
            .min();
        let Some(next) = next.filter(|next| *next < now + 3 * 86_400_000) else {
            return;
        };
        let awake = 6 * 60_000;
        if !self.is_fault_free() && next - now > 2 * awake {
            self.suspend(next - now - awake);
        } else if next - now > 86_400_000 {
            return;
        }
        self.pass(next + SETTLING - self.now()).await;
        self.troubled = 0;
        self.check_objects();
    }

    /// Sets drifting clocks every few seconds. Work that a clock step makes due is done a millisecond later.
    async fn pass_until(&mut self, at: i64) {
        let mut set = self.now();
        while self.now() < at {
            let drifting: Vec<_> = (0..self.controllers.len())
                .filter(|number| self.controllers[*number].drift != 0)
                .collect();
            let left = at - self.now();
            if drifting.is_empty() {
                return self.pass(left).await;
            }
            self.pass(left.min(5000) - 1).await;
            let passed = self.now() - set;
            set += passed;
            for number in drifting {
                self.set_clock(number, |controller| controller.drifts(passed));
            }
            self.pass(1).await;
        }
    }

    async fn pass(&self, milliseconds: i64) {
        sleep(Duration::from_millis(milliseconds.max(0).unsigned_abs())).await;
    }

    pub(crate) fn is_fault_free(&self) -> bool {
        self.scenario.kind == Kind::NoFaults
    }

    /// For this many milliseconds, objects might not be settled.
    pub(crate) fn trouble(&mut self, time: i64) {
        self.troubled = self.troubled.max(self.now() + time);
    }

    /// The kind of the object of a slot.
    pub(super) const fn kind(&self, slot: Slot) -> &'static str {
        self.scenario.kind_of(slot).name
    }

    pub(super) fn objects(&self) -> Vec<Value> {
        let kinds = kinds::ALL.into_iter();
        kinds.flat_map(|kind| self.api.list(kind.name)).collect()
    }

    /// Checks the objects if all faults must have been recovered from by now.
    pub(super) fn check_objects(&mut self) {
        let now = self.now();
        let (is_guarded, is_fault_free) = (self.scenario.guarded, self.is_fault_free());
        let is_faulty = |it: &ControllerProcess| {
            let off = it.off.num_milliseconds().abs();
            let is_right = off == 0 || is_fault_free && (!is_guarded || off <= 30_000);
            // A controller whose clock is surely wrong does nothing.
            it.is_faulty || !is_right && (!is_fault_free || off < 31_000)
        };
        // Work that becomes due in this second might or might not be done in this millisecond.
        let is_instant = now % 1000 == 0;
        if is_instant || now < self.troubled || self.controllers.iter().any(is_faulty) {
            return;
        }
        if is_guarded && is_fault_free {
            self.are_unready_by_wrong_clocks();
        }
        for number in 0..self.controllers.len() {
            let ended = |it: &Running| it.task.is_finished();
            if self.controllers[number]
                .process
                .take_if(|it| ended(it))
                .is_some()
            {
                let text = format!("controller {number} has been ended");
                self.observer().note(now, &text);
            }
        }
        let is_asked =
            |it: &&ControllerProcess| !is_guarded || it.off.num_milliseconds().abs() <= 30_000;
        let running = self.controllers.iter().filter(is_asked);
        let running = running.filter_map(|it| it.process.as_ref());
        let running: Vec<_> = running.map(|it| it.by.clone()).collect();
        for object in self.objects() {
            self.observer().check_settled(&object, &running, now);
        }
    }

    fn outcome(self) -> ScenarioOutcome {
        let faults = self
            .controllers
            .iter()
            .map(|controller| controller.faults.happened())
            .sum::<usize>()
            + self.troubles.happened();
        self.has_failed();
        let mut observer = self.observer();
        ScenarioOutcome {
            trace: std::mem::take(&mut observer.trace),
            failure: observer.failure.take(),
            writes: observer.writes,
            looks: std::mem::take(&mut observer.looks),
            faults,
        }
    }
}
