//! Applies one step of a scenario to controllers, clocks and the server.

use std::{num::NonZeroUsize, sync::Arc};

use chrono::TimeDelta;
use dayshift_controller::{OwnPod, ScheduleFeed, Scope, Settings};
use dayshift_schedule::Zone;
use dayshift_workload::{DefaultSchedule, Key, Kind, Prefix};

use crate::{
    checker::{
        assumptions,
        objects::object::{Object, SCOPE},
        observer::Process,
        scalers::{namespaces::Namespaces, reads::Reads, shown::Shown},
    },
    harness::{
        controller::ControllerProcess,
        run::{Harness, SETTLING},
        user_ops,
    },
    scenario::{
        calendar::Plan,
        definition::Scenario,
        fault::Trouble,
        kinds::{self, KindInfo},
        op::{NAMED, Op, Slot, place},
        prefix,
    },
};

impl Harness<'_> {
    pub(super) async fn apply_op(&mut self, op: &Op) {
        self.trouble_by(op);
        self.carry_out(op).await;
        self.trouble_by(op); // the time of a suspend counts as trouble too
    }

    fn trouble_by(&mut self, op: &Op) {
        if let Op::Faults(_, faults, _) | Op::NamespaceFaults(_, faults, _) = op {
            let worst = faults.iter().map(|it| it.recovery()).max();
            self.recovery = self.recovery.max(worst.unwrap_or_default());
        }
        let is_users = user_ops::slot(op).is_some() || matches!(op, Op::Defaults(..));
        match (self.is_fault_free(), is_users) {
            _ if matches!(op, Op::Quiet) => {}
            (true, _) => self.trouble(SETTLING),
            (false, true) => self.trouble(60_000),
            (false, false) => self.trouble(self.recovery),
        }
    }

    async fn carry_out(&mut self, op: &Op) {
        match op {
            Op::Up(number) => self.start(*number),
            Op::Kill(number) => self.controllers[*number].kill(),
            Op::Stop(number) => self.controllers[*number].stop().await,
            Op::KillIn(number, writes, stage) => {
                self.controllers[*number].faults.kill_in(*writes, *stage);
            }
            Op::Rezone(zone) => {
                self.zone = *zone;
                self.restart_all();
            }
            Op::Flag(plan) => {
                let plan = plan.and_then(|plan| self.scenario.plans[plan].bare());
                let texts = plan.iter().flat_map(Plan::texts);
                self.flag = texts.map(|(key, text)| (key.to_owned(), text)).collect();
                self.restart_all();
            }
            Op::Calendar(name, dates) => self.files.write(*name, dates.clone()),
            Op::LoseCalendar(name) => self.files.lose(*name),
            Op::ReadCalendars(number) => self.read_calendars(*number),
            Op::NameCalendar(name, is_given) => {
                self.files.give(*name, *is_given);
                self.restart_all();
            }
            Op::Clock(number, by) => self.set_clock(*number, |controller| controller.step(*by)),
            Op::ClockRight(number) => self.set_clock(*number, ControllerProcess::clock_right),
            Op::Faults(number, faults, percent) => {
                let controller = &mut self.controllers[*number];
                controller.faults.turn(faults, *percent);
                controller.is_faulty = !faults.is_empty();
            }
            Op::NamespaceFaults(number, faults, percent) => {
                let controller = &mut self.controllers[*number];
                controller.faults.turn_of_namespaces(faults, *percent);
                controller.is_faulty = !faults.is_empty();
            }
            Op::Drift(number, by) => self.controllers[*number].drift = *by,
            Op::Trouble(slot, trouble) => {
                self.trouble_object(*slot, *trouble);
            }
            Op::FleetTrouble(trouble) => {
                for slot in NAMED..self.slot_intents.len() {
                    self.trouble_object(slot, *trouble);
                }
            }
            Op::EventTrouble(trouble) => {
                self.troubles.set_events(*trouble);
                let now = self.now();
                self.observer().record_event_troubles(now);
            }
            Op::Cut(number) => self.controllers[*number].faults.cut(),
            Op::Compact => self.api.compact(),
            Op::Suspend(time) => self.suspend((*time).into()),
            Op::Quiet => self.check_objects(),
            users => {
                self.apply_user_op(users);
                let now = self.now();
                for object in self.objects() {
                    let object_ref = Object::of(&object);
                    if user_ops::touches(users, &object_ref) {
                        self.observer().touched(&object, now);
                    }
                }
            }
        }
    }

    fn trouble_object(&mut self, slot: Slot, trouble: Option<Trouble>) {
        let (namespace, name) = place(slot);
        self.troubles.set(namespace, &name, trouble);
        let now = self.now();
        self.observer().troubled.set(namespace, &name, trouble, now);
    }

    pub(super) fn set_clock(&mut self, number: usize, set: impl FnOnce(&mut ControllerProcess)) {
        set(&mut self.controllers[number]);
        if let Some(process) = &self.controllers[number].process {
            self.observer().clock_set(&process.by);
        }
    }

    pub(super) fn suspend(&mut self, milliseconds: i64) {
        let by = TimeDelta::milliseconds(milliseconds);
        self.truth.step(by);
        for controller in &self.controllers {
            controller.clock.step(by);
        }
        let now = self.truth.now().timestamp_millis();
        let mut observer = self.observer();
        observer.woke = (now, milliseconds);
        observer.slept += milliseconds;
    }

    /// Restarts all controllers with new arguments: all end before the first one starts.
    fn restart_all(&mut self) {
        for number in 0..self.controllers.len() {
            self.controllers[number].kill();
        }
        for number in 0..self.controllers.len() {
            self.start(number);
        }
    }

    /// Starts a controller, unless it runs or a file that it needs is unreadable.
    pub(super) fn start(&mut self, number: usize) {
        let Some(holidays) = self.files.at_start() else {
            return;
        };
        let controller = &mut self.controllers[number];
        let started = self.truth.now().timestamp_millis();
        let scenario = self.scenario;
        let own = scenario
            .zones
            .get(number)
            .filter(|_| self.zone == scenario.zone);
        let zone = own.map_or(self.zone, |zone| zone.parse().unwrap());
        let selector = || scenario.selector.clone().unwrap_or(format!("{SCOPE}=on"));
        let is_dry = scenario.dry.contains(&number);
        let flag = self.flag.iter();
        let flag = flag.map(|(key, text)| (Key::from_name(key).unwrap(), text.clone()));
        let settings = Settings {
            schedules: ScheduleFeed::fixed(assumptions::schedules()),
            default_schedule: DefaultSchedule::from_texts(flag),
            default_zone: Zone::parse(zone.name()).unwrap(),
            scope: Scope {
                kinds: kinds_of(scenario),
                selector: scenario.scoped.then(selector),
                namespaces: scenario.namespaces.clone(),
                excluded_namespaces: scenario.excluded.clone(),
                namespace_defaults: !scenario.without_defaults,
                team_defaults: false,
                namespace_selector: scenario.namespace_selector.clone(),
                team_label: None,
                services: false,
            },
            prefix: Prefix::parse(&prefix::current()).unwrap(),
            own_pod: scenario.scales_itself.then(|| own_pod(scenario)),
            dry_run: is_dry,
            max_in_flight: NonZeroUsize::new(scenario.in_flight)
                .unwrap_or(Settings::default().max_in_flight),
            catch_up: TimeDelta::hours(self.scenario.catch_up.into()),
            max_clock_skew: self.scenario.guarded.then(|| TimeDelta::seconds(30)),
            seed: self.scenario.seed,
            ..Settings::default()
        };
        if let Some(by) = controller.start(
            number,
            (&self.api, &self.truth),
            settings,
            holidays.clone(),
            &self.observer,
            &self.troubles,
        ) {
            let flag = self.flag.clone();
            let namespaces = if scenario.without_defaults {
                Namespaces::ignored(flag)
            } else {
                Namespaces::of(&scenario.namespaces, flag)
            };
            let process = Process {
                zone,
                is_dry,
                clock_set: 0,
                guarded: self.scenario.guarded,
                catch_up: self.scenario.catch_up,
                started,
                clock: controller.clock.clone(),
                shown: Shown::of(namespaces, Arc::new(holidays)),
                reads: Reads::default(),
                calendars_read: 0,
                late: 0,
            };
            self.observer().processes.insert(by, process);
        }
    }
}

/// The pod that runs the controllers, as one of the first object.
fn own_pod(scenario: &Scenario) -> OwnPod {
    let (namespace, name) = place(0);
    let pod = match scenario.kind_of(0).name {
        "StatefulSet" => format!("{name}-0"),
        _ => format!("{name}-5d4f8c7b9-x2x7q"),
    };
    OwnPod {
        namespace: namespace.to_owned(),
        name: pod,
    }
}

/// The value of `--kinds`: all kinds of the scenario's objects.
fn kinds_of(scenario: &Scenario) -> Vec<Kind> {
    let is_any = |row: &&KindInfo| (0..=NAMED).any(|slot| scenario.kind_of(slot) == *row);
    let rows = kinds::ALL.into_iter().filter(is_any);
    rows.map(assumptions::kind_of).collect()
}
