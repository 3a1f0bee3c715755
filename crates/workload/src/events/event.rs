//! Events as Kubernetes shows them: reason and text. The texts of decisions are in the parent
//! module, those of conditions in `condition`.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::Zone;
use dayshift_text::{counted, cut_bytes, cut_chars, named_enum};

use crate::{
    Change, ChangeKind, DependencyKind, DependencyState, JobChange, Kind, LATER_VERSION, Observed,
    Prefix, Replicas, UnreadyDependency, WorkloadRef,
    events::condition::{Condition, RevertEnd, Subject, waits_for_slot},
    other_controllers::{FieldManager, ManagerKind, Revert},
    time_format::{duration, full_time},
    workload_ref::{wake_all_command, wake_namespace_command},
};

named_enum! {
    /// Why an Event is sent. The name of the variant is the `reason` in Kubernetes.
    pub enum EventReason {
        /// A start raised the count.
        Started,
        /// A stop lowered the count.
        Stopped,
        /// `scale` set another count.
        Scaled,
        /// `wake-until` began: the object runs until then.
        Woken,
        /// `dayshift activator` wrote a `wake-until` because of a connection to a Service.
        WokenByRequest,
        /// `dayshift activator` has no free port for a Service of a workload with `wake-on-request`.
        NoActivatorPort,
        /// A Service selects more workloads with `wake-on-request` than a request wakes.
        TooManyWakes,
        /// `sleep-until` began: the object is stopped until then.
        Slept,
        /// A pause began: dayshift does not change the object.
        Paused,
        /// A user ended an active override earlier, without removing it.
        OverrideShortened,
        /// An override ended. Nothing was scaled, unless dayshift had stopped the object.
        Resumed,
        /// The object will be stopped soon: by its schedule, at the end of a wake, or by `enforce`.
        StopsSoon,
        /// A manual increase while stopped was reverted.
        Enforced,
        /// An override had ended before it was first observed, or was restored after its end.
        OverrideExpired,
        /// The schedule was observed for the first time, and the workload does not match it.
        Adopted,
        /// The schedule was edited or copied. Nothing was scaled, unless dayshift had stopped the
        /// object.
        ScheduleChanged,
        /// The schedule was removed while more was saved than ran.
        ScheduleRemoved,
        /// The schedule is rejected.
        InvalidSchedule,
        /// The API server rejects the patch.
        ScaleFailed,
        /// A dependency of a start was not ready.
        StartedWithout,
        /// Starts in a namespace wait until fewer workloads are starting.
        StartsWait,
        /// A started workload is not ready in time.
        NotReady,
        /// Jobs of a CronJob were suspended after its stop.
        JobsSuspended,
        /// Jobs of a CronJob were resumed after its start.
        JobsResumed,
        /// Jobs of a CronJob cannot be suspended or resumed.
        JobsFailed,
        /// Boundaries are closer together than the controller can carry them out.
        BoundariesSkipped,
        /// A boundary was missed for longer than the catch-up limit.
        BoundaryMissed,
        /// The label `last` is more than an hour ahead of the clock.
        StateFromFuture,
        /// A later version of dayshift wrote the state labels.
        StateFromLaterVersion,
        /// Another client reverts every correction of the state.
        CorrectionLimitReached,
        /// Another client reverted a count that dayshift had set.
        Reverted,
    }
}

impl EventReason {
    /// Whether the Event is a Warning.
    pub const fn is_warning(self) -> bool {
        !matches!(
            self,
            Self::Started
                | Self::Stopped
                | Self::Scaled
                | Self::Woken
                | Self::WokenByRequest
                | Self::Slept
                | Self::Paused
                | Self::OverrideShortened
                | Self::Resumed
                | Self::StopsSoon
                | Self::Enforced
                | Self::StartsWait
                | Self::Adopted
                | Self::ScheduleChanged
                | Self::JobsSuspended
                | Self::JobsResumed
        )
    }
}

/// An Event to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventText {
    /// Its reason.
    pub reason: EventReason,
    /// Its text without markup, at most 1 kB.
    pub text: String,
    /// Set if the Event should be sent only once for each object and this time, even by several
    /// controllers.
    pub once_of: Option<DateTime<Utc>>,
}

/// The maximum length of a text in bytes.
const MAX_TEXT: usize = 1000;

impl EventText {
    pub(super) const fn new(reason: EventReason, text: String) -> Self {
        Self {
            reason,
            text,
            once_of: None,
        }
    }

