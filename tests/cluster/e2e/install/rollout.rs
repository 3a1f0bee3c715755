//! docs/production/rollout.md, line by line: from 50 namespaces without dayshift to a first wave,
//! and back.

use std::collections::BTreeMap;
use std::path::PathBuf;

use chrono::{TimeDelta, Utc};
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Api, ListParams};
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::rows::words;
use crate::support::{
    ControlPlane, Dayshift, Parts, Scenario, block_on, deployment, scenarios, stateful_set,
    wait_until,
};

pub(super) fn scenarios() -> Vec<Scenario> {
    scenarios![Parts::Server; fifty_namespaces_roll_out_a_first_wave_and_roll_back]
}

const PAGE: &str = include_str!("../../../../docs/production/rollout.md");
const HOURS: &str = "Mon-Fri 08:00-19:00";

/// The code blocks of the page in this language, by heading.
fn blocks(language: &str) -> BTreeMap<String, Vec<String>> {
    let mut blocks: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut heading, mut is_in, mut indent) = ("", false, 0);
    for line in PAGE.lines() {
        if let Some(text) = line.strip_prefix("## ") {
            heading = text;
        } else if let Some(text) = line.trim_start().strip_prefix("```") {
            is_in = text == language;
            indent = line.len() - line.trim_start().len();
        } else if is_in {
            let lines = blocks.entry(heading.to_owned()).or_default();
            lines.push(line[indent..].to_owned());
        }
    }
    blocks
}

/// The namespaces of the scenario: the first 45 belong to `dev` and `test`, the last 5 to `prod`.
struct Teams<'a> {
    plane: &'a ControlPlane,
    prefix: String,
    hours: String,
    values: NamedTempFile,
}

