//! A workload of a file.
//!
//! The count that a manifest asks for.
//!
//! The times of a CronJob.
//!
//! What the pod template of a manifest requests, and the labels of its pods.
//!
//! Services of files, by which requests reach workloads.

use std::{borrow::Cow, collections::BTreeMap, rc::Rc, sync::Arc};

use dayshift_text::{cut_bytes, quote};
use dayshift_workload::{
    CountForm, Footprint, Inputs, Kind, Origin, Problem, Replicas, ResourceRequests, ServicePort,
    ServiceSpec, SpecNode, Switch, SwitchConstant, SwitchValue, VolumeRetention, WorkloadRef,
    allows_zero,
    names::{is_dns_label, is_dns_subdomain},
};

use crate::{
    annotations::{
        Annotation, AnnotationMap, MisplacedKey, ReadScope, is_filled_in, misplaced_keys,
    },
    yaml::{
        ParseError,
        node::{Location, Node, Scalar},
    },
};

/// A workload as a file has it.
#[derive(Clone, Debug)]
pub struct ManifestWorkload {
    /// Which object it is, or will be; the UID is empty in a file that no cluster has written.
    pub object: WorkloadRef,
    /// Where it stands in the file.
    pub place: Location,
    /// The count that it asks for, if it does: `spec.replicas`, for most kinds.
    pub replicas: Option<Replicas>,
    /// Where that stands.
    pub count_place: Option<Location>,
    /// The kind of the resource whose operator makes it, where that can be scheduled in its place.
    pub operated_by: Option<Kind>,
    /// Where it says what becomes of its volumes when it is scaled down, if it does.
    pub volumes_place: Option<Location>,
    /// When it makes Jobs, if it is a CronJob.
    pub cron: Option<CronTimes>,
    /// What 1 of its count stands for.
    pub footprint: Footprint,
    /// The labels of its pods.
    pub pod_labels: BTreeMap<String, String>,
    /// Its annotations under the prefix, as [`dayshift_workload::read`] takes them; with the defaults
    /// of its Namespace after [`inherit`](crate::inherit).
    pub inputs: Inputs,
    /// The same annotations with their places, in the order of the file; each name once.
    pub annotations: Vec<Annotation>,
    /// Why they are not what the API server will take them for: it refuses annotations that are
    /// no text, and of two with the same name kubectl sends it the last.
    pub problems: Vec<Problem>,
    /// Names of ours, and such as may have been meant for them, anywhere else on it.
    pub misplaced: Vec<MisplacedKey>,
}

impl ManifestWorkload {
    /// Whether a tool fills in an annotation before anything is applied: nobody knows its schedule.
    pub fn is_filled_in(&self) -> bool {
        self.annotations.iter().any(Annotation::is_filled_in)
    }

    /// Whether its manifest has a 0 at which its schedule leaves it.
    pub(crate) fn is_kept_at_zero(&self) -> bool {
        self.replicas == Some(Replicas::ZERO) && self.inputs.keeps_zero()
    }

    /// Reads an object of that kind.
    pub(crate) fn read(
        kind: Kind,
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
        refuse_unless(metadata, "name", &name, is_dns_subdomain)?;
        refuse_unless(metadata, "namespace", namespace, is_dns_label)?;
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
        let counts = kind.counts().scaling_to_zero(metrics.any(takes) || is_zero);
        Ok(Self {
            object: WorkloadRef {
                kind,
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
            operated_by: operated_by(metadata),
            volumes_place: volumes.map(|node| node.place.clone()),
            annotations: own.annotations,
            problems: own.problems,
            misplaced: misplaced_keys(node, scope, true),
        })
    }
}

/// The kind of the controller among the owners of an object, if it is one that can be scheduled.
fn operated_by(metadata: &Node<'_>) -> Option<Kind> {
    let owners = metadata.get("ownerReferences")?.items();
    let is_controller = |owner: &Node<'_>| {
        let flag = owner.get("controller").and_then(Node::scalar);
        flag == Some(Scalar::Bool(true))
    };
    let controller = owners.iter().find(|owner| is_controller(owner))?;
    let text = |name| controller.get(name).and_then(Node::text);
    Kind::of_owner(text("apiVersion")?, text("kind")?)
}

/// Refuses a name that the API server would, unless a tool fills it in.
fn refuse_unless(
    metadata: &Node<'_>,
    field: &str,
    name: &str,
    is_good: fn(&str) -> bool,
) -> Result<(), ParseError> {
    let place = metadata.get(field).map(|node| &node.place);
    let Some(place) = place.filter(|_| !is_good(name) && !is_filled_in(name)) else {
        return Ok(());
    };
    let message = format!(
        "the API server refuses `{}` as metadata.{field}: write a-z, 0-9 and -, such as web-1",
        quote(name)
    );
    Err(ParseError::at(place, message))
}

