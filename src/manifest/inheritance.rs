//! What the workloads of files inherit from the Namespaces beside them.

use std::{collections::HashMap, sync::Arc};

use super::files::contents::Contents;
use crate::workload::{Key, Origin, Problem};

/// Gives every workload of these files the defaults of its Namespace, whichever file that is in.
/// Of two Namespaces of one name the last counts, as it does for `kubectl apply`. What is wrong
/// with how a default is written comes to be a problem of what inherits it, too.
pub fn inherit(contents: &mut [Contents]) {
    let namespaces = contents.iter().flat_map(|it| &it.namespaces);
    let namespaces = namespaces.filter(|it| !it.annotations.is_empty());
    let namespaces: HashMap<_, _> = namespaces
        .map(|it| {
            (
                Arc::clone(&it.name),
                (it.defaults.clone(), it.problems.clone()),
            )
        })
        .collect();
    if namespaces.is_empty() {
        return;
    }
    for workload in contents.iter_mut().flat_map(|it| &mut it.workloads) {
        let Some((defaults, problems)) = namespaces.get(&workload.object.namespace) else {
            continue;
        };
        let inputs = std::mem::take(&mut workload.inputs);
        workload.inputs = inputs.with_defaults(Some(Arc::clone(defaults)));
        let is_inherited = |it: &&Problem| {
            Key::from_name(&it.annotation)
                .is_some_and(|key| workload.inputs.origin(key) == Some(Origin::Namespace))
        };
        let inherited = problems.iter().filter(is_inherited).cloned();
        workload.problems.extend(inherited);
    }
}
