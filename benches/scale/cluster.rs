//! A day of one cluster: the controller starts, adopts, observes one changed object a second, stops
//! everything at 19:00, is idle, and starts everything at 09:00 while the API server is slow.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use chrono::{DateTime, Utc};
use dayshift_cluster::clock::Clock;
use dayshift_controller::{Settings, Telemetry, run as run_controller};
use futures::{FutureExt as _, future::BoxFuture};
use kube_in_memory::{Api, Fault};
use serde_json::{Value, json};
use tokio::{runtime::Runtime, time::sleep};

use super::{
    alloc_accounting::{Totals, client, cpu, take_peak, uncounted},
    figures::{Figures, Phase},
};

/// The number of Deployments in a namespace.
const TEAM: u32 = 250;

/// The workloads of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Workloads {
    /// Deployments, of which one in `share` has a schedule.
    Deployments { share: u32 },
    /// Deployments, a fifth as many CronJobs and a tenth as many StatefulSets, all with a schedule.
    OfAllKinds,
    /// Deployments without annotations in one Namespace, which gets a schedule and then another.
    Inheriting,
}

/// The number of objects that change in turn, one in each second.
const CHANGES: u32 = 60;

/// How long a slow server takes for a patch: 32 in flight are 167 a second.
const SLOW: Duration = Duration::from_millis(192);

const HOURS: &str = "Mon-Fri 09:00-19:00";

impl Workloads {
    const fn name(self) -> &'static str {
        match self {
            Self::Deployments { .. } => "own",
            Self::OfAllKinds => "all kinds",
            Self::Inheriting => "inherited",
        }
    }

    /// The number of workloads if there are this many Deployments.
    const fn all(self, deployments: u32) -> u32 {
        match self {
            Self::OfAllKinds => deployments + deployments / 5 + deployments / 10,
            Self::Deployments { .. } | Self::Inheriting => deployments,
        }
    }

    /// One of this many Deployments has a schedule.
    const fn share(self) -> u32 {
        match self {
            Self::Deployments { share } => share,
            Self::OfAllKinds | Self::Inheriting => 1,
        }
    }

    const fn kind(self, number: u32) -> &'static str {
        match (self, number % 13) {
            (Self::OfAllKinds, 10..12) => "CronJob",
            (Self::OfAllKinds, 12) => "StatefulSet",
            _ => "Deployment",
        }
    }

    fn place(self, number: u32) -> (String, String) {
        let team = if self == Self::Inheriting {
            0
        } else {
            number / TEAM
        };
        (format!("team-{team:04}"), format!("web-{number:06}"))
    }
}

struct Cluster {
    api: Api,
    clock: Clock,
    runtime: Runtime,
    telemetry: Arc<Telemetry>,
    count: u32,
    workloads: Workloads,
    longest_poll: LongestPoll,
}

/// The longest CPU time of one poll of the controller since the last call of `take`, without the API
/// server: another task on the same thread waits at most this long.
#[derive(Clone, Default)]
struct LongestPoll(Arc<AtomicU64>);

impl LongestPoll {
    fn take(&self) -> Duration {
        Duration::from_nanos(self.0.swap(0, Ordering::Relaxed))
    }
}

/// The controller, with a measurement of each poll.
struct PollTimer {
    controller: BoxFuture<'static, ()>,
    longest: LongestPoll,
}

impl Future for PollTimer {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let (begun, excluded) = (cpu(), Totals::here().time);
        let result = self.controller.poll_unpin(context);
        let time = cpu() - begun - (Totals::here().time - excluded);
        let nanos = u64::try_from(time.as_nanos()).unwrap();
        self.longest.0.fetch_max(nanos, Ordering::Relaxed);
        result
    }
}

/// Measures a cluster with this many Deployments.
pub(crate) fn run(deployments: u32, workloads: Workloads) -> Figures {
    let count = workloads.all(deployments);
    let cluster = uncounted(|| Cluster::filled(count, workloads));
    let before = Totals::here().held;
    let scheduled = count.div_ceil(workloads.share());
    let ready = cluster.measure(count, |it| {
        it.start();
        it.pass(Duration::from_secs(10));
        it.telemetry.ready().unwrap();
    });
    let edit = (workloads == Workloads::Inheriting).then(|| {
        uncounted(|| cluster.annotate("Mon-Fri 08:00-20:00"));
        cluster.pass(Duration::from_secs(60));
        uncounted(|| cluster.annotate(HOURS));
        let edit = cluster.measure(count, |it| it.pass(Duration::from_secs(60)));
        edit.beyond(before)
    });
    let busy = cluster.measure(CHANGES, Cluster::change_each_second);
    cluster.longest_poll.take();
    let stop = cluster.measure(scheduled, |it| it.pass_until("2026-11-20T19:00:10Z"));
    let longest_poll = cluster.longest_poll.take();
    uncounted(|| cluster.assert_stopped());
    let idle = cluster.measure(60, |it| it.pass_until("2026-11-20T20:00:10Z"));
    let scrape = cluster.measure(count, |it| drop(it.telemetry.render()));
    uncounted(|| cluster.answer_patches_after(SLOW));
    let start = cluster.measure(scheduled, |it| it.pass_until("2026-11-23T09:30:00Z"));
    let figures = Figures {
        what: workloads.name(),
        workloads: count,
        scheduled,
        edit,
        ready: ready.beyond(before),
        busy: busy.beyond(before),
        stop: stop.beyond(before),
        longest_poll_ms: longest_poll.as_secs_f64() * 1e3,
        idle: idle.beyond(before),
        scrape: scrape.beyond(before),
        slow: start.beyond(before),
    };
    let Cluster { runtime, api, .. } = cluster;
    drop(runtime);
    uncounted(move || drop(api));
    figures
}

