//! A day of one cluster: the controller starts, adopts, stops everything at 19:00, and is idle.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use dayshift::{
    clock::Clock,
    controller::{Settings, Telemetry, run as run_controller},
};
use kube_in_memory::Api;
use serde_json::{Value, json};
use tokio::{runtime::Runtime, time::sleep};

use super::{
    alloc_accounting::{Totals, client, cpu, take_peak, uncounted},
    figures::{Figures, Phase},
};

/// How many Deployments share a namespace.
const TEAM: u32 = 250;

struct Cluster {
    api: Api,
    clock: Clock,
    runtime: Runtime,
    telemetry: Arc<Telemetry>,
    count: u32,
    share: u32,
}

/// All figures of a cluster of `count` Deployments, of which one in `share` has a schedule.
pub(crate) fn run(count: u32, share: u32) -> Figures {
    let cluster = uncounted(|| Cluster::filled(count, share));
    let before = Totals::here().held;
    let scheduled = count.div_ceil(share);
    let ready = cluster.measure(count, |it| {
        it.start();
        it.pass(Duration::from_secs(10));
        it.telemetry.ready().unwrap();
    });
    let stop = cluster.measure(scheduled, |it| it.pass_until("2026-11-20T19:00:10Z"));
    uncounted(|| cluster.assert_down());
    let idle = cluster.measure(60, |it| it.pass_until("2026-11-20T20:00:10Z"));
    let figures = Figures {
        deployments: count,
        scheduled,
        ready: ready.beyond(before),
        stop: stop.beyond(before),
        idle: idle.beyond(before),
    };
    let Cluster { runtime, api, .. } = cluster;
    drop(runtime);
    uncounted(move || drop(api));
    figures
}

impl Cluster {
    fn filled(count: u32, share: u32) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let evening = "2026-11-20T18:00:00Z".parse().unwrap();
        let clock = runtime.block_on(async { Clock::simulated(evening) });
        let api = Api::new({
            let clock = clock.clone();
            move || clock.now()
        });
        api.remember_requests(0);
        for number in 0..count {
            let (namespace, name) = place(number);
            if number % TEAM == 0 {
                api.namespace(&namespace);
            }
            let scheduled = number % share == 0;
            api.create(deployment(&namespace, &name, scheduled))
                .unwrap();
        }
        let telemetry = Arc::new(Telemetry::new(evening));
        Self {
            api,
            clock,
            runtime,
            telemetry,
            count,
            share,
        }
    }

    /// What the controller spends meanwhile, and on each of `each_of`.
    fn measure(&self, each_of: u32, work: impl FnOnce(&Self)) -> Phase {
        let (begun, before) = (cpu(), Totals::here());
        take_peak();
        work(self);
        let after = Totals::here();
        let time = cpu() - begun - (after.time - before.time);
        Phase::new(each_of, time, take_peak().max(after.held), after.held)
    }

    fn start(&self) {
        let context = self.runtime.enter();
        let client = client(&self.api);
        let controller = run_controller(
            client,
            self.clock.clone(),
            Settings::default(),
            self.telemetry.clone(),
            std::future::pending(),
        );
        self.runtime.spawn(controller);
        drop(context);
    }

    fn pass(&self, time: Duration) {
        self.runtime.block_on(async { sleep(time).await });
    }

    fn pass_until(&self, instant: &str) {
        let instant: DateTime<Utc> = instant.parse().unwrap();
        self.runtime.block_on(self.clock.sleep_until(instant));
    }

    fn assert_down(&self) {
        for number in (0..self.count).step_by(self.share as usize) {
            let (namespace, name) = place(number);
            assert_eq!(self.api.replicas(&namespace, &name), Some(0), "{name}");
        }
    }
}

fn place(number: u32) -> (String, String) {
    (
        format!("team-{:04}", number / TEAM),
        format!("web-{number:06}"),
    )
}

fn deployment(namespace: &str, name: &str, scheduled: bool) -> Value {
    let annotations = if scheduled {
        json!({"dayshift/hours": "Mon-Fri 09:00-19:00"})
    } else {
        json!({})
    };
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "namespace": namespace, "name": name, "annotations": annotations,
            "labels": {"app.kubernetes.io/name": name, "team": "checkout"},
        },
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app.kubernetes.io/name": name}},
            "template": {
                "metadata": {"labels": {"app.kubernetes.io/name": name}},
                "spec": {"containers": [{"name": "web", "image": "registry.example.com/web:1.2"}]},
            },
        },
    })
}
