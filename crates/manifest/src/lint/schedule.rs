//! Checks of annotations that belong together: missing counterparts, counts, overrides in the past,
//! and annotations that have no effect.

use dayshift_workload::{Annotations, Inputs, Key, Origin, VolumeRetention};

use crate::lint::{
    rule::LintRule,
    schedule_finding::{ScheduleCheck, ScheduleFinding, valid_line},
};

/// The workload, or the workloads that inherit the schedule, as messages name them.
fn subject(inputs: &Inputs) -> &'static str {
    match inputs.schedule_origin() {
        Some(Origin::Team | Origin::Namespace | Origin::Controller) => {
            "a workload that inherits it"
        }
        _ => "this workload",
    }
}

pub(crate) fn stop_without_start(check: &ScheduleCheck<'_>, found: &mut Vec<ScheduleFinding>) {
    if check.spec.is_some() && check.has(Key::Stop) && !check.has(Key::Start) {
        let subject = subject(check.inputs);
        found.push(check.on(
            Key::Stop,
            LintRule::StopWithoutStart,
            format!("there is a stop but no start: nothing starts {subject} again"),
            format!("add {}", valid_line(check.prefix, Key::Start)),
        ));
    }
}

pub(crate) fn start_without_stop(check: &ScheduleCheck<'_>, found: &mut Vec<ScheduleFinding>) {
    let has_stop = check.has(Key::Stop) || check.has(Key::StopAfter);
    if check.spec.is_some() && check.has(Key::Start) && !has_stop {
        let subject = subject(check.inputs);
        found.push(check.on(
            Key::Start,
            LintRule::StartWithoutStop,
            format!("there is a start but no stop: nothing stops {subject}"),
            format!("add {}", valid_line(check.prefix, Key::Stop)),
        ));
    }
}

pub(crate) fn stop_not_below_start(check: &ScheduleCheck<'_>, found: &mut Vec<ScheduleFinding>) {
    let Some(spec) = check.spec else { return };
    if let Some(count) = spec.replicas.filter(|count| *count <= spec.stop_replicas) {
        found.push(check.on(
            Key::Replicas,
            LintRule::StopNotBelowStart,
            format!(
                "a start sets {count} and a stop sets {}: a stop does not scale down",
                spec.stop_replicas
            ),
            format!(
                "write a higher count, such as {}",
                valid_line(check.prefix, Key::Replicas)
            ),
        ));
    }
}

/// The values of the Namespace and of the team, with the origin of each.
fn inherited_levels(inputs: &Inputs) -> impl Iterator<Item = (Origin, &Annotations)> {
    let namespace = inputs.defaults();
    let levels = [
        (Origin::Team, namespace.and_then(Annotations::team)),
        (Origin::Namespace, namespace),
    ];
    let known = |(origin, texts): (_, Option<_>)| Some((origin, texts?));
    levels.into_iter().filter_map(known)
}

/// Overrides in the past. dayshift removes them from the workload; those of a Namespace or team stay.
pub(crate) fn past_until(check: &ScheduleCheck<'_>, found: &mut Vec<ScheduleFinding>) {
    let Some(spec) = check.spec else { return };
    let now = check.period.from;
    let help = "remove it, or write a future time";
    for key in spec.overrides.expired_at(now) {
        let message = format!("this {key} is in the past: dayshift removes it at once");
        found.push(check.on(key, LintRule::PastUntil, message, help));
    }
    for (origin, texts) in inherited_levels(check.inputs) {
        let sets = spec.overrides.sets().into_iter();
        let set = sets.filter(|(of, _)| *of == origin);
        for inherited in set.flat_map(|(_, set)| set.all()) {
            let key = inherited.annotation();
            if inherited.until().is_some_and(|until| until <= now) {
                let message = format!("this {key} is in the past, and no longer has an effect");
                found.push(ScheduleFinding {
                    span: 0..texts.text(key).map_or(0, str::len),
                    origin,
                    schedule: None,
                    ..check.on(key, LintRule::PastUntil, message, help)
                });
            }
        }
    }
}

