//! What another tool's own objects ask for on other objects.

use dayshift_text::shell_word;
use dayshift_workload::{Key, Kind, Label, Prefix};

use crate::{
    convert::{
        conversion::{ChangeTarget, ObjectRef, Topic},
        document::Document,
    },
    finding::Finding,
    yaml::node::Location,
};

/// Annotations of dayshift's by their short names, with their texts.
pub(crate) type NamedTexts = Vec<(&'static str, String)>;

/// Which objects are meant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RequestTarget {
    /// One.
    Object(ObjectRef),
    /// Those of some kinds in a namespace that match.
    Some(ObjectSelection),
}

/// Objects of a namespace by kind, name and labels.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ObjectSelection {
    pub(crate) kinds: Vec<Kind>,
    pub(crate) namespace: String,
    /// The one name, or any.
    pub(crate) name: Option<String>,
    /// Names that are left out.
    pub(crate) other_names: Vec<String>,
    /// All of these.
    pub(crate) labels: Vec<(String, String)>,
    /// None of these.
    pub(crate) other_labels: Vec<(String, String)>,
}

impl ObjectSelection {
    /// All objects of these kinds.
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
        let is_it = |kind: &Kind| kind.group() == document.group() && kind.name() == object.kind;
        let has = |(key, value): &(String, String)| document.label(key) == Some(value);
        object.namespace == self.namespace
            && self.kinds.iter().any(is_it)
            && self.name.as_ref().is_none_or(|name| *name == object.name)
            && !self.other_names.contains(&object.name)
            && self.labels.iter().all(has)
            && !self.other_labels.iter().any(has)
    }

    /// Its kinds and its selectors as kubectl takes them.
    pub(crate) fn target(&self) -> ChangeTarget {
        let pairs = |all: &[(String, String)], sign: &str| -> Vec<String> {
            let all = all.iter();
            all.map(|(key, value)| format!("{key}{sign}{value}"))
                .collect()
        };
        let labels = [pairs(&self.labels, "="), pairs(&self.other_labels, "!=")].concat();
        let name = self.name.iter().map(|name| format!("metadata.name={name}"));
        let others = self.other_names.iter();
        let others = others.map(|name| format!("metadata.name!={name}"));
        let fields: Vec<_> = name.chain(others).collect();
        let list = |all: Vec<String>| (!all.is_empty()).then(|| all.join(","));
        let kinds = self.kinds.iter().map(|kind| kind.argument());
        ChangeTarget::All {
            kinds: kinds.collect::<Vec<_>>().join(","),
            namespace: self.namespace.clone(),
            selector: list(labels),
            field_selector: list(fields),
        }
    }
}

/// Annotations that are wanted on objects.
#[derive(Clone, Debug)]
pub(crate) struct AnnotationRequest {
    /// Which document asks.
    pub(crate) from: usize,
    pub(crate) wanted: RequestTarget,
    pub(crate) pairs: Vec<(String, String)>,
    /// Why objects that are not among the files have to be looked at.
    pub(crate) reason: String,
}

impl AnnotationRequest {
    /// Whether it only excludes.
    pub(crate) fn is_exclusion(&self) -> bool {
        self.pairs.iter().all(|(key, _)| key == "exclude")
    }
}

/// A count that another tool has saved for an object.
#[derive(Clone, Debug)]
pub(crate) struct SavedCount {
    /// Which document says so.
    pub(crate) from: usize,
    pub(crate) object: ObjectRef,
    pub(crate) count: u32,
    /// What its switch held, as the label has it.
    pub(crate) value: Option<Box<str>>,
}

/// What all documents ask for.
#[derive(Debug)]
pub(crate) struct AnnotationRequests<'c> {
    prefix: &'c Prefix,
    /// The document that is read.
    pub(crate) document: usize,
    pub(crate) all: Vec<AnnotationRequest>,
    pub(crate) saved: Vec<SavedCount>,
    pub(crate) findings: Vec<(usize, Finding<Topic, Location>)>,
    /// Kinds that have to be turned on, and where which document asks for them.
    pub(crate) opt_ins: Vec<(usize, Kind, Location)>,
    /// What is said of a document once all that it asks for is done.
    pub(crate) when_done: Vec<(usize, Finding<Topic, Location>)>,
}

impl<'c> AnnotationRequests<'c> {
    pub(crate) fn new(prefix: &'c Prefix) -> Self {
        Self {
            prefix,
            document: 0,
            all: Vec::new(),
            saved: Vec::new(),
            findings: Vec::new(),
            opt_ins: Vec::new(),
            when_done: Vec::new(),
        }
    }

    /// The full name of an annotation, as what is said has it.
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

    /// Notes that a kind has to be turned on, where it has to.
    pub(crate) fn opt_in(&mut self, kind: Kind, place: &Location) {
        if !Kind::DEFAULT.contains(&kind) {
            self.opt_ins.push((self.document, kind, place.clone()));
        }
    }

    /// Says that the document is to be deleted after the move: `why`, and by which command. `when`
    /// comes before it. Where something of it is refused, the other tool still does its work.
    pub(crate) fn delete_after(&mut self, document: &Document<'_>, why: &str, when: &str) {
        let object = &document.object;
        let help = if object.is_possible() {
            let what = [
                object.resource(),
                object.name.clone(),
                object.namespace.clone(),
            ];
            let [resource, name, namespace] = what.each_ref().map(|word| shell_word(word));
            format!("{when}kubectl delete {resource} {name} -n {namespace}")
        } else {
            format!("{when}delete it")
        };
        let place = document.node.place.clone();
        let finding = Finding::new(Topic::DeleteAfter, place, why, help);
        self.when_done.push((self.document, finding));
    }
}