impl<'a> Teams<'a> {
    fn new(plane: &'a ControlPlane) -> Self {
        // It is outside of these hours now, whenever the test runs.
        let hour = |hours| (Utc::now() + TimeDelta::hours(hours)).format("%H:00");
        let teams = Self {
            plane,
            prefix: plane.unused_name("team"),
            hours: format!("{}-{}", hour(4), hour(6)),
            values: NamedTempFile::new().unwrap(),
        };
        let mut all = Vec::new();
        for number in 1..=50 {
            let name = teams.name(number);
            let env = match number {
                46.. => "prod",
                _ if number % 2 == 0 => "test",
                _ => "dev",
            };
            let labels = json!({"env": format!("{env}-{}", teams.prefix)});
            all.push(json!({
                "apiVersion": "v1", "kind": "Namespace",
                "metadata": {"name": name, "labels": labels},
            }));
            for (workload, replicas) in [("web", 3), ("api", 2)] {
                all.push(in_namespace(&name, deployment(workload).replicas(replicas)));
            }
        }
        let mut db = in_namespace(&teams.name(4), stateful_set("db").replicas(1));
        db["spec"]["persistentVolumeClaimRetentionPolicy"] = json!({"whenScaled": "Delete"});
        let mut pg = in_namespace(&teams.name(5), stateful_set("pg").replicas(1));
        pg["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "postgres-operator.crunchydata.com/v1beta1", "kind": "PostgresCluster",
            "name": "pg", "uid": "1-2-3", "controller": true,
        }]);
        all.extend([db, pg]);
        teams.apply("kubectl", &all);
        let synced = in_namespace(&teams.name(6), deployment("synced").replicas(4));
        teams.apply("argocd-controller", &[synced]);
        let hpa = json!({
            "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "web", "namespace": teams.name(7)},
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                "maxReplicas": 9,
            },
        });
        teams.apply("kubectl", &[hpa]);
        let values = blocks("yaml")["Install a dry run"].join("\n");
        std::fs::write(teams.values.path(), teams.here(&values)).unwrap();
        teams
    }

    fn name(&self, number: usize) -> String {
        format!("{}-{number:02}", self.prefix)
    }

    fn apply(&self, manager: &str, objects: &[Value]) {
        let file = NamedTempFile::new().unwrap();
        let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
        std::fs::write(file.path(), list.to_string()).unwrap();
        let path = file.path().to_str().unwrap();
        let manager = format!("--field-manager={manager}");
        let create = ["create", &manager, "-f", path];
        self.plane.kubectl(&create).success();
    }

    /// Text of the page with the names and hours of this scenario, because other scenarios share
    /// the control plane.
    fn here(&self, text: &str) -> String {
        let prefix = &self.prefix;
        let mut text = text.to_owned();
        for (from, to) in [
            ("team-", &*format!("{prefix}-")),
            ("(dev,test)", &format!("(dev-{prefix},test-{prefix})")),
            ("dayshift-wave", &format!("wave-{prefix}")),
            ("dayshift charts", &format!("{prefix} charts")),
            ("uninstall dayshift", &format!("uninstall {prefix}")),
            (
                "-n dayshift --create-namespace",
                &format!("-n {}", self.name(50)),
            ),
            ("-n dayshift", &format!("-n {}", self.name(50))),
            ("values.yaml", self.values.path().to_str().unwrap()),
            (HOURS, &self.hours),
            ("Europe/Berlin", "UTC"),
            ("restore -A", &format!("restore --all -n {}", self.name(1))),
            ("userRoles: true", "userRoles: false"),
        ] {
            text = text.replace(from, to);
        }
        text
    }

    /// Runs the lines under a heading; returns their outputs.
    fn run(&self, heading: &str) -> Vec<String> {
        let lines = &blocks("sh")[heading];
        let run = |line: &String| {
            let line = self.here(line);
            match line.strip_prefix("helm ") {
                Some(helm) => {
                    let arguments = words(helm);
                    self.plane.helm(4, &arguments).success()
                }
                // The commands exit with 1 if there are problems: one workload is rejected here, and other
                // scenarios have problems.
                None if line.contains(" -A") => self.plane.shell(&line).stdout,
                None => self.plane.shell(&line).success(),
            }
        };
        lines.iter().map(run).collect()
    }

    /// The program with the arguments of the chart's pod.
    fn controller(&self) -> Dayshift {
        let path = "jsonpath={.items[0].spec.template.spec.containers[0].args}";
        let get = [
            "get",
            "deploy",
            "-n",
            &self.name(50),
            "-l",
            "app.kubernetes.io/name=dayshift",
        ];
        let found = self.plane.kubectl(&[&get[..], &["-o", path]].concat());
        let arguments: Vec<String> = serde_json::from_str(&found.success()).unwrap();
        let ours = arguments.iter().filter(|it| !it.starts_with("--pod-"));
        let mut dayshift = Dayshift::run(self.plane, &ours.map(String::as_str).collect::<Vec<_>>());
        dayshift.wait_ready();
        dayshift
    }

    /// A member of a team, with only the permissions that `userRoles` adds to `edit`.
    fn member(&self, number: usize) -> PathBuf {
        let (plane, team) = (self.plane, self.name(number));
        plane.apply_file("manifests/users/roles.yaml");
        let here = ["-n", &team];
        let account = ["create", "serviceaccount", "member"];
        plane.kubectl(&[&account[..], &here].concat()).success();
        let subject = format!("--serviceaccount={team}:member");
        let bind = [
            "create",
            "rolebinding",
            "member",
            "--clusterrole=dayshift-user",
            &subject,
        ];
        plane.kubectl(&[&bind[..], &here].concat()).success();
        let member = plane.kubeconfig_of(&team, "member");
        wait_until("the API server knows the new group member", || {
            plane.can((&team, "member"), "patch", "deployments.apps", &team)
        });
        member
    }

    /// The state of `web`; empty if no controller has observed it.
    fn state(&self, number: usize) -> String {
        let namespace = self.name(number);
        let web = format!("/apis/apps/v1/namespaces/{namespace}/deployments/web");
        let web = self.plane.read(&web).unwrap();
        let state = web["metadata"]["labels"]["dayshift/state"].as_str();
        state.unwrap_or_default().to_owned()
    }

    fn await_state(&self, number: usize, state: &str) {
        wait_until(&format!("web of team {number} is {state}"), || {
            self.state(number) == state
        });
    }

    /// The counts of the Deployments of each namespace, ordered by name.
    fn counts(&self) -> BTreeMap<String, Vec<String>> {
        let all: Api<Deployment> = Api::all(self.plane.client().clone());
        let all = block_on(all.list(&ListParams::default())).unwrap();
        let mut counts: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for deployment in all {
            let namespace = deployment.metadata.namespace.unwrap();
            let count = deployment.spec.unwrap().replicas.unwrap();
            counts.entry(namespace).or_default().push(count.to_string());
        }
        counts
    }

    /// The row of a namespace in a summary, without the day and time of its next stop.
    fn row(&self, summary: &str, name: &str) -> String {
        let row = summary
            .lines()
            .find(|it| it.starts_with(&format!("{name} ")));
        let row = row.unwrap_or_else(|| panic!("no {name} in {summary}"));
        let columns: Vec<_> = row
            .split("   ")
            .map(str::trim)
            .filter(|it| !it.is_empty())
            .collect();
        let [_, scheduled, _, counts @ ..] = &columns[..] else {
            panic!("{row}");
        };
        format!("{scheduled} | {}", counts.join(" "))
    }
}

