//! Schedules on objects that the controller does not scale, or only if `--kinds` names their kind,
//! and files whose objects a tool makes later.

use std::path::Path;

use dayshift_schedule::Zone;
use dayshift_text::{quote, shell_word};
use dayshift_workload::{
    Key, Kind, NotStopped, Origin,
    events::{Condition, Subject},
    guess_resource,
};

use crate::{
    annotations::{KeySite, MisplacedKey},
    lint::{
        object::{ObjectFindings, OtherCheck, WorkloadCheck},
        rule::{LintFinding, LintRule},
    },
    objects::{Contents, workload::ManifestWorkload},
    search::STANDARD_INPUT,
    source::SourceFile,
    yaml::node::Location,
};

/// Whether a user gave the workload a schedule, by an annotation on it or on its Namespace.
fn is_scheduled_by_user(workload: &ManifestWorkload) -> bool {
    let origin = workload.inputs.schedule_origin();
    origin.is_some_and(|origin| origin != Origin::Controller)
}

/// A schedule on a kind that dayshift can scale, but not with these `--kinds`.
pub(crate) fn opt_in_kind(object: &mut ObjectFindings<'_>, check: &WorkloadCheck<'_>) {
    let workload = check.workload;
    let kind = &workload.object.kind;
    if check.kinds.contains(kind) || !is_scheduled_by_user(workload) {
        return;
    }
    let mut annotations = workload.annotations.iter();
    let first = annotations.find(|annotation| Key::from_name(&annotation.name).is_some());
    let place = first.map_or(&workload.place, |annotation| &annotation.key);
    let permissions = match kind {
        kind if kind.is_discovered() => None,
        kind if Kind::DEFAULT.contains(kind) => Some(String::new()),
        kind => Some(format!(
            "; kubectl apply -f manifests/kinds/{}.yaml gives it the permissions",
            kind.plural()
        )),
    };
    add_opt_in(
        object,
        place.clone(),
        kind.argument(),
        check.kinds,
        permissions,
    );
}

/// Adds the finding of a kind that `--kinds` has to name. `permissions` is the help to grant the
/// permissions if the repository has a manifest with them.
fn add_opt_in(
    object: &mut ObjectFindings<'_>,
    place: Location,
    resource: &str,
    kinds: &[Kind],
    permissions: Option<String>,
) {
    let message = format!(
        "dayshift scales a {} only if it runs with --kinds",
        object.name.kind
    );
    let names = kinds.iter().map(Kind::argument).chain([resource]);
    let names = names.collect::<Vec<_>>().join(",");
    let permissions = permissions.unwrap_or_else(|| {
        format!("; dayshift kinds -o yaml --kinds={names} prints the permissions")
    });
    let help = format!("run dayshift, and lint, with --kinds={names}{permissions}");
    object.add(LintRule::OptInKind, place, message, help);
}

/// A schedule on a workload whose operator sets its count.
pub(crate) fn operated(object: &mut ObjectFindings<'_>, check: &WorkloadCheck<'_>) {
    let workload = check.workload;
    let is_scheduled = is_scheduled_by_user(workload) && workload.inputs.is_scheduled();
    let Some(owner) = workload.operated_by.as_ref().filter(|_| is_scheduled) else {
        return;
    };
    let scheduled_owner = check.index.owner(owner);
    let scheduled_owner = scheduled_owner.filter(|owner| owner.inputs.is_scheduled());
    let condition = match scheduled_owner {
        None => Condition::Operated {
            by: owner.kind.clone(),
        },
        Some(scheduled) => Condition::OwnerScheduled {
            owner: format!("{} {}", owner.kind, quote(&owner.name)),
            is_copy: workload.inputs.copies_schedule_of(&scheduled.inputs),
        },
    };
    let message = condition.message(&Subject {
        object: &workload.object,
        prefix: object.prefix,
        zone: Zone::UTC,
        now: None,
    });
    object.add(
        LintRule::ConflictingManager,
        workload.place.clone(),
        message.text,
        message.help.unwrap_or_default(),
    );
}

