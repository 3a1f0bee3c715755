//! Reports to users: Events and log lines. Each condition is reported once, until it ends or its period
//! is over. The Events are sent by the [`Recorder`].

use std::sync::Arc;

use dayshift_cluster::{log_limit::LogLimit, write::EventObject};
use dayshift_workload::{
    Change, EventNote, Prefix, Replicas, WorkloadRef,
    events::EventText,
    other_controllers::{ADMISSION, ManagerKind},
};

use crate::{
    clock::guard::Now,
    events::{digest::RevertDigest, pruned_map::PrunedMap, recorder::Recorder},
    object::{
        Object,
        reported::{Reason, Reported},
    },
    settings::Settings,
    telemetry::metrics::Telemetry,
    throttle::permissions::{Permission, permission},
};

pub(crate) mod digest;
mod pruned_map;
pub(crate) mod recorder;

/// The maximum number of log lines in a minute that edits in a namespace can cause.
const MAX_LINES: u32 = 100;

/// Sends Events, and remembers which conditions were reported.
///
/// Reports about one object are stored in that object. Reports about all objects of a kind in a
/// namespace are stored here.
pub(crate) struct Events {
    pub(crate) recorder: Recorder,
    pub(crate) digest: RevertDigest,
    /// Limits the log lines that users can cause with edits. Starts and stops on time are always logged.
    pub(crate) logs: LogLimit,
    permissions: PrunedMap<Permission, Reported>,
    prefix: Prefix,
    telemetry: Arc<Telemetry>,
}

impl Events {
    /// Creates the component without reports.
    pub(crate) fn new(settings: &Settings, telemetry: Arc<Telemetry>) -> Self {
        let logs = LogLimit::new(MAX_LINES);
        Self {
            recorder: Recorder::new(settings, Arc::clone(&telemetry), logs.clone()),
            digest: RevertDigest::default(),
            logs,
            permissions: PrunedMap::default(),
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

    /// The prefix of the annotations and labels in the text of Events.
    pub(crate) const fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// Logs and queues an Event, unless the reason was already reported about this object.
    pub(crate) fn warn_once(
        &mut self,
        object: &mut Object,
        reason: Reason,
        event: EventText,
        now: Now,
    ) {
        if object.rare().reported.report_if_new(reason, "", now) {
            let object = object.name();
            self.logs.line(&object.namespace, |suppressed| {
                tracing::warn!(kind = %object.kind, %object, suppressed, "{}", event.text);
            });
            self.announce(object, event, now);
        }
    }

    /// Whether a condition of an object should be reported now. If so, records the report. A missing
    /// permission is reported on one object, for all objects of its kind in the namespace. The reports
    /// of a deleted object are forgotten, so its condition counts as new.
    pub(crate) fn take_new(
        &mut self,
        object: &WorkloadRef,
        known: Option<&mut Object>,
        reason: Reason,
        now: Now,
    ) -> bool {
        if !reason.is_for_all() {
            return known.is_none_or(|known| known.rare().reported.report_if_new(reason, "", now));
        }
        let is_stale = |reported: &mut Reported| {
            reported.prune(now);
            reported.is_empty()
        };
        let permission = permission(object);
        let permissions = &mut self.permissions;
        let reported = permissions.get_or_insert_with(permission, is_stale, Reported::default);
        reported.report_if_new(reason, "", now)
    }

    /// Records that a permission is no longer missing. If it is missing again, that is reported.
    pub(crate) fn clear_missing(&mut self, object: &WorkloadRef, reason: Reason) {
        let permissions = &mut self.permissions.entries;
        if permissions.is_empty() {
            return;
        }
        let permission = permission(object);
        if let Some(reported) = permissions.get_mut(&permission) {
            reported.clear(&[reason]);
            if reported.is_empty() {
                permissions.remove(&permission);
            }
        }
    }

    /// Reports that writes to an object fail, for the time `failures` in a row: in the log, and
    /// in an Event if the reason was not reported yet.
    pub(crate) fn write_failed(
        &mut self,
        object: &mut Object,
        reason: Reason,
        why: &str,
        failures: u32,
        now: Now,
    ) {
        let name = object.name().clone();
        self.logs.line(&name.namespace, |suppressed| {
            tracing::warn!(kind = %name.kind, object = %name, failures, suppressed, "{why}");
        });
        if self.take_new(&name, Some(object), reason, now) {
            let namespace = reason.is_for_all().then_some(&*name.namespace);
            let event = EventText::scale_failed(&name.kind, why, namespace);
            self.announce(&name, event, now);
        }
    }

    /// Counts a revert in the metrics.
    pub(crate) fn count_revert(&self, by: ManagerKind, object: &WorkloadRef) {
        self.telemetry.revert(by, &object.namespace);
    }

    /// Reports that an admission webhook or policy has changed the count of a patch to `made`: in the
    /// metrics and in the log. Returns the Event, unless it was reported before and the change is a
    /// correction.
    pub(crate) fn overruled(
        &mut self,
        reported: Option<&mut Object>,
        object: &WorkloadRef,
        change: &Change,
        made: Replicas,
        now: Now,
    ) -> Option<EventText> {
        let event = EventText::overruled(change, made, object, &self.prefix);
        self.count_revert(ManagerKind::Unknown, object);
        self.logs.line(&object.namespace, |suppressed| {
            tracing::warn!(kind = %object.kind, %object, suppressed, "{}", event.text);
        });
        let is_new = reported.is_some_and(|known| {
            let reported = &mut known.rare().reported;
            reported.report_if_new(Reason::Reverted, ADMISSION, now)
        });
        (is_new || change.kind.is_transition()).then_some(event)
    }
}
