//! Reads kube-green's SleepInfo, which stops and starts a namespace; the objects that it applies to;
//! and the counts that kube-green has saved in its Secret.
//!
//! References were read from `getListOptions` of kube-green 0.7.1's
//! `internal/controller/sleepinfo/jsonpatch/genericresources.go`: for each kind, all labels of all
//! references form one label selector (`k==v` of `includeRef`, `k!=v` of `excludeRef`), and all
//! names for that kind one field selector. Patches were read from `jsonpatch.go` (0e241bd): a JSON
//! patch (RFC 6902) is applied to all objects of its target when they go to sleep, instead of
//! kube-green's own change, and reverted when they wake up.
//!
//! The Secret `sleepinfo-NAME` contains counts from a sleep to the next wake-up: since 0.6 as merge
//! patches that restore each object (`original-resource-info`). Older versions are not read. The
//! format was read from `secrets.go` (09efe4b) and `jsonpatch.go`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use base64::{Engine, prelude::BASE64_STANDARD};
use dayshift_schedule::Tzdata;
use dayshift_text::quote;
use dayshift_workload::{
    CountForm, Key, Kind, Label, SwitchValue, defined_kind,
    names::{is_dns_subdomain, is_label_key, is_label_value},
};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    convert::{
        conversion::{Converter, ObjectRef, PlacedFinding, Topic},
        document::Document,
        requests::{AnnotationRequests, ObjectSelection, RequestTarget, SavedCount},
        week::{KeyTexts, weekly_text},
    },
    finding::Finding,
    source::SourceFile,
    yaml::node::{Location, Node, Scalar},
};

/// The kinds that kube-green suspends, which dayshift scales by default.
const KINDS: [(Kind, &str); 3] = [
    (Kind::DEPLOYMENT, "suspendDeployments"),
    (Kind::STATEFUL_SET, "suspendStatefulSets"),
    (Kind::CRON_JOB, "suspendCronJobs"),
];

/// Opt-in kinds that the patches of a SleepInfo stop in the same way as dayshift. If `--kinds` names
/// one, dayshift scales it in all namespaces.
pub(crate) fn more_kinds(document: &Document<'_>, converter: &Converter) -> Vec<Kind> {
    let Some(spec) = document.node.get("spec") else {
        return Vec::new();
    };
    // Findings are reported when the SleepInfo is converted.
    let patches = SleepPatches::read(spec, &mut AnnotationRequests::new(converter));
    let kinds = patches.stopped.into_iter().map(|stopped| stopped.0);
    kinds.filter(|kind| !Kind::DEFAULT.contains(kind)).collect()
}