    fn from_condition(reason: EventReason, condition: &Condition, subject: &Subject<'_>) -> Self {
        Self::new(reason, condition.message(subject).to_string())
    }

    /// The annotations of a Namespace are rejected.
    pub const fn invalid(text: String) -> Self {
        Self::new(EventReason::InvalidSchedule, text)
    }

    /// An object of this kind cannot be written. With `namespace`, a permission is missing,
    /// possibly for all objects of the kind there.
    pub fn scale_failed(kind: &Kind, why: &str, namespace: Option<&str>) -> Self {
        let mut text = format!("cannot write to the {kind}: {why}; retrying with backoff");
        if let Some(namespace) = namespace {
            text += &format!(
                ". The permission might be missing for every {kind} in namespace {namespace}, and \
                    this Event is on one of them"
            );
        }
        Self::new(EventReason::ScaleFailed, text)
    }

    /// A request to a Service of the object, or of `needed_by`, wakes it or keeps it awake until then, as
    /// `request` describes. `without` lists its dependencies that stay stopped, each with the reason.
    pub fn woken_by_request(
        request: &str,
        until: &str,
        needed_by: Option<&str>,
        without: &[String],
    ) -> Self {
        let needed_by = needed_by.map_or_else(String::new, |dependent| {
            format!(" with {dependent}, which needs it")
        });
        let mut text = format!("{request} until {until}{needed_by}");
        for one in without {
            text += &format!("; it needs {one}");
        }
        Self::new(
            EventReason::WokenByRequest,
            cut_bytes(&text, MAX_TEXT).to_owned(),
        )
    }

    /// The activator has no free port for these ports of a Service.
    pub fn no_activator_port(ports: &str) -> Self {
        let text = format!(
            "connections to ports {ports} wake nothing: dayshift activator has no free port for \
                them, or this namespace has used its share. Use fewer Service ports, or give the activator more with --ports"
        );
        Self::new(
            EventReason::NoActivatorPort,
            cut_bytes(&text, MAX_TEXT).to_owned(),
        )
    }

    /// A Service selects more workloads with `wake-on-request` than a request wakes.
    pub fn too_many_wakes(max: usize) -> Self {
        let text = format!(
            "this Service selects more than {max} workloads with wake-on-request, and connections to it wake \
             only the first {max} by name. Select fewer workloads"
        );
        Self::new(EventReason::TooManyWakes, text)
    }

    /// A started workload is not ready in time. `why` is the message from Kubernetes.
    pub fn not_ready(
        observed: &Observed,
        within: TimeDelta,
        why: Option<&str>,
        prefix: &Prefix,
    ) -> Self {
        let condition = Condition::NotReady {
            replicas: observed.replicas,
            readiness: observed.readiness,
            since: observed.state().last.unwrap_or_default(),
            within,
            why: why.map(str::to_owned),
        };
        let subject = Subject::of_event(&observed.object, prefix, Zone::UTC);
        Self::from_condition(EventReason::NotReady, &condition, &subject)
    }

    /// A later version of dayshift wrote the state labels of the object.
    pub fn later_version() -> Self {
        Self::new(EventReason::StateFromLaterVersion, LATER_VERSION.to_owned())
    }

    /// Boundaries are closer together than the controller can carry them out.
    pub fn boundaries_skipped() -> Self {
        let text = "boundaries come faster than dayshift can carry them out: it skips all but the \
            newest. Set them further apart";
        Self::new(EventReason::BoundariesSkipped, text.to_owned())
    }
}

/// The maximum length of a Job's name in a text.
const MAX_NAME: usize = 100;

impl EventText {
    /// The maximum number of Jobs that a text names.
    pub const MAX_JOBS: usize = 4;

