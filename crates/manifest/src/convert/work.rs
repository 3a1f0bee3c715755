//! The state of a conversion: the objects of all files, the object that a name refers to, and the
//! changes to make, which are checked and then written.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
    rc::Rc,
};

use dayshift_schedule::Calendars;
use dayshift_workload::{
    Inputs, Key, Kind, ParseContext, ParsedInputs, defined_kind, guess_resource, read,
};

use crate::{
    convert::{
        conversion::{ChangeTarget, Conversion, Converter, ObjectChange, ObjectRef, Topic},
        document::Document,
        edit::{NamePairs, NotEditable, ObjectEdits, apply, edits, is_as_intended},
        requests::opt_in,
        week::KeyTexts,
    },
    finding::Finding,
    source::SourceFile,
    yaml::node::{Location, Node},
};

pub(crate) struct ConversionRun<'c, 'a> {
    pub(crate) converter: &'c Converter,
    pub(crate) sources: &'a [SourceFile],
    pub(crate) documents: Vec<Document<'a>>,
    /// By group, kind, namespace and name.
    pub(crate) index: HashMap<ObjectKey, Vec<usize>>,
    /// The changes by document.
    pub(crate) pending: BTreeMap<usize, ObjectEdits>,
    pub(crate) conversion: Conversion,
}

pub(crate) type ObjectKey = (String, String, String, String);

fn id(object: &ObjectRef) -> ObjectKey {
    (
        object.group().to_owned(),
        object.kind.clone(),
        object.namespace.clone(),
        object.name.clone(),
    )
}

/// How dayshift treats a kind.
pub(crate) enum KindOf {
    Scaled,
    /// Scaled only if `--kinds` names it, in this form.
    OptIn(String),
    Other,
}

/// How dayshift treats the kind of an object. `has_replicas` is whether it has `spec.replicas`, as far
/// as the files show.
pub(crate) fn kind_of(object: &ObjectRef, has_replicas: bool) -> KindOf {
    let (group, kind) = (object.group(), &object.kind);
    match defined_kind(group, kind) {
        Some(known) if Kind::DEFAULT.contains(&known) => KindOf::Scaled,
        Some(known) => KindOf::OptIn(known.argument().to_owned()),
        None if group.is_empty() && kind == "Namespace" => KindOf::Scaled,
        None => guess_resource(&object.api_version, kind)
            .filter(|_| has_replicas)
            .map_or(KindOf::Other, KindOf::OptIn),
    }
}

