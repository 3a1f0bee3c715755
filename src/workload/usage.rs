//! What a schedule saves: the one definition.

use super::inputs::parsed::ParsedInputs;
use super::keys::Label;
use super::kinds::count_kind::CountKind;
use super::observed::Observed;
use super::replicas::Replicas;
use super::state::Phase;

/// Whether the schedule or `sleep-until` keeps an object stopped: not where somebody has raised its
/// count meanwhile. `None` where it has no schedule.
pub fn is_kept_stopped(observed: &Observed, parsed: &ParsedInputs) -> Option<bool> {
    let stop = match parsed {
        ParsedInputs::Scheduled(spec) => spec.stop_replicas,
        // A schedule that is refused leaves the object as the last one made it.
        ParsedInputs::Invalid(_) => Replicas::ZERO,
        ParsedInputs::Unscheduled => return None,
    };
    let is_down = matches!(observed.phase(), Some(Phase::Stopped | Phase::Slept));
    Some(is_down && observed.replicas <= stop)
}

/// How many replicas do not run now because of the schedule: those that would run without it, less
/// those that do.
///
/// Without it the saved count would run, or `replicas`, or the largest count of `scale`. It counts
/// only while the schedule or `sleep-until` holds the object down: what somebody scales by hand is
/// not saved by dayshift. It is 0 for kinds whose count is not one of replicas: a CronJob, a
/// ScaledObject, the minimum of an autoscaler.
pub fn held_down(observed: &Observed, parsed: &ParsedInputs) -> Replicas {
    let spec = match parsed {
        ParsedInputs::Scheduled(spec) => Some(spec),
        // A schedule that is refused leaves the object as the last one made it.
        ParsedInputs::Invalid(_) => None,
        ParsedInputs::Unscheduled => return Replicas::ZERO,
    };
    if observed.object.kind.counts() != CountKind::Replicas {
        return Replicas::ZERO;
    }
    let phase = observed.phase();
    let is_down = matches!(phase, Some(Phase::Stopped | Phase::Slept));
    let saved = || Replicas::parse(observed.labels.text(Label::SavedReplicas)?).ok();
    let largest = spec.and_then(|spec| spec.schedule.rule().largest_count());
    let without = match largest {
        // Between two steps it is as small as the schedule says, stopped or not.
        Some(largest) if is_down || phase == Some(Phase::Running) => Some(Replicas::new(largest)),
        None if is_down => spec.and_then(|spec| spec.replicas).or_else(saved),
        _ => None,
    };
    let without = without.unwrap_or_default().get();
    Replicas::new(without.saturating_sub(observed.replicas.get()))
}
