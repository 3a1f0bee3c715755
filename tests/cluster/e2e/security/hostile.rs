//! Attackers who may annotate Deployments (`docs/production/threat-model.md`).

use std::time::Instant;

use dayshift_workload::Key;
use serde_json::{Value, json};

use crate::e2e::kinds::{await_watchable, create, path_of};
use crate::e2e::test_namespace::TestNamespace;
use crate::support::{
    ControlPlane, Parts, Scenario, cron_job, deployment, eventually, nightly, scenarios, soon,
    stateful_set, try_create, try_patch, wait_until,
};

const WRITERS: &str = include_str!("../../../../manifests/policy/writers.yaml");

/// The policy that restricts the ServiceAccount of all controllers of these scenarios. If it denied too much,
/// other scenarios would fail.
const SCALER: &str = include_str!("../../../../manifests/policy/scaler.yaml");

pub(crate) fn scenarios() -> Vec<Scenario> {
    [
        scenarios![
            Parts::Server;
            user_who_can_annotate_one_deployment_scales_only_that_one,
            a_namespace_with_much_text_is_rejected_and_no_other_is_affected,
            stolen_token_can_only_change_counts,
        ],
        nightly(scenarios![
            Parts::Server;
            hundreds_of_large_texts_do_not_exhaust_the_memory,
        ]),
    ]
    .concat()
}

fn a_namespace_with_much_text_is_rejected_and_no_other_is_affected(plane: &ControlPlane) {
    write_much_text(plane, 20);
}

/// 32 MB of text at once, half of the memory limit of the shipped Deployment.
fn hundreds_of_large_texts_do_not_exhaust_the_memory(plane: &ControlPlane) {
    write_much_text(plane, 400);
}

/// A namespace with this many objects, each with twenty annotations of 4 kB, and 80 more with valid
/// annotations of 8 kB, beside a workload in another namespace. One controller with the shipped permissions
/// starts with all of them, as after an eviction.
fn write_much_text(plane: &ControlPlane, many: usize) {
    let mut evil = TestNamespace::without_controller(plane, "evil");
    let good = TestNamespace::without_controller(plane, "good");
    for number in 0..many {
        let keys = Key::ALL.map(Key::name).into_iter().take(4);
        let keys = keys.map(str::to_owned);
        let keys = keys.chain((0..16).map(|nth| format!("unknown-{nth}")));
        let web = deployment(&format!("large-{number:03}")).replicas(0);
        evil.create(keys.fold(web, |web, key| {
            let text = format!("{number} {key} {}", "x".repeat(4_000));
            web.annotation(&format!("dayshift/{key}"), text)
        }));
    }
    let padded = |time: String| time + &" ".repeat(4_000);
    for number in 0..80 {
        let web = deployment(&format!("long-{number:03}")).replicas(0);
        let start = padded(format!("first Mon 09:{:02}", number % 60));
        let stop = padded(format!("last Fri 19:{number:02}", number = number / 2));
        evil.create(web.start(start).stop(stop));
    }
    let stop = soon(25);
    good.create(deployment("web").replicas(2).stop(stop.text()));
    let id = evil.run(&["-n", good.name()]).id();
    good.await_adopted("web", stop);
    good.await_replicas("web", 0);
    good.assert_punctual("web", 1, stop);
    let mut no_room = 0;
    for name in evil.all_replicas().into_keys() {
        let outcome = || {
            let error = evil.annotation(&name, "dayshift/error");
            let is_adopted = evil.label(&name, "dayshift/state").is_some();
            error.map(Some).or_else(|| is_adopted.then_some(None))
        };
        match eventually("it is adopted or rejected", outcome) {
            Some(error) if name.starts_with("large") => {
                assert_contains!(error, "bytes together, and at most 8192");
            }
            Some(error) => {
                assert_contains!(error, "bytes that dayshift keeps");
                no_room += 1;
            }
            None => assert!(name.starts_with("long"), "{name}"),
        }
    }
    assert_eq!(no_room, 80 - 65);
    evil.await_event("large-000", "InvalidSchedule");
    let memory = anonymous_memory(id);
    assert!(memory < 32 << 20, "{memory} bytes");
    evil.stop_controllers();
}

