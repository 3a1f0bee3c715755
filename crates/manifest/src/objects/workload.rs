//! A workload of a file: its name, count, pods, schedule and, for a CronJob, its times; and the
//! Services through which requests reach it.

use std::{borrow::Cow, collections::BTreeMap, rc::Rc, sync::Arc};

use dayshift_text::{cut_bytes, quote};
use dayshift_workload::{
    CountForm, Footprint, Inputs, Kind, KindTable, Origin, Problem, Replicas, ResourceRequests,
    ServicePort, ServiceSpec, SpecNode, Switch, SwitchConstant, SwitchValue, VolumeRetention,
    WorkloadRef, allows_zero,
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
        let [spec, policy, when_scaled] = VolumeRetention::PATH;
        let volumes = node
            .get(spec)
            .and_then(|spec| spec.get(policy)?.get(when_scaled));
        let own = AnnotationMap::read(metadata, scope, Origin::Own)?;
        let texts = own.texts(scope.prefix);
        let texts = texts.iter().map(|(name, text)| (&**name, *text));
        let inputs = Inputs::from_annotations(scope.prefix, texts);
        let metrics = node.get("spec").and_then(|spec| spec.get("metrics"));
        let mut metrics = metrics.into_iter().flat_map(Node::items);
        let takes = |metric: &Rc<Node<'_>>| {
            metric
                .get("type")
                .and_then(Node::text)
                .is_some_and(allows_zero)
        };
        let is_zero = count
            .as_ref()
            .is_some_and(|(count, _)| *count == Replicas::ZERO);
        let counts = if metrics.any(takes) || is_zero {
            kind.counts().with_zero_minimum()
        } else {
            kind.counts()
        };
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
            footprint: footprint(kind, node),
            pod_labels: pod_labels(node),
            inputs: inputs.with_counts(counts).with_volumes(
                volumes.map_or_else(VolumeRetention::default, |node| {
                    VolumeRetention::from_text(node.text())
                }),
            ),
            operated_by: operated_by(metadata, namespace, scope.kinds),
            scale_down_disabled: scale_down_disabled(kind, node),
            unmanaged_by: unmanaged_by(metadata),
            volumes_place: volumes.map(|node| node.place.clone()),
            annotations: own.annotations,
            problems: own.problems,
            misplaced: misplaced_keys(node, scope, ObjectRole::Scheduled),
        })
    }
}

/// The controller among the owners of an object, if it can be scheduled. An owner is in the same namespace.
fn operated_by(metadata: &Node<'_>, namespace: &str, kinds: &KindTable) -> Option<WorkloadRef> {
    let owners = metadata.get("ownerReferences")?.items();
    let is_controller = |owner: &Node<'_>| {
        let flag = owner.get("controller").and_then(Node::scalar);
        flag == Some(Scalar::Bool(true))
    };
    let controller = owners.iter().find(|owner| is_controller(owner))?;
    let text = |name| controller.get(name).and_then(Node::text);
    Some(WorkloadRef {
        kind: kinds.from_owner(text("apiVersion")?, text("kind")?)?,
        namespace: namespace.into(),
        name: text("name").unwrap_or_default().into(),
        uid: Arc::default(),
    })
}

