//! Objects by which a tool puts back what is in Git or in a chart, and what they leave alone.

use dayshift_workload::{Kind, other_controllers::OtherController};

use crate::yaml::{
    documents,
    node::{Location, Node, Scalar},
};

/// What an Application, a Kustomization or a HelmRelease puts back, and what it leaves alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Which tool it is for.
    pub owner: OtherController,
    /// The namespace of what it brings, where it says one.
    pub namespace: Option<Box<str>>,
    /// When it puts back what was changed.
    pub puts_back: RevertTiming,
    /// Where it stands.
    pub place: Location,
    /// Whether what Argo CD ignores everywhere is left alone at a sync too.
    pub respects_all: bool,
    ignores: Vec<Ignore>,
}

/// What Argo CD ignores in every Application: `resource.customizations.ignoreDifferences.apps_Deployment`
/// or `….all` of the ConfigMap `argocd-cm`
/// (<https://argo-cd.readthedocs.io/en/stable/user-guide/diffing/#system-level-configuration>).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredByAll(Vec<Ignore>);

impl IgnoredByAll {
    /// Reads the ConfigMap; none of any other object.
    pub(crate) fn read(object: &Node<'_>) -> Option<Self> {
        let is_it = |node: Option<&Node<'_>>, text| node.and_then(Node::text) == Some(text);
        let name = object
            .get("metadata")
            .and_then(|metadata| metadata.get("name"));
        if !is_it(object.get("kind"), "ConfigMap") || !is_it(name, "argocd-cm") {
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
            // A text that is no YAML ignores nothing.
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

    /// Whether they leave the count of a workload alone.
    pub fn ignores(&self, kind: Kind, name: &str) -> bool {
        self.0.iter().any(|rule| rule.covers(kind, name))
    }
}

const IGNORE_DIFFERENCES: &str = "resource.customizations.ignoreDifferences.";

/// When a tool puts back what was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevertTiming {
    /// As soon as it sees it.
    AtOnce,
    /// The next time that it applies something: by itself, or because somebody asks for it.
    NextSync,
}

/// A rule that some fields are left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Ignore {
    /// The API group; none for any.
    group: Option<Box<str>>,
    kind: Option<Box<str>>,
    name: Option<Box<str>>,
    pointers: Vec<Box<str>>,
}

impl Delivery {
    /// What an object of a GitOps tool brings; none for any other, and for one that does nothing.
    pub(crate) fn read(object: &Node<'_>) -> Option<Self> {
        let text = |name| object.get(name).and_then(Node::text);
        let (kind, version) = (text("kind")?, text("apiVersion")?);
        let spec = object.get("spec")?;
        let place = &object.place;
        match kind {
            "Application" if version.starts_with("argoproj.io/") => Some(argo_cd(spec, place)),
            "ApplicationSet" if version.starts_with("argoproj.io/") => {
                Some(argo_cd(spec.get("template")?.get("spec")?, place))
            }
            "Kustomization" if version.starts_with("kustomize.toolkit.fluxcd.io/") => {
                kustomization(spec, place)
            }
            "HelmRelease" if version.starts_with("helm.toolkit.fluxcd.io/") => {
                let own = object
                    .get("metadata")
                    .and_then(|metadata| metadata.get("namespace"));
                helm_release(spec, own, place)
            }
            _ => None,
        }
    }

    /// Whether it leaves the count of a workload alone.
    pub fn ignores(&self, kind: Kind, name: &str) -> bool {
        self.ignores.iter().any(|rule| rule.covers(kind, name))
    }
}

impl Ignore {
    fn covers(&self, kind: Kind, name: &str) -> bool {
        let is_it = |wanted: &Option<Box<str>>, text: &str| {
            wanted
                .as_deref()
                .is_none_or(|wanted| wanted == "*" || wanted == text)
        };
        let pointer = kind.pointer();
        is_it(&self.group, kind.group())
            && is_it(&self.kind, kind.name())
            && is_it(&self.name, name)
            && self.pointers.iter().any(|rule| covers(rule, &pointer))
    }
}

