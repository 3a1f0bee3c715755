//! How many workloads may be starting at once (`--max-starting`), and the starts that wait for that.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    num::NonZeroUsize,
    sync::Arc,
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_workload::READY_WITHIN;

use crate::{
    ids::Id, objects::index::Index, queue::fair_queue::FairQueue, time::scheduler::Scheduler,
};

/// The workloads that are starting: started and not ready yet. Each has a place until it is ready, for
/// as long as its start may take.
///
/// Nothing is stored: a controller that begins anew counts what the watches show.
pub(crate) struct Starting {
    max: Option<NonZeroUsize>,
    /// Whether enough is known of what is starting.
    is_open: bool,
    places: HashMap<Id, Holds>,
    /// The workloads that run and have no place any more, whatever comes of them until they are stopped.
    up: HashSet<Id>,
    /// When workloads that do not become ready give their places up.
    ends: Scheduler<Id, DateTime<Utc>>,
    /// The starts that wait, with the number of each in its queue.
    waiting: HashMap<Id, u64>,
    /// Those that somebody asks for, which go first.
    asked: FairQueue<(Id, u64)>,
    scheduled: FairQueue<(Id, u64)>,
    last_number: u64,
    /// The start whose turn it is.
    called: Option<Id>,
}

/// How far a workload has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// It does not run.
    Stopped,
    /// It is started since then, by its labels, and has not been ready since.
    Starting(DateTime<Utc>),
    /// It is not ready, and its labels do not say that it is started: its schedule was edited since, say.
    NotReady,
    /// It is ready, or does not say whether it is.
    Ready,
}

/// What holds a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// A start that is not carried out yet.
    Start,
    /// A workload that is not ready yet.
    Workload,
}

/// Whether a start has a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// It has one.
    Taken,
    /// It has one, and has waited for it.
    TakenAfterWait,
    /// It waits.
    Wait {
        /// Whether it begins to.
        is_news: bool,
    },
}

impl Starting {
    /// Nothing is starting yet, and at most so many workloads may be.
    pub(crate) fn new(max: Option<NonZeroUsize>) -> Self {
        Self {
            max,
            is_open: false,
            places: HashMap::new(),
            up: HashSet::new(),
            ends: Scheduler::new(),
            waiting: HashMap::new(),
            asked: FairQueue::default(),
            scheduled: FairQueue::default(),
            last_number: 0,
            called: None,
        }
    }

    /// Whether starts may have to wait.
    pub(crate) const fn is_bounded(&self) -> bool {
        self.max.is_some()
    }

    /// All that is starting has been shown, if `is_shown` says so: then starts may have places.
    pub(crate) fn open(&mut self, is_shown: impl FnOnce() -> bool) {
        self.is_open = self.is_open || is_shown();
    }

    /// How many starts wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The workloads whose starts wait.
    pub(crate) fn waiting_ids(&self) -> impl Iterator<Item = Id> {
        self.waiting.keys().copied()
    }

    /// How many workloads may be starting.
    pub(crate) const fn max(&self) -> Option<NonZeroUsize> {
        self.max
    }

    fn is_place_free(&self) -> bool {
        self.is_open && self.max.is_none_or(|max| self.places.len() < max.get())
    }

    /// Takes a place for a start, or queues it: one that somebody asks for before those of schedules, and
    /// the namespaces in turn.
    pub(crate) fn ask(&mut self, id: Id, namespace: &Arc<str>, is_request: bool) -> Place {
        if let Entry::Occupied(mut place) = self.places.entry(id) {
            place.insert(Holds::Start);
            self.ends.cancel(&id);
            return Place::Taken;
        }
        let is_called = self.called == Some(id);
        if self.is_place_free() && (is_called || self.waiting.is_empty()) {
            self.called = self.called.filter(|_| !is_called);
            self.up.remove(&id);
            self.places.insert(id, Holds::Start);
            return match is_called {
                true => Place::TakenAfterWait,
                false => Place::Taken,
            };
        }
        let Entry::Vacant(waiting) = self.waiting.entry(id) else {
            return Place::Wait { is_news: false };
        };
        self.last_number += 1;
        waiting.insert(self.last_number);
        let queue = match is_request {
            true => &mut self.asked,
            false => &mut self.scheduled,
        };
        queue.push(namespace, (id, self.last_number));
        Place::Wait { is_news: true }
    }

