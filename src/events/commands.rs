//! The commands that a user is told of.

use serde_json::{Value, json};

use crate::workload::{CountForm, CountKind, Prefix, Replicas, WorkloadRef};

/// The `dayshift sync` command for this object.
pub(super) fn sync_command(object: &WorkloadRef, prefix: &Prefix) -> String {
    format!("dayshift sync {}{}", object.argument(), prefix.flag())
}

/// The `dayshift wake` command for this object, for two hours.
pub(super) fn wake_command(object: &WorkloadRef, prefix: &Prefix) -> String {
    format!(
        "dayshift wake {} --for 2h{}",
        object.argument(),
        prefix.flag()
    )
}

/// The `kubectl` command that sets this count of this object.
pub(super) fn scale_command(object: &WorkloadRef, count: Replicas) -> String {
    let (kind, name, namespace) = (object.kind.singular(), &object.name, &object.namespace);
    let path = object.kind.path();
    let field = path.last().copied().unwrap_or_default();
    let patch = |value: Value| {
        let nested = path.iter().rfold(value, |it, token| json!({ *token: it }));
        format!("kubectl patch {kind}/{name} -n {namespace} --type=merge -p '{nested}'")
    };
    match object.kind.form() {
        CountForm::Number if object.kind.counts() == CountKind::Replicas => {
            format!("kubectl scale {kind}/{name} -n {namespace} --replicas={count}")
        }
        CountForm::Number => patch(json!(count.get())),
        CountForm::Suspended => patch(json!(count == Replicas::ZERO)),
        CountForm::RestsAt if count == Replicas::ZERO => {
            format!("kubectl annotate {kind}/{name} -n {namespace} --overwrite {field}=0")
        }
        CountForm::RestsAt => format!("kubectl annotate {kind}/{name} -n {namespace} {field}-"),
    }
}
