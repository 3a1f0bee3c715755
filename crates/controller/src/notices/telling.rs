//! Telling people of the stops to come.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use dayshift_cluster::write::EventObject;
use dayshift_schedule::Zone;
use dayshift_workload::{WorkloadRef, events::EventText, next_stop};

use crate::{
    ids::Id,
    notices::due::{DueNotice, Group, Notices},
    objects::index::Index,
    report::reporter::Reporter,
    telemetry::workload_metrics::NamespaceCounter,
};

/// How many late ones of a namespace are told of by themselves.
const MAX_ALONE: usize = 5;

impl Notices {
    /// Takes in when an object is stopped next.
    pub(crate) fn observe(&mut self, id: Id, index: &Index, now: DateTime<Utc>) {
        self.expect(id, stop_to_tell(id, index, now), now);
    }

    /// Tells people of stops to come, as far as that is due, of at most so many groups. Returns whether it
    /// told anything.
    pub(crate) fn tell_due(
        &mut self,
        max_groups: usize,
        index: &Index,
        reporter: &mut Reporter,
        counter: &NamespaceCounter,
        now: DateTime<Utc>,
    ) -> bool {
        let mut has_told = false;
        for _ in 0..max_groups {
            let Some(due) = self.take_due(now) else {
                break;
            };
            // The clock may have been set to a time after it.
            if due.group.stop > now {
                let told = tell(&due, index, reporter);
                counter.count(&due.group.namespace, told);
                has_told |= told > 0;
            }
        }
        has_told
    }
}

fn stop_to_tell(id: Id, index: &Index, now: DateTime<Utc>) -> Option<Group> {
    let parsed = &index.get(id)?.parsed;
    let notice = parsed.notice();
    if notice.is_zero() {
        return None;
    }
    let observed = &index.get_decidable(id)?.observed;
    Some(Group {
        namespace: observed.object.namespace.clone(),
        stop: next_stop(parsed, observed, now)?,
        notice,
    })
}

/// Tells people of a stop to come. Returns of how many workloads.
fn tell(due: &DueNotice, index: &Index, reporter: &mut Reporter) -> u64 {
    let Group {
        namespace, stop, ..
    } = &due.group;
    let entries = due.ids.iter().filter_map(|id| index.get(*id));
    let objects: Vec<(&WorkloadRef, Zone)> = entries
        .filter_map(|entry| Some((entry.object(), entry.parsed.spec()?.schedule.zone())))
        .collect();
    let Some((_, zone)) = objects.first().copied() else {
        return 0;
    };
    let told = if due.is_together {
        objects.len()
    } else {
        objects.len().min(MAX_ALONE)
    };
    let prefix = reporter.prefix().clone();
    tracing::info!(%namespace, workloads = told, of = objects.len(), %stop, "told of a stop to come");
    if due.is_together {
        let objects: Vec<_> = objects.iter().map(|(object, _)| *object).collect();
        let text = EventText::stop_notice_for_many(&objects, *stop, zone, &prefix);
        let uid: Arc<str> = index.namespaces.uid(namespace).into();
        reporter.announce(EventObject::namespace(namespace.clone(), uid), text);
    } else {
        for (object, zone) in &objects[..told] {
            let text = EventText::stop_notice(object, *stop, *zone, &prefix);
            reporter.announce(*object, text);
        }
    }
    u64::try_from(told).unwrap_or_default()
}