    /// The next start that may ask for a place again, if one is free.
    pub(crate) fn call(&mut self) -> Option<Id> {
        self.called = None;
        while self.is_place_free() {
            let next = self.asked.pop(|_| true);
            let (id, number) = next.or_else(|| self.scheduled.pop(|_| true))?;
            // One that waits no longer is left in its queue.
            if self.waiting.get(&id) == Some(&number) {
                self.waiting.remove(&id);
                self.called = Some(id);
                return self.called;
            }
        }
        None
    }

    /// Takes in how far a workload has come, and how long its start may take.
    fn look(&mut self, id: Id, progress: Progress, within: TimeDelta, now: DateTime<Utc>) {
        let place = self.places.get(&id);
        let begun = match (progress, place) {
            // A start that was sent late has its whole time from then on.
            (Progress::Starting(since), Some(Holds::Start)) => since.max(now),
            (_, Some(Holds::Start)) => return,
            (Progress::Stopped, _) => {
                self.up.remove(&id);
                return self.free(id);
            }
            (Progress::Starting(_) | Progress::NotReady, Some(Holds::Workload)) => return,
            (Progress::Ready | Progress::NotReady, _) => {
                self.up.insert(id);
                return self.free(id);
            }
            // A wake of what runs anyway is no start.
            (Progress::Starting(_), None) if self.up.contains(&id) => return,
            (Progress::Starting(since), None) => since,
        };
        match begun.checked_add_signed(within).filter(|end| *end > now) {
            Some(end) => {
                self.places.insert(id, Holds::Workload);
                self.ends.set(id, end);
            }
            None => {
                self.up.insert(id);
                self.free(id);
            }
        }
    }

    /// Takes the place of one workload that is not ready in time.
    fn take_ended(&mut self, now: DateTime<Utc>) -> Option<Id> {
        let (id, _) = self.ends.take_due(now)?;
        self.places.remove(&id);
        self.up.insert(id);
        Some(id)
    }

    /// A start is not carried out for now, because its write fails.
    pub(crate) fn give_back(&mut self, id: Id) {
        if self.places.get(&id) == Some(&Holds::Start) {
            self.free(id);
        }
    }

    /// Ends the wait of an object that is not to be started now; returns whether its start waited.
    pub(crate) fn end_wait(&mut self, id: Id) -> bool {
        self.give_back(id);
        self.waiting.remove(&id).is_some()
    }

    /// An object is gone.
    pub(crate) fn remove(&mut self, id: Id) {
        self.end_wait(id);
        self.up.remove(&id);
        self.free(id);
    }

    fn free(&mut self, id: Id) {
        self.places.remove(&id);
        self.ends.cancel(&id);
    }

    /// Takes in how much of an object is ready.
    pub(crate) fn observe(&mut self, id: Id, index: &Index, now: DateTime<Utc>) {
        if self.is_bounded()
            && let Some(entry) = index.get(id)
            && let Some(progress) = index.progress(id)
        {
            let within = entry.parsed.ready_within();
            let within = if within.is_zero() {
                READY_WITHIN
            } else {
                within
            };
            self.look(id, progress, within, now);
        }
    }

    /// Takes the places of workloads that are not ready in time.
    pub(crate) fn end_late(&mut self, index: &Index, now: DateTime<Utc>) {
        while let Some(id) = self.take_ended(now) {
            if let Some(entry) = index.get(id) {
                let object = entry.object();
                tracing::warn!(kind = %object.kind, %object, "not ready in time; its place is for the next start");
            }
        }
    }

