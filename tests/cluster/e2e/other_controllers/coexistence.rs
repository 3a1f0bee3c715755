//! Coexistence with other controllers that scale the same Deployments, as the README describes it.

use std::io::Write as _;

use k8s_openapi::api::apps::v1::Deployment;
use tempfile::NamedTempFile;

use crate::e2e::test_namespace::TestNamespace;
use crate::support::{
    ControlPlane, Parts, Request, Scenario, deployment, scenarios, soon, wait_until,
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    [
        scenarios![Parts::Pods; hpa_is_inactive_at_zero_and_scales_after_the_start],
        scenarios![
            Parts::Server;
            server_side_apply_of_another_count_reports_a_conflict,
            client_side_apply_while_stopped_is_kept_until_the_start,
            removing_the_count_from_a_manifest_in_the_documented_order_keeps_it,
        ],
    ]
    .concat()
}

fn server_side_apply_of_another_count_reports_a_conflict(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "ssa");
    let stop = soon(6);
    let start = stop.plus(12);
    let web = deployment("web").stop(stop.text()).start(start.text());
    let apply = |more: &[&str], manifest: &str| {
        team.kubectl_with(&[&["apply", "--server-side"], more].concat(), manifest)
    };
    let three = web.clone().replicas(3).manifest();
    apply(&[], &three).success();
    team.await_stopped("web", start);

    let refused = apply(&[], &three);
    assert!(!refused.ok);
    assert_contains!(
        refused.stderr,
        "Apply failed with 1 conflict: conflict with \"dayshift\" using apps/v1: .spec.replicas"
    );
    assert_eq!(team.replicas("web"), 0);

    apply(&[], &web.clone().without_replicas().manifest()).success();
    assert_eq!(
        team.replicas("web"),
        0,
        "a field that the manifest omits does not change"
    );
    let four = web.replicas(4).manifest();
    apply(&["--force-conflicts"], &four).success();
    assert_eq!(team.replicas("web"), 4);
    let reported = team.await_event("web", "Reverted");
    assert_starts_with!(reported, "kubectl (server-side apply) set the count to 4, ");
    assert_named_once(&team, "web");
    start.assert_in_future("every apply happens while it is stopped");

    team.await_label("web", "dayshift/state", "running");
    assert_eq!(team.replicas("web"), 4, "a larger current count is kept");
    apply(&[], &four).success();
    team.assert_punctual("web", 2, start);
    team.ends([("web", 3)]);
}

fn client_side_apply_while_stopped_is_kept_until_the_start(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "csa");
    let stop = soon(8);
    let start = stop.plus(10);
    let web = |name| deployment(name).stop(stop.text()).start(start.text());
    for name in ["less", "more"] {
        let manifest = web(name).replicas(3).manifest();
        team.kubectl_with(&["apply"], &manifest).success();
    }
    for (name, count) in [("less", 2), ("more", 4)] {
        team.await_stopped(name, start);
        let manifest = web(name).replicas(count).manifest();
        team.kubectl_with(&["apply"], &manifest).success();
    }
    soon(0).wait();
    team.assert_replicas("less", 2, start);
    team.assert_replicas("more", 4, start);
    for (name, count) in [("less", 2), ("more", 4)] {
        let reported = team.await_event(name, "Reverted");
        let by = format!("kubectl-client-side-apply (kubectl apply) set the count to {count}, ");
        assert_starts_with!(reported, by);
        assert_named_once(&team, name);
    }

    for (name, count) in [("less", 3), ("more", 4)] {
        team.await_label(name, "dayshift/state", "running");
        assert_eq!(team.replicas(name), count, "{name}");
        team.assert_punctual(name, 2, start);
    }
    team.ends([("less", 3), ("more", 3)]);
}

/// Asserts that the controller read a Deployment once, and reported once which manager reverted it.
fn assert_named_once(team: &TestNamespace<'_>, name: &str) {
    let is_read = |it: &&Request| it.verb == "get" && it.name == name;
    // The server's log can be a moment behind.
    wait_until(&format!("the read of {name} is in the log"), || {
        let reads = team.requests().iter().filter(is_read).count();
        assert!(reads <= 1, "{name}");
        reads == 1
    });
    let reported = team.events(name).into_iter();
    let reported = reported.filter(|(reason, _)| reason == "Reverted");
    assert_eq!(reported.count(), 1, "{name}");
}

/// The safe order of `dayshift lint` for `spec.replicas` in a manifest.
fn removing_the_count_from_a_manifest_in_the_documented_order_keeps_it(plane: &ControlPlane) {
    let team = TestNamespace::without_controller(plane, "order");
    for name in ["careless", "careful"] {
        let web = deployment(name).hours("Mon-Fri 09:00-19:00");
        let manifest = web.clone().replicas(3).manifest();
        team.kubectl_with(&["apply"], &manifest).success();
        if name == "careful" {
            let mut file = NamedTempFile::new().unwrap();
            file.write_all(manifest.as_bytes()).unwrap();
            let lint = format!(
                "dayshift lint --enable replicas-in-manifest -n {} {}",
                team.name(),
                file.path().display()
            );
            let message = plane.shell(&lint).success();
            let command = message.split_once("kubectl apply ").unwrap().1;
            let command = command.split_once(';').unwrap().0;
            let edit = "KUBE_EDITOR=\"sed -i '/^ *replicas: 3$/d'\"";
            plane
                .shell(&format!("{edit} kubectl apply {command}"))
                .success();
        }
        let without = web.without_replicas().manifest();
        team.kubectl_with(&["apply"], &without).success();
    }
    assert_eq!(team.replicas("careless"), 1, "kubernetes#67135");
    assert_eq!(team.replicas("careful"), 3);
    team.delete_all::<Deployment>();
}

fn hpa_is_inactive_at_zero_and_scales_after_the_start(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "hpa");
    let stop = soon(10);
    let start = stop.plus(8);
    team.create(
        deployment("web")
            .replicas(2)
            .stop(stop.text())
            .start(start.text())
            .annotation("dayshift/replicas", "1"),
    );
    team.autoscale("web", 2, 4);
    team.await_stopped("web", start);
    let condition = r#"jsonpath={range .status.conditions[?(@.type=="ScalingActive")]}{.status} {.reason}: {.message}{end}"#;
    let message = start.before("the HPA is inactive", || {
        let message = team.kubectl(&["get", "hpa", "web", "-o", condition]).stdout;
        message
            .starts_with("False ScalingDisabled: ")
            .then_some(message)
    });
    assert_ends_with!(
        message,
        "scaling is disabled since the replica count of the target is zero"
    );
    team.assert_replicas("web", 0, start);

    team.await_replicas("web", 2);
    team.assert_punctual("web", 2, start);
    let reported = team.await_event("web", "Started");
    assert_contains!(reported, "scaled from 0 to 1");
    team.ends([("web", 3)]);
}
