//! A cluster in memory with a controller, on simulated time.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use chrono::{DateTime, NaiveDateTime, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;
use dayshift_cluster::clock::Clock;
use dayshift_controller::{Settings, Snapshot, Telemetry, run};
use kube::Client;
use kube_in_memory::{Api, RequestLine};
use serde_json::Value;
use tempfile::NamedTempFile;
use tokio::{runtime::Runtime, sync::oneshot, task::JoinHandle, time::sleep};
use tracing::{
    Dispatch,
    subscriber::{DefaultGuard, NoSubscriber},
};

pub(crate) use builder::DeploymentBuilder;
pub(crate) use of_deployments::of_deployments;

#[path = "../support/deployment.rs"]
#[allow(
    dead_code,
    clippy::duplicate_mod,
    reason = "the scenarios on a real server need all of it, and have it; those of monitoring have a sandbox too"
)]
mod builder;
#[path = "../support/of_deployments.rs"]
mod of_deployments;

pub struct Sandbox {
    pub api: Api,
    pub clock: Clock,
    pub telemetry: Arc<Telemetry>,
    server_ahead: Arc<AtomicI64>,
    runtime: Runtime,
    controllers: Vec<Controller>,
    zone: Tz,
}

struct Controller {
    task: JoinHandle<()>,
    stop: oneshot::Sender<()>,
}

/// A manifest builder that reads like a sentence: `deployment("web").replicas(3).start("Mon-Fri
/// 09:00")`.
pub fn deployment(name: &str) -> DeploymentBuilder {
    builder::deployment(name).namespace("dev")
}

/// A StatefulSet builder like [`deployment`].
pub fn stateful_set(name: &str) -> DeploymentBuilder {
    builder::stateful_set(name).namespace("dev")
}

/// A builder of a CronJob that runs every hour.
pub fn cron_job(name: &str) -> DeploymentBuilder {
    builder::cron_job(name).namespace("dev")
}

/// The default settings of a controller, with these changes.
pub fn default_with(change: impl FnOnce(&mut Settings)) -> Settings {
    let mut settings = Settings::default();
    change(&mut settings);
    settings
}

impl Sandbox {
    /// An empty cluster at a local time, such as `2026-11-20 18:00 Asia/Tokyo`, without a
    /// controller.
    pub fn empty_at(text: &str) -> Self {
        let (local, zone) = text.rsplit_once(' ').unwrap();
        let zone: Tz = zone.parse().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build();
        let runtime = runtime.unwrap();
        let clock = runtime.block_on(async { Clock::simulated(parse(local, zone)) });
        let server_ahead = Arc::new(AtomicI64::new(0));
        let api = Api::new({
            let (clock, ahead) = (clock.clone(), server_ahead.clone());
            move || clock.now() + TimeDelta::seconds(ahead.load(Ordering::Relaxed))
        });
        api.namespace("dev");
        let telemetry = Arc::new(Telemetry::new(clock.now()));
        Self {
            api,
            clock,
            telemetry,
            server_ahead,
            runtime,
            controllers: Vec::new(),
            zone,
        }
    }

    /// A cluster at this time with a controller.
    pub fn at(text: &str) -> Self {
        let mut sandbox = Self::empty_at(text);
        sandbox.start_controller(Settings::default());
        sandbox
    }

    /// A cluster at this time with a controller that watches only Deployments: [`of_deployments`].
    pub fn of_deployments_at(text: &str) -> Self {
        let mut sandbox = Self::empty_at(text);
        sandbox.start_controller(of_deployments());
        sandbox
    }

    /// Starts a controller; several can run at once.
    pub fn start_controller(&mut self, settings: Settings) {
        let name = format!("scaler-{}", self.controllers.len());
        self.start_controller_with(|api| api.client_as(&name), settings);
    }

    /// Starts a controller with changed default settings.
    pub fn start_with(&mut self, change: impl FnOnce(&mut Settings)) {
        self.start_controller(default_with(change));
    }

    /// Starts a controller with a client made from the API.
    pub fn start_controller_with(
        &mut self,
        client: impl FnOnce(&Api) -> Client,
        settings: Settings,
    ) {
        let (stop, stopped) = oneshot::channel();
        let context = self.runtime.enter();
        let client = client(&self.api);
        let (clock, telemetry) = (self.clock.clone(), self.telemetry.clone());
        let task = self.runtime.spawn(async move {
            let stopped = async move { drop(stopped.await) };
            run(client, clock, settings, telemetry, stopped).await;
        });
        drop(context);
        self.controllers.push(Controller { task, stop });
        self.settle();
    }

    /// Ends every controller at once, like SIGKILL.
    pub fn kill_controllers(&mut self) {
        for controller in self.controllers.drain(..) {
            controller.task.abort();
        }
        self.settle();
    }

    /// Ends every controller like SIGTERM, and waits for it.
    pub fn stop_controllers(&mut self) {
        while !self.controllers.is_empty() {
            self.stop_oldest_controller();
        }
    }

    /// Ends the oldest controller like SIGTERM, and waits for it.
    pub fn stop_oldest_controller(&mut self) {
        let controller = self.controllers.remove(0);
        let _ = controller.stop.send(());
        self.runtime.block_on(controller.task).unwrap();
    }

    pub fn apply(&self, deployment: DeploymentBuilder) {
        self.api.apply(deployment.into()).unwrap();
        self.settle();
    }

