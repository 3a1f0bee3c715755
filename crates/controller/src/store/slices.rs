//! The EndpointSlices of one namespace, and which Services have a ready endpoint according to them.

use std::collections::HashMap;

use dayshift_cluster::read::ServiceSlice;
use dayshift_workload::DependencyState;

/// The EndpointSlices of one namespace.
#[derive(Default)]
pub(crate) struct Slices {
    slices: HashMap<Box<str>, Slice>,
    services: HashMap<Box<str>, SliceCount>,
}

struct Slice {
    service: Box<str>,
    is_ready: bool,
}

/// The number of slices of a Service, and of those with a ready endpoint.
#[derive(Default)]
struct SliceCount {
    all: usize,
    ready: usize,
}

impl Slices {
    /// The state of a Service; `None` if it has no slice. Kubernetes creates a slice for each Service
    /// with a selector, even without pods.
    pub(crate) fn state(&self, service: &str) -> Option<DependencyState> {
        Some(match self.services.get(service)?.ready {
            0 => DependencyState::NotReady,
            _ => DependencyState::Ready,
        })
    }

    /// Adds or replaces a slice.
    pub(crate) fn observe(&mut self, slice: &ServiceSlice) {
        self.remove(&slice.name);
        let count = self.services.entry(slice.service.clone()).or_default();
        count.all += 1;
        count.ready += usize::from(slice.is_ready);
        let known = Slice {
            service: slice.service.clone(),
            is_ready: slice.is_ready,
        };
        self.slices.insert(slice.name.clone(), known);
    }

    /// Removes a slice. Returns its Service.
    pub(crate) fn remove(&mut self, name: &str) -> Option<Box<str>> {
        let slice = self.slices.remove(name)?;
        if let Some(count) = self.services.get_mut(&slice.service) {
            count.all -= 1;
            count.ready -= usize::from(slice.is_ready);
            if count.all == 0 {
                self.services.remove(&slice.service);
            }
        }
        Some(slice.service)
    }

    /// Whether there is no slice.
    pub(crate) fn is_empty(&self) -> bool {
        self.slices.is_empty()
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
    fn a_service_is_ready_if_one_of_its_slices_has_a_ready_endpoint() {
        let mut slices = Slices::default();
        assert_eq!(slices.state("db"), None);
        for (name, service, is_ready, expected) in [
            ("db-1", "db", false, Some(DependencyState::NotReady)),
            ("db-2", "db", true, Some(DependencyState::Ready)),
            ("db-1", "db", true, Some(DependencyState::Ready)),
            ("db-2", "db", false, Some(DependencyState::Ready)),
            ("db-1", "db", false, Some(DependencyState::NotReady)),
            ("db-2", "db", true, Some(DependencyState::Ready)),
            // A user has assigned the slice to another Service.
            ("db-2", "cache", true, Some(DependencyState::NotReady)),
            ("db-1", "cache", true, None),
        ] {
            slices.observe(&slice(name, service, is_ready));
            assert_eq!(slices.state("db"), expected, "{name}");
        }
        slices.remove("db-1");
        assert_eq!(slices.state("cache"), Some(DependencyState::Ready));
        assert_eq!(slices.remove("db-2").as_deref(), Some("cache"));
        assert!(slices.is_empty() && slices.services.is_empty());
    }
}
