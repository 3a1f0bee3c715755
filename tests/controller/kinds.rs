//! Workloads of several kinds in one cluster.

use std::{fs, time::Duration};

use dayshift_controller::Settings;
use kube_in_memory::{Fault, RequestLine, Status};
use serde_json::Value;

use crate::sandbox::{Sandbox, cron_job, deployment, logged, stateful_set};

fn count(scenario: &Sandbox, kind: &str) -> (i64, Option<String>) {
    let object = scenario.api.get(kind, "dev", "db").unwrap();
    let saved = &object["metadata"]["labels"]["dayshift/saved-replicas"];
    let count = object["spec"]["replicas"].as_i64().unwrap();
    (count, saved.as_str().map(str::to_owned))
}

#[test]
fn same_name_in_two_kinds_follows_two_schedules() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("db").replicas(3).stop("19:00").start("21:00"));
    scenario.apply(stateful_set("db").replicas(5).stop("20:00").start("22:00"));
    let saved = |text: &str| Some(text.to_owned());
    for (time, deployment, stateful) in [
        ("18:59", (3, None), (5, None)),
        ("19:00", (0, saved("3")), (5, None)),
        ("20:00", (0, saved("3")), (0, saved("5"))),
        ("21:00", (3, None), (0, saved("5"))),
        ("22:00", (3, None), (5, None)),
    ] {
        scenario.sleep_until(time);
        assert_eq!(count(&scenario, "Deployment"), deployment, "{time}");
        assert_eq!(count(&scenario, "StatefulSet"), stateful, "{time}");
        // The server keeps an Event for an hour.
        let events = scenario.api.list("Event");
        let at = |event: &Value| event["eventTime"].as_str().unwrap().to_owned();
        let newest = events.iter().max_by_key(|event| at(event));
        let kind = newest.map(|event| event["regarding"]["kind"].as_str().unwrap().to_owned());
        let expected = match time {
            "18:59" => None,
            "19:00" | "21:00" => Some("Deployment".to_owned()),
            _ => Some("StatefulSet".to_owned()),
        };
        assert_eq!(kind, expected, "{time}");
    }
}

/// Kubernetes creates Jobs of `report` only while it is not suspended. A manually suspended CronJob stays
/// suspended.
#[test]
fn suspends_and_resumes_a_cron_job_with_one_request_each() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(cron_job("report").hours("09:00-19:00"));
    scenario.apply(cron_job("off").suspended(true).hours("09:00-19:00"));
    let suspended = |name: &str| {
        let object = scenario.api.get("CronJob", "dev", name).unwrap();
        object["spec"]["suspend"].as_bool().unwrap()
    };
    scenario.sleep_until("18:59");
    assert_eq!((suspended("report"), suspended("off")), (false, true));
    let patches = || {
        let lines = scenario.api.requests().into_iter();
        lines.filter(|line| line.verb == "patch").count()
    };
    let before = patches();
    scenario.sleep_until("19:00");
    assert_eq!((suspended("report"), suspended("off")), (true, true));
    scenario.sleep_until("2026-11-21 09:00");
    assert_eq!((suspended("report"), suspended("off")), (false, true));
    assert_eq!(patches() - before, 4, "two boundaries of two objects");
    let events = scenario.api.list("Event");
    let notes: Vec<_> = events
        .iter()
        .map(|it| it["note"].as_str().unwrap())
        .collect();
    let [note] = notes[..] else {
        panic!("the server keeps an Event for an hour: {notes:?}");
    };
    assert!(
        note.starts_with("no longer suspended by the start of "),
        "{note}"
    );
}

/// A failing watch or a missing permission of one kind does not delay another kind.
#[test]
fn failure_of_one_kind_does_not_affect_others() {
    let forbidden = Status::forbidden("apps", "statefulsets", "", "no");
    let kinds = [
        ("statefulsets", "StatefulSet", "Deployment"),
        ("deployments", "Deployment", "StatefulSet"),
    ];
    for (plural, failing, other) in kinds {
        for fault in [Fault::Hang, Fault::Answer(forbidden.clone())] {
            let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
            let shown = format!("{fault:?} of {plural}");
            scenario.apply(deployment("db").replicas(3).stop("19:00"));
            scenario.apply(stateful_set("db").replicas(3).stop("19:00"));
            let fails = move |line: &RequestLine| (line.resource == plural).then(|| fault.clone());
            scenario.api.on_request(fails);
            scenario.start_controller(Settings::default());
            // Within the 50 ms that the sandbox lets pass for immediate work.
            assert_eq!(
                state(&scenario, other).as_deref(),
                Some("adopted"),
                "{shown}"
            );
            assert_eq!(state(&scenario, failing), None, "{shown}");
            scenario.sleep_until("19:00");
            assert_eq!(count(&scenario, other).0, 0, "{shown}");
            assert_eq!(count(&scenario, failing).0, 3, "{shown}");
        }
    }
}

fn state(scenario: &Sandbox, kind: &str) -> Option<String> {
    let object = scenario.api.get(kind, "dev", "db").unwrap();
    let state = &object["metadata"]["labels"]["dayshift/state"];
    state.as_str().map(str::to_owned)
}

