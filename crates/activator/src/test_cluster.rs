//! A fixture: the objects of a cluster as the activator observes them.

use chrono::{DateTime, Utc};
use dayshift_cluster::watch::ReflectorEvent;
use dayshift_workload::{Kind, Prefix};
use serde_json::{Value, json};

use crate::{
    desired::DesiredState,
    index::{ClusterIndex, WatchEvent},
    ports::PortTable,
    routes::Route,
    service::ServiceName,
    settings::Settings,
};

pub(crate) fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

pub(crate) fn name(namespace: &str, name: &str) -> ServiceName {
    ServiceName {
        namespace: namespace.into(),
        name: name.into(),
    }
}

pub(crate) use crate::probe::settings;

/// A cluster with one activator pod at 10.0.0.9.
pub(crate) struct Cluster {
    pub(crate) index: ClusterIndex,
    pub(crate) settings: Settings,
}

impl Cluster {
    pub(crate) fn new() -> Self {
        let mut cluster = Self {
            index: ClusterIndex::new(Prefix::default(), 4),
            settings: settings(),
        };
        cluster.slice("dayshift", "dayshift-activator", &["10.0.0.9"], 8080);
        cluster
    }

    pub(crate) fn workload(&mut self, state: &str, replicas: u32, annotations: Value) {
        self.workload_named("web", state, replicas, annotations);
    }

    pub(crate) fn workload_named(
        &mut self,
        name: &str,
        state: &str,
        replicas: u32,
        annotations: Value,
    ) {
        let labels = json!({"app": name, "v": "1"});
        self.workload_with_pods(name, state, replicas, annotations, labels);
    }

    #[expect(clippy::needless_pass_by_value, reason = "as json! gives it")]
    pub(crate) fn workload_with_pods(
        &mut self,
        name: &str,
        state: &str,
        replicas: u32,
        annotations: Value,
        labels: Value,
    ) {
        let mut all = json!({"dayshift/hours": "09:00-19:00"});
        for (key, text) in annotations.as_object().unwrap() {
            all[key] = text.clone();
        }
        let object = json!({
            "metadata": {
                "name": name, "namespace": "dev", "uid": format!("uid-{name}"), "resourceVersion": "1",
                "annotations": all, "labels": {"dayshift/state": state},
            },
            "spec": {"replicas": replicas, "template": {"metadata": {"labels": labels}}},
        });
        self.observe_workload(object);
    }

    /// A workload that runs because of a wake from `began` to `until`.
    pub(crate) fn awake(
        &mut self,
        name: &str,
        wake: &str,
        began: DateTime<Utc>,
        until: DateTime<Utc>,
    ) {
        self.awake_with(
            name,
            json!({"dayshift/wake-on-request": wake}),
            began,
            until,
        );
    }

    pub(crate) fn awake_with(
        &mut self,
        name: &str,
        mut annotations: Value,
        began: DateTime<Utc>,
        until: DateTime<Utc>,
    ) {
        annotations["dayshift/hours"] = json!("09:00-19:00");
        annotations["dayshift/wake-until"] = json!(until.to_rfc3339());
        let last = began.format("%Y-%m-%dT%H.%M.%SZ").to_string();
        self.observe_workload(json!({
            "metadata": {
                "name": name, "namespace": "dev", "uid": format!("uid-{name}"), "annotations": annotations,
                "labels": {"dayshift/state": "woken", "dayshift/last": last},
            },
            "spec": {"replicas": 2, "template": {"metadata": {"labels": {"app": name}}}},
        }));
    }

    pub(crate) fn observe_workload(&mut self, object: Value) {
        let object = serde_json::from_value(object).unwrap();
        let event = Box::new(ReflectorEvent::changed(object));
        let event = WatchEvent::Workload(Kind::DEPLOYMENT, event);
        assert_eq!(self.index.observe(0, event), None);
    }

    #[expect(clippy::needless_pass_by_value, reason = "as json! gives it")]
    pub(crate) fn namespace(&mut self, annotations: Value) {
        self.observe_namespace(json!({"metadata": {"name": "dev", "annotations": annotations}}));
    }

    pub(crate) fn observe_namespace(&mut self, object: Value) {
        let object = serde_json::from_value(object).unwrap();
        let event = WatchEvent::Namespace(ReflectorEvent::changed(object));
        assert_eq!(self.index.observe(3, event), None);
    }

    pub(crate) fn asleep(mut self) -> Self {
        self.workload("stopped", 0, json!({"dayshift/wake-on-request": "2h"}));
        self
    }

    #[expect(clippy::needless_pass_by_value, reason = "as json! gives it")]
    pub(crate) fn service(&mut self, spec: Value) {
        let meta = json!({"name": "web", "namespace": "dev", "uid": "s"});
        self.observe_service(json!({"metadata": meta, "spec": spec}));
    }

    pub(crate) fn observe_service(&mut self, object: Value) {
        let object = serde_json::from_value(object).unwrap();
        let event = WatchEvent::Service(Box::new(ReflectorEvent::changed(object)));
        assert_eq!(self.index.observe(1, event), None);
    }

    pub(crate) fn with_service(mut self) -> Self {
        self.service(json!({
            "selector": {"app": "web"}, "clusterIP": "10.96.0.1", "ipFamilies": ["IPv4"],
            "ports": [{"name": "http", "port": 80}, {"name": "dns", "port": 53, "protocol": "UDP"}],
        }));
        self
    }

    /// An EndpointSlice that Kubernetes writes.
    pub(crate) fn slice(&mut self, namespace: &str, service: &str, addresses: &[&str], port: u16) {
        let endpoint = |address: &&str| {
            json!({
                "addresses": [address], "conditions": {"ready": true},
                "targetRef": {"kind": "Pod", "namespace": namespace, "name": address, "uid": address},
            })
        };
        self.observe_slice(json!({
            "metadata": {
                "name": format!("{service}-x"), "namespace": namespace,
                "labels": {"kubernetes.io/service-name": service,
                           "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io"},
            },
            "addressType": "IPv4",
            "ports": [{"name": "http", "port": port, "protocol": "TCP"}],
            "endpoints": addresses.iter().map(endpoint).collect::<Vec<_>>(),
        }));
    }

    pub(crate) fn observe_slice(&mut self, object: Value) {
        let object = serde_json::from_value(object).unwrap();
        let event = WatchEvent::Slice(ReflectorEvent::changed(object));
        assert_eq!(self.index.observe(2, event), None);
    }

    pub(crate) fn desired(&self) -> DesiredState {
        self.desired_at(at("2026-11-25T22:00:00Z"))
    }

    /// The desired state in a process that has just started.
    pub(crate) fn desired_at(&self, now: DateTime<Utc>) -> DesiredState {
        let mut ports = PortTable::new(self.settings.ports, usize::MAX);
        DesiredState::new(&self.index, &self.settings, &mut ports, now)
    }

    pub(crate) fn route(&self) -> Route {
        let desired = self.desired();
        Route::clone(&desired.routes[&name("dev", "web")])
    }
}

/// The only EndpointSlice of the desired state, as JSON.
pub(crate) fn slice(desired: &DesiredState) -> Value {
    assert_eq!(desired.slices.len(), 1, "{desired:?}");
    desired.slices.values().next().unwrap().object()
}
