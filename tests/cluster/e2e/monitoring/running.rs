//! Each alert fires in a scenario of a running controller, evaluated on its scraped series.
//!
//! The controller runs on paused time against the API in memory and is scraped every 15 s. promtool
//! evaluates the alerts of the chart on these series.

use std::{collections::BTreeMap, fs, time::Duration};

use dayshift::cli::{CalendarFile, CalendarWatch, NamedScheduleFile, ScheduleWatch};
use dayshift_controller::{CalendarFeed, ScheduleFeed, Settings};
use dayshift_schedule::Calendars;
use dayshift_workload::{NamedSchedules, ParseContext};
use kube_in_memory::{Fault, Status, Writer};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    ALERTS, promtool,
    sandbox::{Sandbox, deployment},
};

const INTERVAL: Duration = Duration::from_secs(15);
const OFFICE: &str = "Mon-Fri 09:00-19:00";

/// The scrapes of one controller.
struct Scrapes {
    name: &'static str,
    scenario: Sandbox,
    /// The values of each series, as promtool reads them: `_` for a missing one.
    series: BTreeMap<String, Vec<String>>,
    count: usize,
    /// The expected alerts by time, each with its number of series.
    checks: Vec<Value>,
    expected: Vec<&'static str>,
}

impl Scrapes {
    fn of(name: &'static str, scenario: Sandbox) -> Self {
        Self {
            name,
            scenario,
            series: BTreeMap::new(),
            count: 0,
            checks: Vec::new(),
            expected: Vec::new(),
        }
    }

    /// An office workload in a cluster on a Friday at six in the evening.
    fn in_the_evening(name: &'static str) -> Self {
        Self::in_the_evening_with(name, 0)
    }

    /// An office workload with this seed of the random backoff.
    fn in_the_evening_with(name: &'static str, seed: u64) -> Self {
        let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
        scenario.start_controller(Settings {
            seed,
            ..Settings::default()
        });
        scenario.apply(deployment("web").replicas(3).hours(OFFICE));
        Self::of(name, scenario)
    }

    fn minutes(&mut self, minutes: u64) {
        for _ in 0..minutes * 60 / INTERVAL.as_secs() {
            self.scenario.pass(INTERVAL);
            let metrics = self.scenario.metrics();
            let samples = metrics.lines().filter(|line| !line.starts_with('#'));
            for (series, value) in samples.filter_map(|line| line.rsplit_once(' ')) {
                let values = self.series.entry(of_pod(series)).or_default();
                values.resize(self.count, "_".to_owned());
                values.push(value.to_owned());
            }
            self.count += 1;
        }
    }

    /// Advances time while no pod exists.
    fn minutes_without_a_pod(&mut self, minutes: u64) {
        for values in self.series.values_mut() {
            values.push("stale".to_owned());
        }
        self.count += usize::try_from(minutes * 60 / INTERVAL.as_secs()).unwrap();
    }

