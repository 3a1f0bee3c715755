//! The controller on a cluster in memory, without the cluster's own costs.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use dayshift::dashboard::{self, Dashboard};
use dayshift_cluster::{Query, clock::Clock};
use dayshift_controller::{CalendarFeed, Settings, Telemetry, run};
use dayshift_workload::{Key, Kind, ParseContext, Prefix};
use http::Request;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Bytes;
use kube_in_memory::Api;
use serde_json::{Map, Value, json};
use tokio::{
    runtime::Runtime,
    time::{sleep, timeout},
};

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
        each("watch 200 with texts of 100 kB", || {
            let cluster = Cluster::of(
                |number| json!({"dayshift/stop": format!("{number} {}", "x".repeat(100_000))}),
            );
            operation((), move |()| cluster.watched())
        }),
        Case {
            each_of: 400,
            // Each preparation writes several megabytes.
            twice: false,
            ..each("watch 400 with twenty texts of 4 kB", || {
                let cluster = Cluster::of_many(400, |number| {
                    let keys = Key::ALL.map(Key::name).into_iter().take(20);
                    let text = |nth| format!("{number} {nth} {}", "x".repeat(4_000));
                    let texts = keys.enumerate().map(|(nth, key)| (key, text(nth)));
                    texts
                        .map(|(key, text)| (format!("dayshift/{key}"), text.into()))
                        .collect::<Map<_, _>>()
                        .into()
                });
                operation((), move |()| cluster.watched())
            })
        },
        each("200 events of plain ones", || events(&json!({}))),
        each("200 events of ones with schedules", || events(&schedule())),
        each("200 changes of how much is ready", readiness),
        each("a boundary of 200", boundary),
        each("a look at the dashboard of 200", open_page),
        each("the next look at it", open_page_again),
        each("two minutes after a look at it", close_page),
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
    telemetry: Option<Arc<Telemetry>>,
}

impl Cluster {
    fn with(annotations: &Value) -> Self {
        Self::of(|_| annotations.clone())
    }

    /// Creates objects with these annotations, by their number.
    fn of(annotations: impl Fn(u32) -> Value) -> Self {
        Self::of_many(OBJECTS, annotations)
    }

    fn of_many(objects: u32, annotations: impl Fn(u32) -> Value) -> Self {
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
        for number in 0..objects {
            let name = Self::name(number);
            api.create(large("dev", &name, &annotations(number)))
                .unwrap();
        }
        Self {
            api,
            clock,
            runtime,
            telemetry: None,
        }
    }

    /// Starts the controller and lets it complete all work.
    fn watched(mut self) -> Self {
        let telemetry = Arc::new(Telemetry::new(self.now()));
        self.telemetry = Some(telemetry.clone());
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

    /// The pages that `dayshift run --dashboard-listen` serves.
    fn dashboard(&self) -> Arc<Dashboard> {
        let kinds = Kind::DEFAULT.to_vec();
        let settings = dashboard::Settings {
            query: Query::all(&kinds, &[], None),
            prefix: Prefix::default(),
            context: ParseContext::default(),
            zone: None,
            title: "costs".to_owned(),
            controller: None,
        };
        let (telemetry, clock) = (self.telemetry.clone().unwrap(), self.clock.clone());
        let calendars = CalendarFeed::default();
        let dashboard = Dashboard::for_controller(telemetry, calendars, clock, settings);
        Arc::new(dashboard)
    }

    /// Opens the overview.
    fn open_page(&self, dashboard: &Arc<Dashboard>) {
        let request = Request::get("/").body(Empty::<Bytes>::new()).unwrap();
        let answer = Arc::clone(dashboard).answer(request);
        let answer = self.runtime.block_on(answer);
        let body = self.runtime.block_on(answer.into_body().collect());
        let page = body.unwrap().to_bytes();
        uncounted(|| {
            let page = String::from_utf8(page.to_vec()).unwrap();
            let all = format!("<span class=\"number\">{OBJECTS}</span> not acted on yet");
            assert!(page.contains(&all), "{page}");
        });
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

/// Changes each object once in a field that dayshift ignores.
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

/// Changes the status of each object, as in a rollout.
fn readiness() -> Operation {
    let cluster = Cluster::with(&schedule()).watched();
    operation((), move |()| {
        uncounted(|| {
            for number in 0..OBJECTS {
                let status = json!({"observedGeneration": 1, "readyReplicas": 1});
                let name = Cluster::name(number);
                cluster
                    .api
                    .set_status("Deployment", "dev", &name, status)
                    .unwrap();
            }
        });
        cluster.settled()
    })
}

/// The additional memory of `run --dashboard-listen` while a page is open.
fn open_page() -> Operation {
    let cluster = Cluster::with(&schedule()).watched();
    operation(cluster, |cluster| {
        let dashboard = cluster.dashboard();
        cluster.open_page(&dashboard);
        dashboard
    })
}

/// The cost of the page five seconds later, which computes no schedule again.
fn open_page_again() -> Operation {
    let cluster = Cluster::with(&schedule()).watched();
    let dashboard = cluster.dashboard();
    cluster.open_page(&dashboard);
    operation((cluster.settled(), dashboard), |(cluster, dashboard)| {
        cluster.open_page(dashboard);
    })
}

/// The additional memory after the page was closed.
fn close_page() -> Operation {
    let cluster = Cluster::with(&schedule()).watched();
    operation(cluster, |cluster| {
        let dashboard = cluster.dashboard();
        cluster.open_page(&dashboard);
        let ended = cluster.runtime.block_on(async {
            let following = dashboard.follow();
            timeout(Duration::from_secs(125), following).await.is_ok()
        });
        assert!(!ended, "the dashboard never stops following");
        dashboard
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
