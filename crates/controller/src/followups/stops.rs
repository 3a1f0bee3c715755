//! Stop notices: Events before stops. Simultaneous stops in a namespace get one Event on the Namespace.
//! Notices are only in memory, so a restarted controller might send one again.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::write::EventObject;
use dayshift_schedule::Zone;
use dayshift_workload::{WorkloadRef, events::EventText, next_stop};

use crate::{
    clock::{guard::Now, scheduler::Scheduler},
    events::Events,
    ids::Id,
    object::{Object, rare::StopGroup},
    store::Store,
    telemetry::metrics::Telemetry,
};

/// The delay of a notice if it was already due when its stop was observed. Then it includes other
/// workloads of the namespace that are observed at the same time.
const GATHER_TIME: TimeDelta = TimeDelta::seconds(2);

/// The maximum number of workloads with separate notices, if others of their group were announced before.
const MAX_SEPARATE: usize = 5;

/// How many announced groups of each namespace are remembered.
const MAX_ANNOUNCED: usize = 64;

/// The stops for which notices will be sent.
#[derive(Default)]
pub(crate) struct Stops {
    /// When the notice of each group is due.
    due: Scheduler<Arc<StopGroup>, DateTime<Utc>>,
    groups: BTreeMap<Arc<StopGroup>, BTreeSet<Id>>,
    /// The groups that were announced on their Namespaces, by namespace: those with the earliest stops. A user
    /// can move the stops of two workloads again and again.
    announced: BTreeMap<Arc<str>, BTreeSet<Arc<StopGroup>>>,
}

impl Stops {
    /// Applies the next stop of an object.
    pub(crate) fn observe(&mut self, id: Id, store: &mut Store, now: DateTime<Utc>) {
        let group = stop_to_announce(id, store, now);
        let Some(object) = store.get_unpublished(id) else {
            return;
        };
        if group.is_some() || object.get_rare().is_some() {
            self.set_group(id, object, group, now);
        }
    }

    /// Moves an object to a group, or out of its group if it is `None`.
    fn set_group(
        &mut self,
        id: Id,
        object: &mut Object,
        group: Option<StopGroup>,
        now: DateTime<Utc>,
    ) {
        let rare = object.rare();
        let group = group.filter(|group| rare.stop_reported != Some(group.stop));
        if rare.stop_group.as_deref() == group.as_ref() {
            return;
        }
        self.leave(id, object);
        let Some(group) = group else {
            return;
        };
        let due = group.stop.checked_sub_signed(group.notice);
        let due = due.filter(|due| *due > now).unwrap_or(now + GATHER_TIME);
        let group = match self.groups.get_key_value(&group) {
            Some((known, _)) => Arc::clone(known),
            None => Arc::new(group),
        };
        let members = self.groups.entry(Arc::clone(&group)).or_default();
        members.insert(id);
        self.due.set(Arc::clone(&group), due);
        object.rare().stop_group = Some(group);
    }

    /// When the next notice is due.
    pub(crate) fn next(&self) -> Option<DateTime<Utc>> {
        self.due.next()
    }

    /// Sends the notices of one group that is due. Returns `false` if no group is due.
    pub(crate) fn announce_due(
        &mut self,
        store: &mut Store,
        events: &mut Events,
        telemetry: &Telemetry,
        now: Now,
    ) -> bool {
        let Some((group, _)) = self.due.take_due(now.wall) else {
            return false;
        };
        let ids = self.groups.remove(&group).unwrap_or_default();
        for id in &ids {
            if let Some(object) = store.get_unpublished(*id) {
                let rare = object.rare();
                rare.stop_group = None;
                rare.stop_reported = Some(group.stop);
            }
        }
        // If the group was already announced without these workloads, each gets an Event.
        let is_announced = |known: &BTreeSet<_>| known.contains(&group);
        let known = self.announced.get(&group.namespace);
        let is_together = !known.is_some_and(is_announced) && ids.len() > 1;
        if is_together {
            self.record_announced(&group, now.wall);
        }
        // The clock might have been set to a time after the stop.
        if group.stop > now.wall {
            let announced = announce(&group, &ids, is_together, store, events, now);
            telemetry.stop_notices(&group.namespace, announced);
        }
        true
    }