    pub fn scale(&self, name: &str, replicas: i32) {
        self.api.scale("dev", name, replicas).unwrap();
        self.settle();
    }

    pub fn annotate(&self, name: &str, key: &str, text: Option<&str>) {
        self.api
            .annotate("dev", name, &format!("dayshift/{key}"), text)
            .unwrap();
        self.settle();
    }

    /// Lets 50 ms pass, so that all immediate work completes.
    pub fn settle(&self) {
        self.pass(Duration::from_millis(50));
    }

    pub fn pass(&self, time: Duration) {
        self.runtime.block_on(async { sleep(time).await });
    }

    /// Advances time to a local time, `23:00` of the same day or `2026-11-23 09:01`.
    pub fn sleep_until(&self, local: &str) {
        let at = if local.contains('-') {
            parse(local, self.zone)
        } else {
            let today = self.now().with_timezone(&self.zone).format("%Y-%m-%d");
            parse(&format!("{today} {local}"), self.zone)
        };
        assert!(at >= self.now(), "{local} has passed");
        self.runtime.block_on(self.clock.sleep_until(at));
        self.settle();
    }

    /// The simulated time. Outside of the runtime, the clock would show real time.
    pub fn now(&self) -> DateTime<Utc> {
        self.runtime.block_on(async { self.clock.now() })
    }

    /// The metrics of a scrape at this time.
    pub fn metrics(&self) -> String {
        self.runtime.block_on(async { self.telemetry.render() })
    }

    pub fn replicas(&self, name: &str) -> i32 {
        self.api.replicas("dev", name).unwrap()
    }

    pub fn object(&self, name: &str) -> Value {
        self.api.get("Deployment", "dev", name).unwrap()
    }

    pub fn label(&self, name: &str, label: &str) -> Option<String> {
        let labels = &self.object(name)["metadata"]["labels"];
        labels[format!("dayshift/{label}")]
            .as_str()
            .map(str::to_owned)
    }

    pub fn error(&self, name: &str) -> Option<String> {
        self.object(name)["metadata"]["annotations"]["dayshift/error"]
            .as_str()
            .map(str::to_owned)
    }

    /// The reasons of the Events of one object in the last hour, in order.
    pub fn events(&self, name: &str) -> Vec<String> {
        let mut events = self.api.list("Event");
        events.retain(|event| event["regarding"]["name"] == name);
        events.sort_by_key(|event| event["eventTime"].as_str().unwrap().to_owned());
        let reason = |event: &Value| event["reason"].as_str().unwrap().to_owned();
        events.iter().map(reason).collect()
    }

    /// The current snapshot of the controller.
    pub fn snapshot(&self) -> Snapshot {
        self.runtime
            .block_on(async { self.telemetry.snapshot() })
            .unwrap()
    }

    /// Runs a future on the simulated time.
    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Spawns a future on the simulated time.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(work);
    }

    /// Whether no controller publishes a snapshot.
    pub fn has_no_snapshot(&self) -> bool {
        self.telemetry.snapshot().is_none()
    }

    /// The requests with this verb on Deployments so far.
    pub fn requests(&self, verb: &str) -> Vec<RequestLine> {
        let lines = self.api.requests().into_iter();
        lines
            .filter(|line| line.verb == verb && line.resource == "deployments")
            .collect()
    }

    /// The arrival time of each successful patch of an object.
    pub fn patched(&self, name: &str) -> Vec<DateTime<Utc>> {
        let patches = self.requests("patch").into_iter();
        patches
            .filter(|line| line.name == name && line.code == Some(200))
            .map(|line| line.at)
            .collect()
    }

    pub fn utc(&self, local: &str) -> DateTime<Utc> {
        parse(local, self.zone)
    }

    /// Sets the server's clock this many seconds ahead of the controller's.
    pub fn server_is_ahead(&self, seconds: i64) {
        self.server_ahead.store(seconds, Ordering::Relaxed);
    }

    pub fn step_clock(&self, by: TimeDelta) {
        self.clock.step(by);
        self.settle();
    }
}

/// Captures the log for as long as the guard lives; returns the file too.
pub fn logged() -> (DefaultGuard, NamedTempFile) {
    // If a process has a single subscriber, the first thread that reaches a log statement decides
    // for all threads whether it is enabled. That could be another test's thread, which logs
    // nothing. With a second subscriber each one is asked.
    static SECOND: OnceLock<Dispatch> = OnceLock::new();
    SECOND.get_or_init(|| Dispatch::new(NoSubscriber::new()));
    let file = NamedTempFile::new().unwrap();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_env_filter("dayshift=info")
        .with_writer(file.reopen().unwrap());
    let guard = tracing::subscriber::set_default(subscriber.finish());
    (guard, file)
}

fn parse(local: &str, zone: Tz) -> DateTime<Utc> {
    let read = |form| NaiveDateTime::parse_from_str(local, form).ok();
    let local = read("%Y-%m-%d %H:%M:%S").or_else(|| read("%Y-%m-%d %H:%M"));
    let local = local.unwrap();
    zone.from_local_datetime(&local)
        .earliest()
        .unwrap()
        .to_utc()
}

#[test]
fn logs_a_line_that_another_test_logged_first() {
    let line = || tracing::warn!(target: "dayshift", "a line of code that two tests come to");
    let (_guard, log) = logged();
    std::thread::spawn(line).join().unwrap();
    line();
    let text = std::fs::read_to_string(log.path()).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
}
