//! One controller of a scenario: the real one, with its own clock and its own connection to the server.

use std::{
    any::Any,
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::clock::Clock;
use dayshift_controller::{CalendarFeed, Settings, Telemetry, run};
use futures::FutureExt as _;
use kube::Client;
use kube_in_memory::Api;
use tokio::{sync::oneshot, task::JoinHandle};

use crate::{
    checker::{assumptions, observer::Observer},
    harness::{faults::Faults, files::ReadFiles, transport::Transport, troubles::Troubles},
    scenario::holidays::Holidays,
};

pub struct ControllerProcess {
    pub clock: Clock,
    pub off: TimeDelta,
    /// The drift of the clock, in millionths.
    pub drift: i32,
    /// The part of the accumulated drift below a millisecond, in millionths of a millisecond.
    rest: i64,
    pub faults: Faults,
    starts: u32,
    pub is_faulty: bool,
    pub process: Option<Running>,
    pub crashes: Crashes,
}

/// The panics of processes, each of which is a failure.
pub type Crashes = Arc<Mutex<Vec<String>>>;

pub struct Running {
    pub by: String,
    pub task: JoinHandle<()>,
    pub files: ReadFiles,
    /// The source of `/readyz`.
    pub telemetry: Arc<Telemetry>,
    stop: oneshot::Sender<()>,
}

impl ControllerProcess {
    /// A controller that is not started yet; its faults are drawn from the seed.
    pub fn of(seed: u64, now: DateTime<Utc>, crashes: Crashes) -> Self {
        Self {
            clock: Clock::simulated(now),
            off: TimeDelta::zero(),
            drift: 0,
            rest: 0,
            faults: Faults::of(seed),
            starts: 0,
            is_faulty: false,
            process: None,
            crashes,
        }
    }

    /// Starts the controller unless it runs. Returns the name of the process.
    pub fn start(
        &mut self,
        number: usize,
        (api, truth): (&Api, &Clock),
        settings: Settings,
        holidays: Holidays,
        observer: &Arc<Mutex<Observer>>,
        troubles: &Troubles,
    ) -> Option<String> {
        let runs = |running: &Running| !running.task.is_finished();
        if self.process.as_ref().is_some_and(runs) {
            return None;
        }
        self.starts += 1;
        let by = format!("{number}.{}", self.starts);
        let transport = Transport {
            server: api.client_as(&by),
            api: api.clone(),
            faults: self.faults.clone(),
            truth: truth.clone(),
            by: by.clone(),
            observer: observer.clone(),
            troubles: troubles.clone(),
            streams: settings.seed.is_multiple_of(2),
        };
        let (publisher, calendars) = CalendarFeed::open(assumptions::calendars(&holidays));
        let settings = Settings {
            seed: settings.seed ^ u64::from(self.starts),
            instance: by.clone(),
            calendars,
            ..settings
        };
        let (stop, stopped) = oneshot::channel();
        let (client, clock) = (Client::new(transport, "default"), self.clock.clone());
        let telemetry = Arc::new(Telemetry::new(clock.now()));
        let (crashes, name, served) = (self.crashes.clone(), by.clone(), telemetry.clone());
        let task = tokio::spawn(async move {
            let is_stopped = AtomicBool::new(false);
            let shutdown = async {
                if stopped.await.is_err() {
                    std::future::pending::<()>().await; // the controller is killed here
                }
                is_stopped.store(true, Ordering::Relaxed);
            };
            let end = AssertUnwindSafe(run(client, clock, settings, telemetry, shutdown));
            let why = match end.catch_unwind().await {
                Ok(()) if is_stopped.load(Ordering::Relaxed) => return,
                Ok(()) => "ended by itself".to_owned(),
                Err(panic) => format!("panicked: {}", message(&*panic)),
            };
            crashes
                .lock()
                .unwrap()
                .push(format!("controller {name} {why}"));
        });
        self.faults.runs(task.abort_handle());
        self.process = Some(Running {
            by: by.clone(),
            task,
            files: ReadFiles {
                publisher,
                holidays,
            },
            telemetry: served,
            stop,
        });
        Some(by)
    }

    /// Steps the controller's clock by this many milliseconds.
    pub fn step(&mut self, milliseconds: i32) {
        let by = TimeDelta::milliseconds(milliseconds.into());
        self.off += by;
        self.clock.step(by);
    }

    /// Lets the controller's clock drift for this many milliseconds.
    pub fn drifts(&mut self, time: i64) {
        let by = time * i64::from(self.drift) + self.rest;
        self.rest = by % 1_000_000;
        self.step(i32::try_from(by / 1_000_000).unwrap());
    }

    pub fn clock_right(&mut self) {
        self.drift = 0;
        self.clock.step(-self.off);
        self.off = TimeDelta::zero();
    }

    /// Kills the controller as SIGKILL does.
    pub fn kill(&mut self) {
        if let Some(process) = self.process.take() {
            process.task.abort();
        }
    }

    /// Ends the controller as SIGTERM does, which can take some time.
    pub async fn stop(&mut self) {
        if let Some(process) = self.process.take() {
            let _ = process.stop.send(());
            let _ = process.task.await;
        }
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref().copied())
        .unwrap_or("without a word")
}
