//! The real kube-green 0.7.1: the migration from it, as `docs/guides/migrate.md` describes it, and the effect
//! of a SleepInfo that was not deleted. See `tests/kube-green`.

use chrono::Timelike;
use serde_json::{Value, json};

use crate::e2e::kinds::{SAVED, STATE, await_field, field};
use crate::e2e::moving::{Finding, findings, minute};
use crate::e2e::test_namespace::TestNamespace;
use crate::rows::words;
use crate::support::{
    ControlPlane, DeploymentBuilder, Operator, Parts, Scenario, Soon, deployment, eventually,
    scenarios, soon,
};

pub(super) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Server;
        dayshift_starts_converted_kube_green_workloads_at_their_counts,
    ]
}

/// The Deployments with their counts while awake, and whether kube-green puts them to sleep.
const DEPLOYMENTS: [(&str, i32, bool); 3] =
    [("web", 3, true), ("off", 0, false), ("gateway", 2, false)];

/// A Namespace with a SleepInfo of the same name, whose hours are these minutes of each hour.
struct Sleeper<'p> {
    team: TestNamespace<'p>,
}

impl<'p> Sleeper<'p> {
    fn new(plane: &'p ControlPlane, name: &str) -> Self {
        let team = TestNamespace::without_controller(plane, name);
        for (name, count, _) in DEPLOYMENTS {
            let web: DeploymentBuilder = deployment(name).replicas(count);
            team.create(web);
        }
        let db = json!({
            "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"},
            "spec": {"replicas": 5, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}},
                "template": {"metadata": {"labels": {"app": "db"}},
                    "spec": {"containers": [{"name": "db", "image": "db"}]}}},
        });
        let pod = json!({"restartPolicy": "Never", "containers": [{"name": "it", "image": "it"}]});
        let report = json!({
            "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "report"},
            "spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": {"spec": pod}}}},
        });
        for object in [db, report] {
            team.kubectl_with(&["create"], &object.to_string())
                .success();
        }
        Self { team }
    }

    fn sleep_info(&self, sleeps: &[Soon], wakes: &[Soon]) {
        let clock = |at: &[Soon]| {
            let minutes: Vec<_> = at.iter().map(|it| it.0.minute().to_string()).collect();
            format!("*:{}", minutes.join(","))
        };
        let info = json!({
            "apiVersion": "kube-green.com/v1alpha1", "kind": "SleepInfo",
            "metadata": {"name": "working-hours"},
            "spec": {
                "weekdays": "*", "sleepAt": clock(sleeps), "wakeUpAt": clock(wakes),
                "timeZone": "UTC", "suspendCronJobs": true,
                "excludeRef": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "gateway"}],
            },
        });
        self.team
            .kubectl_with(&["create"], &info.to_string())
            .success();
    }

    /// Waits until it sleeps, and kube-green has saved all counts.
    fn await_asleep(&self) {
        for (name, count, sleeps) in DEPLOYMENTS {
            let count = if sleeps { 0 } else { count };
            self.team.await_replicas(name, count);
        }
        await_field(&self.team, "sts/db", "/spec/replicas", 0);
        await_field(&self.team, "cj/report", "/spec/suspend", true);
        eventually("kube-green has saved the counts", || {
            let get = ["get", "secret", "sleepinfo-working-hours", "-o", "json"];
            let secret = self.team.kubectl(&get);
            let secret: Value = serde_json::from_str(&secret.stdout).ok()?;
            // U0xFRVA= is SLEEP.
            (secret["data"]["operation-type"] == "U0xFRVA=").then_some(())
        });
    }

    fn await_awake(&self) {
        for (name, count, _) in DEPLOYMENTS {
            self.team.await_replicas(name, count);
        }
        await_field(&self.team, "sts/db", "/spec/replicas", 5);
        await_field(&self.team, "cj/report", "/spec/suspend", false);
    }

    fn await_state(&self, state: &str) {
        for object in ["deploy/web", "sts/db", "cj/report"] {
            await_field(&self.team, object, STATE, state);
        }
    }

    /// Annotates workloads that are at 0 intentionally, as the page describes.
    fn keep_off(&self) {
        let label = ["label", "deploy/off", "dayshift/saved-replicas=0"];
        self.team.kubectl(&label).success();
    }

    /// `dayshift convert -n NAMESPACE | sh`; returns the findings.
    fn convert(&self) -> Vec<Finding> {
        let of = format!("-n {}", self.team.name());
        let message = findings(&self.team, &of);
        let line = format!("dayshift convert {of} | sh");
        self.team.plane().shell(&line).success();
        message
    }

    /// Deletes the SleepInfo, as the note of a conversion describes.
    fn delete(&self, message: &[Finding]) {
        let note = message.iter().find(|it| it.id == "delete-after").unwrap();
        self.team.plane().shell(note.deletion()).success();
    }

    fn saved(&self) -> [String; 3] {
        ["deploy/web", "sts/db", "cj/report"].map(|it| field(&self.team, it, SAVED))
    }

    /// The number of requests of kube-green for workloads since the last query.
    fn by_kube_green(&self) -> usize {
        let changes = self.team.changes_by_others();
        changes
            .iter()
            .filter(|it| it.user_agent.starts_with("kube-green/"))
            .count()
    }
}

