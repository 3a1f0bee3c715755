//! The messages about a requested override: its effect, or why it has none yet.

use std::time::Duration;

use chrono::{DateTime, Utc};
use dayshift_schedule::Zone;
use dayshift_text::quote;
use dayshift_workload::{
    AnnotationChange, Author, CountKind, Kind, Observed, Origin, Override, OverrideCommand, Pause,
    Prefix, Replicas, TEAM_CONFIG_MAP,
    events::{
        Condition, Message, Subject, describe_command, reason_text, specified, sync_help, user_text,
    },
    read,
    time_format::short_time,
    waiting_start,
};

use crate::overrides::{
    AnnotatedWorkload, OverrideRequest, ReplacedOverride, RequestedOverride, SyncedCount,
};

/// The action that a controller carries out for a request, such as `awake until 22:00 CET`.
pub(crate) fn action(annotated: &AnnotatedWorkload, now: DateTime<Utc>) -> String {
    action_text(annotated.command, annotated.zone, now)
}

/// The action for a command, with times in `zone`.
pub fn action_text(command: OverrideCommand, zone: Zone, now: DateTime<Utc>) -> String {
    match command {
        OverrideCommand::Begin(begun) => override_text(begun, zone, now),
        OverrideCommand::BeginClosedSleep(until) => {
            let asleep = override_text(Override::Sleep(until), zone, now);
            format!("{asleep}, and requests do not wake it")
        }
        OverrideCommand::Resume => "resumed".to_owned(),
    }
}

/// For example `awake until 22:00 CET`.
fn override_text(by: Override, zone: Zone, now: DateTime<Utc>) -> String {
    let state = match by {
        Override::Wake(_) => "awake",
        Override::Sleep(_) => "asleep",
        Override::Pause(_) => "paused",
    };
    match by.until() {
        Some(until) => format!("{state} until {}", short_time(until, zone, now)),
        None => state.to_owned(),
    }
}

/// An active override and its author, such as `awake until 05:16 CET by jane (load test)`.
pub(crate) fn active_text(
    active: Override,
    author: &Author,
    zone: Zone,
    now: DateTime<Utc>,
) -> String {
    let active = override_text(active, zone, now);
    let author = match (user_text(author), reason_text(author)) {
        (Some(user), Some(reason)) => format!(" by {user} ({reason})"),
        (Some(user), None) => format!(" by {user}"),
        (None, Some(reason)) if author.is_sync() => format!(" by {reason}"),
        (None, Some(reason)) => format!(" ({reason})"),
        (None, None) => String::new(),
    };
    active + &author
}

/// For example `scaled until 12:00 CET, 3 -> 5`.
pub fn synced_text(scaled: SyncedCount, now: DateTime<Utc>) -> String {
    let until = scaled.until.map_or_else(String::new, |until| {
        format!(" until {}", short_time(until, scaled.zone, now))
    });
    format!("scaled{until}, {} -> {}", scaled.before, scaled.after)
}

/// The result of a request, such as `awake until 22:00 CET, 0 -> 3`, and the next effect of the
/// schedule or the override, unless that is obvious.
pub(crate) fn done_text(
    annotated: &AnnotatedWorkload,
    seen: &Observed,
    request: &OverrideRequest,
) -> String {
    let (before, after) = (annotated.before, seen.replicas);
    let counts = seen.object.kind.counts();
    let [was, is] = [before, after].map(|count| counts.short_text(count));
    let counts = match counts {
        _ if before != after => format!("{was} -> {is}"),
        CountKind::Replicas | CountKind::Exact => format!("replicas {after}"),
        _ => is,
    };
    let outlook = match annotated.command.begun() {
        Some(Override::Pause(Pause::Forever)) => {
            let resume = command("resume", seen, request);
            format!("; dayshift changes nothing until `{resume}`")
        }
        Some(over) => {
            let does = match over {
                Override::Sleep(_) if after > seen.inputs.stop_replicas() => "sleep stops",
                Override::Wake(_) if after == Replicas::ZERO => "wake starts",
                _ => "",
            };
            // Manual changes hold during an override, and a new end does not start a new override.
            if before == after && !does.is_empty() {
                let resume = command("resume", seen, request);
                format!("; a manual change keeps it there: after `{resume}` a {does} it")
            } else {
                String::new()
            }
        }
        None => match annotated.inherited_override {
            Some((origin, by)) => {
                let spec = read(&seen.inputs, &request.context).into_spec();
                let zone = spec.map_or(annotated.zone, |spec| spec.schedule.zone());
                let text = override_text(by, zone, request.now);
                let owner = match origin {
                    Origin::Team => "team",
                    Origin::Own | Origin::Namespace | Origin::Controller => "Namespace",
                };
                format!("; an override of its {owner} is active: {text}")
            }
            None => outlook(seen, request).unwrap_or_default(),
        },
    };
    let replaced = replaced_text(annotated.replaced.as_ref());
    format!(
        "{}, {counts}{replaced}{outlook}",
        action(annotated, request.now)
    )
}

/// For example `; it was awake until 05:16 CET by jane (load test)`, if an override is replaced.
pub fn replaced_text(replaced: Option<&ReplacedOverride>) -> String {
    replaced.map_or_else(String::new, |replaced| format!("; it {}", replaced.text))
}

