//! Objects that dayshift does not scale but that affect schedules: autoscalers, objects of GitOps
//! tools (Argo CD and Flux) and the counts that they revert, schedules of other tools, and
//! kustomizations.

use std::path::Path;

use dayshift_workload::{Kind, other_controllers::OtherController};

use crate::{
    annotations::{MisplacedKey, ObjectRole, ReadScope, misplaced_keys},
    yaml::{
        documents,
        node::{Location, Node, Scalar},
    },
};

/// An object that dayshift does not scale, with annotations like dayshift's or an effect on
/// scheduled workloads.
#[derive(Clone, Debug)]
pub struct OtherObject {
    /// The kind, such as `DaemonSet`.
    pub kind: Box<str>,
    /// The API version, such as `apps/v1`; empty if it is missing.
    pub api_version: Box<str>,
    /// The tool whose schedule it is.
    pub other_tool: Option<OtherTool>,
    /// The namespace. Objects without one have the default.
    pub namespace: Box<str>,
    /// The name; empty if it is missing.
    pub name: Box<str>,
    /// The place of the object.
    pub place: Location,
    /// Whether it has `spec.replicas`, so that it can likely be scaled.
    pub has_replicas: bool,
    /// Whether a controller made it, and might have copied the annotations of its owner.
    pub is_owned: bool,
    /// Names with dayshift's prefix, or similar ones.
    pub misplaced: Vec<MisplacedKey>,
    /// The workload that it scales.
    pub scales: Option<ScaledTarget>,
    /// The objects that it delivers, if it is an object of a GitOps tool.
    pub delivers: Option<Delivery>,
    /// The fields that Argo CD ignores in every Application, if it is the ConfigMap `argocd-cm`.
    pub ignored_by_all: Option<IgnoredByAll>,
    /// Whether it is an AppProject that limits the times of syncs.
    pub has_sync_windows: bool,
}

impl OtherObject {
    /// Reads an object; `None` if it does not affect schedules.
    pub(crate) fn read(node: &Node<'_>, scope: ReadScope<'_>) -> Option<Self> {
        let kind = node.text_at(&["kind"])?;
        let misplaced = misplaced_keys(node, scope, ObjectRole::Other);
        let scales = ScaledTarget::read(node);
        let delivers = Delivery::read(node);
        let ignored_by_all = IgnoredByAll::read(node);
        let api_version = node.text_at(&["apiVersion"]).unwrap_or_default();
        let other_tool = OtherTool::find(api_version, kind);
        let has_items = |path: &[&str]| node.at(path).is_some_and(|list| !list.items().is_empty());
        let has_sync_windows = kind == "AppProject" && has_items(&["spec", "syncWindows"]);
        let is_manager = scales.is_some() || delivers.is_some() || ignored_by_all.is_some();
        if misplaced.is_empty() && !is_manager && !has_sync_windows && other_tool.is_none() {
            return None;
        }
        let text = |name| node.text_at(&["metadata", name]);
        Some(Self {
            kind: kind.into(),
            api_version: api_version.into(),
            other_tool,
            namespace: text("namespace").unwrap_or(scope.namespace).into(),
            name: text("name").unwrap_or_default().into(),
            place: node.place.clone(),
            has_replicas: node.at(&["spec", "replicas"]).is_some(),
            is_owned: has_items(&["metadata", "ownerReferences"]),
            misplaced,
            scales,
            delivers,
            ignored_by_all,
            has_sync_windows,
        })
    }

    /// Reads the effect on other workloads of an object that is a workload itself. Its own
    /// annotations are read with its count.
    pub(crate) fn scaling(node: &Node<'_>, scope: ReadScope<'_>) -> Option<Self> {
        ScaledTarget::read(node)?;
        let other = Self::read(node, scope)?;
        Some(Self {
            misplaced: Vec::new(),
            ..other
        })
    }
}

/// A tool that starts and stops workloads by objects of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherTool {
    /// As messages name it.
    pub name: &'static str,
    /// Whether `dayshift convert` reads its schedules.
    pub is_converted: bool,
}

/// The schedules of other tools by API group and kind. The group `*` is any: forks and cloud providers
/// use the kind with groups of their own.
const OTHER_TOOLS: [(&str, &str, OtherTool); 10] = [
    ("kube-green.com", "SleepInfo", converted("kube-green")),
    (
        "autoscaling.alibabacloud.com",
        "CronHorizontalPodAutoscaler",
        converted("kubernetes-cronhpa-controller"),
    ),
    (
        "*",
        "CronHorizontalPodAutoscaler",
        unread("a CronHorizontalPodAutoscaler of another API group"),
    ),
    ("*", "CronFederatedHPA", unread("Karmada")),
    ("*", "DownscalePolicy", unread("a downscaler")),
    ("*", "ElastiService", unread("KubeElasti")),
    ("*", "HibernatePlan", unread("Hibernator")),
    ("*", "Hibernator", unread("winter-soldier")),
    ("*", "SleepCycle", unread("sleepcycles")),
    ("*", "SleepSchedule", unread("a tool such as Snorlax")),
];

