//! The text of notes. It is the same in a table, in JSON and on a web page.

use std::fmt;

use chrono::{DateTime, Utc};
use dayshift_cluster::read::CorrectionLimits;
use dayshift_schedule::Action;
use dayshift_workload::{
    Dependency, Duty, Key, LATER_VERSION, Origin, Overdue, Override, Phase, Prefix,
};

use super::{
    note::Note,
    time_format::{duration, short_time},
};
use crate::status::{
    dependencies::IgnoredDependency,
    workload::{ScheduleStatus, WorkloadStatus},
};

/// The text of a note, without the name of the workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteText {
    /// The fact. It is the same for one workload and for several.
    pub text: String,
    /// The command that fixes or explains it, for this workload.
    pub command: String,
}

impl fmt::Display for NoteText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.text, self.command)
    }
}

impl WorkloadStatus {
    /// The status of a workload whose start waits for a start slot, according to the controller.
    #[must_use]
    pub fn waiting_for_slot(mut self) -> Self {
        self.notes.retain(|note| !matches!(note, Note::Overdue(_)));
        self.notes.insert(0, Note::WaitsForSlot);
        if self.condition == ScheduleStatus::Overdue {
            self.condition = ScheduleStatus::Followed;
        }
        self
    }

    /// The status with ignored dependencies.
    #[must_use]
    pub fn with_ignored_dependencies(
        mut self,
        ignored_dependencies: Vec<IgnoredDependency>,
    ) -> Self {
        if self.waits_for.is_empty() && !ignored_dependencies.is_empty() {
            self.ignored_dependencies = ignored_dependencies;
            self.notes.push(Note::IgnoresDependencies);
        }
        self
    }

    /// Whether a start is overdue. It might wait for a start slot.
    pub fn has_overdue_start(&self) -> bool {
        let mut notes = self.notes.iter();
        notes.any(|note| matches!(note, Note::Overdue(Overdue { is_start: true, .. })))
    }

    /// Whether the start waits for a start slot.
    pub fn waits_for_slot(&self) -> bool {
        self.notes.contains(&Note::WaitsForSlot)
    }

    /// Whether its count should have been lowered by `enforce`: the correction limit might be reached.
    pub const fn is_to_be_enforced(&self) -> bool {
        self.is_enforced
    }

    /// The status with a note if an Event reports that the correction limit was reached since the last
    /// transition.
    #[must_use]
    pub fn with_correction_limits(self, limits: &CorrectionLimits) -> Self {
        let is_reached = |since| limits.is_reached(&self.object, since);
        match self.since.is_some_and(is_reached) {
            true => self.at_correction_limit(),
            false => self,
        }
    }

    /// The status of a workload for which the correction limit is reached.
    #[must_use]
    pub fn at_correction_limit(mut self) -> Self {
        if self.is_enforced {
            self.notes
                .retain(|note| !matches!(note, Note::StopsSoon { .. }));
            let until = self.next;
            self.notes.push(Note::EnforceGaveUp { until });
        }
        self
    }

    /// The latest time of a waiting start.
    pub fn waits_until(&self) -> Option<DateTime<Utc>> {
        self.notes.iter().find_map(|note| match note {
            Note::Waits { until } => Some(*until),
            _ => None,
        })
    }

    /// Since when a boundary or an override is overdue, if that is known.
    pub fn overdue_since(&self) -> Option<DateTime<Utc>> {
        self.notes.iter().find_map(|note| match note {
            Note::Overdue(overdue) => overdue.since,
            _ => None,
        })
    }

