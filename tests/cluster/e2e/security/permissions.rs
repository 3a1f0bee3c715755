//! Why the ServiceAccount needs each of its verbs: the failures without it (`docs/production/threat-model.md`).

use std::path::PathBuf;

use k8s_openapi::api::apps::v1::StatefulSet;
use kube::api::Api;
use serde_json::Value;

use crate::support::{
    ControlPlane, Dayshift, Namespace, Parts, Scenario, Soon, block_on, deployment, eventually,
    scenarios, soon, stateful_set, wait_until,
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    let mut scenarios = scenarios![
        Parts::OlderServer;
        without_list_on_an_older_server_it_is_unready,
        without_watch_on_an_older_server_it_acts_on_the_list_and_is_unready,
    ];
    scenarios.extend(scenarios![
        Parts::Server;
        with_all_verbs_due_workloads_stop,
        without_list_due_workloads_stop_if_the_server_streams_lists,
        without_watch_it_acts_on_the_list_and_is_unready,
        without_patch_it_changes_nothing_and_reports_it,
        without_get_it_cannot_resolve_a_conflict,
        without_events_it_scales_and_only_logs_the_denial,
        without_one_kind_it_scales_the_others_and_retries_the_watch,
    ]);
    scenarios
}

/// dayshift in its own Namespace, with the shipped Role without one verb.
struct Controller<'a> {
    namespace: Namespace<'a>,
    kubeconfig: PathBuf,
}

impl<'a> Controller<'a> {
    fn without(plane: &'a ControlPlane, verb: &str) -> Self {
        Self::with(plane, &format!("no-{verb}"), |rule| {
            let verbs = rule["verbs"].as_array_mut().unwrap();
            verbs.retain(|held| held != verb);
        })
    }

    /// dayshift in its own Namespace, with each rule of the shipped Role changed. A rule that has no verbs
    /// afterwards is left out.
    fn with(plane: &'a ControlPlane, name: &str, change: impl Fn(&mut Value)) -> Self {
        let namespace = plane.namespace(name);
        namespace.apply_file("manifests/namespaced.yaml");
        namespace.change_role("dayshift", |rules| {
            rules.iter_mut().for_each(change);
            // A rule must have a verb.
            rules.retain(|rule| rule["verbs"] != Value::Array(Vec::new()));
        });
        Self {
            kubeconfig: plane.kubeconfig_of(namespace.name(), "dayshift"),
            namespace,
        }
    }

    fn run(&self) -> Dayshift {
        let name = self.namespace.name();
        // With the flags of that manifest.
        let arguments = ["run", "-n", name, "--namespace-defaults=false"];
        Dayshift::run_as(&self.kubeconfig, &arguments)
    }

    /// Creates `web`, which stops at that time.
    fn create(&self, stop: Soon) {
        self.namespace
            .create(deployment("web").replicas(3).stop(stop.text()));
    }

    /// Waits until `web` is adopted, and then until it is stopped.
    fn await_stop(&self, stop: Soon) {
        stop.before("web is adopted", || {
            self.namespace.label("web", "dayshift/state")
        });
        self.namespace.await_replicas("web", 0);
    }
}

/// Waits until the log has all of these words in one line.
fn await_line(dayshift: &Dayshift, words: &[&str]) {
    wait_until(&format!("{words:?} in the log"), || {
        let log = dayshift.log();
        log.lines()
            .any(|line| words.iter().all(|word| line.contains(word)))
    });
}

fn await_readiness(dayshift: &Dayshift, expected: u16) {
    eventually(&format!("/readyz reports {expected}"), || {
        (dayshift.get("/readyz")?.0 == expected).then_some(())
    });
}

fn with_all_verbs_due_workloads_stop(plane: &ControlPlane) {
    assert_stops_without(plane, "nothing");
}

fn without_list_due_workloads_stop_if_the_server_streams_lists(plane: &ControlPlane) {
    assert_stops_without(plane, "list");
}

fn assert_stops_without(plane: &ControlPlane, verb: &str) {
    let controller = Controller::without(plane, verb);
    let stop = soon(5);
    controller.create(stop);
    let mut dayshift = controller.run();
    dayshift.wait_ready();
    controller.await_stop(stop);
    controller.namespace.await_event("web", "Stopped");
    // A slow server can cause other log lines.
    assert_lacks!(dayshift.log(), "cannot ");
}

fn without_list_on_an_older_server_it_is_unready(plane: &ControlPlane) {
    let controller = Controller::without(plane, "list");
    let stop = soon(3);
    controller.create(stop);
    let dayshift = controller.run();
    await_line(&dayshift, &["WARN", "the watch failed", "cannot list"]);
    stop.plus(1).wait();
    await_readiness(&dayshift, 503);
    assert_eq!(controller.namespace.replicas("web"), 3);
}

