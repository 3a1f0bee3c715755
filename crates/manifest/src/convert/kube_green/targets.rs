//! The objects that a SleepInfo applies to: its references, and the targets of its patches.
//!
//! Read from `getListOptions` of kube-green 0.7.1's
//! `internal/controller/sleepinfo/jsonpatch/genericresources.go`: for each kind, all labels of all
//! references form one label selector (`k==v` of `includeRef`, `k!=v` of `excludeRef`), and all
//! names for that kind one field selector. Patches were read from `jsonpatch.go` (0e241bd): a JSON
//! patch (RFC 6902) is applied to all objects of its target when they go to sleep, instead of
//! kube-green's own change, and reverted when they wake up.

use std::collections::BTreeSet;

use dayshift_text::quote;
use dayshift_workload::{
    CountForm, Kind, defined_kind,
    names::{is_dns_subdomain, is_label_key, is_label_value},
};

use crate::{
    convert::{
        conversion::{ObjectRef, Topic},
        requests::{AnnotationRequests, ObjectSelection, RequestTarget},
    },
    source::SourceFile,
    yaml::node::{Location, Node},
};

/// The references of a SleepInfo.
pub(crate) struct SleepRefs {
    include: RefSide,
    exclude: RefSide,
}

/// The names by kind, and the labels, of `includeRef` or `excludeRef`.
#[derive(Default)]
struct RefSide {
    names: BTreeSet<(String, String, String)>,
    labels: BTreeSet<(String, String)>,
}

impl RefSide {
    /// Reads a list. `None` if kube-green cannot build a selector from it and therefore finds no object.
    fn read(spec: &Node<'_>, field: &str) -> Option<Self> {
        let mut side = Self::default();
        for item in spec.list(field) {
            let labels = item.get("matchLabels").map_or(&[][..], Node::entries);
            for label in labels {
                let value = label.value.written().unwrap_or_default();
                if !is_label_key(label.name()) || !is_label_value(value) {
                    return None;
                }
                side.labels
                    .insert((label.name().to_owned(), value.to_owned()));
            }
            let name = item.word("name");
            if !name.is_empty() {
                if !is_dns_subdomain(name) {
                    return None;
                }
                let version = item.word("apiVersion").split_once('/');
                let group = version.map_or("", |(group, _)| group);
                let names = [group, item.word("kind"), name].map(str::to_owned);
                side.names.insert(names.into());
            }
        }
        Some(side)
    }

    /// The names for one kind.
    fn names_of(&self, kind: &Kind) -> Vec<String> {
        let is_match = |reference: &&(String, String, String)| {
            reference.0 == kind.group() && reference.1 == kind.name()
        };
        let of_kind = self.names.iter().filter(is_match);
        of_kind.map(|reference| reference.2.clone()).collect()
    }
}

impl SleepRefs {
    /// Reads both lists. `None` if kube-green finds no object because of them.
    pub(crate) fn read(spec: &Node<'_>) -> Option<Self> {
        Some(Self {
            include: RefSide::read(spec, "includeRef")?,
            exclude: RefSide::read(spec, "excludeRef")?,
        })
    }

    /// Whether `includeRef` does not restrict any of these kinds.
    pub(crate) fn includes_all(&self, kinds: &[Kind]) -> bool {
        let is_free = |kind: &Kind| self.include.names_of(kind).is_empty();
        self.include.labels.is_empty() && kinds.iter().all(is_free)
    }

    /// The excluded objects of these kinds: one target for each name, and one for each label.
    pub(crate) fn excluded_targets(&self, kinds: &[Kind], namespace: &str) -> Vec<RequestTarget> {
        let names = kinds.iter().flat_map(|kind| {
            let names = self.exclude.names_of(kind).into_iter();
            names.map(|name| RequestTarget::Object(ObjectRef::of_kind(kind, namespace, name)))
        });
        let labels = self.exclude.labels.iter().map(|label| {
            RequestTarget::Some(ObjectSelection {
                labels: vec![label.clone()],
                ..ObjectSelection::new(
                    kinds.to_vec(),
                    namespace,
                    "excludeRef excludes objects by labels, and each of them needs an annotation",
                )
            })
        });
        names.chain(labels).collect()
    }

    /// The included objects, and the kinds of which no object is included because the required names
    /// or labels contradict each other.
    pub(crate) fn included_targets(
        &self,
        kinds: &[Kind],
        namespace: &str,
    ) -> (Vec<RequestTarget>, Vec<Kind>) {
        let mut kinds_of: Vec<(ObjectSelection, Vec<Kind>)> = Vec::new();
        let mut none = Vec::new();
        for kind in kinds {
            let names = self.include.names_of(kind);
            let labels = &self.include.labels;
            let mut keys = BTreeSet::new();
            let excluded = self.exclude.names_of(kind);
            let is_none = names.len() > 1
                || names.iter().any(|name| excluded.contains(name))
                || labels.iter().any(|label| !keys.insert(&label.0))
                || !labels.is_disjoint(&self.exclude.labels);
            if is_none {
                none.push(kind.clone());
                continue;
            }
            let name = names.into_iter().next();
            let selection = ObjectSelection {
                other_names: match name {
                    None => excluded,
                    Some(_) => Vec::new(),
                },
                name,
                labels: labels.iter().cloned().collect(),
                other_labels: self.exclude.labels.iter().cloned().collect(),
                ..ObjectSelection::new(
                    Vec::new(),
                    namespace,
                    "only some objects of this namespace are scheduled, by labels, names or kinds",
                )
            };
            match kinds_of.iter_mut().find(|(known, _)| *known == selection) {
                Some((_, kinds)) => kinds.push(kind.clone()),
                None => kinds_of.push((selection, vec![kind.clone()])),
            }
        }
        let targets = kinds_of.into_iter().map(|(selection, kinds)| {
            let is_by_name = selection.labels.is_empty() && selection.other_labels.is_empty();
            match (&selection.name, &kinds[..]) {
                (Some(name), [kind]) if is_by_name => {
                    RequestTarget::Object(ObjectRef::of_kind(kind, namespace, name.clone()))
                }
                _ => RequestTarget::Some(ObjectSelection { kinds, ..selection }),
            }
        });
        (targets.collect(), none)
    }
}