    fn record_announced(&mut self, group: &Arc<StopGroup>, now: DateTime<Utc>) {
        self.announced.retain(|_, groups| {
            groups.retain(|group| group.stop > now);
            !groups.is_empty()
        });
        let namespace = Arc::clone(&group.namespace);
        let groups = self.announced.entry(namespace).or_default();
        groups.insert(Arc::clone(group));
        if groups.len() > MAX_ANNOUNCED {
            groups.pop_last();
        }
    }

    /// Removes an object from its group, if it is in one.
    pub(crate) fn leave(&mut self, id: Id, object: &mut Object) {
        let rare = object.get_rare_mut();
        let Some(group) = rare.and_then(|rare| rare.stop_group.take()) else {
            return;
        };
        if let Some(members) = self.groups.get_mut(&group) {
            members.remove(&id);
            if members.is_empty() {
                self.groups.remove(&group);
                self.due.cancel(&group);
            }
        }
    }
}

fn stop_to_announce(id: Id, store: &Store, now: DateTime<Utc>) -> Option<StopGroup> {
    let parsed = &store.get(id)?.parsed;
    let notice = parsed.notice();
    if notice.is_zero() {
        return None;
    }
    let observed = &store.get_decidable(id)?.observed;
    Some(StopGroup {
        stop: next_stop(parsed, observed, now)?,
        namespace: observed.object.namespace.clone(),
        notice,
    })
}

/// Sends the notices of a group: one Event on the Namespace, or one for each workload. Returns the number of
/// workloads that were announced.
fn announce(
    group: &StopGroup,
    ids: &BTreeSet<Id>,
    is_together: bool,
    store: &Store,
    events: &mut Events,
    now: Now,
) -> u64 {
    let StopGroup {
        namespace, stop, ..
    } = group;
    let objects = ids.iter().filter_map(|id| store.get(*id));
    let mut objects: Vec<(&WorkloadRef, Zone)> = objects
        .filter_map(|object| Some((object.name(), object.parsed.spec()?.schedule.zone())))
        .collect();
    let Some((_, zone)) = objects.first().copied() else {
        return 0;
    };
    let of = objects.len();
    if is_together {
        let objects: Vec<_> = objects.iter().map(|(object, _)| *object).collect();
        let text = EventText::stop_notice_for_many(&objects, *stop, zone, events.prefix());
        let uid = store.namespaces.uid(namespace).into();
        events.announce(EventObject::namespace(namespace.clone(), uid), text, now);
    } else {
        objects.truncate(MAX_SEPARATE);
        for (object, zone) in &objects {
            let text = EventText::stop_notice(object, *stop, *zone, events.prefix());
            events.announce(*object, text, now);
        }
    }
    tracing::info!(%namespace, workloads = objects.len(), of, %stop, "stop notice sent");
    u64::try_from(objects.len()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(namespace: &str, minute: i64) -> Arc<StopGroup> {
        Arc::new(StopGroup {
            stop: DateTime::UNIX_EPOCH + TimeDelta::minutes(minute),
            namespace: namespace.into(),
            notice: TimeDelta::hours(24),
        })
    }

    /// A user can edit two workloads again and again, so that they stop together at another time.
    #[test]
    fn moved_stops_do_not_accumulate() {
        let (mut stops, now) = (Stops::default(), DateTime::UNIX_EPOCH);
        stops.record_announced(&group("dev", 2_000), now);
        for minute in 1..1_000 {
            stops.record_announced(&group("evil", minute), now);
        }
        assert!(stops.announced["dev"].contains(&group("dev", 2_000)));
        assert_eq!(stops.announced["evil"].len(), MAX_ANNOUNCED);
        stops.record_announced(&group("dev", 2_001), now + TimeDelta::minutes(1_500));
        assert_eq!(
            stops
                .announced
                .keys()
                .map(|name| &**name)
                .collect::<Vec<_>>(),
            ["dev"]
        );
    }
}
