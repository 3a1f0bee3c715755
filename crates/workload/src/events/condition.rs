//! Conditions of a workload that its users should know. Each has one message, which Events, `dayshift
//! status`, its JSON and the dashboard show. `docs/reference/status.md` lists all conditions.

use std::fmt;

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::{Action, Zone};
use dayshift_text::cut_bytes;

use crate::{
    Dependency, Duty, IgnoredDependency, Key, Kind, LATER_VERSION, Overdue, Override, Phase,
    Prefix, Readiness, Replicas, WorkloadRef,
    other_controllers::{ADMISSION, FieldManager, ManagerKind},
    time_format::{duration, full_time, short_time},
    workload_ref::{describe_command, restore_command, sync_command, wake_command},
};

/// A condition of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A boundary or an override is overdue.
    Overdue {
        /// The missing change.
        overdue: Overdue,
        /// Whether another condition explains it.
        is_explained: bool,
    },
    /// dayshift has stopped it, and it should run according to its schedule.
    StoppedAgainstSchedule {
        /// The count.
        replicas: Replicas,
        /// The start that restores it, if there is one.
        until: Option<DateTime<Utc>>,
    },
    /// Its start is due and waits for dependencies.
    Waits {
        /// The dependencies that are not ready.
        needed: Vec<Dependency>,
        /// The latest time of the start.
        until: DateTime<Utc>,
    },
    /// Its next starts ignore dependencies that cannot become ready in time.
    IgnoresDependencies(Vec<IgnoredDependency>),
    /// Its start is due and waits for a start slot.
    WaitsForSlot,
    /// Its schedule was removed, and more is saved than runs.
    LeftStopped {
        /// The count.
        replicas: Replicas,
        /// The saved count.
        saved: Replicas,
    },
    /// No controller has observed it yet.
    Unseen {
        /// Whether the schedule is that of its Namespace.
        is_inherited: bool,
    },
    /// The count was changed manually.
    SetManually {
        /// The count.
        replicas: Replicas,
        /// The action of the schedule; `None` during an override.
        required: Option<Action>,
        /// The boundary or the end of the override, which ends the deviation, if there is one.
        until: Option<DateTime<Utc>>,
    },
    /// The object is being deleted, so dayshift does nothing.
    Deleting,
    /// Another controller has reverted the count.
    Reverted {
        /// That controller, if it is known.
        manager: Option<FieldManager>,
        /// The revert, such as `set 3 again 12 s after the stop`.
        words: String,
        /// Whether it happened soon after dayshift's change, so that it is a conflict.
        soon: bool,
        /// How long the changed count stays.
        end: RevertEnd,
    },
    /// It was adopted in a state that differs from its schedule.
    Contradicted {
        /// The action of the schedule.
        required: Action,
        /// The count, which is not changed.
        replicas: Replicas,
        /// The boundary that ends the deviation, if there is one.
        until: Option<DateTime<Utc>>,
    },
    /// It runs although it should be stopped, and `enforce` stops it after a grace period.
    StopsSoon(EnforcedStop),
    /// Another client reverts every correction of the state.
    CorrectionLimitReached {
        /// The next boundary, after which corrections continue, if it is known.
        until: Option<DateTime<Utc>>,
    },
    /// A later version of dayshift wrote its state, so this version leaves it unchanged.
    LaterVersion,
    /// It was at 0 when it was stopped, or scaled to 0 after its adoption, so the next start leaves
    /// it at 0.
    StaysAtZero {
        /// Whether it was scaled to 0 after its adoption.
        is_adopted: bool,
    },
    /// Its labels show a schedule, and it has no schedule.
    NoSchedule {
        /// The saved count, if more is saved than runs.
        saved: Option<Replicas>,
        /// Since when a boundary of the unknown schedule is overdue.
        overdue: Option<DateTime<Utc>>,
    },
    /// The Namespace has annotations that no controller has applied: no controller runs, or it
    /// rejects them.
    NamespaceAhead,
    /// The schedule depends on unknown calendars.
    UnknownCalendars,
    /// It has been started and is not ready in time.
    NotReady {
        /// The count.
        replicas: Replicas,
        /// The readiness.
        readiness: Readiness,
        /// The time of the start.
        since: DateTime<Utc>,
        /// How long the start can take.
        within: TimeDelta,
        /// The message of Kubernetes or of the operator.
        why: Option<String>,
    },
    /// It stops soon, within its stop notice.
    StopNotice {
        /// The time of the stop.
        at: DateTime<Utc>,
    },
    /// It is stopped, and its schedule has no further start.
    NoStart,
    /// It should wake on request, but a Service does not cover it, for these reasons.
    NotCovered(Vec<String>),
    /// It has wake-on-request and is asleep, and no request ends the sleep.
    RequestsIgnored {
        /// The end of the sleep.
        until: DateTime<Utc>,
    },
    /// It belongs to a custom resource whose operator sets its count.
    Operated {
        /// The kind of that resource, which can be scheduled instead.
        by: Kind,
    },
    /// It belongs to a custom resource that has a schedule itself and whose operator sets its count.
    OwnerScheduled {
        /// Kind and name of that resource.
        owner: String,
        /// Whether the operator has copied the labels or annotations of that resource to it.
        is_copy: bool,
    },
    /// It is a stopped autoscaler that never scales its target down.
    TargetNotLowered {
        /// The count of the target, which is above the minimum.
        replicas: u32,
    },
    /// It is stopped and has no saved count, so a start does not restore its original count. Its
    /// labels might have been removed while no controller ran.
    NothingSaved {
        /// The count after a start.
        count: Replicas,
        /// Whether it was adopted and has a count of 0. If the controller has observed it running
        /// since then, a user has set the 0, and a start leaves it. Only the controller knows that.
        may_stay_at_zero: bool,
    },
}

