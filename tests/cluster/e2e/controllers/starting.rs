//! `--max-starting`, with Kubernetes' own controllers, and pods that take a second to be ready.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::{StreamExt as _, TryStreamExt as _, stream};
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Api, PostParams, WatchEvent, WatchParams};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::e2e::test_namespace::TestNamespace;
use crate::support::{
    ControlPlane, Parts, READY_AFTER, Scenario, block_on, deployment, eventually, nightly,
    scenarios, soon,
};

const COUNT: usize = 100;
const MAX: usize = 10;

/// The timeout for all starts.
const TIMEOUT: Duration = Duration::from_secs(240);

pub(crate) fn scenarios() -> Vec<Scenario> {
    [
        scenarios![Parts::Pods; status_distinguishes_waiting_from_missed_starts],
        nightly(scenarios![Parts::Pods; max_starting_limits_concurrent_starts]),
    ]
    .concat()
}

fn status_distinguishes_waiting_from_missed_starts(plane: &ControlPlane) {
    let mut team = TestNamespace::without_controller(plane, "waits-for-place");
    team.run(&["--max-starting=1", "--namespace-defaults=false"]);
    let start = soon(10);
    for name in ["first", "second"] {
        let mut web = Value::from(deployment(name).replicas(0).start(start.text()));
        // No node has this label, so its pods stay pending.
        web["spec"]["template"]["spec"]["nodeSelector"] = json!({"scenario": "none"});
        team.kubectl_with(&["apply"], &web.to_string()).success();
    }
    for name in ["first", "second"] {
        team.await_adopted(name, start);
    }
    let status = format!("dayshift status -n {} -o json", team.name());
    let notes = || {
        let shown = plane.shell(&status);
        let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
        let workloads = shown["workloads"].as_array().unwrap().iter();
        let notes = workloads.filter_map(|it| it["notes"].as_array()).flatten();
        notes
            .map(|it| it.as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let message = "its start waits until fewer workloads are starting (--max-starting)";
    let waits = |expected: bool| {
        eventually(
            &format!("status shows that a start waits: {expected}"),
            || {
                let notes = notes();
                let waits = notes.iter().any(|it| it == message);
                let is_late = notes.iter().any(|it| it.contains("overdue"));
                // Ten seconds after its boundary, a start is late or waiting; before, it is neither.
                (waits == expected && is_late != expected).then_some(())
            },
        );
    };
    waits(true);
    // The waiting start is reported only by that Event.
    team.kill_controllers();
    let delete = ["delete", "events", "--field-selector=reason=StartsWait"];
    team.kubectl(&delete).success();
    waits(false);
}

fn max_starting_limits_concurrent_starts(plane: &ControlPlane) {
    let mut team = TestNamespace::without_controller(plane, "starting");
    team.run(&["--max-starting=10", "--namespace-defaults=false"]);
    let start = soon(20);
    let api: Api<Deployment> = Api::namespaced(plane.client().clone(), team.name());
    let names: Vec<_> = (0..COUNT).map(|it| format!("web-{it:03}")).collect();
    let params = PostParams::default();
    let creations = names.iter().map(|name| {
        let mut web = Value::from(deployment(name).replicas(0).start(start.text()));
        web["spec"]["template"]["metadata"]["annotations"] = json!({READY_AFTER: "1s"});
        let (api, params) = (&api, &params);
        async move {
            let web = serde_json::from_value(web).unwrap();
            api.create(params, &web).await
        }
    });
    let creations = stream::iter(creations).buffered(16).try_collect::<Vec<_>>();
    block_on(creations).unwrap();
    team.await_adopted(&names[COUNT - 1], start);
    let most = block_on(async { timeout(TIMEOUT, most_not_ready(&api)).await });
    let most = most.expect("not all are ready");
    assert_eq!(most, MAX, "at most {most} were not ready");
    // Two writes: adoption and start.
    team.ends(names.into_iter().map(|name| (name, 2)));
}

/// The maximum number of workloads that were not ready at the same time, by a separate watch, until all are
/// ready.
async fn most_not_ready(api: &Api<Deployment>) -> usize {
    let params = WatchParams::default().timeout(290).disable_bookmarks();
    let mut events = api.watch(&params, "0").await.unwrap().boxed();
    let (mut all, mut most) = (BTreeMap::new(), 0);
    loop {
        let Some(Ok(WatchEvent::Added(it) | WatchEvent::Modified(it))) = events.next().await else {
            panic!("the watch has ended");
        };
        let asked = it.spec.unwrap().replicas.unwrap();
        let ready = it.status.unwrap().ready_replicas.unwrap_or(0);
        all.insert(it.metadata.name.unwrap(), (asked, ready));
        let not_ready = all.values().filter(|(asked, ready)| ready < asked).count();
        most = most.max(not_ready);
        let up = all
            .values()
            .filter(|(asked, ready)| *asked > 0 && ready >= asked);
        if up.count() == COUNT {
            return most;
        }
    }
}
