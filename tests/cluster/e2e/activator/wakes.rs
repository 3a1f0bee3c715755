//! `dayshift activator` with `manifests/activator.yaml`: its writes, and the admission policies of the
//! manifest.
//!
//! The addresses of kwok's pods are not reachable. The tests of `crates/activator` show on loopback sockets
//! that a connection reaches a pod.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use k8s_openapi::api::{apps::v1::Deployment, discovery::v1::EndpointSlice};
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams},
};
use serde_json::{Value, json};

use crate::e2e::activator::stand_ins::{addresses, await_stand_in, install, service, stand_in};
use crate::e2e::test_namespace::TestNamespace;
use crate::rows::rows;
use crate::support::{
    ControlPlane, Dayshift, Parts, Scenario, block_on, deployment, eventually, scenarios,
    wait_until,
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Pods;
        connection_wakes_a_stopped_workload_with_one_patch,
        stolen_activator_token_can_only_wake_and_write_its_own_slices,
        policies_allow_slices_of_others_while_the_activator_has_no_pods,
        activator_serves_only_labeled_namespaces_with_its_policy,
        only_the_activator_can_write_its_slices,
    ]
}

fn connection_wakes_a_stopped_workload_with_one_patch(plane: &ControlPlane) {
    let activator = install(plane);
    let team = TestNamespace::new(plane, "requests");
    team.create(
        deployment("web")
            .replicas(2)
            .hours("00:00-24:00")
            .annotation("dayshift/wake-on-request", "2h; keep 8h"),
    );
    team.apply(&service("web"));
    let mut program = Dayshift::run_as(
        &activator,
        &[
            "activator",
            "--listen=127.0.0.1:0",
            "--bind=127.0.0.1",
            "--ports=21000-21099",
            "--hold=5s",
            "--namespace",
            team.name(),
        ],
    );
    program.wait_ready();
    await_stand_in(&team, "web", false);

    let sleep_until = |text: &str| {
        team.annotate("web", "dayshift/sleep-until", text);
    };
    sleep_until("2099-01-01 00:00; no-request-wake");
    team.await_label("web", "dayshift/state", "slept");
    team.await_pods("web", 0);
    // Until the start, requests must not reach a ready pod.
    let on_node = |label: Value| {
        let patch =
            json!({"spec": {"template": {"spec": {"nodeSelector": {"example.com/node": label}}}}});
        team.merge("web", &patch);
    };
    on_node(json!("none"));
    let slice = await_stand_in(&team, "web", true);
    let mut endpoints: Vec<_> = slice["endpoints"].as_array().unwrap().iter().collect();
    endpoints.sort_by_key(|it| it["addresses"][0].as_str().unwrap().to_owned());
    let written: Vec<_> = endpoints
        .iter()
        .map(|it| it["addresses"][0].as_str().unwrap())
        .collect();
    assert_eq!(
        written,
        addresses(plane),
        "the slice contains only the pods of the activator"
    );
    assert_eq!(slice["metadata"]["ownerReferences"][0]["name"], "web");
    let port = u16::try_from(slice["ports"][0]["port"].as_u64().unwrap()).unwrap();

    let ask = |agent: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        write!(
            stream,
            "GET /cart?token=secret HTTP/1.1\r\nHost: dev.example.com\r\nUser-Agent: {agent}\r\nAccept: \
             text/html\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let probe = ask("kube-probe/1.36");
    assert_contains!(probe, "this request does not wake it");
    let closed = ask("Mozilla/5.0");
    assert_contains!(closed, "This service is closed");
    assert_contains!(closed, "requests do not wake it");
    assert_eq!(team.annotation("web", "dayshift/wake-until"), None);

    sleep_until("2099-01-01 00:00");
    wait_until("a request wakes it again", || {
        let page = ask("Mozilla/5.0");
        page.contains("This service is starting")
    });
    for _ in 0..20 {
        let page = ask("Mozilla/5.0");
        assert_contains!(page, "This service is starting");
    }
    team.await_label("web", "dayshift/state", "woken");
    team.await_replicas("web", 2);
    let reported = team.await_event("web", "WokenByRequest");
    // Not the host and the path, which every client can choose.
    let expected = "A request from 127.0.0.1 to Service web, port http, wakes it until 2";
    assert_starts_with!(reported, expected);
    let until = || {
        let until = team.annotation("web", "dayshift/wake-until").unwrap();
        until.parse::<chrono::DateTime<chrono::Utc>>().unwrap()
    };
    let woken_until = until();
    wait_until("a visitor can keep it awake", || {
        let page = ask("Mozilla/5.0");
        page.contains("Keep it awake until ")
    });
    let keep = |origin: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        write!(
            stream,
            "POST /dayshift-keep-awake HTTP/1.1\r\nHost: dev.example.com\r\nOrigin: {origin}\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let forged = keep("https://evil.example.com");
    assert_starts_with!(forged, "HTTP/1.1 403 ");
    assert_eq!(until(), woken_until);
    for _ in 0..5 {
        let kept = keep("https://dev.example.com");
        assert_starts_with!(kept, "HTTP/1.1 200 ");
    }
    // The wake began a moment after the request.
    let longer = (until() - woken_until).num_seconds();
    assert!((21_600..21_660).contains(&longer), "{longer}");
    wait_until("the Event of the visit", || {
        let events = team.read("api/v1", "events").unwrap();
        let expected = "to Service web, port http, keeps it awake until 2";
        events.to_string().contains(expected)
    });
    on_node(Value::Null);
    await_stand_in(&team, "web", false);
    let reason = team.annotation("web", "dayshift/reason");
    assert_eq!(
        reason, None,
        "the sleep of another user continues after the wake"
    );
    assert_eq!(
        team.annotation("web", "dayshift/sleep-until").as_deref(),
        Some("2099-01-01 00:00")
    );
    let account = "system:serviceaccount:dayshift:dayshift-activator";
    let patches = || {
        let changes = team.changes_by_others().into_iter();
        changes
            .filter(|it| it.user == account && it.code == 200)
            .count()
    };
    wait_until("the audit log has the patch", || patches() > 0);
    wait_until("the audit log has both patches", || patches() > 1);
    assert_eq!(
        patches(),
        2,
        "many connections cause one patch, and many visits another"
    );

    // No workload depends on `db` any more.
    team.annotate("web", "dayshift/wake-on-request", None);
    wait_until("the slice is deleted", || stand_in(&team, "web").is_none());
    let status = program.stop();
    assert!(status.success(), "{status}\n{}", program.log());
}

/// Applies a slice, and returns the error.
fn apply(client: &kube::Client, namespace: &str, slice: &Value) -> Option<String> {
    let slices: Api<EndpointSlice> = Api::namespaced(client.clone(), namespace);
    let name = slice["metadata"]["name"].as_str().unwrap();
    let params = PatchParams::apply("thief").force();
    let result = block_on(slices.patch(name, &params, &Patch::Apply(slice)));
    result.err().map(|error| error.to_string())
}

/// The policies of an activator that has no Service yet deny the EndpointSlices of activators, but not those
/// of other controllers. The activator that writes slices here is another one. It has pods, so its own
/// policies do not deny them.
fn policies_allow_slices_of_others_while_the_activator_has_no_pods(plane: &ControlPlane) {
    let activator = plane.client_of(&install(plane));
    let address = &addresses(plane)[0];
    let team = TestNamespace::without_controller(plane, "no-pods");
    let here = format!(
        "\n  matchResources: {{namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: {}}}}}}}\n  \
            validationActions",
        team.name()
    );
    let documents = include_str!("../../../../manifests/activator.yaml").split("\n---\n");
    let policies: Vec<_> = documents
        .filter(|document| document.contains("kind: ValidatingAdmissionPolicy"))
        // The policy denies these writes of the activator too.
        .filter(|document| !document.contains("name: dayshift-activator-owner\n"))
        .collect();
    assert_eq!(policies.len(), 10);
    let policies = policies.join("\n---\n");
    let policies = policies.replace("dayshift-activator", "dayshift-nobody");
    let policies = policies.replace("\n  validationActions", &here);
    team.apply(&policies);
    let slice = |name: &str, manager: &str| {
        json!({
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
            "metadata": {"name": name, "labels": {
                "kubernetes.io/service-name": "web", "endpointslice.kubernetes.io/managed-by": manager,
            }},
            "addressType": "IPv4", "endpoints": [{"addresses": [address]}], "ports": [],
        })
    };
    let mut tries = 0;
    eventually("a slice of an activator without pods is rejected", || {
        tries += 1;
        let own = slice(&format!("web-dayshift-{tries}"), "dayshift");
        apply(&activator, team.name(), &own).filter(|output| output.contains("no params found"))
    });
    let others = slice("web-abcde", "endpointslice-controller.k8s.io");
    assert_eq!(apply(plane.client(), team.name(), &others), None);
    team.remove_all(&policies);
}

/// The policy of this test applies only to its own namespaces, because others use the same server.
fn activator_serves_only_labeled_namespaces_with_its_policy(plane: &ControlPlane) {
    let activator = install(plane);
    let [asking, other] =
        ["labeled", "unlabeled"].map(|name| TestNamespace::without_controller(plane, name));
    let policy = include_str!("../../../../manifests/policy/activator-namespaces.yaml");
    let own = format!(
        "values: [allowed]}}\n        - {{key: kubernetes.io/metadata.name, operator: In, values: [{}, {}]}}",
        asking.name(),
        other.name()
    );
    let policy = policy.replace("values: [allowed]}", &own);
    assert_contains!(policy, own);
    other.apply(&policy);
    let label = json!({"metadata": {"labels": {"dayshift-activator": "allowed"}}});
    plane.patch(&format!("/api/v1/namespaces/{}", asking.name()), &label);
    let thief = plane.client_of(&activator);
    let slice = |team: &TestNamespace<'_>, name: &str| {
        json!({
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
            "metadata": {"name": format!("{name}-dayshift"), "namespace": team.name(), "labels": {
                "kubernetes.io/service-name": name, "endpointslice.kubernetes.io/managed-by": "dayshift",
            }},
            "addressType": "IPv4", "endpoints": [],
            "ports": [{"name": "http", "port": 20_001, "protocol": "TCP"}],
        })
    };
    let mut number = 0;
    eventually("the policy is in force", || {
        number += 1;
        let name = format!("s{number}");
        let denial = apply(&thief, other.name(), &slice(&other, &name))?;
        denial
            .contains("serves only namespaces with the label")
            .then_some(())
    });
    assert_eq!(apply(&thief, asking.name(), &slice(&asking, "web")), None);
    other.remove_all(&policy);
}

/// If users could write the port of another team's slice into their own, they would get that team's
/// connections.
fn only_the_activator_can_write_its_slices(plane: &ControlPlane) {
    let activator = plane.client_of(&install(plane));
    let team = TestNamespace::without_controller(plane, "ports");
    let own = addresses(plane);
    let slice = |name: &str, port: u16| {
        json!({
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
            "metadata": {"name": name, "labels": {
                "kubernetes.io/service-name": "web", "endpointslice.kubernetes.io/managed-by": "dayshift",
            }},
            "addressType": "IPv4", "ports": [{"name": "http", "port": port, "protocol": "TCP"}],
            "endpoints": [{"addresses": [own[0]]}],
        })
    };
    let stand_in = slice("web-dayshift", 20_000);
    assert_eq!(apply(&activator, team.name(), &stand_in), None);
    let mut tries = 0;
    eventually("another user cannot create such a slice", || {
        tries += 1;
        let created = apply(
            plane.client(),
            team.name(),
            &slice(&format!("web-dayshift-{tries}"), 20_000),
        );
        created.filter(|message| message.contains("only the activator"))
    });
    let slices: Api<EndpointSlice> = Api::namespaced(plane.client().clone(), team.name());
    for patch in [
        json!({"ports": [{"name": "http", "port": 20_001, "protocol": "TCP"}]}),
        json!({"metadata": {"labels": {"endpointslice.kubernetes.io/managed-by": null}}}),
    ] {
        let patched = block_on(slices.patch(
            "web-dayshift",
            &PatchParams::default(),
            &Patch::Merge(&patch),
        ));
        let message = patched.unwrap_err().to_string();
        assert!(message.contains("only the activator"), "{patch}: {message}");
    }
    // A user who may delete the slice can turn the activator off for the Service.
    block_on(slices.delete("web-dayshift", &DeleteParams::default())).unwrap();
}

fn stolen_activator_token_can_only_wake_and_write_its_own_slices(plane: &ControlPlane) {
    let thief = plane.client_of(&install(plane));
    let team = TestNamespace::without_controller(plane, "stolen");
    let namespace = team.name().to_owned();
    let own = addresses(plane);
    let slice = |name: &str, manager: &str, kind: &str, address: &str| {
        json!({
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
            "metadata": {"name": name, "labels": {
                "kubernetes.io/service-name": "web", "endpointslice.kubernetes.io/managed-by": manager,
            }},
            "addressType": kind, "ports": [{"name": "http", "port": 20000, "protocol": "TCP"}],
            "endpoints": [{"addresses": [address]}],
        })
    };
    let deployments: Api<Deployment> = Api::namespaced(thief.clone(), &namespace);
    let patch = |name: &str, patch: Value| {
        let result =
            block_on(deployments.patch(name, &PatchParams::default(), &Patch::Merge(patch)));
        result.err().map(|error| error.to_string())
    };
    // A policy takes effect shortly after it is applied.
    for (policy, manager) in [("addresses", "dayshift"), ("slices", "me")] {
        eventually(&format!("the policy of {policy} is in force"), || {
            let foreign = slice("web-dayshift-probe", manager, "IPv4", "10.9.9.9");
            apply(&thief, &namespace, &foreign).map(|_| ())
        });
    }
    team.create(deployment("probe"));
    let mut tries = 0;
    eventually("the policy for wakes is in force", || {
        tries += 1;
        let other = json!({"metadata": {"labels": {"try": tries.to_string()}}});
        patch("probe", other).map(|_| ())
    });
    for (case, object, expected) in [
        (
            "its own",
            slice("web-dayshift", "dayshift", "IPv4", &own[0]),
            None,
        ),
        (
            "another address",
            slice("web-dayshift", "dayshift", "IPv4", "10.9.9.9"),
            Some("only the addresses of its own pods"),
        ),
        (
            "a host name",
            slice("web-dayshift-2", "dayshift", "FQDN", "example.com"),
            // Either of two policies denies it.
            Some("address"),
        ),
        (
            "another manager",
            slice("web-dayshift-3", "me", "IPv4", &own[0]),
            Some("only its own EndpointSlices"),
        ),
        (
            "another name",
            slice("api-dayshift", "dayshift", "IPv4", &own[0]),
            Some("only its own EndpointSlices"),
        ),
        (
            "a family that the activator does not have",
            slice("web-dayshift-v6", "dayshift", "IPv6", "2001:db8::1"),
            Some("no address of this family"),
        ),
        (
            "a port outside of its range",
            with_port(
                slice("web-dayshift", "dayshift", "IPv4", &own[0]),
                53,
                "TCP",
            ),
            Some("only TCP ports"),
        ),
        (
            "another protocol",
            with_port(
                slice("web-dayshift", "dayshift", "IPv4", &own[0]),
                20_000,
                "UDP",
            ),
            Some("only TCP ports"),
        ),
    ] {
        let output = apply(&thief, &namespace, &object);
        match expected {
            None => assert_eq!(output, None, "{case}"),
            Some(words) => {
                let output = output.unwrap_or_else(|| panic!("{case}: the slice is accepted"));
                assert!(output.contains(words), "{case}: {output}");
            }
        }
    }
    for (namespace, service) in [("kube-system", "kube-dns"), ("default", "kubernetes")] {
        let mut object = slice(&format!("{service}-dayshift"), "dayshift", "IPv4", &own[0]);
        object["metadata"]["labels"]["kubernetes.io/service-name"] = json!(service);
        let denial = apply(&thief, namespace, &object).unwrap_or_default();
        assert_contains!(
            denial,
            "no endpoints to Services of Kubernetes itself",
            "{service}"
        );
    }
    let ours = slice("web-others", "somebody", "IPv4", "10.9.9.9");
    assert_eq!(apply(plane.client(), &namespace, &ours), None);
    let slices: Api<EndpointSlice> = Api::namespaced(thief.clone(), &namespace);
    let delete = |name: &str| block_on(slices.delete(name, &DeleteParams::default())).is_ok();
    assert!(!delete("web-others") && delete("web-dayshift"));

    for (name, state, asks) in [
        ("asleep", "stopped", true),
        ("awake", "running", true),
        ("other", "stopped", false),
    ] {
        let mut web = deployment(name).replicas(0).label("dayshift/state", state);
        if asks {
            web = web.annotation("dayshift/wake-on-request", "2h");
        }
        team.create(web);
    }
    let woken = deployment("woken")
        .replicas(1)
        .label("dayshift/state", "woken");
    let woken = woken.label("dayshift/next", "2026-12-24T18.00.00Z");
    let woken = woken.annotation("dayshift/wake-until", "2026-12-24 18:00");
    team.create(woken.annotation("dayshift/wake-on-request", "30m; while-used"));
    let table = r#"
        a wake => asleep => {"metadata": {"annotations": {"dayshift/wake-until": "2026-12-24 18:00"}}} => accepted
        a wake of a running workload => awake => {"metadata": {"annotations": {"dayshift/wake-until": "2026-12-24 18:00"}}} => denied
        a wake without wake-on-request => other => {"metadata": {"annotations": {"dayshift/wake-until": "2026-12-24 18:00"}}} => denied
        a shorter wake => woken => {"metadata": {"annotations": {"dayshift/wake-until": "2026-12-24T18:59:59+01:00"}}} => denied
        a wake without an offset => woken => {"metadata": {"annotations": {"dayshift/wake-until": "2026-12-24T19:00:00"}}} => denied
        the end of a wake => woken => {"metadata": {"annotations": {"dayshift/wake-until": null}}} => denied
        a longer wake => woken => {"metadata": {"annotations": {"dayshift/wake-until": "2026-12-24T19:00:01+01:00"}}} => accepted
        a count => asleep => {"spec": {"replicas": 3}} => denied
        an image => asleep => {"spec": {"template": {"metadata": {"labels": {"a": "b"}}}}} => denied
        a label => asleep => {"metadata": {"labels": {"dayshift/state": "running"}}} => denied
        a finalizer => asleep => {"metadata": {"finalizers": ["example.com/a"]}} => denied
        another annotation => asleep => {"metadata": {"annotations": {"dayshift/stop": "00:00"}}} => denied
        another author => asleep => {"metadata": {"annotations": {"dayshift/wake-until": "2026-12-24 18:00", "dayshift/override-by": "jane"}}} => denied
        a removed annotation => asleep => {"metadata": {"annotations": {"dayshift/wake-on-request": null}}} => denied
    "#;
    for [case, name, change, outcome] in rows(table) {
        let output = patch(name, serde_json::from_str(change).unwrap());
        let is_taken = outcome == "accepted";
        assert_eq!(output.is_none(), is_taken, "{case}: {output:?}");
        let by_policy = output.is_none_or(|it| it.contains("denied request: the activator "));
        assert!(by_policy, "{case}");
    }
}

fn with_port(mut slice: Value, port: u16, protocol: &str) -> Value {
    slice["ports"] = json!([{"name": "http", "port": port, "protocol": protocol}]);
    slice
}
