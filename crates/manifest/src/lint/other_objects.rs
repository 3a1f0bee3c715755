//! Checks of a workload that depend on other objects: its dependencies, as far as the files show that
//! they can never become ready, and other controllers that set its count (autoscalers, and GitOps tools
//! that revert a count to the one in Git).

use std::{borrow::Cow, collections::BTreeSet};

use dayshift_schedule::list_items;
use dayshift_text::{first_of, quote};
use dayshift_workload::{
    Dependency, DependencyWorkload, IgnoredDependency, Key, Origin, Prefix, Replicas, ScheduleSpec,
    UnsatisfiableDependency, WorkloadRef, other_controllers::OtherController, read,
};

use crate::{
    lint::{
        index::ScalingObject,
        object::{ObjectFindings, OtherCheck, WorkloadCheck},
        rule::{LintFinding, LintRule},
        schedule_finding::{ScheduleFinding, own_line},
    },
    objects::{
        other::{CountPolicy, Delivery, RevertTiming, ScaledBy, ScaledTarget},
        workload::ManifestWorkload,
    },
};

/// Dependencies that the workload itself names. Those of its Namespace are for many workloads.
pub(crate) fn unsatisfiable_dependency(object: &mut ObjectFindings<'_>, check: &WorkloadCheck<'_>) {
    let inputs = &check.workload.inputs;
    if !inputs.is_own(Key::After) {
        return;
    }
    let Some(spec) = spec_of(check, check.workload) else {
        return;
    };
    let text = inputs.text(Key::After).unwrap_or_default();
    let named = spec.after.as_ref().map_or(&[][..], |after| after.named());
    let mut found = Vec::new();
    for (dependency, (span, item)) in named.iter().zip(list_items(text)) {
        if let Some((message, help)) = why_unsatisfiable(check, dependency, &spec, object.prefix) {
            // Without the time limit after the comma.
            let length = item.split(',').next().map_or(0, str::len);
            let rule = LintRule::UnsatisfiableDependency;
            let finding = ScheduleFinding::on(Key::After, inputs, rule, message, help);
            found.push(finding.at(span.start..span.start + length));
        }
    }
    object.add_annotation_findings(&check.workload.annotations, &found);
}

/// The message and help for a dependency that can never become ready.
fn why_unsatisfiable(
    check: &WorkloadCheck<'_>,
    dependency: &Dependency,
    spec: &ScheduleSpec,
    prefix: &Prefix,
) -> Option<(String, String)> {
    let object = &check.workload.object;
    if leads_back(check, dependency, object) {
        let message = match dependency.is(object) {
            true => format!("{dependency} is this object itself: its start does not wait for it"),
            false => format!("{dependency} waits for this one in turn: neither waits"),
        };
        return Some((
            message,
            "remove it, or remove the opposite dependency".to_owned(),
        ));
    }
    let namespace = &*object.namespace;
    if check.index.has_service(namespace, dependency) {
        return None;
    }
    let Some(other) = check.index.workload(namespace, dependency) else {
        return check.index.has_others(dependency, object).then(|| {
            let message = format!("{dependency} is not in these files: no start waits for it");
            let help = format!(
                "check its kind and name, or leave it if it is elsewhere in namespace {namespace}"
            );
            (message, help)
        });
    };
    let parsed = read(&other.inputs, &check.period.context);
    let workload = DependencyWorkload {
        object: &other.object,
        parsed: &parsed,
        replicas: other.replicas,
    };
    let why = spec.unsatisfiable_dependency(object, &workload, check.period.from)?;
    let words = why.words(spec.schedule.zone());
    let waits = match why {
        UnsatisfiableDependency::Stopped(_) => "this start does not wait for it",
        UnsatisfiableDependency::Unscheduled | UnsatisfiableDependency::Overridden(_) => {
            "no start waits for it while it is stopped"
        }
    };
    let ignored = IgnoredDependency {
        needed: dependency.clone(),
        why: Some(why),
    };
    Some((
        format!("{dependency} {words}: {waits}"),
        ignored.fix(prefix),
    ))
}

/// Whether a dependency is the workload itself or depends on it, directly or through others.
fn leads_back(check: &WorkloadCheck<'_>, dependency: &Dependency, object: &WorkloadRef) -> bool {
    dependency.leads_back_to(object, |next| {
        let workload = check.index.workload(&object.namespace, next);
        let waiting = workload.filter(|waiting| waiting.inputs.text(Key::After).is_some());
        let dependencies = waiting.and_then(|waiting| {
            let after = spec_of(check, waiting)?.after?;
            Some(after.needed_by(&waiting.object).to_vec())
        });
        Cow::from(dependencies.unwrap_or_default())
    })
}

