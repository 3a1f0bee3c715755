//! Entry points for fuzz targets and measurements, which see only public items.

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use dayshift_cluster::{
    decode::WithPodLabels,
    read::{EndpointSlice, Service},
    watch::ReflectorEvent,
};
use dayshift_schedule::{Tzdata, Zone};
use dayshift_workload::{Kind, KindTable, Prefix};

pub use crate::http::{FirstBytes, Head};
use crate::{
    desired::DesiredState,
    index::{ClusterIndex, WatchEvent},
    ports::PortTable,
    response::PageSettings,
    service::ServiceName,
    settings::Settings,
    target::WakeLimits,
};

/// An activator without connections and writes: it observes objects and assigns ports.
pub struct ActivatorProbe {
    index: ClusterIndex,
    ports: PortTable,
    settings: Settings,
    now: DateTime<Utc>,
}

/// The activator's port for each port of each Service.
pub type AssignedPorts = BTreeMap<(ServiceName, Box<str>), u16>;

impl Default for ActivatorProbe {
    fn default() -> Self {
        let settings = settings();
        Self {
            index: ClusterIndex::new(Prefix::default(), 0),
            ports: PortTable::new(settings.ports, usize::MAX),
            settings,
            now: DateTime::UNIX_EPOCH,
        }
    }
}

impl ActivatorProbe {
    /// Observes a Deployment as JSON. Returns whether it could be decoded.
    pub fn observe_deployment(&mut self, json: &[u8]) -> bool {
        let object = serde_json::from_slice::<WithPodLabels>(json);
        self.observe(object, |object| {
            let event = ReflectorEvent::changed(object);
            WatchEvent::Workload(Kind::DEPLOYMENT, Box::new(event))
        })
    }

    /// Observes a Service as JSON. Returns whether it could be decoded.
    pub fn observe_service(&mut self, json: &[u8]) -> bool {
        let object = serde_json::from_slice::<Service>(json);
        self.observe(object, |object| {
            WatchEvent::Service(Box::new(ReflectorEvent::changed(object)))
        })
    }

    /// Observes an EndpointSlice as JSON. Returns whether it could be decoded.
    pub fn observe_slice(&mut self, json: &[u8]) -> bool {
        let object = serde_json::from_slice::<EndpointSlice>(json);
        self.observe(object, |object| {
            WatchEvent::Slice(ReflectorEvent::changed(object))
        })
    }

    fn observe<D, E>(&mut self, object: Result<D, E>, event: impl FnOnce(D) -> WatchEvent) -> bool {
        let Ok(object) = object else {
            return false;
        };
        self.index.observe(0, event(object)).is_none()
    }

    /// Assigns the ports, as after each event.
    pub fn assign(&mut self) -> AssignedPorts {
        let desired = self.desired();
        let routes = desired.routes.iter();
        let all = routes.flat_map(|(service, route)| {
            let ports = route.ports.iter();
            ports.map(|(port, number)| ((service.clone(), port.clone()), *number))
        });
        all.collect()
    }

    /// The pods to which connections to a Service are forwarded, once the API server has confirmed them.
    pub fn backends(&mut self, service: &ServiceName) -> Vec<SocketAddr> {
        let desired = self.desired();
        let route = desired.routes.get(service);
        let ports = route.into_iter().flat_map(|route| route.ready.keys());
        let backends = ports.filter_map(|port| Some(route?.backends(port)));
        backends.flatten().map(|backend| backend.address).collect()
    }

    /// Forgets the assignments, as a new process does. It knows only the slices.
    pub fn restart(&mut self) {
        self.ports = PortTable::new(self.settings.ports, usize::MAX);
    }

    fn desired(&mut self) -> DesiredState {
        DesiredState::new(&self.index, &self.settings, &mut self.ports, self.now)
    }
}

/// Settings with ten ports.
pub(crate) fn settings() -> Settings {
    Settings {
        kinds: vec![Kind::DEPLOYMENT],
        kind_table: Arc::new(KindTable::default()),
        namespaces: Vec::new(),
        service: ServiceName {
            namespace: "dayshift".into(),
            name: "dayshift-activator".into(),
        },
        prefix: Prefix::default(),
        default_zone: Zone::UTC,
        tzdata: Tzdata::default(),
        bind: None,
        ports: (20000, 20009),
        hold: Duration::from_secs(60),
        wake_limits: WakeLimits::default(),
        max_connections: 100,
        max_per_service: 50,
        ignored_agents: vec!["kube-probe".to_owned()],
        page: PageSettings::default(),
        drain: Duration::from_secs(60),
        instance: "test".to_owned(),
        seed: 1,
    }
}
