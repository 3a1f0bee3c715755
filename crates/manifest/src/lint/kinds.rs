//! Schedules on objects of kinds that nobody looks at, or only who is asked to.

use dayshift_text::quote;
use dayshift_workload::{Key, Kind, NotStopped};

use super::{finding::Finding, object::Object, rule::LintRule};
use crate::manifest::{Location, MisplacedKey, Other, Site, Workload};

impl Object<'_> {
    /// A schedule on an object of a kind that dayshift scales, but not where it looks at these
    /// kinds alone.
    pub(super) fn opt_in_kind(&mut self, workload: &Workload, kinds: &[Kind]) {
        let is_schedule = |name: &str| Key::from_name(name).is_some();
        let mut annotations = workload.annotations.iter();
        let first = annotations.find(|it| is_schedule(&it.name));
        let place = first.map_or(&workload.place, |it| &it.key).clone();
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
    pub(super) fn operated(&mut self, workload: &Workload) {
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
    ) -> Finding {
        let message = format!(
            "dayshift scales a {} only where it runs with --kinds",
            self.name.kind
        );
        let names = kinds.iter().map(|it| it.argument()).chain([resource]);
        let names = names.collect::<Vec<_>>().join(",");
        let rights = rights.unwrap_or_else(|| {
            format!("; dayshift kinds -o yaml --kinds={names} prints the permissions")
        });
        let help = format!("run dayshift, and lint, with --kinds={names}{rights}");
        self.at(LintRule::OptInKind, place, message, help)
    }

    /// A schedule on an object that nobody looks at.
    pub(super) fn ignored_schedule(&mut self, other: &Other, kinds: &[Kind]) {
        let is_schedule = |it: &&MisplacedKey| {
            let name = self.prefix.strip(&it.field.name);
            it.site == Site::Annotations && name.and_then(Key::from_name).is_some()
        };
        let misplaced = other.misplaced.iter().find(is_schedule);
        let Some(misplaced) = misplaced.filter(|_| !other.is_owned) else {
            return;
        };
        let place = misplaced.field.key.clone();
        let (kind, version) = (quote(&other.kind), quote(&other.api_version));
        let known = Kind::BUILT_IN.into_iter().find(|it| it.name() == kind);
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
