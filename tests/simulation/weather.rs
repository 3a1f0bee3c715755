//! What goes wrong between one scaler and the server: drawn from the seed, request by request.

use std::{
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use fastrand::Rng;
use serde::{Deserialize, Serialize};
use tokio::{sync::watch, task::AbortHandle};

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fault {
    /// The connection breaks before the server has read the request.
    Lost,
    /// It breaks after the request took effect.
    AnswerLost,
    /// The request never arrives, and nobody says so.
    Hangs,
    /// It takes effect, and no answer ever comes.
    AnswerHangs,
    /// It takes effect so many milliseconds later, whether anybody still waits for it or not.
    Late(u32),
    /// It takes effect at once and is answered so many milliseconds later.
    AnswerLate(u32),
    /// The answer ends in the middle.
    Torn,
    /// Another answer comes.
    Code(u16),
    /// 422 with causes: a policy refuses.
    Refused,
    /// 429, and so many seconds to wait.
    Busy(u16),
    /// An event of the watch comes so many milliseconds later, and with it all that follow.
    EventLate(u32),
    /// An event comes twice.
    EventTwice,
    /// An older event comes once more.
    EventStale,
    /// The watch ends in the place of an event.
    Cut,
    /// The watch breaks in the middle of one.
    Broken,
    /// The watch says nothing any more.
    Silent,
}

impl Fault {
    /// Whether it befalls a watch that is open, and not a request.
    pub const fn is_of_the_watch(self) -> bool {
        matches!(
            self,
            Self::EventLate(_)
                | Self::EventTwice
                | Self::EventStale
                | Self::Cut
                | Self::Broken
                | Self::Silent
        )
    }
}

/// When the scaler is ended in the course of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// Nothing was sent.
    Before,
    /// The request is on its way and will arrive.
    OnTheWay,
    /// It took effect and the answer is on its way.
    After,
}

#[derive(Clone)]
pub struct Weather(Arc<Mutex<Inner>>);

struct Inner {
    random: Rng,
    faults: Vec<Fault>,
    percent: u8,
    kill: Option<(u32, Stage)>,
    process: Option<AbortHandle>,
    cut: watch::Sender<u64>,
    happened: usize,
}

impl Weather {
    pub fn of(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(Inner {
            random: Rng::with_seed(seed),
            faults: Vec::new(),
            percent: 0,
            kill: None,
            process: None,
            cut: watch::Sender::new(0),
            happened: 0,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap()
    }

    /// From now on so many of a hundred requests and events meet one of these.
    pub fn turn(&self, faults: &[Fault], percent: u8) {
        let mut inner = self.lock();
        inner.faults = faults.to_vec();
        inner.percent = percent;
    }

    /// All is well, and nobody is to be ended.
    pub fn calm(&self) {
        self.turn(&[], 0);
        self.lock().kill = None;
    }

    /// The watches that are open end now.
    pub fn cut(&self) {
        let mut inner = self.lock();
        inner.happened += 1;
        inner.cut.send_modify(|cuts| *cuts += 1);
    }

    pub fn cuts(&self) -> watch::Receiver<u64> {
        self.lock().cut.subscribe()
    }

    pub fn runs(&self, process: AbortHandle) {
        self.lock().process = Some(process);
    }

    /// Ends the scaler in the course of a write, after so many others.
    pub fn kill_in(&self, writes: u32, stage: Stage) {
        self.lock().kill = Some((writes, stage));
    }

    /// Whether the scaler is to be ended in this write, and when.
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

    /// As SIGKILL does.
    pub fn kill(&self) {
        if let Some(process) = self.lock().process.take() {
            process.abort();
        }
    }

    /// What befalls this request.
    pub fn of_request(&self) -> Option<Fault> {
        self.lock().draw(false)
    }

    /// What befalls this event.
    pub fn of_event(&self) -> Option<Fault> {
        self.lock().draw(true)
    }

    /// How often something went wrong.
    pub fn happened(&self) -> usize {
        self.lock().happened
    }
}

impl Inner {
    fn draw(&mut self, of_the_watch: bool) -> Option<Fault> {
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