    /// When something is to be done next.
    pub(crate) fn next(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        if self.is_place_free() && !self.waiting.is_empty() {
            return Some(now);
        }
        self.ends.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::seconds(second)
    }

    const WITHIN: TimeDelta = TimeDelta::seconds(60);
    const WAITS: Place = Place::Wait { is_news: true };

    fn of(max: usize) -> Starting {
        let mut starting = Starting::new(NonZeroUsize::new(max));
        starting.open(|| true);
        starting
    }

    #[test]
    fn places_go_to_what_is_asked_for_and_then_to_the_namespaces_in_turn() {
        let mut starting = of(1);
        let (dev, test): (Arc<str>, Arc<str>) = ("dev".into(), "test".into());
        assert_eq!(starting.ask(1, &dev, false), Place::Taken);
        for (id, namespace, is_request) in [(2, &dev, false), (3, &dev, false), (4, &test, false)] {
            assert_eq!(starting.ask(id, namespace, is_request), WAITS);
        }
        assert_eq!(starting.ask(5, &dev, true), WAITS);
        assert_eq!(starting.ask(2, &dev, false), Place::Wait { is_news: false });
        assert_eq!((starting.waiting(), starting.call()), (4, None));
        let mut order = Vec::new();
        for id in [1, 5, 2, 4] {
            starting.look(id, Progress::Starting(at(0)), WITHIN, at(0));
            // An edit of its schedule leaves it as it is.
            starting.look(id, Progress::NotReady, WITHIN, at(0));
            assert_eq!(starting.call(), None);
            starting.look(id, Progress::Ready, WITHIN, at(1));
            let next = starting.call().unwrap();
            assert_eq!(starting.ask(next, &dev, false), Place::TakenAfterWait);
            order.push(next);
        }
        assert_eq!(order, [5, 2, 4, 3]);
        assert_eq!(starting.waiting(), 0);
    }

    #[test]
    fn a_place_is_free_again_at_the_end_of_its_time_a_failure_a_stop_or_a_removal() {
        let dev: Arc<str> = "dev".into();
        let ends: [fn(&mut Starting); 4] = [
            |it| {
                it.look(1, Progress::Starting(at(0)), WITHIN, at(5));
                assert_eq!(it.next(at(5)), Some(at(65)));
                assert_eq!(
                    (it.take_ended(at(64)), it.take_ended(at(65))),
                    (None, Some(1))
                );
                // Somebody wakes what runs anyway.
                it.look(1, Progress::Starting(at(65)), WITHIN, at(65));
            },
            |it| it.give_back(1),
            |it| assert!(!it.end_wait(1)),
            |it| it.remove(1),
        ];
        for end in ends {
            let mut starting = of(1);
            assert_eq!(starting.ask(1, &dev, false), Place::Taken);
            assert_eq!(starting.ask(2, &dev, false), WAITS);
            end(&mut starting);
            assert_eq!(starting.next(at(70)), Some(at(70)));
            assert_eq!(starting.call(), Some(2));
            assert!(starting.places.is_empty() && starting.ends.is_empty());
        }
    }

    #[test]
    fn what_is_starting_already_counts_before_any_start_goes() {
        let mut starting = Starting::new(NonZeroUsize::new(1));
        let dev: Arc<str> = "dev".into();
        assert_eq!(starting.ask(1, &dev, false), WAITS);
        assert_eq!((starting.next(at(9)), starting.call()), (None, None));
        starting.look(2, Progress::Starting(at(0)), WITHIN, at(9));
        starting.open(|| true);
        assert_eq!(
            (starting.next(at(9)), starting.call()),
            (Some(at(60)), None)
        );
        starting.look(2, Progress::Ready, WITHIN, at(10));
        assert_eq!(starting.call(), Some(1));
    }
}
