//! What is said of an override that was requested.

use chrono::{DateTime, Utc};

use super::time_format::clock;
use crate::{
    operations::{Annotated, RequestedOverride},
    workload::{Observed, OverrideCommand, Prefix},
};

/// What a controller does, such as `woken until 22:00 CET`.
pub(crate) fn action(annotated: &Annotated, now: DateTime<Utc>) -> String {
    let OverrideCommand::Begin(begun) = annotated.command else {
        return "resumed".to_owned();
    };
    match begun.until() {
        Some(until) => format!(
            "{} until {}",
            begun.phase(),
            clock(until, annotated.zone, now)
        ),
        None => begun.phase().to_string(),
    }
}

/// `woken until 22:00 CET, 0 -> 3`.
pub(crate) fn obeyed(annotated: &Annotated, seen: &Observed, now: DateTime<Utc>) -> String {
    let (before, after) = (annotated.before, seen.replicas);
    let counts = if before == after {
        format!("replicas {after}")
    } else {
        format!("{before} -> {after}")
    };
    format!("{}, {counts}", action(annotated, now))
}

/// What was or would be written, in the form of `kubectl annotate`.
pub(crate) fn annotations(annotated: &Annotated, prefix: &Prefix) -> String {
    let texts = annotated.annotations.iter().map(|(key, text)| match text {
        Some(text) => format!(" {}={text}", prefix.annotation(*key)),
        None => format!(" {}-", prefix.annotation(*key)),
    });
    format!("annotated{}", texts.collect::<String>())
}

/// `not woken`.
pub(crate) const fn failed(requested: &RequestedOverride) -> &'static str {
    match requested {
        RequestedOverride::Wake(_) => "not woken",
        RequestedOverride::Sleep(_) => "not put to sleep",
        RequestedOverride::Pause(_) => "not paused",
        RequestedOverride::Resume => "not resumed",
    }
}
