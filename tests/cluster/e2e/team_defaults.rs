//! Defaults of a team, in the ConfigMap `dayshift`, with the shipped permissions and policy.

use std::path::{Path, PathBuf};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, PostParams};
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::e2e::overrides::authors::apply_stamp;
use crate::e2e::test_namespace::TestNamespace;
use crate::rows::words;
use crate::support::{
    ControlPlane, Dayshift, Parts, Scenario, block_on, dayshift, deployment, eventually, scenarios,
    soon, try_create, wait_until,
};

const PERMISSION: &str = include_str!("../../../manifests/team-defaults.yaml");
const POLICY: &str = include_str!("../../../manifests/policy/team-defaults.yaml");
const WRITERS: &str = include_str!("../../../manifests/policy/writers.yaml");

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Server;
        team_without_namespace_rights_schedules_and_wakes_its_workloads,
        policy_rejects_invalid_team_defaults,
        policies_record_and_restrict_the_users_who_write_the_config_map,
    ]
}

/// A ServiceAccount that can list and watch ConfigMaps by the shipped manifest, and Deployments.
fn controller_account(team: &TestNamespace<'_>) -> PathBuf {
    let (plane, name) = (team.plane(), team.name());
    team.create_account("dayshift");
    let text = PERMISSION
        .replace(
            "name: dayshift-team-defaults",
            &format!("name: {name}-teams"),
        )
        .replace("namespace: dayshift\n", &format!("namespace: {name}\n"));
    assert_contains!(text, format!("namespace: {name}\n"));
    plane.apply(&text);
    let rules = [
        ("get,list,watch,patch", "deployments.apps", ""),
        ("create", "events.events.k8s.io", ""),
    ];
    team.grant_everywhere(&format!("{name}-scaler"), "dayshift", &rules);
    plane.kubeconfig_of(name, "dayshift")
}

/// A developer who may edit ConfigMaps and read Deployments in one namespace, and nothing else.
fn developer(team: &TestNamespace<'_>) -> PathBuf {
    team.create_account("jane");
    let rules = [
        ("get,create,patch,update,delete", "configmaps", ""),
        ("get,list,watch", "deployments.apps", ""),
    ];
    team.grant("developer", "jane", &rules);
    team.plane().kubeconfig_of(team.name(), "jane")
}

fn config_map(namespace: &str, data: &Value) -> NamedTempFile {
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"namespace": namespace, "name": "dayshift"}, "data": data,
    });
    let file = NamedTempFile::with_suffix(".json").unwrap();
    std::fs::write(file.path(), object.to_string()).unwrap();
    file
}

/// Replaces the ConfigMap of the team.
fn write(plane: &ControlPlane, who: &Path, namespace: &str, data: &Value) {
    let file = config_map(namespace, data);
    let path = file.path().to_str().unwrap();
    let exists = ["get", "configmap", "dayshift", "-n", namespace];
    let verb = if plane.kubectl_as(who, &exists).ok {
        "replace"
    } else {
        "create"
    };
    plane.kubectl_as(who, &[verb, "-f", path]).success();
}

fn run(who: &Path, line: &str) -> (Option<i32>, String) {
    dayshift(who, &words(line)).code_and_text()
}

/// The API server grants a list and a watch of all namespaces if the field selector names the ConfigMap.
fn assert_reads_only_the_named_config_maps(plane: &ControlPlane, who: &Path, namespace: &str) {
    let get = |path: &str| {
        let raw = ["get", "--raw", path];
        plane.kubectl_as(who, &raw)
    };
    wait_until("the API server has applied the permission", || {
        get("/api/v1/configmaps?fieldSelector=metadata.name%3Ddayshift").ok
    });
    let one = format!("/api/v1/namespaces/{namespace}/configmaps");
    for (path, is_allowed) in [
        (
            "/api/v1/configmaps?fieldSelector=metadata.name%3Ddayshift",
            true,
        ),
        (
            "/api/v1/configmaps?fieldSelector=metadata.name%3Ddayshift&watch=true&timeoutSeconds=1",
            true,
        ),
        (
            "/api/v1/configmaps?fieldSelector=metadata.name%3Ddayshift,metadata.namespace%21%3Dkube-system",
            true,
        ),
        (
            &format!("{one}?fieldSelector=metadata.name%3Ddayshift"),
            true,
        ),
        ("/api/v1/configmaps", false),
        (
            "/api/v1/configmaps?fieldSelector=metadata.name%21%3Dx",
            false,
        ),
        (
            "/api/v1/configmaps?fieldSelector=metadata.name%3Dkube-root-ca.crt",
            false,
        ),
        ("/api/v1/configmaps?watch=true&timeoutSeconds=1", false),
        (&one, false),
        (&format!("{one}/kube-root-ca.crt"), false),
        // The manifest allows no get.
        (&format!("{one}/dayshift"), false),
        (
            "/api/v1/secrets?fieldSelector=metadata.name%3Ddayshift",
            false,
        ),
    ] {
        let output = get(path);
        assert_eq!(output.ok, is_allowed, "{path}: {}", output.stderr);
        assert!(
            is_allowed || output.stderr.contains("forbidden"),
            "{}",
            output.stderr
        );
    }
}