/// How long a count stays that another client has set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevertEnd {
    /// The next decision of dayshift, which other messages report.
    Undecided,
    /// `enforce` makes no correction until the next boundary.
    CorrectionLimit,
    /// The count stays until this boundary, if there is one.
    Stays(Option<DateTime<Utc>>),
}

/// When `enforce` stops a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnforcedStop {
    /// At this time, according to the controller.
    At(DateTime<Utc>),
    /// At a time that only the controller knows.
    Within {
        /// The grace period.
        grace: TimeDelta,
        /// The start that might come first.
        start: Option<DateTime<Utc>>,
    },
}

/// The workload that a message is about, and how the message writes times.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The workload.
    pub object: &'a WorkloadRef,
    /// The prefix of annotations and labels.
    pub prefix: &'a Prefix,
    /// The zone of times.
    pub zone: Zone,
    /// The current time, for short times. `None` for Events, which contain full times because they
    /// are read later.
    pub now: Option<DateTime<Utc>>,
}

/// The message of a condition, without the name of the workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The fact. It can be the same for several workloads.
    pub text: String,
    /// The remedy, as an instruction for this workload.
    pub help: Option<String>,
}

impl Message {
    /// Makes it the message of another workload with the same text too.
    pub fn also_for(&mut self, other: &Self) {
        const FIRST: &str = "for the first: ";
        if let Some(help) = &mut self.help
            && Some(&*help) != other.help.as_ref()
            && !help.starts_with(FIRST)
        {
            help.insert_str(0, FIRST);
        }
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Self { text, help: None }
    }
}

/// `the schedule specifies stopped; it runs until Mon 19:00 JST. To stop it now, run …`
impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        let Some(help) = &self.help else {
            return Ok(());
        };
        let mut rest = help.chars();
        let first: String = rest
            .next()
            .into_iter()
            .flat_map(char::to_uppercase)
            .collect();
        write!(f, ". {first}{}", rest.as_str())
    }
}