fn in_namespace(namespace: &str, workload: impl Into<Value>) -> Value {
    let mut workload = workload.into();
    workload["metadata"]["namespace"] = json!(namespace);
    workload
}

fn fifty_namespaces_roll_out_a_first_wave_and_roll_back(plane: &ControlPlane) {
    let teams = Teams::new(plane);
    let [summary] = &teams.run("Preview the effect")[..] else {
        panic!("the summary is not a single line");
    };
    // SCHEDULED | STOPS REPLICAS AUTOSCALED SET-BY-OTHERS OPERATED LOSE-VOLUMES REJECTED
    for (number, expected) in [
        (1, "2 of 2 | 2 5 0 0 0 0 0"),
        (4, "3 of 3 | 2 5 0 0 0 1 1"),
        (5, "3 of 3 | 3 6 0 0 1 0 0"),
        (6, "3 of 3 | 3 9 0 1 0 0 0"),
        (7, "2 of 2 | 2 5 1 0 0 0 0"),
        (45, "2 of 2 | 2 5 0 0 0 0 0"),
    ] {
        assert_eq!(
            teams.row(summary, &teams.name(number)),
            expected,
            "{summary}"
        );
    }
    let all = "93 of 93 | 92 230 1 1 1 1 1";
    assert_eq!(teams.row(summary, "(all)"), all, "{summary}");
    assert_lacks!(summary, teams.name(46));
    for message in [
        "Argo CD sets the count of 1 workload too",
        "PostgresCluster",
    ] {
        assert_contains!(summary, message);
    }

    teams.run("Write exceptions");
    teams.run("Install a dry run");
    let mut dry = teams.controller();
    assert!(dry.stop().success());

    let wave = teams.run("Start the first wave");
    // `api` in the first namespace is excluded; the second namespace has its own hours.
    assert_eq!(
        teams.row(&wave[1], &teams.name(1)),
        "1 of 2 | 1 3 0 0 0 0 0"
    );
    assert_eq!(teams.row(&wave[1], "(all)"), "3 of 4 | 3 8 0 0 0 0 0");
    let mut dayshift = teams.controller();
    teams.await_state(1, "adopted");

    teams.run("Try one namespace now");
    teams.await_state(1, "woken");
    let events = format!("/api/v1/namespaces/{}/events", teams.name(1));
    wait_until("the stop and the start have Events", || {
        let events = plane.read(&events).unwrap().to_string();
        ["Slept", "Woken"]
            .iter()
            .all(|it| events.contains(&format!("\"{it}\"")))
    });
    assert_eq!(teams.counts()[&teams.name(1)], ["2", "3"]);
    assert!(
        teams.state(9).is_empty(),
        "namespace 9 does not belong to the first wave"
    );

    let member = teams.member(1);
    for line in &blocks("sh")["Inform the teams"] {
        let line = teams.here(line);
        let line = format!("KUBECONFIG={} {line}", member.display());
        plane.shell(&line).success();
    }
    teams.await_state(1, "paused");
    let resume = format!("dayshift resume --all -n {}", teams.name(1));
    plane.shell(&resume).success();

    teams.run("Report the savings");
    teams.run("Start the next waves");
    teams.await_state(9, "adopted");
    teams.await_state(45, "adopted");
    assert!(teams.state(3).is_empty(), "excluded");

    for number in [1, 2] {
        let sleep = format!("dayshift sleep --all -n {} --for 1h", teams.name(number));
        plane.shell(&sleep).success();
        teams.await_state(number, "slept");
    }
    assert_eq!(teams.counts()[&teams.name(1)], ["2", "0"]);
    teams.run("Remove one namespace");
    assert_eq!(teams.counts()[&teams.name(2)], ["2", "3"]);
    assert!(dayshift.stop().success());
    teams.run("Remove everything");
    for number in 1..=50 {
        let expected: &[&str] = if number == 6 {
            &["2", "4", "3"]
        } else {
            &["2", "3"]
        };
        assert_eq!(
            teams.counts()[&teams.name(number)][..expected.len()],
            *expected,
            "{number}"
        );
        assert!(number < 46 || teams.state(number).is_empty(), "{number}");
    }
}
