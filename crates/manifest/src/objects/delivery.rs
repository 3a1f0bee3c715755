//! Objects of GitOps tools (Argo CD and Flux), and the counts that they revert.

use dayshift_workload::{Kind, other_controllers::OtherController};

use crate::yaml::{
    documents,
    node::{Location, Node},
};

/// The objects that an Application, a Kustomization or a HelmRelease delivers and reverts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The tool and the kind of its object.
    pub owner: OtherController,
    /// The namespace of the delivered objects, if the object sets one.
    pub namespace: Option<Box<str>>,
    /// When it reverts a change.
    pub timing: RevertTiming,
    /// The place of the object.
    pub place: Location,
    /// The AppProject of an Application.
    pub project: Option<Box<str>>,
    /// Whether ignored fields are also left out of a sync. Without it, Argo CD only hides the
    /// difference. Flux never writes ignored fields.
    respects_ignored: bool,
    ignores: Vec<Ignore>,
}

/// When a tool reverts a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevertTiming {
    /// As soon as it detects the change.
    AtOnce,
    /// When it applies the objects the next time, automatically or because a user requests it.
    NextSync,
}

/// How a GitOps tool treats the count of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountPolicy {
    /// It reverts a change.
    Reverted,
    /// It does not detect a change, but each sync for another reason sets the count of Git.
    Hidden,
    /// It never writes the count.
    Ignored,
}

/// The fields that Argo CD ignores in every Application: `resource.customizations.ignoreDifferences.apps_Deployment`
/// or `….all` of the ConfigMap `argocd-cm`
/// (<https://argo-cd.readthedocs.io/en/stable/user-guide/diffing/#system-level-configuration>).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredByAll(Vec<Ignore>);

impl IgnoredByAll {
    /// Reads the ConfigMap; `None` for other objects.
    pub(crate) fn read(object: &Node<'_>) -> Option<Self> {
        let names = (
            object.text_at(&["kind"]),
            object.text_at(&["metadata", "name"]),
        );
        if names != (Some("ConfigMap"), Some("argocd-cm")) {
            return None;
        }
        let rules = object.get("data")?.entries().iter().filter_map(|entry| {
            let resource = entry.key.text()?.strip_prefix(IGNORE_DIFFERENCES)?;
            let (group, kind) = match resource.rsplit_once('_') {
                Some((group, kind)) => (Some(group.into()), Some(kind.into())),
                None if resource == "all" => (None, None),
                None => (Some("".into()), Some(resource.into())),
            };
            let mut pointers = Vec::new();
            let text = entry.value.text()?;
            // If the text is not YAML, Argo CD ignores no field.
            let _ = documents(text, |rule| pointers.extend(ignored_pointers(rule)));
            Some(Ignore {
                group,
                kind,
                name: None,
                pointers,
            })
        });
        Some(Self(rules.collect()))
    }

    fn ignores(&self, kind: &Kind, name: &str) -> bool {
        self.0.iter().any(|rule| rule.covers(kind, name))
    }
}

const IGNORE_DIFFERENCES: &str = "resource.customizations.ignoreDifferences.";

/// A rule that a tool ignores some fields of some objects.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Ignore {
    /// The API group, or any.
    group: Option<Box<str>>,
    kind: Option<Box<str>>,
    name: Option<Box<str>>,
    pointers: Vec<Box<str>>,
}

impl Delivery {
    /// Reads an object of a GitOps tool. `None` for other objects, and for suspended ones.
    pub(crate) fn read(object: &Node<'_>) -> Option<Self> {
        let (kind, version) = (object.text_at(&["kind"])?, object.text_at(&["apiVersion"])?);
        let spec = object.get("spec")?;
        let place = &object.place;
        match kind {
            "Application" if version.starts_with("argoproj.io/") => Some(argo_cd(spec, place)),
            "ApplicationSet" if version.starts_with("argoproj.io/") => {
                Some(argo_cd(spec.at(&["template", "spec"])?, place))
            }
            // <https://fluxcd.io/flux/components/kustomize/kustomizations/>
            "Kustomization" if version.starts_with("kustomize.toolkit.fluxcd.io/") => {
                flux(OtherController::FluxKustomization, spec, Some(spec), place)
            }
            // <https://fluxcd.io/flux/components/helm/helmreleases/#drift-detection>
            "HelmRelease" if version.starts_with("helm.toolkit.fluxcd.io/") => {
                let drift = spec.get("driftDetection");
                let drift = drift.filter(|drift| drift.text_at(&["mode"]) == Some("enabled"));
                let delivery = flux(OtherController::FluxHelmRelease, spec, drift, place)?;
                let own = object.text_at(&["metadata", "namespace"]);
                let own = own.filter(|_| spec.get("targetNamespace").is_none());
                Some(Self {
                    namespace: delivery.namespace.or(own.map(Into::into)),
                    ..delivery
                })
            }
            _ => None,
        }
    }

