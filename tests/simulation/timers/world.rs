//! The controller in a cluster in memory, with defaults of teams, users and kills.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::clock::Clock;
use dayshift_controller::{Scope, Settings};
use dayshift_workload::Kind;
use kube_in_memory::Api;
use serde_json::{Value, json};
use tokio::{task::JoinHandle, time::sleep};

use super::{
    oracle::Expected,
    scenario::{
        BEGIN, CREATED, END, Lasts, NAMESPACES, QUARTER, Second, TimerDay, TimerStep, TimerWorkload,
    },
};
use crate::harness::day::{cluster_at, deployment, on_paused_time, start_controller};

/// The result of a day.
pub(super) struct DayResult {
    pub(super) failure: Option<String>,
    pub(super) trace: Vec<String>,
    /// The number of stops by timers.
    pub(super) stops: usize,
}

const MIDNIGHT: &str = "2026-11-23T00:00:00Z";
/// The maximum time of each action of the controller.
const SOON: Second = 5;
/// The checks in each quarter of an hour: before and after each time at which something can happen by itself.
const CHECKS: [Second; 7] = [60, 110, 170, 240, 290, 360, 800];

pub(super) fn run(day: &TimerDay) -> DayResult {
    on_paused_time(async {
        let mut world = World::of(day);
        let end = world.pass().await;
        DayResult {
            failure: end.err(),
            trace: world.trace,
            stops: world.expected.iter().map(|it| it.stops).sum(),
        }
    })
}

struct World<'d> {
    day: &'d TimerDay,
    clock: Clock,
    midnight: DateTime<Utc>,
    api: Api,
    controller: Option<JoinHandle<()>>,
    of_team: [Option<Lasts>; 2],
    expected: Vec<Expected>,
    /// Up to when the oracle has applied what happens by itself.
    now: Second,
    trace: Vec<String>,
}