/// The name of an object. What an API server makes of a `generateName` is not known before: it stands
/// here with an `x` for each of the five letters that it adds.
pub(crate) fn name<'n>(metadata: &'n Node<'_>) -> Result<Option<Cow<'n, str>>, ParseError> {
    if let Some(name) = text(metadata, "metadata.", "name")? {
        return Ok(Some(name.into()));
    }
    let prefix = text(metadata, "metadata.", "generateName")?;
    Ok(prefix.map(|prefix| format!("{}xxxxx", cut_bytes(prefix, MAX_GENERATED)).into()))
}

/// How many bytes of a `generateName` an API server keeps.
const MAX_GENERATED: usize = 58;

/// A field that is a text where it is given.
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

/// The count of an object of this kind, and where it stands.
///
/// # Errors
/// Where something else stands there, which the API server would refuse.
pub(crate) fn count(
    kind: Kind,
    node: &Node<'_>,
) -> Result<Option<(Replicas, Location)>, ParseError> {
    let path = kind.path();
    let Some(field) = path.iter().try_fold(node, |node, name| node.get(name)) else {
        return Ok(None);
    };
    match kind.form() {
        CountForm::Number(_) => number(path, field),
        CountForm::Suspended => suspend(path, field),
        CountForm::RestsAt => Ok(Some((Replicas::ZERO, field.place.clone()))),
        CountForm::Switch(wanted) => switch(wanted, path, field),
    }
}

type PlacedCount = Option<(Replicas, Location)>;

fn number(path: &[&str], field: &Node<'_>) -> Result<PlacedCount, ParseError> {
    let count = match field.scalar() {
        Some(Scalar::Number(number)) => number.as_u64().and_then(|count| u32::try_from(count).ok()),
        _ => None,
    };
    match count.filter(|count| i32::try_from(*count).is_ok()) {
        Some(count) => Ok(Some((Replicas::new(count), field.place.clone()))),
        None => Err(not(path, field, "a whole number such as 3")),
    }
}

fn suspend(path: &[&str], field: &Node<'_>) -> Result<PlacedCount, ParseError> {
    match field.scalar() {
        Some(Scalar::Bool(is_suspended)) => {
            let count = Replicas::new(u32::from(!is_suspended));
            Ok(Some((count, field.place.clone())))
        }
        _ => Err(not(path, field, "true or false")),
    }
}

fn switch(switch: &Switch, path: &[&str], field: &Node<'_>) -> Result<PlacedCount, ParseError> {
    let value = match (field.scalar(), switch.stopped) {
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

fn not(path: &[&str], field: &Node<'_>, wanted: &str) -> ParseError {
    let written = field.written().map(|text| format!("`{}`", quote(text)));
    let found = written.unwrap_or_else(|| field.type_name().to_owned());
    ParseError::at(
        &field.place,
        format!("{} is {found}, not {wanted}", path.join(".")),
    )
}

/// When a CronJob makes its Jobs.
#[derive(Clone, Debug)]
pub struct CronTimes {
    /// The text of `spec.schedule`.
    pub text: Box<str>,
    /// The zone of its clock, where the manifest names one.
    pub zone: Option<Box<str>>,
    /// Where the text stands.
    pub place: Location,
}

impl CronTimes {
    /// Reads those of an object of that kind; none where it has none.
    pub(crate) fn read(kind: Kind, node: &Node<'_>) -> Option<Self> {
        let spec = node.get("spec").filter(|_| kind == Kind::CRON_JOB)?;
        let schedule = spec.get("schedule")?;
        Some(Self {
            text: schedule.text()?.into(),
            zone: spec.get("timeZone").and_then(Node::text).map(Into::into),
            place: schedule.place.clone(),
        })
    }
}

/// What 1 of the count of an object stands for.
pub(crate) fn footprint(kind: Kind, object: &Node<'_>) -> Footprint {
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

/// What the pod template of an object requests.
fn requests(object: &Node<'_>) -> ResourceRequests {
    template(object).map_or_else(ResourceRequests::default, ResourceRequests::from_template)
}

/// The labels of the pods of an object, by which Services select them.
pub(crate) fn pod_labels(object: &Node<'_>) -> BTreeMap<String, String> {
    let metadata = template(object).and_then(|template| template.get("metadata"));
    texts(metadata.and_then(|metadata| metadata.get("labels")))
}

fn template<'n, 'a>(object: &'n Node<'a>) -> Option<&'n Node<'a>> {
    object.get("spec").and_then(|spec| spec.get("template"))
}

/// A Service as a file has it. What has another form than Kubernetes gives it counts as left out.
#[derive(Clone, Debug)]
pub struct Service {
    /// Its namespace.
    pub namespace: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// What there is to know of it.
    pub spec: ServiceSpec,
}

impl Service {
    /// Reads an object of that kind, if it has a name.
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

/// The entries of a map that are texts.
pub(crate) fn texts(node: Option<&Node<'_>>) -> BTreeMap<String, String> {
    let entries = node.map_or(&[][..], Node::entries).iter();
    entries
        .filter_map(|entry| Some((entry.name().to_owned(), entry.value.text()?.to_owned())))
        .collect()
}
