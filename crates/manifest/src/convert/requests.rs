//! The annotations that another tool's objects request for other objects.

use std::{collections::HashSet, mem};

use dayshift_schedule::Tzdata;
use dayshift_text::{nearest, quote, shell_word};
use dayshift_workload::{Key, Kind, Label, Prefix};

use crate::{
    convert::{
        conversion::{ChangeTarget, ObjectRef, Topic},
        document::Document,
        week::{days_of, minutes_of_week, times},
    },
    finding::Finding,
    yaml::node::{Location, Node},
};

/// Annotations by their short names, with their values.
pub(crate) type NamedTexts = Vec<(&'static str, String)>;

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
}

impl ObjectSelection {
    /// Selects all objects of these kinds.
    pub(crate) fn new(kinds: Vec<Kind>, namespace: &str) -> Self {
        Self {
            kinds,
            namespace: namespace.to_owned(),
            name: None,
            other_names: Vec::new(),
            labels: Vec::new(),
            other_labels: Vec::new(),
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
        let labels = self
            .labels
            .iter()
            .map(|(key, value)| format!("{key}={value}"));
        let others = self
            .other_labels
            .iter()
            .map(|(key, value)| format!("{key}!={value}"));
        let labels: Vec<_> = labels.chain(others).collect();
        let name = self.name.iter().map(|name| format!("metadata.name={name}"));
        let others = self
            .other_names
            .iter()
            .map(|name| format!("metadata.name!={name}"));
        let fields: Vec<_> = name.chain(others).collect();
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

/// Annotations that are requested for objects.
#[derive(Clone, Debug)]
pub(crate) struct AnnotationRequest {
    /// The index of the requesting document.
    pub(crate) from: usize,
    pub(crate) wanted: RequestTarget,
    pub(crate) pairs: Vec<(String, String)>,
    /// Why other objects in the cluster should be checked.
    pub(crate) reason: String,
}

impl AnnotationRequest {
    /// Whether it only excludes objects.
    pub(crate) fn is_exclusion(&self) -> bool {
        self.pairs.iter().all(|(key, _)| key == "exclude")
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

/// All requests of one document, or of several that are merged into one schedule.
#[derive(Clone, Debug)]
pub(crate) struct DocumentRequest {
    /// The documents. Findings refer to the first.
    pub(crate) documents: Vec<usize>,
    pub(crate) schedules: Vec<AnnotationRequest>,
    /// Objects that the schedule would include, but the other tool does not scale.
    pub(crate) exclusions: Vec<AnnotationRequest>,
}

impl DocumentRequest {
    fn targets(requests: &[AnnotationRequest]) -> HashSet<&RequestTarget> {
        requests.iter().map(|request| &request.wanted).collect()
    }

    /// Whether both request a schedule for the same object.
    fn meets(&self, other: &Self) -> bool {
        !Self::targets(&self.schedules).is_disjoint(&Self::targets(&other.schedules))
    }

    /// Merges another document's requests if both form one schedule: for the same objects, in one
    /// zone, and on different days of the week. Returns whether it did.
    fn merge(&mut self, other: &Self) -> bool {
        let is_same = Self::targets(&self.schedules) == Self::targets(&other.schedules)
            && Self::targets(&self.exclusions) == Self::targets(&other.exclusions);
        let merged: Option<Vec<_>> = self
            .schedules
            .iter()
            .map(|request| {
                let is_match = |other: &&AnnotationRequest| other.wanted == request.wanted;
                let other = other.schedules.iter().find(is_match)?;
                merged_times(&request.pairs, &other.pairs)
            })
            .collect();
        let Some(merged) = merged.filter(|_| is_same) else {
            return false;
        };
        for (request, pairs) in self.schedules.iter_mut().zip(merged) {
            request.pairs = pairs;
        }
        self.documents.extend(&other.documents);
        true
    }
}

/// Merges the starts and stops of two schedules in one zone. `None` if they set anything else, or
/// share a day of the week: the other tool's result then depends on the object that acts last.
fn merged_times(
    one: &[(String, String)],
    other: &[(String, String)],
) -> Option<Vec<(String, String)>> {
    if one == other {
        return Some(one.to_vec());
    }
    let is_time = |key: &str| key == Key::Start.name() || key == Key::Stop.name();
    let rest = |pairs: &[(String, String)]| -> Vec<_> {
        let rest = pairs.iter().filter(|(key, _)| !is_time(key));
        rest.cloned().collect()
    };
    let has_only_zone = rest(one).iter().all(|(key, _)| key == Key::Timezone.name());
    if rest(one) != rest(other) || !has_only_zone {
        return None;
    }
    let minutes = |pairs: &[(String, String)], key: Key| {
        let mut pairs = pairs.iter();
        let text = pairs.find(|(name, _)| name == key.name());
        text.map_or(Some(Vec::new()), |(_, text)| minutes_of_week(text))
    };
    let mut all = Vec::new();
    let mut days = [0, 0];
    for key in [Key::Start, Key::Stop] {
        let both = [minutes(one, key)?, minutes(other, key)?];
        for (days, minutes) in days.iter_mut().zip(&both) {
            *days |= days_of(minutes);
        }
        let mut minutes = both.concat();
        minutes.sort_unstable();
        if !minutes.is_empty() {
            all.push((key.name().to_owned(), times(&minutes)));
        }
    }
    all.extend(rest(one));
    (days[0] & days[1] == 0).then_some(all)
}

/// The requests of all documents.
#[derive(Debug)]
pub(crate) struct AnnotationRequests<'c> {
    prefix: &'c Prefix,
    /// The database in which zones are looked up.
    pub(crate) tzdata: &'c Tzdata,
    /// The index of the document that is being read.
    pub(crate) document: usize,
    pub(crate) all: Vec<AnnotationRequest>,
    pub(crate) saved: Vec<SavedCount>,
    pub(crate) findings: Vec<(usize, Finding<Topic, Location>)>,
    /// Kinds that `--kinds` has to name, with the requesting document and place.
    pub(crate) opt_ins: Vec<(usize, Kind, Location)>,
    /// Findings about a document if all of its requests are applied.
    pub(crate) when_done: Vec<(usize, Finding<Topic, Location>)>,
}

impl<'c> AnnotationRequests<'c> {
    pub(crate) fn new(prefix: &'c Prefix, tzdata: &'c Tzdata) -> Self {
        Self {
            prefix,
            tzdata,
            document: 0,
            all: Vec::new(),
            saved: Vec::new(),
            findings: Vec::new(),
            opt_ins: Vec::new(),
            when_done: Vec::new(),
        }
    }

    /// The full name of an annotation.
    pub(crate) fn name(&self, key: Key) -> String {
        self.prefix.annotation(key)
    }

    /// The full name of a label.
    pub(crate) fn label(&self, label: Label) -> String {
        self.prefix.label(label)
    }

    pub(crate) fn ask(
        &mut self,
        wanted: RequestTarget,
        texts: NamedTexts,
        reason: impl Into<String>,
    ) {
        let pairs = texts.into_iter().map(|(key, text)| (key.to_owned(), text));
        self.all.push(AnnotationRequest {
            from: self.document,
            wanted,
            pairs: pairs.collect(),
            reason: reason.into(),
        });
    }

    /// Takes all requests by document. If a document requests a schedule for an object that an
    /// earlier document schedules, the two are merged; if they contradict each other, the later
    /// document is rejected as a whole, and returned in the second list.
    pub(crate) fn take_documents(&mut self) -> (Vec<DocumentRequest>, Vec<usize>) {
        let mut all: Vec<DocumentRequest> = Vec::new();
        let mut rejected = Vec::new();
        let requests = mem::take(&mut self.all);
        for requests in requests.chunk_by(|one, other| one.from == other.from) {
            let each = requests.iter().cloned();
            let (exclusions, schedules) = each.partition(AnnotationRequest::is_exclusion);
            let request = DocumentRequest {
                documents: requests.iter().take(1).map(|first| first.from).collect(),
                schedules,
                exclusions,
            };
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

    /// Reports fields that the other tool does not have, such as misspelled ones. It or the API
    /// server drops them, and so does the conversion.
    /// `known` names the fields, separated by spaces.
    pub(crate) fn report_unknown(&mut self, tool: &str, node: &Node<'_>, known: &str) {
        let is_known = |name: &str| known.split(' ').any(|field| field == name);
        for entry in node
            .entries()
            .iter()
            .filter(|entry| !is_known(entry.name()))
        {
            let name = entry.name();
            let message = format!("{tool} has no field `{}`, and drops it", quote(name));
            let help = nearest(name, known.split(' ')).map_or_else(
                || "remove it, or correct its name".to_owned(),
                |nearest| format!("did you mean `{nearest}`?"),
            );
            self.report(Topic::NotRead, &entry.key.place, message, help);
        }
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
            self.opt_ins
                .push((self.document, kind.clone(), place.clone()));
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
