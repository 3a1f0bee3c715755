//! The effect of a start and a stop on the count of each kind.

use dayshift_workload::{CountField, Kind, KindTable};

use crate::decide::object::{Object, office};

fn scheduled(kind: &Kind, count: u32) -> Object {
    office(count).of_kind(kind)
}

#[test]
fn a_stop_suspends_a_cron_job_and_a_start_resumes_it() {
    let mut object = scheduled(&Kind::CRON_JOB, 1);
    object.until("2026-11-19 20:00");
    assert_eq!((object.replicas(), object.saved()), (0, Some(1)));
    object.until("2026-11-20 09:00");
    assert_eq!((object.replicas(), object.saved()), (1, None));
}

#[test]
fn a_manually_suspended_cron_job_stays_suspended() {
    for suspended_at in ["2026-11-19 12:00", "2026-11-19 18:00"] {
        let mut object = scheduled(&Kind::CRON_JOB, 1);
        object.until(suspended_at).scale(0);
        object.until("2026-11-25 12:00");
        assert_eq!(object.replicas(), 0, "{suspended_at}");
        assert!(object.reasons().iter().all(|reason| reason != "Started"));
        // Until a user resumes it.
        object.scale(1).until("2026-11-25 20:00");
        assert_eq!((object.replicas(), object.saved()), (0, Some(1)));
        object.until("2026-11-26 12:00");
        assert_eq!(object.replicas(), 1);
    }
}

#[test]
fn a_cron_job_resumed_while_stopped_keeps_its_manual_change() {
    let mut object = scheduled(&Kind::CRON_JOB, 0);
    object.until("2026-11-19 20:00").scale(1);
    object.until("2026-11-20 12:00");
    assert_eq!(object.replicas(), 1, "a user resumed it");
}

#[test]
fn a_wake_resumes_a_cron_job_and_a_sleep_suspends_it() {
    let mut object = scheduled(&Kind::CRON_JOB, 0);
    object.until("2026-11-19 20:00");
    object.edit("wake-until", Some("2026-11-19 22:00")).apply();
    assert_eq!(object.replicas(), 1);
    object.until("2026-11-19 23:00");
    assert_eq!((object.replicas(), object.saved()), (0, Some(1)));
    object.until("2026-11-20 10:00");
    object.edit("sleep-until", Some("2026-11-20 12:00")).apply();
    assert_eq!(object.replicas(), 0);
    object.until("2026-11-20 12:00");
    assert_eq!(object.replicas(), 1);
}

#[test]
fn a_suspended_cron_job_survives_a_pause_and_an_edit() {
    let mut object = scheduled(&Kind::CRON_JOB, 0);
    object.until("2026-11-19 20:00");
    object.edit("pause", Some("true")).apply();
    object.edit("pause", None).apply();
    object.edit("hours", Some("Mon-Fri 08:00-19:00")).apply();
    object.until("2026-11-20 12:00");
    assert_eq!(object.replicas(), 0);
    let mut object = scheduled(&Kind::CRON_JOB, 1);
    object.until("2026-11-19 20:00");
    object.edit("pause", Some("true")).apply();
    object.edit("pause", None).apply();
    object.edit("hours", Some("Mon-Fri 08:00-19:00")).apply();
    object.until("2026-11-20 12:00");
    assert_eq!(object.replicas(), 1);
}

#[test]
fn enforce_suspends_a_manually_resumed_cron_job() {
    let mut object = scheduled(&Kind::CRON_JOB, 1);
    object.edit("enforce", Some("true"));
    object.until("2026-11-19 20:00").scale(1).apply();
    assert_eq!((object.replicas(), object.saved()), (0, Some(1)));
    let text = object.notices.last().unwrap().text.clone();
    assert_eq!(text, "suspended again: it is stopped, and `enforce` is set");
}

#[test]
fn counts_are_rejected_on_a_cron_job_and_ignored_on_its_namespace() {
    for key in ["replicas", "stop-replicas"] {
        let mut object = scheduled(&Kind::CRON_JOB, 1);
        object.edit(key, Some("1")).until("2026-11-19 20:00");
        assert_eq!(object.replicas(), 1);
        let error = object.observed.error.as_deref().unwrap_or_default();
        let expected = format!("dayshift/{key}: `1` has no meaning on a CronJob");
        assert!(error.starts_with(&expected), "{error}");

        let mut object = scheduled(&Kind::CRON_JOB, 1);
        object.in_namespace(&[(key, "3")]).until("2026-11-19 20:00");
        assert_eq!((object.replicas(), object.saved()), (0, Some(1)));
        assert_eq!(object.observed.error, None);
    }
}

#[test]
fn exact_counts_of_a_namespace_do_not_apply_to_cron_jobs() {
    let mut object = Object::new("2026-11-19 12:00", 1).of_kind(&Kind::CRON_JOB);
    object.in_namespace(&[("scale", "09:00 = 3; 19:00 = 0")]);
    object.until("2026-11-20 20:00");
    assert_eq!((object.replicas(), object.phase()), (1, None));
    assert_eq!(object.writes, 0);
}

