//! Each program that reverts dayshift's changes.

use std::{collections::BTreeSet, time::Duration};

use dayshift_controller::Settings;
use dayshift_workload::{Kind, KindTable};
use kube_in_memory::{RequestLine, Writer};
use serde_json::json;

use super::{ARGO_CD, counted, reads, reported, set_by, stopped, web};
use crate::sandbox::{Sandbox, cron_job, deployment, logged, stateful_set};

#[test]
fn names_argo_cd_and_its_fix_with_one_read_and_one_event() {
    let scenario = stopped();
    let (_guard, log) = logged();
    scenario.sleep_until("19:00:12");
    set_by(&scenario, ARGO_CD, "web", 3);
    scenario.pass(Duration::from_secs(2));
    assert_eq!(
        reported(&scenario, "web"),
        [
            "argocd-controller set 3 again 12 s after the stop. To end that, in the Application, set \
             spec.ignoreDifferences: [{group: apps, kind: Deployment, jsonPointers: \
             [/spec/replicas]}] and spec.syncPolicy.syncOptions: [RespectIgnoreDifferences=true]"
        ]
    );
    assert_eq!((reads(&scenario), counted(&scenario, "argocd")), (1, 1));
    let log = std::fs::read_to_string(log.path()).unwrap();
    assert!(
        log.contains("argocd-controller set 3 again 12 s after the stop"),
        "{log}"
    );

    // The new count stays, and nothing more is read or reported.
    set_by(&scenario, ARGO_CD, "web", 4);
    scenario.sleep_until("23:00");
    assert_eq!((scenario.replicas("web"), reads(&scenario)), (4, 1));
    assert_eq!(reported(&scenario, "web").len(), 1);
    assert!(
        scenario.patched("web").is_empty(),
        "dayshift does not write again"
    );
}

/// An operator copies the annotations of its resource to a workload, so dayshift scales both. When the
/// resource is put to sleep, its operator sets the count of the workload, which is no conflict.
#[test]
fn the_operator_of_a_scheduled_owner_causes_no_warning() {
    let version = "db.example.com/v1";
    for (is_scheduled, expected) in [(true, 0), (false, 1)] {
        let mut scenario = Sandbox::empty_at("2026-11-19 18:00 UTC");
        let api = &scenario.api;
        api.serve_custom("db.example.com", "v1", "caches", "Cache");
        let annotations = match is_scheduled {
            true => json!({"dayshift/hours": "Mon-Fri 09:00-19:00"}),
            false => json!({}),
        };
        let cache = json!({
            "apiVersion": version, "kind": "Cache",
            "metadata": {"name": "db", "namespace": "dev", "annotations": annotations},
            "spec": {"replicas": 3},
        });
        api.create(cache).unwrap();
        let kinds = KindTable::default();
        let caches = kinds.resource("caches", "db.example.com");
        scenario.start_with(|settings| {
            settings.scope.kinds = [Kind::STATEFUL_SET, caches].into();
            settings.kinds = kinds.into();
        });
        let stateful = stateful_set("db").replicas(3).hours("Mon-Fri 09:00-19:00");
        scenario.apply(stateful);
        let owner = json!([{
            "apiVersion": version, "kind": "Cache", "name": "db", "uid": "u", "controller": true,
        }]);
        let owned = json!({"metadata": {"ownerReferences": owner}});
        let merge = |by: Writer<'_>, patch: &serde_json::Value| {
            let api = &scenario.api;
            api.merge_by(by, "StatefulSet", "dev", "db", patch).unwrap();
            scenario.settle();
        };
        merge(Writer::new("cache-operator"), &owned);
        scenario.sleep_until("2026-11-20 09:00:10");
        let count = |scenario: &Sandbox| {
            let object = scenario.api.get("StatefulSet", "dev", "db").unwrap();
            object["spec"]["replicas"].as_u64()
        };
        assert_eq!(count(&scenario), Some(3));
        merge(
            Writer::new("cache-operator"),
            &json!({"spec": {"replicas": 0}}),
        );
        scenario.pass(Duration::from_secs(5));
        assert_eq!(reported(&scenario, "db").len(), expected, "{is_scheduled}");
        assert_eq!(count(&scenario), Some(0));
    }
}