/// The memory of a running program that is not a part of a file, in bytes (proc(5), `RssAnon`).
fn anonymous_memory(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let kibibytes = line.unwrap().trim().trim_end_matches(" kB");
    kibibytes.parse::<u64>().unwrap() * 1024
}

fn user_who_can_annotate_one_deployment_scales_only_that_one(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "annotator");
    let user = Annotator::new(&team);
    user.deny_spec_changes(&team);
    team.create(deployment("web").replicas(1));
    team.create(deployment("other").replicas(1));
    let begin = Instant::now();
    let scaled = || {
        // The count differs each time, because a request without a change is never denied.
        let count = 10 + begin.elapsed().as_millis() % 1000;
        user.merge("web", &json!({"spec": {"replicas": count}}))
    };
    wait_until("the user can no longer change the spec", || {
        scaled().is_err()
    });

    let start = soon(5);
    let schedule = json!({"dayshift/start": start.text(), "dayshift/replicas": "7"});
    user.merge("web", &json!({"metadata": {"annotations": schedule}}))
        .unwrap();
    team.await_adopted("web", start);
    team.await_replicas("web", 7);
    assert_eq!(team.replicas("other"), 1);

    user.annotates_the_namespace("dayshift/timezone", "Asia/Tokyo")
        .unwrap();
    user.deny_the_prefix(&team);
    let annotated = |key: &str, text: Option<u128>| {
        let annotations =
            json!({"metadata": {"annotations": {key: text.map(|it| it.to_string())}}});
        user.merge("other", &annotations)
    };
    team.annotate("other", "dayshift/pause", "true");
    wait_until("the user can no longer write dayshift annotations", || {
        let text = begin.elapsed().as_millis();
        annotated("dayshift/pause", Some(text)).is_err()
    });
    assert!(
        annotated("dayshift/pause", None).is_err(),
        "removing the annotation is forbidden too"
    );
    annotated("example.com/note", Some(1)).unwrap();
    // The next start would restore this count.
    let saved = json!({"metadata": {"labels": {"dayshift/saved-replicas": "900"}}});
    let labeled = user.merge("other", &saved).unwrap_err();
    assert_contains!(labeled, "may not write annotations and labels");
    let label = json!({"metadata": {"labels": {"example.com/note": "1"}}});
    user.merge("other", &label).unwrap();
    let pause = json!({"metadata": {"annotations": {"dayshift/pause": "false"}}});
    let through_status = user.merge("other/status", &pause).unwrap_err();
    assert_contains!(through_status, "may not write annotations");
    let created = user.creates_a_deployment("born", &pause).unwrap_err();
    assert_contains!(created, "may not write annotations");
    let inherited = user.annotates_the_namespace("dayshift/timezone", "UTC");
    assert!(inherited.is_err(), "{inherited:?}");
    user.annotates_the_namespace("example.com/note", "1")
        .unwrap();
}