fn team_without_namespace_rights_schedules_and_wakes_its_workloads(plane: &ControlPlane) {
    let team = TestNamespace::without_controller(plane, "owned");
    let other = TestNamespace::without_controller(plane, "owned-by-others");
    let controller = controller_account(&team);
    let (jane, joe) = (developer(&team), developer(&other));
    for namespace in [&team, &other] {
        let web = deployment("web").replicas(3);
        namespace.create(web.label("owner", team.name()));
    }
    assert_reads_only_the_named_config_maps(plane, &controller, team.name());
    // It watches all namespaces, but only the Deployments of this test.
    let selector = format!("--selector=owner={}", team.name());
    let mut scaler = Dayshift::run_as(
        &controller,
        &[
            "run",
            "--kinds=deployments",
            "--namespace-defaults=false",
            "--team-defaults",
            &selector,
        ],
    );
    scaler.wait_ready();
    scaler.await_every_watch();

    let stop = soon(6);
    write(
        plane,
        &jane,
        team.name(),
        &json!({"stop": stop.text(), "start": stop.plus(86_000).text()}),
    );
    team.await_label("web", "dayshift/state", "adopted");
    team.await_replicas("web", 0);
    assert_eq!(other.replicas("web"), 3);

    // A megabyte of text that JSON would write in six bytes for each, and then another team's edit.
    let large = json!({
        "metadata": {"name": "dayshift"}, "data": {"notes": "<".repeat(1_040_000)},
    });
    let large: ConfigMap = serde_json::from_value(large).unwrap();
    let api = Api::namespaced(plane.client_of(&joe), other.name());
    block_on(api.create(&PostParams::default(), &large)).unwrap();
    let (status, message) = run(
        &jane,
        &format!(
            "wake --team -n {} --for 1h --kinds=deployments --timeout=20s",
            team.name()
        ),
    );
    assert_eq!(status, Some(0), "{message}");
    assert_contains!(message, "1 of 1 workload");
    team.await_replicas("web", 3);
    let (_, shown) = run(
        &jane,
        &format!("status -n {} --kinds=deployments -o json", team.name()),
    );
    // Notes on standard error follow.
    let mut documents = serde_json::Deserializer::from_str(&shown).into_iter::<Value>();
    let shown = documents.next().unwrap().unwrap();
    assert_eq!(shown["workloads"][0]["from"], "team", "{shown}");
    let (status, message) = run(
        &jane,
        &format!(
            "resume --team -n {} --kinds=deployments --timeout=20s",
            team.name()
        ),
    );
    assert_eq!(status, Some(0), "{message}");
    team.await_replicas("web", 0);

    // She has no rights in the other namespace, and on no Namespace.
    for line in [
        format!(
            "wake --team -n {} --for 1h --kinds=deployments",
            other.name()
        ),
        format!("wake ns/{} --for 1h --kinds=deployments", team.name()),
    ] {
        let (status, message) = run(&jane, &line);
        assert_ne!(status, Some(0), "{line}: {message}");
    }
    // The mistake of the other team is reported where both can read it.
    wait_until("an Event about the ConfigMap", || {
        let events = other.read("api/v1", "events").unwrap();
        events["items"].as_array().unwrap().iter().any(|it| {
            it["involvedObject"]["kind"] == "ConfigMap" && it["reason"] == "InvalidSchedule"
        })
    });
    assert_eq!(other.replicas("web"), 3);
    let log = scaler.log();
    assert!(
        !log.contains("cannot be read") && !log.contains("the watch failed"),
        "{log}"
    );
    assert!(scaler.stop().success());
}

