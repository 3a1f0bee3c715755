//! The log lines about all objects: the summary after the start, and overdue workloads. They are
//! computed on other threads, so the controller does not wait for them.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use chrono::{DateTime, SecondsFormat, Utc};
use dayshift_manifest::plan::{NamespaceSummary, Period, Planner, StopSummary};
use dayshift_workload::OVERDUE_GRACE;
use tokio::{task::spawn_blocking, time::sleep};
use tracing::dispatcher;

use crate::{
    settings::Settings,
    telemetry::{
        published::PublishedObjects,
        states::{Count, States},
    },
};

/// How often overdue objects are logged.
const INTERVAL: Duration = Duration::from_secs(30);

/// The maximum number of namespaces in one log line.
const MAX_NAMED: usize = 20;

/// The number of days in which a dry run searches for the next stops, as `dayshift plan` does.
const DAYS_AHEAD: u32 = 7;

/// Logs a warning when objects become overdue, with one of them as an example, and a line when no
/// object is overdue anymore. Never ends.
pub(crate) async fn log_overdue(objects: Arc<PublishedObjects>) {
    let mut is_logged = false;
    loop {
        sleep(INTERVAL).await;
        let late = if objects.has_due_checks() {
            let checked = Arc::clone(&objects);
            match spawn_blocking(move || checked.late()).await {
                Ok(late) => late,
                Err(_) => return,
            }
        } else {
            objects.late()
        };
        if let Some(first) = late.first_overdue.filter(|_| !is_logged) {
            is_logged = true;
            let object = &first.object;
            tracing::warn!(
                overdue = late.overdue, kind = %object.kind, %object,
                "not done within {} s of its time; this is logged once until nothing is overdue",
                OVERDUE_GRACE.num_seconds()
            );
        } else if late.overdue == 0 && std::mem::take(&mut is_logged) {
            tracing::info!("no workload is overdue anymore");
        }
    }
}

/// Logs that the controller is ready, the number of workloads and the next boundary. A dry run also
/// logs the next stops.
pub(crate) fn log_ready(
    objects: Arc<PublishedObjects>,
    next: Option<DateTime<Utc>>,
    settings: &Settings,
) {
    let log = dispatcher::get_default(Clone::clone);
    let has_default = settings.default_schedule.is_some();
    let planner = settings.dry_run.then(|| planner(settings, objects.now()));
    spawn_blocking(move || {
        let states = objects.states();
        dispatcher::with_default(&log, || {
            log_counts(&states, next, has_default);
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

/// Logs the next stops, in a line for each namespace and one for all.
fn log_next_stops(summary: &StopSummary) {
    let log = |namespace: &str, stops: &NamespaceSummary, message: &str| {
        tracing::info!(
            namespace,
            scheduled = stops.scheduled,
            next_stop = stops.next_stop_text(),
            stops = stops.stops,
            replicas = stops.replicas,
            lose_volumes = stops.lose_volumes,
            refused = stops.refused,
            "{message}"
        );
    };
    for (namespace, stops) in summary.namespaces() {
        log(namespace, stops, "the next stops of a namespace");
    }
    log(
        "(all)",
        &summary.all(),
        "the next stops of all; `dayshift plan -A -o summary` also counts autoscalers, operators \
         and other programs that set counts",
    );
}

fn log_counts(states: &BTreeMap<Arc<str>, States>, next: Option<DateTime<Utc>>, has_default: bool) {
    let next = next.map(|at| at.to_rfc3339_opts(SecondsFormat::Secs, true));
    let mut all = States::default();
    states.values().for_each(|states| all += states);
    let (scheduled, invalid) = (all.get(Count::Scheduled), all.get(Count::Invalid));
    tracing::info!(scheduled, invalid, next, "ready");
    if has_default {
        let by_default = states.iter();
        let by_default = by_default.map(|(name, states)| (name, states.get(Count::ByDefault)));
        let by_default: Vec<_> = by_default.filter(|(_, count)| *count > 0).collect();
        let each = by_default.iter().take(MAX_NAMED);
        let each: Vec<_> = each
            .map(|(name, count)| format!("{name} ({count})"))
            .collect();
        tracing::info!(
            objects = all.get(Count::ByDefault),
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
