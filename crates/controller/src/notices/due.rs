//! Stops that people are to be told of, and when.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use chrono::{DateTime, TimeDelta, Utc};

use crate::ids::Id;
use crate::time::scheduler::Scheduler;

/// Where a notice was due before its stop was known, others of its namespace may come with it.
const GATHER: TimeDelta = TimeDelta::seconds(2);

/// The objects of one namespace that stop at one instant, and of which people are told at one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Group {
    pub(super) namespace: Arc<str>,
    pub(super) stop: DateTime<Utc>,
    /// How long before.
    pub(super) notice: TimeDelta,
}

/// Stops that people are to be told of. Nothing of it is kept anywhere else.
#[derive(Default)]
pub(crate) struct Notices {
    due: Scheduler<Group, DateTime<Utc>>,
    members: HashMap<Group, BTreeSet<Id>>,
    group_of: HashMap<Id, Group>,
    /// The stop of each object that was told last.
    told: HashMap<Id, DateTime<Utc>>,
    /// Groups of which a Namespace was told.
    told_together: HashSet<Group>,
}

/// A group of which people are to be told now.
pub(super) struct DueNotice {
    pub(super) group: Group,
    pub(super) ids: BTreeSet<Id>,
    /// Whether one Event tells of all of them: others of the group may have been told of before.
    pub(super) is_together: bool,
}

impl Notices {
    /// Sets the group of an object whose stop is known, in place of any before.
    pub(super) fn expect(&mut self, id: Id, group: Option<Group>, now: DateTime<Utc>) {
        let group = group.filter(|it| self.told.get(&id) != Some(&it.stop));
        if self.group_of.get(&id) == group.as_ref() {
            return;
        }
        self.leave(id);
        let Some(group) = group else {
            return;
        };
        let due = group.stop.checked_sub_signed(group.notice);
        let due = due.filter(|due| *due > now).unwrap_or(now + GATHER);
        self.due.set(group.clone(), due);
        let members = self.members.entry(group.clone()).or_default();
        members.insert(id);
        self.group_of.insert(id, group);
    }

    /// Takes one group of which people are to be told now. Its objects count as told.
    pub(super) fn take_due(&mut self, now: DateTime<Utc>) -> Option<DueNotice> {
        let (group, _) = self.due.take_due(now)?;
        let ids = self.members.remove(&group).unwrap_or_default();
        for id in &ids {
            self.group_of.remove(id);
            self.told.insert(*id, group.stop);
        }
        let is_first = !self.told_together.contains(&group);
        let is_together = is_first && ids.len() > 1;
        if is_together {
            self.told_together.retain(|it| it.stop > now);
            self.told_together.insert(group.clone());
        }
        Some(DueNotice {
            group,
            ids,
            is_together,
        })
    }

    /// When people are to be told next.
    pub(crate) fn next(&self) -> Option<DateTime<Utc>> {
        self.due.next()
    }

    /// The object is not known any more.
    pub(crate) fn remove(&mut self, id: Id) {
        self.leave(id);
        self.told.remove(&id);
    }

    fn leave(&mut self, id: Id) {
        let Some(group) = self.group_of.remove(&id) else {
            return;
        };
        if let Some(members) = self.members.get_mut(&group) {
            members.remove(&id);
            if members.is_empty() {
                self.members.remove(&group);
                self.due.cancel(&group);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(namespace: &str, stop: i64, notice: i64) -> Group {
        Group {
            namespace: namespace.into(),
            stop: at(stop),
            notice: TimeDelta::seconds(notice),
        }
    }

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(seconds, 0).unwrap()
    }

    fn told(notices: &mut Notices, now: i64) -> Vec<(i64, Vec<Id>, bool)> {
        std::iter::from_fn(|| notices.take_due(at(now)))
            .map(|it| {
                let ids = it.ids.into_iter().collect();
                (it.group.stop.timestamp(), ids, it.is_together)
            })
            .collect()
    }

    #[test]
    fn workloads_that_stop_together_have_one_notice() {
        let mut notices = Notices::default();
        for id in 1..=3 {
            notices.expect(id, Some(group("a", 100, 10)), at(0));
        }
        notices.expect(4, Some(group("b", 100, 10)), at(0));
        assert_eq!(
            (told(&mut notices, 89), notices.next()),
            (vec![], Some(at(90)))
        );
        let expected = [(100, vec![1, 2, 3], true), (100, vec![4], false)];
        assert_eq!(told(&mut notices, 90), expected);
        for id in 1..=4 {
            notices.expect(id, Some(group("a", 100, 10)), at(91));
        }
        assert_eq!((told(&mut notices, 99), notices.next()), (vec![], None));
        // Somebody moves its stop.
        notices.expect(1, Some(group("a", 200, 10)), at(92));
        assert_eq!(told(&mut notices, 190), [(200, vec![1], false)]);
    }

    #[test]
    fn a_stop_that_does_not_come_is_not_told() {
        let mut notices = Notices::default();
        notices.expect(1, Some(group("a", 100, 10)), at(0));
        notices.expect(2, Some(group("a", 100, 10)), at(0));
        notices.expect(1, None, at(50));
        notices.remove(2);
        assert_eq!((told(&mut notices, 99), notices.next()), (vec![], None));
        assert!(notices.members.is_empty() && notices.group_of.is_empty());
    }

    #[test]
    fn late_notices_wait_for_each_other_and_later_ones_are_told_apart() {
        let mut notices = Notices::default();
        for id in [1, 2] {
            notices.expect(id, Some(group("a", 100, 90)), at(20));
        }
        assert_eq!(told(&mut notices, 21), []);
        assert_eq!(told(&mut notices, 22), [(100, vec![1, 2], true)]);
        for id in [3, 4] {
            notices.expect(id, Some(group("a", 100, 90)), at(30));
        }
        assert_eq!(told(&mut notices, 32), [(100, vec![3, 4], false)]);
    }
}
