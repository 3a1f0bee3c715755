//! The control plane itself: it must behave like a real cluster, or the other scenarios are meaningless.

use k8s_openapi::apimachinery::pkg::version::Info;

use crate::e2e::test_namespace::TestNamespace;
use crate::support::{
    ControlPlane, Parts, Scenario, block_on, cron_job, deployment, scenarios, wait_until,
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    [
        scenarios![
            Parts::Server;
            server_and_kubectl_report_one_version,
            audit_log_contains_user_verb_and_resource,
        ],
        scenarios![
            Parts::Pods;
            scaling_to_zero_deletes_pods_and_scaling_up_creates_them,
            ended_scenario_leaves_no_job_and_no_autoscaler,
        ],
    ]
    .concat()
}

/// Programs built without Kubernetes' own scripts report version `v0.0.0`.
fn server_and_kubectl_report_one_version(plane: &ControlPlane) {
    let Info {
        major,
        minor,
        git_version,
        ..
    } = block_on(plane.client().apiserver_version()).unwrap();
    assert_eq!(git_version.split('.').next(), Some("v1"), "{git_version}");
    assert_eq!(
        git_version.split('.').nth(1),
        Some(minor.as_str()),
        "{git_version}"
    );
    assert_eq!(major, "1");
    assert!(minor.parse::<u32>().is_ok(), "{minor}");

    let message = plane.kubectl(&["version"]).success();
    assert_eq!(
        message.matches(&git_version).count(),
        2,
        "client and server are one version: {message}"
    );
}

fn audit_log_contains_user_verb_and_resource(plane: &ControlPlane) {
    let team = plane.namespace("audit");
    let mark = plane.audit().mark();
    team.create(deployment("web").replicas(3));
    team.scale("web", 1);
    assert!(!team.kubectl(&["get", "deployment", "api"]).ok);

    let reported = || {
        let mut reported = plane.audit().since(mark);
        reported.retain(|it| it.namespace == team.name() && it.resource != "namespaces");
        let reported = reported.into_iter().inspect(|request| {
            assert!(request.answered > request.received, "{request:?}");
        });
        reported
            .map(|it| (it.user, it.verb, it.resource, it.name, it.code))
            .collect::<Vec<_>>()
    };
    let expected = [
        ("create", "deployments", "web", 201),
        ("patch", "deployments/scale", "web", 200),
        ("get", "deployments", "api", 404),
    ]
    .map(|(verb, resource, name, code)| {
        (
            "admin".to_owned(),
            verb.to_owned(),
            resource.to_owned(),
            name.to_owned(),
            code,
        )
    });
    // A line might be written shortly after the response.
    wait_until("the last request is in the log", || {
        reported().len() >= expected.len()
    });
    assert_eq!(reported(), expected);
}

fn scaling_to_zero_deletes_pods_and_scaling_up_creates_them(plane: &ControlPlane) {
    let team = plane.namespace("pods");
    team.create(deployment("web").replicas(2));
    team.await_pods("web", 2);

    team.kubectl(&["scale", "deployment", "web", "--replicas=0"])
        .success();
    team.await_pods("web", 0);

    team.kubectl(&["scale", "deployment", "web", "--replicas=3"])
        .success();
    team.await_pods("web", 3);
}

/// Such objects would delay the pods of other scenarios.
fn ended_scenario_leaves_no_job_and_no_autoscaler(plane: &ControlPlane) {
    let team = TestNamespace::without_controller(plane, "left");
    team.create_all(&cron_job("report").manifest());
    let by_hand = ["create", "job", "by-hand", "--from=cronjob/report"];
    team.kubectl(&by_hand).success();
    team.create(deployment("web"));
    team.autoscale("web", 1, 4);
    let name = team.name().to_owned();
    drop(team);
    wait_until("no object creates pods", || {
        let get = ["get", "cj,job,hpa,deploy", "-o", "name", "-n", &name];
        plane.kubectl(&get).success() == "deployment.apps/web\n"
    });
}
