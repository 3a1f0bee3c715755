//! The controller on a cluster in memory, whose own costs are left out.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use dayshift::{
    clock::Clock,
    controller::{Settings, Telemetry, run},
};
use kube_in_memory::Api;
use serde_json::{Value, json};
use tokio::{runtime::Runtime, time::sleep};

use super::{
    alloc_accounting::{client, uncounted},
    case::{Case, Operation, operation},
    large::large,
};

/// More than a page of a list.
const OBJECTS: u32 = 200;

pub(crate) fn cases() -> Vec<Case> {
    let each = |name, prepare| Case {
        name,
        each_of: OBJECTS,
        twice: true,
        instructions: false,
        prepare,
    };
    vec![
        each("watch 200 plain Deployments", || watch(&json!({}))),
        each("watch and adopt 200 with schedules", || watch(&schedule())),
        each("200 events of plain ones", || events(&json!({}))),
        each("200 events of ones with schedules", || events(&schedule())),
        each("a boundary of 200", boundary),
    ]
}

fn schedule() -> Value {
    json!({"dayshift/hours": "Mon-Fri 09:00-19:00"})
}

/// A cluster at noon on a Friday.
struct Cluster {
    api: Api,
    clock: Clock,
    runtime: Runtime,
}

impl Cluster {
    fn with(annotations: &Value) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let noon = "2026-11-20T12:00:00Z".parse().unwrap();
        let clock = runtime.block_on(async { Clock::simulated(noon) });
        let api = Api::new({
            let clock = clock.clone();
            move || clock.now()
        });
        api.remember_requests(0);
        api.namespace("dev");
        for number in 0..OBJECTS {
            let name = Self::name(number);
            api.create(large("dev", &name, annotations)).unwrap();
        }
        Self {
            api,
            clock,
            runtime,
        }
    }

    /// Starts the controller and lets it do all there is to do.
    fn watched(self) -> Self {
        let telemetry = Arc::new(Telemetry::new(self.now()));
        let context = self.runtime.enter();
        let client = client(&self.api);
        let forever = std::future::pending();
        let controller = run(
            client,
            self.clock.clone(),
            Settings::default(),
            telemetry,
            forever,
        );
        self.runtime.spawn(controller);
        drop(context);
        self.settled()
    }

    fn settled(self) -> Self {
        self.runtime
            .block_on(async { sleep(Duration::from_secs(5)).await });
        self
    }

    fn now(&self) -> DateTime<Utc> {
        self.runtime.block_on(async { self.clock.now() })
    }

    fn name(number: u32) -> String {
        format!("web-{number:05}")
    }
}

fn watch(annotations: &Value) -> Operation {
    let cluster = Cluster::with(annotations);
    operation((), move |()| cluster.watched())
}

/// Each is changed once, in a way that does not concern us.
fn events(annotations: &Value) -> Operation {
    let cluster = Cluster::with(annotations).watched();
    operation((), move |()| {
        uncounted(|| {
            for number in 0..OBJECTS {
                let name = Cluster::name(number);
                cluster
                    .api
                    .label("dev", &name, "team", Some("search"))
                    .unwrap();
            }
        });
        cluster.settled()
    })
}

fn boundary() -> Operation {
    let cluster = Cluster::with(&schedule()).watched();
    operation((), move |()| {
        let evening = "2026-11-20T19:00:00Z".parse().unwrap();
        cluster.runtime.block_on(cluster.clock.sleep_until(evening));
        let cluster = cluster.settled();
        let all_down = uncounted(|| {
            (0..OBJECTS)
                .all(|number| cluster.api.replicas("dev", &Cluster::name(number)) == Some(0))
        });
        assert!(all_down);
        cluster
    })
}
