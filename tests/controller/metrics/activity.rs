//! Metrics of transitions and their lateness.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_controller::Settings;
use kube_in_memory::{Fault, RequestLine, Status, Writer};
use serde_json::json;

use super::row::Row;
use crate::{
    jobs::{job_of, make},
    sandbox::{Sandbox, cron_job, default_with, deployment},
};

const OFFICE: &str = "Mon-Fri 09:00-19:00";

fn is_patch(line: &RequestLine) -> bool {
    line.verb == "patch"
}

/// Thursday, a minute before `web` stops, which saves 3.
fn before_the_stop() -> Sandbox {
    let scenario = Sandbox::at("2026-11-19 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours(OFFICE));
    scenario.sleep_until("18:59");
    scenario
}

pub(super) fn start_duration_ends_at_readiness(row: &mut Row) {
    let scenario = before_the_stop();
    let ready = |ready: u32| {
        let generation = scenario.object("web")["metadata"]["generation"].clone();
        let status = json!({"observedGeneration": generation, "readyReplicas": ready});
        let set = scenario.api.set_status("Deployment", "dev", "web", status);
        set.unwrap();
        scenario.settle();
    };
    let [count, sum] = [r#"_count{kind="Deployment"}"#, r#"_sum{kind="Deployment"}"#];
    ready(3);
    scenario.sleep_until("2026-11-20 09:00:10");
    ready(2);
    row.expect(&scenario, count, 0.0);
    scenario.sleep_until("09:00:42");
    ready(3);
    row.expect(&scenario, count, 1.0);
    row.expect_about(&scenario, sum, 42.0, 0.1);
    // A rollout is not a start.
    ready(1);
    ready(3);
    row.expect(&scenario, count, 1.0);
}

pub(super) fn counts_transitions_by_outcome(row: &mut Row) {
    let [done, conflict, refused, failed, dry_run] =
        ["done", "conflict", "refused", "failed", "dry_run"]
            .map(|outcome| format!(r#"{{action="stop",outcome="{outcome}"}}"#));
    let stops_once_after = |row: &mut Row, answer: Fault, outcome: &str| {
        let scenario = before_the_stop();
        row.expect_all(&scenario, []);
        scenario.api.fail_next(is_patch, answer);
        scenario.sleep_until("19:05");
        row.expect_all(&scenario, [(outcome, 1.0), (&done, 1.0)]);
    };
    let conflicts = Fault::Answer(Status::new(409, "Conflict", "it has changed"));
    stops_once_after(row, conflicts, &conflict);
    stops_once_after(row, Fault::DropBefore, &failed);
    let busy = Fault::Answer(Status::too_many_requests(1));
    stops_once_after(row, busy, &failed);
    let forbidden = Fault::Answer(Status::new(403, "Forbidden", "no"));
    stops_once_after(row, forbidden, &refused);
    let denied = Status::denied_by_policy("apps", "deployments", "web", "nights", "not tonight");
    stops_once_after(row, Fault::Answer(denied), &refused);

    // A user deletes it at that moment.
    let scenario = before_the_stop();
    scenario
        .api
        .fail_next(is_patch, Fault::Delay(Duration::from_millis(500)));
    scenario.sleep_until("19:00");
    scenario.api.delete("dev", "web").unwrap();
    scenario.sleep_until("19:05");
    row.expect_all(&scenario, [(r#"{action="stop",outcome="gone"}"#, 1.0)]);

    // A user changes it at that moment.
    let scenario = before_the_stop();
    scenario
        .api
        .fail_next(is_patch, Fault::Delay(Duration::from_millis(500)));
    scenario.sleep_until("19:00");
    scenario.scale("web", 5);
    scenario.sleep_until("19:05");
    row.expect_all(&scenario, [(&*conflict, 1.0), (&done, 1.0)]);
    assert_eq!(scenario.label("web", "saved-replicas").unwrap(), "5");

    // The other actions.
    scenario.apply(deployment("queue").annotation("dayshift/scale", "19:10 = 4; 22:00 = 0"));
    scenario.sleep_until("2026-11-20 09:01");
    let start = r#"{action="start",outcome="done"}"#;
    let scale = r#"{action="scale",outcome="done"}"#;
    let all = [(&*conflict, 1.0), (&done, 1.0), (start, 1.0), (scale, 2.0)];
    row.expect_all(&scenario, all);

    let mut dry = Sandbox::empty_at("2026-11-19 18:00 UTC");
    dry.start_with(|settings| settings.dry_run = true);
    dry.apply(deployment("web").replicas(3).hours(OFFICE));
    dry.sleep_until("19:05");
    row.expect_all(&dry, [(&*dry_run, 1.0)]);
}

/// The seconds between `begin` and the last patch of `web`.
fn late(scenario: &Sandbox, begin: DateTime<Utc>) -> f64 {
    let last = scenario.patched("web").pop().unwrap();
    (last - begin).as_seconds_f64()
}

pub(super) fn transition_lateness_is_the_time_from_boundary_to_patch(row: &mut Row) {
    let scenario = before_the_stop();
    let busy = Fault::Answer(Status::too_many_requests(3));
    scenario.api.fail_next(is_patch, busy);
    for sample in ["_count", "_sum"] {
        row.expect(&scenario, &format!("{sample}{{action=\"stop\"}}"), 0.0);
    }
    scenario.sleep_until("19:01");
    let seconds = late(&scenario, scenario.utc("2026-11-19 19:00"));
    assert!((3.0..5.0).contains(&seconds), "{seconds}");
    row.expect(&scenario, r#"_count{action="stop"}"#, 1.0);
    row.expect_about(&scenario, r#"_sum{action="stop"}"#, seconds, 0.002);
    row.expect(&scenario, r#"_bucket{action="stop",le="2.5"}"#, 0.0);
    row.expect(&scenario, r#"_bucket{action="stop",le="5.0"}"#, 1.0);

    // The end of an override is a transition too. A user request is not counted.
    scenario.sleep_until("19:30");
    scenario.annotate("web", "wake-until", Some("2026-11-19 21:00"));
    scenario.sleep_until("20:59");
    row.expect(&scenario, r#"_count{action="start"}"#, 0.0);
    row.expect(&scenario, r#"_count{action="stop"}"#, 1.0);
    scenario.sleep_until("21:01");
    row.expect(&scenario, r#"_count{action="stop"}"#, 2.0);
    row.expect_about(&scenario, r#"_sum{action="stop"}"#, seconds, 0.002);
    scenario.sleep_until("2026-11-20 09:01");
    row.expect(&scenario, r#"_count{action="start"}"#, 1.0);
    row.expect(&scenario, r#"_bucket{action="start",le="0.001"}"#, 1.0);
}

pub(super) fn request_lateness_is_the_time_from_edit_to_patch(row: &mut Row) {
    let scenario = before_the_stop();
    scenario.sleep_until("20:00");
    let busy = Fault::Answer(Status::too_many_requests(3));
    scenario.api.fail_next(is_patch, busy);
    row.expect(&scenario, r#"_count{action="start"}"#, 0.0);
    let asked = scenario.now();
    scenario.annotate("web", "wake-until", Some("2026-11-19 21:00"));
    scenario.sleep_until("20:01");
    let seconds = late(&scenario, asked);
    assert!((3.0..5.0).contains(&seconds), "{seconds}");
    row.expect(&scenario, r#"_count{action="start"}"#, 1.0);
    row.expect_about(&scenario, r#"_sum{action="start"}"#, seconds, 0.002);
    row.expect(&scenario, r#"_bucket{action="start",le="2.5"}"#, 0.0);
    row.expect(&scenario, r#"_bucket{action="start",le="5.0"}"#, 1.0);
    row.expect(&scenario, r#"_count{action="stop"}"#, 0.0);
}

pub(super) fn counts_events_by_outcome(row: &mut Row) {
    let (sent, failed, dropped) = (
        r#"{outcome="sent"}"#,
        r#"{outcome="failed"}"#,
        r#"{outcome="dropped"}"#,
    );
    let stops_while = |row: &mut Row, answer: Option<Fault>, expected| {
        let scenario = before_the_stop();
        row.expect_all(&scenario, []);
        let of_events = |line: &RequestLine| line.resource == "events";
        scenario
            .api
            .on_request(move |line| answer.clone().filter(|_| of_events(line)));
        scenario.sleep_until("19:30");
        row.expect_all(&scenario, [(expected, 1.0)]);
        let are_there = scenario.events("web").len() == 1;
        assert_eq!(are_there, expected == sent);
    };
    stops_while(row, None, sent);
    let forbidden = Status::new(403, "Forbidden", "no");
    stops_while(row, Some(Fault::Answer(forbidden)), failed);
    // It is retried, and then given up.
    stops_while(row, Some(Fault::DropBefore), dropped);
    let internal = Status::internal("etcd is away");
    stops_while(row, Some(Fault::Answer(internal)), dropped);
}

pub(super) fn counts_reverts_by_manager(row: &mut Row) {
    let scenario = before_the_stop();
    scenario.apply(deployment("api").replicas(3).hours(OFFICE));
    scenario.sleep_until("19:00:30");
    row.expect_all(&scenario, []);
    let set_by = |by: Writer<'_>, name: &str| {
        let patch = json!({"spec": {"replicas": 2}});
        let api = &scenario.api;
        api.merge_by(by, "Deployment", "dev", name, &patch).unwrap();
        scenario.pass(TimeDelta::seconds(2).to_std().unwrap());
    };
    set_by(Writer::new("argocd-controller"), "web");
    row.expect_all(&scenario, [(r#"{manager="argocd"}"#, 1.0)]);
    set_by(Writer::new("spinnaker"), "api");
    let both = [
        (r#"{manager="argocd"}"#, 1.0),
        (r#"{manager="other"}"#, 1.0),
    ];
    row.expect_all(&scenario, both);
    // A manual change.
    scenario.sleep_until("2026-11-20 19:00:30");
    set_by(Writer::scaling("kubectl"), "web");
    row.expect_all(&scenario, both);
}

/// Also by team. Each series starts at 0, because Prometheus sees no increase in a series that starts at 1.
/// If there are more namespaces than series, the other namespaces share one series.
pub(super) fn counts_reverts_by_namespace(row: &mut Row) {
    let before_the_stop = |settings: Settings, count: usize| {
        let mut scenario = Sandbox::empty_at("2026-11-19 18:00 UTC");
        scenario.start_controller(settings);
        for number in 0..count {
            let name = format!("team-{number:03}");
            scenario.api.namespace(&name);
            let web = deployment("web").namespace(&name).replicas(3);
            scenario.api.apply(web.hours(OFFICE).into()).unwrap();
        }
        scenario.settle();
        scenario
    };
    let set_back = |scenario: &Sandbox, namespace: &str| {
        let patch = json!({"spec": {"replicas": 2}});
        let by = Writer::new("argocd-controller");
        let merged = scenario
            .api
            .merge_by(by, "Deployment", namespace, "web", &patch);
        merged.unwrap();
        scenario.pass(Duration::from_secs(2));
    };
    let by_namespace = || default_with(|settings| settings.per_namespace_metrics = true);
    let [first, second, other] =
        ["team-000", "team-001", "(other)"].map(|it| format!("{{namespace=\"{it}\"}}"));

    let scenario = before_the_stop(by_namespace(), 2);
    for series in [&first, &second] {
        row.expect(&scenario, series, 0.0);
    }
    scenario.sleep_until("19:00:30");
    set_back(&scenario, "team-000");
    row.expect_all(&scenario, [(&*first, 1.0)]);
    scenario.sleep_until("2026-11-20 19:00:30");
    set_back(&scenario, "team-000");
    set_back(&scenario, "team-001");
    row.expect_all(&scenario, [(&*first, 2.0), (&second, 1.0)]);

    let many = before_the_stop(by_namespace(), 202);
    row.expect(&many, &other, 0.0);
    let shown: Vec<_> = row.samples(&many).into_keys().collect();
    let all = (0..202).map(|number| format!("team-{number:03}"));
    let hidden = all
        .clone()
        .find(|it| !shown.iter().any(|series| series.contains(it)));
    many.sleep_until("19:00:30");
    set_back(&many, &hidden.unwrap());
    row.expect_all(&many, [(&*other, 1.0)]);
    assert!(row.samples(&many).len() <= 201);

    let by_team = default_with(|settings| settings.scope.team_label = Some("team".to_owned()));
    let teams = before_the_stop(by_team, 2);
    let [none, pay] = ["(none)", "pay"].map(|it| format!("{{team=\"{it}\"}}"));
    let label = json!({"metadata": {"labels": {"team": "pay"}}});
    let merged = teams.api.merge("Namespace", "", "team-001", &label);
    merged.unwrap();
    teams.settle();
    row.expect(&teams, &pay, 0.0);
    teams.sleep_until("19:00:30");
    set_back(&teams, "team-000");
    set_back(&teams, "team-001");
    row.expect_all(&teams, [(&*none, 1.0), (&pay, 1.0)]);

    // All in one request.
    let scenario = before_the_stop(Settings::default(), 1);
    scenario.sleep_until("19:00:30");
    set_back(&scenario, "team-000");
    row.expect_all(&scenario, [("", 1.0)]);
}

pub(super) fn counts_stop_notices_by_workload(row: &mut Row) {
    let scenario = before_the_stop();
    scenario.annotate("web", "notice", Some("30s"));
    let api = deployment("api").replicas(3).hours(OFFICE);
    scenario.apply(api.annotation("dayshift/notice", "30s"));
    row.expect_all(&scenario, []);
    scenario.sleep_until("18:59:31");
    row.expect_all(&scenario, [("", 2.0)]);
    scenario.sleep_until("19:00:30");
    row.expect_all(&scenario, [("", 2.0)]);
    by_namespace(row);
    by_team(row);
}

/// Each series starts at 0, before the first notice. The first namespaces have a series each.
fn by_namespace(row: &mut Row) {
    let mut scenario = Sandbox::empty_at("2026-11-19 18:00 UTC");
    scenario.start_with(|settings| settings.per_namespace_metrics = true);
    for number in 0..202 {
        let namespace = format!("team-{number:03}");
        scenario.api.namespace(&namespace);
        let web = deployment("web").namespace(&namespace).hours(OFFICE);
        let notice = if number == 7 { "40s" } else { "20s" };
        scenario.apply(web.annotation("dayshift/notice", notice));
    }
    let of = |it: &str| format!("{{namespace=\"{it}\"}}");
    row.expect(&scenario, &of("team-007"), 0.0);
    row.expect(&scenario, &of("dev"), None);
    scenario.sleep_until("18:59:30");
    row.expect_all(&scenario, [(&of("team-007"), 1.0)]);
    scenario.sleep_until("19:01");
    row.expect(&scenario, &of("team-007"), 1.0);
    row.expect(&scenario, &of("team-199"), 1.0);
    row.expect(&scenario, &of("team-200"), None);
    row.expect(&scenario, &of("(other)"), 2.0);
}

/// A team's counter includes the notices that its namespace got while it belonged to the team. The series
/// ends with the team's last namespace.
fn by_team(row: &mut Row) {
    let mut scenario = Sandbox::empty_at("2026-11-19 18:00 UTC");
    scenario.start_with(|settings| settings.scope.team_label = Some("team".to_owned()));
    scenario.apply(
        deployment("web")
            .hours(OFFICE)
            .annotation("dayshift/notice", "30s"),
    );
    let [none, pay] = ["(none)", "pay"].map(|it| format!("{{team=\"{it}\"}}"));
    row.expect(&scenario, &none, 0.0);
    scenario.sleep_until("18:59:31");
    row.expect_all(&scenario, [(&*none, 1.0)]);
    let labels = json!({"metadata": {"labels": {"team": "pay"}}});
    scenario.api.merge("Namespace", "", "dev", &labels).unwrap();
    scenario.settle();
    row.expect(&scenario, &none, None);
    row.expect(&scenario, &pay, 0.0);
    scenario.sleep_until("2026-11-20 19:01");
    row.expect_all(&scenario, [(&*pay, 1.0)]);
}

pub(super) fn counts_jobs_by_outcome_of_their_patch(row: &mut Row) {
    let [done, refused, resumed] = [
        r#"{action="suspend",outcome="done"}"#,
        r#"{action="suspend",outcome="refused"}"#,
        r#"{action="resume",outcome="done"}"#,
    ];
    let scenario = Sandbox::at("2026-11-19 18:00 UTC");
    let report = cron_job("report").hours(OFFICE);
    scenario.apply(report.annotation("dayshift/stop-jobs", "true"));
    make(&scenario, job_of(&scenario, "report", "report-1"));
    scenario.sleep_until("18:59");
    row.expect_all(&scenario, []);
    let denied = Status::denied_by_policy("batch", "jobs", "report-1", "nights", "not tonight");
    let is_patch_of_job = |line: &RequestLine| is_patch(line) && line.resource == "jobs";
    scenario
        .api
        .fail_next(is_patch_of_job, Fault::Answer(denied));
    scenario.sleep_until("19:05");
    row.expect_all(&scenario, [(refused, 1.0), (done, 1.0)]);
    scenario.sleep_until("2026-11-20 09:01");
    row.expect_all(&scenario, [(refused, 1.0), (done, 1.0), (resumed, 1.0)]);
}