    /// Asserts that exactly these alerts fire now, with these numbers of series.
    fn fires(&mut self, alerts: &[(&'static str, u32)]) {
        let samples = alerts.iter().map(|(alert, count)| {
            json!({"labels": format!("{{alertname=\"{alert}\"}}"), "value": count})
        });
        let seconds = self.count.saturating_sub(1) as u64 * INTERVAL.as_secs();
        self.checks.push(json!({
            "expr": "count by (alertname) (ALERTS{alertstate=\"firing\"})",
            "eval_time": format!("{seconds}s"),
            "exp_samples": samples.collect::<Vec<_>>(),
        }));
        self.expected.extend(alerts.iter().map(|(alert, _)| alert));
    }

    /// The test in promtool's format.
    fn test(&self) -> Value {
        let series = self.series.iter();
        let series =
            series.map(|(name, values)| json!({"series": name, "values": values.join(" ")}));
        json!({
            "name": self.name,
            "interval": format!("{}s", INTERVAL.as_secs()),
            "input_series": series.collect::<Vec<_>>(),
            "promql_expr_test": self.checks,
        })
    }
}

/// A series with the labels that the PodMonitor adds, which keeps the metric's own `namespace`.
fn of_pod(series: &str) -> String {
    let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
    let comma = if labels == "}" { "" } else { "," };
    let pods = if labels.starts_with("namespace=") {
        ""
    } else {
        "namespace=\"dayshift\","
    };
    format!("{name}{{{pods}pod=\"dayshift-0\"{comma}{labels}")
}

/// From now on every patch request has this fault.
fn patches_are(scenario: &Sandbox, fault: Fault) {
    let answer = move |verb: &str| (verb == "patch").then(|| fault.clone());
    scenario.api.on_request(move |line| answer(line.verb));
}

fn weekend_and_monday() -> Scrapes {
    let mut run = Scrapes::in_the_evening("all is well");
    for _ in 0..4 {
        run.minutes(30);
        run.fires(&[]);
    }
    run.scenario.sleep_until("2026-11-23 08:30");
    run.minutes(60);
    run.fires(&[]);
    run
}

fn missing_pod() -> Scrapes {
    let mut run = Scrapes::in_the_evening("the pod is gone");
    run.minutes(5);
    run.minutes_without_a_pod(9);
    run.fires(&[]);
    run.minutes_without_a_pod(3);
    run.fires(&[("DayshiftAbsent", 1)]);
    run
}

/// A policy that denies patches: they are retried at intervals of up to ten minutes, and the alert fires all
/// the time. With this seed, two attempts follow more than 600 s after the previous ones.
fn an_admission_policy() -> Scrapes {
    let mut run = Scrapes::in_the_evening_with("an admission policy denies the stop", 21);
    run.minutes(59);
    let denied = Status::denied_by_policy("apps", "deployments", "web", "nights", "not tonight");
    let denies = Fault::AnswerAfter(Duration::from_secs(9), denied);
    patches_are(&run.scenario, denies);
    run.minutes(5);
    run.fires(&[]);
    run.minutes(3);
    run.fires(&[("DayshiftOverdue", 1)]);
    run.minutes(20);
    for _ in 0..60 {
        run.fires(&[("DayshiftOverdue", 1), ("DayshiftScaleFailing", 1)]);
        run.minutes(5);
    }
    run.scenario.api.clear_fault();
    run.minutes(40);
    // The stop was hours late, which the alert on lateness reports for an hour.
    run.fires(&[("DayshiftLate", 1)]);
    run.minutes(60);
    run.fires(&[]);
    run
}

fn missing_permission() -> Scrapes {
    let mut run = Scrapes::in_the_evening("the permission to patch is missing");
    run.minutes(59);
    patches_are(
        &run.scenario,
        Fault::Answer(Status::forbidden("apps", "deployments", "web", "no")),
    );
    run.minutes(25);
    run.fires(&[("DayshiftOverdue", 1), ("DayshiftScaleFailing", 1)]);
    run
}

fn rejected_schedules() -> Scrapes {
    let mut run = Scrapes::in_the_evening("a schedule and a Namespace are refused");
    run.scenario.annotate("web", "hours", Some("whenever"));
    run.scenario.api.namespace("test");
    let key = "dayshift/hours";
    let api = &run.scenario.api;
    api.annotate_of("Namespace", "", "test", key, Some("always"))
        .unwrap();
    run.minutes(14);
    run.fires(&[]);
    run.minutes(3);
    run.fires(&[
        ("DayshiftInvalidNamespaces", 1),
        ("DayshiftInvalidSchedules", 1),
    ]);
    run
}

fn stopped_copy_within_its_hours() -> Scrapes {
    let mut run = Scrapes::in_the_evening("a copy stays down in running hours");
    run.scenario.sleep_until("2026-11-21 12:00");
    let mut copy = run.scenario.object("web");
    run.scenario.sleep_until("2026-11-23 10:00");
    copy["metadata"] = json!({
        "name": "copy", "namespace": "dev",
        "labels": copy["metadata"]["labels"], "annotations": copy["metadata"]["annotations"],
    });
    run.scenario.api.create(copy).unwrap();
    run.minutes(14);
    run.fires(&[]);
    run.minutes(3);
    run.fires(&[("DayshiftHeldDown", 1)]);
    run
}

/// A quota prevents all three replicas that dayshift started.
fn start_blocked_by_a_quota() -> Scrapes {
    let mut run = Scrapes::in_the_evening("what was started is not ready");
    run.scenario.sleep_until("2026-11-23 09:00:01");
    let ready = |run: &Scrapes, ready: u32| {
        let generation = run.scenario.object("web")["metadata"]["generation"].clone();
        let status = json!({"observedGeneration": generation, "readyReplicas": ready});
        let set = run
            .scenario
            .api
            .set_status("Deployment", "dev", "web", status);
        set.unwrap();
    };
    ready(&run, 0);
    run.minutes(14);
    run.fires(&[]);
    run.minutes(3);
    run.fires(&[("DayshiftNotReady", 1)]);
    ready(&run, 3);
    run.minutes(2);
    run.fires(&[]);
    run
}

fn forbidden_kind() -> Scrapes {
    let mut run = Scrapes::in_the_evening("a kind may not be watched");
    run.scenario.api.on_request(|line| {
        let no = || Fault::Answer(Status::new(403, "Forbidden", "no"));
        (line.resource == "statefulsets").then(no)
    });
    run.scenario.api.close_watches();
    run.minutes(9);
    run.fires(&[]);
    run.minutes(3);
    run.fires(&[("DayshiftNotWatching", 1)]);
    run
}

fn wrong_clock() -> Scrapes {
    let mut run = Scrapes::in_the_evening("the clock is wrong");
    run.scenario.server_is_ahead(90);
    run.minutes(3);
    run.fires(&[]);
    run.minutes(10);
    run.fires(&[("DayshiftWrongClock", 1)]);
    run
}

fn reverted_counts() -> Scrapes {
    let mut run = Scrapes::in_the_evening("Argo CD sets a count back");
    run.minutes(61);
    run.fires(&[]);
    let (api, patch) = (&run.scenario.api, json!({"spec": {"replicas": 3}}));
    let argo_cd = Writer::new("argocd-controller");
    api.merge_by(argo_cd, "Deployment", "dev", "web", &patch)
        .unwrap();
    run.minutes(2);
    run.fires(&[("DayshiftReverted", 1)]);
    run
}

fn busy_server() -> Scrapes {
    let mut run = Scrapes::in_the_evening("the API server is too busy for four minutes");
    run.minutes(59);
    patches_are(&run.scenario, Fault::Answer(Status::too_many_requests(1)));
    run.minutes(5);
    run.scenario.api.clear_fault();
    run.minutes(10);
    run.fires(&[("DayshiftLate", 1)]);
    run
}

fn a_calendar(name: &'static str, broken: bool) -> Scrapes {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("de.ics");
    // promtool's clock begins at 1970.
    let last = if broken {
        "DTSTART:19800101"
    } else {
        "DTSTART:19700120"
    };
    let text = format!("BEGIN:VCALENDAR\nBEGIN:VEVENT\n{last}\nEND:VEVENT\nEND:VCALENDAR");
    fs::write(&path, text).unwrap();
    let file = CalendarFile::parse(&format!("de={}", path.display())).unwrap();
    let mut scenario = Sandbox::empty_at("1970-01-01 00:00 UTC");
    let (publisher, calendars) = CalendarFeed::open(Calendars::default());
    scenario.start_controller(Settings {
        calendars,
        ..Settings::default()
    });
    let (clock, telemetry) = (scenario.clock.clone(), scenario.telemetry.clone());
    scenario.spawn(async move {
        let watch = CalendarWatch::new(vec![file]);
        watch.run(&clock, &publisher, &telemetry).await;
    });
    let mut run = Scrapes::of(name, scenario);
    run.minutes(2);
    if broken {
        fs::write(&path, "<html>").unwrap();
    }
    run.minutes(12);
    run.fires(&[]);
    run.minutes(if broken { 5 } else { 55 });
    let alert = if broken {
        "DayshiftCalendarUnreadable"
    } else {
        "DayshiftCalendarEnds"
    };
    run.fires(&[(alert, 1)]);
    run
}

/// The file of named schedules becomes invalid, and is corrected later.
fn unreadable_schedules() -> Scrapes {
    let file = tempfile::NamedTempFile::new().unwrap();
    let valid = "office: {hours: 09:00-19:00}";
    fs::write(file.path(), valid).unwrap();
    let named = NamedScheduleFile::parse(&file.path().display().to_string()).unwrap();
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    let (publisher, schedules) = ScheduleFeed::open(NamedSchedules::default());
    scenario.start_controller(Settings {
        schedules,
        ..Settings::default()
    });
    let (clock, telemetry) = (scenario.clock.clone(), scenario.telemetry.clone());
    scenario.spawn(async move {
        let watch = ScheduleWatch::new(Some(named), ParseContext::default());
        watch.run(&clock, &publisher, &telemetry).await;
    });
    let mut run = Scrapes::of("the file of named schedules cannot be read", scenario);
    run.minutes(2);
    fs::write(file.path(), "- office").unwrap();
    run.minutes(12);
    run.fires(&[]);
    run.minutes(5);
    run.fires(&[("DayshiftSchedulesUnreadable", 1)]);
    fs::write(file.path(), valid).unwrap();
    run.minutes(2);
    run.fires(&[]);
    run
}

/// Fifteen minutes before the stop of its namespace; another namespace gets no notice.
fn announced_stop() -> Scrapes {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:30 UTC");
    scenario.start_controller(Settings {
        per_namespace_metrics: true,
        ..Settings::default()
    });
    scenario.api.namespace("test");
    scenario.apply(deployment("web").replicas(3).hours(OFFICE));
    let reported = deployment("web").namespace("test").replicas(3);
    scenario.apply(reported.hours(OFFICE).annotation("dayshift/notice", "15m"));
    let mut run = Scrapes::of("a stop is announced in its namespace", scenario);
    run.minutes(14);
    run.fires(&[]);
    run.minutes(2);
    run.fires(&[("DayshiftStopsSoon", 1)]);
    run.minutes(5);
    run.fires(&[]);
    run
}

pub(super) fn each_alert_fires_in_a_scenario_of_a_running_controller() {
    let runs = [
        weekend_and_monday(),
        missing_pod(),
        an_admission_policy(),
        missing_permission(),
        rejected_schedules(),
        stopped_copy_within_its_hours(),
        start_blocked_by_a_quota(),
        forbidden_kind(),
        wrong_clock(),
        reverted_counts(),
        busy_server(),
        announced_stop(),
        unreadable_schedules(),
        a_calendar("a calendar ends", false),
        a_calendar("a calendar cannot be read", true),
    ];
    let rules = fs::read_to_string(ALERTS).unwrap();
    for alert in rules
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- alert: "))
    {
        let fires = runs.iter().any(|run| run.expected.contains(&alert));
        assert!(fires, "{alert} fires in no scenario");
    }
    let rules = fs::canonicalize(ALERTS).unwrap();
    let tests: Vec<_> = runs.iter().map(Scrapes::test).collect();
    let file = json!({"rule_files": [rules], "evaluation_interval": "30s", "tests": tests});
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("tests.yaml");
    fs::write(&path, file.to_string()).unwrap();
    promtool(&["test", "rules", path.to_str().unwrap()], "");
}