impl<'a> ConversionRun<'_, 'a> {
    pub(crate) fn make_index(&mut self) {
        for (at, document) in self.documents.iter().enumerate() {
            self.index.entry(id(&document.object)).or_default().push(at);
        }
    }

    pub(crate) fn report(
        &mut self,
        document: usize,
        topic: Topic,
        message: impl Into<String>,
        help: impl Into<String>,
        at: &Location,
    ) {
        self.add_finding(document, Finding::new(topic, at.clone(), message, help));
    }

    /// Adds a finding about a document, at a place in its file.
    pub(crate) fn add_finding(&mut self, document: usize, finding: Finding<Topic, Location>) {
        let document = &self.documents[document];
        let place = Some((document.source, finding.place.clone()));
        let finding = finding.at(place).about(Some((&document.object).into()));
        self.conversion.findings.push(finding);
    }

    /// Adds changes to a document, unless it has a schedule already or dayshift would reject the
    /// result. Returns whether the document has the changes.
    pub(crate) fn take(&mut self, at: usize, mut changes: ObjectEdits, place: &Location) -> bool {
        // Several references can exclude the same object.
        let is_asked = |pair: &(String, String)| {
            let pending = self.pending.get(&at);
            pending.is_some_and(|edits| edits.added.contains(pair))
        };
        changes.added.retain(|pair| !is_asked(pair));
        if changes.replaced.is_empty() && changes.added.is_empty() && changes.labels.is_empty() {
            return true;
        }
        let schedule = Key::SCHEDULE.map(|key| self.converter.prefix.annotation(key));
        let document = &self.documents[at];
        let is_schedule = |pair: &(String, String)| schedule.contains(&pair.0);
        let pending = self.pending.get(&at).into_iter();
        let mut all: NamePairs = pending.flat_map(ObjectEdits::pairs).cloned().collect();
        let has_schedule =
            schedule.iter().any(|key| document.has(key)) || all.iter().any(is_schedule);
        let is_taken = changes.pairs().any(|pair| document.has(&pair.0));
        if is_taken || has_schedule && changes.pairs().any(is_schedule) {
            let has = |(name, text): &(String, String)| {
                let path = ["metadata", "annotations", name];
                document.node.at(&path).and_then(Node::written) == Some(text)
            };
            let is_same = changes.replaced.is_empty() && changes.added.iter().all(has);
            if !is_same {
                self.report(
                    at,
                    Topic::AlreadyScheduled,
                    "the object already has dayshift's annotations for the same settings, and is \
                        unchanged",
                    "decide which to keep, and remove the others",
                    place,
                );
            }
            return is_same;
        }
        all.extend(changes.pairs().cloned());
        if !self.accept(at, &all, place) {
            return false;
        }
        if self.converter.keeps {
            let replaced = std::mem::take(&mut changes.replaced);
            let pairs = replaced.into_iter().flat_map(|replacement| replacement.1);
            changes.added.splice(0..0, pairs);
        }
        let pending = self.pending.entry(at).or_default();
        pending.replaced.append(&mut changes.replaced);
        pending.added.append(&mut changes.added);
        pending.labels.append(&mut changes.labels);
        true
    }

    /// Whether dayshift accepts these annotations. If not, it is reported for the document.
    pub(crate) fn accept(&mut self, at: usize, pairs: &NamePairs, place: &Location) -> bool {
        let prefix = &self.converter.prefix;
        let all = pairs.iter().map(|(name, text)| (&**name, &**text));
        let document = &self.documents[at];
        // A count that the kind does not have was reported with its annotation.
        let counts = document.kind().map(|kind| kind.counts());
        let counts = counts.filter(|counts| counts.has(Key::StopJobs));
        let inputs = Inputs::from_annotations(prefix, all).with_counts(counts.unwrap_or_default());
        let ParsedInputs::Invalid(refusal) = read(&inputs, &self.any_calendar()) else {
            return true;
        };
        let message = format!("dayshift would reject it: {}", refusal.text(prefix));
        let help = "write the schedule manually";
        self.report(at, Topic::NoEquivalent, message, help, place);
        false
    }

    /// Reports a kind that `--kinds` has to name.
    pub(crate) fn opt_in(&mut self, at: usize, kind: &str, resource: &str, place: &Location) {
        self.add_finding(at, opt_in(kind, resource, place));
    }

    /// The values with the full names of their annotations.
    pub(crate) fn full_names(&self, texts: KeyTexts) -> NamePairs {
        let prefix = &self.converter.prefix;
        let texts = texts.into_iter();
        texts
            .map(|(key, text)| (prefix.annotation(key), text))
            .collect()
    }

    pub(crate) fn command(&mut self, target: ChangeTarget, set: NamePairs) {
        self.conversion.changes.push(ObjectChange {
            target,
            place: None,
            set,
            remove: Vec::new(),
            labels: Vec::new(),
        });
    }

    /// Accepts all calendars, because conversion does not change excluded dates.
    fn any_calendar(&self) -> ParseContext {
        ParseContext {
            calendars: Calendars::default().accepting_any(),
            tzdata: self.converter.defaults.tzdata.clone(),
            ..ParseContext::default()
        }
    }
}

/// The object of the files that a name refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectLookup {
    /// This document.
    Document(usize),
    /// None of the files. It might be in the cluster.
    Elsewhere,
    /// One of several, or one that might be for another cluster.
    Unclear,
}

impl ConversionRun<'_, '_> {
    /// Finds the object that a document refers to. Files of two directories can be for two clusters
    /// and have objects of the same name, so the same file is preferred over the same directory,
    /// and another directory counts only if both documents set their namespace.
    pub(crate) fn find_object(&self, from: usize, object: &ObjectRef) -> ObjectLookup {
        let all = self.index.get(&id(object)).map_or(&[][..], Vec::as_slice);
        let among = |is_near: fn(&Self, usize, usize) -> bool| -> Vec<usize> {
            let near = all.iter().copied();
            near.filter(|at| is_near(self, from, *at)).collect()
        };
        let mut near = among(Self::is_in_file_of);
        if near.is_empty() {
            near = among(Self::is_beside);
        }
        match (&near[..], all) {
            ([at], _) => ObjectLookup::Document(*at),
            ([], []) => ObjectLookup::Elsewhere,
            _ => ObjectLookup::Unclear,
        }
    }

