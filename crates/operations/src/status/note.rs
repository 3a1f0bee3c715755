//! What a reader should know of an object beside its row.
//!
//! What is to be said of the count of an object that follows its schedule.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::{Action, Direction};
use dayshift_workload::{
    Enforce, Kind, Observed, Origin, Overdue, ParsedInputs, Phase, Replicas, ScheduleSpec, State,
    count_after_start, next_stop,
};

/// What a reader should know of an object beside its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// Something should have been done by now.
    Overdue(Overdue),
    /// dayshift holds it down, and its schedule says running.
    HeldDown {
        /// Until the start that brings it back, if one does.
        until: Option<DateTime<Utc>>,
    },
    /// Its start is due, and waits for what it needs: the status says for what.
    Waits {
        /// Until when at most.
        until: DateTime<Utc>,
    },
    /// Its next starts do not wait for something that they name: the status says for what.
    WaitsInVain,
    /// Its start is due, and waits until fewer workloads are starting.
    WaitsForPlace,
    /// Its schedule was removed, and fewer run than are saved.
    LeftDown {
        /// The saved count.
        saved: Replicas,
    },
    /// No controller has seen it yet.
    Unseen,
    /// Somebody has set another count than what was done last.
    SetByHand {
        /// What the schedule says.
        says: Action,
        /// Until the boundary that ends it, if one does.
        until: Option<DateTime<Utc>>,
    },
    /// Somebody has set another count than the active override.
    SetInOverride {
        /// Until the override ends.
        until: Option<DateTime<Utc>>,
    },
    /// It is being deleted: nothing is done to it any more.
    Deleting,
    /// Another program has set another count than what was done last: the status says which.
    Reverted {
        /// Whether that was soon afterwards, so that it undoes what dayshift does.
        soon: bool,
        /// Until the boundary that ends it, if one does.
        until: Option<DateTime<Utc>>,
    },
    /// It was taken up as it was, and the schedule says otherwise.
    Contradicted {
        /// What the schedule says.
        says: Action,
        /// Until the boundary that ends it, if one does.
        until: Option<DateTime<Utc>>,
    },
    /// The schedule says stopped, it runs, and `enforce` stops it after a grace.
    StopsSoon {
        /// How long the grace is.
        grace: TimeDelta,
        /// The start that may come first.
        start: Option<DateTime<Utc>>,
    },
    /// Its labels say that it is scheduled, and no schedule is written on it.
    NoSchedule {
        /// The saved count, where fewer run.
        saved: Option<Replicas>,
        /// Since when something should have been done by that schedule.
        overdue: Option<DateTime<Utc>>,
    },
    /// Its Namespace says something that no controller has taken up: one refuses it, or none runs.
    NamespaceAhead,
    /// What its schedule says rests on calendars that are not known here.
    UnknownCalendars,
    /// It is not ready, and should be since its start.
    NotReady {
        /// When it was started.
        since: DateTime<Utc>,
        /// Whether none of it is ready, or Kubernetes says what is wrong.
        is_problem: bool,
    },
    /// It is stopped before long, as its `notice` has people told.
    StopNotice {
        /// When.
        at: DateTime<Utc>,
    },
    /// It is stopped, and no start is to come.
    NoStart,
    /// It asks to be woken by a request, and no Service of it or not all of each does so: the status has
    /// the reasons.
    NotCovered,
    /// It belongs to a resource whose operator sets its count again.
    Operated {
        /// The kind of that resource, which can be scheduled.
        by: Kind,
    },
    /// It is down, and nothing is known of the count that it had: a start leaves this one. Its
    /// labels may have been taken away while no scaler ran.
    NothingSaved {
        /// The count after a start.
        count: Replicas,
    },
}

