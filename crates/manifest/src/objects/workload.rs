//! A workload of a file: its name, count, pods, schedule and, for a CronJob, its times; and the
//! Services through which requests reach it.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use dayshift_text::{cut_bytes, quote};
use dayshift_workload::{
    Footprint, Inputs, Kind, KindTable, ObjectSpec, Origin, Problem, Replicas, ServicePort,
    ServiceSpec, VolumeRetention, WorkloadRef,
    names::{is_dns_label, is_dns_subdomain},
    other_controllers::OtherController,
};

use crate::{
    annotations::{
        Annotation, AnnotationMap, MisplacedKey, ObjectRole, ReadScope, is_filled_in,
        misplaced_keys,
    },
    yaml::{
        ParseError,
        node::{Location, Node, Scalar},
    },
};

/// A workload of a file.
#[derive(Clone, Debug)]
pub struct ManifestWorkload {
    /// The object. The UID is empty unless a cluster has written the file.
    pub object: WorkloadRef,
    /// The place of the object.
    pub place: Location,
    /// The count in the manifest, for most kinds `spec.replicas`.
    pub replicas: Option<Replicas>,
    /// The place of the count.
    pub count_place: Option<Location>,
    /// The resource whose operator made the workload, if that can be scheduled instead. Its UID is empty.
    pub operated_by: Option<WorkloadRef>,
    /// The place of the field that sets whether scaling down deletes volumes.
    pub volumes_place: Option<Location>,
    /// The place of `behavior.scaleDown.selectPolicy: Disabled`, if it is an autoscaler with it.
    pub(crate) scale_down_disabled: Option<Location>,
    /// The GitOps tools that annotations exclude it from.
    pub(crate) unmanaged_by: Vec<OtherController>,
    /// The times of a CronJob.
    pub cron: Option<CronTimes>,
    /// The pods and requests for each unit of its count.
    pub footprint: Footprint,
    /// The labels of its pods.
    pub pod_labels: BTreeMap<String, String>,
    /// Its annotations with the prefix, as [`dayshift_workload::read`] takes them.
    /// [`inherit`](crate::inherit) adds the defaults of its Namespace.
    pub inputs: Inputs,
    /// The same annotations with their places, in the order of the file; each name once.
    pub annotations: Vec<Annotation>,
    /// Problems with the form of the annotations: the API server rejects values that are not text,
    /// and if a name is given twice, kubectl sends the last one.
    pub problems: Vec<Problem>,
    /// Misplaced names with the prefix, or similar ones.
    pub misplaced: Vec<MisplacedKey>,
}

impl ManifestWorkload {
    /// Whether a tool fills in an annotation before anything is applied, so that the schedule is
    /// unknown.
    pub fn is_filled_in(&self) -> bool {
        self.annotations.iter().any(Annotation::is_filled_in)
    }

    /// Whether the manifest sets 0 and the schedule keeps it.
    pub(crate) fn is_kept_at_zero(&self) -> bool {
        self.replicas == Some(Replicas::ZERO) && self.inputs.keeps_zero()
    }

    /// Reads an object of this kind.
    pub(crate) fn read(
        kind: &Kind,
        node: &Node<'_>,
        scope: ReadScope<'_>,
    ) -> Result<Self, ParseError> {
        let Some(metadata) = node.get("metadata") else {
            return Err(ParseError::at(
                &node.place,
                format!("this {kind} has no metadata, and so no name"),
            ));
        };
        let Some(name) = name(metadata)? else {
            return Err(ParseError::at(
                &metadata.place,
                format!("this {kind} has no metadata.name"),
            ));
        };
        let namespace = text(metadata, "metadata.", "namespace")?.unwrap_or(scope.namespace);
        check_name(metadata, "name", &name, MAX_NAME, is_dns_subdomain)?;
        check_name(
            metadata,
            "namespace",
            namespace,
            MAX_NAMESPACE,
            is_dns_label,
        )?;
        let count = count(kind, node)?;
        let volumes_place = node
            .at(&VolumeRetention::PATH)
            .map(|node| node.place.clone());
        let spec = node
            .get("spec")
            .map(|spec| ObjectSpec::from_value(&spec.json()));
        let spec = spec.unwrap_or_default();
        let own = AnnotationMap::read(metadata, scope, Origin::Own)?;
        let inputs = Inputs::from_own(Arc::new(own.read_under(scope.prefix)));
        Ok(Self {
            object: WorkloadRef {
                kind: kind.clone(),
                namespace: namespace.into(),
                name: (*name).into(),
                uid: Arc::from(text(metadata, "metadata.", "uid")?.unwrap_or_default()),
            },
            place: node.place.clone(),
            replicas: count.as_ref().map(|(count, _)| *count),
            count_place: count.map(|(_, place)| place),
            cron: CronTimes::read(kind, node),
            footprint: Footprint::from_spec(kind, &spec),
            pod_labels: pod_labels(node),
            inputs: inputs
                .with_counts(spec.counts(kind))
                .with_volumes(spec.volumes()),
            operated_by: operated_by(metadata, namespace, scope.kinds),
            scale_down_disabled: scale_down_disabled(kind, node),
            unmanaged_by: unmanaged_by(metadata),
            volumes_place,
            annotations: own.annotations,
            problems: own.problems,
            misplaced: misplaced_keys(node, scope, ObjectRole::Scheduled),
        })
    }
}

