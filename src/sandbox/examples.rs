//! What happens to the examples beside their schedules.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_manifest::ManifestWorkload;
use dayshift_schedule::Action;
use dayshift_workload::{Key, ParseContext, ParsedInputs, Prefix, read};

use super::user_action::{Act, UserAction};

/// How long after it has stopped `office-hours` is raised by a user.
const NIGHT_SHIFT: TimeDelta = TimeDelta::hours(3);
/// How long after its first start `one-start` loses its schedule, so that it does not fill the
/// page: it starts every minute.
const ENOUGH: TimeDelta = TimeDelta::seconds(30);

/// What a user does to the examples, from an instant on: one raises `office-hours` to a single
/// replica in its first night, one takes the schedule from `one-start` after its first start.
pub fn example_actions(
    workloads: &[ManifestWorkload],
    from: DateTime<Utc>,
    prefix: &Prefix,
    context: &ParseContext,
) -> Vec<UserAction> {
    let action = |name: &str, action: Action, later: TimeDelta, act: Act| {
        let workload = workloads.iter().find(|it| &*it.object.name == name)?;
        let ParsedInputs::Scheduled(spec) = read(&workload.inputs, context) else {
            return None;
        };
        let mut at = from;
        loop {
            let boundary = spec.next_after(&workload.object, at)?;
            at = boundary.at;
            if boundary.action == action {
                break;
            }
        }
        Some(UserAction {
            at: at + later,
            kind: workload.object.kind,
            namespace: workload.object.namespace.to_string(),
            name: name.to_owned(),
            act,
        })
    };
    let schedule = [Key::Start, Key::Replicas].map(|key| prefix.annotation(key));
    let raise = action("office-hours", Action::Stop, NIGHT_SHIFT, Act::Scale(1));
    let leave = Act::Unannotate(schedule.to_vec());
    let leave = action("one-start", Action::Start, ENOUGH, leave);
    raise.into_iter().chain(leave).collect()
}