impl Note {
    /// That an object is stopped before long, where its `notice` has people told by now.
    pub(super) fn of_stop(
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

    /// Whether it says why another count runs than the schedule means, and until when.
    pub const fn is_of_count(self) -> bool {
        matches!(
            self,
            Self::SetByHand { .. }
                | Self::SetInOverride { .. }
                | Self::Contradicted { .. }
                | Self::StopsSoon { .. }
        )
    }

    /// Whether somebody has to do something.
    pub const fn is_warning(self) -> bool {
        matches!(
            self,
            Self::Overdue(_)
                | Self::HeldDown { .. }
                | Self::NoSchedule {
                    overdue: Some(_),
                    ..
                }
                | Self::LeftDown { .. }
                | Self::NotReady {
                    is_problem: true,
                    ..
                }
                | Self::NamespaceAhead
                | Self::WaitsInVain
                | Self::Reverted { soon: true, .. }
                | Self::NothingSaved { .. }
                | Self::Operated { .. }
        )
    }
}

/// Whether it is down, and the next start cannot bring back what ran, as nothing is known of that. A
/// count above 0 tells of a stop only while the schedule says stopped.
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
    let is_stopped = || spec.says(object, now) == Some(Action::Stop);
    if replicas > Replicas::ZERO && !is_stopped() {
        return None;
    }
    spec.next_boundary(Direction::Up, object, now)?;
    let count = count_after_start(replicas, None, None);
    Some(Note::NothingSaved { count })
}

/// What is to be said of a count that the schedule does not explain.
pub(super) fn count_note(
    spec: &ScheduleSpec,
    observed: &Observed,
    state: &State,
    now: DateTime<Utc>,
) -> Option<Note> {
    let (object, replicas) = (&observed.object, observed.replicas);
    let is_up = replicas > spec.stop_replicas;
    // Until then the schedule does nothing that it could be told from.
    let until = |direction: Direction| {
        let boundary = |direction| spec.next_boundary(direction, object, now);
        boundary(direction)
            .or_else(|| boundary(direction.opposite()))
            .map(|it| it.at)
    };
    let scales = spec.largest_count().is_some();
    let says_stopped = || {
        let says = spec.says(object, now);
        says.is_some_and(|says| !says.is_up())
    };
    if let (Some(phase), Enforce::After(grace)) = (state.phase, spec.overrides.enforce)
        && is_up
        && (phase.follows_a_stop() || phase == Phase::Adopted && says_stopped())
    {
        // What starts it decides anew where it comes before the grace ends.
        let start = match phase {
            Phase::Slept => state.next_at().filter(|at| {
                let says = spec.says(object, *at);
                says.is_none_or(Action::is_up)
            }),
            _ => spec
                .next_boundary(Direction::Up, object, now)
                .map(|it| it.at),
        };
        let start = start.filter(|at| *at <= now + grace);
        return Some(Note::StopsSoon { grace, start });
    }
    match state.phase {
        Some(Phase::Running | Phase::Stopped) if scales => {
            let says = observed.contradicted_action(spec, now)?;
            let until = spec.next_after(object, now).map(|it| it.at);
            Some(Note::SetByHand { says, until })
        }
        Some(Phase::Stopped) if is_up && spec.overrides.enforce == Enforce::No => {
            Some(Note::SetByHand {
                says: Action::Stop,
                until: until(Direction::Up),
            })
        }
        Some(Phase::Slept) if is_up && spec.overrides.enforce == Enforce::No => {
            Some(Note::SetInOverride {
                until: state.next_at(),
            })
        }
        Some(Phase::Woken) if replicas == Replicas::ZERO && spec.replicas != Some(replicas) => {
            Some(Note::SetInOverride {
                until: state.next_at(),
            })
        }
        // What its Namespace's schedule leaves at 0 is as it should be.
        Some(Phase::Running) if replicas == Replicas::ZERO && spec.keeps_zero => None,
        Some(Phase::Running) if replicas == Replicas::ZERO && spec.replicas != Some(replicas) => {
            Some(Note::SetByHand {
                says: Action::Start,
                until: until(Direction::Down),
            })
        }
        Some(Phase::Adopted) => {
            let says = observed.contradicted_action(spec, now)?;
            // It was taken up as it is: the next boundary that says the same is the first to act.
            let until = if scales {
                spec.next_after(object, now)
            } else {
                spec.next_boundary(says.direction(), object, now)
            };
            let until = until.map(|it| it.at);
            Some(Note::Contradicted { says, until })
        }
        _ => None,
    }
}