#[test]
fn names_each_conflicting_manager() {
    for (by, name, label, cure) in [
        (
            Writer::new("kustomize-controller"),
            "kustomize-controller (Flux Kustomization)",
            "flux-kustomization",
            "spec.ignore: [{paths: [/spec/replicas]",
        ),
        (
            Writer::new("helm-controller"),
            "helm-controller (Flux HelmRelease)",
            "flux-helmrelease",
            "spec.driftDetection.ignore",
        ),
        (
            Writer::new("helm"),
            "helm",
            "helm",
            "remove replicas from the chart",
        ),
        (
            Writer::scaling("kube-controller-manager"),
            "an HPA",
            "hpa",
            "remove dayshift/stop-replicas",
        ),
        (
            Writer::scaling("keda"),
            "keda",
            "keda",
            "schedule the ScaledObject instead",
        ),
        (
            Writer::new("kubectl-client-side-apply"),
            "kubectl-client-side-apply (kubectl apply)",
            "kubectl-apply",
            "kubectl apply edit-last-applied",
        ),
        (
            Writer::new("kubectl-replace"),
            "kubectl-replace (kubectl replace)",
            "kubectl-replace",
            "use kubectl apply",
        ),
        (
            Writer::new("spinnaker"),
            "spinnaker",
            "other",
            "configure it to ignore /spec/replicas",
        ),
        (
            Writer::new("evil\u{1b}[2J\u{202e}"),
            "evil\\u{1b}[2J\\u{202e}",
            "other",
            "configure it to ignore",
        ),
    ] {
        let scenario = stopped();
        set_by(&scenario, by, "web", 2);
        scenario.pass(Duration::from_secs(2));
        let reported = reported(&scenario, "web");
        assert_eq!(reported.len(), 1, "{by:?}");
        assert!(
            reported[0].starts_with(&format!("{name} set the count to 2, 1 s after the stop")),
            "{reported:?}"
        );
        assert!(reported[0].contains(cure), "{reported:?}");
        assert_eq!(
            (reads(&scenario), counted(&scenario, label)),
            (1, 1),
            "{by:?}"
        );
    }
}

#[test]
fn intended_manager_is_not_reported() {
    for by in [
        Writer::scaling("kubectl"),
        Writer::new("kubectl-edit"),
        Writer::scaling("k9s"),
        Writer::new("dayshift"),
    ] {
        let scenario = stopped();
        set_by(&scenario, by, "web", 2);
        scenario.sleep_until("19:10");
        assert!(reported(&scenario, "web").is_empty(), "{by:?}");
        assert_eq!(reads(&scenario), 1, "{by:?}");
        assert!(
            !scenario
                .metrics()
                .contains("reverts_total{manager=\"other\"} 1")
        );
    }
}

#[test]
fn reads_only_reverts_within_the_window() {
    // After the window of 15 minutes, a change is not looked up.
    let scenario = stopped();
    scenario.sleep_until("19:15:02");
    set_by(&scenario, ARGO_CD, "web", 3);
    assert_eq!((reads(&scenario), reported(&scenario, "web").len()), (0, 0));

    // Other changes, and workloads that dayshift did not stop, are not looked up.
    let scenario = stopped();
    scenario.annotate("web", "note", None);
    scenario.apply(web("other"));
    set_by(&scenario, ARGO_CD, "other", 5);
    scenario.api.label("dev", "web", "team", Some("a")).unwrap();
    scenario.sleep_until("19:05");
    assert_eq!(reads(&scenario), 0);

    // An autoscaler that takes over after a start.
    scenario.sleep_until("2026-11-23 09:00:01");
    assert_eq!(scenario.replicas("web"), 3);
    set_by(
        &scenario,
        Writer::scaling("kube-controller-manager"),
        "web",
        7,
    );
    assert_eq!(reads(&scenario), 0);
    // An autoscaler that scales down is read, and is not reported.
    set_by(
        &scenario,
        Writer::scaling("kube-controller-manager"),
        "web",
        2,
    );
    assert_eq!((reads(&scenario), reported(&scenario, "web").len()), (1, 0));
}

#[test]
fn window_of_zero_disables_revert_lookups() {
    let mut scenario = Sandbox::empty_at("2026-11-19 18:00 UTC");
    scenario.start_with(|settings| settings.revert_window = Duration::ZERO);
    scenario.apply(web("web"));
    scenario.sleep_until("19:00:01");
    scenario.api.forget_requests();
    set_by(&scenario, ARGO_CD, "web", 3);
    scenario.sleep_until("20:00");
    assert_eq!((reads(&scenario), reported(&scenario, "web").len()), (0, 0));
}

