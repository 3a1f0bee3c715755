//! The in-memory scheduler: due times in order.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
    hash::Hash,
};

/// Jobs by the instant at which each is due, at most one instant a job.
///
/// A heap of instants, beside the one that counts for each job. Moving or cancelling a job leaves
/// its old place in the heap, which is skipped at the top; the heap is rebuilt when most places are
/// such. Setting and taking cost O(log n), spread over many calls; asking for the next costs O(1).
#[derive(Clone, Debug)]
pub struct Scheduler<Job, Instant> {
    heap: BinaryHeap<Reverse<(Instant, Job)>>,
    due: HashMap<Job, Instant>,
}

impl<Job: Clone + Eq + Hash + Ord, Instant: Copy + Ord> Scheduler<Job, Instant> {
    /// A scheduler with nothing to do.
    pub fn new() -> Self {
        Self {
            heap: BinaryHeap::new(),
            due: HashMap::new(),
        }
    }

    /// Sets the instant of the job, in place of any before.
    pub fn set(&mut self, job: Job, at: Instant) {
        if self.due.insert(job.clone(), at) == Some(at) {
            return;
        }
        self.heap.push(Reverse((at, job)));
        self.pass_over_stale();
        if self.heap.len() > 2 * self.due.len() + 64 {
            self.heap = self
                .due
                .iter()
                .map(|(job, at)| Reverse((*at, job.clone())))
                .collect();
        }
    }

    /// Cancels the job.
    pub fn cancel(&mut self, job: &Job) {
        if self.due.remove(job).is_some() {
            self.pass_over_stale();
        }
    }

    /// The soonest instant at which any job is due.
    pub fn next(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }

    /// Takes one job that is due at `now`, the longest due first.
    pub fn take_due(&mut self, now: Instant) -> Option<(Job, Instant)> {
        self.heap.peek().filter(|Reverse((at, _))| *at <= now)?;
        let Reverse((at, job)) = self.heap.pop()?;
        self.due.remove(&job);
        self.pass_over_stale();
        Some((job, at))
    }

    /// When a job is due; `None` if it is not set.
    pub fn get(&self, job: &Job) -> Option<Instant> {
        self.due.get(job).copied()
    }

    /// How many jobs there are.
    pub fn len(&self) -> usize {
        self.due.len()
    }

    /// Whether there is no job.
    pub fn is_empty(&self) -> bool {
        self.due.is_empty()
    }

    fn pass_over_stale(&mut self) {
        while let Some(Reverse((at, job))) = self.heap.peek()
            && self.due.get(job) != Some(at)
        {
            self.heap.pop();
        }
    }
}

impl<Job: Clone + Eq + Hash + Ord, Instant: Copy + Ord> Default for Scheduler<Job, Instant> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(scheduler: &mut Scheduler<u32, i64>, now: i64) -> Vec<u32> {
        std::iter::from_fn(|| scheduler.take_due(now))
            .map(|(job, _)| job)
            .collect()
    }

    #[test]
    fn gives_what_is_due_and_the_longest_due_first() {
        let mut scheduler = Scheduler::new();
        for (job, at) in [(1, 30), (2, 10), (3, 20), (4, 40)] {
            scheduler.set(job, at);
        }
        assert_eq!(scheduler.next(), Some(10));
        assert_eq!(drain(&mut scheduler, 30), [2, 3, 1]);
        assert_eq!((scheduler.next(), scheduler.len()), (Some(40), 1));
    }

    #[test]
    fn a_job_is_due_once_however_often_it_moves() {
        let mut scheduler = Scheduler::new();
        for at in [10, 20, 10, 30, 10] {
            scheduler.set(7, at);
        }
        assert_eq!(drain(&mut scheduler, 99), [7]);
        scheduler.set(7, 10);
        scheduler.set(7, 50);
        scheduler.set(8, 20);
        scheduler.cancel(&8);
        assert_eq!(drain(&mut scheduler, 49), [0; 0]);
        assert_eq!(scheduler.next(), Some(50));
    }

    #[test]
    fn old_places_do_not_pile_up() {
        let mut scheduler = Scheduler::new();
        for at in 0..100_000 {
            scheduler.set(1, at);
            scheduler.set(2, -at);
        }
        assert!(scheduler.heap.len() < 100, "{}", scheduler.heap.len());
        assert_eq!(drain(&mut scheduler, i64::MAX), [2, 1]);
    }
}
