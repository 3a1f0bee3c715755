//! Notes about a workload: deviations from its schedule, waiting starts, overdue boundaries and other
//! facts beside the columns of a table.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::{Action, Direction};
use dayshift_workload::{
    Enforce, Kind, Observed, Origin, Overdue, ParsedInputs, Phase, Replicas, ScheduleSpec, State,
    count_after_start, next_stop,
};

/// A fact about a workload that a reader of its status should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A boundary or an override is overdue.
    Overdue(Overdue),
    /// dayshift has stopped it, and it should run according to its schedule.
    StoppedAgainstSchedule {
        /// The start that restores it, if there is one.
        until: Option<DateTime<Utc>>,
    },
    /// Its start is due and waits for dependencies, which the status lists.
    Waits {
        /// The latest time of the start.
        until: DateTime<Utc>,
    },
    /// Its next starts ignore dependencies, which the status lists.
    IgnoresDependencies,
    /// Its start is due and waits for a start slot.
    WaitsForSlot,
    /// Its schedule was removed, and more is saved than runs.
    LeftStopped {
        /// The saved count.
        saved: Replicas,
    },
    /// No controller has observed it yet.
    Unseen,
    /// The count was changed manually.
    SetManually {
        /// The action of the schedule.
        required: Action,
        /// The boundary that ends the deviation, if there is one.
        until: Option<DateTime<Utc>>,
    },
    /// The count was changed manually during an override.
    SetDuringOverride {
        /// The end of the override.
        until: Option<DateTime<Utc>>,
    },
    /// The object is being deleted, so dayshift does nothing.
    Deleting,
    /// Another controller has reverted the count; the status names it.
    Reverted {
        /// Whether it happened soon after dayshift's change, so that it is a conflict.
        soon: bool,
        /// The boundary that ends the deviation, if there is one.
        until: Option<DateTime<Utc>>,
    },
    /// The workload was adopted in a state that differs from its schedule.
    Contradicted {
        /// The action of the schedule.
        required: Action,
        /// The boundary that ends the deviation, if there is one.
        until: Option<DateTime<Utc>>,
    },
    /// It runs although it should be stopped, and `enforce` stops it after a grace period.
    StopsSoon {
        /// The grace period.
        grace: TimeDelta,
        /// The start that might come first.
        start: Option<DateTime<Utc>>,
    },
    /// It runs although its schedule requires it to be stopped, and `enforce` has reached its correction limit.
    EnforceGaveUp {
        /// The next boundary, after which corrections continue.
        until: Option<DateTime<Utc>>,
    },
    /// A later version of dayshift wrote its state, so this version leaves it unchanged.
    LaterVersion,
    /// It was at 0 when it was stopped, or scaled to 0 after its adoption, so the next start leaves it at
    /// 0.
    StaysAtZero,
    /// Its labels show a schedule, and it has no schedule.
    NoSchedule {
        /// The saved count, if more is saved than runs.
        saved: Option<Replicas>,
        /// Since when a boundary of the unknown schedule is overdue.
        overdue: Option<DateTime<Utc>>,
    },
    /// The Namespace has annotations that no controller has applied: no controller runs, or it rejects
    /// them.
    NamespaceAhead,
    /// The schedule depends on unknown calendars.
    UnknownCalendars,
    /// It has been started and is not ready in time.
    NotReady {
        /// The time of the start.
        since: DateTime<Utc>,
        /// Whether no replica is ready, or Kubernetes reports a problem.
        is_problem: bool,
    },
    /// It stops soon, within its stop notice.
    StopNotice {
        /// The time of the stop.
        at: DateTime<Utc>,
    },
    /// It is stopped, and its schedule has no further start.
    NoStart,
    /// It should wake on request, but a Service does not cover it; the status lists the reasons.
    NotCovered,
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
    /// It is stopped and has no saved count, so a start does not restore its original count. Its labels
    /// might have been removed while no controller ran.
    NothingSaved {
        /// The count after a start.
        count: Replicas,
        /// Whether it was adopted and has a count of 0. If the controller has observed it running since then, a
        /// user has set the 0, and a start leaves it. Only the controller knows that.
        may_stay_at_zero: bool,
    },
}

impl Note {
    /// The note about a stop within the stop notice.
    pub(super) fn stop_notice(
        parsed: &ParsedInputs,
        observed: &Observed,
        now: DateTime<Utc>,
    ) -> Option<Self> {
        let notice = parsed.notice();
        if notice.is_zero() {
            return None;
        }
        let at = next_stop(parsed, observed, now)?;
        (at - now <= notice).then_some(Self::StopNotice { at })
    }

    /// Whether the note explains a count that differs from the schedule.
    pub const fn explains_count(&self) -> bool {
        matches!(
            self,
            Self::SetManually { .. }
                | Self::SetDuringOverride { .. }
                | Self::Contradicted { .. }
                | Self::StopsSoon { .. }
        )
    }

    /// Whether the user should act.
    pub const fn is_warning(&self) -> bool {
        matches!(
            self,
            Self::Overdue(_)
                | Self::StoppedAgainstSchedule { .. }
                | Self::NoSchedule {
                    overdue: Some(_),
                    ..
                }
                | Self::LeftStopped { .. }
                | Self::NotReady {
                    is_problem: true,
                    ..
                }
                | Self::NamespaceAhead
                | Self::IgnoresDependencies
                | Self::EnforceGaveUp { .. }
                | Self::LaterVersion
                | Self::Reverted { soon: true, .. }
                | Self::NothingSaved { .. }
                | Self::Operated { .. }
                | Self::OwnerScheduled { .. }
                | Self::TargetNotLowered { .. }
        )
    }
}