fn policy_rejects_invalid_team_defaults(plane: &ControlPlane) {
    let team = TestNamespace::without_controller(plane, "owned-policy");
    let limited = format!(
        "validationActions: [Deny]\n  matchResources: {{namespaceSelector: {{matchLabels: \
         {{kubernetes.io/metadata.name: {}}}}}}}",
        team.name()
    );
    let text = POLICY
        .replace(r#"validationActions: ["Warn", "Audit"]"#, &limited)
        .replace("dayshift-team-defaults", &format!("teams-{}", team.name()));
    assert_contains!(text, limited);
    plane.apply(&text);
    let rejection = |object: Value| {
        let uri = format!("/api/v1/namespaces/{}/configmaps?dryRun=All", team.name());
        try_create(plane.client(), &uri, &object).err()
    };
    let object = |name: &str, data: Value| {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"namespace": team.name(), "name": name}, "data": data,
        })
    };
    eventually("the policy is in force", || {
        rejection(object("dayshift", json!({"strat": "09:00"})))
    });
    for (data, expected) in [
        (
            json!({"hours": "Mon-Fry 09:00-19:00"}),
            "hours is not a list of windows",
        ),
        (
            json!({"hour": "09:00-19:00"}),
            "no such key of dayshift: hour",
        ),
        (json!({"dayshift/hours": "x"}), ""),
        (json!({"wake-until": "tonight"}), "wake-until is a time"),
        (
            json!({"hours": "09:00-19:00; ".repeat(400)}),
            "a value is longer than 4 kB",
        ),
        (
            json!({"hours": "09:00-19:00", "stop": "19:00"}),
            "hours cannot be combined",
        ),
    ] {
        let message = rejection(object("dayshift", data.clone())).expect("a rejection");
        assert!(message.contains(expected), "{data}: {message}");
        assert!(rejection(object("other", json!({"hour": "x"}))).is_none());
    }
    let mut binary = object("dayshift", json!({}));
    binary["binaryData"] = json!({"hours": "AAEC"});
    assert_contains!(rejection(binary).expect("a rejection"), "binaryData");
    let valid = json!({
        "hours": "Mon-Fri 09:00-19:00", "timezone": "Europe/Berlin", "except": "2026-12-24",
        "wake-until": "2026-12-24 18:00", "schedule": "office", "notice": "15m",
    });
    assert_eq!(rejection(object("dayshift", valid)), None);
    assert_eq!(rejection(object("dayshift", json!({}))), None);
}

/// `stamp.yaml` and `writers.yaml`.
fn policies_record_and_restrict_the_users_who_write_the_config_map(plane: &ControlPlane) {
    let team = TestNamespace::without_controller(plane, "owned-writers");
    let jane = developer(&team);
    apply_stamp(&team);
    let run = |user: &str, arguments: &[&str]| {
        let who = [&*format!("--as={user}"), "--as-group=system:masters"];
        team.kubectl(&[arguments, &who].concat()).success();
    };
    let by = || {
        let get = words("get configmap dayshift -o jsonpath={.data.override-by}");
        team.kubectl(&get).success()
    };
    let patch = |user: &str, data: Value| {
        let data = json!({"data": data}).to_string();
        run(
            user,
            &[
                "patch",
                "configmap",
                "dayshift",
                "--type=merge",
                "-p",
                &data,
            ],
        );
        by()
    };
    let claim = [
        "--from-literal=pause=true",
        "--from-literal=override-by=boss",
    ];
    let create = ["create", "configmap", "dayshift"];
    run("ann", &[&create[..], &claim].concat());
    assert_eq!(by(), "ann");
    assert_eq!(patch("kim", json!({"override-by": "boss"})), "ann");
    assert_eq!(patch("kim", json!({"hours": "09:00-19:00"})), "ann");
    assert_eq!(
        patch("kim", json!({"reason": "audit", "override-by": "boss"})),
        "kim"
    );
    assert_eq!(patch("ann", json!({"pause": null})), "");
    run(
        "ann",
        &[&["create", "configmap", "other"][..], &claim].concat(),
    );

    let account = format!("system:serviceaccount:{}:jane", team.name());
    let policy = WRITERS
        .replace("system:serviceaccount:shop:annotator", &account)
        .replace("dayshift-writers", &format!("writers-{}", team.name()));
    assert_contains!(policy, account);
    plane.apply(&policy);
    let as_jane = |arguments: &[&str]| {
        let namespace = ["-n", team.name()];
        plane.kubectl_as(&jane, &[arguments, &namespace].concat())
    };
    let merge = |patch: &str| {
        as_jane(&[
            "patch",
            "configmap",
            "dayshift",
            "--type=merge",
            "-p",
            patch,
        ])
    };
    let mut minute = 0;
    let refused = eventually("the policy is in force", || {
        minute += 1;
        let patch = json!({"data": {"hours": format!("09:00-18:{minute:02}")}});
        let answer = merge(&patch.to_string());
        (!answer.ok).then_some(answer.stderr)
    });
    assert_contains!(refused, "this user may not write the defaults of a team");
    for patch in [
        r#"{"binaryData": {"hours": "AAEC"}}"#,
        r#"{"data": {"wake-until": "2199-01-01 00:00"}}"#,
        r#"{"data": null}"#,
    ] {
        assert!(!merge(patch).ok, "{patch}");
    }
    merge(r#"{"metadata": {"labels": {"a": "b"}}}"#).success();
    as_jane(&["create", "configmap", "mine", "--from-literal=hours=x"]).success();
    as_jane(&["delete", "configmap", "dayshift"]).success();
    let created = as_jane(&["create", "configmap", "dayshift", "--from-literal=hours=x"]);
    assert!(!created.ok, "{created:?}");
}