impl Condition {
    /// A heading for the messages of all workloads with this condition.
    pub const fn heading(&self) -> &'static str {
        match self {
            Self::Overdue { .. } => "A start or stop is overdue",
            Self::StoppedAgainstSchedule { .. } => "Stopped although it should run",
            Self::Waits { .. } => "The start waits for a dependency",
            Self::IgnoresDependencies(_) => "The start does not wait for a dependency",
            Self::WaitsForSlot => "The start waits for a start slot",
            Self::LeftStopped { .. } => "Stopped, and the schedule was removed",
            Self::Unseen { .. } => "No controller has adopted it yet",
            Self::SetManually { .. } => "Changed manually",
            Self::Deleting => "Being deleted",
            Self::Reverted { .. } => "Another controller reverted the count",
            Self::Contradicted { .. } => "Adopted in another state than scheduled",
            Self::StopsSoon(_) => "Runs outside of its schedule and stops soon",
            Self::CorrectionLimitReached { .. } => "Enforcing the schedule has reached its limit",
            Self::LaterVersion => "A later version of dayshift manages it",
            Self::StaysAtZero { .. } => "The next start leaves it at 0",
            Self::NoSchedule { .. } => "The schedule is not visible here",
            Self::NamespaceAhead => "Annotations of the Namespace are not applied",
            Self::UnknownCalendars => "A calendar is unknown here",
            Self::NotReady { .. } => "Started, and not ready",
            Self::StopNotice { .. } => "Stops soon",
            Self::NoStart => "The schedule has no further start",
            Self::NotCovered(_) => "A Service does not wake it",
            Self::RequestsIgnored { .. } => "Requests do not wake it",
            Self::Operated { .. } | Self::OwnerScheduled { .. } => "An operator sets the count",
            Self::TargetNotLowered { .. } => "An autoscaler keeps its target running",
            Self::NothingSaved { .. } => "The original count is unknown",
        }
    }

    /// Whether the user should act.
    pub fn is_warning(&self) -> bool {
        match self {
            Self::Overdue { .. }
            | Self::StoppedAgainstSchedule { .. }
            | Self::LeftStopped { .. }
            | Self::NamespaceAhead
            | Self::IgnoresDependencies(_)
            | Self::CorrectionLimitReached { .. }
            | Self::LaterVersion
            | Self::NothingSaved { .. }
            | Self::Operated { .. }
            | Self::OwnerScheduled { .. }
            | Self::TargetNotLowered { .. } => true,
            Self::NoSchedule { overdue, .. } => overdue.is_some(),
            Self::Reverted { soon, .. } => *soon,
            Self::NotReady { readiness, why, .. } => {
                readiness.replicas() == Some(Replicas::ZERO) || why.is_some()
            }
            _ => false,
        }
    }

    /// Whether it explains a count that differs from the schedule.
    pub const fn explains_count(&self) -> bool {
        matches!(
            self,
            Self::SetManually { .. } | Self::Contradicted { .. } | Self::StopsSoon(_)
        )
    }

    /// The message for this workload.
    pub fn message(&self, subject: &Subject<'_>) -> Message {
        let text = self.text(subject);
        let help = self.help(subject);
        Message { text, help }
    }

    fn text(&self, subject: &Subject<'_>) -> String {
        let at = |at| subject.time(at);
        let until = |end| subject.until(end);
        let Subject { object, prefix, .. } = *subject;
        let counts = object.kind.counts();
        match self {
            Self::Overdue { overdue, .. } => subject.overdue_text(*overdue),
            Self::NamespaceAhead => format!(
                "the Namespace {} has annotations that no controller has adopted: none runs in \
                 this cluster, or it rejects them",
                object.namespace
            ),
            Self::Unseen { is_inherited: true } => format!(
                "no controller has adopted it yet: none runs in this cluster, or it rejects the \
                 annotations of the Namespace {}",
                object.namespace
            ),
            Self::Unseen { .. } => "no controller has adopted it yet".to_owned(),
            Self::StoppedAgainstSchedule {
                replicas,
                until: end,
            } => format!(
                "the schedule specifies running, but dayshift keeps it stopped: {} {}",
                counts.it_stays_at(*replicas),
                until(*end)
            ),
            Self::Waits { needed, until } => {
                let names: Vec<_> = needed.iter().map(Dependency::to_string).collect();
                let names = names.join(", ");
                format!("its start waits for {names} until {} at most", at(*until))
            }
            Self::IgnoresDependencies(ignored) => {
                let each = ignored.iter().map(|ignored| ignored.text(subject.zone));
                let each: Vec<_> = each.collect();
                format!("its start does not wait for {}", each.join("; nor for "))
            }
            Self::WaitsForSlot => waits_for_slot("its start waits", None),
            Self::LeftStopped { replicas, .. } => {
                let left = counts.left_at(*replicas);
                format!("its schedule was removed, and {left}")
            }
            Self::SetManually {
                replicas,
                until: end,
                ..
            } => format!("{} manually {}", counts.scaled_to(*replicas), until(*end)),
            Self::Deleting => "it is being deleted, and dayshift does not change it".to_owned(),
            Self::Reverted {
                manager,
                words,
                end,
                ..
            } => {
                let name = manager.as_ref().map(FieldManager::name);
                let name = name.as_deref().unwrap_or("another client");
                match end {
                    RevertEnd::Undecided => format!("{name} {words}"),
                    RevertEnd::CorrectionLimit => format!(
                        "{name} {words}; `enforce` has reverted that too, and makes no correction \
                         until the next start or stop"
                    ),
                    RevertEnd::Stays(end) => format!("{name} {words}; it stays {}", until(*end)),
                }
            }
            Self::Contradicted {
                required,
                replicas,
                until: end,
            } => {
                let until = until(*end);
                let stays = match required {
                    Action::Stop => "it runs".to_owned(),
                    Action::Start | Action::Scale(_) => counts.it_stays_at(*replicas),
                };
                let specified = specified(*required);
                format!("the schedule specifies {specified}; {stays} {until}")
            }
            Self::StopsSoon(stop) => {
                let when = match stop {
                    EnforcedStop::At(due) => format!("at {}", at(*due)),
                    EnforcedStop::Within { grace, start } => {
                        let start = start.map_or_else(String::new, |start| {
                            format!(", unless its start of {} comes first", at(start))
                        });
                        format!("within {}{start}", duration(*grace))
                    }
                };
                let enforce = prefix.annotation(Key::Enforce);
                format!("the schedule specifies stopped; {enforce} stops it {when}")
            }
            Self::CorrectionLimitReached { until: end } => {
                let end = end.map_or("the next boundary".to_owned(), at);
                format!(
                    "another client keeps reverting dayshift's changes; dayshift corrects nothing \
                     until {end}"
                )
            }
            Self::LaterVersion => LATER_VERSION.to_owned(),
            Self::StaysAtZero { is_adopted } => {
                let why = match is_adopted {
                    true => "it was scaled to 0 manually",
                    false => "it was at 0 when it was stopped",
                };
                format!("{why}, and the start leaves it at 0")
            }
            Self::NoSchedule { overdue, .. } => {
                let more = match overdue {
                    None => "; an inherited schedule is written on it at its next start, stop or \
                        edit"
                        .to_owned(),
                    Some(due) => format!(
                        ", and nothing happened at {}, perhaps because no controller is running",
                        at(*due)
                    ),
                };
                format!(
                    "its labels show that it is scheduled, but it has no schedule annotation{more}"
                )
            }
            Self::UnknownCalendars => "its schedule names calendars that are not known here, so \
                its count cannot be checked"
                .to_owned(),
            Self::NotReady {
                replicas,
                readiness,
                since,
                within,
                why,
            } => {
                let after = subject.now.map_or(*within, |now| now - *since);
                // The messages of Kubernetes often end with a full stop.
                let why = why.as_deref().map(|why| cut_bytes(why, MAX_WHY));
                let why = why.map_or_else(String::new, |why| {
                    format!(": {}", why.trim_end_matches(['.', ' ']))
                });
                let ready = readiness.text(*replicas);
                format!("{ready} {} after its start{why}", duration(after))
            }
            Self::StopNotice { at: stop } => format!("dayshift stops it at {}", at(*stop)),
            Self::NoStart => {
                "nothing will start it again: its schedule has no further start".to_owned()
            }
            Self::NotCovered(reasons) => {
                let key = prefix.annotation(Key::WakeOnRequest);
                format!("{key}: {}", reasons.join("; "))
            }
            Self::RequestsIgnored { until } => {
                format!("requests do not wake it until {}", at(*until))
            }
            Self::Operated { by } => {
                let kind = &object.kind;
                format!("this {kind} belongs to a {by}, whose operator sets its count again")
            }
            Self::OwnerScheduled {
                owner,
                is_copy: true,
            } => format!(
                "the labels or annotations of this {} are copies of those of {owner}, whose \
                 operator sets its count",
                object.kind
            ),
            Self::OwnerScheduled { owner, .. } => format!(
                "this {} belongs to {owner}, which has a schedule itself and whose operator sets \
                 its count",
                object.kind
            ),
            Self::TargetNotLowered { replicas } => format!(
                "the stop lowered minReplicas, but behavior.scaleDown.selectPolicy: Disabled keeps \
                 its target at {replicas}"
            ),
            Self::NothingSaved {
                count,
                may_stay_at_zero,
            } => {
                let unless = match may_stay_at_zero {
                    true => ", unless it was scaled to 0 manually since its adoption",
                    false => "",
                };
                format!("no count is saved for it, so after a start it has {count}{unless}")
            }
        }
    }

    /// The remedy, as an instruction that begins in lower case.
    fn help(&self, subject: &Subject<'_>) -> Option<String> {
        let Subject { object, prefix, .. } = *subject;
        let counts = object.kind.counts();
        let run = |goal: &str, command: String| Some(format!("to {goal}, run `{command}`"));
        let restore = |goal: &str| run(goal, restore_command(object, prefix));
        let namespace_events = || {
            let command = format!("kubectl events --for namespace/{}", object.namespace);
            run("see why", command)
        };
        match self {
            Self::Overdue {
                is_explained: false,
                ..
            } => Some(format!(
                "check that the controller is running, and run `kubectl events --for {}`",
                object.argument()
            )),
            Self::NamespaceAhead | Self::Unseen { is_inherited: true } => namespace_events(),
            Self::Unseen { .. } => {
                Some("check that `dayshift run` is running in this cluster".to_owned())
            }
            Self::StoppedAgainstSchedule { .. } => Some(sync_help(Action::Start, object, prefix)),
            Self::IgnoresDependencies(ignored) => {
                let each: Vec<_> = ignored.iter().map(|ignored| ignored.fix(prefix)).collect();
                Some(each.join("; "))
            }
            Self::LeftStopped { saved, .. } => restore(&counts.restore(*saved)),
            Self::SetManually {
                required: Some(required),
                ..
            }
            | Self::Contradicted { required, .. } => Some(sync_help(*required, object, prefix)),
            Self::Reverted { manager, .. } => {
                let Some(manager) = manager else {
                    return Some("its managedFields do not show which".to_owned());
                };
                let fix = match manager.kind() {
                    ManagerKind::OtherController(owner) => {
                        owner.fix(std::slice::from_ref(&object.kind), prefix)
                    }
                    _ if manager.manager == ADMISSION => format!(
                        "exclude dayshift's writes of {} from it",
                        object.kind.pointer()
                    ),
                    _ => format!("configure it to ignore {}", object.kind.pointer()),
                };
                Some(format!("to end that, {fix}"))
            }
            Self::StopsSoon(_) | Self::StopNotice { .. } => {
                run("keep it running", wake_command(object, prefix))
            }
            Self::CorrectionLimitReached { .. } => {
                let (kind, name, namespace) =
                    (object.kind.singular(), &object.name, &object.namespace);
                Some(format!(
                    "to apply the schedule now, run `{}`; to see which client it is, run `kubectl \
                     get {kind}/{name} -n {namespace} -o yaml --show-managed-fields`",
                    sync_command(object, prefix)
                ))
            }
            Self::StaysAtZero { .. } => run("start it", wake_command(object, prefix)),
            Self::NoSchedule { saved, .. } => saved.map(|saved| {
                format!(
                    "if the annotation was removed, run `{}` to {}",
                    restore_command(object, prefix),
                    counts.restore(saved)
                )
            }),
            Self::UnknownCalendars => Some("give them with --calendar NAME=FILE".to_owned()),
            Self::NotReady { .. } => run("see more", describe_command(object)),
            Self::NoStart => restore("restore it"),
            Self::Operated { by } => Some(format!(
                "schedule the {by} instead, and run dayshift with {} among its --kinds",
                by.argument()
            )),
            Self::OwnerScheduled { .. } => run(
                "leave it to the operator",
                format!(
                    "kubectl annotate {} {}=true",
                    object.argument(),
                    prefix.annotation(Key::Exclude)
                ),
            ),
            Self::TargetNotLowered { .. } => {
                Some("remove selectPolicy, or schedule the target instead".to_owned())
            }
            Self::NothingSaved { .. } => Some(format!(
                "if it had more, write {}, such as \"3\"",
                prefix.annotation(Key::Replicas)
            )),
            _ => None,
        }
    }
}

