//! `dayshift schedule`.

use chrono::{TimeDelta, Utc};
use kube_in_memory::Writer;

use crate::fake_server::Cluster;

const HOURS: &str = "Mon-Fri 09:00-19:00";

#[test]
fn shows_the_week_and_writes_the_annotations() {
    let cluster = Cluster::new();
    cluster.deployment("web", 3, &[]);
    let schedule = [
        "schedule",
        "deploy/web",
        HOURS,
        "--timezone",
        "Europe/Berlin",
    ];
    let dry = cluster.dayshift(&[&schedule[..], &["--dry-run"]].concat());
    let annotated = "deployment.apps/web annotated dayshift/hours=Mon-Fri 09:00-19:00 \
                     dayshift/timezone=Europe/Berlin";
    assert_ends_with!(dry.out, format!("{annotated} (dry run)\n"));
    dry.assert_out("09:00-19:00");
    dry.assert_out("hours running");
    assert_eq!((dry.status, cluster.annotation("web", "hours")), (0, None));

    let ran = cluster.dayshift(&schedule);
    assert_ends_with!(ran.out, format!("{annotated}\n"));
    assert_eq!(ran.status, 0);
    assert_eq!(cluster.annotation("web", "hours").as_deref(), Some(HOURS));
    let zone = cluster.annotation("web", "timezone");
    assert_eq!(zone.as_deref(), Some("Europe/Berlin"));
    let again = cluster.dayshift(&schedule);
    assert_ends_with!(again.out, "deployment.apps/web unchanged\n");
}

#[test]
fn rejects_wrong_hours_before_it_writes() {
    let cluster = Cluster::new();
    cluster.deployment("web", 3, &[]);
    cluster.deployment("other", 3, &[("stop", "19:00")]);
    for (name, hours, error) in [
        ("web", "9-5", "dayshift/hours: `9`"),
        ("web", "Mon-Fry 09:00-19:00", "`Fry` is not a day"),
        ("other", HOURS, "cannot be combined with `stop`"),
    ] {
        let ran = cluster.dayshift(&["schedule", name, hours]);
        assert_eq!((ran.status, &*ran.out), (1, ""), "{ran:?}");
        ran.assert_err(error);
        assert_eq!(cluster.annotation(name, "hours"), None);
    }
    let ran = cluster.dayshift(&["schedule", "deploy/wbe", HOURS]);
    ran.assert_err("did you mean `web`?");
    assert_eq!(ran.status, 3);
    assert_eq!(cluster.dayshift(&["schedule", "deploy/web"]).status, 2);
    assert_eq!(cluster.dayshift(&["schedule", "ns/dev", HOURS]).status, 2);
}

/// The next sync of GitOps could remove the annotations.
#[test]
fn prints_the_annotations_to_commit_for_a_managed_workload() {
    let cluster = Cluster::new();
    cluster.deployment("web", 0, &[]);
    let count = serde_json::json!({"spec": {"replicas": 3}});
    let argo = Writer::new("argocd-controller");
    let api = &cluster.api;
    api.merge_by(argo, "Deployment", "dev", "web", &count)
        .unwrap();
    let ran = cluster.dayshift(&["schedule", "web", HOURS]);
    let expected = "Argo CD manages deployment.apps/web, so nothing was written. Commit these \
                    annotations:\nmetadata:\n  annotations:\n    dayshift/hours: \"Mon-Fri \
                    09:00-19:00\"\n";
    assert_ends_with!(ran.out, expected);
    assert_eq!((ran.status, cluster.annotation("web", "hours")), (0, None));
}

/// Two workloads, or none by name, would leave it open which one is meant.
#[test]
fn takes_exactly_one_named_workload() {
    let cluster = Cluster::new();
    for name in ["web", "api"] {
        cluster.deployment(name, 3, &[]);
    }
    for arguments in [&["deploy/web", "deploy/api", HOURS][..], &[HOURS, "-A"]] {
        let ran = cluster.dayshift(&[&["schedule"], arguments].concat());
        assert_eq!(ran.status, 2, "{arguments:?}: {ran:?}");
        for name in ["web", "api"] {
            assert_eq!(cluster.annotation(name, "hours"), None, "{arguments:?}");
        }
    }
    let ran = cluster.dayshift(&["schedule", "deploy/web", "deploy/api", HOURS]);
    ran.assert_err("name exactly one workload");
    assert_eq!(
        cluster
            .dayshift(&["schedule", "deploy", "web", HOURS])
            .status,
        0
    );
}

/// The note is about a workload that runs now and should not.
#[test]
fn notes_when_it_takes_effect_only_outside_of_the_hours() {
    for (replicas, hours, is_noted) in [
        (3, other_days(), true),
        (0, other_days(), false),
        (3, "00:00-24:00".to_owned(), false),
    ] {
        let cluster = Cluster::new();
        cluster.deployment("web", replicas, &[]);
        let ran = cluster.dayshift(&["schedule", "deploy/web", &hours]);
        assert_eq!(ran.status, 0, "{ran:?}");
        let noted = ran.err.contains("it runs until its next stop");
        assert_eq!(noted, is_noted, "{replicas} {hours}: {}", ran.err);
    }
}

/// Hours on all days of the week but today and its neighbors.
fn other_days() -> String {
    let today = Utc::now().date_naive();
    let days: Vec<_> = (2..6)
        .map(|later| (today + TimeDelta::days(later)).format("%a").to_string())
        .collect();
    format!("{} 09:00-19:00", days.join(","))
}