/// The patches of a SleepInfo.
#[derive(Default)]
pub(crate) struct SleepPatches {
    /// The kinds that the patches stop as dayshift does, with the places of the patches.
    pub(crate) stopped: Vec<(Kind, Location)>,
    /// The kinds with a patch that has no equivalent.
    pub(crate) changed: Vec<Kind>,
    /// Whether one of them has no equivalent, so that the SleepInfo is still needed.
    pub(crate) are_needed: bool,
}

impl SleepPatches {
    /// Reads the patches, and reports those without an equivalent. If several have the same target,
    /// the last one counts.
    pub(crate) fn read(spec: &Node<'_>, requests: &mut AnnotationRequests<'_>) -> Self {
        let mut all = Self::default();
        for item in spec.list("patches") {
            let text = |name| item.get("target").map_or("", |target| target.word(name));
            let (group, name) = (text("group"), text("kind"));
            let kind = defined_kind(group, name);
            let patch = item.get("patch").and_then(Node::written);
            let op = patch.and_then(|patch| only_stop(&kind.clone()?, patch));
            let target = quote(&format!("{name}.{group}"));
            match (kind, op) {
                (Some(kind), Some(op)) => {
                    all.forget(&kind);
                    all.stopped.push((kind.clone(), item.place.clone()));
                    if op == PatchOperation::Replace {
                        requests.report(
                            Topic::NoEquivalent,
                            &item.place,
                            format!(
                                "the patch of `{target}` replaces {0}, so kube-green does \
                                not change an object without {0}; dayshift also stops such an object",
                                field(&kind)
                            ),
                            "exclude objects that should keep running, and write `op: add` for \
                                the same effect",
                        );
                    }
                }
                (kind, _) => {
                    if let Some(ref kind) = kind {
                        all.forget(kind);
                        all.changed.push(kind.clone());
                    }
                    all.are_needed = true;
                    let (message, help) = different_patch(kind, &target);
                    requests.report(Topic::NoEquivalent, &item.place, message, help);
                }
            }
        }
        all
    }

    fn forget(&mut self, kind: &Kind) {
        self.stopped.retain(|stopped| stopped.0 != *kind);
        self.changed.retain(|changed| *changed != *kind);
    }
}

/// The message and help for a patch without an equivalent.
fn different_patch(kind: Option<Kind>, target: &str) -> (String, String) {
    match kind {
        Some(kind) => (
            format!(
                "the patch of `{target}` is not how dayshift stops a {kind}, and has no equivalent"
            ),
            format!(
                "keep this SleepInfo for it, with suspendDeployments and the like set to false; \
                    dayshift stops a {kind} only by {}",
                field(&kind)
            ),
        ),
        None => (
            format!("dayshift does not know {target}, so the patch has no equivalent"),
            "keep this SleepInfo for it, with suspendDeployments and the like set to false; \
                define a kind of your own in a --kind-file"
                .to_owned(),
        ),
    }
}

/// The field or annotation of a kind's count or on/off state, such as `spec.replicas` or
/// `cnpg.io/hibernation`.
fn field(kind: &Kind) -> String {
    match kind.path() {
        [metadata, annotations, name] if metadata == "metadata" && annotations == "annotations" => {
            name.clone()
        }
        path => path.join("."),
    }
}

/// An operation of a patch. `add` creates a missing field; `replace` fails on it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PatchOperation {
    Add,
    Replace,
}

/// The operation, if a patch has exactly one and it stops such an object as dayshift does.
fn only_stop(kind: &Kind, patch: &str) -> Option<PatchOperation> {
    let source = SourceFile::new("patch", patch);
    let (documents, error) = source.documents();
    let [document] = &documents[..] else {
        return None;
    };
    let [operation] = document.items() else {
        return None;
    };
    let op = match operation.get("op")?.written()? {
        "add" => PatchOperation::Add,
        "replace" => PatchOperation::Replace,
        _ => return None,
    };
    let is_match = error.is_none()
        && operation.get("path")?.written()? == kind.pointer()
        && is_stop(kind, operation.get("value")?);
    is_match.then_some(op)
}

/// Whether a value is that of a stopped object.
fn is_stop(kind: &Kind, value: &Node<'_>) -> bool {
    let value = value.json();
    let is_least = kind.form().count(&value) == Some(kind.counts().least());
    is_least && (*kind.form() != CountForm::PausedReplicas || value == "0")
}