/// The required state as text, after `the schedule specifies`: `running`, `stopped` or `3`.
pub fn specified(required: Action) -> String {
    match required {
        Action::Start => "running".to_owned(),
        Action::Stop => "stopped".to_owned(),
        Action::Scale(count) => count.to_string(),
    }
}

/// The help that applies the schedule: ``to start it now, run `dayshift sync deploy/web -n dev` ``.
pub fn sync_help(required: Action, object: &WorkloadRef, prefix: &Prefix) -> String {
    let verb = match required {
        Action::Start => "start",
        Action::Stop => "stop",
        Action::Scale(_) => "scale",
    };
    format!("to {verb} it now, run `{}`", sync_command(object, prefix))
}

/// The maximum length of a message from Kubernetes in bytes.
const MAX_WHY: usize = 500;

/// `3 starts wait until fewer workloads are starting (--max-starting 2)`
pub(super) fn waits_for_slot(starts: &str, limit: Option<usize>) -> String {
    let limit = limit.map_or_else(String::new, |limit| format!(" {limit}"));
    format!("{starts} until fewer workloads are starting (--max-starting{limit})")
}

impl<'a> Subject<'a> {
    pub(super) const fn of_event(object: &'a WorkloadRef, prefix: &'a Prefix, zone: Zone) -> Self {
        Self {
            object,
            prefix,
            zone,
            now: None,
        }
    }

