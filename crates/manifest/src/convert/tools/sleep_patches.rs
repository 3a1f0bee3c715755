//! The patches of a SleepInfo, as far as they are what a stop of dayshift's is.
//!
//! Read from kube-green's `internal/controller/sleepinfo/jsonpatch/jsonpatch.go` (0e241bd): a JSON
//! patch (RFC 6902) is applied to all objects of its target when they go to sleep, in place of what
//! kube-green itself does to that kind, and undone when they wake up.

use dayshift_text::{number, quote};
use dayshift_workload::{CountForm, Kind, SwitchValue};

use crate::{
    convert::{document::objects::known_kind, finding::Topic, tools::request::Requests},
    manifest::{Location, Node, Scalar, Source},
};

/// What the patches come to.
#[derive(Default)]
pub(super) struct SleepPatches {
    /// The kinds that they stop as dayshift does, and where that is written.
    pub(super) stopped: Vec<(Kind, Location)>,
    /// The kinds that they change in another way.
    pub(super) changed: Vec<Kind>,
    /// Whether one of them has no equivalent.
    pub(super) are_needed: bool,
}

impl SleepPatches {
    /// Reads those of a SleepInfo, and says which have no equivalent. Of several for one target the last
    /// counts.
    pub(super) fn read(spec: &Node<'_>, requests: &mut Requests<'_>) -> Self {
        let mut all = Self::default();
        for item in spec.get("patches").map_or(&[][..], Node::items) {
            let target = item.get("target");
            let name = |field| target.and_then(|it| it.get(field)?.written());
            let (group, name) = (name("group"), name("kind"));
            let (group, name) = (group.unwrap_or_default(), name.unwrap_or_default());
            let kind = known_kind(group, name);
            let patch = item.get("patch").and_then(Node::written);
            let op = patch.and_then(|patch| only_stop(kind?, patch));
            let target = quote(&format!("{name}.{group}"));
            match (kind, op) {
                (Some(kind), Some(op)) => {
                    all.forget(kind);
                    all.stopped.push((kind, item.place.clone()));
                    if op == Operation::Replace {
                        requests.say(
                            Topic::NoEquivalent,
                            &item.place,
                            format!("the patch of `{target}` replaces {0}, so that kube-green leaves alone what has no {0}; dayshift stops that too", field(kind)),
                            "exclude what has to run at night, and write `op: add` to say the same",
                        );
                    }
                }
                (kind, _) => {
                    if let Some(kind) = kind {
                        all.forget(kind);
                        all.changed.push(kind);
                    }
                    all.are_needed = true;
                    let (message, help) = unlike(kind, &target);
                    requests.say(Topic::NoEquivalent, &item.place, message, help);
                }
            }
        }
        all
    }

    fn forget(&mut self, kind: Kind) {
        self.stopped.retain(|it| it.0 != kind);
        self.changed.retain(|it| *it != kind);
    }
}

/// Why a patch has no equivalent, and what to do.
fn unlike(kind: Option<Kind>, target: &str) -> (String, String) {
    match kind {
        Some(kind) => (
            format!(
                "the patch of `{target}` is not the stop that dayshift knows of a {kind}, and has no equivalent"
            ),
            format!(
                "keep this SleepInfo for it, with suspendDeployments and the like set to false; dayshift stops a {kind} by {} alone",
                field(kind)
            ),
        ),
        None => (
            format!("dayshift knows no {target}, so that the patch has no equivalent"),
            "keep this SleepInfo for it, with suspendDeployments and the like set to false; a kind of your own is a row of --kind-file".to_owned(),
        ),
    }
}

/// Where a kind holds its count or its switch: `spec.replicas`, `cnpg.io/hibernation`.
fn field(kind: Kind) -> String {
    match kind.path() {
        ["metadata", "annotations", name] => (*name).to_owned(),
        path => path.join("."),
    }
}

/// An operation of a patch. `add` makes a member that is absent; `replace` fails there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    Add,
    Replace,
}

/// The operation, where a patch is one alone that does to such an object what a stop does.
fn only_stop(kind: Kind, patch: &str) -> Option<Operation> {
    let source = Source::new("patch", patch);
    let (documents, error) = source.documents();
    let [document] = &documents[..] else {
        return None;
    };
    let [operation] = document.items() else {
        return None;
    };
    let op = match operation.get("op")?.written()? {
        "add" => Operation::Add,
        "replace" => Operation::Replace,
        _ => return None,
    };
    let is_it = error.is_none()
        && operation.get("path")?.written()? == kind.pointer()
        && is_stop(kind, operation.get("value")?);
    is_it.then_some(op)
}

/// Whether a value is what such an object holds where it is stopped.
fn is_stop(kind: Kind, value: &Node<'_>) -> bool {
    let scalar = value.scalar();
    let text = value.text();
    match kind.form() {
        CountForm::Number(_) => {
            let count = matches!(scalar, Some(Scalar::Number(_))).then(|| value.written());
            let least = kind.counts().least().get();
            count.flatten().and_then(number::<u32>) == Some(least)
        }
        CountForm::Suspended => scalar == Some(Scalar::Bool(true)),
        CountForm::RestsAt => text == Some("0"),
        CountForm::Switch(switch) => match (scalar, text) {
            (Some(Scalar::Bool(flag)), _) => switch.is_stopped(&SwitchValue::Flag(flag)),
            (_, Some(text)) => switch.is_stopped(&SwitchValue::Text(text.into())),
            _ => false,
        },
    }
}
