//! Events for users: each condition is reported once.
//!
//! What is reported to users: Events and lines of the log, each condition once.

use std::{collections::HashMap, sync::Arc};

use dayshift_cluster::write::EventObject;
use dayshift_workload::{
    Change, EventNote, Prefix, Replicas, WorkloadRef,
    events::EventText,
    other_controllers::{ADMISSION, ManagerKind},
};

use crate::{
    clock::guard::Now,
    events::{digest::RevertDigest, recorder::Recorder},
    object::{
        Object,
        rare::{Reason, Reported},
    },
    settings::Settings,
    telemetry::metrics::Telemetry,
    throttle::permissions::{Permission, permission},
};

pub(crate) mod digest;
pub(crate) mod recorder;

/// With fewer permissions than this none is forgotten.
const MIN_PRUNED: usize = 64;

/// Reports to users what happens to objects, and nothing twice.
///
/// What was reported about an object is kept in the object; what holds for all objects of a kind in a
/// namespace is kept here.
pub(crate) struct Events {
    pub(crate) recorder: Recorder,
    pub(crate) digest: RevertDigest,
    permissions: HashMap<Permission, Reported>,
    /// How many permissions were left after the last pruning.
    kept: usize,
    prefix: Prefix,
    telemetry: Arc<Telemetry>,
}

impl Events {
    /// Nothing was reported yet.
    pub(crate) fn new(settings: &Settings, telemetry: Arc<Telemetry>) -> Self {
        Self {
            recorder: Recorder::new(settings, Arc::clone(&telemetry)),
            digest: RevertDigest::default(),
            permissions: HashMap::new(),
            kept: 0,
            prefix: settings.prefix.clone(),
            telemetry,
        }
    }

    /// Queues an Event.
    pub(crate) fn announce(&mut self, object: impl Into<EventObject>, event: EventText, now: Now) {
        self.recorder.record(object.into(), event, now.wall);
    }

    /// Queues an Event about a decision.
    pub(crate) fn announce_note(&mut self, object: &WorkloadRef, note: &EventNote, now: Now) {
        let event = EventText::from_note(note, object, &self.prefix);
        self.announce(object, event, now);
    }

    /// The prefix of the keys that Events name.
    pub(crate) const fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// Logs and queues an Event, unless it was reported about this object already.
    pub(crate) fn warn_once(
        &mut self,
        object: &mut Object,
        reason: Reason,
        event: EventText,
        now: Now,
    ) {
        if object.rare().reported.report_if_new(reason, "", now) {
            let object = object.name();
            tracing::warn!(kind = %object.kind, %object, "{}", event.text);
            self.announce(object, event, now);
        }
    }

    /// Whether to report a missing permission now; then it counts as reported.
    pub(crate) fn take_missing(&mut self, object: &WorkloadRef, reason: Reason, now: Now) -> bool {
        let permission = permission(object);
        if !self.permissions.contains_key(&permission)
            && self.permissions.len() >= 2 * self.kept.max(MIN_PRUNED)
        {
            self.permissions.retain(|_, reported| {
                reported.prune(now);
                !reported.is_empty()
            });
            self.kept = self.permissions.len();
        }
        let reported = self.permissions.entry(permission).or_default();
        reported.report_if_new(reason, "", now)
    }

    /// A permission is there again: when it is missing once more, that is reported.
    pub(crate) fn clear_missing(&mut self, object: &WorkloadRef, reason: Reason) {
        if self.permissions.is_empty() {
            return;
        }
        let permission = permission(object);
        if let Some(reported) = self.permissions.get_mut(&permission) {
            reported.clear(&[reason]);
            if reported.is_empty() {
                self.permissions.remove(&permission);
            }
        }
    }

    /// Reports in the log and, once until it is over, in an Event that writes to an object fail:
    /// this many in a row.
    pub(crate) fn write_failed(
        &mut self,
        object: &mut Object,
        reason: Reason,
        why: &str,
        failures: u32,
        now: Now,
    ) {
        let name = object.name().clone();
        tracing::warn!(kind = %name.kind, object = %name, failures, "{why}");
        // A missing permission is reported on one object for all of its kind and namespace.
        let is_for_all = reason == Reason::Forbidden;
        let is_new = if is_for_all {
            self.take_missing(&name, reason, now)
        } else {
            object.rare().reported.report_if_new(reason, "", now)
        };
        if is_new {
            let namespace = is_for_all.then_some(&*name.namespace);
            let event = EventText::scale_failed(&name.kind, why, namespace);
            self.announce(&name, event, now);
        }
    }

    /// Counts a count of ours that another controller has reverted.
    pub(crate) fn count_revert(&self, by: ManagerKind, object: &WorkloadRef) {
        self.telemetry.revert(by, &object.namespace);
    }

    /// An admission webhook or policy has changed our count: reports it in the log, and returns the
    /// Event, unless `enforce` repeats a correction that was reported before.
    pub(crate) fn overruled(
        &mut self,
        reported: Option<&mut Object>,
        object: &WorkloadRef,
        change: &Change,
        made: Replicas,
        now: Now,
    ) -> Option<EventText> {
        let event = EventText::overruled(change, made, &object.kind);
        self.count_revert(ManagerKind::Unknown, object);
        tracing::warn!(kind = %object.kind, %object, "{}", event.text);
        let is_new = reported.is_some_and(|known| {
            let reported = &mut known.rare().reported;
            reported.report_if_new(Reason::Reverted, ADMISSION, now)
        });
        (is_new || change.kind.is_transition()).then_some(event)
    }
}