fn spec_of(check: &WorkloadCheck<'_>, workload: &ManifestWorkload) -> Option<ScheduleSpec> {
    read(&workload.inputs, &check.period.context).into_spec()
}

/// Objects that scale the workload. The findings are at these objects.
pub(crate) fn autoscaler(object: &mut ObjectFindings<'_>, check: &WorkloadCheck<'_>) {
    let workload = check.workload;
    if !workload.inputs.has_schedule() {
        return;
    }
    if let Some(place) = workload.scale_down_disabled.clone() {
        let message = "a stop lowers minReplicas, but selectPolicy: Disabled keeps this autoscaler \
                       from scaling down: its target stays as it is";
        let help = "remove behavior.scaleDown.selectPolicy, or schedule the target instead";
        object.add(LintRule::Autoscaler, place, message, help);
    }
    for scaling in check.index.scaling_objects(&workload.object) {
        let found = match scaling.target.by {
            ScaledBy::ScaledObject => Some(scaled_object(object, workload, scaling)),
            // An autoscaler does not change a count of 0.
            ScaledBy::Autoscaler | ScaledBy::Rollout if workload.is_kept_at_zero() => None,
            ScaledBy::Autoscaler => hpa(object, workload, scaling),
            ScaledBy::Rollout => Some(rollout(object, workload, scaling)),
        };
        if let Some((message, help)) = found {
            let place = Some((scaling.source, scaling.target.place.clone()));
            let finding = LintFinding::new(LintRule::Autoscaler, place, message, help);
            object
                .findings
                .push(finding.about(Some(object.name.clone())));
        }
    }
}

fn scaled_object(
    object: &ObjectFindings<'_>,
    workload: &ManifestWorkload,
    scaling: &ScalingObject<'_>,
) -> (String, String) {
    let min = scaling.target.min;
    let effect = if min > 0 {
        format!("raises {} to {min} after each stop", object.name)
    } else {
        format!(
            "raises {} after a stop while a trigger is active",
            object.name
        )
    };
    let message = format!("ScaledObject {} {effect}", quote(&scaling.object.name));
    let help = move_schedule(object, workload, "ScaledObject", "scaledobjects")
        + ": a stop then pauses it";
    (message, help)
}

/// A Rollout that references the pod template of the workload and scales the workload down.
fn rollout(
    object: &ObjectFindings<'_>,
    workload: &ManifestWorkload,
    scaling: &ScalingObject<'_>,
) -> (String, String) {
    let message = format!(
        "Rollout {0} runs pods with the template of {1}, and scales {1} down",
        quote(&scaling.object.name),
        object.name
    );
    let help = move_schedule(object, workload, "Rollout", "rollouts.argoproj.io");
    (message, help)
}

/// The help to schedule another object in place of the workload. An inherited schedule cannot be
/// moved, but the other object inherits it too.
fn move_schedule(
    object: &ObjectFindings<'_>,
    workload: &ManifestWorkload,
    other: &str,
    kinds: &str,
) -> String {
    let done = match workload.inputs.schedule_origin() {
        Some(Origin::Team | Origin::Namespace | Origin::Controller) => format!(
            "write {} on the {}: the {other} inherits the same schedule. Run",
            own_line(object.prefix, Key::Exclude, "true"),
            object.name.kind
        ),
        _ => format!("move the schedule to the {other}, and run"),
    };
    format!("{done} dayshift with --kinds=deployments,statefulsets,cronjobs,{kinds}")
}