/// With the token of dayshift's own ServiceAccount, under the shipped policy that restricts it.
fn stolen_token_can_only_change_counts(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "stolen");
    team.apply(SCALER);
    let operators = include_str!("operators.yaml");
    team.apply(&operators.replace("NAMESPACE", team.name()));
    let thief = plane.client_of(&plane.kubeconfig_of("dayshift", "dayshift"));
    let patch = |object: &str, patch: Value| try_patch(&thief, &path_of(&team, object), &patch);
    let meta = |key: &str, value: Value| json!({"metadata": {key: value}});
    create(&team, Value::from(stateful_set("db").replicas(2)));
    create(&team, Value::from(cron_job("report")));
    let job = ["create", "job", "once", "--image=busybox"];
    team.kubectl(&job).success();
    for (version, plural, kind) in [
        ("core.gardener.cloud/v1beta1", "shoots", "Shoot"),
        ("kubeflow.org/v1", "notebooks", "Notebook"),
    ] {
        await_watchable(plane, &format!("{version}/{plural}"));
        let spec = json!({"purpose": "testing"});
        let object =
            json!({"apiVersion": version, "kind": kind, "metadata": {"name": "it"}, "spec": spec});
        team.create_all(&object.to_string());
    }
    team.create(
        deployment("victim")
            .replicas(1)
            .annotation("example.com/a", "1"),
    );
    let begin = Instant::now();
    wait_until("the policy is in force", || {
        let text = begin.elapsed().as_millis().to_string();
        let other = meta("labels", json!({"example.com/b": text}));
        patch("deploy/victim", other).is_err()
    });
    let template = |spec: Value| json!({"spec": {"template": {"spec": spec}}});
    let image = template(json!({"containers": [{"name": "web", "image": "evil"}]}));
    let owner = json!([{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "x"}]);
    for (object, change) in [
        ("deploy/victim", image),
        (
            "deploy/victim",
            template(json!({"serviceAccountName": "admin"})),
        ),
        ("deploy/victim", template(json!({"hostNetwork": true}))),
        ("deploy/victim", json!({"spec": {"paused": true}})),
        (
            "deploy/victim",
            json!({"spec": {"strategy": {"type": "Recreate", "rollingUpdate": null}}}),
        ),
        (
            "deploy/victim",
            json!({"spec": {"revisionHistoryLimit": 3}}),
        ),
        (
            "deploy/victim",
            meta("annotations", json!({"example.com/a": null})),
        ),
        (
            "deploy/victim",
            meta("annotations", json!({"dayshift.example.com/a": "1"})),
        ),
        (
            "deploy/victim",
            meta("finalizers", json!(["example.com/x"])),
        ),
        ("deploy/victim", meta("ownerReferences", owner)),
        ("deploy/victim", meta("managedFields", json!([{}]))),
        (
            "sts/db",
            json!({"spec": {"replicas": 1, "minReadySeconds": 5}}),
        ),
        (
            "sts/db",
            json!({"spec": {"suspend": true, "minReadySeconds": 5}}),
        ),
        ("cj/report", json!({"spec": {"schedule": "* * * * *"}})),
        (
            "cj/report",
            json!({"spec": {"suspend": true, "concurrencyPolicy": "Forbid"}}),
        ),
        (
            "job/once",
            json!({"spec": {"suspend": true, "parallelism": 9}}),
        ),
        ("job/once", json!({"spec": {"activeDeadlineSeconds": 1}})),
        ("job/once", json!({"spec": {"ttlSecondsAfterFinished": 0}})),
        ("job/once", meta("labels", json!({"app": "evil"}))),
        ("job/once", meta("finalizers", json!(["example.com/x"]))),
        ("shoots/it", json!({"spec": {"purpose": "production"}})),
        (
            "shoots/it",
            json!({"spec": {"hibernation": {"enabled": true, "schedules": []}}}),
        ),
        ("notebooks/it", json!({"spec": {"replicas": 1}})),
        (
            "deploy/victim",
            meta("annotations", json!({"kubeflow-resource-stopped": "x"})),
        ),
    ] {
        let refused = patch(object, change.clone()).unwrap_err();
        assert_contains!(refused, "dayshift changes ", "{object}: {change}");
    }
    for (object, change) in [
        ("deploy/victim", json!({"spec": {"replicas": 4}})),
        (
            "deploy/victim",
            meta("annotations", json!({"dayshift/note": "1"})),
        ),
        ("sts/db", json!({"spec": {"replicas": 1}})),
        ("cj/report", json!({"spec": {"suspend": true}})),
        (
            "job/once",
            json!({
                "metadata": {"labels": {"dayshift/suspended-by": "x"}},
                "spec": {"suspend": true},
            }),
        ),
        (
            "shoots/it",
            json!({"spec": {"hibernation": {"enabled": true}}}),
        ),
        ("shoots/it", json!({"spec": {"hibernation": null}})),
        (
            "notebooks/it",
            meta("annotations", json!({"kubeflow-resource-stopped": "x"})),
        ),
    ] {
        patch(object, change).unwrap();
    }

    let event = |controller: &str| {
        let event = json!({
            "apiVersion": "events.k8s.io/v1", "kind": "Event",
            "metadata": {"name": format!("forged-{controller}"), "namespace": team.name()},
            "eventTime": "2026-11-20T19:00:00.000000Z", "type": "Normal", "action": "Scale",
            "reason": "Scaled", "reportingController": controller, "reportingInstance": "x",
            "regarding": {"kind": "Deployment", "name": "victim", "namespace": team.name()},
        });
        let events = format!("/apis/events.k8s.io/v1/namespaces/{}/events", team.name());
        try_create(&thief, &events, &event)
    };
    event("dayshift").unwrap();
    let forged = event("deployment-controller").unwrap_err();
    assert_contains!(forged, "only in its own name");

    // dayshift's own changes are allowed, on an object with and one without labels and annotations.
    let stop = soon(6);
    let start = stop.plus(4);
    team.create(
        deployment("web")
            .replicas(3)
            .stop(stop.text())
            .start(start.text()),
    );
    team.await_adopted("web", stop);
    team.await_stopped("web", start);
    team.await_replicas("web", 3);
    team.assert_punctual("web", 1, stop);
    team.assert_punctual("web", 2, start);
}