impl<'d> World<'d> {
    /// The cluster at the creation of its workloads.
    fn of(day: &'d TimerDay) -> Self {
        let midnight: DateTime<Utc> = MIDNIGHT.parse().unwrap();
        let (clock, api) = cluster_at(midnight + TimeDelta::seconds(CREATED), &NAMESPACES);
        api.serve_custom("", "v1", "configmaps", "ConfigMap");
        for (number, name) in NAMESPACES.into_iter().enumerate() {
            let of_namespace = day.of_namespace[number];
            let annotations = json!({"dayshift/stop-after": of_namespace.map(|it| it.text)});
            let patch = json!({"metadata": {"annotations": annotations}});
            api.merge("Namespace", "", name, &patch).unwrap();
            api.create(json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"namespace": name, "name": "dayshift"},
                "data": day.of_team[number].map_or(json!({}), |it| json!({"stop-after": it.text})),
            }))
            .unwrap();
        }
        for workload in &day.workloads {
            api.create(manifest(workload)).unwrap();
        }
        let mut world = Self {
            day,
            clock,
            midnight,
            api,
            controller: None,
            of_team: day.of_team,
            expected: Vec::new(),
            now: BEGIN,
            trace: Vec::new(),
        };
        let expected = day.workloads.iter();
        let expected = expected.map(|it| Expected::adopted(it, world.lasts(it), BEGIN));
        world.expected = expected.collect();
        world
    }

    /// The `stop-after` in force: the workload's own, that of its team, or that of its Namespace.
    fn lasts(&self, workload: &TimerWorkload) -> Lasts {
        let inherited = self.of_team[workload.namespace];
        let inherited = inherited.or(self.day.of_namespace[workload.namespace]);
        workload.own.or(inherited).unwrap()
    }

    async fn pass(&mut self) -> Result<(), String> {
        self.sleep_until(BEGIN).await;
        self.start();
        let day = self.day;
        let mut steps = day.steps.iter().peekable();
        for quarter in BEGIN / QUARTER..END / QUARTER {
            for check in CHECKS {
                let at = quarter * QUARTER + check;
                while let Some((begins, step)) = steps.next_if(|it| it.0 < at) {
                    self.advance(*begins).await;
                    self.trace
                        .push(format!("{}: {step:?}", clock_text(*begins)));
                    self.apply(*step, *begins);
                    self.sleep_until(begins + SOON).await;
                    self.check(begins + SOON)?;
                }
                if at > BEGIN + SOON {
                    self.advance(at).await;
                    self.check(at)?;
                }
            }
        }
        Ok(())
    }

    async fn sleep_until(&self, at: Second) {
        let at = self.midnight + TimeDelta::seconds(at);
        let rest = (at - self.clock.now()).to_std().unwrap_or(Duration::ZERO);
        sleep(rest).await;
    }

    /// Waits until `to`. What happens by itself is expected only while the controller runs.
    async fn advance(&mut self, to: Second) {
        self.sleep_until(to).await;
        for expected in self
            .expected
            .iter_mut()
            .filter(|_| self.controller.is_some())
        {
            let mut now = self.now;
            while let Some(at) = expected.next_event(now).filter(|at| *at <= to) {
                expected.act(at);
                now = at;
            }
        }
        self.now = to;
    }

    fn apply(&mut self, step: TimerStep, now: Second) {
        let midnight = self.midnight;
        let time = |at: Second| {
            let at = midnight + TimeDelta::seconds(at);
            at.format("%Y-%m-%dT%H:%M:%SZ").to_string()
        };
        match step {
            TimerStep::Kill => {
                if let Some(controller) = self.controller.take() {
                    controller.abort();
                }
                return;
            }
            TimerStep::Start => self.start(),
            TimerStep::Scale(number, is_up) => {
                self.expected[number].scale(is_up);
                let patch = json!({"spec": {"replicas": self.expected[number].count}});
                self.merge(number, &patch);
            }
            TimerStep::Deploy(number) => {
                self.expected[number].deploy();
                let key = "deployment.kubernetes.io/revision";
                self.merge(
                    number,
                    &json!({
                        "metadata": {"annotations": {key: now.to_string()}},
                        "spec": {"template": {"metadata": {"annotations": {"release": now.to_string()}}}},
                    }),
                );
            }
            TimerStep::WakeUntil(number, until) => {
                self.expected[number].wake(until, now);
                self.annotate(number, "wake-until", Some(&time(until)));
            }
            TimerStep::Resume(number) => {
                self.expected[number].resume(now);
                self.annotate(number, "wake-until", None);
            }
            TimerStep::TeamLasts(namespace, lasts) => {
                self.of_team[namespace] = lasts;
                self.write_team(namespace, "stop-after", lasts.map(|it| it.text));
                for number in self.members(namespace) {
                    let lasts = self.lasts(&self.day.workloads[number]);
                    self.expected[number].edit(lasts, now);
                }
            }
            TimerStep::TeamWakeUntil(namespace, until) => {
                self.write_team(namespace, "wake-until", Some(&time(until)));
                for number in self.members(namespace) {
                    self.expected[number].wake(until, now);
                }
            }
            TimerStep::TeamResume(namespace) => {
                self.write_team(namespace, "wake-until", None);
                for number in self.members(namespace) {
                    self.expected[number].resume(now);
                }
            }
        }
        if self.controller.is_some() {
            for expected in &mut self.expected {
                expected.act(now);
            }
        }
    }

    /// The indexes of the workloads in a namespace.
    fn members(&self, namespace: usize) -> Vec<usize> {
        let workloads = self.day.workloads.iter().enumerate();
        let members = workloads.filter(|(_, it)| it.namespace == namespace);
        members.map(|(number, _)| number).collect()
    }

    fn check(&self, now: Second) -> Result<(), String> {
        for (workload, expected) in self.day.workloads.iter().zip(&self.expected) {
            let object = self.get(workload);
            let at = clock_text(now);
            let name = &workload.name;
            let count = &object["spec"]["replicas"];
            let labels = &object["metadata"]["labels"];
            if *count != expected.count {
                return Err(format!("{at}: {name} has {count}: {expected:?}, {labels}"));
            }
            let next = expected
                .next(now)
                .map(|at| self.midnight + TimeDelta::seconds(at));
            let next = next.map_or("never".to_owned(), |at| {
                at.format("%Y-%m-%dT%H.%M.%SZ").to_string()
            });
            if self.controller.is_some() && labels["dayshift/next"] != *next {
                return Err(format!(
                    "{at}: {name} is not due at {next}: {expected:?}, {labels}"
                ));
            }
        }
        Ok(())
    }

    fn get(&self, workload: &TimerWorkload) -> Value {
        let namespace = NAMESPACES[workload.namespace];
        self.api
            .get("Deployment", namespace, &workload.name)
            .unwrap()
    }

    fn merge(&self, number: usize, patch: &Value) {
        let workload = &self.day.workloads[number];
        let namespace = NAMESPACES[workload.namespace];
        let merged = self
            .api
            .merge("Deployment", namespace, &workload.name, patch);
        merged.unwrap();
    }

    fn annotate(&self, number: usize, key: &str, text: Option<&str>) {
        let key = format!("dayshift/{key}");
        self.merge(number, &json!({"metadata": {"annotations": {key: text}}}));
    }

    fn write_team(&self, namespace: usize, key: &str, text: Option<&str>) {
        let patch = json!({"data": {key: text}});
        let name = NAMESPACES[namespace];
        let merged = self.api.merge("ConfigMap", name, "dayshift", &patch);
        merged.unwrap();
    }

    fn start(&mut self) {
        let settings = Settings {
            scope: Scope {
                kinds: vec![Kind::DEPLOYMENT],
                team_defaults: true,
                ..Scope::default()
            },
            seed: self.day.seed,
            ..Settings::default()
        };
        self.controller = Some(start_controller(&self.api, &self.clock, settings));
    }
}

/// For example `Mon 14:10:07`.
fn clock_text(at: Second) -> String {
    let day = ["Mon", "Tue"][usize::from(at >= 24 * 3600)];
    let (hour, minute, second) = (at / 3600 % 24, at / 60 % 60, at % 60);
    format!("{day} {hour:02}:{minute:02}:{second:02}")
}

fn manifest(workload: &TimerWorkload) -> Value {
    let mut annotations = json!({
        "dayshift/replicas": workload.replicas.to_string(),
        "deployment.kubernetes.io/revision": "1",
    });
    if workload.has_hours {
        annotations["dayshift/hours"] = json!("09:00-19:00");
    }
    if let Some(own) = workload.own {
        annotations["dayshift/stop-after"] = json!(own.text);
    }
    let place = (NAMESPACES[workload.namespace], &*workload.name);
    deployment(place, workload.replicas, &annotations)
}