fn without_watch_on_an_older_server_it_acts_on_the_list_and_is_unready(plane: &ControlPlane) {
    without_watch_it_acts_on_the_list_and_is_unready(plane);
}

fn without_watch_it_acts_on_the_list_and_is_unready(plane: &ControlPlane) {
    let controller = Controller::without(plane, "watch");
    let stop = soon(5);
    controller.create(stop);
    let dayshift = controller.run();
    await_line(&dayshift, &["WARN", "the watch failed", "cannot watch"]);
    await_readiness(&dayshift, 503);
    controller.await_stop(stop);
}

fn without_patch_it_changes_nothing_and_reports_it(plane: &ControlPlane) {
    let controller = Controller::without(plane, "patch");
    let stop = soon(3);
    controller.create(stop);
    let dayshift = controller.run();
    let reported = controller.namespace.await_event("web", "ScaleFailed");
    assert_contains!(reported, "cannot patch resource");
    await_line(&dayshift, &["WARN", "cannot patch resource"]);
    await_readiness(&dayshift, 503);
    stop.plus(1).wait();
    assert_eq!(controller.namespace.replicas("web"), 3);
    let labels = controller.namespace.get("web").metadata.labels.unwrap();
    assert!(
        !labels.keys().any(|key| key.starts_with("dayshift/")),
        "{labels:?}"
    );
}

/// Two controllers act at one boundary, so that the later of two patches of an object conflicts. There are
/// five objects, because a controller that gets no processor time meets no conflict.
fn without_get_it_cannot_resolve_a_conflict(plane: &ControlPlane) {
    let controller = Controller::without(plane, "get");
    let stop = soon(8);
    let at = |seconds: &[i64]| {
        let texts = seconds.iter().map(|it| stop.plus(*it).text());
        texts.collect::<Vec<_>>().join("; ")
    };
    let names: Vec<String> = (0..50).map(|number| format!("web-{number}")).collect();
    for name in &names {
        let web = deployment(name).replicas(3).stop(at(&[0, 4, 8]));
        controller.namespace.create(web.start(at(&[2, 6])));
    }
    let controllers = [controller.run(), controller.run()];
    for name in &names {
        let adopted = || controller.namespace.label(name, "dayshift/state");
        stop.before(name, adopted);
    }
    let refused = || {
        let message = |dayshift: &Dayshift| dayshift.log().contains("cannot get resource");
        controllers.iter().any(message).then_some(())
    };
    eventually("a conflict cannot be resolved", refused);
    stop.plus(8).wait();
    // The other controller's patch took effect, so the count is correct.
    for name in &names {
        controller.namespace.await_replicas(name, 0);
    }
}

fn without_events_it_scales_and_only_logs_the_denial(plane: &ControlPlane) {
    let controller = Controller::without(plane, "create");
    let stop = soon(5);
    controller.create(stop);
    let mut dayshift = controller.run();
    dayshift.wait_ready();
    controller.await_stop(stop);
    await_line(&dayshift, &["WARN", "cannot create resource"]);
    assert_eq!(controller.namespace.events("web"), []);
    await_readiness(&dayshift, 200);
}

fn without_one_kind_it_scales_the_others_and_retries_the_watch(plane: &ControlPlane) {
    let controller = Controller::with(plane, "no-statefulsets", |rule| {
        let resources = rule["resources"].as_array_mut().unwrap();
        resources.retain(|resource| resource != "statefulsets");
    });
    let (namespace, stop) = (&controller.namespace, soon(6));
    controller.create(stop);
    let db = Value::from(stateful_set("db").replicas(3).stop("Mon 12:00"));
    namespace.create_all(&db.to_string());
    let mut dayshift = controller.run();
    dayshift.wait_ready();
    let place = format!("in namespace {}", namespace.name());
    let expected = format!("ok\ncannot watch statefulsets.apps {place}: forbidden\n");
    eventually("/readyz names the unwatched resources", || {
        (dayshift.get("/readyz")? == (200, expected.clone())).then_some(())
    });
    controller.await_stop(stop);
    let log = dayshift.log();
    let warnings = log.lines().filter(|line| line.contains("WARN"));
    let reported: Vec<_> = warnings.filter(|line| line.contains("forbidden")).collect();
    assert_eq!(reported.len(), 1, "{log}");
    assert!(reported[0].contains("StatefulSet"), "{log}");

    namespace.apply_file("manifests/namespaced.yaml");
    wait_until("db is adopted", || {
        let sets: Api<StatefulSet> = Api::namespaced(plane.client().clone(), namespace.name());
        let labels = block_on(sets.get("db")).unwrap().metadata.labels;
        labels.is_some_and(|labels| {
            labels
                .get("dayshift/state")
                .is_some_and(|it| it == "adopted")
        })
    });
    dayshift.await_every_watch();
}