    fn time(&self, at: DateTime<Utc>) -> String {
        match self.now {
            Some(now) => short_time(at, self.zone, now),
            None => full_time(at, self.zone),
        }
    }

    fn until(&self, end: Option<DateTime<Utc>>) -> String {
        end.map_or_else(
            || "until a user scales it".to_owned(),
            |end| format!("until {}", self.time(end)),
        )
    }

    /// For example `its stop of 19:00:00 is 5 min overdue`.
    fn overdue_text(&self, overdue: Overdue) -> String {
        let key = |phase: Phase| {
            Override::key(phase).map_or_else(String::new, |key| self.prefix.annotation(key))
        };
        let late = match (overdue.since, self.now) {
            (Some(since), Some(now)) => format!("is {} overdue", duration(now - since)),
            _ => "is overdue".to_owned(),
        };
        match overdue.duty {
            Duty::Boundary(boundary) => {
                let is_recent = |now| now - boundary.at < TimeDelta::hours(24);
                let time = match self.now.is_some_and(is_recent) {
                    true => {
                        let time = boundary.at.with_timezone(&self.zone);
                        time.format("%H:%M:%S").to_string()
                    }
                    false => self.time(boundary.at),
                };
                format!("its {} of {time} {late}", boundary.action)
            }
            Duty::Begin(over) => format!("its `{}` {late}", key(over.phase())),
            Duty::End(phase) => format!("the end of its `{}` {late}", key(phase)),
            Duty::Adopt => {
                "its schedule is new or edited, and no controller has adopted it yet".to_owned()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(help: &str) -> Message {
        Message {
            text: "it is stopped".to_owned(),
            help: Some(help.to_owned()),
        }
    }

    #[test]
    fn help_that_differs_between_workloads_is_marked_as_that_of_the_first() {
        let mut merged = message("to start it, run `a`");
        merged.also_for(&message("to start it, run `a`"));
        assert_eq!(merged.to_string(), "it is stopped. To start it, run `a`");
        for other in ["b", "c"] {
            merged.also_for(&message(&format!("to start it, run `{other}`")));
        }
        let expected = "it is stopped. For the first: to start it, run `a`";
        assert_eq!(merged.to_string(), expected);
    }
}
