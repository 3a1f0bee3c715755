//! One scaler: the unchanged controller, its clock, and its way to the server.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use dayshift::{
    clock::Clock,
    controller::{Settings, Telemetry, run},
    sandbox::Api,
};
use kube::Client;
use tokio::{sync::oneshot, task::JoinHandle};

use crate::{weather::Weather, wire::Wire};

pub struct Scaler {
    pub clock: Clock,
    pub off: TimeDelta,
    pub weather: Weather,
    starts: u32,
    pub is_stormy: bool,
    pub process: Option<Running>,
}

pub struct Running {
    pub by: String,
    pub task: JoinHandle<()>,
    stop: oneshot::Sender<()>,
}

impl Scaler {
    /// One that does not run yet, with what goes wrong drawn from a seed.
    pub fn of(seed: u64, now: DateTime<Utc>) -> Self {
        Self {
            clock: Clock::simulated(now),
            off: TimeDelta::zero(),
            weather: Weather::of(seed),
            starts: 0,
            is_stormy: false,
            process: None,
        }
    }

    /// Starts it, unless it runs; the name of the process.
    pub fn start(
        &mut self,
        number: usize,
        api: &Api,
        truth: &Clock,
        settings: Settings,
    ) -> Option<String> {
        let runs = |running: &Running| !running.task.is_finished();
        if self.process.as_ref().is_some_and(runs) {
            return None;
        }
        self.starts += 1;
        let by = format!("{number}.{}", self.starts);
        let wire = Wire {
            server: api.client_as(&by),
            weather: self.weather.clone(),
            clock: self.clock.clone(),
            truth: truth.clone(),
            by: by.clone(),
            streams: settings.seed.is_multiple_of(2),
        };
        let settings = Settings {
            seed: settings.seed ^ u64::from(self.starts),
            ..settings
        };
        let (stop, stopped) = oneshot::channel();
        let (client, clock) = (Client::new(wire, "default"), self.clock.clone());
        let telemetry = Arc::new(Telemetry::new(clock.now()));
        let task = tokio::spawn(async move {
            let stopped = async move { drop(stopped.await) };
            run(client, clock, settings, telemetry, stopped).await;
        });
        self.weather.runs(task.abort_handle());
        self.process = Some(Running {
            by: by.clone(),
            task,
            stop,
        });
        Some(by)
    }

    /// Sets its clock forward or back by so many seconds.
    pub fn step(&mut self, seconds: i32) {
        let by = TimeDelta::seconds(seconds.into());
        self.off += by;
        self.clock.step(by);
    }

    pub fn clock_right(&mut self) {
        self.clock.step(-self.off);
        self.off = TimeDelta::zero();
    }

    /// As SIGKILL does.
    pub fn kill(&mut self) {
        if let Some(process) = self.process.take() {
            process.task.abort();
        }
    }

    /// As SIGTERM does, which may take a while.
    pub async fn stop(&mut self) {
        if let Some(process) = self.process.take() {
            let _ = process.stop.send(());
            let _ = process.task.await;
        }
    }
}
