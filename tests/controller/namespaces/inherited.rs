//! The annotation with the inherited schedule, and when it is written.

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::{annotate, office, patches};
use crate::sandbox::{Sandbox, default_with, deployment};

fn inherited(scenario: &Sandbox, name: &str) -> Option<Value> {
    let object = scenario.api.get("Deployment", "dev", name).unwrap();
    let text = object["metadata"]["annotations"]["dayshift/inherited"].as_str();
    text.map(|text| serde_json::from_str(text).unwrap())
}

#[test]
fn inherited_annotation_is_written_with_existing_patches() {
    let scenario = Sandbox::at("2026-11-20 12:00 UTC");
    scenario.apply(deployment("web").replicas(3));
    scenario.apply(deployment("own").replicas(3).hours("08:00-20:00"));
    annotate(&scenario, "dev", &office());
    let hours = |text: &str| json!({"from": "Namespace", "hours": text});
    assert_eq!(
        inherited(&scenario, "web"),
        Some(hours("Mon-Fri 09:00-19:00"))
    );
    assert_eq!(inherited(&scenario, "own"), None);
    assert_eq!(patches(&scenario), 2, "each workload is adopted once");
    // An edit is an adoption, and writes the new values.
    annotate(&scenario, "dev", &[("hours", Some("09:00-18:00"))]);
    assert_eq!(inherited(&scenario, "web"), Some(hours("09:00-18:00")));
    assert_eq!(patches(&scenario), 3);
    // A change that is no edit causes no patch; the next patch writes it.
    annotate(&scenario, "dev", &[("replicas", Some("2"))]);
    assert_eq!(
        (inherited(&scenario, "web"), patches(&scenario)),
        (Some(hours("09:00-18:00")), 3)
    );
    scenario.sleep_until("18:00");
    let with_count = json!({"from": "Namespace", "hours": "09:00-18:00", "replicas": "2"});
    assert_eq!(
        (inherited(&scenario, "web"), patches(&scenario)),
        (Some(with_count), 4)
    );
    // If nothing is inherited any more, the patch of the edit removes it.
    annotate(&scenario, "dev", &[("replicas", None)]);
    let (key, text) = ("dayshift/hours", Some("09:00-20:00"));
    scenario.api.annotate("dev", "web", key, text).unwrap();
    scenario.settle();
    assert_eq!((inherited(&scenario, "web"), patches(&scenario)), (None, 5));
}

/// Other flags cause no patch: the patch of the next stop or start writes them.
#[test]
fn inherited_annotation_contains_durations_of_flags() {
    let mut scenario = Sandbox::empty_at("2026-11-20 12:00 UTC");
    let flags = |notice, ready_within| {
        default_with(|settings| {
            settings.notice = TimeDelta::minutes(notice);
            settings.ready_within = TimeDelta::minutes(ready_within);
        })
    };
    scenario.start_controller(flags(15, 2));
    let hours = "Mon-Fri 09:00-19:00";
    scenario.apply(deployment("web").replicas(3).hours(hours));
    scenario.apply(
        deployment("own")
            .replicas(3)
            .hours(hours)
            .annotation("dayshift/notice", "5m"),
    );
    let of_flags = |more: &[(&str, &str)]| {
        let mut all = json!({"from": "scaler"});
        for (key, text) in more {
            all[*key] = json!(text);
        }
        Some(all)
    };
    let both = of_flags(&[("notice", "15m"), ("ready-within", "2m")]);
    assert_eq!(inherited(&scenario, "web"), both);
    let within = of_flags(&[("ready-within", "2m")]);
    assert_eq!(inherited(&scenario, "own"), within);
    scenario.kill_controllers();
    // 10 minutes are the default.
    scenario.start_controller(flags(30, 10));
    scenario.sleep_until("18:59");
    assert_eq!((inherited(&scenario, "web"), patches(&scenario)), (both, 2));
    scenario.sleep_until("19:01");
    assert_eq!(inherited(&scenario, "web"), of_flags(&[("notice", "30m")]));
    assert_eq!((inherited(&scenario, "own"), patches(&scenario)), (None, 4));
}

/// If the schedule is removed, the annotation is removed too.
#[test]
fn inherited_annotation_is_removed_with_the_schedule() {
    let scenario = Sandbox::at("2026-11-20 12:00 UTC");
    scenario.apply(deployment("web").replicas(3));
    annotate(&scenario, "dev", &office());
    assert!(inherited(&scenario, "web").is_some());
    annotate(&scenario, "dev", &[("hours", None)]);
    assert_eq!(
        (inherited(&scenario, "web"), scenario.label("web", "state")),
        (None, None)
    );
}

/// A rollback or a manual edit of the annotation affects no decision and causes no request.
#[test]
fn manual_edit_of_the_inherited_annotation_changes_nothing() {
    let scenario = Sandbox::at("2026-11-20 12:00 UTC");
    scenario.apply(deployment("web").replicas(3));
    scenario.apply(deployment("none").replicas(3));
    annotate(&scenario, "dev", &office());
    scenario
        .api
        .annotate("dev", "none", "dayshift/exclude", Some("true"))
        .unwrap();
    scenario.settle();
    let before = patches(&scenario);
    let lie = r#"{"from":"Namespace","hours":"00:00-01:00","replicas":"9","pause":"true"}"#;
    for text in [Some(lie), None, Some(&*"x".repeat(9000)), Some("{")] {
        for name in ["web", "none"] {
            scenario
                .api
                .annotate("dev", name, "dayshift/inherited", text)
                .unwrap();
        }
        scenario.settle();
        assert_eq!(patches(&scenario), before, "{text:?}");
    }
    scenario.sleep_until("19:00");
    assert_eq!(
        (scenario.replicas("web"), scenario.replicas("none")),
        (0, 3)
    );
    assert_eq!(
        inherited(&scenario, "web").unwrap()["hours"],
        "Mon-Fri 09:00-19:00"
    );
    scenario.sleep_until("2026-11-23 09:00");
    assert_eq!(scenario.replicas("web"), 3);
}
