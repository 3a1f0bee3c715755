//! Dependencies of a workload that can never become ready, as far as the files show.

use std::borrow::Cow;

use dayshift_schedule::list_items;
use dayshift_workload::{
    Dependency, DependencyWorkload, IgnoredDependency, Key, Prefix, ScheduleSpec,
    UnsatisfiableDependency, WorkloadRef, read,
};

use crate::{
    lint::{
        object::{ObjectFindings, WorkloadCheck},
        rule::LintRule,
        schedule_finding::ScheduleFinding,
    },
    objects::workload::ManifestWorkload,
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