    /// This many Jobs of a CronJob were suspended after a stop, or resumed after a start. `names` are those of
    /// the first [`Self::MAX_JOBS`].
    pub fn jobs_changed(change: JobChange, names: &[Box<str>], count: usize) -> Self {
        let (reason, verb) = match change {
            JobChange::Suspend => (EventReason::JobsSuspended, "suspended"),
            JobChange::Resume | JobChange::Release => (EventReason::JobsResumed, "resumed"),
        };
        let shown: Vec<_> = names.iter().map(|name| cut_chars(name, MAX_NAME)).collect();
        let more = count.saturating_sub(names.len());
        let more = match more {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let jobs = counted(u32::try_from(count).unwrap_or(u32::MAX), "Job");
        let text = format!("{verb} {jobs}: {}{more}", shown.join(", "));
        Self::new(reason, text)
    }

    /// The Jobs of a CronJob cannot be suspended or resumed. With `namespace`, a permission is
    /// missing for all of its CronJobs.
    pub fn jobs_failed(why: &str, namespace: Option<&str>) -> Self {
        let mut text = format!("cannot suspend or resume its Jobs: {why}; retrying with backoff");
        if let Some(namespace) = namespace {
            text += &format!(
                ". Allow dayshift to list and patch jobs.batch (manifests/kinds/jobs.yaml, or \
                    stopJobs: true in the chart), or remove stop-jobs. This applies to every CronJob \
                    with stop-jobs in namespace {namespace}"
            );
        }
        Self::new(EventReason::JobsFailed, text)
    }
}

/// The interval between Events about waiting starts in a namespace.
pub const STARTS_WAIT_INTERVAL: TimeDelta = TimeDelta::minutes(5);

impl EventText {
    /// Starts in a namespace wait because of the concurrency limit.
    pub fn starts_wait(waiting: usize, max_starting: usize) -> Self {
        let starts = match waiting {
            1 => "1 start waits".to_owned(),
            _ => format!("{waiting} starts wait"),
        };
        let text = waits_for_slot(&starts, Some(max_starting));
        Self::new(EventReason::StartsWait, text)
    }
}

/// The maximum number of workloads in a text.
const MAX_NAMES: usize = 5;

impl EventText {
    /// An object will be stopped.
    pub fn stop_notice(
        object: &WorkloadRef,
        at: DateTime<Utc>,
        zone: Zone,
        prefix: &Prefix,
    ) -> Self {
        let subject = Subject::of_event(object, prefix, zone);
        let condition = Condition::StopNotice { at };
        Self::from_condition(EventReason::StopsSoon, &condition, &subject).once(at)
    }

    /// Several objects in one namespace will be stopped.
    pub fn stop_notice_for_many(
        objects: &[&WorkloadRef],
        at: DateTime<Utc>,
        zone: Zone,
        prefix: &Prefix,
    ) -> Self {
        let namespace = objects.first().map_or("", |object| &object.namespace);
        let names = objects
            .iter()
            .take(MAX_NAMES)
            .map(|object| object.short_name());
        let names = names.collect::<Vec<_>>().join(", ");
        let (more, command) = match objects.len().saturating_sub(MAX_NAMES) {
            0 => (String::new(), wake_all_command(objects, prefix)),
            more => (
                format!(" and {more} more"),
                wake_namespace_command(namespace, prefix),
            ),
        };
        let text = format!(
            "dayshift stops {} workloads at {}: {names}{more}. To keep them running, run `{command}`",
            objects.len(),
            full_time(at, zone),
        );
        Self::new(EventReason::StopsSoon, text).once(at)
    }

    fn once(self, at: DateTime<Utc>) -> Self {
        Self {
            once_of: Some(at),
            ..self
        }
    }
}

/// The maximum number of dependencies in a text.
const MAX_UNREADY: usize = 4;

const UNWATCHED_SERVICE: &str = "whose endpoints dayshift does not watch (run --services, with the \
    permission of manifests/kinds/services.yaml; in the chart services: true)";

impl EventText {
    /// A start was carried out after this wait although dependencies were not ready.
    pub fn started_without(without: &[UnreadyDependency], waited: TimeDelta, zone: Zone) -> Self {
        let lacks = without.iter().take(MAX_UNREADY).map(|(needed, state)| {
            let name = needed.to_string();
            let name = cut_chars(&name, MAX_NAME);
            let lack = match (&needed.kind, state) {
                (DependencyKind::Service, DependencyState::Missing) => {
                    "which does not exist, or has no EndpointSlice".to_owned()
                }
                (DependencyKind::Service, DependencyState::Unwatched) => {
                    UNWATCHED_SERVICE.to_owned()
                }
                _ => unready_text(*state, waited, zone),
            };
            format!("{name}, {lack}")
        });
        let mut text = format!(
            "started without {}",
            lacks.collect::<Vec<_>>().join("; without ")
        );
        let more = without.len().saturating_sub(MAX_UNREADY);
        if more > 0 {
            text += &format!("; and without {more} more");
        }
        Self::new(EventReason::StartedWithout, text)
    }
}

/// `which was not ready after 10 min`
fn unready_text(state: DependencyState, waited: TimeDelta, zone: Zone) -> String {
    match state {
        DependencyState::Ready | DependencyState::NotReady => {
            format!("which was not ready after {}", duration(waited))
        }
        DependencyState::Stopped { until: Some(at) } => {
            format!("which is stopped until {}", full_time(at, zone))
        }
        DependencyState::Stopped { until: None } => {
            "which is stopped, and no schedule starts it".to_owned()
        }
        DependencyState::Missing => "which does not exist, or which dayshift is not allowed to \
            read"
            .to_owned(),
        DependencyState::Unwatched => "whose kind dayshift does not watch (--kinds)".to_owned(),
        DependencyState::Unreported => {
            "whose status does not report whether it is ready".to_owned()
        }
        DependencyState::Cycle => "which waits for this one".to_owned(),
    }
}

impl EventText {
    /// The API server stored another count, `made`, than the change requested.
    pub fn overruled(
        change: &Change,
        made: Replicas,
        object: &WorkloadRef,
        prefix: &Prefix,
    ) -> Self {
        let counts = object.kind.counts();
        let to = counts.short_text(change.replicas);
        let made = counts.short_text(made);
        let by = match change.kind {
            ChangeKind::Enforce => "`enforce`".to_owned(),
            ChangeKind::Scale(_) => "the schedule".to_owned(),
            by => format!("the {by}"),
        };
        let words = format!("changed it to {made} while {by} set {to}");
        let manager = Some(FieldManager::admission(None));
        Self::from_revert(manager, words, RevertEnd::Undecided, object, prefix)
    }

