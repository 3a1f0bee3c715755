//! What a schedule saves: the one definition.

use std::iter::Sum;

use crate::{Footprint, Label, Observed, ParsedInputs, Phase, Replicas};

/// What does not run now because of schedules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldDown {
    /// How many replicas.
    pub replicas: u64,
    /// The CPU that they request together, in billionths of a core.
    pub cpu_nanos: u64,
    /// The memory that they request together, in bytes.
    pub memory_bytes: u64,
}

impl HeldDown {
    /// That of a count, each of which has this footprint.
    pub fn of(count: Replicas, footprint: Footprint) -> Self {
        let Footprint { replicas, requests } = footprint;
        let replicas = u64::from(count.get()) * u64::from(replicas);
        Self {
            replicas,
            cpu_nanos: requests.cpu_nanos.saturating_mul(replicas),
            memory_bytes: requests.memory_bytes.saturating_mul(replicas),
        }
    }
}

impl Sum for HeldDown {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, it| Self {
            replicas: sum.replicas.saturating_add(it.replicas),
            cpu_nanos: sum.cpu_nanos.saturating_add(it.cpu_nanos),
            memory_bytes: sum.memory_bytes.saturating_add(it.memory_bytes),
        })
    }
}

/// Whether the schedule or `sleep-until` keeps an object stopped: not where somebody has raised its
/// count meanwhile. `None` where it has no schedule.
pub fn is_kept_stopped(observed: &Observed, parsed: &ParsedInputs) -> Option<bool> {
    let stop = match parsed {
        ParsedInputs::Scheduled(spec) => spec.stop_replicas,
        // A schedule that is refused leaves the object as the last one made it.
        ParsedInputs::Invalid(_) => observed.inputs.stop_replicas(),
        ParsedInputs::Unscheduled => return None,
    };
    let is_down = observed.phase().is_some_and(Phase::follows_a_stop);
    Some(is_down && observed.replicas <= stop)
}

/// What does not run now because of the schedule: the replicas that would run without it, less those
/// that do, and what they request.
///
/// Without it the saved count would run, or `replicas`, or the largest count of `scale`. It counts
/// only while the schedule or `sleep-until` holds the object down: what somebody scales by hand is
/// not saved by dayshift. It is 0 for kinds whose count stands for no replicas: a CronJob, a
/// ScaledObject, the minimum of an autoscaler, a switch whose row does not say where its size stands.
pub fn held_down(observed: &Observed, parsed: &ParsedInputs) -> HeldDown {
    let label = observed.labels.text(Label::SavedReplicas);
    let saved = label.and_then(|it| Replicas::parse(it).ok());
    let count = held_down_count(observed.replicas, observed.phase(), saved, parsed);
    HeldDown::of(count, observed.footprint)
}

/// The part of its count that [`held_down`] means, of an object with this count whose state has this
/// phase and this saved count.
pub fn held_down_count(
    running: Replicas,
    phase: Option<Phase>,
    saved: Option<Replicas>,
    parsed: &ParsedInputs,
) -> Replicas {
    let spec = match parsed {
        ParsedInputs::Scheduled(spec) => Some(spec),
        // A schedule that is refused leaves the object as the last one made it.
        ParsedInputs::Invalid(_) => None,
        ParsedInputs::Unscheduled => return Replicas::ZERO,
    };
    let is_down = phase.is_some_and(Phase::follows_a_stop);
    let largest = spec.and_then(|spec| spec.schedule.rule().largest_count());
    let without = match largest {
        // Between two steps it is as small as the schedule says, stopped or not.
        Some(largest) if is_down || phase == Some(Phase::Running) => Some(Replicas::new(largest)),
        None if is_down => spec.and_then(|spec| spec.replicas).or(saved),
        _ => None,
    };
    let without = without.unwrap_or_default().get();
    Replicas::new(without.saturating_sub(running.get()))
}
