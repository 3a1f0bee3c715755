//! Telling people of the stops to come.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::{
    cluster::EventObject,
    events::EventText,
    schedule::Zone,
    workload::{ParsedInputs, WorkloadRef, next_stop},
};

use crate::controller::ids::Id;
use crate::controller::notices::due::{DueNotice, Group};
use crate::controller::reconcile::engine::{BATCH, Engine};

/// How many late ones of a namespace are told of by themselves.
const MAX_ALONE: usize = 5;

impl Engine {
    /// Takes in when an object is stopped next.
    pub(super) fn look_at_next_stop(&mut self, id: Id) {
        let now = self.clock.now();
        let group = self.stop_to_tell(id, now);
        self.notices.expect(id, group, now);
    }

    fn stop_to_tell(&self, id: Id, now: DateTime<Utc>) -> Option<Group> {
        let parsed = &self.index.get(id)?.parsed;
        let notice = parsed.notice(self.settings.notice);
        if notice.is_zero() {
            return None;
        }
        let observed = &self.index.get_decidable(id)?.observed;
        Some(Group {
            namespace: observed.object.namespace.clone(),
            stop: next_stop(parsed, observed, now)?,
            notice,
        })
    }

    /// Tells people of stops to come, as far as that is due.
    pub(super) fn tell_stops(&mut self, now: DateTime<Utc>) {
        let mut has_told = false;
        for _ in 0..BATCH {
            let Some(due) = self.notices.take_due(now) else {
                break;
            };
            has_told = true;
            // The clock may have been set to a time after it.
            if due.group.stop > now {
                self.tell_stop(&due, now);
            }
        }
        if has_told {
            self.dispatch_events();
        }
    }

    fn tell_stop(&mut self, due: &DueNotice, now: DateTime<Utc>) {
        let Group {
            namespace, stop, ..
        } = &due.group;
        let entries = due.ids.iter().filter_map(|id| self.index.get(*id));
        let objects: Vec<(&WorkloadRef, Zone)> = entries
            .filter_map(|entry| match &*entry.parsed {
                ParsedInputs::Scheduled(spec) => Some((entry.object(), spec.schedule.zone())),
                ParsedInputs::Unscheduled | ParsedInputs::Invalid(_) => None,
            })
            .collect();
        let Some((_, zone)) = objects.first().copied() else {
            return;
        };
        let prefix = &self.settings.prefix;
        let told = if due.is_together {
            objects.len()
        } else {
            objects.len().min(MAX_ALONE)
        };
        let count = u64::try_from(told).unwrap_or_default();
        self.telemetry.stop_notices.inc_by(count);
        tracing::info!(%namespace, workloads = told, of = objects.len(), %stop, "told of a stop to come");
        let events: Vec<_> = if due.is_together {
            let objects: Vec<_> = objects.iter().map(|(object, _)| *object).collect();
            let text = EventText::stop_notice_of_all(&objects, *stop, zone, prefix);
            let uid: Arc<str> = self.index.namespace_uid(namespace).into();
            vec![(EventObject::namespace(namespace.clone(), uid), text)]
        } else {
            let each = objects.iter().take(MAX_ALONE).map(|(object, zone)| {
                let text = EventText::stop_notice(object, *stop, *zone, prefix);
                (EventObject::from(*object), text)
            });
            each.collect()
        };
        for (about, text) in events {
            self.events.record(about, text, now);
        }
    }
}
