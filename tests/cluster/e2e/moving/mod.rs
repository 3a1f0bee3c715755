//! Migration from other tools: a namespace with the examples of each tool, in their stopped state, is
//! converted as in `docs/guides/migrate.md`, and starts in the morning at the saved counts.
//!
//! Each file of examples names its source in the documentation of the tool. Only the time is filled in: the
//! morning is the next full minute, in a zone in which it is noon at that time.

use std::sync::{Mutex, PoisonError};

use chrono::{DurationRound, TimeDelta, Timelike};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::e2e::kinds::{await_field, define, field};
use crate::e2e::test_namespace::TestNamespace;
use crate::support::{ControlPlane, Parts, Scenario, Soon, scenarios, soon};

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Server;
        workloads_stopped_by_go_kube_downscaler_start_at_their_saved_counts,
        workloads_stopped_by_py_kube_downscaler_start_at_their_saved_counts,
        workloads_stopped_by_kube_green_start_at_their_saved_counts,
        workloads_stopped_by_cron_hpa_start_at_their_saved_counts,
        workloads_stopped_by_keda_start_at_their_saved_counts,
    ]
}

/// How the objects are changed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ConversionSource {
    /// The files, which are applied afterwards.
    Files,
    /// The commands for live objects, piped into sh.
    Live,
}

/// A tool, and the results of its examples.
struct Tool {
    name: &'static str,
    manifest: &'static str,
    conversion_source: ConversionSource,
    flags: &'static str,
    /// Replacements: `NOON` is the clock of the morning, `ZONE` a zone in which it is noon.
    now: &'static [(&'static str, &'static str)],
    /// The ids of the findings. The commands exit with 0.
    rule_ids: &'static [&'static str],
    /// The next boundary of each object in the plan: its action and its count.
    planned: &'static [(&'static str, &'static str, Option<u64>)],
    /// Objects with their counts while stopped and after the start; a CronJob's is whether it is
    /// suspended.
    counts: &'static [(&'static str, &'static str, &'static str)],
}

const TOOLS: [Tool; 5] = [
    Tool {
        name: "go-kube-downscaler",
        manifest: include_str!("go_kube_downscaler.yaml"),
        conversion_source: ConversionSource::Files,
        flags: "",
        now: &[
            ("Sat-Sun 00:00-24:00 Europe/Berlin, Mon-Fri", "Mon-Sun"),
            ("20:00-08:00 Europe/Berlin", "20:00-NOON ZONE"),
        ],
        rule_ids: &["saved-count", "saved-count"],
        planned: &[("web", "start", None), ("db", "start", None)],
        counts: &[
            ("deploy/web", "0", "3"),
            ("sts/db", "1", "5"),
            ("deploy/always", "2", "2"),
        ],
    },
    Tool {
        name: "py-kube-downscaler",
        manifest: include_str!("py_kube_downscaler.yaml"),
        conversion_source: ConversionSource::Live,
        flags: "",
        now: &[
            ("Mon-Sun 07:30-18:00 CET", "Mon-Sun NOON-18:00 ZONE"),
            (
                "Mon-Fri 09:00-17:00 America/Buenos_Aires",
                "Mon-Sun NOON-17:00 ZONE",
            ),
        ],
        rule_ids: &["saved-count", "saved-count", "saved-count"],
        planned: &[
            ("web", "start", Some(4)),
            ("nginx", "start", Some(2)),
            ("report", "start", Some(1)),
        ],
        counts: &[
            ("deploy/web", "0", "4"),
            ("deploy/nginx", "1", "2"),
            ("cj/report", "true", "false"),
        ],
    },
    Tool {
        name: "kube-green",
        manifest: include_str!("kube_green.yaml"),
        conversion_source: ConversionSource::Live,
        flags: "",
        now: &[
            ("\"1-5\"", "\"*\""),
            ("08:00", "NOON"),
            ("Europe/Rome", "ZONE"),
        ],
        rule_ids: &["saved-count", "saved-count", "saved-count", "delete-after"],
        planned: &[
            ("web", "start", Some(3)),
            ("db", "start", Some(2)),
            ("report", "start", Some(1)),
        ],
        counts: &[
            ("deploy/web", "0", "3"),
            ("sts/db", "0", "2"),
            ("cj/report", "true", "false"),
            ("deploy/api-gateway", "2", "2"),
        ],
    },
    Tool {
        name: "cron-hpa",
        manifest: include_str!("cron_hpa.yaml"),
        conversion_source: ConversionSource::Files,
        flags: "--default-timezone UTC",
        now: &[],
        rule_ids: &["delete-after"],
        planned: &[],
        counts: &[("deploy/nginx-deployment-basic", "2", "3")],
    },
    Tool {
        name: "keda",
        manifest: include_str!("keda.yaml"),
        conversion_source: ConversionSource::Live,
        flags: "",
        now: &[("0 6 * * *", "CRON"), ("Asia/Kolkata", "ZONE")],
        rule_ids: &["delete-after"],
        planned: &[("my-deployment", "start", Some(10))],
        counts: &[("deploy/my-deployment", "0", "10")],
    },
];