/// The first annotation of a schedule on an object that dayshift does not scale. A controller
/// copies annotations to the objects that it makes, so owned objects have none.
fn ignored_schedule<'c>(
    object: &ObjectFindings<'_>,
    check: &OtherCheck<'c>,
) -> Option<&'c MisplacedKey> {
    let is_schedule = |key: &&MisplacedKey| {
        let name = object.prefix.strip(&key.field.name);
        key.site == KeySite::Annotations && name.and_then(Key::from_name).is_some()
    };
    let key = check.object.misplaced.iter().find(is_schedule);
    key.filter(|_| !check.object.is_owned)
}

/// The resource to name in `--kinds`, if the object looks like a custom resource with a count.
fn custom_resource(check: &OtherCheck<'_>) -> Option<String> {
    let other = check.object;
    let (kind, version) = (quote(&other.kind), quote(&other.api_version));
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let is_known = Kind::BUILT_IN.into_iter().any(|known| known.name() == kind);
    if is_known || NotStopped::from_kind(&kind, group).is_some() || !other.has_replicas {
        return None;
    }
    guess_resource(&version, &kind)
}

pub(crate) fn opt_in_custom_resource(object: &mut ObjectFindings<'_>, check: &OtherCheck<'_>) {
    if let (Some(key), Some(resource)) = (ignored_schedule(object, check), custom_resource(check)) {
        let place = key.field.key.clone();
        add_opt_in(object, place, &resource, check.kinds, None);
    }
}

pub(crate) fn other_kind(object: &mut ObjectFindings<'_>, check: &OtherCheck<'_>) {
    let Some(key) = ignored_schedule(object, check) else {
        return;
    };
    if custom_resource(check).is_some() {
        return;
    }
    let other = check.object;
    let (kind, version) = (quote(&other.kind), quote(&other.api_version));
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let known = Kind::BUILT_IN
        .into_iter()
        .find(|known| known.name() == kind);
    let (message, help) = match (NotStopped::from_kind(&kind, group), known) {
        (Some(not_stopped), _) => (
            not_stopped.to_string(),
            format!("remove its annotations, and {}", not_stopped.instead),
        ),
        (None, Some(known)) => {
            let message = if version.is_empty() {
                format!("this {kind} has no apiVersion, and kubectl rejects it")
            } else {
                format!(
                    "dayshift does not scale a {kind} of `{version}`, and Kubernetes might no \
                        longer serve it"
                )
            };
            let help = format!("write apiVersion: {}", known.api_version());
            (message, help)
        }
        (None, None) => (
            format!("dayshift does not scale this {kind}, and ignores its schedule"),
            "remove its annotations, or move them to a workload that dayshift scales".to_owned(),
        ),
    };
    object.add(LintRule::OtherKind, key.field.key.clone(), message, help);
}

/// A Helm chart whose templates were skipped, and kustomizations that change objects. The help has
/// the command that renders them.
pub(crate) fn not_rendered(
    at: usize,
    source: &SourceFile,
    contents: &Contents,
) -> Vec<LintFinding> {
    let directory = Path::new(source.name()).parent();
    let directory = directory
        .filter(|path| !path.as_os_str().is_empty() && source.name() != STANDARD_INPUT)
        .map_or(".".to_owned(), |path| path.display().to_string());
    let directory = shell_word(&directory);
    let finding = |place, message, command: &str| {
        let help = format!("check what it renders: {command} {directory} | dayshift lint -");
        LintFinding::new(LintRule::NotRendered, Some((at, place)), message, help)
    };
    let chart = source.is_chart().then(|| {
        let first = source.text().lines().next().unwrap_or_default();
        let place = Location {
            line: 1,
            column: 1,
            span: 0..first.len(),
        };
        let message = "the templates of this Helm chart were not checked".to_owned();
        finding(place, message, "helm template")
    });
    let kustomizations = contents.unrendered.iter().map(|unrendered| {
        let message = format!(
            "`{}` of this kustomization changes objects, and was not checked",
            unrendered.field
        );
        finding(unrendered.place.clone(), message, "kubectl kustomize")
    });
    chart.into_iter().chain(kustomizations).collect()
}