/// A HorizontalPodAutoscaler; `None` if the schedule suits it.
fn hpa(
    object: &ObjectFindings<'_>,
    workload: &ManifestWorkload,
    scaling: &ScalingObject<'_>,
) -> Option<(String, String)> {
    let (inputs, name) = (&workload.inputs, &object.name);
    let hpa = format!("HorizontalPodAutoscaler {}", scaling.object.name);
    let prefix = object.prefix;
    let replicas = prefix.annotation(Key::Replicas);
    if inputs.text(Key::Scale).is_some() {
        let message = format!(
            "{hpa} scales {name} too: it changes every count above 0 that the schedule sets"
        );
        let help = format!(
            "write {} instead of {}, and {replicas}: \"1\"; the autoscaler does nothing at 0 and \
                takes over from 1",
            prefix.annotation(Key::Hours),
            prefix.annotation(Key::Scale),
        );
        return Some((message, help));
    }
    let stop = inputs.stop_replicas();
    let start = inputs
        .text(Key::Replicas)
        .and_then(|text| Replicas::parse(text).ok());
    let message = match start {
        _ if stop > Replicas::ZERO => {
            format!("{hpa} keeps scaling {name} after a stop, which leaves {stop}")
        }
        Some(count) if allows(scaling.target, count) => return None,
        Some(count) => format!("{hpa} does not let {name} keep the {count} that a start sets"),
        None => format!(
            "{hpa} scales {name} too: a start restores the count that the autoscaler had set at the stop"
        ),
    };
    let help = format!(
        "write {replicas}: \"1\" on the {}, and no {}; the autoscaler does nothing at 0 and \
            takes over from 1",
        name.kind,
        prefix.annotation(Key::StopReplicas)
    );
    Some((message, help))
}

/// Whether an HPA keeps a count that a start sets. It takes over from 1 in any case.
fn allows(target: &ScaledTarget, count: Replicas) -> bool {
    let count = u64::from(count.get());
    count == 1 || count > 0 && (target.min..=target.max.unwrap_or(u64::MAX)).contains(&count)
}

/// Whether a GitOps tool can deliver a workload, as far as the files show. A workload without a
/// count in its manifest has none that could be reverted.
fn may_deliver(delivery: &Delivery, workload: &ManifestWorkload) -> bool {
    let namespace = delivery.namespace.as_deref();
    workload.count_place.is_some()
        && workload.inputs.has_schedule()
        && !workload.unmanaged_by.contains(&delivery.owner)
        && namespace.is_none_or(|namespace| namespace == &*workload.object.namespace)
}

/// A GitOps tool that reverts counts, with one finding for all workloads that it treats alike.
pub(crate) fn reverts_counts(object: &mut ObjectFindings<'_>, check: &OtherCheck<'_>) {
    let Some(delivery) = &check.object.delivers else {
        return;
    };
    let contents = check.index.contents;
    let all = contents.iter().flat_map(|contents| &contents.workloads);
    let delivered: Vec<_> = all
        .filter(|workload| may_deliver(delivery, workload))
        .collect();
    let others = || contents.iter().flat_map(|contents| &contents.others);
    let by_all: Vec<_> = others()
        .filter_map(|other| other.ignored_by_all.as_ref())
        .collect();
    let policy = |workload: &ManifestWorkload| {
        let (kind, name) = (workload.object.kind.clone(), &*workload.object.name);
        delivery.count_policy(&kind, name, &by_all)
    };
    let windows = others().find(|other| {
        let is_project = delivery.project.as_deref() == Some(&*other.name);
        is_project && other.has_sync_windows
    });
    for hidden in [CountPolicy::Reverted, CountPolicy::Hidden] {
        let reverted: Vec<_> = delivered
            .iter()
            .filter(|workload| policy(workload) == hidden)
            .map(|workload| &workload.object)
            .collect();
        if reverted.is_empty() {
            continue;
        }
        let kinds: BTreeSet<_> = reverted.iter().map(|object| object.kind.clone()).collect();
        let kinds: Vec<_> = kinds.into_iter().collect();
        let names: Vec<_> = reverted.iter().map(|object| object.full_name()).collect();
        let when = match (hidden, delivery.timing) {
            (CountPolicy::Hidden, _) => {
                "at each sync: ignoreDifferences hides the change, but a sync for another reason \
                 writes the count in Git"
            }
            (_, RevertTiming::AtOnce) => "as soon as it detects the change",
            (_, RevertTiming::NextSync) => "at each sync",
        };
        let within = windows.map_or(String::new(), |project| {
            format!(
                ", within the sync windows of AppProject {}",
                quote(&project.name)
            )
        });
        let message = format!(
            "{} reverts the count of {} {when}{within}",
            object.name,
            first_of(&names)
        );
        let fix = match (hidden, delivery.owner) {
            (CountPolicy::Hidden, _) => "in the Application, add RespectIgnoreDifferences=true to \
                 spec.syncPolicy.syncOptions"
                .to_owned(),
            (_, owner) => owner.fix(&kinds, object.prefix),
        };
        let help = match delivery.owner {
            OtherController::FluxHelmRelease => fix,
            _ => format!("{fix}, or leave the count out of the files"),
        };
        let place = delivery.place.clone();
        object.add(LintRule::ConflictingManager, place, message, help);
    }
}
