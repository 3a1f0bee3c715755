//! How many connections may be open at once: in all, and for one Service.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use crate::service::ServiceName;

/// The places of connections.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionLimits {
    taken: Arc<Mutex<Taken>>,
    max: usize,
    max_per_service: usize,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    by_service: HashMap<ServiceName, usize>,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionPermit {
    taken: Arc<Mutex<Taken>>,
    service: ServiceName,
}

impl ConnectionLimits {
    pub(crate) fn new(max: usize, max_per_service: usize) -> Self {
        Self {
            taken: Arc::default(),
            max,
            max_per_service,
        }
    }

    /// A place for a connection to that Service, if there is one.
    pub(crate) fn take(&self, service: &ServiceName) -> Option<ConnectionPermit> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let of_service = taken.by_service.get(service).copied().unwrap_or_default();
        if taken.all >= self.max || of_service >= self.max_per_service {
            return None;
        }
        taken.all += 1;
        taken.by_service.insert(service.clone(), of_service + 1);
        Some(ConnectionPermit {
            taken: Arc::clone(&self.taken),
            service: service.clone(),
        })
    }

    /// How many are taken.
    pub(crate) fn taken(&self) -> usize {
        self.taken
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .all
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.all -= 1;
        if let Some(of_service) = taken.by_service.get_mut(&self.service) {
            *of_service -= 1;
            if *of_service == 0 {
                taken.by_service.remove(&self.service);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_service_does_not_take_the_places_of_all() {
        let [web, db] = ["web", "db"].map(|name| ServiceName {
            namespace: "dev".into(),
            name: name.into(),
        });
        let places = ConnectionLimits::new(3, 2);
        let first = places.take(&web).unwrap();
        let _second = places.take(&web).unwrap();
        assert!(places.take(&web).is_none(), "two are for web");
        let _third = places.take(&db).unwrap();
        assert!(places.take(&db).is_none(), "three in all");
        drop(first);
        assert_eq!(places.taken(), 2);
        assert!(places.take(&db).is_some());
    }
}
