//! A workload of a file.

use std::{borrow::Cow, collections::BTreeMap, rc::Rc, sync::Arc};

use dayshift_text::{cut_bytes, quote};
use dayshift_workload::{
    Footprint, Inputs, Kind, Origin, Problem, Replicas, VolumeRetention, WorkloadRef, allows_zero,
    names::{is_dns_label, is_dns_subdomain},
};

use crate::manifest::{
    annotations::{
        annotation::{Annotation, is_filled_in},
        annotation_map::AnnotationMap,
        misplaced_key::{MisplacedKey, misplaced_keys},
    },
    objects::{
        count::count,
        cron_job::CronTimes,
        pod_template::{footprint, pod_labels},
    },
    scope::Scope,
    tree::{location::Location, node::Node, parse::ParseError, scalar::Scalar},
};

/// A workload as a file has it.
#[derive(Clone, Debug)]
pub struct Workload {
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
    /// of its Namespace after [`inherit`](crate::manifest::inherit).
    pub inputs: Inputs,
    /// The same annotations with their places, in the order of the file; each name once.
    pub annotations: Vec<Annotation>,
    /// Why they are not what the API server will take them for: it refuses annotations that are
    /// no text, and of two with the same name kubectl sends it the last.
    pub problems: Vec<Problem>,
    /// Names of ours, and such as may have been meant for them, anywhere else on it.
    pub misplaced: Vec<MisplacedKey>,
}

impl Workload {
    /// Whether a tool fills in an annotation before anything is applied: nobody knows its schedule.
    pub fn is_filled_in(&self) -> bool {
        self.annotations.iter().any(Annotation::is_filled_in)
    }

    /// Reads an object of that kind.
    pub(crate) fn read(kind: Kind, node: &Node<'_>, scope: Scope<'_>) -> Result<Self, ParseError> {
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
            .and_then(|it| it.get(policy)?.get(when_scaled));
        let own = AnnotationMap::read(metadata, scope, Origin::Own)?;
        let texts = own.texts(scope.prefix);
        let texts = texts.iter().map(|(name, text)| (&**name, *text));
        let inputs = Inputs::from_annotations(scope.prefix, texts);
        let metrics = node.get("spec").and_then(|spec| spec.get("metrics"));
        let mut metrics = metrics.into_iter().flat_map(Node::items);
        let takes =
            |it: &Rc<Node<'_>>| it.get("type").and_then(Node::text).is_some_and(allows_zero);
        let is_zero = count.as_ref().is_some_and(|(it, _)| *it == Replicas::ZERO);
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
                volumes.map_or_else(VolumeRetention::default, |it| {
                    VolumeRetention::from_text(it.text())
                }),
            ),
            operated_by: operated_by(metadata),
            volumes_place: volumes.map(|it| it.place.clone()),
            annotations: own.annotations,
            problems: own.problems,
            misplaced: misplaced_keys(node, scope, true),
        })
    }
}

/// The kind of the controller among the owners of an object, if it is one that can be scheduled.
fn operated_by(metadata: &Node<'_>) -> Option<Kind> {
    let owners = metadata.get("ownerReferences")?.items();
    let is_controller = |it: &Node<'_>| {
        let flag = it.get("controller").and_then(Node::scalar);
        flag == Some(Scalar::Bool(true))
    };
    let controller = owners.iter().find(|it| is_controller(it))?;
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
    let place = metadata.get(field).map(|it| &it.place);
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
    Ok(prefix.map(|it| format!("{}xxxxx", cut_bytes(it, MAX_GENERATED)).into()))
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
            let message = format!("{path}{name} is {}, not text; quote it", field.what());
            Err(ParseError::at(&field.place, message))
        }
    }
}
