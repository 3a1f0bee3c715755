//! Finds the conditions of a count: deviations from the schedule, an unknown original count and stop
//! notices.

use chrono::{DateTime, Utc};
use dayshift_schedule::{Action, Direction};
use dayshift_workload::{
    Enforce, Observed, Origin, ParsedInputs, Phase, Replicas, ScheduleSpec, State,
    count_after_start,
    events::{Condition, EnforcedStop},
    next_stop,
};

/// The condition of a stop within the stop notice.
pub(super) fn stop_notice(
    parsed: &ParsedInputs,
    observed: &Observed,
    now: DateTime<Utc>,
) -> Option<Condition> {
    let notice = parsed.notice();
    if notice.is_zero() {
        return None;
    }
    let at = next_stop(parsed, observed, now)?;
    (at - now <= notice).then_some(Condition::StopNotice { at })
}

/// The condition of a stopped workload whose original count is unknown. A workload with a count above 0 is
/// stopped only if its schedule requires that now.
pub(super) fn nothing_saved(
    spec: &ScheduleSpec,
    observed: &Observed,
    state: &State,
    now: DateTime<Utc>,
) -> Option<Condition> {
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
    Some(Condition::NothingSaved {
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

/// The condition of a count that differs from the schedule.
pub(super) fn count_condition(
    spec: &ScheduleSpec,
    observed: &Observed,
    state: &State,
    now: DateTime<Utc>,
) -> Option<Condition> {
    let (object, replicas) = (&observed.object, observed.replicas);
    let is_up = replicas > spec.stop_replicas;
    // The next boundary in this direction or, if there is none, in the other.
    let until = |direction: Direction| {
        let boundary = |direction| spec.next_boundary(direction, object, state.started, now);
        boundary(direction)
            .or_else(|| boundary(direction.opposite()))
            .map(|boundary| boundary.at)
    };
    let set_manually = |required, until| {
        Some(Condition::SetManually {
            replicas,
            required,
            until,
        })
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
        return Some(Condition::StopsSoon(EnforcedStop::Within { grace, start }));
    }
    match state.phase {
        Some(Phase::Running | Phase::Stopped) if scales => {
            let required = observed.contradicted_action(spec, now)?;
            let until = spec
                .next_after(object, state.started, now)
                .map(|boundary| boundary.at);
            set_manually(Some(required), until)
        }
        Some(Phase::Stopped) if is_up && spec.overrides.enforce == Enforce::No => {
            set_manually(Some(Action::Stop), until(Direction::Up))
        }
        Some(Phase::Slept) if is_up && spec.overrides.enforce == Enforce::No => {
            set_manually(None, state.next_at())
        }
        Some(Phase::Woken) if replicas == Replicas::ZERO && spec.replicas != Some(replicas) => {
            set_manually(None, state.next_at())
        }
        // A schedule of the Namespace leaves 0 replicas as they are.
        Some(Phase::Running) if replicas == Replicas::ZERO && spec.keeps_zero => None,
        Some(Phase::Running) if replicas == Replicas::ZERO && spec.replicas != Some(replicas) => {
            set_manually(Some(Action::Start), until(Direction::Down))
        }
        Some(Phase::Adopted) if stays_at_zero(spec, observed, state) => {
            let is_up = spec
                .required_action(object, state.started, now)
                .is_some_and(Action::is_up);
            is_up.then(|| set_manually(Some(Action::Start), until(Direction::Down)))?
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
            Some(Condition::Contradicted {
                required,
                replicas,
                until,
            })
        }
        _ => None,
    }
}