    /// Another client reverted a count; `None` if that is expected.
    pub fn reverted(
        reverted: &Revert,
        object: &WorkloadRef,
        manager: Option<&FieldManager>,
        end: RevertEnd,
        prefix: &Prefix,
    ) -> Option<Self> {
        let kind = manager.map_or(ManagerKind::Unknown, FieldManager::kind);
        if reverted.needs_no_warning(kind) {
            return None;
        }
        let (manager, words) = (manager.cloned(), reverted.words(&object.kind));
        Some(Self::from_revert(manager, words, end, object, prefix))
    }

    fn from_revert(
        manager: Option<FieldManager>,
        words: String,
        end: RevertEnd,
        object: &WorkloadRef,
        prefix: &Prefix,
    ) -> Self {
        let condition = Condition::Reverted {
            manager,
            words,
            soon: true,
            end,
        };
        let subject = Subject::of_event(object, prefix, Zone::UTC);
        Self::from_condition(EventReason::Reverted, &condition, &subject)
    }

    /// Many counts in one namespace were reverted. The map has the number of reverts by each
    /// manager.
    pub fn reverted_together(
        namespace: &str,
        count: usize,
        managers: &BTreeMap<String, usize>,
        prefix: &Prefix,
    ) -> Self {
        let named: usize = managers.values().sum();
        let others = count.saturating_sub(named);
        let others = (others > 0).then(|| format!("others ({others})"));
        let each = managers.iter();
        let each = each.map(|(manager, count)| format!("{manager} ({count})"));
        let each: Vec<_> = each.chain(others).collect();
        let text = format!(
            "{count} more in namespace {namespace} were reverted after dayshift had set them, by {}. \
             To see which and how to end it, run `dayshift status -n {namespace}{}`",
            each.join(", "),
            prefix.flag()
        );
        Self::new(EventReason::Reverted, text)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn count(count: u32) -> Replicas {
        Replicas::new(count)
    }

    #[test]
    fn an_event_with_the_longest_names_fits_into_its_limit() {
        let object = WorkloadRef {
            kind: Kind::SCALED_OBJECT,
            namespace: "n".repeat(63).into(),
            name: "w".repeat(253).into(),
            uid: "u".into(),
        };
        let reverted = Revert {
            by: ChangeKind::Enforce,
            from: count(u32::MAX),
            to: count(0),
            now: count(u32::MAX),
            after: Duration::MAX,
        };
        for manager in [
            "argocd-controller",
            "helm-controller",
            "kubectl-client-side-apply",
            &"\u{1b}[2J\u{202e}é".repeat(10_000),
        ] {
            let manager = FieldManager {
                manager: manager.to_owned(),
                applies: false,
                scales: false,
                at: None,
            };
            let prefix = Prefix::parse(&"p".repeat(63)).unwrap();
            let note = EventText::reverted(
                &reverted,
                &object,
                Some(&manager),
                RevertEnd::CorrectionLimit,
                &prefix,
            );
            let text = note.unwrap().text;
            assert!(text.len() <= 1024, "{}: {text}", text.len());
            assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
        }
    }
}