/// If an HPA has a metric that does not come from pods, it scales to zero and back. So a user has
/// set a minimum of 0.
#[test]
fn the_minimum_of_an_autoscaler_that_scales_to_zero_may_be_0() {
    let scaled_to_zero = |minimum| {
        let mut object =
            Object::new("2026-11-19 12:00", minimum).of_kind(&Kind::HORIZONTAL_POD_AUTOSCALER);
        let counts = Kind::HORIZONTAL_POD_AUTOSCALER.counts().with_zero_minimum();
        object.observed.inputs = object.observed.inputs.with_counts(counts);
        object.edit("hours", Some("Mon-Fri 09:00-19:00")).apply();
        object
    };
    let mut object = scaled_to_zero(4);
    object.until("2026-11-19 20:00");
    assert_eq!(
        object.replicas(),
        1,
        "a stop leaves 1 unless stop-replicas is 0"
    );
    object.until("2026-11-20 09:00");
    object.edit("stop-replicas", Some("0"));
    object.until("2026-11-20 20:00");
    assert_eq!((object.replicas(), object.saved()), (0, Some(4)));
    object.until("2026-11-23 09:00");
    assert_eq!(object.replicas(), 4);

    let mut object = scaled_to_zero(0);
    for time in ["2026-11-19 20:00", "2026-11-20 09:00", "2026-11-20 20:00"] {
        object.until(time);
        assert_eq!(object.replicas(), 0, "{time}");
    }
}

#[test]
fn the_minimum_of_an_autoscaler_is_never_below_1() {
    let mut object = scheduled(&Kind::HORIZONTAL_POD_AUTOSCALER, 4);
    object.until("2026-11-19 20:00");
    assert_eq!((object.replicas(), object.saved()), (1, Some(4)));
    object.until("2026-11-20 09:00");
    assert_eq!(object.replicas(), 4);
    object.edit("stop-replicas", Some("2"));
    object.until("2026-11-20 20:00");
    assert_eq!((object.replicas(), object.saved()), (2, Some(4)));
    for (key, text) in [("stop-replicas", "0"), ("replicas", "0")] {
        let mut object = scheduled(&Kind::HORIZONTAL_POD_AUTOSCALER, 4);
        object.edit(key, Some(text)).apply();
        let error = object.observed.error.as_deref().unwrap_or_default();
        assert!(
            error.contains("`0` is below 1, and an autoscaler"),
            "{error}"
        );

        let mut object = scheduled(&Kind::HORIZONTAL_POD_AUTOSCALER, 4);
        object
            .in_namespace(&[(key, text)])
            .until("2026-11-19 20:00");
        assert_eq!(object.replicas(), 1);
    }
    let mut steps = Object::new("2026-11-19 12:00", 4).of_kind(&Kind::HORIZONTAL_POD_AUTOSCALER);
    steps.edit("scale", Some("09:00 = 3; 19:00 = 0")).apply();
    assert!(steps.observed.error.is_some());
    steps.edit("scale", None);
    steps.in_namespace(&[("scale", "09:00 = 3; 19:00 = 0")]);
    steps.until("2026-11-19 20:00");
    assert_eq!(steps.replicas(), 1);
    steps.until("2026-11-20 10:00");
    assert_eq!(steps.replicas(), 3);
}

#[test]
fn a_scaled_object_is_paused_at_the_count_of_a_stop() {
    let mut object = scheduled(&Kind::SCALED_OBJECT, 1);
    object.edit("stop-replicas", Some("2"));
    object.until("2026-11-19 20:00");
    assert_eq!((object.replicas(), object.saved()), (0, Some(1)));
    object.until("2026-11-20 09:00");
    assert_eq!(object.replicas(), 1);
    // A user had paused it before.
    let mut object = scheduled(&Kind::SCALED_OBJECT, 0);
    object.until("2026-11-20 12:00");
    assert_eq!(object.replicas(), 0);
    let mut object = scheduled(&Kind::SCALED_OBJECT, 1);
    object.edit("replicas", Some("3")).apply();
    assert!(object.observed.error.is_some());
}

#[test]
fn a_custom_kind_is_scaled_like_a_deployment() {
    let kind = KindTable::default().resource("rollouts", "argoproj.io");
    let mut object = scheduled(&kind, 3);
    object.until("2026-11-19 20:00");
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
    object.until("2026-11-20 09:00");
    assert_eq!(object.replicas(), 3);
}

#[test]
fn an_object_is_rejected_until_its_count_is_a_number() {
    let kind = KindTable::default().resource("rollouts", "argoproj.io");
    let mut object = Object::new("2026-11-19 12:00", 1).of_kind(&kind);
    object.observed.count_field = CountField::Invalid("\"many\"".into());
    object.edit("hours", Some("Mon-Fri 09:00-19:00"));
    object.until("2026-11-19 20:00");
    assert_eq!((object.replicas(), object.phase()), (1, None));
    let error = object.observed.error.as_deref();
    let expected = "spec.replicas: `\"many\"` is not a count; write a number, such as 3";
    assert_eq!(error, Some(expected));
    assert_eq!(object.reasons(), ["InvalidSchedule"]);
    assert_eq!(object.writes, 1);
    object.observed.count_field = CountField::Present;
    object.scale(3).until("2026-11-20 20:00");
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
    assert_eq!(object.observed.error, None);
    // Without a schedule there is nothing to do, whatever the count is.
    let mut object = Object::new("2026-11-19 12:00", 1).of_kind(&kind);
    object.observed.count_field = CountField::Invalid("-1".into());
    object.until("2026-11-20 20:00");
    assert_eq!(object.writes, 0);
}

#[test]
fn events_of_a_cron_job_use_its_own_terms() {
    let mut object = scheduled(&Kind::CRON_JOB, 1);
    object.until("2026-11-20 10:00");
    let texts: Vec<_> = object.notices.iter().map(|it| it.text.clone()).collect();
    let [stopped, started] = &texts[..] else {
        panic!("{texts:?}");
    };
    assert!(
        stopped.starts_with("suspended by the stop of "),
        "{stopped}"
    );
    let expected = "no longer suspended by the start of ";
    assert!(started.starts_with(expected), "{started}");
    object.until("2026-11-20 20:00").edit("hours", None).apply();
    let removed = &object.notices.last().unwrap().text;
    let command = "To make it active again, run `dayshift restore cj/web -n dev`";
    assert!(removed.ends_with(command), "{removed}");
}