/// Requests the schedule of a SleepInfo, and the counts in its Secret. `secret` is the Secret with
/// its index.
///
/// # Errors
/// Why nothing is converted.
pub(crate) fn convert(
    document: &Document<'_>,
    secret: Option<(usize, &Document<'_>)>,
    kinds_of_patches: &BTreeSet<Kind>,
    requests: &mut AnnotationRequests<'_>,
) -> Result<(), PlacedFinding> {
    let Some(spec) = document.node.get("spec") else {
        return Ok(());
    };
    let texts = schedule(spec, &requests.converter.defaults.tzdata)?;
    if texts.is_empty() {
        return Ok(());
    }
    let asks = SleepRequest {
        spec,
        namespace: &document.object.namespace,
        patches: SleepPatches::read(spec, requests),
        kinds_of_patches,
    };
    if !asks.ask(texts, requests)? {
        return Ok(());
    }
    let is_asleep = secret.is_some_and(|(at, secret)| convert_saved_counts(at, secret, requests));
    if asks.patches.are_needed {
        return Ok(());
    }
    let (more, when) = if is_asleep {
        let more = "the counts that it has saved are labels now";
        (more, "once the objects have their labels: ")
    } else {
        (
            "deleting it also deletes the Secret in which kube-green saves counts",
            "while everything is awake (or after dayshift convert -n NAMESPACE, which converts \
                the counts): ",
        )
    };
    let why = format!("kube-green acts until it is deleted; {more}");
    requests.delete_after(document, &why, when);
    Ok(())
}

/// The parts of a SleepInfo other than its times.
struct SleepRequest<'s, 'a> {
    spec: &'s Node<'a>,
    namespace: &'s str,
    patches: SleepPatches,
    /// The kinds that any SleepInfo requires in `--kinds`.
    kinds_of_patches: &'s BTreeSet<Kind>,
}

impl SleepRequest<'_, '_> {
    /// Whether kube-green suspends a kind.
    fn is_suspended(&self, (kind, field): &(Kind, &str)) -> bool {
        match self.spec.get(field).and_then(Node::scalar) {
            Some(Scalar::Bool(value)) => value,
            _ => *kind != Kind::CRON_JOB,
        }
    }

    /// The kinds that it stops. For the target of a patch, kube-green applies only the patch.
    fn stopped(&self) -> Vec<Kind> {
        let own = KINDS.iter().filter(|row| self.is_suspended(row));
        let own = own.map(|row| row.0.clone());
        let mut stopped: BTreeSet<_> = own.collect();
        stopped.retain(|kind| !self.patches.changed.contains(kind));
        stopped.extend(self.patches.stopped.iter().map(|patch| patch.0.clone()));
        stopped.into_iter().collect()
    }

    /// Requests the schedule for the Namespace, or for the objects of `includeRef`, and `exclude`
    /// for excluded objects. Returns whether there is anything to request.
    fn ask(
        &self,
        texts: KeyTexts,
        requests: &mut AnnotationRequests<'_>,
    ) -> Result<bool, PlacedFinding> {
        let (of, stopped) = (self.namespace, self.stopped());
        let refs = SleepRefs::read(self.spec).ok_or_else(|| {
            Finding::new(
                Topic::NotRead,
                self.spec.place.clone(),
                "a name or a label of its references is not valid, so kube-green finds no object",
                "correct includeRef and excludeRef, and convert again",
            )
        })?;
        let is_default = |kind: &Kind| Kind::DEFAULT.contains(kind);
        if refs.includes_all(&stopped) && stopped.iter().any(is_default) {
            for (kind, place) in &self.patches.stopped {
                requests.opt_in(kind, place);
            }
            let namespace = RequestTarget::Object(ObjectRef::namespace(of));
            let mut exclusions = self.other_kinds(&stopped);
            exclusions.extend(refs.excluded_targets(&stopped, of));
            requests.ask(texts, vec![namespace], exclusions);
            return Ok(true);
        }
        let (targets, none) = refs.included_targets(&stopped, of);
        for kind in none {
            requests.report(
                Topic::Contradiction,
                &self.spec.place,
                format!(
                    "no {kind} can match includeRef and excludeRef, so kube-green selects none: \
                        an object must match all of their labels and names"
                ),
                "write a SleepInfo for each group of objects, and convert again",
            );
        }
        for target in &targets {
            if let RequestTarget::Some(selection) = target {
                for kind in &selection.kinds {
                    requests.opt_in(kind, &self.spec.place);
                }
            }
        }
        let is_any = !targets.is_empty();
        if is_any {
            requests.ask(texts, targets, Vec::new());
        }
        Ok(is_any)
    }

    /// The kinds that dayshift would scale and kube-green does not.
    fn other_kinds(&self, stopped: &[Kind]) -> Vec<RequestTarget> {
        let own = KINDS.iter().map(|row| row.0.clone());
        let all = own.chain(self.kinds_of_patches.iter().cloned());
        let others = all.filter(|kind| !stopped.contains(kind)).map(|kind| {
            let reason = format!(
                "kube-green does not scale the {} of this namespace, and each of them needs an \
                    annotation",
                kind.names_of_all()
            );
            let selection = ObjectSelection::new(vec![kind], self.namespace, reason);
            RequestTarget::Some(selection)
        });
        others.collect()
    }
}

/// The starts and stops of a SleepInfo, and their zone; empty if it has none.
fn schedule(spec: &Node<'_>, tzdata: &Tzdata) -> Result<KeyTexts, PlacedFinding> {
    let weekdays = spec.word("weekdays");
    let mut texts = KeyTexts::new();
    for (field, key) in [("wakeUpAt", Key::Start), ("sleepAt", Key::Stop)] {
        let time = spec.word(field);
        let Some(node) = spec.get(field).filter(|node| node.written() != Some("")) else {
            continue;
        };
        let parts = time.split_once(':');
        let read = parts
            .and_then(|(hour, minute)| weekly_text(&format!("{minute} {hour} * * {weekdays}")));
        let read = read.ok_or_else(|| {
            let (time, days) = (quote(time), quote(weekdays));
            let message = format!("`{time}` on `{days}` is not a time that kube-green reads");
            let help = "write for example sleepAt: \"20:00\" and weekdays: \"1-5\"";
            Finding::new(Topic::NotRead, node.place.clone(), message, help)
        })?;
        texts.push((key, read));
    }
    if texts.is_empty() {
        return Ok(texts);
    }
    let zone = match spec.word("timeZone") {
        "" => "UTC",
        zone => zone,
    };
    let zone = tzdata.parse_zone(zone).map_err(|error| {
        let place = spec.get("timeZone").map_or(&spec.place, |node| &node.place);
        let help = "write an IANA time zone";
        Finding::new(Topic::NotRead, place.clone(), error.to_string(), help)
    })?;
    texts.push((Key::Timezone, zone.name().to_owned()));
    Ok(texts)
}

/// The references of a SleepInfo.
struct SleepRefs {
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
struct SleepPatches {
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

/// Merge patches by kube-green's name of the kind, and by the object's name.
type Patches = HashMap<String, BTreeMap<String, String>>;

/// A count, and the value of an on/off field as the label stores it.
type Restored = (u32, Option<Box<str>>);

/// The Secret of a SleepInfo.
pub(crate) fn secret_of(sleep_info: &ObjectRef) -> ObjectRef {
    ObjectRef {
        api_version: "v1".to_owned(),
        kind: "Secret".to_owned(),
        namespace: sleep_info.namespace.clone(),
        name: format!("sleepinfo-{}", sleep_info.name),
    }
}

/// Requests the saved count of each sleeping object. Returns whether there is any. `secret` is the
/// document's index.
fn convert_saved_counts(
    secret: usize,
    document: &Document<'_>,
    requests: &mut AnnotationRequests<'_>,
) -> bool {
    let text = |name: &str| text_of(document, name);
    if text("operation-type").as_deref() != Some("SLEEP") {
        return false;
    }
    let Ok(counts) = counts(&text) else {
        let finding = Finding::new(
            Topic::NotRead,
            document.node.place.clone(),
            "the counts that kube-green has saved in this Secret cannot be read",
            format!(
                "convert while everything is awake, or label each object with its count: {}=3",
                requests.label(Label::SavedReplicas)
            ),
        );
        requests.findings.push((secret, finding));
        return false;
    };
    let is_any = !counts.is_empty();
    for ((kind, name), (count, value)) in counts {
        requests.saved.push(SavedCount {
            from: secret,
            object: ObjectRef::of_kind(&kind, &document.object.namespace, name),
            count,
            value,
            requested_by: requests.document,
        });
    }
    is_any
}

/// The counts by kind and name.
fn counts(
    text: &impl Fn(&str) -> Option<String>,
) -> Result<BTreeMap<(Kind, String), Restored>, serde_json::Error> {
    let mut all = BTreeMap::new();
    let patches = text("original-resource-info").map(|patches| serde_json::from_str(&patches));
    let patches: Patches = patches.transpose()?.unwrap_or_default();
    for (target, patches) in patches {
        let known = target.split_once('.');
        let Some(kind) = known.and_then(|(kind, group)| defined_kind(group, kind)) else {
            continue;
        };
        for (name, patch) in patches {
            let patch: Value = serde_json::from_str(&patch)?;
            if let Some(restored) = restored(&kind, &patch)? {
                all.insert((kind.clone(), name), restored);
            }
        }
    }
    all.retain(|_, restored| restored.0 > 0);
    Ok(all)
}

/// The count in a merge patch, which contains the object's state before the sleep.
fn restored(kind: &Kind, patch: &Value) -> Result<Option<Restored>, serde_json::Error> {
    let value = patch.pointer(&kind.pointer());
    Ok(match kind.form() {
        CountForm::Number(_) => {
            Option::deserialize(value.unwrap_or(&Value::Null))?.map(|count: u32| (count, None))
        }
        // A patch exists only if the object was not suspended before.
        CountForm::Suspended => Some((1, None)),
        CountForm::PausedReplicas => value.map(|_| (1, None)),
        CountForm::Switch(_) => value.map(|value| {
            let held = match value {
                Value::Null => Some(SwitchValue::Absent(0)),
                Value::Bool(flag) => Some(SwitchValue::Flag(*flag)),
                Value::String(text) => Some(SwitchValue::Text(text.as_str().into())),
                _ => None,
            };
            (1, held.and_then(|held| held.to_label()))
        }),
    })
}

/// A value of the Secret. As on the API server, `stringData` wins over `data`.
fn text_of(document: &Document<'_>, name: &str) -> Option<String> {
    let of = |map: &str| document.node.get(map)?.get(name)?.written();
    if let Some(text) = of("stringData") {
        return Some(text.to_owned());
    }
    let bytes = BASE64_STANDARD.decode(of("data")?.trim()).ok()?;
    String::from_utf8(bytes).ok()
}