fn dayshift_starts_converted_kube_green_workloads_at_their_counts(plane: &ControlPlane) {
    plane.apply_file("tests/cluster/e2e/moving/definitions.yaml");
    let established = words("wait --for=condition=established crd/sleepinfos.kube-green.com");
    plane.kubectl(&established).success();
    // Three cases: converted while asleep, as on the page; converted while asleep, without deleting the
    // SleepInfo; converted while awake, without deleting it.
    let [mut night, mut left, mut day] =
        ["greennight", "greenleft", "greenday"].map(|it| Sleeper::new(plane, it));
    let green = Operator::kube_green(plane);
    // kube-green considers only times that are at least a minute away.
    let (now, wake) = (soon(0), minute(110));
    let (stop, start) = (wake.plus(120), wake.plus(240));
    night.sleep_info(&[now], &[wake]);
    left.sleep_info(&[now, stop], &[wake, start]);
    day.sleep_info(&[stop], &[start]);
    for asleep in [&night, &left] {
        asleep.await_asleep();
    }
    wake.plus(-61)
        .assert_in_future("kube-green has stopped the workloads");

    // dayshift is installed, without effect; then each is converted.
    for it in [&mut night, &mut left, &mut day] {
        it.team.run(&[]);
        it.keep_off();
        assert!(it.team.requests().iter().all(|it| it.verb != "patch"));
    }
    let report = night.convert();
    assert_eq!(night.saved(), ["3", "5", "1"]);
    let until_then = night.by_kube_green();
    night.delete(&report);
    left.convert();
    assert_eq!(left.saved(), ["3", "5", "1"]);
    day.convert();
    wake.assert_in_future("all are converted");
    for asleep in [&night, &left] {
        asleep.await_asleep();
    }
    day.await_awake();

    wake.wait();
    for it in [&night, &left] {
        it.await_state("running");
        it.await_awake();
    }
    assert_eq!(night.by_kube_green(), until_then, "{}", green.log());

    // Both tools stop the workloads; the later one observes the state of the earlier one.
    stop.assert_in_future("all workloads are started");
    stop.wait();
    for it in [&left, &day] {
        it.await_state("stopped");
        it.await_asleep();
    }
    // The page recommends to convert again.
    for it in [&left, &day] {
        let report = it.convert();
        it.delete(&report);
        assert_eq!(it.saved(), ["3", "5", "1"]);
    }
    start.assert_in_future("the SleepInfos are deleted");
    green.stop();
    start.wait();
    for it in [&left, &day] {
        it.await_state("running");
        it.await_awake();
    }
    let counts = |it: &Sleeper<'_>| it.team.all_replicas();
    let before = [&night, &left, &day].map(counts);
    soon(5).wait();
    assert_eq!([&night, &left, &day].map(counts), before);
    for mut it in [night, left, day] {
        it.team.stop_controllers();
    }
}
