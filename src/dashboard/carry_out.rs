//! Previews and carries out the actions of forms, a few at a time.

use std::{
    collections::{HashMap, HashSet},
    convert::Infallible,
    sync::Arc,
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::{
    Query,
    decode::WithManagers,
    read::{FindError, NamespaceDefaults, find, may_patch_namespace},
};
use dayshift_operations::{
    DefaultsOwner, OverrideReport, OverrideRequest, RequestOutcome, RequestedOverride, Restore,
    SelectedWorkload, Selection, Shorten, action_text, annotations_text, changed_since,
    gitops_manager, replaced_text, status::distance, synced_text,
};
use dayshift_text::counted;
use dayshift_workload::{
    Job, Key, Observed, Override, OverrideCommand, ParsedInputs, Replicas, WorkloadRef,
};
use futures::{StreamExt as _, stream::FuturesUnordered};
use kube::Client;
use tokio::time::sleep;

use crate::dashboard::{
    form::ActionForm,
    permissions::{Permissions, Verb, kinds_of, patchable_by_name, places},
    plan::{
        ActionJob, ActionPlan, ActionRequest, Actions, ChangeSubject, Operation, PlanProgress,
        Preview, PreviewedChange, PreviewedEdit, ScheduleRequest,
    },
    source::Dashboard,
    view::{Row, Settings, View},
};

/// How long to wait for a controller. The commands wait as long.
const PATIENCE: TimeDelta = TimeDelta::seconds(10);
/// Up to this number, workloads are watched individually, which is cheaper than one watch of all.
const FEW: usize = 8;

/// The current workloads of a form, without Namespace defaults, and an error for each that is missing.
pub(crate) fn selected(
    form: &ActionForm,
    view: &View,
    settings: &Settings,
) -> (Selection, Vec<String>) {
    let mut rows = Vec::new();
    let mut missing = Vec::new();
    for wanted in &form.objects {
        match view.named(wanted) {
            Some(row) => rows.push(row),
            None => missing.push(format!(
                "{wanted}: it no longer exists, or no longer has a schedule"
            )),
        }
    }
    let selection = Selection {
        query: query(&rows, view, settings),
        workloads: rows.iter().map(|row| row.selected()).collect(),
        missing: Vec::new(),
        unreadable: Vec::new(),
        defaults: NamespaceDefaults::default(),
        is_previewed: false,
    };
    (selection, missing)
}

/// The namespaces of a form that this user sees, and an error for each other one: a form can contain any
/// name.
pub(crate) fn namespaces(form: &ActionForm, view: &View) -> (Vec<String>, Vec<String>) {
    let is_shown = |name: &&String| {
        let mut rows = view.rows.iter();
        rows.any(|row| *row.status.object.namespace == **name)
    };
    let (shown, others): (Vec<&String>, Vec<&String>) = form.namespaces.iter().partition(is_shown);
    let not_shown = |name: &String| format!("namespace/{name}: it has no visible workload");
    let others = others.into_iter().map(not_shown).collect();
    (shown.into_iter().cloned().collect(), others)
}

/// The query that watches these workloads. A user who sees only a part may not watch all namespaces.
fn query(rows: &[&Row], view: &View, settings: &Settings) -> Query {
    let mut objects = rows.iter().map(|row| &row.status.object);
    let Some(first) = objects.next() else {
        return settings.query.clone();
    };
    if rows.len() > FEW || objects.any(|object| object.namespace != first.namespace) {
        let all = query_for_kinds(rows, settings);
        if !view.is_partial {
            return all;
        }
        let names = rows
            .iter()
            .map(|row| row.status.object.namespace.to_string());
        let selector = all.selector().map(str::to_owned);
        let names: Vec<_> = names.collect();
        return Query::all(&all.kinds(), &names, selector).reading(&settings.prefix);
    }
    let names = rows.iter().map(|row| &row.status.object);
    let names = names.map(|object| (object.kind.clone(), object.name.to_string()));
    Query::named(&first.namespace, names).reading(&settings.prefix)
}

/// Restricts the query to the kinds of these rows, because other kinds might be forbidden.
fn query_for_kinds(rows: &[&Row], settings: &Settings) -> Query {
    let objects = rows.iter().map(|row| &row.status.object);
    settings
        .query
        .only(|part| objects.clone().any(|object| object.kind == part.kind))
}

fn namespace_query(name: &str, settings: &Settings) -> Query {
    Query::all(&settings.query.kinds(), &[name.to_owned()], None).reading(&settings.prefix)
}

/// Previews an action with a dry run. It writes nothing.
pub(crate) async fn planned(settings: &Settings, asked: &ActionRequest) -> Preview {
    let mut planned = Preview {
        others: asked.missing.clone(),
        ..Preview::default()
    };
    match &asked.operation {
        Operation::Override(request) => {
            plan_override(settings, asked, request, &mut planned).await;
        }
        Operation::Restore(restore) => plan_restore(asked, restore, &mut planned).await,
        Operation::Schedule(request) => plan_schedule(asked, request, &mut planned).await,
    }
    predict_denials(&asked.client, &mut planned).await;
    planned
}

async fn plan_override(
    settings: &Settings,
    asked: &ActionRequest,
    request: &OverrideRequest,
    planned: &mut Preview,
) {
    let client = &asked.client;
    // The preview shows all overrides that would end earlier, and the user decides about them.
    let dry = OverrideRequest {
        dry_run: true,
        shorten: Shorten::Allowed,
        ..request.clone()
    };
    let not = asked.operation.failure();
    let end = |command: OverrideCommand| command.begun().and_then(Override::until);
    let distance_to = |end: Option<DateTime<Utc>>| {
        end.map_or_else(String::new, |end| {
            format!(", {}", distance(end, request.now))
        })
    };
    dry.send(client, &asked.selection, |before, answer| {
        let observed = &before.observed;
        let name = || observed.object.to_string();
        let parsed = before.parsed.as_deref();
        let mut counts = parsed.and_then(|parsed| counts_after(observed, parsed, request));
        let mut change = match answer {
            Ok(RequestOutcome::Annotated(outcome)) => {
                let text = action_text(outcome.command, outcome.zone, request.now)
                    + &distance_to(end(outcome.command))
                    + &replaced_text(outcome.replaced.as_ref());
                let written = annotations_text(&outcome.annotations, &request.prefix);
                PreviewedChange {
                    replaced: outcome.replaced,
                    until: end(outcome.command),
                    ..PreviewedChange::of_workload(observed, text, written)
                }
            }
            Ok(RequestOutcome::Scaled(outcome)) => {
                counts = Some((outcome.before, outcome.after));
                let text = synced_text(outcome, request.now);
                let written = format!("scale --replicas={}", outcome.after);
                PreviewedChange {
                    until: outcome.until,
                    ..PreviewedChange::of_workload(observed, text, written)
                }
            }
            Ok(RequestOutcome::Unchanged) => {
                planned.others.push(format!("{}: unchanged", name()));
                return;
            }
            Err(error) => {
                planned.others.push(format!("{}: {not}: {error}", name()));
                return;
            }
        };
        change.counts = counts;
        if let Some(counts) = counts {
            change.count(observed, counts);
        }
        if let Some(after) = observed.inputs.text(Key::After)
            && asked.operation.is_start()
        {
            change.outcome += &format!("; it starts after {after}");
        }
        planned.changes.push(change);
    })
    .await;
    for namespace in &asked.namespaces {
        let name = format!("namespace/{namespace}");
        let query = namespace_query(namespace, settings);
        let target = (DefaultsOwner::Namespace, &**namespace);
        match dry.send_to_namespace(client, target, &query, None).await {
            Ok(outcome) => {
                let what = action_text(outcome.command, outcome.zone, request.now);
                let all = counted(outcome.affected.len(), "workload");
                let replaced = replaced_text(outcome.replaced.as_ref());
                let kept = outcome.kept_text(namespace);
                let unreadable = outcome.unreadable.iter();
                planned
                    .others
                    .extend(unreadable.map(|problem| format!("{name}: {problem}")));
                let until = end(outcome.command);
                let distance = distance_to(until);
                let text = format!("{what}{distance}: {all}{replaced}{kept}");
                let written = annotations_text(&outcome.annotations, &request.prefix);
                let affected = outcome.affected.iter().map(|workload| &workload.now);
                let counts = affected.filter_map(|now| {
                    let parsed = now.read(&request.context);
                    Some((now.clone(), counts_after(now, &parsed, request)?))
                });
                let counts: Vec<_> = counts.collect();
                let replaced = outcome.replaced.clone();
                let mut change = PreviewedChange {
                    replaced,
                    until,
                    ..PreviewedChange::of_namespace(namespace, outcome, text, written)
                };
                for (observed, counts) in counts {
                    change.count(&observed, counts);
                }
                planned.changes.push(change);
            }
            Err(error) => planned.others.push(format!("{name}: {not}: {error}")),
        }
    }
}

async fn plan_restore(asked: &ActionRequest, restore: &Restore, planned: &mut Preview) {
    let dry = Restore {
        dry_run: true,
        ..restore.clone()
    };
    let not = asked.operation.failure();
    dry.restore(&asked.client, &asked.selection, |observed, answer| {
        let name = &observed.object;
        match answer {
            Ok(Some((before, after))) => {
                let text = match observed.inputs.has_schedule() {
                    true => "restored; a controller acts again at the next boundary",
                    false => "restored",
                };
                let written = format!("scale --replicas={after}");
                let mut change = PreviewedChange::of_workload(observed, text.to_owned(), written);
                if observed.footprint.replicas > 0 {
                    change.counts = Some((before, after));
                    change.count(observed, (before, after));
                }
                planned.changes.push(change);
            }
            Ok(None) => planned.others.push(format!("{name}: nothing to restore")),
            Err(error) => planned.others.push(format!("{name}: {not}: {error}")),
        }
    })
    .await;
}

/// Previews the edited schedule of the one selected workload. If a GitOps program manages the workload,
/// there is no change to confirm, because the next sync would remove it.
async fn plan_schedule(asked: &ActionRequest, request: &ScheduleRequest, planned: &mut Preview) {
    let Some(selected) = asked.selection.workloads.first() else {
        return;
    };
    let mut observed = Arc::clone(&selected.observed);
    let name = observed.object.to_string();
    let managed_by = match find::<WithManagers>(&asked.client, &asked.selection.query).await {
        Ok((found, _)) => match &*found {
            [(kind, managed)] => {
                // The view might not show the last confirmed edit yet.
                let current = managed.workload.observe(kind, &request.prefix);
                observed = Arc::new(asked.selection.defaults.applied(current));
                Ok(gitops_manager(&observed, managed))
            }
            _ => Err("it no longer exists".to_owned()),
        },
        Err(error) => Err(error.to_string()),
    };
    let workload = request.edit.edited(&observed);
    match &managed_by {
        Err(error) => planned
            .others
            .push(format!("{name}: not scheduled: {error}")),
        Ok(None) if !workload.changes.is_empty() => {
            let written = annotations_text(&workload.changes, &request.prefix);
            let text = "the new schedule".to_owned();
            let change = PreviewedChange::of_workload(&observed, text, written);
            planned.changes.push(change);
        }
        Ok(_) => {}
    }
    planned.edit = Some(PreviewedEdit {
        workload,
        managed_by: managed_by.ok().flatten(),
    });
}

/// The maximum number of workloads whose permission is reviewed by name.
const MAX_NAMED: usize = 100;

/// Moves the changes that the API server will deny out of the preview. If their permissions cannot be
/// checked, changes stay in it.
async fn predict_denials(client: &Client, planned: &mut Preview) {
    let objects = planned.changes.iter().filter_map(PreviewedChange::workload);
    let objects: Vec<WorkloadRef> = objects.cloned().collect();
    let denied = denied(client, objects).await.unwrap_or_default();
    let mut allowed = Vec::new();
    for change in std::mem::take(&mut planned.changes) {
        let (is_denied, namespace) = match &change.subject {
            ChangeSubject::Workload(observed) => {
                let object = &observed.object;
                (denied.contains(object), Arc::clone(&object.namespace))
            }
            ChangeSubject::Namespace(name, _) => {
                let may = may_patch_namespace(client, name).await;
                (may == Ok(false), Arc::from(&**name))
            }
        };
        if is_denied {
            let names = planned.denied.entry(namespace).or_default();
            names.push(change.name());
        } else {
            allowed.push(change);
        }
    }
    planned.changes = allowed;
}

/// The objects that the user may not patch.
async fn denied(
    client: &Client,
    objects: Vec<WorkloadRef>,
) -> Result<HashSet<WorkloadRef>, FindError> {
    let places = places(objects.iter());
    let patchable = Permissions::ask(client, Verb::Patch, &kinds_of(&places), places).await?;
    let mut others = objects;
    others.retain(|object| !patchable.includes(object));
    let rest = others.split_off(others.len().min(MAX_NAMED));
    let named = patchable_by_name(client, others.clone()).await?;
    // A user with a permission for some names might have it for others too.
    let has_named =
        |object: &WorkloadRef| named.iter().any(|one| one.namespace == object.namespace);
    let not_named = others.into_iter().filter(|object| !named.contains(object));
    let rest = rest.into_iter().filter(|object| !has_named(object));
    Ok(not_named.chain(rest).collect())
}

/// The number of replicas before and after an override; `None` if either is unknown, or if the workload has
/// no number of replicas.
fn counts_after(
    observed: &Observed,
    parsed: &ParsedInputs,
    request: &OverrideRequest,
) -> Option<(Replicas, Replicas)> {
    if observed.footprint.replicas == 0 {
        return None;
    }
    let spec = parsed.spec()?;
    let seen = observed.replicas;
    let remembered = observed.remembered();
    let is_manual_zero = seen == Replicas::ZERO && remembered == Some(Replicas::ZERO);
    let after = match request.requested {
        // Only the controller knows which count it has observed running.
        RequestedOverride::Wake(_) if is_manual_zero && spec.replicas.is_none() => return None,
        RequestedOverride::Wake(_) => spec.count_after_start(seen, remembered),
        RequestedOverride::Sleep(..) => seen.min(spec.stop_replicas),
        RequestedOverride::Pause(_) => seen,
        RequestedOverride::Resume | RequestedOverride::Sync | RequestedOverride::Undo(_) => {
            return None;
        }
    };
    Some((seen, after))
}

/// Carries out a plan and records the results. A workload is skipped if it no longer matches its preview, in
/// `view` or at the time of the write, or if the user did not confirm that its override ends earlier.
pub(crate) async fn carry_out(settings: &Settings, plan: &ActionPlan, view: &View) {
    let mut tell = |said| plan.tell(said);
    let (client, operation) = (&plan.asked.client, &plan.asked.operation);
    let shorten = plan.progress().shorten;
    let not = operation.failure();
    let mut selection = Selection {
        is_previewed: true,
        workloads: Vec::new(),
        ..plan.asked.selection.clone()
    };
    let rows = view.rows.iter().map(|row| &**row);
    let known: HashMap<&WorkloadRef, &Row> = rows.map(|row| (&row.status.object, row)).collect();
    let mut namespaces = Vec::new();
    for change in &plan.planned.changes {
        if let Some(replaced) = change.replaced.as_ref()
            && !change.is_allowed(shorten)
        {
            let name = match change.workload() {
                Some(object) => selection.subject(object),
                None => change.name(),
            };
            let text = format!("{name}: {not}: it {}", replaced.text);
            tell(OverrideReport::Done(text));
            continue;
        }
        let before = match &change.subject {
            ChangeSubject::Workload(observed) => observed,
            ChangeSubject::Namespace(name, annotated) => {
                namespaces.push((name, annotated));
                continue;
            }
        };
        let now = known.get(&before.object).map(|row| &row.observed);
        match now.map(|now| changed_since(before, now, &settings.prefix)) {
            Some(Err(changed)) => {
                let subject = selection.subject(&before.object);
                let text = format!("{subject}: {not}: {changed}");
                tell(OverrideReport::Failed {
                    text,
                    is_refusal: true,
                });
            }
            _ => selection.workloads.push(SelectedWorkload {
                observed: Arc::clone(before),
                parsed: None,
            }),
        }
    }
    match operation {
        Operation::Override(request) => {
            let request = OverrideRequest {
                shorten,
                ..request.clone()
            };
            if !selection.workloads.is_empty() {
                request
                    .carry_out(client, &selection, Some(PATIENCE), &mut tell)
                    .await;
            }
            for (namespace, previewed) in namespaces {
                let query = namespace_query(namespace, settings);
                let done = request.carry_out_in_namespace(
                    client,
                    (DefaultsOwner::Namespace, namespace),
                    &query,
                    Some(previewed),
                    Some(PATIENCE),
                    &mut tell,
                );
                if let Err(error) = done.await {
                    tell(OverrideReport::Failed {
                        text: format!("namespace/{namespace}: {error}"),
                        is_refusal: false,
                    });
                }
            }
        }
        Operation::Restore(restore) => {
            restore_each(restore, client, &selection, &mut tell).await;
        }
        Operation::Schedule(request) => {
            for SelectedWorkload { observed, .. } in &selection.workloads {
                let subject = selection.subject(&observed.object);
                let edited = request.edit.edited(observed);
                let text = annotations_text(&edited.changes, &request.prefix);
                tell(match edited.write(client, &request.prefix).await {
                    Ok(()) => OverrideReport::Done(format!("{subject} {text}")),
                    Err(error) => OverrideReport::Failed {
                        text: format!("{subject}: {not}: {error}"),
                        is_refusal: error.is_retriable(),
                    },
                });
            }
        }
    }
}

/// Restores workloads and the suspended Jobs of CronJobs, and reports each in the words of the command.
async fn restore_each(
    restore: &Restore,
    client: &Client,
    selection: &Selection,
    tell: &mut (impl FnMut(OverrideReport) + Send),
) {
    restore
        .restore(client, selection, |observed, answer| {
            let subject = selection.subject(&observed.object);
            tell(match answer {
                Ok(Some((before, after))) => {
                    let counts = observed.object.kind.counts();
                    let [before, after] = [before, after].map(|count| counts.short_text(count));
                    OverrideReport::Done(format!("{subject} restored, {before} -> {after}"))
                }
                Ok(None) => OverrideReport::Done(format!("{subject} unchanged")),
                Err(error) => OverrideReport::Failed {
                    text: format!("{subject}: not restored: {error}"),
                    is_refusal: error.is_refusal(),
                },
            });
        })
        .await;
    restore
        .resume_jobs(client, selection, |namespace, job, answer| {
            let named = |job: &Job| selection.placed(format!("job.batch/{}", job.name), namespace);
            match (job, answer) {
                (Some(job), Ok(())) => {
                    tell(OverrideReport::Done(format!("{} resumed", named(job))));
                }
                (None, Ok(())) => {}
                (job, Err(error)) => {
                    let subject = job.map_or_else(|| format!("Jobs in {namespace}"), named);
                    tell(OverrideReport::Failed {
                        text: format!("{subject}: not resumed: {error}"),
                        is_refusal: false,
                    });
                }
            }
        })
        .await;
}

/// How many jobs run at the same time. Others wait.
const MAX_RUNNING: usize = 4;

impl Actions {
    /// Runs the queued jobs for as long as it is polled.
    pub(crate) async fn work(&self, dashboard: &Dashboard) -> Infallible {
        let Some(mut jobs) = self.jobs.take() else {
            return std::future::pending().await;
        };
        let mut under_way = FuturesUnordered::new();
        loop {
            tokio::select! {
                Some(job) = jobs.recv(), if under_way.len() < MAX_RUNNING => {
                    under_way.push(done(dashboard, job));
                }
                Some(()) = under_way.next() => {}
            }
        }
    }
}

/// Runs a job to its end.
async fn done(dashboard: &Dashboard, job: ActionJob) {
    let settings = &dashboard.settings;
    match job {
        // A browser that has closed the page needs no response, and its preview would delay others.
        ActionJob::Plan(asked, mut answer, _permit) => tokio::select! {
            () = answer.closed() => {}
            planned = planned(settings, &asked) => drop(answer.send(planned)),
        },
        ActionJob::CarryOut(plan, view, _permit) => {
            carry_out(settings, &plan, &view).await;
            until_shown(dashboard, &plan).await;
            plan.end();
        }
    }
}

/// How long to wait until the pages show a change, and the pause before they are checked again.
const SHOWN_WITHIN: Duration = Duration::from_secs(2);
const FIRST_PAUSE: Duration = Duration::from_millis(20);

/// Waits until the pages show the changes of a plan. Otherwise, a preview that is opened at once would differ from
/// the workloads when it is confirmed.
async fn until_shown(dashboard: &Dashboard, plan: &ActionPlan) {
    let PlanProgress { shorten, lines, .. } = plan.progress();
    let failed = lines.iter().filter(|line| line.is_error).count();
    let changes = plan.planned.changes.iter();
    let changes = changes.filter(|change| change.is_allowed(shorten));
    let before: Vec<&Observed> = changes.flat_map(PreviewedChange::observed).collect();
    let (mut waited, mut pause) = (Duration::ZERO, FIRST_PAUSE);
    while waited < SHOWN_WITHIN {
        let view = dashboard.view().await;
        let rows = view.rows.iter().map(|row| &*row.observed);
        let now: HashMap<&WorkloadRef, &Observed> =
            rows.map(|observed| (&observed.object, observed)).collect();
        let is_unchanged = |before: &&&Observed| now.get(&before.object) == Some(*before);
        if before.iter().filter(is_unchanged).count() <= failed {
            return;
        }
        sleep(pause).await;
        waited += pause;
        pause *= 2;
    }
}
