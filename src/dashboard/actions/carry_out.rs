//! From what a form asks for to what is done.

use std::collections::HashMap;

use chrono::TimeDelta;
use kube::Client;

use super::{
    form::Form,
    plan::{Asked, Plan, Planned, PlannedChange},
};
use crate::{
    cluster::{NamespaceDefaults, Query},
    dashboard::{
        settings::Settings,
        view::{Row, View},
    },
    operations::{
        OverrideRequest, RequestOutcome, RequestedOverride, Said, Selection, action_of,
        annotations, failed, scaled,
    },
    text::counted,
    workload::OverrideCommand,
};

/// So long is waited for a controller, as the commands do.
const PATIENCE: TimeDelta = TimeDelta::seconds(10);
/// Watches for so few are cheaper than one for all.
const FEW: usize = 8;

/// The workloads of a form as they are now, and those that are not there.
pub(super) fn selected(
    form: &Form,
    view: &View,
    defaults: NamespaceDefaults,
    settings: &Settings,
) -> (Selection, Vec<String>) {
    let rows = view.rows.iter();
    let known: HashMap<String, &Row> = rows.map(|row| (row.form_name(), row)).collect();
    let mut rows = Vec::new();
    let mut missing = Vec::new();
    for wanted in &form.objects {
        match known.get(wanted) {
            Some(row) => rows.push(*row),
            None => missing.push(format!("{wanted}: it is gone, or has no schedule any more")),
        }
    }
    let selection = Selection {
        query: query(&rows, settings),
        observed: rows.iter().map(|row| row.observed.clone()).collect(),
        missing: Vec::new(),
        unreadable: Vec::new(),
        defaults,
    };
    (selection, missing)
}

/// Where these are watched.
fn query(rows: &[&Row], settings: &Settings) -> Query {
    let mut objects = rows.iter().map(|row| &row.status.object);
    let Some(first) = objects.next() else {
        return settings.query.clone();
    };
    if rows.len() > FEW || objects.any(|it| it.namespace != first.namespace) {
        return of_their_kinds(rows, settings);
    }
    let names = rows.iter().map(|row| &row.status.object);
    Query::Named {
        namespace: first.namespace.to_string(),
        names: names.map(|it| (it.kind, it.name.to_string())).collect(),
    }
}

/// All that is looked at, of these kinds alone: others may be forbidden.
fn of_their_kinds(rows: &[&Row], settings: &Settings) -> Query {
    let mut query = settings.query.clone();
    if let Query::All { kinds, .. } = &mut query {
        kinds.retain(|kind| rows.iter().any(|it| it.status.object.kind == *kind));
    }
    query
}

/// What finds the workloads of a namespace.
fn of_namespace(name: &str, settings: &Settings) -> Query {
    let kinds = match &settings.query {
        Query::All { kinds, .. } => kinds.clone(),
        Query::Named { .. } => Vec::new(),
    };
    Query::All {
        kinds,
        namespace: Some(name.to_owned()),
        selector: None,
    }
}

/// What would be done. Nothing is written.
pub(super) async fn planned(client: &Client, settings: &Settings, asked: &Asked) -> Planned {
    let request = &asked.request;
    let dry = OverrideRequest {
        dry_run: true,
        ..request.clone()
    };
    let not = failed(&request.requested);
    let end = |command: OverrideCommand| match command {
        OverrideCommand::Begin(over) => over.until(),
        OverrideCommand::Resume => None,
    };
    let mut changes = Vec::new();
    let mut others = asked.missing.clone();
    let mut ends = Vec::new();
    dry.send(client, &asked.selection, |observed, answer| {
        let name = observed.object.to_string();
        match answer {
            Ok(RequestOutcome::Annotated(it)) => {
                let what = action_of(it.command, it.zone, request.now);
                let texts = annotations(&it.annotations, &request.prefix);
                ends.extend(end(it.command));
                changes.push(PlannedChange {
                    object: name,
                    outcome: what,
                    written: texts,
                });
            }
            Ok(RequestOutcome::Scaled(it)) => {
                ends.extend(it.until);
                changes.push(PlannedChange {
                    object: name,
                    outcome: scaled(it, request.now),
                    written: format!("scale --replicas={}", it.after),
                });
            }
            Ok(RequestOutcome::Unchanged) => others.push(format!("{name}: unchanged")),
            Err(error) => others.push(format!("{name}: {not}: {error}")),
        }
    })
    .await;
    for namespace in &asked.namespaces {
        let name = format!("namespace/{namespace}");
        let query = of_namespace(namespace, settings);
        match dry.send_to_namespace(client, namespace, &query).await {
            Ok(it) => {
                let what = action_of(it.command, it.zone, request.now);
                let all = counted(it.affected.len(), "workload");
                let kept = it.kept_text();
                ends.extend(end(it.command));
                let texts = annotations(&it.annotations, &request.prefix);
                others.extend(it.unreadable.iter().map(|it| format!("{name}: {it}")));
                changes.push(PlannedChange {
                    object: name,
                    outcome: format!("{what}: {all}{kept}"),
                    written: texts,
                });
            }
            Err(error) => others.push(format!("{name}: {not}: {error}")),
        }
    }
    Planned {
        changes,
        others,
        ends: ends.into_iter().min(),
    }
}

/// Carries a plan out, and notes what comes of it.
pub(super) async fn carry_out(client: &Client, settings: &Settings, plan: &Plan) {
    let mut tell = |said| plan.tell(said);
    let (request, selection) = (&plan.asked.request, &plan.asked.selection);
    if !selection.observed.is_empty() {
        request
            .carry_out(client, selection, Some(PATIENCE), &mut tell)
            .await;
    }
    for namespace in &plan.asked.namespaces {
        let query = of_namespace(namespace, settings);
        let done =
            request.carry_out_in_namespace(client, namespace, &query, Some(PATIENCE), &mut tell);
        if let Err(error) = done.await {
            tell(Said::Failed {
                text: format!("namespace/{namespace}: {error}"),
                is_refusal: false,
            });
        }
    }
    plan.end();
}

/// What a page calls it, such as `Put to sleep`.
pub(in crate::dashboard) const fn verb(requested: &RequestedOverride) -> &'static str {
    match requested {
        RequestedOverride::Wake(_) => "Wake",
        RequestedOverride::Sleep(_) => "Put to sleep",
        RequestedOverride::Pause(_) => "Pause",
        RequestedOverride::Resume => "Resume",
        RequestedOverride::Sync => "Sync",
    }
}
