//! What is to be said of the count of an object that follows its schedule.

use chrono::{DateTime, Utc};
use dayshift_schedule::{Action, Direction};
use dayshift_workload::{
    Enforce, Observed, Origin, Phase, Replicas, ScheduleSpec, State, count_after_start,
};

use super::note::Note;

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