const fn converted(name: &'static str) -> OtherTool {
    OtherTool {
        name,
        is_converted: true,
    }
}

const fn unread(name: &'static str) -> OtherTool {
    OtherTool {
        name,
        is_converted: false,
    }
}

impl OtherTool {
    /// The tool that an object of this version and kind belongs to.
    pub(crate) fn find(api_version: &str, kind: &str) -> Option<Self> {
        // Kinds of the core group have no group.
        let (group, _) = api_version.split_once('/')?;
        let is_match = |row: &&(&str, &str, Self)| matches!(row.0, "*") || row.0 == group;
        let mut rows = OTHER_TOOLS.iter().filter(|row| row.1 == kind);
        rows.find(is_match).map(|row| row.2)
    }
}

/// The workload that an object scales, in the object's namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScaledTarget {
    /// The type of the scaling object.
    pub by: ScaledBy,
    /// The workload's kind.
    pub kind: Kind,
    /// The workload's name.
    pub name: Box<str>,
    /// The place of that name.
    pub place: Location,
    /// The lowest count. The default of a HorizontalPodAutoscaler is 1, that of a ScaledObject 0.
    pub min: u64,
    /// The highest count, if given.
    pub max: Option<u64>,
}

/// The type of an object that scales a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScaledBy {
    /// A HorizontalPodAutoscaler.
    Autoscaler,
    /// A ScaledObject of KEDA.
    ScaledObject,
    /// An Argo Rollout that runs pods with the template of a Deployment, and scales the Deployment down.
    Rollout,
}

impl ScaledTarget {
    /// Reads the target of an object that scales a workload.
    pub(crate) fn read(object: &Node<'_>) -> Option<Self> {
        let version = object.text_at(&["apiVersion"]).unwrap_or_default();
        let by = match object.text_at(&["kind"])? {
            "HorizontalPodAutoscaler" => ScaledBy::Autoscaler,
            "ScaledObject" if version.starts_with("keda.sh/") => ScaledBy::ScaledObject,
            "Rollout" if version.starts_with("argoproj.io/") => ScaledBy::Rollout,
            _ => return None,
        };
        let (target, least, most) = match by {
            ScaledBy::Autoscaler => ("scaleTargetRef", "minReplicas", "maxReplicas"),
            ScaledBy::ScaledObject => ("scaleTargetRef", "minReplicaCount", "maxReplicaCount"),
            ScaledBy::Rollout => ("workloadRef", "", ""),
        };
        let spec = object.get("spec")?;
        let target = spec.get(target)?;
        let kind = match (target.get("kind"), by) {
            (None, ScaledBy::ScaledObject) => "Deployment",
            (kind, _) => kind?.text()?,
        };
        let kind = Kind::BUILT_IN
            .into_iter()
            .find(|known| known.name() == kind)?;
        let name = target.get("name")?;
        let count = |field| match spec.get(field)?.scalar()? {
            Scalar::Number(number) => number.as_u64(),
            _ => None,
        };
        Some(Self {
            by,
            kind,
            name: name.text()?.into(),
            place: name.place.clone(),
            min: count(least).unwrap_or(u64::from(by == ScaledBy::Autoscaler)),
            max: count(most),
        })
    }
}

/// A field of a kustomization that changes objects, so that the rendered objects differ from those
/// in the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrendered {
    /// The field, such as `components`.
    pub field: &'static str,
    /// The place of its name.
    pub place: Location,
}

/// The fields that change annotations or counts, or add objects from elsewhere
/// (<https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/>).
const CHANGING: [&str; 12] = [
    "bases",
    "commonAnnotations",
    "components",
    "generators",
    "helmCharts",
    "patches",
    "patchesJson6902",
    "patchesStrategicMerge",
    "replacements",
    "replicas",
    "transformers",
    "vars",
];

impl Unrendered {
    /// Finds the first such field in a kustomization. `file` is the name of its file.
    pub(crate) fn read(node: &Node<'_>, file: &str) -> Option<Self> {
        let version = node.text_at(&["apiVersion"]).unwrap_or_default();
        let is_named = || {
            let name = Path::new(file).file_name().and_then(|name| name.to_str());
            matches!(name, Some("kustomization.yaml" | "kustomization.yml"))
        };
        let is_kustomization = match node.text_at(&["kind"]) {
            Some("Kustomization" | "Component") => version.starts_with("kustomize.config.k8s.io/"),
            Some(_) => false,
            None => is_named(),
        };
        if !is_kustomization {
            return None;
        }
        let entries = node.entries().iter();
        let mut found = entries.filter_map(|entry| {
            let field = CHANGING
                .into_iter()
                .find(|changing| *changing == entry.name())?;
            let place = entry.key.place.clone();
            Some(Self { field, place })
        });
        found.next()
    }
}

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
