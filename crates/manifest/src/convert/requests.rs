//! The annotations that another tool's objects request for other objects.

use std::{
    collections::{BTreeSet, HashSet},
    mem,
};

use dayshift_text::{quote, shell_word};
use dayshift_workload::{Key, Kind, Label};

use crate::{
    convert::{
        conversion::{ChangeTarget, Converter, ObjectRef, PlacedFinding, Topic},
        document::Document,
        week::{KeyTexts, days_of, minutes_of_week, starts_and_stops},
    },
    finding::Finding,
    yaml::node::{Location, Node},
};

/// The objects of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RequestTarget {
    Object(ObjectRef),
    /// Objects of a namespace that match a selection.
    Some(ObjectSelection),
}

/// A selection of objects in a namespace by kind, name and labels.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ObjectSelection {
    pub(crate) kinds: Vec<Kind>,
    pub(crate) namespace: String,
    /// A required name.
    pub(crate) name: Option<String>,
    /// Excluded names.
    pub(crate) other_names: Vec<String>,
    /// Required labels.
    pub(crate) labels: Vec<(String, String)>,
    /// Excluded labels.
    pub(crate) other_labels: Vec<(String, String)>,
    /// Why other objects in the cluster should be checked.
    pub(crate) reason: String,
}

impl ObjectSelection {
    /// Selects all objects of these kinds.
    pub(crate) fn new(kinds: Vec<Kind>, namespace: &str, reason: impl Into<String>) -> Self {
        Self {
            kinds,
            namespace: namespace.to_owned(),
            name: None,
            other_names: Vec::new(),
            labels: Vec::new(),
            other_labels: Vec::new(),
            reason: reason.into(),
        }
    }

    pub(crate) fn matches(&self, document: &Document<'_>) -> bool {
        let object = &document.object;
        let is_match = |kind: &Kind| kind.group() == document.group() && kind.name() == object.kind;
        let has = |(key, value): &(String, String)| document.label(key) == Some(value);
        object.namespace == self.namespace
            && self.kinds.iter().any(is_match)
            && self.name.as_ref().is_none_or(|name| *name == object.name)
            && !self.other_names.contains(&object.name)
            && self.labels.iter().all(has)
            && !self.other_labels.iter().any(has)
    }

    /// The kinds and selectors in kubectl's syntax.
    pub(crate) fn target(&self) -> ChangeTarget {
        let mut labels = Vec::new();
        let mut fields = Vec::new();
        for (key, value) in &self.labels {
            labels.push(format!("{key}={value}"));
        }
        for (key, value) in &self.other_labels {
            labels.push(format!("{key}!={value}"));
        }
        if let Some(name) = &self.name {
            fields.push(format!("metadata.name={name}"));
        }
        for name in &self.other_names {
            fields.push(format!("metadata.name!={name}"));
        }
        let list = |all: Vec<String>| (!all.is_empty()).then(|| all.join(","));
        let kinds: Vec<_> = self.kinds.iter().map(Kind::argument).collect();
        ChangeTarget::All {
            kinds: kinds.join(","),
            namespace: self.namespace.clone(),
            selector: list(labels),
            field_selector: list(fields),
        }
    }
}

/// A count that another tool has saved for an object.
#[derive(Clone, Debug)]
pub(crate) struct SavedCount {
    /// The index of the document that contains it.
    pub(crate) from: usize,
    pub(crate) object: ObjectRef,
    pub(crate) count: u32,
    /// The saved value of an on/off field, as the label stores it.
    pub(crate) value: Option<Box<str>>,
    /// The document that requests the schedule. If the request is rejected, no count is written.
    pub(crate) requested_by: usize,
}

/// The schedule that a document requests, or that of several documents, merged.
#[derive(Clone, Debug)]
pub(crate) struct ScheduleRequest {
    /// The indices of the documents. Findings refer to the first.
    pub(crate) documents: Vec<usize>,
    pub(crate) texts: KeyTexts,
    pub(crate) targets: Vec<RequestTarget>,
    /// Objects that the schedule would include, but the other tool does not scale.
    pub(crate) exclusions: Vec<RequestTarget>,
}

impl ScheduleRequest {
    /// Whether both request a schedule for the same object.
    fn meets(&self, other: &Self) -> bool {
        !set(&self.targets).is_disjoint(&set(&other.targets))
    }

    /// Merges another request if both form one schedule: for the same objects, in one zone, and on
    /// different days of the week. Returns whether it did.
    fn merge(&mut self, other: &Self) -> bool {
        let is_same = set(&self.targets) == set(&other.targets)
            && set(&self.exclusions) == set(&other.exclusions);
        let merged = merged_times(&self.texts, &other.texts).filter(|_| is_same);
        let is_merged = merged.is_some();
        if let Some(texts) = merged {
            self.texts = texts;
            self.documents.extend(&other.documents);
        }
        is_merged
    }
}

fn set(targets: &[RequestTarget]) -> HashSet<&RequestTarget> {
    targets.iter().collect()
}

