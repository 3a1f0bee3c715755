//! Faults between one controller and the server: drawn from the seed, request by request.

use std::{
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use fastrand::Rng;
use tokio::{sync::broadcast, task::AbortHandle};

use crate::{
    checker::scalers::request::NAMESPACES,
    scenario::fault::{Fault, Stage},
};

#[derive(Clone)]
pub struct Faults(Arc<Mutex<Inner>>);

struct Inner {
    random: Rng,
    faults: Vec<Fault>,
    percent: u8,
    /// Whether they affect only requests for Namespaces.
    of_namespaces: bool,
    kill: Option<(u32, Stage)>,
    process: Option<AbortHandle>,
    /// Wakes waiting tasks in order, so that runs repeat; a `watch` channel wakes them in random order.
    cut: broadcast::Sender<()>,
    happened: usize,
}

impl Faults {
    pub fn of(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(Inner {
            random: Rng::with_seed(seed),
            faults: Vec::new(),
            percent: 0,
            of_namespaces: false,
            kill: None,
            process: None,
            cut: broadcast::Sender::new(16),
            happened: 0,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap()
    }

    /// From now on this percentage of requests and watch events has one of these faults.
    pub fn turn(&self, faults: &[Fault], percent: u8) {
        let mut inner = self.lock();
        inner.faults = faults.to_vec();
        inner.percent = percent;
        inner.of_namespaces = false;
    }

    /// Like [`Self::turn`], but only for requests for Namespaces.
    pub fn turn_of_namespaces(&self, faults: &[Fault], percent: u8) {
        self.turn(faults, percent);
        self.lock().of_namespaces = true;
    }

    /// Ends all faults and scheduled kills.
    pub fn end(&self) {
        self.turn(&[], 0);
        self.lock().kill = None;
    }

    /// Ends all open watches now.
    pub fn cut(&self) {
        let mut inner = self.lock();
        inner.happened += 1;
        // If no watch is open, there is no receiver.
        let _ = inner.cut.send(());
    }

    pub fn cuts(&self) -> broadcast::Receiver<()> {
        self.lock().cut.subscribe()
    }

    pub fn runs(&self, process: AbortHandle) {
        self.lock().process = Some(process);
    }

    /// Kills the controller during one of its next writes: after this many others.
    pub fn kill_in(&self, writes: u32, stage: Stage) {
        self.lock().kill = Some((writes, stage));
    }

    /// Whether the controller should be killed in this write, and at which stage.
    pub fn killed(&self) -> Option<Stage> {
        let mut inner = self.lock();
        let (left, stage) = inner.kill.take()?;
        if left > 0 {
            inner.kill = Some((left - 1, stage));
            return None;
        }
        inner.happened += 1;
        Some(stage)
    }

    /// Kills the controller as SIGKILL does.
    pub fn kill(&self) {
        if let Some(process) = self.lock().process.take() {
            process.abort();
        }
    }

    /// The fault of a request for this path.
    pub fn of_request(&self, path: &str) -> Option<Fault> {
        self.lock().draw(false, path)
    }

    /// The fault of an event of the watch with this path.
    pub fn of_event(&self, path: &str) -> Option<Fault> {
        self.lock().draw(true, path)
    }

    /// The number of faults so far.
    pub fn happened(&self) -> usize {
        self.lock().happened
    }
}

impl Inner {
    fn draw(&mut self, of_the_watch: bool, path: &str) -> Option<Fault> {
        if self.of_namespaces && path != NAMESPACES {
            return None;
        }
        if self.percent == 0 || self.random.u8(..100) >= self.percent {
            return None;
        }
        let mut faults = self.faults.clone();
        faults.retain(|fault| fault.is_of_the_watch() == of_the_watch);
        let fault = self.random.choice(faults)?;
        self.happened += 1;
        Some(fault)
    }
}

pub const fn millis(count: u32) -> Duration {
    Duration::from_millis(count as u64)
}
