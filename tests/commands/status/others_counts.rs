//! Counts that another program has set, in `dayshift status`.

use kube_in_memory::Writer;

use super::{OFFICE, STOPPED, evening, state};
use crate::{fake_server::Cluster, terminal::words::assert_escaped};

/// Stopped at 19:50, and set to 3 at 20:00 by this manager.
fn set_back(cluster: &Cluster, name: &str, by: Writer<'_>) {
    cluster.deployment(
        name,
        0,
        &[("hours", "Mon-Fri 09:00-19:50"), ("timezone", "Asia/Tokyo")],
    );
    state(
        cluster,
        name,
        &[
            ("state", "stopped"),
            ("last", "2026-11-20T10.50.00Z"),
            ("next", "2026-11-23T00.00.00Z"),
            ("saved-replicas", "3"),
        ],
    );
    let patch = serde_json::json!({"spec": {"replicas": 3}});
    let api = &cluster.api;
    api.merge_by(by, "Deployment", "dev", name, &patch).unwrap();
}

#[test]
fn names_a_conflicting_manager_with_its_setting() {
    let cluster = evening();
    set_back(&cluster, "argo", Writer::new("argocd-controller"));
    set_back(
        &cluster,
        "applied",
        Writer::new("kubectl-client-side-apply"),
    );
    set_back(&cluster, "odd", Writer::new("\u{1b}[2J\u{202e}"));
    set_back(&cluster, "person", Writer::scaling("kubectl"));
    let ran = cluster.dayshift(&["status"]);
    assert_eq!(ran.status, 1, "a problem leads to exit status 1");
    for line in [
        "warning: dev/argo: argocd-controller set 3 again 10 min after the stop; it stays until Mon",
        "warning: dev/applied: kubectl-client-side-apply (kubectl apply) set 3 again 10 min after the stop;",
        "warning: dev/odd: \\u{1b}[2J\\u{202e} set 3 again 10 min after",
        "note: dev/person: scaled to 3 manually until Mon",
        "    ignoreDifferences: [{group: apps, kind: Deployment, jsonPointers: [/spec/replicas]}]\n",
        "(kubectl apply edit-last-applied), then from the manifest",
    ] {
        ran.assert_out(line);
    }
    let ran = cluster.dayshift(&["status", "-o", "json"]);
    let document = ran.json();
    let workloads = document["workloads"].as_array().unwrap();
    let by = |name: &str| {
        let found = workloads.iter().find(|it| it["name"] == name).unwrap();
        found["revertedBy"].clone()
    };
    assert_eq!(by("argo")["manager"], "argocd-controller");
    assert_eq!(by("argo")["at"], "2026-11-20T20:00:00+09:00");
    let cure = by("argo")["cure"].as_str().unwrap().to_owned();
    assert_starts_with!(cure, "in the Application, set spec.ignoreDifferences");
    assert!(by("odd")["cure"].is_null() && by("person").is_null());
    assert_escaped(&ran.out, "status");
}

#[test]
fn a_change_hours_later_is_a_note() {
    let cluster = evening();
    cluster.deployment("web", 0, OFFICE);
    state(&cluster, "web", STOPPED);
    let patch = serde_json::json!({"spec": {"replicas": 2}});
    let by = Writer::new("helm");
    cluster
        .api
        .merge_by(by, "Deployment", "dev", "web", &patch)
        .unwrap();
    let ran = cluster.dayshift(&["status"]);
    assert_eq!(ran.status, 0);
    let note =
        "note: dev/web: helm set the count to 2, 60 min after the stop; it stays until Mon 09:00";
    ran.assert_out(note);
}

#[test]
fn reports_a_scaled_object_that_has_not_scaled_yet_with_a_fix() {
    let cluster = evening();
    for name in ["free", "web"] {
        cluster.deployment(name, 3, OFFICE);
    }
    let api = &cluster.api;
    api.serve_custom("keda.sh", "v1alpha1", "scaledobjects", "ScaledObject");
    // KEDA creates this HPA. The ScaledObject omits kind and version of its target, which is valid.
    cluster.autoscaler("keda-hpa-web", ("apps/v1", "Deployment", "web"));
    let scaled = serde_json::json!({
        "apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject",
        "metadata": {"namespace": "dev", "name": "web"},
        "spec": {"scaleTargetRef": {"name": "web"}},
    });
    api.create(scaled).unwrap();
    let ran = cluster.dayshift(&["status", "-o", "wide"]);
    assert_eq!(ran.out.matches("KEDA").count(), 2, "{}", ran.out);
    ran.assert_out("ScaledObject instead, and add scaledobjects to --kinds");
    ran.assert_out_lacks("An HPA does nothing");
}

