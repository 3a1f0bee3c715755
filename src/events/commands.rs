//! The commands that a user is told of.

use crate::workload::{CountKind, PAUSED_REPLICAS, Prefix, Replicas, WorkloadRef};

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
    let patch = |field: String| {
        format!(
            "kubectl patch {kind}/{name} -n {namespace} --type=merge -p '{{\"spec\":{{{field}}}}}'"
        )
    };
    match object.kind.counts() {
        CountKind::Replicas => {
            format!("kubectl scale {kind}/{name} -n {namespace} --replicas={count}")
        }
        CountKind::Minimum => patch(format!("\"minReplicas\":{count}")),
        CountKind::Suspend => patch(format!("\"suspend\":{}", count == Replicas::ZERO)),
        CountKind::Pause if count == Replicas::ZERO => {
            format!("kubectl annotate {kind}/{name} -n {namespace} --overwrite {PAUSED_REPLICAS}=0")
        }
        CountKind::Pause => {
            format!("kubectl annotate {kind}/{name} -n {namespace} {PAUSED_REPLICAS}-")
        }
    }
}
