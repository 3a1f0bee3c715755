//! Several scalers that share a cluster out between them, as `docs/scale.md` says.

use std::collections::BTreeMap;

use crate::support::{ControlPlane, Dayshift, Parts, Story, deployment, soon, stories};

pub(crate) fn stories() -> Vec<Story> {
    stories![
        Parts::Server;
        namespaces_and_selectors_share_a_cluster_out,
    ]
}

fn namespaces_and_selectors_share_a_cluster_out(plane: &ControlPlane) {
    let [shop, ops] = ["shop", "ops"].map(|name| plane.namespace(name));
    let shares = [
        vec!["run", "-n", shop.name()],
        vec!["run", "-n", ops.name(), "-l", "shift=early"],
        vec!["run", "-n", ops.name(), "-l", "shift!=early"],
    ];
    let mut scalers = shares.map(|share| Dayshift::run(plane, &share));
    for scaler in &mut scalers {
        scaler.wait_ready();
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
        namespace.await_label(name, "dayshift/state", "stopped");
        assert_eq!(
            namespace.writes(name).len(),
            2,
            "{name}: adopted and stopped"
        );
    }
    let said = scalers.map(|mut scaler| {
        scaler.stop();
        scaler.log()
    });
    let by: BTreeMap<_, Vec<_>> = all
        .into_iter()
        .map(|(namespace, name)| {
            let object = format!("{}/{name} ", namespace.name());
            (
                name,
                (0..3)
                    .filter(|which| said[*which].contains(&object))
                    .collect(),
            )
        })
        .collect();
    let expected = [("in-shop", 0), ("early", 1), ("late", 2), ("unlabelled", 2)];
    assert_eq!(by, expected.map(|(name, which)| (name, vec![which])).into());
}
