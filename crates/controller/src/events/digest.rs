//! Limits the Events about reverts: if many counts in a namespace are reverted, most of them are
//! reported in one summary.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use dayshift_cluster::write::EventObject;
use dayshift_workload::{Prefix, events::EventText};

use crate::{clock::guard::Now, events::pruned_map::PrunedMap};

/// The maximum number of separate Events of a namespace within [`PERIOD`]. Further reverts are reported
/// in a summary.
const MAX_EVENTS: usize = 5;

/// The period of [`MAX_EVENTS`].
const PERIOD: Duration = Duration::from_secs(10 * 60);

/// How long reverts are gathered for the first summary of a period.
const GATHERED_FOR: Duration = Duration::from_secs(5);

/// The maximum number of field managers in a summary.
const MAX_MANAGERS: usize = 3;

/// The recent reverts of each namespace.
#[derive(Default)]
pub(crate) struct RevertDigest {
    namespaces: PrunedMap<Arc<str>, RecentReverts>,
}

struct RecentReverts {
    since: Duration,
    events: usize,
    has_summary: bool,
    summary: Option<RevertSummary>,
}

/// The reverts for the next summary.
struct RevertSummary {
    first: EventObject,
    count: usize,
    managers: BTreeMap<String, usize>,
    due: Duration,
}

impl RevertDigest {
    /// Whether a separate Event about a revert should be sent. If not, adds the revert to the summary.
    pub(crate) fn admit(&mut self, object: &EventObject, manager: &str, now: Now) -> bool {
        let recent = self.namespaces.get_or_insert_with(
            object.namespace.clone(),
            |recent| recent.is_over(now),
            || RecentReverts::new(now.elapsed),
        );
        if recent.is_over(now) {
            *recent = RecentReverts::new(now.elapsed);
        }
        if recent.events < MAX_EVENTS {
            recent.events += 1;
            return true;
        }
        let due = if recent.has_summary {
            recent.since + PERIOD
        } else {
            now.elapsed + GATHERED_FOR
        };
        let summary = recent.summary.get_or_insert_with(|| RevertSummary {
            first: object.clone(),
            count: 0,
            managers: BTreeMap::new(),
            due: due.max(now.elapsed),
        });
        summary.count += 1;
        if let Some(count) = summary.managers.get_mut(manager) {
            *count += 1;
        } else if summary.managers.len() < MAX_MANAGERS {
            summary.managers.insert(manager.to_owned(), 1);
        }
        false
    }

    /// When the next summary is due.
    pub(crate) fn next(&self) -> Option<Duration> {
        let all = self.namespaces.entries.values();
        all.filter_map(|recent| Some(recent.summary.as_ref()?.due))
            .min()
    }

    /// Takes a summary that is due, as an Event about the first of its objects.
    pub(crate) fn take_due(
        &mut self,
        prefix: &Prefix,
        now: Now,
    ) -> Option<(EventObject, EventText)> {
        let mut all = self.namespaces.entries.values_mut();
        let (recent, summary) = all.find_map(|recent| {
            let summary = recent
                .summary
                .take_if(|summary| summary.due <= now.elapsed)?;
            Some((recent, summary))
        })?;
        recent.has_summary = true;
        let namespace = &summary.first.namespace;
        let event =
            EventText::reverted_together(namespace, summary.count, &summary.managers, prefix);
        Some((summary.first, event))
    }
}

impl RecentReverts {
    const fn new(since: Duration) -> Self {
        Self {
            since,
            events: 0,
            has_summary: false,
            summary: None,
        }
    }

    fn is_over(&self, now: Now) -> bool {
        now.elapsed >= self.since + PERIOD && self.summary.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn namespace(name: &str) -> EventObject {
        EventObject::namespace(name.into(), "".into())
    }

    #[test]
    fn five_reverts_have_separate_events_and_the_others_are_summarized() {
        let mut digest = RevertDigest::default();
        let dev = namespace("dev");
        let own = (0..9)
            .filter(|_| digest.admit(&dev, "helm", Now::at_second(0)))
            .count();
        assert_eq!((own, digest.next()), (5, Some(GATHERED_FOR)));
        let prefix = Prefix::default();
        assert!(digest.take_due(&prefix, Now::at_second(4)).is_none());
        assert!(digest.take_due(&prefix, Now::at_second(5)).is_some());
        assert!(!digest.admit(&dev, "helm", Now::at_second(6)));
        assert_eq!(digest.next(), Some(PERIOD));
        assert!(digest.take_due(&prefix, Now::at_second(600)).is_some());
        assert!(
            digest.admit(&dev, "helm", Now::at_second(601)),
            "a new period begins"
        );
    }

    #[test]
    fn the_number_of_namespaces_is_bounded() {
        let mut digest = RevertDigest::default();
        for number in 0..10_000 {
            let object = namespace(&format!("team-{number}"));
            digest.admit(&object, "helm", Now::at_second(number * 60));
        }
        assert!(digest.namespaces.entries.len() <= 2 * 64);
    }
}