/// A ServiceAccount that may patch Deployments of the team, and its Namespace.
struct Annotator {
    client: kube::Client,
    namespace: String,
}

impl Annotator {
    fn new(team: &TestNamespace<'_>) -> Self {
        let namespace = team.name().to_owned();
        team.create_account("annotator");
        let resources = "deployments.apps,deployments.apps/status";
        team.grant(
            "annotator",
            "annotator",
            &[("get,patch,create", resources, "")],
        );
        let role = format!("annotator-{namespace}");
        team.grant_everywhere(
            &role,
            "annotator",
            &[("get,patch", "namespaces", &namespace)],
        );
        let plane = team.plane();
        Self {
            client: plane.client_of(&plane.kubeconfig_of(&namespace, "annotator")),
            namespace,
        }
    }

    fn annotates_the_namespace(&self, key: &str, value: &str) -> Result<Value, String> {
        let namespace = format!("/api/v1/namespaces/{}", self.namespace);
        let patch = json!({"metadata": {"annotations": {key: value}}});
        try_patch(&self.client, &namespace, &patch)
    }

    fn deployments(&self) -> String {
        format!("/apis/apps/v1/namespaces/{}/deployments", self.namespace)
    }

    fn creates_a_deployment(&self, name: &str, with: &Value) -> Result<Value, String> {
        let mut object = Value::from(deployment(name));
        object["metadata"]["annotations"] = with["metadata"]["annotations"].clone();
        try_create(&self.client, &self.deployments(), &object)
    }

    /// Changes a Deployment, such as `web`, or a subresource, such as `web/status`.
    fn merge(&self, name: &str, patch: &Value) -> Result<Value, String> {
        let uri = format!("{}/{name}", self.deployments());
        try_patch(&self.client, &uri, patch)
    }

    /// Applies the shipped policy to this account.
    fn deny_the_prefix(&self, team: &TestNamespace<'_>) {
        let them = format!("system:serviceaccount:{}:annotator", self.namespace);
        let policy = WRITERS
            .replace("system:serviceaccount:shop:annotator", &them)
            .replace("dayshift-writers", &format!("{}-writers", self.namespace));
        assert_contains!(policy, them);
        team.apply(&policy);
    }

    /// Denies changes of the spec of Deployments.
    fn deny_spec_changes(&self, team: &TestNamespace<'_>) {
        let user = format!("system:serviceaccount:{}:annotator", self.namespace);
        let name = format!("{}-spec", self.namespace);
        let policy = json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": name},
            "spec": {
                "matchConstraints": {"resourceRules": [{
                    "apiGroups": ["apps"], "apiVersions": ["v1"],
                    "operations": ["UPDATE"], "resources": ["deployments"],
                }]},
                "matchConditions": [{
                    "name": "them", "expression": format!("request.userInfo.username == '{user}'"),
                }],
                "validations": [{"expression": "object.spec == oldObject.spec"}],
            },
        });
        let binding = json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": name},
            "spec": {"policyName": name, "validationActions": ["Deny"]},
        });
        for object in [policy, binding] {
            team.apply(&object.to_string());
        }
    }
}
