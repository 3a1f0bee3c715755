//! Events about reverted counts, if many in one namespace are reverted at once.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use dayshift_cluster::write::EventObject;
use dayshift_workload::{Prefix, events::EventText};

use crate::clock::guard::Now;

/// How many objects of a namespace get an Event of their own within [`PERIOD`]; one Event sums up
/// the rest.
const MAX_EVENTS: usize = 5;

/// The period of [`MAX_EVENTS`].
const PERIOD: Duration = Duration::from_secs(10 * 60);

/// How long the first summary of a period gathers objects.
const GATHERED_FOR: Duration = Duration::from_secs(5);

/// How many managers a summary names.
const MAX_MANAGERS: usize = 3;

/// With fewer namespaces than this none is forgotten.
const MIN_PRUNED: usize = 64;

/// Recent Events of each namespace, and the next summary.
#[derive(Default)]
pub(crate) struct RevertDigest {
    namespaces: BTreeMap<Arc<str>, Recent>,
    /// How many namespaces were left after the last pruning.
    kept: usize,
}

struct Recent {
    since: Duration,
    events: usize,
    is_summed: bool,
    rest: Option<Rest>,
}

/// The objects without an Event of their own.
struct Rest {
    first: EventObject,
    count: usize,
    managers: BTreeMap<String, usize>,
    due: Duration,
}

impl RevertDigest {
    /// Whether an object gets an Event of its own; otherwise it is added to the summary.
    pub(crate) fn admit(&mut self, object: &EventObject, manager: &str, now: Now) -> bool {
        self.prune(now);
        let namespace = object.namespace.clone();
        let recent = self.namespaces.entry(namespace);
        let recent = recent.or_insert_with(|| Recent::new(now.elapsed));
        if recent.is_over(now) {
            *recent = Recent::new(now.elapsed);
        }
        if recent.events < MAX_EVENTS {
            recent.events += 1;
            return true;
        }
        let due = if recent.is_summed {
            recent.since + PERIOD
        } else {
            now.elapsed + GATHERED_FOR
        };
        let rest = recent.rest.get_or_insert_with(|| Rest {
            first: object.clone(),
            count: 0,
            managers: BTreeMap::new(),
            due: due.max(now.elapsed),
        });
        rest.count += 1;
        if let Some(count) = rest.managers.get_mut(manager) {
            *count += 1;
        } else if rest.managers.len() < MAX_MANAGERS {
            rest.managers.insert(manager.to_owned(), 1);
        }
        false
    }

    /// When the next summary is due.
    pub(crate) fn next(&self) -> Option<Duration> {
        let all = self.namespaces.values();
        all.filter_map(|recent| Some(recent.rest.as_ref()?.due))
            .min()
    }

    /// Takes a summary that is due, as an Event of the first of its objects.
    pub(crate) fn take_due(
        &mut self,
        prefix: &Prefix,
        now: Now,
    ) -> Option<(EventObject, EventText)> {
        let mut all = self.namespaces.values_mut();
        let (recent, rest) = all.find_map(|recent| {
            let rest = recent.rest.take_if(|rest| rest.due <= now.elapsed)?;
            Some((recent, rest))
        })?;
        recent.is_summed = true;
        let namespace = &rest.first.namespace;
        let event = EventText::reverted_together(namespace, rest.count, &rest.managers, prefix);
        Some((rest.first, event))
    }

    /// Forgets namespaces whose period is over, whenever their number has doubled.
    fn prune(&mut self, now: Now) {
        if self.namespaces.len() >= 2 * self.kept.max(MIN_PRUNED) {
            self.namespaces.retain(|_, recent| !recent.is_over(now));
            self.kept = self.namespaces.len();
        }
    }
}

impl Recent {
    const fn new(since: Duration) -> Self {
        Self {
            since,
            events: 0,
            is_summed: false,
            rest: None,
        }
    }

    fn is_over(&self, now: Now) -> bool {
        now.elapsed >= self.since + PERIOD && self.rest.is_none()
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    fn at(seconds: u64) -> Now {
        Now {
            wall: DateTime::UNIX_EPOCH,
            elapsed: Duration::from_secs(seconds),
            ahead: None,
        }
    }

    fn namespace(name: &str) -> EventObject {
        EventObject::namespace(name.into(), "".into())
    }

    #[test]
    fn five_objects_have_events_of_their_own_and_one_event_sums_up_the_rest() {
        let mut digest = RevertDigest::default();
        let dev = namespace("dev");
        let own = (0..9).filter(|_| digest.admit(&dev, "helm", at(0))).count();
        assert_eq!((own, digest.next()), (5, Some(GATHERED_FOR)));
        let prefix = Prefix::default();
        assert!(digest.take_due(&prefix, at(4)).is_none());
        assert!(digest.take_due(&prefix, at(5)).is_some());
        assert!(!digest.admit(&dev, "helm", at(6)));
        assert_eq!(digest.next(), Some(PERIOD));
        assert!(digest.take_due(&prefix, at(600)).is_some());
        assert!(digest.admit(&dev, "helm", at(601)), "a new period");
    }

    #[test]
    fn namespaces_that_come_and_go_leave_nothing_behind() {
        let mut digest = RevertDigest::default();
        for number in 0..10_000 {
            let object = namespace(&format!("team-{number}"));
            digest.admit(&object, "helm", at(number * 60));
        }
        assert!(digest.namespaces.len() <= 2 * MIN_PRUNED);
    }
}
