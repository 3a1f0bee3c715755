//! Schedules on objects of kinds that nobody looks at, or only who is asked to.

use super::{finding::Finding, object::Object, rule::LintRule};
use crate::{
    manifest::{Location, MisplacedKey, Other, Site, Workload},
    text::quote,
    workload::{Key, Kind},
};

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
            kind if kind.is_discovered() => rights_of_others(kind.argument()),
            kind if Kind::DEFAULT.contains(&kind) => String::new(),
            kind => format!(
                "; kubectl apply -f manifests/kinds/{}.yaml gives it the permissions",
                kind.plural()
            ),
        };
        let finding = self.opt_in(place, kind.argument(), kinds, &rights);
        self.findings.push(finding);
    }

    fn opt_in(&self, place: Location, resource: &str, kinds: &[Kind], rights: &str) -> Finding {
        let message = format!(
            "dayshift scales a {} only where it runs with --kinds",
            self.name.kind
        );
        let names = kinds.iter().map(|it| it.argument()).chain([resource]);
        let names = names.collect::<Vec<_>>().join(",");
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
        let finding = match (known, custom) {
            (Some(known), _) => {
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
            (None, Some(resource)) => {
                self.opt_in(place, &resource, kinds, &rights_of_others(&resource))
            }
            (None, None) => {
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

/// What a custom kind takes to be scaled.
fn rights_of_others(resource: &str) -> String {
    match resource {
        "rollouts.argoproj.io" => {
            "; kubectl apply -f manifests/kinds/rollouts.yaml gives it the permissions".to_owned()
        }
        _ => "; a ClusterRole like that of manifests/kinds/rollouts.yaml gives it the permissions"
            .to_owned(),
    }
}
