//! Annotations of a Namespace, which are defaults for its workloads.

use std::path::Path;

use serde_json::Value;

use crate::e2e::kinds::{STATE, await_field, create, field};
use crate::e2e::test_namespace::TestNamespace;
use crate::support::{
    ControlPlane, Dayshift, Parts, Scenario, Soon, cron_job, deployment, eventually, scenarios,
    soon, stateful_set, wait_until,
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    [
        scenarios![Parts::Pods; recreated_namespace_does_not_keep_the_old_schedule],
        scenarios![
            Parts::Server;
            all_kinds_inherit_with_one_request_for_each_transition,
            forbidden_namespace_leaves_its_workloads_unchanged,
            controller_without_namespace_defaults_reads_no_namespace,
            sixty_named_namespaces_delay_no_patch,
        ],
    ]
    .concat()
}

/// Annotates the Namespace itself like `kubectl annotate`: `stop=19:00`, or `stop-`.
fn annotate(team: &TestNamespace<'_>, texts: &[String]) {
    let texts: Vec<_> = texts.iter().map(|it| format!("dayshift/{it}")).collect();
    team.annotate_namespace(&texts.iter().map(String::as_str).collect::<Vec<_>>());
}

fn stop_at(stop: Soon) -> String {
    format!("stop={}", stop.text())
}

fn await_adopted(team: &TestNamespace<'_>, object: &str, before: Soon) {
    before.await_true(&format!("{object} is adopted"), || {
        field(team, object, STATE) == "adopted"
    });
}

fn all_kinds_inherit_with_one_request_for_each_transition(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "shared");
    let stop = soon(9);
    let start = stop.plus(5);
    team.create(deployment("web").replicas(3));
    create(&team, Value::from(stateful_set("db").replicas(2)));
    create(&team, Value::from(cron_job("report")));
    let out = deployment("out").annotation("dayshift/exclude", "true");
    team.create(out.replicas(3));
    annotate(&team, &[stop_at(stop), format!("start={}", start.text())]);
    // Workloads that are created later inherit too.
    team.create(deployment("late").replicas(4));
    for object in ["deploy/web", "sts/db", "cj/report", "deploy/late"] {
        await_adopted(&team, object, stop);
    }
    await_field(&team, "sts/db", "/spec/replicas", 0);
    await_field(&team, "cj/report", "/spec/suspend", true);
    team.await_replicas("web", 0);
    team.await_replicas("late", 0);
    start.assert_in_future("all workloads are stopped");
    team.await_replicas("web", 3);
    team.await_replicas("late", 4);
    await_field(&team, "sts/db", "/spec/replicas", 2);
    await_field(&team, "cj/report", "/spec/suspend", false);
    for name in ["web", "db", "report", "late"] {
        team.assert_punctual(name, 1, stop);
        team.assert_punctual(name, 2, start);
    }
    team.assert_replicas("out", 3, Soon(chrono::DateTime::<chrono::Utc>::MAX_UTC));
    team.ends([("web", 3), ("db", 3), ("report", 3), ("late", 3)]);
}

/// dayshift with `manifests/namespaced.yaml`, which has no rule for Namespaces.
fn run_in(kubeconfig: &Path, team: &TestNamespace<'_>, flags: &[&str]) -> Dayshift {
    let arguments = [&["run", "-n", team.name()], flags].concat();
    Dayshift::run_as(kubeconfig, &arguments)
}

fn forbidden_namespace_leaves_its_workloads_unchanged(plane: &ControlPlane) {
    let team = TestNamespace::without_controller(plane, "unread");
    team.apply_file("manifests/namespaced.yaml");
    let kubeconfig = plane.kubeconfig_of(team.name(), "dayshift");
    // The same ServiceAccount may scale in another namespace, whose Namespace it may never read.
    let other = TestNamespace::without_controller(plane, "unread-for-ever");
    other.apply_file("manifests/namespaced.yaml");
    let account = format!("--serviceaccount={}:dayshift", team.name());
    let bind = ["create", "rolebinding", "team", "--role=dayshift", &account];
    other.kubectl(&bind).success();
    let stop = soon(8);
    annotate(&team, &[stop_at(stop.plus(600))]);
    other.create(deployment("beside").replicas(3).stop(stop.text()));
    team.create(deployment("web").replicas(3));
    team.create(deployment("own").replicas(3).stop(stop.text()));
    let mut dayshift = run_in(&kubeconfig, &team, &["-n", other.name()]);
    dayshift.wait_ready();
    let await_unread = |unread: &[&TestNamespace<'_>]| {
        let line =
            |it: &&TestNamespace<'_>| format!("cannot watch namespaces {}: forbidden\n", it.name());
        let expected = format!("ok\n{}", unread.iter().map(line).collect::<String>());
        eventually("/readyz names the unwatched resources", || {
            (dayshift.get("/readyz")? == (200, expected.clone())).then_some(())
        });
    };
    await_unread(&[&team, &other]);
    let both = [(&team, "own"), (&other, "beside")];
    for (namespace, name) in both {
        namespace.await_adopted(name, stop);
    }
    for (namespace, name) in both {
        namespace.await_replicas(name, 0);
        namespace.assert_punctual(name, 1, stop);
    }
    assert_eq!((team.replicas("web"), team.writes("web").len()), (3, 0));
    let assert_told_once = || {
        let log = dayshift.log();
        for namespace in [&team, &other] {
            let name = format!("\"{}\"", namespace.name());
            let is_about_it = |line: &&str| line.contains("WARN") && line.contains(&name);
            let reported: Vec<_> = log.lines().filter(is_about_it).collect();
            assert_eq!(reported.len(), 2, "{log}");
            assert!(reported[0].contains("the watch failed"), "{log}");
            assert_contains!(reported[1], "the Namespace cannot be read", "{log}");
        }
    };
    assert_told_once();

    // Permission for that one Namespace is sufficient.
    let name = team.name();
    team.grant_everywhere(name, "dayshift", &[("list,watch", "namespaces", name)]);
    team.await_label("web", "dayshift/state", "adopted");
    await_unread(&[&other]);
    assert_told_once();
    assert_eq!((team.made("own").len(), other.made("beside").len()), (2, 2));
    assert!(dayshift.stop().success());
}

