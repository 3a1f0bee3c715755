//! What `dayshift plan` has planned, from files or from a cluster.

use std::{collections::BTreeMap, io, path::PathBuf};

use chrono::{DateTime, Utc};
use dayshift_cluster::{
    connect::ConnectError,
    decode::WithManagers,
    read::{
        Autoscalers, FindError, MissingWorkload, NamespaceDefaults, find, missing_namespaces,
        no_namespaces, selected_namespaces,
    },
};
use dayshift_manifest::{
    Contents, ManifestWorkload, OpenError, SourceFile, last_of_each,
    lint::{LintFinding, Linter, refusals},
    plan::{OtherManagers, Plan, Planner, StopSummary},
};
use dayshift_operations::status::{Note, Unreadable, WorkloadStatus, owners};
use dayshift_workload::{Inheritance, Key, Origin, Replicas, RequestCoverage, ServiceSpec};
use serde_json::Value;

use super::command::PlanArgs;
use crate::cli::{
    args::targets::Targets,
    kind_files::is_refused,
    output::{
        messages::{note_given_again, note_unreadable, print_beside, print_note},
        status::Notes,
        style::Style,
        unread,
    },
    runtime::block_on,
};

/// What keeps something from being planned.
#[derive(Debug, thiserror::Error)]
pub(super) enum PlanError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error(transparent)]
    Find(#[from] FindError),
    #[error(transparent)]
    Missing(#[from] MissingWorkload),
    #[error("{0}")]
    Unreadable(Unreadable),
    #[error("{}", no_namespaces(.0))]
    NoNamespaces(Vec<String>),
    #[error("cannot list the Namespaces of --namespace-selector: {0}")]
    Namespaces(String),
    #[error("cannot create timers or sockets: {0}")]
    System(io::Error),
}

impl PlanError {
    /// The same for other programs, where it is of something that could not be read.
    pub(super) fn unread(&self) -> Option<Value> {
        match self {
            Self::Open(error) => Some(unread::of_file(error)),
            Self::Unreadable(it) => Some(unread::of_resource(it)),
            _ => None,
        }
    }
}

/// A plan, what is wrong with what was to be planned, and what kept any of it from being read.
#[derive(Default)]
pub(super) struct Planned {
    pub(super) plan: Plan,
    pub(super) findings: Vec<LintFinding>,
    pub(super) sources: Vec<SourceFile>,
    pub(super) errors: Vec<PlanError>,
    pub(super) summary: StopSummary,
}

impl PlanArgs {
    /// The plan of all files.
    pub(super) fn of_files(
        &self,
        planner: &Planner,
        files: &[PathBuf],
        inheritance: Inheritance,
    ) -> Planned {
        let opened = self.given.open(files);
        // A scaler gives its default to the kinds that it looks at.
        let kinds = self.targets.kinds.kinds();
        let linter = Linter {
            from: planner.period.from(),
            context: planner.context.clone(),
            prefix: planner.prefix.clone(),
            namespace: self
                .targets
                .scope
                .namespace
                .first()
                .cloned()
                .unwrap_or("default".to_owned()),
            kinds: kinds.clone(),
            inheritance,
        };
        let contents = linter.read(&opened.sources);
        let is_planned = |it: &ManifestWorkload| {
            let is_looked_at = kinds.contains(&it.object.kind);
            // Nobody knows what stops a kind whose row is wrong, which is said.
            !it.is_filled_in()
                && !is_refused(it.object.kind)
                && (is_looked_at || it.inputs.schedule_origin() != Some(Origin::Scaler))
        };
        let named = opened.sources.iter().zip(&contents);
        let found = named.flat_map(|(source, it)| it.workloads.iter().map(move |it| (source, it)));
        let found = found.filter(|(_, it)| is_planned(it)).collect();
        let (last, before) = last_of_each(found, |(_, it)| &it.object);
        for (source, workload) in before {
            note_given_again(source.name(), workload);
        }
        let services = services(&contents);
        let planned = last.into_iter().filter_map(|(_, it)| {
            let plan = planner.plan(&it.object, &it.inputs, &it.problems)?;
            let plan = plan.running_with(it.replicas.unwrap_or(Replicas::ONE));
            let plan = plan.woken_by(on_request(it, &services));
            Some(
                plan.with_footprint(it.footprint)
                    .at_price(self.price.price.clone()),
            )
        });
        let plan = Plan {
            workloads: planned.collect(),
        };
        Planned {
            plan,
            findings: linter.obstacles(&opened.sources, &contents),
            sources: opened.sources,
            errors: opened.errors.into_iter().map(PlanError::from).collect(),
            summary: StopSummary::default(),
        }
    }

    /// The plan of live workloads. Where another count runs `now` than it says, that is told beside it.
    pub(super) fn of_cluster(
        &self,
        planner: &Planner,
        targets: &Targets,
        inheritance: Inheritance,
        now: DateTime<Utc>,
    ) -> Planned {
        let is_summary = self.is_summary();
        let found = async {
            let (client, _) = self.connection.clone().patient_client("plan").await?;
            let query = targets.query(client.default_namespace());
            let autoscalers = async {
                match is_summary {
                    true => Autoscalers::find(&client, &query).await,
                    false => Autoscalers::default(),
                }
            };
            let defaults = NamespaceDefaults::new(inheritance);
            let (found, defaults, autoscalers) = tokio::join!(
                find::<WithManagers>(&client, &query),
                defaults.found(&client, &query, &planner.prefix),
                autoscalers
            );
            let (mut found, refused) = found?;
            if let Some(selector) = self.namespace_selector() {
                let selected = selected_namespaces(&client, selector).await;
                let selected = selected.map_err(PlanError::Namespaces)?;
                let is_selected = |it: &WithManagers| selected.contains(it.workload.namespace());
                found.workloads.retain(|(_, it)| is_selected(it));
            }
            let is_found = |at: &str| {
                let mut all = found.workloads.iter();
                all.any(|(_, it)| it.workload.namespace() == at)
            };
            let missing = missing_namespaces(&client, &query, is_found).await;
            if !missing.is_empty() {
                return Err(PlanError::NoNamespaces(missing));
            }
            let unreadable = Unreadable::workloads(&query, &refused, "left out");
            Ok::<_, PlanError>((found, unreadable, defaults, autoscalers))
        };
        let (found, unreadable, defaults, autoscalers) =
            match block_on(found).unwrap_or_else(|error| Err(PlanError::System(error))) {
                Ok(found) => found,
                Err(error) => {
                    return Planned {
                        errors: vec![error],
                        ..Planned::default()
                    };
                }
            };
        let price = &self.price.price;
        let mut planned = Planned::default();
        let mut notes = Notes::new(&planner.prefix, now);
        for (kind, managed) in &found.workloads {
            let it = defaults.applied(managed.workload.observe(*kind, &planner.prefix));
            let plan = planner.plan_live(&it);
            if is_summary {
                let neighbours = OtherManagers {
                    owners: owners(&it.object, managed, &autoscalers),
                    operated_by: managed.operated_by(),
                };
                planned.summary.add(&it, plan.as_ref(), neighbours);
                let plan = plan.map(|it| it.at_price(price.clone()));
                planned.plan.workloads.extend(plan);
                continue;
            }
            let Some(plan) = plan else {
                if it.phase().is_some() {
                    print_note(&format!(
                        "{}: its labels say that it is scheduled, but no schedule is written on it",
                        it.object
                    ));
                }
                continue;
            };
            if !plan.problems().is_empty() {
                let found = refusals(&it, &planner.context, &planner.prefix);
                for finding in found {
                    // What a Namespace has is said once.
                    let is_own = finding
                        .object
                        .as_ref()
                        .is_some_and(|it| *it.kind != *"Namespace");
                    if is_own || !planned.findings.contains(&finding) {
                        planned.findings.push(finding);
                    }
                }
            }
            let (prefix, zone) = (&planner.prefix, planner.context.default_zone);
            let parsed = it.read(&planner.context);
            if let Some(status) = WorkloadStatus::of_known(&it, &parsed, None, prefix, zone, now)
                && planner.period.contains(now)
            {
                notes.add_notes(&status, Note::is_of_count);
            }
            planned.plan.workloads.push(plan.at_price(price.clone()));
        }
        for line in notes.lines(Style::default(), None) {
            print_beside(&line);
        }
        if planned.plan.workloads.is_empty() {
            note_unreadable(&defaults);
        }
        let unreadable = unreadable.into_iter().map(PlanError::Unreadable);
        let missing = found.missing.into_iter().map(PlanError::Missing);
        planned.errors = unreadable.chain(missing).collect();
        planned
    }
}

/// The Services of all files, by namespace and name: of two with one name the last.
type Services<'c> = BTreeMap<&'c str, BTreeMap<&'c str, &'c ServiceSpec>>;

fn services(contents: &[Contents]) -> Services<'_> {
    let mut all = Services::new();
    for it in contents.iter().flat_map(|it| &it.services) {
        all.entry(&it.namespace)
            .or_default()
            .insert(&it.name, &it.spec);
    }
    all
}

/// What requests come to, where a workload asks to be woken by them and the files have Services of its
/// namespace.
fn on_request(workload: &ManifestWorkload, services: &Services<'_>) -> Option<RequestCoverage> {
    workload.inputs.text(Key::WakeOnRequest)?;
    let services = services.get(&*workload.object.namespace)?;
    let services = services.iter().map(|(name, it)| (*name, *it));
    Some(RequestCoverage::new(&workload.pod_labels, services))
}