impl Cluster {
    fn filled(count: u32, workloads: Workloads) -> Self {
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
            let (namespace, name) = workloads.place(number);
            if number % TEAM == 0 {
                api.namespace(&namespace);
            }
            let is_own = workloads != Workloads::Inheriting;
            let scheduled = is_own && number % workloads.share() == 0;
            let kind = workloads.kind(number);
            api.create(workload(kind, &namespace, &name, scheduled))
                .unwrap();
        }
        let telemetry = Arc::new(Telemetry::new(evening));
        Self {
            api,
            clock,
            runtime,
            telemetry,
            count,
            workloads,
            longest_poll: LongestPoll::default(),
        }
    }

    /// Sets the `dayshift/hours` of their Namespace.
    fn annotate(&self, hours: &str) {
        let (namespace, _) = self.workloads.place(0);
        let key = "dayshift/hours";
        self.api
            .annotate_of("Namespace", "", &namespace, key, Some(hours))
            .unwrap();
    }

    /// Changes a label of one scheduled object in each second.
    fn change_each_second(&self) {
        for number in 0..CHANGES {
            uncounted(|| {
                let number = number * self.workloads.share() % self.count;
                let (namespace, name) = self.workloads.place(number);
                let patch = json!({"metadata": {"labels": {"team": "search"}}});
                let kind = self.workloads.kind(number);
                self.api.merge(kind, &namespace, &name, &patch).unwrap();
            });
            self.pass(Duration::from_secs(1));
        }
    }

    fn answer_patches_after(&self, time: Duration) {
        self.api
            .on_request(move |line| (line.verb == "patch").then_some(Fault::Delay(time)));
    }

    /// Measures the controller during `work`, in total and divided by `each_of`.
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
        self.runtime.spawn(PollTimer {
            controller: controller.map(drop).boxed(),
            longest: self.longest_poll.clone(),
        });
        drop(context);
    }

    fn pass(&self, time: Duration) {
        self.runtime.block_on(async { sleep(time).await });
    }

    fn pass_until(&self, instant: &str) {
        let instant: DateTime<Utc> = instant.parse().unwrap();
        self.runtime.block_on(self.clock.sleep_until(instant));
    }

    fn assert_stopped(&self) {
        for number in (0..self.count).step_by(self.workloads.share() as usize) {
            let (namespace, name) = self.workloads.place(number);
            let kind = self.workloads.kind(number);
            let spec = self.api.get(kind, &namespace, &name).unwrap()["spec"].clone();
            let is_down = spec["replicas"] == 0 || spec["suspend"] == true;
            assert!(is_down, "{kind} {name}");
        }
    }
}

fn workload(kind: &str, namespace: &str, name: &str, scheduled: bool) -> Value {
    let annotations = if scheduled {
        json!({"dayshift/hours": HOURS})
    } else {
        json!({})
    };
    let containers = json!([{"name": "web", "image": "registry.example.com/web:1.2"}]);
    let labels = json!({"app.kubernetes.io/name": name});
    let (api_version, spec) = if kind == "CronJob" {
        let pod = json!({"restartPolicy": "Never", "containers": containers});
        let job = json!({"spec": {"template": {"spec": pod}}});
        (
            "batch/v1",
            json!({"schedule": "0 * * * *", "jobTemplate": job}),
        )
    } else {
        let template = json!({"metadata": {"labels": labels}, "spec": {"containers": containers}});
        let selector = json!({"matchLabels": labels});
        let spec = json!({"replicas": 3, "selector": selector, "template": template});
        ("apps/v1", spec)
    };
    json!({
        "apiVersion": api_version, "kind": kind, "spec": spec,
        "metadata": {
            "namespace": namespace, "name": name, "annotations": annotations,
            "labels": {"app.kubernetes.io/name": name, "team": "checkout"},
        },
    })
}