/// Annotations, and those of which each needs one. The last is the example in the help.
const NEEDS: [(Key, &[Key]); 16] = [
    (
        Key::Timezone,
        &[Key::Start, Key::Stop, Key::Scale, Key::Hours],
    ),
    (Key::Replicas, &[Key::Start, Key::Hours]),
    (Key::StopReplicas, &[Key::Stop, Key::Hours]),
    (Key::Jitter, &[Key::Start, Key::Scale, Key::Hours]),
    (Key::Except, &[Key::Start, Key::Scale, Key::Hours]),
    (
        Key::TreatAs,
        &[Key::Start, Key::Stop, Key::Scale, Key::Hours],
    ),
    (Key::Extra, &[Key::Start, Key::Stop, Key::Hours]),
    (Key::After, &[Key::Start, Key::Scale, Key::Hours]),
    (Key::Pause, &[Key::Start, Key::Stop, Key::Scale, Key::Hours]),
    (Key::Enforce, &[Key::Stop, Key::Scale, Key::Hours]),
    (Key::Notice, &[Key::Stop, Key::Scale, Key::Hours]),
    (Key::ReadyWithin, &[Key::Start, Key::Scale, Key::Hours]),
    (Key::StopJobs, &[Key::Stop, Key::Hours]),
    (Key::WakeOnRequest, &[Key::Stop, Key::Scale, Key::Hours]),
    (Key::WakeOnRequestIgnore, &[Key::WakeOnRequest]),
    (Key::WakeOnRequestAnswer, &[Key::WakeOnRequest]),
];

/// Annotations that `stop-after` gives an effect too: it stops the workload, and a wake starts it.
const WITH_TIMER: [Key; 9] = [
    Key::Timezone,
    Key::Replicas,
    Key::StopReplicas,
    Key::After,
    Key::Pause,
    Key::Enforce,
    Key::Notice,
    Key::ReadyWithin,
    Key::WakeOnRequest,
];

/// Annotations of the workload itself that have no effect without another one. Those of a
/// Namespace can complete the schedules of its workloads.
pub(crate) fn no_effect_alone(check: &ScheduleCheck<'_>, found: &mut Vec<ScheduleFinding>) {
    for (key, needs) in NEEDS {
        let is_own = check.inputs.is_own(key);
        let is_with_timer = check.has(Key::StopAfter) && WITH_TIMER.contains(&key);
        if is_own && !is_with_timer && !needs.iter().any(|need| check.has(*need)) {
            let names = needs.iter().map(|need| check.prefix.annotation(*need));
            let names = names.collect::<Vec<_>>().join(" or ");
            let example = needs.last().copied().unwrap_or(Key::Hours);
            found.push(check.on(
                key,
                LintRule::NoEffect,
                format!(
                    "{} has no effect without {names}",
                    check.prefix.annotation(key)
                ),
                format!("remove it, or add {}", valid_line(check.prefix, example)),
            ));
        }
    }
}

/// `allow-volume-deletion` if a stop deletes no volume, and annotations that cannot be defaults.
pub(crate) fn no_effect_here(check: &ScheduleCheck<'_>, found: &mut Vec<ScheduleFinding>) {
    let inputs = check.inputs;
    let finding = |key: Key, origin: Origin, text: &str, why: &str| {
        let message = format!("{} {why}", check.prefix.annotation(key));
        ScheduleFinding {
            origin,
            schedule: None,
            span: 0..text.len(),
            ..check.on(key, LintRule::NoEffect, message, "remove it")
        }
    };
    let key = Key::AllowVolumeDeletion;
    if let Some(text) = inputs.own().text(key)
        && inputs.volumes() != VolumeRetention::Delete
    {
        let why = "has no effect here: scaling down deletes no volume";
        found.push(finding(key, Origin::Own, text, why));
    }
    for (key, kind) in [(key, "StatefulSet"), (Key::StopJobs, "CronJob")] {
        for (origin, texts) in inherited_levels(inputs) {
            if let Some(text) = texts.text(key) {
                let why =
                    format!("cannot be a default: it has an effect only on the {kind} itself");
                found.push(finding(key, origin, text, &why));
            }
        }
    }
}