/// What the schedule will do with an object after a resume.
fn outlook(seen: &Observed, request: &OverrideRequest) -> Option<String> {
    let spec = read(&seen.inputs, &request.context).into_spec()?;
    let now = request.now;
    if let Some(required) = seen.contradicted_action(&spec, now) {
        let message = Message {
            text: format!("; the schedule specifies {}", specified(required)),
            help: Some(sync_help(required, &seen.object, &request.prefix)),
        };
        return Some(message.to_string());
    }
    let next = spec.next_after(&seen.object, seen.started(&spec), now)?;
    let at = short_time(next.at, spec.schedule.zone(), now);
    Some(format!("; next is the {} of {at}", next.action))
}

fn command(command: &str, seen: &Observed, request: &OverrideRequest) -> String {
    let flag = request.prefix.flag();
    format!("dayshift {command} {}{flag}", seen.object.argument())
}

/// Why a controller might not have acted on an object in time.
pub(crate) fn inaction_reason(seen: &Observed, zone: Zone, now: DateTime<Utc>) -> String {
    let state = seen.state();
    if let Some(why) = seen.error.as_deref().and_then(|error| error.lines().next()) {
        return format!("its schedule was rejected before: {why}");
    }
    match state.last.filter(|_| state.phase.is_some()) {
        Some(last) => format!(
            "one did at {}, so it might have stopped since, a start might wait for others \
                (--max-starting), or the API server might reject its patch (kubectl events --for {})",
            short_time(last, zone, now),
            seen.object.argument()
        ),
        None => unobserved_reason(seen),
    }
}

/// For example `its start waits for sts/db until 09:10 CET at most`; `None` if the start does not wait.
pub(crate) fn waits_for(seen: &Observed, request: &OverrideRequest) -> Option<String> {
    seen.phase()?;
    let parsed = read(&seen.inputs, &request.context);
    let spec = parsed.spec()?;
    let waiting = waiting_start(&parsed, seen, Some(request.now), request.now)?;
    let condition = Condition::Waits {
        needed: waiting.needed,
        until: waiting.until,
    };
    let message = condition.message(&Subject {
        object: &seen.object,
        prefix: &request.prefix,
        zone: spec.schedule.zone(),
        now: Some(request.now),
    });
    Some(message.text)
}

/// For example `1 of 3 replicas are ready after 600 s. To see more, run kubectl describe deployment/web
/// -n dev`, with the command in backticks.
pub(crate) fn unready_text(seen: &Observed, limit: Duration) -> String {
    format!(
        "{} after {} s. To see more, run `{}`",
        seen.readiness.text(seen.replicas),
        limit.as_secs(),
        describe_command(&seen.object)
    )
}

/// Why a controller might never have acted on an object.
fn unobserved_reason(seen: &Observed) -> String {
    let object = &seen.object;
    if !Kind::DEFAULT.contains(&object.kind) {
        return format!(
            "none ever has: `dayshift run` watches {} only with --kinds {}",
            object.kind.names_of_all(),
            object.kind.argument()
        );
    }
    let mut why = "none ever has; perhaps no `dayshift run` runs in this cluster".to_owned();
    if seen.inputs.schedule_origin() == Some(Origin::Team) {
        why += &format!(
            ", or it rejects the defaults of the team (kubectl events -n {} --for configmap/{TEAM_CONFIG_MAP})",
            object.namespace
        );
    }
    if seen.inputs.schedule_origin() == Some(Origin::Namespace) {
        why += &format!(
            ", or it rejects the annotations of the Namespace (kubectl events --for namespace/{})",
            object.namespace
        );
    }
    why
}

/// The annotations that were changed after they were written, such as `dayshift/wake-until is gone`;
/// `None` if there are none.
pub(crate) fn changed(
    annotated: &AnnotatedWorkload,
    seen: &Observed,
    prefix: &Prefix,
) -> Option<String> {
    let others = annotated.command.annotations(&seen.inputs, annotated.zone);
    let texts = others.iter().map(|(key, _)| {
        let text = seen.inputs.own().text(*key);
        let is = text.map_or_else(|| "gone".to_owned(), quote);
        format!("{} is {is}", prefix.annotation(*key))
    });
    let texts = texts.collect::<Vec<_>>().join(", ");
    (!texts.is_empty()).then_some(texts)
}

/// The annotations in the format of `kubectl annotate`.
pub fn annotations_text(written: &[AnnotationChange], prefix: &Prefix) -> String {
    let texts = written.iter().map(|(key, text)| match text {
        Some(text) => format!(" {}={text}", prefix.annotation(*key)),
        None => format!(" {}-", prefix.annotation(*key)),
    });
    format!("annotated{}", texts.collect::<String>())
}

/// For example `not woken`.
pub const fn failure_text(requested: &RequestedOverride) -> &'static str {
    match requested {
        RequestedOverride::Wake(_) => "not woken",
        RequestedOverride::Sleep(..) => "not put to sleep",
        RequestedOverride::Pause(_) => "not paused",
        RequestedOverride::Resume => "not resumed",
        RequestedOverride::Sync => "not synced",
        RequestedOverride::Undo(_) => "not undone",
    }
}