/// The controller among the owners of an object, if it can be scheduled. An owner is in the same namespace.
fn operated_by(metadata: &Node<'_>, namespace: &str, kinds: &KindTable) -> Option<WorkloadRef> {
    let mut owners = metadata.list("ownerReferences").iter();
    let controller = owners.find(|owner| owner.is_true(&["controller"]))?;
    let text = |name| controller.text_at(&[name]);
    Some(WorkloadRef {
        kind: kinds.from_owner(text("apiVersion")?, text("kind")?)?,
        namespace: namespace.into(),
        name: text("name").unwrap_or_default().into(),
        uid: Arc::default(),
    })
}

fn scale_down_disabled(kind: &Kind, node: &Node<'_>) -> Option<Location> {
    let policy = node.at(&["spec", "behavior", "scaleDown", "selectPolicy"])?;
    let is_hpa = kind.name() == "HorizontalPodAutoscaler";
    (is_hpa && policy.text() == Some("Disabled")).then(|| policy.place.clone())
}

/// The annotations by which Flux ignores an object
/// (<https://fluxcd.io/flux/components/kustomize/kustomizations/#controlling-the-apply-behavior-of-resources>,
/// <https://fluxcd.io/flux/components/helm/helmreleases/#ignore-annotation>).
const UNMANAGED: [(&str, &[&str], OtherController); 3] = [
    (
        "kustomize.toolkit.fluxcd.io/reconcile",
        &["disabled"],
        OtherController::FluxKustomization,
    ),
    (
        "kustomize.toolkit.fluxcd.io/ssa",
        &["Ignore", "IfNotPresent"],
        OtherController::FluxKustomization,
    ),
    (
        "helm.toolkit.fluxcd.io/driftDetection",
        &["disabled"],
        OtherController::FluxHelmRelease,
    ),
];

fn unmanaged_by(metadata: &Node<'_>) -> Vec<OtherController> {
    let set = UNMANAGED.iter().filter(|(name, values, _)| {
        let value = metadata.text_at(&["annotations", name]).unwrap_or_default();
        values.iter().any(|known| known.eq_ignore_ascii_case(value))
    });
    set.map(|(.., controller)| *controller).collect()
}

/// The maximum length of a name (RFC 1123 subdomain) and of a namespace (label).
const MAX_NAME: usize = 253;
const MAX_NAMESPACE: usize = 63;

/// Rejects a name that the API server would reject, unless a tool fills it in.
fn check_name(
    metadata: &Node<'_>,
    field: &str,
    name: &str,
    max: usize,
    is_valid: fn(&str) -> bool,
) -> Result<(), ParseError> {
    let place = metadata.get(field).map(|node| &node.place);
    let Some(place) = place.filter(|_| !is_valid(name) && !is_filled_in(name)) else {
        return Ok(());
    };
    let help = if name.len() > max {
        format!(
            "it has {} characters, and at most {max} are allowed",
            name.len()
        )
    } else {
        "write a-z, 0-9 and -, such as web-1".to_owned()
    };
    let message = format!(
        "the API server rejects `{}` as metadata.{field}: {help}",
        quote(name)
    );
    Err(ParseError::at(place, message))
}

/// The name of an object. The API server appends five random characters to a `generateName`; here
/// they are `x`.
pub(crate) fn name<'n>(metadata: &'n Node<'_>) -> Result<Option<Cow<'n, str>>, ParseError> {
    if let Some(name) = text(metadata, "metadata.", "name")? {
        return Ok(Some(name.into()));
    }
    let prefix = text(metadata, "metadata.", "generateName")?;
    Ok(prefix.map(|prefix| format!("{}xxxxx", cut_bytes(prefix, MAX_GENERATED)).into()))
}