fn controller_without_namespace_defaults_reads_no_namespace(plane: &ControlPlane) {
    let team = TestNamespace::without_controller(plane, "role-only");
    team.apply_file("manifests/namespaced.yaml");
    let kubeconfig = plane.kubeconfig_of(team.name(), "dayshift");
    let stop = soon(6);
    annotate(&team, &[stop_at(stop)]);
    team.create(deployment("web").replicas(3));
    team.create(deployment("own").replicas(3).stop(stop.text()));
    let mark = plane.audit().mark();
    let mut dayshift = run_in(&kubeconfig, &team, &["--namespace-defaults=false"]);
    dayshift.wait_ready();
    dayshift.await_every_watch();
    team.await_adopted("own", stop);
    team.await_replicas("own", 0);
    assert_eq!((team.replicas("web"), team.writes("web").len()), (3, 0));
    assert_lacks!(dayshift.log(), "cannot ");
    assert!(dayshift.stop().success());
    let requests = plane.audit().since(mark);
    let user = format!("system:serviceaccount:{}:dayshift", team.name());
    let asked = requests.iter().filter(|it| it.user == user);
    let asked: Vec<_> = asked.filter(|it| it.resource == "namespaces").collect();
    assert!(asked.is_empty(), "{asked:#?}");
}

fn recreated_namespace_does_not_keep_the_old_schedule(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "going");
    let stop = soon(9);
    annotate(&team, &[stop_at(stop)]);
    team.create(deployment("api").replicas(1));
    let mut held = Value::from(deployment("web").replicas(1));
    held["metadata"]["finalizers"] = serde_json::json!(["example.com/hold"]);
    create(&team, held);
    for name in ["web", "api"] {
        team.await_adopted(name, stop);
    }
    let name = team.name();
    let namespace = format!("/api/v1/namespaces/{name}");
    plane.remove(&namespace);
    stop.await_true("the workloads are being deleted", || {
        team.get("web").metadata.deletion_timestamp.is_some()
    });
    stop.plus(1).wait();
    assert_eq!(
        team.replicas("web"),
        1,
        "a workload that is being deleted is not scaled"
    );
    let release = serde_json::json!({"metadata": {"finalizers": null}});
    team.merge("web", &release);
    wait_until("the Namespace is gone", || plane.read(&namespace).is_none());

    // The recreated Namespace is another object, without annotations.
    let again = soon(9);
    plane.kubectl(&["create", "namespace", name]).success();
    team.create(deployment("web").replicas(1));
    team.create(deployment("api").replicas(1));
    annotate(&team, &[stop_at(again)]);
    for name in ["web", "api"] {
        team.await_adopted(name, again);
        team.assert_replicas(name, 1, again);
    }
    for name in ["web", "api"] {
        team.await_replicas(name, 0);
    }
    team.ends([("web", 3), ("api", 3)]);
}

/// Four watches for each namespace: more than the server's limit of 100 streams on one connection.
fn sixty_named_namespaces_delay_no_patch(plane: &ControlPlane) {
    let mut team = TestNamespace::without_controller(plane, "sixty");
    let others: Vec<_> = (0..60)
        .map(|number| format!("one-of-sixty-{number}"))
        .collect();
    let flags: Vec<_> = others.iter().flat_map(|name| ["-n", name]).collect();
    team.run(&flags);
    let stop = soon(7);
    for name in ["web", "api"] {
        team.create(deployment(name).replicas(3).stop(stop.text()));
        team.await_adopted(name, stop);
    }
    for name in ["web", "api"] {
        team.await_replicas(name, 0);
        team.assert_punctual(name, 1, stop);
    }
    team.ends([("web", 2), ("api", 2)]);
}
