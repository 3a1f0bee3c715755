//! Schedules on objects of kinds that nobody looks at, or only who is asked to.
//!
//! What was not looked at, since only another tool makes objects of it.

use std::path::Path;

use dayshift_text::{quote, shell_word};
use dayshift_workload::{Key, Kind, NotStopped};

use crate::{
    annotations::{KeySite, MisplacedKey},
    lint::{
        object::ObjectFindings,
        rule::{LintFinding, LintRule},
    },
    objects::{Contents, other::OtherObject, workload::ManifestWorkload},
    search::STANDARD_INPUT,
    source::SourceFile,
    yaml::node::Location,
};

impl ObjectFindings<'_> {
    /// A schedule on an object of a kind that dayshift scales, but not where it looks at these
    /// kinds alone.
    pub(crate) fn opt_in_kind(&mut self, workload: &ManifestWorkload, kinds: &[Kind]) {
        let is_schedule = |name: &str| Key::from_name(name).is_some();
        let mut annotations = workload.annotations.iter();
        let first = annotations.find(|annotation| is_schedule(&annotation.name));
        let place = first
            .map_or(&workload.place, |annotation| &annotation.key)
            .clone();
        let kind = workload.object.kind;
        let rights = match kind {
            kind if kind.is_discovered() => None,
            kind if Kind::DEFAULT.contains(&kind) => Some(String::new()),
            kind => Some(format!(
                "; kubectl apply -f manifests/kinds/{}.yaml gives it the permissions",
                kind.plural()
            )),
        };
        let finding = self.opt_in(place, kind.argument(), kinds, rights);
        self.findings.push(finding);
    }

    /// A schedule on what an operator makes and scales.
    pub(crate) fn operated(&mut self, workload: &ManifestWorkload) {
        let Some(by) = workload.operated_by else {
            return;
        };
        let message = format!(
            "this {} belongs to a {by}, whose operator sets its count again",
            self.name.kind
        );
        let help = format!(
            "schedule the {by} in its place, and run dayshift with {} among its --kinds",
            by.argument()
        );
        let finding = self.at(LintRule::PutBack, workload.place.clone(), message, help);
        self.findings.push(finding);
    }

    /// `rights` is how dayshift gets the permissions for it, where a file has them.
    fn opt_in(
        &self,
        place: Location,
        resource: &str,
        kinds: &[Kind],
        rights: Option<String>,
    ) -> LintFinding {
        let message = format!(
            "dayshift scales a {} only where it runs with --kinds",
            self.name.kind
        );
        let names = kinds.iter().map(|kind| kind.argument()).chain([resource]);
        let names = names.collect::<Vec<_>>().join(",");
        let rights = rights.unwrap_or_else(|| {
            format!("; dayshift kinds -o yaml --kinds={names} prints the permissions")
        });
        let help = format!("run dayshift, and lint, with --kinds={names}{rights}");
        self.at(LintRule::OptInKind, place, message, help)
    }

    /// A schedule on an object that nobody looks at.
    pub(crate) fn ignored_schedule(&mut self, other: &OtherObject, kinds: &[Kind]) {
        let is_schedule = |misplaced: &&MisplacedKey| {
            let name = self.prefix.strip(&misplaced.field.name);
            misplaced.site == KeySite::Annotations && name.and_then(Key::from_name).is_some()
        };
        let misplaced = other.misplaced.iter().find(is_schedule);
        let Some(misplaced) = misplaced.filter(|_| !other.is_owned) else {
            return;
        };
        let place = misplaced.field.key.clone();
        let (kind, version) = (quote(&other.kind), quote(&other.api_version));
        let known = Kind::BUILT_IN
            .into_iter()
            .find(|known| known.name() == kind);
        let custom = Kind::guessed_resource(&version, &kind).filter(|_| other.has_replicas);
        let group = version.split_once('/').map_or("", |(group, _)| group);
        let not_stopped = NotStopped::from_kind(&kind, group);
        let finding = match (not_stopped, known, custom) {
            (Some(not_stopped), ..) => {
                let help = format!("remove its annotations, and {}", not_stopped.instead);
                self.at(LintRule::OtherKind, place, not_stopped.to_string(), help)
            }
            (None, Some(known), _) => {
                let message = if version.is_empty() {
                    format!("this {kind} has no apiVersion, and kubectl refuses it")
                } else {
                    format!(
                        "dayshift does not scale a {kind} of `{version}`, and Kubernetes may not serve it any more"
                    )
                };
                let help = format!("write apiVersion: {}", known.api_version());
                self.at(LintRule::OtherKind, place, message, help)
            }
            (None, None, Some(resource)) => self.opt_in(place, &resource, kinds, None),
            (None, None, None) => {
                let message =
                    format!("dayshift does not scale this {kind}, and ignores its schedule");
                let help =
                    "remove its annotations, or move them to a workload that dayshift scales";
                self.at(LintRule::OtherKind, place, message, help.to_owned())
            }
        };
        self.findings.push(finding);
    }
}

/// A finding for a chart whose templates were passed over, and for each kustomization that changes
/// the objects of its files, with the pipe that checks what comes of it.
pub(crate) fn not_rendered(
    at: usize,
    source: &SourceFile,
    contents: &Contents,
) -> Vec<LintFinding> {
    let folder = Path::new(source.name()).parent();
    let folder =
        folder.filter(|folder| !folder.as_os_str().is_empty() && source.name() != STANDARD_INPUT);
    let folder = folder.map_or(".".to_owned(), |folder| folder.display().to_string());
    let folder = shell_word(&folder);
    let finding = |place, message, command: &str| {
        let help = format!("check what it renders: {command} {folder} | dayshift lint -");
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