/// The next full minute that is at least this many seconds away.
pub(crate) fn minute(seconds: i64) -> Soon {
    let at = soon(seconds).0 + TimeDelta::seconds(59);
    Soon(at.duration_trunc(TimeDelta::minutes(1)).unwrap())
}

/// A zone in which it is twelve o'clock and some minutes, and that clock time.
fn noon(at: Soon) -> (String, String) {
    let ahead = 12 - i64::from(at.0.hour());
    // Zones east of Greenwich have a minus sign here.
    let zone = format!("Etc/GMT{:+}", -ahead);
    (zone, format!("12:{:02}", at.0.minute()))
}

impl Tool {
    /// Runs the migration of this tool: from its stopped examples to their counts after the start.
    fn check_migration(&self, plane: &ControlPlane) {
        define_kinds(plane);
        let directory = tempfile::tempdir().unwrap();
        let morning = minute(12);
        let mut team = TestNamespace::without_controller(plane, self.name);
        // dayshift is installed first, without effect, or last.
        if self.name != "cron-hpa" {
            team.run(&[]);
        }
        let manifest = self.manifest(team.name(), morning);
        team.kubectl_with(&["apply"], &manifest).success();
        self.assert_as_before(&team, morning);
        assert!(team.requests().iter().all(|it| it.verb != "patch"));
        self.convert(&team, &directory, &manifest, morning);
        if self.name == "cron-hpa" {
            team.run(&[]);
        } else {
            self.assert_as_before(&team, morning);
        }
        morning.assert_in_future("all are converted");
        morning.wait();
        for (object, _, count) in self.counts {
            await_field(&team, object, member(object), count);
        }
        team.stop_controllers();
    }

    /// The examples of the tool in a namespace of this scenario.
    fn manifest(&self, namespace: &str, morning: Soon) -> String {
        let (zone, clock) = noon(morning);
        let cron = format!("{} 12 * * *", morning.0.minute());
        let mut text = self
            .manifest
            .replace(": team\n", &format!(": {namespace}\n"));
        for (old, new) in self.now {
            assert!(text.contains(old), "{}: {old}", self.name);
            let new = new
                .replace("NOON", &clock)
                .replace("ZONE", &zone)
                .replace("CRON", &cron);
            text = text.replace(old, &new);
        }
        text
    }

