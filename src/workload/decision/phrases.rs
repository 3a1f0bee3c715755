//! What several texts of Events have in common.

use chrono::{DateTime, Utc};

use crate::schedule::{Action, Boundary};

use super::commands::sync_command;
use crate::workload::inputs::overrides::Override;
use crate::workload::inputs::spec::ScheduleSpec;
use crate::workload::keys::Prefix;
use crate::workload::observed::Observed;

/// What becomes of a schedule that is taken up now: what it says, where that is not so, and the
/// command that makes it so.
pub(super) fn taken_up(
    observed: &Observed,
    spec: &ScheduleSpec,
    prefix: &Prefix,
    now: DateTime<Utc>,
) -> String {
    let object = &observed.object;
    let next = coming(spec, spec.next_after(object, now));
    let Some(says) = spec.contradicts(observed, now) else {
        return format!("nothing is scaled now; {next}");
    };
    let (replicas, command) = (observed.replicas, sync_command(&observed.object, prefix));
    match says {
        Action::Start => format!(
            "nothing is scaled now; {next}. It says running now, but {}: to start it now, run {command}",
            spec.counts.count_is(replicas)
        ),
        Action::Stop => format!(
            "nothing is scaled now; {next}. It says stopped now, but {}: to stop it now, run {command}",
            spec.counts.so_many_run(replicas)
        ),
        Action::Scale(count) => format!(
            "nothing is scaled now; {next}. It says {count} now, but the count is {replicas}: to scale it now, run {command}"
        ),
    }
}

/// `Mon 2026-11-23 09:00:00 JST`, in the zone of the schedule.
pub(super) fn local(spec: &ScheduleSpec, at: DateTime<Utc>) -> String {
    at.with_timezone(&spec.schedule.zone())
        .format("%a %Y-%m-%d %H:%M:%S %Z")
        .to_string()
}

/// `by wake-until until Mon 2026-11-23 22:00:00 JST`.
pub(super) fn holding(active: Override, spec: &ScheduleSpec) -> String {
    let end = active.until().map_or_else(
        || "the annotation is removed".to_owned(),
        |until| local(spec, until),
    );
    match active {
        Override::Pause(_) => format!("by `pause` until {end}"),
        Override::Wake(_) => format!("by `wake-until` until {end}"),
        Override::Sleep(_) => format!("by `sleep-until` until {end}"),
    }
}

/// `next is the stop of Mon 2026-11-23 19:00:00 JST`.
pub(super) fn coming(spec: &ScheduleSpec, next: Option<Boundary>) -> String {
    match next {
        Some(next) => format!("next is the {} of {}", next.action, local(spec, next.at)),
        None => "there is no further boundary".to_owned(),
    }
}
