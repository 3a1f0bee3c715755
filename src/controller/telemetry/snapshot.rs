//! What a controller knows of every object, for whoever asks.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, Utc};
use tokio::sync::{Notify, oneshot};

use crate::{
    schedule::Boundary,
    workload::{
        CountField, Inputs, InvalidSchedule, Observed, Override, ParsedInputs, Replicas,
        ResourceRequests, ScheduleSpec, State, WorkloadRef,
    },
};

/// What a controller knew at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The moment, by the controller's clock.
    pub at: DateTime<Utc>,
    /// Every object that concerns it, by kind, namespace and name.
    pub objects: Vec<ObjectSnapshot>,
}

/// What a controller knew of one object.
///
/// It shares its texts and schedules with the controller. What can be computed from them is computed
/// when it is asked for, by whoever asks.
#[derive(Clone, Debug)]
pub struct ObjectSnapshot {
    /// Which object.
    pub object: WorkloadRef,
    /// The annotations in force for it, as they were written.
    pub inputs: Inputs,
    /// Its count now.
    pub replicas: Replicas,
    /// What one of its replicas requests.
    pub requests: ResourceRequests,
    /// What was done to it last, and the count to come back to (`saved`).
    pub state: State,
    /// What is being done about it.
    pub work: WorkStatus,
    /// How often in a row a write to it was refused or failed.
    pub failures: u32,
    pub(in crate::controller) parsed: Arc<ParsedInputs>,
    pub(in crate::controller) override_began: Option<Box<str>>,
    pub(in crate::controller) deleting: bool,
    pub(in crate::controller) seen: DateTime<Utc>,
}

/// Whether work on an object waits, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkStatus {
    /// There is nothing to do.
    Idle,
    /// A change waits for its turn to be sent.
    Queued,
    /// A request about it is under way.
    InFlight,
    /// The last try failed, and it is tried again later.
    BackingOff,
    /// The permission to patch its kind is missing in its namespace: one object asks for it at a time.
    WaitingForPermission,
}

impl fmt::Display for WorkStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Idle => "nothing to do",
            Self::Queued => "waiting to be sent",
            Self::InFlight => "waiting for the API server's answer",
            Self::BackingOff => "waiting to be tried again",
            Self::WaitingForPermission => "waiting for permission",
        })
    }
}

impl ObjectSnapshot {
    /// The schedule that it follows; `None` where it has none, or one that is refused.
    pub fn schedule(&self) -> Option<&ScheduleSpec> {
        match &*self.parsed {
            ParsedInputs::Scheduled(spec) => Some(spec),
            ParsedInputs::Unscheduled | ParsedInputs::Invalid(_) => None,
        }
    }

    /// Why its schedule is refused, if it is.
    pub fn error(&self) -> Option<&InvalidSchedule> {
        match &*self.parsed {
            ParsedInputs::Invalid(error) => Some(error),
            ParsedInputs::Unscheduled | ParsedInputs::Scheduled(_) => None,
        }
    }

    /// What its annotations say.
    pub fn parsed(&self) -> &ParsedInputs {
        &self.parsed
    }

    /// When its annotations were first seen as they are.
    pub const fn asked_at(&self) -> DateTime<Utc> {
        self.seen
    }

    /// The object as the controller knows it: its labels are those of [`Self::state`], and of
    /// what a patch is guarded by there is nothing.
    pub fn observed(&self) -> Observed {
        Observed {
            object: self.object.clone(),
            replicas: self.replicas,
            requests: self.requests,
            count_field: CountField::Present,
            inputs: self.inputs.clone(),
            labels: self.state.to_labels(),
            error: None,
            override_began: self.override_began.clone(),
            has_labels: true,
            has_annotations: true,
            deleting: self.deleting,
        }
    }

    /// The first boundary of its schedule after `after`, and what happens then.
    pub fn next_after(&self, after: DateTime<Utc>) -> Option<Boundary> {
        self.schedule()?.next_after(&self.object, after)
    }

    /// The override that holds it at `at`.
    pub fn active_override(&self, at: DateTime<Utc>) -> Option<Override> {
        let overrides = &self.schedule()?.overrides;
        let began = self.override_began.as_deref();
        overrides.without_ended(began, &self.state, at).at(at)
    }
}

/// Those who ask for a snapshot, and whether anybody answers. While nobody asks it costs nothing.
#[derive(Debug, Default)]
pub(in crate::controller) struct SnapshotRequests {
    waiting: Mutex<Waiting>,
    asked: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    controllers: usize,
    askers: Vec<oneshot::Sender<Snapshot>>,
}

/// A controller that answers, until it is dropped.
pub(in crate::controller) struct Answering<'a>(&'a SnapshotRequests);

impl SnapshotRequests {
    /// A snapshot, as soon as the controller is between two pieces of work; `None` where no
    /// controller runs, or it ends meanwhile.
    pub(in crate::controller) async fn ask(&self) -> Option<Snapshot> {
        let (asker, answer) = oneshot::channel();
        {
            let mut waiting = self.lock();
            if waiting.controllers == 0 {
                return None;
            }
            waiting.askers.push(asker);
        }
        self.asked.notify_one();
        let mut snapshot = answer.await.ok()?;
        let place = |it: &ObjectSnapshot| {
            let WorkloadRef {
                kind,
                namespace,
                name,
                ..
            } = &it.object;
            (*kind, namespace.clone(), name.clone())
        };
        snapshot.objects.sort_by_cached_key(place);
        Some(snapshot)
    }

    /// A controller answers from now on.
    pub(in crate::controller) fn answering(&self) -> Answering<'_> {
        self.lock().controllers += 1;
        Answering(self)
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Answering<'_> {
    /// Waits until somebody asks.
    pub(in crate::controller) async fn asked(&self) {
        self.0.asked.notified().await;
    }

    /// Gives everybody who asks a snapshot, which is taken only if somebody does.
    pub(in crate::controller) fn answer(&self, take: impl FnOnce() -> Snapshot) {
        let askers = std::mem::take(&mut self.0.lock().askers);
        if askers.is_empty() {
            return;
        }
        let snapshot = take();
        for asker in askers {
            // Who has stopped waiting needs none.
            let _ = asker.send(snapshot.clone());
        }
    }
}

impl Drop for Answering<'_> {
    fn drop(&mut self) {
        let mut waiting = self.0.lock();
        waiting.controllers -= 1;
        if waiting.controllers == 0 {
            waiting.askers.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::{join, time::timeout};

    use super::*;

    fn empty() -> Snapshot {
        Snapshot {
            at: DateTime::UNIX_EPOCH,
            objects: Vec::new(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_taken_while_nobody_asks_and_one_for_all_who_do() {
        let requests = SnapshotRequests::default();
        assert!(requests.ask().await.is_none(), "no controller runs");
        let answering = requests.answering();
        answering.answer(|| panic!("nobody asks"));
        let silence = timeout(std::time::Duration::from_secs(3600), answering.asked());
        assert!(silence.await.is_err(), "the controller is not woken");

        let mut taken = 0;
        let answer = async {
            answering.asked().await;
            answering.answer(|| {
                taken += 1;
                empty()
            });
        };
        let (first, second, ()) = join!(requests.ask(), requests.ask(), answer);
        assert!(first.is_some() && second.is_some());
        assert_eq!(taken, 1);
    }

    #[tokio::test]
    async fn who_asks_a_controller_that_ends_gets_nothing() {
        let requests = SnapshotRequests::default();
        let answering = requests.answering();
        let (answer, ()) = join!(requests.ask(), async { drop(answering) });
        assert!(answer.is_none());
    }
}