/// Merges the starts and stops of two schedules in one zone. `None` if they set anything else, or
/// share a day of the week: the other tool's result then depends on the object that acts last.
fn merged_times(one: &KeyTexts, other: &KeyTexts) -> Option<KeyTexts> {
    if one == other {
        return Some(one.clone());
    }
    let zone = |texts: &KeyTexts| -> KeyTexts {
        let is_time = |key: &Key| matches!(key, Key::Start | Key::Stop);
        let rest = texts.iter().filter(|(key, _)| !is_time(key));
        rest.cloned().collect()
    };
    let is_zone = zone(one).iter().all(|(key, _)| *key == Key::Timezone);
    if zone(one) != zone(other) || !is_zone {
        return None;
    }
    let minutes = |texts: &KeyTexts, key: Key| {
        let text = texts.iter().find(|(known, _)| *known == key);
        text.map_or(Some(Vec::new()), |(_, text)| minutes_of_week(text))
    };
    let both = |key: Key| Some([minutes(one, key)?, minutes(other, key)?]);
    let (starts, stops) = (both(Key::Start)?, both(Key::Stop)?);
    let days = [0, 1].map(|at| days_of(&starts[at]) | days_of(&stops[at]));
    let [starts, stops] = [starts, stops].map(|both| {
        let mut minutes = both.concat();
        minutes.sort_unstable();
        (minutes, BTreeSet::new())
    });
    let merged = [starts_and_stops(starts, stops), zone(one)].concat();
    (days[0] & days[1] == 0).then_some(merged)
}

/// The requests of all documents.
#[derive(Debug)]
pub(crate) struct AnnotationRequests<'c> {
    pub(crate) converter: &'c Converter,
    /// The index of the document that is being read.
    pub(crate) document: usize,
    all: Vec<ScheduleRequest>,
    pub(crate) saved: Vec<SavedCount>,
    pub(crate) findings: Vec<(usize, PlacedFinding)>,
    /// Findings about a document if all of its requests are applied.
    pub(crate) when_done: Vec<(usize, PlacedFinding)>,
}

impl<'c> AnnotationRequests<'c> {
    pub(crate) fn new(converter: &'c Converter) -> Self {
        Self {
            converter,
            document: 0,
            all: Vec::new(),
            saved: Vec::new(),
            findings: Vec::new(),
            when_done: Vec::new(),
        }
    }

    /// The full name of an annotation.
    pub(crate) fn name(&self, key: Key) -> String {
        self.converter.prefix.annotation(key)
    }

    /// The full name of a label.
    pub(crate) fn label(&self, label: Label) -> String {
        self.converter.prefix.label(label)
    }

    /// Requests a schedule for some objects, and `exclude` for others.
    pub(crate) fn ask(
        &mut self,
        texts: KeyTexts,
        targets: Vec<RequestTarget>,
        exclusions: Vec<RequestTarget>,
    ) {
        self.all.push(ScheduleRequest {
            documents: vec![self.document],
            texts,
            targets,
            exclusions,
        });
    }

    /// Takes all requests. If a document requests a schedule for an object that an earlier document
    /// schedules, the two are merged; if they contradict each other, the later document is rejected
    /// as a whole, and returned in the second list.
    pub(crate) fn take(&mut self) -> (Vec<ScheduleRequest>, Vec<usize>) {
        let mut all: Vec<ScheduleRequest> = Vec::new();
        let mut rejected = Vec::new();
        for request in mem::take(&mut self.all) {
            match all.iter_mut().find(|known| known.meets(&request)) {
                None => all.push(request),
                Some(known) => {
                    if !known.merge(&request) {
                        rejected.extend(request.documents);
                    }
                }
            }
        }
        (all, rejected)
    }

    pub(crate) fn report(
        &mut self,
        topic: Topic,
        place: &Location,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let finding = Finding::new(topic, place.clone(), message, help);
        self.findings.push((self.document, finding));
    }

    /// Reports that `--kinds` has to name a kind, if it has to.
    pub(crate) fn opt_in(&mut self, kind: &Kind, place: &Location) {
        if !Kind::DEFAULT.contains(kind) {
            let finding = opt_in(kind.name(), kind.argument(), place);
            self.when_done.push((self.document, finding));
        }
    }

    /// Reports that the document should be deleted after the move: why, and by which command.
    /// `when` precedes the command. It is not reported if a request is rejected, because the other
    /// tool is then still needed.
    pub(crate) fn delete_after(&mut self, document: &Document<'_>, why: &str, when: &str) {
        let object = &document.object;
        let resource = object.resource();
        let words = [&resource, &object.name, &object.namespace];
        let [resource, name, namespace] = words.map(|word| shell_word(word));
        let help = match object.is_possible() {
            true => format!("{when}kubectl delete {resource} {name} -n {namespace}"),
            false => format!("{when}delete it"),
        };
        let place = document.node.place.clone();
        let finding = Finding::new(Topic::DeleteAfter, place, why, help);
        self.when_done.push((self.document, finding));
    }
}

/// The workload that `scaleTargetRef` names, with the API version and kind of one that names none.
///
/// # Errors
/// If it has no name.
pub(crate) fn scale_target(
    document: &Document<'_>,
    spec: &Node<'_>,
    (api_version, kind): (&str, &str),
) -> Result<ObjectRef, PlacedFinding> {
    let target = spec.get("scaleTargetRef");
    let text = |name, other| {
        let text = target.and_then(|target| target.get(name)?.text());
        text.unwrap_or(other).to_owned()
    };
    let name = text("name", "");
    if name.is_empty() {
        return Err(Finding::new(
            Topic::NotRead,
            spec.place.clone(),
            "its scaleTargetRef has no name that is text",
            "name the workload: scaleTargetRef: {name: web}",
        ));
    }
    Ok(ObjectRef {
        api_version: text("apiVersion", api_version),
        kind: text("kind", kind),
        namespace: document.object.namespace.clone(),
        name,
    })
}

/// The finding of a kind that `--kinds` has to name as this resource.
pub(crate) fn opt_in(kind: &str, resource: &str, place: &Location) -> PlacedFinding {
    let message = format!(
        "dayshift scales a {} only if `--kinds` names it",
        quote(kind)
    );
    let help = format!(
        "run it with --kinds deployments,statefulsets,cronjobs,{}",
        quote(resource)
    );
    Finding::new(Topic::OptIn, place.clone(), message, help)
}