fn scale_down_disabled(kind: &Kind, node: &Node<'_>) -> Option<Location> {
    let scale_down = node.get("spec")?.get("behavior")?.get("scaleDown")?;
    let policy = scale_down.get("selectPolicy")?;
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
    let annotations = metadata.get("annotations");
    let value = |name| annotations.and_then(|annotations| annotations.get(name)?.text());
    let set = UNMANAGED.iter().filter(|(name, values, _)| {
        let value = value(name).unwrap_or_default();
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
    match kind.form() {
        CountForm::Number(_) => number(path, field),
        CountForm::Suspended => suspend(path, field),
        CountForm::PausedReplicas => Ok(Some((Replicas::ZERO, field.place.clone()))),
        CountForm::Switch(wanted) => switch(wanted, path, field),
    }
}

type PlacedCount = Option<(Replicas, Location)>;

fn number(path: &[String], field: &Node<'_>) -> Result<PlacedCount, ParseError> {
    let count = match field.scalar() {
        Some(Scalar::Number(number)) => number.as_u64().and_then(|count| u32::try_from(count).ok()),
        _ => None,
    };
    match count.filter(|count| i32::try_from(*count).is_ok()) {
        Some(count) => Ok(Some((Replicas::new(count), field.place.clone()))),
        None => Err(not(path, field, "a whole number such as 3")),
    }
}

fn suspend(path: &[String], field: &Node<'_>) -> Result<PlacedCount, ParseError> {
    match field.scalar() {
        Some(Scalar::Bool(is_suspended)) => {
            let count = Replicas::new(u32::from(!is_suspended));
            Ok(Some((count, field.place.clone())))
        }
        _ => Err(not(path, field, "true or false")),
    }
}

fn switch(switch: &Switch, path: &[String], field: &Node<'_>) -> Result<PlacedCount, ParseError> {
    let value = match (field.scalar(), &switch.stopped) {
        (Some(Scalar::Null), _) => return Ok(None),
        (Some(Scalar::Bool(flag)), SwitchConstant::Flag(_)) => SwitchValue::Flag(flag),
        (Some(Scalar::Text), SwitchConstant::Text(_) | SwitchConstant::Instant) => {
            SwitchValue::Text(field.written().unwrap_or_default().into())
        }
        _ => return Err(not(path, field, switch.wanted())),
    };
    let count = Replicas::new(u32::from(!switch.is_stopped(&value)));
    Ok(Some((count, field.place.clone())))
}

fn not(path: &[String], field: &Node<'_>, wanted: &str) -> ParseError {
    let written = field.written().map(|text| format!("`{}`", quote(text)));
    let found = written.unwrap_or_else(|| field.type_name().to_owned());
    ParseError::at(
        &field.place,
        format!("{} is {found}, not {wanted}", path.join(".")),
    )
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
            zone: spec.get("timeZone").and_then(Node::text).map(Into::into),
            place: schedule.place.clone(),
        })
    }
}

/// The pods and requests for each unit of the count of an object.
pub(crate) fn footprint(kind: &Kind, object: &Node<'_>) -> Footprint {
    Footprint::from_spec(kind, || requests(object), object.get("spec"))
}

impl SpecNode for &Node<'_> {
    fn member(self, name: &str) -> Option<Self> {
        self.get(name)
    }

    fn items(self) -> impl Iterator<Item = Self> {
        Node::items(self).iter().map(|item| &**item)
    }

    fn number(self) -> Option<u32> {
        match self.scalar() {
            Some(Scalar::Number(number)) => u32::try_from(number.as_u64()?).ok(),
            _ => None,
        }
    }

    fn flag(self) -> Option<bool> {
        match self.scalar() {
            Some(Scalar::Bool(flag)) => Some(flag),
            _ => None,
        }
    }

    fn written<R>(self, read: impl FnOnce(&str) -> R) -> Option<R> {
        match self.scalar() {
            Some(Scalar::Number(number)) => Some(read(&number.to_string())),
            _ => self.text().map(read),
        }
    }
}

/// The requests of an object's pod template.
fn requests(object: &Node<'_>) -> ResourceRequests {
    template(object).map_or_else(ResourceRequests::default, ResourceRequests::from_template)
}

/// The labels of an object's pods, by which Services select them.
pub(crate) fn pod_labels(object: &Node<'_>) -> BTreeMap<String, String> {
    let metadata = template(object).and_then(|template| template.get("metadata"));
    texts(metadata.and_then(|metadata| metadata.get("labels")))
}

fn template<'n, 'a>(object: &'n Node<'a>) -> Option<&'n Node<'a>> {
    object.get("spec").and_then(|spec| spec.get("template"))
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
        let metadata = node.get("metadata")?;
        let namespace = metadata.get("namespace").and_then(Node::text);
        let spec = node.get("spec");
        let text = |name| spec.and_then(|spec| spec.get(name)?.text());
        let ports = spec.and_then(|spec| spec.get("ports"));
        Some(Self {
            namespace: namespace.unwrap_or(scope.namespace).into(),
            name: metadata.get("name")?.text()?.into(),
            spec: ServiceSpec {
                is_external_name: text("type") == Some("ExternalName"),
                is_headless: text("clusterIP") == Some("None"),
                has_client_affinity: text("sessionAffinity") == Some("ClientIP"),
                selector: texts(spec.and_then(|spec| spec.get("selector"))),
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
    let text = |name| node.get(name).and_then(Node::text);
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
pub(crate) fn texts(node: Option<&Node<'_>>) -> BTreeMap<String, String> {
    let entries = node.map_or(&[][..], Node::entries).iter();
    entries
        .filter_map(|entry| Some((entry.name().to_owned(), entry.value.text()?.to_owned())))
        .collect()
}
