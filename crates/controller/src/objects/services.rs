//! Which Services have a ready endpoint, as their EndpointSlices show it.

use std::collections::HashMap;

use dayshift_cluster::read::ServiceSlice;
use dayshift_workload::DependencyState;

/// Services by namespace.
#[derive(Default)]
pub(crate) struct Services(HashMap<Box<str>, OfNamespace>);

#[derive(Default)]
struct OfNamespace {
    slices: HashMap<Box<str>, Slice>,
    /// How many slices each Service has, and how many of them have a ready endpoint.
    services: HashMap<Box<str>, (usize, usize)>,
}

struct Slice {
    service: Box<str>,
    is_ready: bool,
    /// Whether the list that is under way has shown it.
    is_listed: bool,
}

impl Services {
    /// How a Service stands; `None` where it has no slice. Kubernetes gives each Service with a selector
    /// one, with or without pods.
    pub(super) fn standing(&self, namespace: &str, name: &str) -> Option<DependencyState> {
        let (_, ready) = self.0.get(namespace)?.services.get(name)?;
        Some(match ready {
            0 => DependencyState::NotReady,
            _ => DependencyState::Ready,
        })
    }

    /// A watch has shown a slice.
    pub(crate) fn observe(&mut self, slice: &ServiceSlice) {
        self.remove(slice);
        let of_namespace = self.0.entry(slice.namespace.clone()).or_default();
        let known = Slice {
            service: slice.service.clone(),
            is_ready: slice.is_ready,
            is_listed: true,
        };
        let service = known.service.clone();
        let (slices, ready) = of_namespace.services.entry(service).or_default();
        *slices += 1;
        *ready += usize::from(slice.is_ready);
        of_namespace.slices.insert(slice.name.clone(), known);
    }

    /// A slice is gone.
    pub(crate) fn remove(&mut self, slice: &ServiceSlice) {
        if let Some(of_namespace) = self.0.get_mut(&slice.namespace) {
            of_namespace.remove(&slice.name);
            if of_namespace.slices.is_empty() {
                self.0.remove(&slice.namespace);
            }
        }
    }

    /// The list of a namespace begins, or of all.
    pub(crate) fn begin_list(&mut self, namespace: Option<&str>) {
        for of_namespace in self.within(namespace) {
            let slices = of_namespace.slices.values_mut();
            slices.for_each(|it| it.is_listed = false);
        }
    }

    /// It is complete: what it did not show is gone.
    pub(crate) fn end_list(&mut self, namespace: Option<&str>) {
        for of_namespace in self.within(namespace) {
            let slices = of_namespace.slices.iter().filter(|(_, it)| !it.is_listed);
            let gone: Vec<_> = slices.map(|(name, _)| name.clone()).collect();
            for name in gone {
                of_namespace.remove(&name);
            }
        }
        self.0.retain(|_, it| !it.slices.is_empty());
    }

    fn within(&mut self, namespace: Option<&str>) -> impl Iterator<Item = &mut OfNamespace> {
        let all = self.0.iter_mut();
        let within = all.filter(move |(name, _)| namespace.is_none_or(|it| it == &***name));
        within.map(|(_, of_namespace)| of_namespace)
    }
}

impl OfNamespace {
    fn remove(&mut self, slice: &str) {
        let Some(slice) = self.slices.remove(slice) else {
            return;
        };
        if let Some((slices, ready)) = self.services.get_mut(&slice.service) {
            *slices -= 1;
            *ready -= usize::from(slice.is_ready);
            if *slices == 0 {
                self.services.remove(&slice.service);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(name: &str, service: &str, is_ready: bool) -> ServiceSlice {
        ServiceSlice {
            namespace: "dev".into(),
            name: name.into(),
            service: service.into(),
            is_ready,
        }
    }

    #[test]
    fn a_service_is_ready_where_one_of_its_slices_has_a_ready_endpoint() {
        let mut services = Services::default();
        assert_eq!(services.standing("dev", "db"), None);
        for (name, service, is_ready, expected) in [
            ("db-1", "db", false, Some(DependencyState::NotReady)),
            ("db-2", "db", true, Some(DependencyState::Ready)),
            ("db-1", "db", true, Some(DependencyState::Ready)),
            ("db-2", "db", false, Some(DependencyState::Ready)),
            ("db-1", "db", false, Some(DependencyState::NotReady)),
            ("db-2", "db", true, Some(DependencyState::Ready)),
            // Somebody has given the slice to another Service.
            ("db-2", "cache", true, Some(DependencyState::NotReady)),
            ("db-1", "cache", true, None),
        ] {
            services.observe(&slice(name, service, is_ready));
            assert_eq!(services.standing("dev", "db"), expected, "{name}");
        }
        assert_eq!(services.standing("test", "cache"), None);
        services.remove(&slice("db-1", "", false));
        assert_eq!(
            services.standing("dev", "cache"),
            Some(DependencyState::Ready)
        );
        services.remove(&slice("db-2", "", false));
        assert!(services.0.is_empty());
    }

    #[test]
    fn what_a_list_does_not_show_is_gone() {
        let mut services = Services::default();
        services.observe(&slice("db-1", "db", true));
        services.observe(&slice("db-2", "db", false));
        services.begin_list(Some("test"));
        services.end_list(Some("test"));
        assert_eq!(services.standing("dev", "db"), Some(DependencyState::Ready));
        services.begin_list(None);
        // The list of another namespace ends.
        services.end_list(Some("test"));
        services.observe(&slice("db-2", "db", false));
        assert_eq!(services.standing("dev", "db"), Some(DependencyState::Ready));
        services.end_list(None);
        assert_eq!(
            services.standing("dev", "db"),
            Some(DependencyState::NotReady)
        );
        services.begin_list(Some("dev"));
        services.end_list(Some("dev"));
        assert!(services.0.is_empty());
    }
}