/// If an admission webhook changes the count in a write, the API server names the writer as its field
/// manager.
#[test]
fn a_count_changed_by_admission_is_not_manual() {
    let cluster = evening();
    let hours: &[_] = &[("hours", "Mon-Fri 09:00-20:00"), ("timezone", "Asia/Tokyo")];
    for name in ["raised", "restored"] {
        cluster.deployment(name, 0, hours);
        let labels = [
            ("state", "stopped"),
            ("last", "2026-11-20T11.00.00Z"),
            ("next", "2026-11-23T00.00.00Z"),
            ("saved-replicas", "3"),
        ];
        state(&cluster, name, &labels);
    }
    // A later change by dayshift is not a revert.
    state(&cluster, "restored", &[("last", "2026-11-20T10.30.00Z")]);
    let patch = serde_json::json!({"spec": {"replicas": 2}});
    for name in ["raised", "restored"] {
        let by = Writer::new("dayshift");
        let api = &cluster.api;
        api.merge_by(by, "Deployment", "dev", name, &patch).unwrap();
    }
    let ran = cluster.dayshift(&["status"]);
    assert_eq!(ran.status, 1, "{}", ran.out);
    for line in [
        "warning: dev/raised: an admission webhook or policy set the count to 2, less than 1 s after the stop; it stays until Mon",
        "note: dev/restored: scaled to 2 manually until Mon",
    ] {
        ran.assert_out(line);
    }
}

/// Stopping the autoscaler lowers only its minimum.
#[test]
fn reports_an_autoscaler_that_never_scales_down() {
    for (policy, current, expected) in [
        ("Disabled", 4, true),
        ("Disabled", 1, false),
        ("Max", 4, false),
    ] {
        let cluster = evening();
        cluster.autoscaler("web", ("apps/v1", "Deployment", "web"));
        let patch = serde_json::json!({
            "metadata": {
                "annotations": {"dayshift/hours": OFFICE[0].1, "dayshift/timezone": OFFICE[1].1},
                "labels": STOPPED
                    .iter()
                    .map(|(label, text)| (format!("dayshift/{label}"), (*text).into()))
                    .collect::<serde_json::Map<_, _>>(),
            },
            "spec": {"minReplicas": 1, "behavior": {"scaleDown": {"selectPolicy": policy}}},
        });
        let (api, kind) = (&cluster.api, "HorizontalPodAutoscaler");
        api.merge(kind, "dev", "web", &patch).unwrap();
        let status = serde_json::json!({"currentReplicas": current, "desiredReplicas": current});
        api.set_status(kind, "dev", "web", status).unwrap();
        let ran = cluster.dayshift(&["status", "--kinds", "hpa"]);
        let warning = "warning: dev/hpa/web: the stop lowered minReplicas, but \
                       behavior.scaleDown.selectPolicy: Disabled keeps its target at 4. Remove \
                       selectPolicy, or schedule the target instead";
        let shown = (ran.status, ran.out.contains(warning));
        assert_eq!(
            shown,
            (i32::from(expected), expected),
            "{policy} {current}: {}",
            ran.out
        );
    }
}

/// The API server keeps no field manager of a 0 that is written through the subresource `scale`.
#[test]
fn a_manual_0_is_not_attributed_to_admission() {
    let cluster = evening();
    let hours: &[_] = &[("hours", "Mon-Fri 09:00-22:00"), ("timezone", "Asia/Tokyo")];
    cluster.deployment("web", 3, hours);
    let labels = [
        ("state", "running"),
        ("last", "2026-11-20T11.00.00Z"),
        ("next", "2026-11-20T13.00.00Z"),
    ];
    state(&cluster, "web", &labels);
    let patch = serde_json::json!({"spec": {"replicas": 0}});
    let by = Writer::new("dayshift");
    cluster
        .api
        .merge_by(by, "Deployment", "dev", "web", &patch)
        .unwrap();
    let ran = cluster.dayshift(&["status"]);
    let note = "note: dev/web: scaled to 0 manually until 22:00 JST";
    ran.assert_out(note);
    assert_eq!(ran.status, 0, "{}", ran.out);
}