/// The note about a stopped workload whose original count is unknown. A workload with a count above 0 is
/// stopped only if its schedule requires that now.
pub(super) fn nothing_saved(
    spec: &ScheduleSpec,
    observed: &Observed,
    state: &State,
    now: DateTime<Utc>,
) -> Option<Note> {
    let (object, replicas) = (&observed.object, observed.replicas);
    let is_own = observed.inputs.schedule_origin() == Some(Origin::Own);
    let sets_count = spec.replicas.is_some() || spec.largest_count().is_some();
    let is_known = spec.known_count(replicas, state.remembered()).is_some();
    if !is_own || sets_count || is_known || replicas > spec.stop_replicas {
        return None;
    }
    let is_stopped = || spec.required_action(object, state.started, now) == Some(Action::Stop);
    if replicas > Replicas::ZERO && !is_stopped() {
        return None;
    }
    spec.next_boundary(Direction::Up, object, None, now)?;
    let count = count_after_start(replicas, None, None);
    let may_stay_at_zero = replicas == Replicas::ZERO && state.phase == Some(Phase::Adopted);
    Some(Note::NothingSaved {
        count,
        may_stay_at_zero,
    })
}

/// Whether the next start leaves the workload at 0, because a user has set the 0.
pub(super) fn stays_at_zero(spec: &ScheduleSpec, observed: &Observed, state: &State) -> bool {
    observed.replicas == Replicas::ZERO
        && state.saved == Some(Replicas::ZERO)
        && spec.replicas.is_none()
        && !spec.keeps_zero
}

/// The note about a count that differs from the schedule.
pub(super) fn count_note(
    spec: &ScheduleSpec,
    observed: &Observed,
    state: &State,
    now: DateTime<Utc>,
) -> Option<Note> {
    let (object, replicas) = (&observed.object, observed.replicas);
    let is_up = replicas > spec.stop_replicas;
    // The next boundary in this direction or, if there is none, in the other.
    let until = |direction: Direction| {
        let boundary = |direction| spec.next_boundary(direction, object, state.started, now);
        boundary(direction)
            .or_else(|| boundary(direction.opposite()))
            .map(|boundary| boundary.at)
    };
    let scales = spec.largest_count().is_some();
    let says_stopped = || {
        let required = spec.required_action(object, state.started, now);
        required.is_some_and(|required| !required.is_up())
    };
    if let (Some(phase), Enforce::After(grace)) = (state.phase, spec.overrides.enforce)
        && is_up
        && (phase.follows_a_stop() || phase == Phase::Adopted && says_stopped())
    {
        // A start before the end of the grace period makes the enforcement unnecessary.
        let start = match phase {
            Phase::Slept => state.next_at().filter(|at| {
                let required = spec.required_action(object, state.started, *at);
                required.is_none_or(Action::is_up)
            }),
            _ => spec
                .next_boundary(Direction::Up, object, None, now)
                .map(|boundary| boundary.at),
        };
        let start = start.filter(|at| *at <= now + grace);
        return Some(Note::StopsSoon { grace, start });
    }
    match state.phase {
        Some(Phase::Running | Phase::Stopped) if scales => {
            let required = observed.contradicted_action(spec, now)?;
            let until = spec
                .next_after(object, state.started, now)
                .map(|boundary| boundary.at);
            Some(Note::SetManually { required, until })
        }
        Some(Phase::Stopped) if is_up && spec.overrides.enforce == Enforce::No => {
            Some(Note::SetManually {
                required: Action::Stop,
                until: until(Direction::Up),
            })
        }
        Some(Phase::Slept) if is_up && spec.overrides.enforce == Enforce::No => {
            Some(Note::SetDuringOverride {
                until: state.next_at(),
            })
        }
        Some(Phase::Woken) if replicas == Replicas::ZERO && spec.replicas != Some(replicas) => {
            Some(Note::SetDuringOverride {
                until: state.next_at(),
            })
        }
        // A schedule of the Namespace leaves 0 replicas as they are.
        Some(Phase::Running) if replicas == Replicas::ZERO && spec.keeps_zero => None,
        Some(Phase::Running) if replicas == Replicas::ZERO && spec.replicas != Some(replicas) => {
            Some(Note::SetManually {
                required: Action::Start,
                until: until(Direction::Down),
            })
        }
        Some(Phase::Adopted) if stays_at_zero(spec, observed, state) => {
            let is_up = spec
                .required_action(object, state.started, now)
                .is_some_and(Action::is_up);
            let until = until(Direction::Down);
            let required = Action::Start;
            is_up.then_some(Note::SetManually { required, until })
        }
        Some(Phase::Adopted) => {
            let required = observed.contradicted_action(spec, now)?;
            // The workload was adopted as it was, so the next boundary with the scheduled action is the
            // first that acts.
            let until = if scales {
                spec.next_after(object, state.started, now)
            } else {
                spec.next_boundary(required.direction(), object, state.started, now)
            };
            let until = until.map(|boundary| boundary.at);
            Some(Note::Contradicted { required, until })
        }
        _ => None,
    }
}
