//! Who else sets an object's count.

use std::collections::BTreeSet;

use dayshift_workload::{
    WorkloadRef,
    other_controllers::{ManagerKind, OtherController},
};

use crate::cluster::{Autoscalers, WithManagers};

/// Who else sets an object's count, again and again: those that have set it, and the autoscaler that
/// names the object.
pub fn owners(
    object: &WorkloadRef,
    managed: &WithManagers,
    autoscalers: &Autoscalers,
) -> BTreeSet<OtherController> {
    let managers = managed.managers(object.kind).into_iter();
    let have_set = managers.filter_map(|it| match it.kind() {
        ManagerKind::OtherController(owner) => Some(owner).filter(|it| it.reapplies()),
        _ => None,
    });
    let scaled_by = autoscalers.owners(object.kind, &object.namespace, &object.name);
    have_set.chain(scaled_by).collect()
}
