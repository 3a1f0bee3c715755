//! The log lines about all objects together. Counting takes time, so it is done outside the
//! controller's task.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, SecondsFormat, Utc};
use dayshift_manifest::plan::{NamespaceSummary, Period, Planner, StopSummary};
use dayshift_workload::OVERDUE_GRACE;
use tokio::{task::spawn_blocking, time::sleep};
use tracing::dispatcher;

use crate::{
    settings::Settings,
    telemetry::published::{Counts, PublishedObjects},
};

/// How often overdue objects are counted, and only if one may have become overdue: with 100,000
/// objects that takes some milliseconds.
const INTERVAL: Duration = Duration::from_secs(30);

/// How many namespaces one log line names.
const MAX_NAMED: usize = 20;

/// How many days a dry run looks ahead for the next stops, as `dayshift plan` does.
const DAYS_AHEAD: u32 = 7;

/// Logs once that objects are overdue, naming one of them, and once that none is any more; never
/// ends.
pub(crate) async fn log_overdue(objects: Arc<PublishedObjects>) {
    let (mut is_told, mut next) = (false, None);
    loop {
        sleep(INTERVAL).await;
        if !objects.take_changed() && next.is_none_or(|next| objects.now() < next) {
            continue;
        }
        let counted = Arc::clone(&objects);
        let Ok(counts) = spawn_blocking(move || counted.count()).await else {
            return;
        };
        next = counts.next_overdue;
        if let Some((_, first)) = counts.first_overdue.filter(|_| !is_told) {
            is_told = true;
            let object = &first.object;
            tracing::warn!(
                overdue = counts.overdue, kind = %object.kind, %object,
                "not done within {} s of its time; this is said once until nothing is overdue",
                OVERDUE_GRACE.num_seconds()
            );
        } else if counts.overdue == 0 && std::mem::take(&mut is_told) {
            tracing::info!("nothing is overdue any more");
        }
    }
}

/// Logs, after the start, the number of objects and the next boundary; a dry run also logs the next
/// stops.
pub(crate) fn log_ready(
    objects: Arc<PublishedObjects>,
    next: Option<DateTime<Utc>>,
    settings: &Settings,
) {
    let log = dispatcher::get_default(Clone::clone);
    let has_default = settings.default_schedule.is_some();
    let planner = settings.dry_run.then(|| planner(settings, objects.now()));
    spawn_blocking(move || {
        let counts = objects.count();
        dispatcher::with_default(&log, || {
            log_counts(&counts, next, has_default);
            if let Some(planner) = planner.flatten() {
                log_next_stops(&objects.summary(&planner));
            }
        });
    });
}

fn planner(settings: &Settings, now: DateTime<Utc>) -> Option<Planner> {
    let context = settings.parse_context();
    Some(Planner {
        period: Period::days(now, DAYS_AHEAD, context.default_zone).ok()?,
        context,
        prefix: settings.prefix.clone(),
    })
}

/// Logs what a dry run has found, in a line for each namespace.
fn log_next_stops(summary: &StopSummary) {
    let log = |namespace: &str, it: &NamespaceSummary, message: &str| {
        tracing::info!(
            namespace,
            scheduled = it.scheduled,
            next_stop = it.next_stop_text(),
            stops = it.stops,
            replicas = it.replicas,
            lose_volumes = it.lose_volumes,
            refused = it.refused,
            "{message}"
        );
    };
    for (namespace, it) in summary.namespaces() {
        log(namespace, it, "the next stops of a namespace");
    }
    log(
        "(all)",
        &summary.all(),
        "the next stops of all; `dayshift plan -A -o summary` also counts autoscalers, operators \
         and other programs that set counts",
    );
}

fn log_counts(counts: &Counts, next: Option<DateTime<Utc>>, has_default: bool) {
    let next = next.map(|at| at.to_rfc3339_opts(SecondsFormat::Secs, true));
    let (scheduled, invalid) = (counts.scheduled, counts.invalid());
    tracing::info!(scheduled, invalid, next, "ready");
    if has_default {
        let by_default = &counts.by_default;
        let each = by_default.iter().take(MAX_NAMED);
        let each: Vec<_> = each
            .map(|(name, count)| format!("{name} ({count})"))
            .collect();
        tracing::info!(
            objects = by_default.values().sum::<usize>(),
            namespaces = by_default.len(),
            "by the default schedule: {}{}",
            each.join(", "),
            if by_default.len() > MAX_NAMED {
                ", …"
            } else {
                ""
            }
        );
    }
}