    /// Converts as the page describes, and applies the result.
    fn convert(
        &self,
        team: &TestNamespace<'_>,
        directory: &TempDir,
        manifest: &str,
        morning: Soon,
    ) {
        let shell = |line: &str| team.plane().shell(line).success();
        let old = directory.path().join(format!("{}.yaml", self.name));
        let new = old.with_extension("new.yaml");
        let (old, new) = (old.to_str().unwrap(), new.to_str().unwrap());
        std::fs::write(old, manifest).unwrap();
        let source = match self.conversion_source {
            ConversionSource::Files => old.to_owned(),
            ConversionSource::Live => format!("-n {}", team.name()),
        };
        let findings = findings(team, &format!("{source} {}", self.flags));
        let mut rule_ids: Vec<_> = findings.iter().map(|it| &*it.id).collect();
        rule_ids.sort_by_key(|it| *it == "delete-after");
        assert_eq!(rule_ids, self.rule_ids, "{}: {findings:#?}", self.name);

        let from = format!("--from {} --days 1 -o json", morning.plus(-60).until());
        let plan = match self.conversion_source {
            ConversionSource::Files => {
                shell(&format!("dayshift convert {source} {} > {new}", self.flags));
                let plan = shell(&format!("dayshift plan -f {new} {from}"));
                shell(&format!("kubectl apply -f {new}"));
                plan
            }
            ConversionSource::Live => {
                shell(&format!("dayshift convert {source} {} | sh", self.flags));
                shell(&format!("dayshift plan {source} {from}"))
            }
        };
        let plan: Value = serde_json::from_str(&plan).unwrap();
        morning.assert_in_future("the plan is checked");
        for (name, action, replicas) in self.planned {
            let mut workloads = plan["workloads"].as_array().unwrap().iter();
            let workload = workloads.find(|it| it["name"] == **name).unwrap();
            let first = &workload["boundaries"][0];
            let at = first["at"].as_str().unwrap();
            let at: chrono::DateTime<chrono::Utc> = at.parse().unwrap();
            assert_eq!(
                (at, &first["action"], &first["replicas"]),
                (morning.0, &json!(action), &json!(replicas)),
                "{}: {workload:#}",
                self.name
            );
        }
        // Only the other tool's own objects are left, and the notes explain how to delete them.
        let again = format!("dayshift convert -n {} {}", team.name(), self.flags);
        assert_eq!(shell(&again), "", "{}", self.name);
        for finding in findings {
            if finding.id == "delete-after" {
                shell(finding.deletion());
            }
        }
    }

    /// Until the morning, all objects have the counts of the other tool.
    fn assert_as_before(&self, team: &TestNamespace<'_>, morning: Soon) {
        for (object, left, _) in self.counts {
            let seen = field(team, object, member(object));
            morning.assert_in_future("all are converted");
            assert_eq!(seen, *left, "{} {object}", self.name);
        }
    }
}

/// A finding of convert.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) id: String,
    help: String,
}

impl Finding {
    /// The command in its help that deletes the other tool's object.
    pub(crate) fn deletion(&self) -> &str {
        &self.help[self.help.find("kubectl delete").unwrap()..]
    }
}

/// The findings of `dayshift convert`, one by one.
pub(crate) fn findings(team: &TestNamespace<'_>, args: &str) -> Vec<Finding> {
    let line = format!("dayshift convert --check {args} 2>&1 >/dev/null || test $? = 1");
    let printed = team.plane().shell(&line).success();
    let mut findings = Vec::new();
    for line in printed.lines() {
        if let Some((title, _)) = line.split_once("]: ")
            && let Some((_, id)) = title.split_once('[')
        {
            let (id, help) = (id.to_owned(), String::new());
            findings.push(Finding { id, help });
        } else if let (Some((_, help)), Some(last)) =
            (line.split_once("= help: "), findings.last_mut())
        {
            help.clone_into(&mut last.help);
        }
    }
    findings
}

fn member(object: &str) -> &'static str {
    if object.starts_with("cj/") {
        "/spec/suspend"
    } else {
        "/spec/replicas"
    }
}

fn workloads_stopped_by_go_kube_downscaler_start_at_their_saved_counts(plane: &ControlPlane) {
    let [tool, ..] = &TOOLS;
    tool.check_migration(plane);
}

fn workloads_stopped_by_py_kube_downscaler_start_at_their_saved_counts(plane: &ControlPlane) {
    let [_, tool, ..] = &TOOLS;
    tool.check_migration(plane);
}

fn workloads_stopped_by_kube_green_start_at_their_saved_counts(plane: &ControlPlane) {
    let [_, _, tool, ..] = &TOOLS;
    tool.check_migration(plane);
}

fn workloads_stopped_by_cron_hpa_start_at_their_saved_counts(plane: &ControlPlane) {
    let [.., tool, _] = &TOOLS;
    tool.check_migration(plane);
}

fn workloads_stopped_by_keda_start_at_their_saved_counts(plane: &ControlPlane) {
    let [.., tool] = &TOOLS;
    tool.check_migration(plane);
}

/// Defines the kinds of all other tools.
fn define_kinds(plane: &ControlPlane) {
    static DEFINED: Mutex<()> = Mutex::new(());
    let _one = DEFINED.lock().unwrap_or_else(PoisonError::into_inner);
    plane.apply_file("tests/cluster/e2e/moving/definitions.yaml");
    define(
        plane,
        "scaled_objects.yaml",
        "keda.sh/v1alpha1/scaledobjects",
    );
}
