//! All that there is to say of a schedule.

use super::{examples::right_line, rule::Rule, schedule_finding::ScheduleFinding, times};
use crate::{
    schedule::{Gap, Zone},
    workload::{Inputs, Key, ParsedInputs, Prefix, read},
};

/// Everything to say of these inputs; what is refused gets no more than its errors.
pub(super) fn schedule_findings(
    inputs: &Inputs,
    span: &times::Span,
    prefix: &Prefix,
    gaps: impl FnOnce(Zone) -> Vec<Gap>,
) -> Vec<ScheduleFinding> {
    let spec = match read(inputs, span.default_zone) {
        ParsedInputs::Invalid(refusal) => {
            let problems = refusal.problems().iter();
            return problems
                .map(|it| ScheduleFinding::of_problem(it, prefix))
                .collect();
        }
        ParsedInputs::Unscheduled => None,
        ParsedInputs::Scheduled(spec) => Some(spec),
    };
    let mut found = Vec::new();
    no_effect(inputs, prefix, &mut found);
    let Some(spec) = spec else {
        return found;
    };
    let has = |key| inputs.text(key).is_some();
    if has(Key::Stop) && !has(Key::Start) {
        found.push(ScheduleFinding::on(
            Key::Stop,
            inputs,
            Rule::StopWithoutStart,
            "there is a stop but no start: nothing starts this Deployment again".to_owned(),
            format!("add {}", right_line(prefix, Key::Start)),
        ));
    }
    if has(Key::Start) && !has(Key::Stop) {
        found.push(ScheduleFinding::on(
            Key::Start,
            inputs,
            Rule::StartWithoutStop,
            "there is a start but no stop: nothing stops this Deployment".to_owned(),
            format!("add {}", right_line(prefix, Key::Stop)),
        ));
    }
    if let Some(count) = spec.replicas
        && count <= spec.stop_replicas
    {
        found.push(ScheduleFinding::on(
            Key::Replicas,
            inputs,
            Rule::StopNotBelowStart,
            format!(
                "a start sets {count} and a stop sets {}: a stop does not scale down",
                spec.stop_replicas
            ),
            format!(
                "write a higher count, such as {}",
                right_line(prefix, Key::Replicas)
            ),
        ));
    }
    for key in spec.overrides.over_at(span.from) {
        found.push(ScheduleFinding::on(
            key,
            inputs,
            Rule::PastUntil,
            format!("this {key} is in the past: dayshift removes it at once"),
            "remove it, or write a future time".to_owned(),
        ));
    }
    let zone = spec.schedule.zone();
    let look = times::Look {
        inputs,
        prefix,
        span,
        zone,
    };
    look.at_all(&spec, &gaps(zone), &mut found);
    found
}

/// Annotations that wait for another one.
fn no_effect(inputs: &Inputs, prefix: &Prefix, found: &mut Vec<ScheduleFinding>) {
    let has = |key: &Key| inputs.text(*key).is_some();
    for (key, needs) in [
        (
            Key::Timezone,
            &[Key::Start, Key::Stop, Key::Scale, Key::Hours][..],
        ),
        (Key::Replicas, &[Key::Start, Key::Hours]),
        (Key::StopReplicas, &[Key::Stop, Key::Hours]),
        (Key::Jitter, &[Key::Start, Key::Scale, Key::Hours]),
        (Key::Except, &[Key::Start, Key::Scale, Key::Hours]),
        (Key::Pause, &[Key::Start, Key::Stop, Key::Scale, Key::Hours]),
        (Key::Enforce, &[Key::Stop, Key::Scale, Key::Hours]),
    ] {
        if has(&key) && !needs.iter().any(has) {
            let names = needs.iter().map(|key| prefix.annotation(*key));
            let names = names.collect::<Vec<_>>().join(" or ");
            let example = needs.last().copied().unwrap_or(Key::Hours);
            found.push(ScheduleFinding::on(
                key,
                inputs,
                Rule::NoEffect,
                format!("{} has no effect without {names}", prefix.annotation(key)),
                format!("remove it, or add {}", right_line(prefix, example)),
            ));
        }
    }
}