    /// How it treats the count of a workload. `by_all` are the rules for every Application.
    pub fn count_policy(&self, kind: &Kind, name: &str, by_all: &[&IgnoredByAll]) -> CountPolicy {
        let is_argo_cd = self.owner == OtherController::ArgoCd;
        let is_ignored = self.ignores.iter().any(|rule| rule.covers(kind, name))
            || is_argo_cd && by_all.iter().any(|rules| rules.ignores(kind, name));
        match is_ignored {
            false => CountPolicy::Reverted,
            true if self.respects_ignored => CountPolicy::Ignored,
            true => CountPolicy::Hidden,
        }
    }
}

impl Ignore {
    fn covers(&self, kind: &Kind, name: &str) -> bool {
        let is_match = |wanted: &Option<Box<str>>, text: &str| {
            wanted
                .as_deref()
                .is_none_or(|wanted| wanted == "*" || wanted == text)
        };
        let pointer = kind.pointer();
        is_match(&self.group, kind.group())
            && is_match(&self.kind, kind.name())
            && is_match(&self.name, name)
            && self.pointers.iter().any(|rule| covers(rule, &pointer))
    }
}

/// Whether a JSON pointer names a field or one of its parents.
fn covers(rule: &str, pointer: &str) -> bool {
    let rest = pointer.strip_prefix(rule.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The fields that a rule of Argo CD ignores, as JSON pointers.
fn ignored_pointers(rule: &Node<'_>) -> Vec<Box<str>> {
    let list = |name| rule.list(name).iter();
    let pointers = list("jsonPointers")
        .filter_map(|pointer| pointer.text())
        .map(Into::into);
    let paths = list("jqPathExpressions").filter_map(|path| path.text());
    let paths = paths.map(|path| path.replace('.', "/").into());
    // `managedFieldsManagers` ignores all fields that the named managers wrote.
    let managers =
        list("managedFieldsManagers").filter(|manager| manager.text() == Some("dayshift"));
    pointers
        .chain(paths)
        .chain(managers.map(|_| "".into()))
        .collect()
}

/// <https://argo-cd.readthedocs.io/en/stable/user-guide/diffing/>
fn argo_cd(spec: &Node<'_>, place: &Location) -> Delivery {
    let options = spec
        .get("syncPolicy")
        .map(|policy| policy.list("syncOptions"));
    let respects = |option: &Node<'_>| option.text() == Some("RespectIgnoreDifferences=true");
    let ignores = spec.list("ignoreDifferences").iter().map(|rule| {
        let field = |name| rule.text_at(&[name]).map(Into::into);
        Ignore {
            // An omitted group is the core group, which has no workloads.
            group: Some(field("group").unwrap_or_default()),
            kind: field("kind"),
            name: field("name"),
            pointers: ignored_pointers(rule),
        }
    });
    let namespace = spec.text_at(&["destination", "namespace"]);
    Delivery {
        owner: OtherController::ArgoCd,
        namespace: namespace.map(Into::into),
        timing: match spec.is_true(&["syncPolicy", "automated", "selfHeal"]) {
            true => RevertTiming::AtOnce,
            false => RevertTiming::NextSync,
        },
        place: place.clone(),
        project: spec.text_at(&["project"]).map(Into::into),
        respects_ignored: options.into_iter().flatten().any(|option| respects(option)),
        ignores: ignores.collect(),
    }
}

/// An object of Flux, unless it is suspended or has no `rules`, which contain the ignored fields.
fn flux(
    owner: OtherController,
    spec: &Node<'_>,
    rules: Option<&Node<'_>>,
    place: &Location,
) -> Option<Delivery> {
    if spec.is_true(&["suspend"]) {
        return None;
    }
    let ignores = rules?.list("ignore").iter().map(|rule| {
        let field = |name| rule.text_at(&["target", name]).map(Into::into);
        let paths = rule.list("paths").iter();
        Ignore {
            group: field("group"),
            kind: field("kind"),
            name: field("name"),
            pointers: paths
                .filter_map(|path| path.text())
                .map(Into::into)
                .collect(),
        }
    });
    Some(Delivery {
        owner,
        namespace: spec.text_at(&["targetNamespace"]).map(Into::into),
        timing: RevertTiming::AtOnce,
        place: place.clone(),
        project: None,
        respects_ignored: true,
        ignores: ignores.collect(),
    })
}
