//! What the workloads of files inherit from the Namespaces beside them.

use std::{collections::HashMap, sync::Arc};

use dayshift_workload::{Inheritance, Key, Origin, Problem};

use super::files::contents::Contents;

/// Gives every workload of these files the defaults of its Namespace, whichever file that is in,
/// and else those of the scaler. Of two Namespaces of one name the last counts, as it does for
/// `kubectl apply`. What is wrong with how a default is written comes to be a problem of what
/// inherits it, too.
pub fn inherit(contents: &mut [Contents], inheritance: &Inheritance) {
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
    if namespaces.is_empty() && inheritance.default_schedule.is_none() {
        return;
    }
    let mut in_force = HashMap::new();
    for workload in contents.iter_mut().flat_map(|it| &mut it.workloads) {
        let name = &workload.object.namespace;
        let namespace = namespaces.get(name).filter(|_| inheritance.from_namespaces);
        let defaults = in_force
            .entry(Arc::clone(name))
            .or_insert_with(|| inheritance.in_force(name, namespace.map(|(it, _)| it)));
        let inputs = std::mem::take(&mut workload.inputs);
        workload.inputs = inputs.with_defaults(defaults.clone());
        let problems = namespace.map_or(&[][..], |(_, problems)| problems);
        let is_inherited = |it: &&Problem| {
            Key::from_name(&it.annotation)
                .is_some_and(|key| workload.inputs.origin(key) == Some(Origin::Namespace))
        };
        let inherited = problems.iter().filter(is_inherited).cloned();
        workload.problems.extend(inherited);
    }
}
