//! Several controllers that divide a cluster, as in `docs/production/scale.md`.

use std::collections::BTreeMap;

use crate::support::{
    ControlPlane, Dayshift, Namespace, Parts, Scenario, Soon, deployment, scenarios, soon,
    wait_until,
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Server;
        namespaces_and_selectors_divide_a_cluster,
        excluded_namespaces_are_neither_read_nor_changed,
    ]
}

/// Waits until a workload is adopted. A workload that is not adopted is not stopped.
fn await_adopted(namespace: &Namespace<'_>, name: &str, stop: Soon) {
    stop.before(&format!("{name} is adopted"), || {
        namespace.label(name, "dayshift/state")
    });
}

/// Waits until a workload is stopped, which is its second write.
fn await_stopped(namespace: &Namespace<'_>, name: &str) {
    namespace.await_label(name, "dayshift/state", "stopped");
    // The server's log can be a moment behind.
    wait_until(&format!("the stop of {name} is in the log"), || {
        let writes = namespace.writes(name).len();
        assert!(writes <= 2, "{name}: adopted and stopped");
        writes == 2
    });
}

fn namespaces_and_selectors_divide_a_cluster(plane: &ControlPlane) {
    let [shop, ops] = ["shop", "ops"].map(|name| plane.namespace(name));
    let shares = [
        vec!["run", "-n", shop.name()],
        vec!["run", "-n", ops.name(), "-l", "shift=early"],
        vec!["run", "-n", ops.name(), "-l", "shift!=early"],
    ];
    let mut controllers = shares.map(|share| Dayshift::run(plane, &share));
    for controller in &mut controllers {
        controller.wait_ready();
    }
    let stop = soon(6);
    let web = |name: &str| deployment(name).replicas(2).stop(stop.text());
    shop.create(web("in-shop").label("shift", "early"));
    ops.create(web("early").label("shift", "early"));
    ops.create(web("late").label("shift", "late"));
    ops.create(web("unlabelled"));

    let all = [
        (&shop, "in-shop"),
        (&ops, "early"),
        (&ops, "late"),
        (&ops, "unlabelled"),
    ];
    for (namespace, name) in all {
        await_adopted(namespace, name, stop);
    }
    for (namespace, name) in all {
        await_stopped(namespace, name);
    }
    let message = controllers.map(|mut controller| {
        controller.stop();
        controller.log()
    });
    let by: BTreeMap<_, Vec<_>> = all
        .into_iter()
        .map(|(namespace, name)| {
            let object = format!("{}/{name} ", namespace.name());
            (
                name,
                (0..3)
                    .filter(|which| message[*which].contains(&object))
                    .collect(),
            )
        })
        .collect();
    let expected = [("in-shop", 0), ("early", 1), ("late", 2), ("unlabelled", 2)];
    assert_eq!(by, expected.map(|(name, which)| (name, vec![which])).into());
}

/// Namespaces of other controllers are left to them, existing and future ones.
fn excluded_namespaces_are_neither_read_nor_changed(plane: &ControlPlane) {
    let [shop, ops, rest] = ["shop", "ops", "rest"].map(|name| plane.namespace(name));
    let stop = soon(6);
    // Other scenarios share the cluster: a label selects this one's workloads. Without it, an
    // invalid Namespace of theirs would be reported too.
    let mine = format!("shift={}", rest.name());
    let flags = [
        "--namespace-defaults=false",
        "--exclude-namespace",
        shop.name(),
        "--exclude-namespace",
        ops.name(),
    ];
    let arguments = [&["run", "-l", &mine], &flags[..]].concat();
    shop.create(
        deployment("before")
            .replicas(2)
            .stop(stop.text())
            .label("shift", rest.name()),
    );
    let mut controller = Dayshift::run(plane, &arguments);
    controller.wait_ready();
    for namespace in [&shop, &ops, &rest] {
        let web = deployment("web").replicas(2).stop(stop.text());
        namespace.create(web.label("shift", rest.name()));
    }
    await_adopted(&rest, "web", stop);
    await_stopped(&rest, "web");
    stop.plus(1).wait();
    for (namespace, name) in [(&shop, "before"), (&shop, "web"), (&ops, "web")] {
        assert_eq!(namespace.replicas(name), 2, "{name}");
        assert_eq!(namespace.label(name, "dayshift/state"), None, "{name}");
        assert_eq!(
            namespace.requests().len(),
            0,
            "excluded namespaces get no requests"
        );
    }
    assert!(controller.stop().success());
    let log = controller.log();
    for namespace in [&shop, &ops] {
        let object = format!("{}/", namespace.name());
        assert_lacks!(log, object);
    }
}