/// The number of bytes of a `generateName` that the API server keeps.
const MAX_GENERATED: usize = 58;

/// A field that must be text if it is present.
pub(crate) fn text<'n>(
    node: &'n Node<'_>,
    path: &str,
    name: &str,
) -> Result<Option<&'n str>, ParseError> {
    let Some(field) = node.get(name) else {
        return Ok(None);
    };
    match field.text() {
        Some("") => Ok(None),
        Some(text) => Ok(Some(text)),
        None => {
            let message = format!("{path}{name} is {}, not text; quote it", field.type_name());
            Err(ParseError::at(&field.place, message))
        }
    }
}

/// The count of an object of this kind, and its place.
///
/// # Errors
/// If the field has a value that the API server would reject.
pub(crate) fn count(
    kind: &Kind,
    node: &Node<'_>,
) -> Result<Option<(Replicas, Location)>, ParseError> {
    let path = kind.path();
    let Some(field) = path.iter().try_fold(node, |node, name| node.get(name)) else {
        return Ok(None);
    };
    if let Some(count) = kind.form().count(&field.json()) {
        return Ok(Some((count, field.place.clone())));
    }
    let (path, found) = (path.join("."), field.described());
    let message = format!("{path} is {found}, not {}", kind.form().wanted());
    Err(ParseError::at(&field.place, message))
}

/// The times at which a CronJob makes Jobs.
#[derive(Clone, Debug)]
pub struct CronTimes {
    /// The value of `spec.schedule`.
    pub text: Box<str>,
    /// The value of `spec.timeZone`.
    pub zone: Option<Box<str>>,
    /// The place of the schedule.
    pub place: Location,
}

impl CronTimes {
    /// Reads the times of an object of this kind; `None` if it has none.
    pub(crate) fn read(kind: &Kind, node: &Node<'_>) -> Option<Self> {
        let spec = node.get("spec").filter(|_| *kind == Kind::CRON_JOB)?;
        let schedule = spec.get("schedule")?;
        Some(Self {
            text: schedule.text()?.into(),
            zone: spec.text_at(&["timeZone"]).map(Into::into),
            place: schedule.place.clone(),
        })
    }
}

/// The labels of an object's pods, by which Services select them.
fn pod_labels(object: &Node<'_>) -> BTreeMap<String, String> {
    texts(object.at(&["spec", "template", "metadata", "labels"]))
}

/// A Service of a file. Fields of another type than in Kubernetes count as missing.
#[derive(Clone, Debug)]
pub struct Service {
    /// The namespace.
    pub namespace: Box<str>,
    /// The name.
    pub name: Box<str>,
    /// The ports and the selector.
    pub spec: ServiceSpec,
}

impl Service {
    /// Reads a Service, if it has a name.
    pub(crate) fn read(node: &Node<'_>, scope: ReadScope<'_>) -> Option<Self> {
        let namespace = node.text_at(&["metadata", "namespace"]);
        let text = |name| node.text_at(&["spec", name]);
        let ports = node.at(&["spec", "ports"]);
        Some(Self {
            namespace: namespace.unwrap_or(scope.namespace).into(),
            name: node.text_at(&["metadata", "name"])?.into(),
            spec: ServiceSpec {
                is_external_name: text("type") == Some("ExternalName"),
                is_headless: text("clusterIP") == Some("None"),
                has_client_affinity: text("sessionAffinity") == Some("ClientIP"),
                selector: texts(node.at(&["spec", "selector"])),
                ports: ports
                    .map_or(&[][..], Node::items)
                    .iter()
                    .map(|port| service_port(port))
                    .collect(),
            },
        })
    }
}

fn service_port(node: &Node<'_>) -> ServicePort {
    let text = |name| node.text_at(&[name]);
    let number = match node.get("port").and_then(Node::scalar) {
        Some(Scalar::Number(number)) => number.to_string().parse().ok(),
        _ => None,
    };
    ServicePort {
        name: text("name").unwrap_or_default().into(),
        number: number.unwrap_or_default(),
        protocol: text("protocol").map(Into::into),
    }
}

/// The entries of a map that are text.
fn texts(node: Option<&Node<'_>>) -> BTreeMap<String, String> {
    let entries = node.map_or(&[][..], Node::entries).iter();
    entries
        .filter_map(|entry| Some((entry.name().to_owned(), entry.value.text()?.to_owned())))
        .collect()
}
