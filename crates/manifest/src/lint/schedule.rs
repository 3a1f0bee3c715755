//! All that there is to say of a schedule.

use dayshift_schedule::{DstGap, Times, Zone};
use dayshift_workload::{
    Inputs, Key, Origin, ParseContext, ParsedInputs, Prefix, Problem, ScheduleSpec,
    VolumeRetention, read, wake_on_request_problems,
};

use crate::lint::{
    rule::LintRule,
    schedule_finding::{ScheduleFinding, right_line},
    times::{CheckPeriod, ScheduleCheck},
};

/// Why these inputs are refused, if they are.
pub(crate) fn schedule_errors(
    inputs: &Inputs,
    context: &ParseContext,
    prefix: &Prefix,
) -> Vec<ScheduleFinding> {
    match read(inputs, context) {
        ParsedInputs::Invalid(refusal) => problem_findings(refusal.problems(), prefix),
        ParsedInputs::Unscheduled | ParsedInputs::Scheduled(_) => Vec::new(),
    }
}

fn problem_findings(problems: &[Problem], prefix: &Prefix) -> Vec<ScheduleFinding> {
    let finding = |problem| ScheduleFinding::from_problem(problem, prefix);
    problems.iter().map(finding).collect()
}

/// Everything to say of these inputs; what is refused gets no more than its errors.
pub(crate) fn schedule_findings(
    inputs: &Inputs,
    span: &CheckPeriod,
    prefix: &Prefix,
    gaps: impl FnOnce(Zone) -> Vec<DstGap>,
) -> Vec<ScheduleFinding> {
    let mut found = problem_findings(&wake_on_request_problems(inputs), prefix);
    let spec = match read(inputs, &span.context) {
        ParsedInputs::Invalid(refusal) => {
            return [problem_findings(refusal.problems(), prefix), found].concat();
        }
        ParsedInputs::Unscheduled => None,
        ParsedInputs::Scheduled(spec) => Some(spec),
    };
    no_effect(inputs, prefix, &mut found);
    allows_nothing(inputs, prefix, &mut found);
    let Some(spec) = spec else {
        return found;
    };
    let has = |key| inputs.text(key).is_some();
    let what = match inputs.schedule_origin() {
        Some(Origin::Namespace | Origin::Scaler) => "what inherits it",
        _ => "this workload",
    };
    if has(Key::Stop) && !has(Key::Start) {
        found.push(ScheduleFinding::on(
            Key::Stop,
            inputs,
            LintRule::StopWithoutStart,
            format!("there is a stop but no start: nothing starts {what} again"),
            format!("add {}", right_line(prefix, Key::Start)),
        ));
    }
    if has(Key::Start) && !has(Key::Stop) {
        found.push(ScheduleFinding::on(
            Key::Start,
            inputs,
            LintRule::StartWithoutStop,
            format!("there is a start but no stop: nothing stops {what}"),
            format!("add {}", right_line(prefix, Key::Stop)),
        ));
    }
    if let Some(count) = spec.replicas
        && count <= spec.stop_replicas
    {
        found.push(ScheduleFinding::on(
            Key::Replicas,
            inputs,
            LintRule::StopNotBelowStart,
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
    for key in spec.overrides.expired_at(span.from) {
        found.push(ScheduleFinding::on(
            key,
            inputs,
            LintRule::PastUntil,
            format!("this {key} is in the past: dayshift removes it at once"),
            "remove it, or write a future time".to_owned(),
        ));
    }
    for it in spec.overrides.inherited.all() {
        let key = it.annotation();
        if it.until().is_some_and(|until| until <= span.from) {
            found.push(ScheduleFinding {
                rule: LintRule::PastUntil,
                name: key.name().into(),
                span: 0..inputs
                    .defaults()
                    .and_then(|defaults| defaults.text(key))
                    .map_or(0, str::len),
                message: format!("this {key} is in the past, and has no effect any more"),
                help: "remove it, or write a future time".to_owned(),
                origin: Origin::Namespace,
                meant: None,
            });
        }
    }
    let zone = spec.schedule.zone();
    let look = ScheduleCheck {
        inputs,
        prefix,
        span,
        zone,
    };
    look.at_all(&spec, &gaps(zone), &mut found);
    found
}

/// Annotations of the object itself that wait for another one. Those of a Namespace may well wait
/// for what is in it.
fn no_effect(inputs: &Inputs, prefix: &Prefix, found: &mut Vec<ScheduleFinding>) {
    let has = |key: &Key| inputs.text(*key).is_some();
    let is_own = |key: &Key| inputs.origin(*key) == Some(Origin::Own);
    for (key, needs) in [
        (
            Key::Timezone,
            &[Key::Start, Key::Stop, Key::Scale, Key::Hours][..],
        ),
        (Key::Replicas, &[Key::Start, Key::Hours]),
        (Key::StopReplicas, &[Key::Stop, Key::Hours]),
        (Key::Jitter, &[Key::Start, Key::Scale, Key::Hours]),
        (Key::Except, &[Key::Start, Key::Scale, Key::Hours]),
        (
            Key::TreatAs,
            &[Key::Start, Key::Stop, Key::Scale, Key::Hours],
        ),
        (Key::After, &[Key::Start, Key::Scale, Key::Hours]),
        (Key::Pause, &[Key::Start, Key::Stop, Key::Scale, Key::Hours]),
        (Key::Enforce, &[Key::Stop, Key::Scale, Key::Hours]),
        (Key::Notice, &[Key::Stop, Key::Scale, Key::Hours]),
        (Key::ReadyWithin, &[Key::Start, Key::Scale, Key::Hours]),
        (Key::StopJobs, &[Key::Stop, Key::Hours]),
        (Key::WakeOnRequest, &[Key::Stop, Key::Scale, Key::Hours]),
        (Key::WakeOnRequestIgnore, &[Key::WakeOnRequest]),
    ] {
        if is_own(&key) && !needs.iter().any(has) {
            let names = needs.iter().map(|key| prefix.annotation(*key));
            let names = names.collect::<Vec<_>>().join(" or ");
            let example = needs.last().copied().unwrap_or(Key::Hours);
            found.push(ScheduleFinding::on(
                key,
                inputs,
                LintRule::NoEffect,
                format!("{} has no effect without {names}", prefix.annotation(key)),
                format!("remove it, or add {}", right_line(prefix, example)),
            ));
        }
    }
}

/// An `allow-volume-deletion` where no volume is deleted, and what is no default on a Namespace.
fn allows_nothing(inputs: &Inputs, prefix: &Prefix, found: &mut Vec<ScheduleFinding>) {
    let mut push = |key: Key, origin: Origin, text: &str, why: &str| {
        let message = format!("{} {why}", prefix.annotation(key));
        let help = "remove it".to_owned();
        found.push(ScheduleFinding {
            origin,
            span: 0..text.len(),
            ..ScheduleFinding::on(key, inputs, LintRule::NoEffect, message, help)
        });
    };
    let key = Key::AllowVolumeDeletion;
    if let Some(text) = inputs.own().text(key)
        && inputs.volumes() != VolumeRetention::Delete
    {
        let why = "has no effect here: scaling down deletes no volume";
        push(key, Origin::Own, text, why);
    }
    for (key, kind) in [(key, "StatefulSet"), (Key::StopJobs, "CronJob")] {
        if let Some(text) = inputs.defaults().and_then(|defaults| defaults.text(key)) {
            let why = format!("is no default: it counts on the {kind} itself alone");
            push(key, Origin::Namespace, text, &why);
        }
    }
}

impl ScheduleCheck<'_> {
    fn at_all(&self, spec: &ScheduleSpec, gaps: &[DstGap], found: &mut Vec<ScheduleFinding>) {
        let except = spec.schedule.except();
        let start = self.parse(Key::Start, Times::parse);
        let stop = self.parse(Key::Stop, Times::parse);
        self.ties(&spec.schedule, found);
        for key in [Key::Start, Key::Stop, Key::Hours, Key::Scale] {
            self.gap(key, gaps, &spec.schedule, found);
        }
        for key in [Key::Start, Key::Stop, Key::Scale] {
            self.too_often(key, found);
            self.either_day(key, found);
        }
        self.one_minute(&spec.schedule, found);
        self.fixed_offset(found);
        self.jitter_beyond_window(spec, found);
        self.never_again(spec, start, stop, found);
        self.past_dates(except, found);
        self.treated(&spec.schedule, found);
        self.calendars(&spec.schedule, found);
    }
}