    /// The object that a document refers to, if it is in the files.
    pub(crate) fn document_of(&self, from: usize, object: &ObjectRef) -> Option<usize> {
        match self.find_object(from, object) {
            ObjectLookup::Document(at) => Some(at),
            ObjectLookup::Elsewhere | ObjectLookup::Unclear => None,
        }
    }

    /// Whether two documents are for the same cluster, as far as the files show.
    pub(crate) fn is_beside(&self, from: usize, at: usize) -> bool {
        let directory = |at: usize| {
            let source = self.sources.get(self.documents[at].source);
            source.and_then(|source| Path::new(source.name()).parent())
        };
        let has_namespace = |at: usize| {
            let metadata = self.documents[at].metadata();
            metadata.is_some_and(|metadata| !metadata.word("namespace").is_empty())
        };
        directory(from) == directory(at) || has_namespace(from) && has_namespace(at)
    }

    fn is_in_file_of(&self, from: usize, at: usize) -> bool {
        self.documents[from].source == self.documents[at].source
    }
}

impl ConversionRun<'_, '_> {
    /// The Namespace of an object, if it is in the files.
    pub(crate) fn namespace_of(&self, at: usize) -> Option<usize> {
        let namespace = &self.documents[at].object.namespace;
        self.document_of(at, &ObjectRef::namespace(namespace))
    }
}

impl<'a> ConversionRun<'_, 'a> {
    /// Makes the changes in the texts, and verifies the results.
    pub(crate) fn write(&mut self, trees: &[Option<Vec<Rc<Node<'a>>>>]) {
        let elsewhere = std::mem::take(&mut self.conversion.changes);
        let mut pending = std::mem::take(&mut self.pending).into_iter().peekable();
        for (at, (source, nodes)) in self.sources.iter().zip(trees).enumerate() {
            let mut all = Vec::new();
            let mut made = Vec::new();
            let is_here = |change: &(usize, ObjectEdits)| self.documents[change.0].source == at;
            let of_source: Vec<_> = std::iter::from_fn(|| pending.next_if(is_here)).collect();
            for (document, changes) in of_source {
                match edits(source.text(), &self.documents[document], &changes) {
                    Ok(edits) => {
                        all.extend(edits);
                        made.push((document, changes));
                    }
                    Err(error) => self.report_not_editable(document, &changes, error),
                }
            }
            let Some(nodes) = nodes.as_ref().filter(|_| !all.is_empty()) else {
                self.conversion.texts.push(None);
                continue;
            };
            let text = apply(source.text(), all).unwrap_or_default();
            let changes = made
                .iter()
                .map(|(at, edits)| (&self.documents[*at].node, edits));
            let text = is_as_intended(nodes, changes, &text).then_some(text);
            for (document, changes) in made {
                if text.is_some() {
                    let change = self.change(document, changes);
                    self.conversion.changes.push(change);
                } else {
                    let error = NotEditable("the edit would change the meaning of the file");
                    self.report_not_editable(document, &changes, error);
                }
            }
            self.conversion.texts.push(text);
        }
        self.conversion.changes.extend(elsewhere);
    }

    fn change(&self, document: usize, changes: ObjectEdits) -> ObjectChange {
        let document = &self.documents[document];
        let removed = changes.replaced.iter();
        ObjectChange {
            target: ChangeTarget::Object(document.object.clone()),
            place: Some((document.source, document.node.place.clone())),
            set: changes.pairs().cloned().collect(),
            remove: removed.map(|replacement| replacement.0.clone()).collect(),
            labels: changes.labels,
        }
    }

    fn report_not_editable(&mut self, document: usize, changes: &ObjectEdits, error: NotEditable) {
        let all = changes.pairs().chain(&changes.labels);
        let texts = all.map(|(name, text)| format!("{name}: \"{text}\""));
        let texts: Vec<_> = texts.collect();
        let place = self.documents[document].node.place.clone();
        self.report(
            document,
            Topic::NotEditable,
            format!("the object cannot be changed in this file: {}", error.0),
            format!("write it manually: {}", texts.join(", ")),
            &place,
        );
    }
}
