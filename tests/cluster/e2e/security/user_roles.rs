//! `manifests/users/roles.yaml`: the permissions of users with these roles, bound directly or
//! through Kubernetes' own roles, in one namespace and in all.

use std::path::{Path, PathBuf};

use crate::e2e::test_namespace::TestNamespace;
use crate::rows::words;
use crate::support::{
    ControlPlane, Parts, Scenario, dayshift, deployment, scenarios, soon, wait_until,
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Pods;
        user_role_can_run_every_command_and_viewer_role_only_reads,
        view_and_edit_roles_include_the_permissions,
        user_role_grants_only_the_permissions_that_commands_need,
    ]
}

/// The commands that change a workload, and those that only read.
const WRITES: [&str; 7] = [
    "sleep deploy/web --for 1h",
    "resume deploy/web",
    "pause deploy/web",
    "resume --all",
    "wake --all --for 1h",
    "sync deploy/web",
    "restore deploy/web",
];
const LOOKS: [&str; 3] = ["status", "status deploy/web", "plan -o table"];

/// A user with that ClusterRole in the namespace, or in all.
fn person(team: &TestNamespace<'_>, name: &str, role: &str, is_in_all: bool) -> PathBuf {
    team.create_account(name);
    let binding = format!("{}-{name}", team.name());
    if is_in_all {
        team.bind_everywhere(role, &binding, name);
    } else {
        team.bind("ClusterRole", role, &binding, name);
    }
    team.plane().kubeconfig_of(team.name(), name)
}

/// Waits until Kubernetes' own role contains the added rules.
fn await_aggregated(plane: &ControlPlane, role: &str) {
    wait_until(&format!("{role} has the kinds of KEDA"), || {
        let role = plane.read(&format!(
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/{role}"
        ));
        role.unwrap()["rules"].to_string().contains("keda.sh")
    });
}

/// Waits until the API server has applied a permission of an account.
fn await_right(team: &TestNamespace<'_>, account: &str, verb: &str, resource: &str) {
    wait_until(&format!("{account} can {verb} {resource}"), || {
        team.can(account, verb, resource)
    });
}

/// Exit status and all output of `dayshift`.
fn run(who: &Path, line: &str, scope: &[&str]) -> (Option<i32>, String) {
    dayshift(who, &[&words(line), scope].concat()).code_and_text()
}

fn assert_can_run_everything(who: &Path, scope: &[&str]) {
    for line in LOOKS.iter().chain(&WRITES) {
        let (code, message) = run(who, line, scope);
        assert_eq!(code, Some(0), "{line}: {message}");
        assert!(!message.contains("not allowed"), "{line}: {message}");
    }
}

fn assert_can_only_read(who: &Path, scope: &[&str]) {
    for line in LOOKS {
        let (code, message) = run(who, line, scope);
        assert_eq!(code, Some(0), "{line}: {message}");
        assert!(!message.contains("not allowed"), "{line}: {message}");
    }
    let (code, message) = run(who, WRITES[0], scope);
    assert_eq!(code, Some(3), "{message}");
    assert_contains!(message, "cannot patch");
}

/// A namespace whose controller has adopted `web`.
fn team<'a>(plane: &'a ControlPlane, name: &str) -> TestNamespace<'a> {
    plane.apply_file("manifests/users/roles.yaml");
    let team = TestNamespace::new(plane, name);
    let now = soon(0);
    let (start, stop) = (now.plus(-3600).text(), now.plus(7200).text());
    team.create(deployment("web").replicas(3).start(start).stop(stop));
    team.await_label("web", "dayshift/state", "adopted");
    team
}

fn user_role_can_run_every_command_and_viewer_role_only_reads(plane: &ControlPlane) {
    let team = team(plane, "people");
    let here = ["-n", team.name()];
    let viewer = person(&team, "viewer", "dayshift-viewer", false);
    await_right(&team, "viewer", "list", "cronjobs.batch");
    assert_can_only_read(&viewer, &here);

    let user = person(&team, "user", "dayshift-user", false);
    await_right(&team, "user", "patch", "deployments.apps");
    assert_can_run_everything(&user, &here);
    assert_eq!(team.replicas("web"), 3);
    let (code, message) = run(&user, "status", &["-A"]);
    assert_eq!(code, Some(3), "{message}");

    // In all namespaces.
    let everywhere = person(&team, "everywhere", "dayshift-user", true);
    wait_until("everywhere can patch in each namespace", || {
        let account = (team.name(), "everywhere");
        plane.can(account, "patch", "deployments.apps", "default")
    });
    assert_can_run_everything(&everywhere, &here);
    let (code, message) = run(&everywhere, "status", &["-A"]);
    assert!(
        code != Some(3) && !message.contains("not allowed"),
        "{message}"
    );
    assert_contains!(message, team.name());
}

fn view_and_edit_roles_include_the_permissions(plane: &ControlPlane) {
    let team = team(plane, "aggregated");
    let here = ["-n", team.name()];
    let viewer = person(&team, "viewer", "view", false);
    await_aggregated(plane, "view");
    await_right(&team, "viewer", "list", "scaledobjects.keda.sh");
    assert_can_only_read(&viewer, &here);

    let editor = person(&team, "editor", "edit", false);
    await_aggregated(plane, "edit");
    await_right(&team, "editor", "list", "scaledobjects.keda.sh");
    assert_can_run_everything(&editor, &here);
}

fn user_role_grants_only_the_permissions_that_commands_need(plane: &ControlPlane) {
    plane.apply_file("manifests/users/roles.yaml");
    let team = TestNamespace::without_controller(plane, "bounded-people");
    let user = person(&team, "user", "dayshift-user", false);
    await_right(&team, "user", "patch", "deployments.apps");
    let list = ["auth", "can-i", "--list", "--no-headers", "-n", team.name()];
    let listed = plane.kubectl_as(&user, &list).success();
    let writes: Vec<_> = listed
        .lines()
        .filter(|row| !row.trim_start().starts_with('[') && !row.contains(".k8s.io "))
        .filter(|row| {
            ["patch", "update", "create", "delete", "*"]
                .iter()
                .any(|verb| row.contains(verb))
        })
        .map(|row| row.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(writes.len(), 3, "{writes:#?}");
    for row in &writes {
        assert_ends_with!(row, "[get list watch patch]");
    }
    for (verb, resource) in [
        ("get", "secrets"),
        ("patch", "namespaces"),
        ("patch", "horizontalpodautoscalers.autoscaling"),
        ("patch", "scaledobjects.keda.sh"),
        ("patch", "rollouts.argoproj.io"),
        ("delete", "deployments.apps"),
        ("create", "pods"),
        ("create", "events"),
    ] {
        assert!(!team.can("user", verb, resource), "{verb} {resource}");
    }
}