#[test]
fn reports_a_missing_or_forbidden_kind_once_and_backs_off() {
    let absent = Status::new(
        404,
        "NotFound",
        "the server could not find the requested resource",
    );
    let forbidden = Status::forbidden("apps", "statefulsets", "", "no rule");
    for (status, why) in [
        (absent, "the API server does not have this kind"),
        (forbidden, "forbidden"),
    ] {
        let (_guard, log) = logged();
        let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
        scenario.apply(stateful_set("db").replicas(3).stop("22:00"));
        let fault = Fault::Answer(status);
        let is_stateful = |line: &RequestLine| line.resource == "statefulsets";
        scenario
            .api
            .on_request(move |line| is_stateful(line).then(|| fault.clone()));
        scenario.start_controller(Settings::default());
        scenario.sleep_until("20:00");

        let requests = scenario.api.requests().into_iter();
        let tries: Vec<_> = requests.filter(is_stateful).map(|line| line.at).collect();
        assert!((120..=300).contains(&tries.len()), "{}", tries.len());
        assert!((tries[5] - tries[0]).num_seconds() <= 10, "{tries:?}");
        let text = fs::read_to_string(log.path()).unwrap();
        let reported = text.lines().filter(|line| line.contains("WARN"));
        assert_eq!(reported.count(), 1, "{text}");
        let (ready, unwatched) = (scenario.telemetry.ready(), scenario.telemetry.unwatched());
        assert_eq!(ready, Ok(()), "one kind is watched");
        assert_eq!(
            unwatched,
            [format!("cannot watch statefulsets.apps: {why}")]
        );
        let up = |kind: &str, up: u8| {
            let line = format!("dayshift_watch_up{{kind=\"{kind}\"}} {up}\n");
            let metrics = scenario.telemetry.render();
            assert!(metrics.contains(&line), "no {line} in {metrics}");
        };
        up("Deployment", 1);
        up("StatefulSet", 0);

        scenario.api.clear_fault();
        scenario.sleep_until("20:01");
        assert_eq!(state(&scenario, "StatefulSet").as_deref(), Some("adopted"));
        assert_eq!(scenario.telemetry.unwatched(), [""; 0]);
        up("StatefulSet", 1);
    }
}

#[test]
fn is_unready_and_names_each_reason_if_no_kind_can_be_watched() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    let forbidden = Fault::Answer(Status::forbidden("apps", "them", "", "no rule"));
    scenario.api.on_request(move |_| Some(forbidden.clone()));
    scenario.start_controller(Settings::default());
    scenario.sleep_until("18:10");
    assert!(scenario.telemetry.ready().is_err());
    assert_eq!(
        scenario.telemetry.unwatched(),
        [
            "cannot watch namespaces: forbidden",
            "cannot watch deployments.apps: forbidden",
            "cannot watch statefulsets.apps: forbidden",
            "cannot watch cronjobs.batch: forbidden"
        ]
    );
}

/// A kind whose watch fails existed before, unlike a missing kind, and should be watched.
#[test]
fn is_unready_while_the_watch_of_a_kind_fails() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    assert_eq!(scenario.telemetry.ready(), Ok(()));
    scenario.api.on_request(|line| {
        let fails = line.resource == "statefulsets";
        fails.then(|| Fault::Answer(Status::internal("etcd is away")))
    });
    scenario.api.close_watches();
    scenario.pass(Duration::from_secs(1));
    assert!(scenario.telemetry.ready().is_err());
    assert_eq!(scenario.telemetry.unwatched(), [""; 0]);
}

#[test]
fn logs_an_outage_at_its_start_periodically_and_at_its_end() {
    let (_guard, log) = logged();
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("db").replicas(3).stop("22:00"));
    scenario.start_controller(Settings::default());
    let lines_with = |text_part: &str| {
        let text = fs::read_to_string(log.path()).unwrap();
        let lines = text.lines().filter(|line| line.contains(text_part));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let ready = lines_with(" ready ");
    assert_eq!(ready.len(), 1, "{ready:?}");
    let expected_text = "scheduled=1 invalid=0 next=\"2026-11-20T22:00:00Z\"";
    assert!(ready[0].contains(expected_text), "{ready:?}");

    let away = Fault::Answer(Status::internal("etcd is away"));
    scenario.api.on_request(move |_| Some(away.clone()));
    scenario.api.close_watches();
    scenario.sleep_until("21:00");
    let failed = lines_with("the watch failed; retrying with backoff");
    assert_eq!(
        failed.len(),
        4,
        "the failure of each watch is logged once: {failed:?}"
    );
    let still = lines_with("the watch still fails after");
    // A minute later, then after 2, 4, 8, 16, 32 and 60 more: seven times in three hours.
    assert_eq!(still.len(), 4 * 7, "{still:?}");
    let total = lines_with("WARN").len();
    assert!(total <= 4 * 8 + 4, "{total} warnings in three hours");

    let long = Fault::Answer(Status::internal(&"x".repeat(1 << 20)));
    scenario.api.on_request(move |_| Some(long.clone()));
    scenario.sleep_until("21:10");
    let longest = lines_with("the watch still fails after");
    let longest = longest.iter().filter(|line| line.contains("xxx"));
    let longest = longest.map(String::len).max();
    assert!(longest < Some(2_000) && longest.is_some(), "{longest:?}");

    scenario.api.clear_fault();
    scenario.sleep_until("21:11");
    let over = lines_with("the watch is open again, after ");
    assert_eq!(over.len(), 4, "{over:?}");
    assert_eq!(lines_with(" ready ").len(), 1, "ready is logged only once");
}
