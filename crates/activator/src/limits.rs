//! Limits on open connections: in total, by namespace, and by Service.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use crate::service::ServiceName;

/// Counts open connections. A namespace may have at most as many as are still free, so it always leaves some
/// to every other namespace.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionLimits {
    open: Arc<Mutex<Open>>,
    max: usize,
    max_per_service: usize,
}

#[derive(Debug, Default)]
struct Open {
    all: usize,
    by_namespace: HashMap<Arc<str>, usize>,
    by_service: HashMap<ServiceName, usize>,
}

/// The permission for one connection, until it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionPermit {
    open: Arc<Mutex<Open>>,
    service: ServiceName,
}

impl ConnectionLimits {
    pub(crate) fn new(max: usize, max_per_service: usize) -> Self {
        Self {
            open: Arc::default(),
            max,
            max_per_service,
        }
    }

    /// Permits a connection to this Service unless a limit is reached.
    pub(crate) fn take(&self, service: &ServiceName) -> Option<ConnectionPermit> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let of_service = open.by_service.get(service).copied().unwrap_or_default();
        let namespace = &service.namespace;
        let of_namespace = open
            .by_namespace
            .get(namespace)
            .copied()
            .unwrap_or_default();
        let free = self.max.saturating_sub(open.all);
        if of_namespace >= free || of_service >= self.max_per_service {
            return None;
        }
        open.all += 1;
        open.by_namespace
            .insert(Arc::clone(namespace), of_namespace + 1);
        open.by_service.insert(service.clone(), of_service + 1);
        Some(ConnectionPermit {
            open: Arc::clone(&self.open),
            service: service.clone(),
        })
    }

    /// The number of open connections.
    pub(crate) fn open(&self) -> usize {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.all
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.all -= 1;
        release(&mut open.by_namespace, &self.service.namespace);
        release(&mut open.by_service, &self.service);
    }
}

fn release<K: Eq + std::hash::Hash>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_cluster::name;

    #[test]
    fn service_at_its_limit_leaves_connections_to_others() {
        let [web, db] = ["web", "db"].map(|service| name("dev", service));
        let limits = ConnectionLimits::new(6, 2);
        let first = limits.take(&web).unwrap();
        let _second = limits.take(&web).unwrap();
        assert!(limits.take(&web).is_none(), "two are for web");
        let _third = limits.take(&db).unwrap();
        assert!(
            limits.take(&db).is_none(),
            "half of all are for one namespace"
        );
        drop(first);
        assert_eq!(limits.open(), 2);
        assert!(limits.take(&db).is_some());
    }

    #[test]
    fn namespace_with_many_silent_connections_leaves_some_to_every_other() {
        let limits = ConnectionLimits::new(10_000, 1_000);
        let mut permits = Vec::new();
        for attackers in 1..=4 {
            for service in 0..10 {
                let service = name(&format!("attacker-{attackers}"), &format!("s{service}"));
                permits.extend((0..1_000).map_while(|_| limits.take(&service)));
            }
            let victim = name("team", "web");
            let got: Vec<_> = (0..200).map_while(|_| limits.take(&victim)).collect();
            assert_eq!(got.len(), 200, "{attackers} namespaces full of connections");
        }
        drop(permits);
        assert_eq!(limits.open(), 0);
    }
}