/// Whether a pointer leads to a field or to what holds it.
fn covers(rule: &str, pointer: &str) -> bool {
    let rest = pointer.strip_prefix(rule.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The fields that a rule of Argo CD ignores, as JSON pointers.
fn ignored_pointers(rule: &Node<'_>) -> Vec<Box<str>> {
    let list = |name| rule.get(name).map(Node::items).unwrap_or_default().iter();
    let pointers = list("jsonPointers")
        .filter_map(|pointer| pointer.text())
        .map(Into::into);
    let paths = list("jqPathExpressions").filter_map(|path| path.text());
    let paths = paths.map(|path| path.replace('.', "/").into());
    // All that dayshift has written.
    let managers =
        list("managedFieldsManagers").filter(|manager| manager.text() == Some("dayshift"));
    pointers
        .chain(paths)
        .chain(managers.map(|_| "".into()))
        .collect()
}

/// <https://argo-cd.readthedocs.io/en/stable/user-guide/diffing/>
fn argo_cd(spec: &Node<'_>, place: &Location) -> Delivery {
    let policy = spec.get("syncPolicy");
    let automated = policy.and_then(|policy| policy.get("automated"));
    let heals = automated.and_then(|automated| automated.get("selfHeal")?.scalar());
    let options = policy.and_then(|policy| policy.get("syncOptions"));
    let options = options.map(Node::items).unwrap_or_default().iter();
    // Without it, the rules hide a difference, and a sync writes it all the same.
    let respects = options
        .filter_map(|option| option.text())
        .any(|option| option == "RespectIgnoreDifferences=true");
    let rules = spec.get("ignoreDifferences").filter(|_| respects);
    let rules = rules.map(Node::items).unwrap_or_default().iter();
    let ignores = rules.map(|rule| {
        let field = |name| rule.get(name).and_then(|value| value.text());
        Ignore {
            // An omitted group is the core group, in which there are no workloads.
            group: Some(field("group").unwrap_or_default().into()),
            kind: field("kind").map(Into::into),
            name: field("name").map(Into::into),
            pointers: ignored_pointers(rule),
        }
    });
    Delivery {
        owner: OtherController::ArgoCd,
        namespace: spec
            .get("destination")
            .and_then(|destination| destination.get("namespace")?.text())
            .map(Into::into),
        puts_back: match heals {
            Some(Scalar::Bool(true)) => RevertTiming::AtOnce,
            _ => RevertTiming::NextSync,
        },
        place: place.clone(),
        respects_all: respects,
        ignores: ignores.collect(),
    }
}

/// <https://fluxcd.io/flux/components/kustomize/kustomizations/>
fn kustomization(spec: &Node<'_>, place: &Location) -> Option<Delivery> {
    if is_true(spec.get("suspend")) {
        return None;
    }
    Some(Delivery {
        owner: OtherController::FluxKustomization,
        namespace: spec
            .get("targetNamespace")
            .and_then(Node::text)
            .map(Into::into),
        puts_back: RevertTiming::AtOnce,
        place: place.clone(),
        respects_all: false,
        ignores: flux_ignores(spec.get("ignore")),
    })
}

/// <https://fluxcd.io/flux/components/helm/helmreleases/#drift-detection>
fn helm_release(spec: &Node<'_>, own: Option<&Node<'_>>, place: &Location) -> Option<Delivery> {
    if is_true(spec.get("suspend")) {
        return None;
    }
    let drift = spec.get("driftDetection");
    let is_enabled = drift.and_then(|drift| drift.get("mode")?.text()) == Some("enabled");
    let namespace = spec.get("targetNamespace").or(own);
    is_enabled.then(|| Delivery {
        owner: OtherController::FluxHelmRelease,
        namespace: namespace.and_then(Node::text).map(Into::into),
        puts_back: RevertTiming::AtOnce,
        place: place.clone(),
        respects_all: false,
        ignores: flux_ignores(drift.and_then(|drift| drift.get("ignore"))),
    })
}

fn flux_ignores(rules: Option<&Node<'_>>) -> Vec<Ignore> {
    let rules = rules.map(Node::items).unwrap_or_default().iter();
    let rules = rules.map(|rule| {
        let target = rule.get("target");
        let field = |name| {
            target
                .and_then(|target| target.get(name)?.text())
                .map(Into::into)
        };
        let paths = rule
            .get("paths")
            .map(Node::items)
            .unwrap_or_default()
            .iter();
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
    rules.collect()
}

fn is_true(node: Option<&Node<'_>>) -> bool {
    node.and_then(Node::scalar) == Some(Scalar::Bool(true))
}
