//! The commands that Events suggest.

use serde_json::{Value, json};

use crate::{CountForm, Prefix, Replicas, SwitchValue, WorkloadRef};

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

/// The `dayshift wake` command for several objects in one namespace, for two hours.
pub(super) fn wake_all_command(objects: &[&WorkloadRef], prefix: &Prefix) -> String {
    let names = objects.iter().map(|object| object.kind_and_name());
    let names = names.collect::<Vec<_>>().join(" ");
    let namespace = objects.first().map_or("", |object| &object.namespace);
    format!(
        "dayshift wake {names} -n {namespace} --for 2h{}",
        prefix.flag()
    )
}

/// The `dayshift wake` command for a whole namespace, for two hours.
pub(super) fn wake_namespace_command(namespace: &str, prefix: &Prefix) -> String {
    format!("dayshift wake ns/{namespace} --for 2h{}", prefix.flag())
}

/// The `kubectl` command that sets the count of this object. For an on/off object, it restores the
/// saved value.
pub(super) fn scale_command(
    object: &WorkloadRef,
    count: Replicas,
    saved_value: Option<&str>,
) -> String {
    let (kind, name, namespace) = (object.kind.unambiguous(), &object.name, &object.namespace);
    let path = object.kind.path();
    let field = object.kind.field();
    let patch = |value: Value| {
        let nested = path
            .iter()
            .rfold(value, |inner, token| json!({ token: inner }));
        format!("kubectl patch {kind}/{name} -n {namespace} --type=merge -p '{nested}'")
    };
    match object.kind.form() {
        CountForm::Number(_) if field == "replicas" => {
            format!("kubectl scale {kind}/{name} -n {namespace} --replicas={count}")
        }
        CountForm::Number(_) => patch(json!(count.get())),
        CountForm::Suspended => patch(json!(count == Replicas::ZERO)),
        CountForm::PausedReplicas if count == Replicas::ZERO => {
            format!("kubectl annotate {kind}/{name} -n {namespace} --overwrite {field}=0")
        }
        CountForm::PausedReplicas => {
            format!("kubectl annotate {kind}/{name} -n {namespace} {field}-")
        }
        CountForm::Switch(switch) => {
            let saved = saved_value.and_then(|text| switch.from_label(text));
            let value = saved.unwrap_or_else(|| switch.default_running());
            let annotate =
                |rest: &str| format!("kubectl annotate {kind}/{name} -n {namespace} {rest}");
            let is_annotation = path.first().is_some_and(|token| token == "metadata");
            match value {
                SwitchValue::Absent(_) if is_annotation => annotate(&format!("{field}-")),
                SwitchValue::Absent(_) => patch(Value::Null),
                SwitchValue::Flag(flag) => patch(json!(flag)),
                SwitchValue::Text(text) if is_annotation => {
                    annotate(&format!("--overwrite {field}={text}"))
                }
                SwitchValue::Text(text) => patch(json!(text)),
            }
        }
    }
}