#[test]
fn reports_a_resumed_cron_job_with_its_field() {
    let scenario = Sandbox::at("2026-11-19 18:00 UTC");
    scenario.apply(cron_job("report").hours("Mon-Fri 09:00-19:00"));
    scenario.sleep_until("19:00:01");
    let patch = json!({"spec": {"suspend": false}});
    scenario
        .api
        .merge_by(ARGO_CD, "CronJob", "dev", "report", &patch)
        .unwrap();
    scenario.pass(Duration::from_secs(2));
    let reported = reported(&scenario, "report");
    assert!(
        reported[0].starts_with("argocd-controller reverted it to active 1 s after the stop"),
        "{reported:?}"
    );
    assert!(
        reported[0].contains("{group: batch, kind: CronJob, jsonPointers: [/spec/suspend]}"),
        "{reported:?}"
    );
}

#[test]
fn names_a_manager_that_also_removes_the_labels() {
    let scenario = stopped();
    let mut object = scenario.object("web");
    object["metadata"] = json!({
        "name": "web", "namespace": "dev",
        "annotations": {"dayshift/hours": "Mon-Fri 09:00-19:00"},
    });
    object["spec"]["replicas"] = json!(3);
    scenario.api.replace(object).unwrap();
    scenario.pass(Duration::from_secs(2));
    let reported = reported(&scenario, "web");
    assert!(
        reported[0].starts_with("kubectl-replace (kubectl replace) set 3 again"),
        "{reported:?}"
    );
    assert_eq!((reported.len(), reads(&scenario)), (1, 1));
}

/// The controller remembers only the last manager, so the first manager is reported again after another one.
#[test]
fn reports_a_revert_again_only_after_another_manager() {
    let scenario = Sandbox::at("2026-11-19 18:00 UTC");
    scenario.apply(
        deployment("web")
            .replicas(3)
            .start("*:00")
            .stop("0 30 * * * *")
            .annotation("dayshift/start", "0 0 * * * *"),
    );
    scenario.sleep_until("18:30:01");
    // An Event lives for an hour: each one is identified by its name.
    let (mut events, mut counts) = (BTreeSet::new(), Vec::new());
    for (stop, by) in [
        ("18:30:02", ARGO_CD),
        ("19:30:02", ARGO_CD),
        ("20:30:02", Writer::new("helm")),
        ("21:30:02", Writer::new("helm")),
        ("22:30:02", ARGO_CD),
    ] {
        scenario.sleep_until(stop);
        assert_eq!(scenario.replicas("web"), 0);
        set_by(&scenario, by, "web", 3);
        scenario.pass(Duration::from_secs(2));
        let mut now = scenario.api.list("Event");
        now.retain(|it| it["reason"] == "Reverted");
        let names = now.iter().map(|it| it["metadata"]["name"].to_string());
        events.extend(names);
        counts.push(events.len());
    }
    assert_eq!(counts, [1, 1, 2, 2, 3]);
    assert_eq!(
        (counted(&scenario, "argocd"), counted(&scenario, "helm")),
        (3, 2)
    );
}

#[test]
fn enforce_corrects_three_times_and_then_names_the_manager() {
    let scenario = Sandbox::at("2026-11-19 18:00 UTC");
    scenario.apply(web("web").annotation("dayshift/enforce", "true"));
    scenario.sleep_until("19:00:01");
    scenario.api.forget_requests();
    for round in 0..8 {
        set_by(&scenario, ARGO_CD, "web", 3);
        scenario.pass(Duration::from_secs(5));
        let (expected, told_so_far) = if round < 3 { (0, 0) } else { (3, 1) };
        assert_eq!(scenario.replicas("web"), expected, "{round}");
        assert_eq!(reported(&scenario, "web").len(), told_so_far, "{round}");
        set_by(&scenario, ARGO_CD, "web", if round < 3 { 0 } else { 4 });
    }
    let reported = reported(&scenario, "web");
    assert!(reported[0].contains("set 3 again 5 s after `enforce` had reverted it; `enforce` has reverted that too, and makes no correction"), "{reported:?}");
    assert_eq!((scenario.patched("web").len(), reads(&scenario)), (3, 1));
}

/// Two controllers: neither takes the other for a conflicting manager.
#[test]
fn another_dayshift_is_not_a_conflicting_manager() {
    let mut scenario = Sandbox::empty_at("2026-11-19 18:00 UTC");
    scenario.start_controller(Settings::default());
    scenario.start_controller(Settings::default());
    scenario.apply(deployment("web").replicas(3).hours("19:02-19:00"));
    scenario.sleep_until("19:01");
    assert_eq!(scenario.replicas("web"), 0);
    scenario.api.forget_requests();
    scenario.sleep_until("19:30");
    assert_eq!(scenario.replicas("web"), 3);
    assert_eq!(reported(&scenario, "web").len(), 0);
    let other = |line: &&RequestLine| line.name == "web";
    assert!(
        scenario.requests("get").iter().filter(other).count() <= 1,
        "at most one GET, after a conflict"
    );
}
