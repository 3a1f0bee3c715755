//! What starts wait for in vain, as far as the files tell.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use dayshift_schedule::list_items;
use dayshift_workload::{
    Dependency, DependencyKind, DependencyWorkload, Key, Origin, ParseContext, ParsedInputs,
    ScheduleSpec, UnsatisfiableDependency, WorkloadRef, read,
};

use crate::{
    lint::{rule::LintRule, schedule_finding::ScheduleFinding},
    objects::{Contents, workload::ManifestWorkload},
};

/// The workloads and Services of all files, by namespace, kind and name.
pub(crate) struct NeededObjects<'c> {
    workloads: HashMap<(&'c str, Dependency), &'c ManifestWorkload>,
    services: HashSet<(&'c str, Dependency)>,
    context: &'c ParseContext,
    from: DateTime<Utc>,
}

impl<'c> NeededObjects<'c> {
    pub(crate) fn new(
        contents: &'c [Contents],
        context: &'c ParseContext,
        from: DateTime<Utc>,
    ) -> Self {
        let all = contents.iter().flat_map(|contents| &contents.workloads);
        let place = |workload: &'c ManifestWorkload| {
            (
                &*workload.object.namespace,
                Dependency::from_workload(&workload.object),
            )
        };
        Self {
            workloads: all.map(|workload| (place(workload), workload)).collect(),
            services: contents
                .iter()
                .flat_map(|contents| &contents.services)
                .map(|service| (&*service.namespace, Dependency::service(&service.name)))
                .collect(),
            context,
            from,
        }
    }

    /// What is wrong with what this workload waits for.
    pub(crate) fn check(&self, workload: &ManifestWorkload, found: &mut Vec<ScheduleFinding>) {
        if workload.inputs.origin(Key::After) != Some(Origin::Own) {
            return;
        }
        let Some(spec) = self.spec_of(workload) else {
            return;
        };
        let text = workload.inputs.text(Key::After).unwrap_or_default();
        let named = spec.after.as_ref().map_or(&[][..], |after| after.named());
        for (needed, (span, item)) in named.iter().zip(list_items(text)) {
            let Some((message, help)) = self.why_in_vain(needed, workload, &spec) else {
                continue;
            };
            let length = item.split(',').next().map_or(0, str::len);
            let rule = LintRule::WaitsInVain;
            let finding = ScheduleFinding::on(Key::After, &workload.inputs, rule, message, help);
            found.push(finding.at(span.start..span.start + length));
        }
    }

    fn why_in_vain(
        &self,
        needed: &Dependency,
        workload: &ManifestWorkload,
        spec: &ScheduleSpec,
    ) -> Option<(String, String)> {
        let object = &workload.object;
        if self.waits_for(needed, object) {
            let message = match needed.is(object) {
                true => format!("{needed} is this object itself: its start does not wait for it"),
                false => format!("{needed} waits for this one in turn: neither waits"),
            };
            return Some((message, "remove it, or what it waits for".to_owned()));
        }
        let namespace = &*object.namespace;
        if self.services.contains(&(namespace, needed.clone())) {
            return None;
        }
        let Some(other) = self.get(needed, object) else {
            let has_others = match needed.kind {
                DependencyKind::Service => self
                    .services
                    .iter()
                    .any(|(service, _)| *service == namespace),
                DependencyKind::Workload(_) => {
                    let mut all = self.workloads.values().map(|workload| &workload.object);
                    all.any(|other| *other.namespace == *namespace && other.name != object.name)
                }
            };
            return has_others.then(|| {
                let message = format!("{needed} is not in these files: no start waits for it");
                let help = format!(
                    "check its kind and name, or leave it if it is elsewhere in namespace {namespace}"
                );
                (message, help)
            });
        };
        let parsed = read(&other.inputs, self.context);
        let needed_workload = DependencyWorkload {
            object: &other.object,
            parsed: &parsed,
            replicas: other.replicas,
        };
        let why = spec.unsatisfiable_dependency(object, &needed_workload, self.from)?;
        let words = why.words(spec.schedule.zone());
        let waits = match why {
            UnsatisfiableDependency::Stopped(_) => "this start does not wait for it",
            UnsatisfiableDependency::Unscheduled | UnsatisfiableDependency::Overridden(_) => {
                "no start waits for it while it is stopped"
            }
        };
        let help = format!("{}, or do not name it", why.help(needed));
        Some((format!("{needed} {words}: {waits}"), help))
    }

    fn waits_for(&self, needed: &Dependency, object: &WorkloadRef) -> bool {
        needed.leads_back_to(object, |one| {
            let workload = self.get(one, object);
            let waiting = workload.filter(|waiting| waiting.inputs.text(Key::After).is_some());
            let needs = waiting.and_then(|waiting| {
                let after = self.spec_of(waiting)?.after?;
                Some(after.needed_by(&waiting.object).to_vec())
            });
            needs.unwrap_or_default()
        })
    }

    fn get(&self, needed: &Dependency, object: &WorkloadRef) -> Option<&'c ManifestWorkload> {
        let place = (&*object.namespace, needed.clone());
        self.workloads.get(&place).copied()
    }

    fn spec_of(&self, workload: &ManifestWorkload) -> Option<ScheduleSpec> {
        match read(&workload.inputs, self.context) {
            ParsedInputs::Scheduled(spec) => Some(spec),
            ParsedInputs::Unscheduled | ParsedInputs::Invalid(_) => None,
        }
    }
}