    /// The text of a note, with times in the time zone of the workload.
    pub fn note_text(&self, note: Note, prefix: &Prefix, now: DateTime<Utc>) -> NoteText {
        let at = |at: DateTime<Utc>| short_time(at, self.zone, now);
        let until = |end: Option<DateTime<Utc>>| {
            end.map_or("permanently".to_owned(), |end| format!("until {}", at(end)))
        };
        let sync = self.sync(prefix);
        let of_namespace = || {
            let namespace = &self.object.namespace;
            format!("; `kubectl events --for namespace/{namespace}` shows why")
        };
        let (replicas, object) = (self.replicas, &self.object);
        let counts = object.kind.counts();
        let (text, command) = match note {
            // The note about the Namespace names the command to use.
            Note::Overdue(overdue) if self.notes.contains(&Note::NamespaceAhead) => {
                (self.overdue_text(overdue, prefix, now), String::new())
            }
            Note::Overdue(overdue) => (
                self.overdue_text(overdue, prefix, now) + "; is the controller running?",
                format!(" kubectl events --for {}", object.argument()),
            ),
            Note::NamespaceAhead => (
                format!(
                    "the Namespace {} has annotations that no controller has adopted: none runs in this cluster, or it rejects them",
                    object.namespace
                ),
                of_namespace(),
            ),
            Note::Unseen if self.origin == Origin::Namespace => (
                format!(
                    "no controller has adopted it yet: none runs in this cluster, or it rejects \
                     the annotations of the Namespace {}",
                    object.namespace
                ),
                of_namespace(),
            ),
            Note::StoppedAgainstSchedule { until: end } => (
                format!(
                    "the schedule specifies running, but dayshift keeps it stopped: {} {}",
                    counts.it_stays_at(replicas),
                    until(end)
                ),
                format!("; `{sync}` starts it now"),
            ),
            Note::Waits { until } => {
                let names: Vec<_> = self.waits_for.iter().map(Dependency::to_string).collect();
                (
                    format!(
                        "its start waits for {} until {} at most",
                        names.join(", "),
                        at(until)
                    ),
                    String::new(),
                )
            }
            Note::IgnoresDependencies => {
                let words: Vec<_> = self.ignored_dependencies.iter().map(|ignored| ignored.text(self.zone)).collect();
                let help: Vec<_> = self.ignored_dependencies.iter().map(|ignored| ignored.fix(prefix)).collect();
                (
                    format!("its start does not wait for {}", words.join("; nor for ")),
                    format!("; {}", help.join("; ")),
                )
            }
            Note::WaitsForSlot => (
                "its start waits until fewer workloads are starting (--max-starting)".to_owned(),
                String::new(),
            ),
            Note::LeftStopped { saved } => (
                format!("its schedule was removed, and {}", counts.left_at(replicas)),
                format!("; `{}` {}", self.restore(prefix), counts.restores(saved)),
            ),
            Note::Unseen => (
                "no controller has adopted it yet; is `dayshift run` running in this cluster?"
                    .to_owned(),
                String::new(),
            ),
            Note::SetManually { required, until: end } => (
                format!("{} manually {}", counts.scaled_to(replicas), until(end)),
                format!("; `{sync}` {} now", verb(required)),
            ),
            Note::SetDuringOverride { until: end } => (
                format!("{} manually {}", counts.scaled_to(replicas), until(end)),
                String::new(),
            ),
            Note::Deleting => (
                "it is being deleted, and dayshift does not change it".to_owned(),
                String::new(),
            ),
            Note::Reverted { until: end, .. } => {
                let words = self.revert_text().unwrap_or_default();
                let mut notes = self.notes.iter();
                let stops = notes.any(|note| matches!(note, Note::StopsSoon { .. }));
                let stays = format!("{words}; it stays {}", until(end));
                (if stops { words } else { stays }, String::new())
            }
            Note::Contradicted { required, until: end } => (
                match required {
                    Action::Stop => {
                        format!("the schedule specifies stopped; it runs {}", until(end))
                    }
                    Action::Start => {
                        let stays = counts.it_stays_at(replicas);
                        format!("the schedule specifies running; {stays} {}", until(end))
                    }
                    Action::Scale(count) => {
                        format!(
                            "the schedule specifies {count}; it stays at {replicas} {}",
                            until(end)
                        )
                    }
                },
                format!("; `{sync}` {} now", verb(required)),
            ),
            Note::StopsSoon { grace, start } => {
                let start = start.map_or_else(String::new, |start| {
                    format!(", unless its start of {} comes first", at(start))
                });
                let enforce = prefix.annotation(Key::Enforce);
                let grace = duration(grace);
                (
                    format!("the schedule specifies stopped; {enforce} stops it within {grace}{start}"),
                    format!("; `kubectl events --for {}` shows when", object.argument()),
                )
            }
            Note::EnforceGaveUp { until: end } => (
                format!(
                    "the schedule specifies stopped; {} gave up after several corrections {}",
                    prefix.annotation(Key::Enforce),
                    until(end)
                ),
                format!("; `{sync}` stops it"),
            ),
            Note::LaterVersion => (LATER_VERSION.to_owned(), String::new()),
            Note::StaysAtZero => (
                match self.phase {
                    Some(Phase::Adopted) => "it was scaled to 0 manually, and the start leaves it at 0",
                    _ => "it was at 0 when it was stopped, and the start leaves it at 0",
                }
                .to_owned(),
                format!("; `{}` starts it", self.wake(prefix)),
            ),
            Note::NoSchedule { saved, overdue } => (
                match overdue {
                    None => "its labels show that it is scheduled, but it has no schedule \
                        annotation; an inherited schedule is written on it at its next start, stop or edit"
                        .to_owned(),
                    Some(due) => format!(
                        "its labels show that it is scheduled, but it has no schedule annotation, \
                            and nothing happened at {}, perhaps because no controller is running",
                        at(due)
                    ),
                },
                saved.map_or_else(String::new, |saved| {
                    let (restore, does) = (self.restore(prefix), counts.restores(saved));
                    format!("; if the annotation was removed, `{restore}` {does}")
                }),
            ),
            Note::UnknownCalendars => (
                "its schedule names calendars that are not known here, so its count cannot be checked"
                    .to_owned(),
                "; give them with --calendar NAME=FILE".to_owned(),
            ),
            Note::Operated { by } => (
                format!("it belongs to a {by}, whose operator sets its count again"),
                format!(
                    "; schedule the {by} in its place, with --kinds={}",
                    by.argument()
                ),
            ),
            Note::OwnerScheduled { owner, is_copy } => (
                match is_copy {
                    true => format!(
                        "its labels and annotations are copies of those of {owner}, whose operator \
                         sets its count"
                    ),
                    false => format!(
                        "it belongs to {owner}, which has a schedule itself and whose operator sets \
                         its count"
                    ),
                },
                format!(
                    "; `kubectl annotate {} {}=true` leaves it to the operator",
                    object.argument(),
                    prefix.annotation(Key::Exclude)
                ),
            ),
            Note::TargetNotLowered { replicas } => (
                format!(
                    "the stop lowered minReplicas, but behavior.scaleDown.selectPolicy: Disabled \
                     keeps its target at {replicas}"
                ),
                "; remove selectPolicy, or schedule the target instead".to_owned(),
            ),
            Note::NothingSaved {
                count,
                may_stay_at_zero,
            } => {
                let unless = match may_stay_at_zero {
                    true => ", unless it was scaled to 0 manually since its adoption",
                    false => "",
                };
                (
                    format!(
                        "no count is saved for it, so after a start it has {count}{unless}; if it had more, \
                         write {}, such as \"3\"",
                        prefix.annotation(Key::Replicas)
                    ),
                    String::new(),
                )
            }
            Note::NotReady { since, .. } => {
                let ready = match self.readiness.replicas() {
                    Some(ready) => format!("{ready} of {replicas} replicas are ready"),
                    None => "it is not ready".to_owned(),
                };
                let after = duration(now - since);
                let why = self.health_problem.as_ref();
                let why = why.map_or_else(String::new, |why| format!(": {why}"));
                let (kind, name) = (object.kind.unambiguous(), &object.name);
                let namespace = &object.namespace;
                (
                    format!("{ready} {after} after its start{why}"),
                    format!("; `kubectl describe {kind}/{name} -n {namespace}` shows more"),
                )
            }
            Note::StopNotice { at: stop } => (
                format!("it is stopped at {}", at(stop)),
                format!("; `{}` keeps it running", self.wake(prefix)),
            ),
            Note::NotCovered => {
                let coverage = self.on_request.as_ref();
                let reasons = coverage.map_or_else(String::new, |coverage| coverage.not_covered.join("; "));
                let key = prefix.annotation(Key::WakeOnRequest);
                (format!("{key}: {reasons}"), String::new())
            }
            Note::RequestsIgnored { until } => (
                format!("requests do not wake it until {}", at(until)),
                String::new(),
            ),
            Note::NoStart => (
                "nothing will start it again: its schedule has no further start".to_owned(),
                format!("; `{}` restores it", self.restore(prefix)),
            ),
        };
        NoteText { text, command }
    }

    fn overdue_text(&self, overdue: Overdue, prefix: &Prefix, now: DateTime<Utc>) -> String {
        let at = |at: DateTime<Utc>| short_time(at, self.zone, now);
        let key = |phase: Phase| {
            Override::key(phase).map_or_else(String::new, |key| prefix.annotation(key))
        };
        let late = match overdue.since {
            Some(since) => format!("is {} overdue", duration(now - since)),
            None => "is overdue".to_owned(),
        };
        match overdue.duty {
            Duty::Boundary(boundary) => {
                let time = boundary.at.with_timezone(&self.zone);
                let time = if now - boundary.at < chrono::TimeDelta::hours(24) {
                    time.format("%H:%M:%S").to_string()
                } else {
                    at(boundary.at)
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

const fn verb(required: Action) -> &'static str {
    match required {
        Action::Start => "starts it",
        Action::Stop => "stops it",
        Action::Scale(_) => "scales it",
    }
}
