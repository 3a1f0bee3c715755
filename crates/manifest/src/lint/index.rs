//! An index of all files, for checks of a workload that depend on other objects: the objects that
//! scale it, and the workloads and Services that it can depend on.

use std::collections::{HashMap, HashSet};

use dayshift_workload::{Dependency, DependencyKind, Kind, WorkloadRef};

use crate::objects::{
    Contents,
    other::{OtherObject, ScaledTarget},
    workload::ManifestWorkload,
};

/// An object that scales a workload.
pub(crate) struct ScalingObject<'c> {
    /// The index of its file.
    pub(crate) source: usize,
    pub(crate) object: &'c OtherObject,
    pub(crate) target: &'c ScaledTarget,
}

/// The objects of all files, by the references to them.
pub(crate) struct ContentsIndex<'c> {
    pub(crate) contents: &'c [Contents],
    /// By kind, namespace and name of the scaled workload.
    scaling_objects: HashMap<(Kind, &'c str, &'c str), Vec<ScalingObject<'c>>>,
    /// By namespace, kind and name.
    workloads: HashMap<(&'c str, Dependency), &'c ManifestWorkload>,
    services: HashSet<(&'c str, Dependency)>,
}

impl<'c> ContentsIndex<'c> {
    pub(crate) fn new(contents: &'c [Contents]) -> Self {
        let mut index = Self {
            contents,
            scaling_objects: HashMap::new(),
            workloads: HashMap::new(),
            services: HashSet::new(),
        };
        for (source, contents) in contents.iter().enumerate() {
            for object in &contents.others {
                if let Some(target) = &object.scales {
                    let key = (target.kind.clone(), &*object.namespace, &*target.name);
                    index
                        .scaling_objects
                        .entry(key)
                        .or_default()
                        .push(ScalingObject {
                            source,
                            object,
                            target,
                        });
                }
            }
            for workload in &contents.workloads {
                let object = &workload.object;
                let key = (&*object.namespace, Dependency::from_workload(object));
                index.workloads.insert(key, workload);
            }
            for service in &contents.services {
                let key = (&*service.namespace, Dependency::service(&service.name));
                index.services.insert(key);
            }
        }
        index
    }

    /// The objects that scale a workload.
    pub(crate) fn scaling_objects<'s>(
        &'s self,
        object: &'s WorkloadRef,
    ) -> &'s [ScalingObject<'s>] {
        let key = (object.kind.clone(), &*object.namespace, &*object.name);
        self.scaling_objects.get(&key).map_or(&[], Vec::as_slice)
    }

    /// The workload that a dependency names in a namespace.
    pub(crate) fn workload(
        &self,
        namespace: &str,
        dependency: &Dependency,
    ) -> Option<&'c ManifestWorkload> {
        self.workloads
            .get(&(namespace, dependency.clone()))
            .copied()
    }

    /// The resource that owns a workload, if the files contain it.
    pub(crate) fn owner(&self, owner: &WorkloadRef) -> Option<&'c ManifestWorkload> {
        self.workload(&owner.namespace, &Dependency::from_workload(owner))
    }

    /// Whether a dependency names a Service of the files.
    pub(crate) fn has_service(&self, namespace: &str, dependency: &Dependency) -> bool {
        self.services.contains(&(namespace, dependency.clone()))
    }

    /// Whether the files have another object of the dependency's kind in the namespace, so that they
    /// are likely to be complete. If the dependency is a workload, any kind of workload counts.
    pub(crate) fn has_others(&self, dependency: &Dependency, object: &WorkloadRef) -> bool {
        let namespace = &*object.namespace;
        match dependency.kind {
            DependencyKind::Service => self.services.iter().any(|(known, _)| *known == namespace),
            DependencyKind::Workload(_) => {
                let mut all = self.workloads.values().map(|workload| &workload.object);
                all.any(|other| *other.namespace == *namespace && other.name != object.name)
            }
        }
    }
}
