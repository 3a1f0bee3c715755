//! Connections to ready pods, each of which is first confirmed with the API server.
//!
//! Whoever may write EndpointSlices can put any address there (CVE-2021-25740). The activator may reach
//! what they may not, so it asks for the pod itself, whose status only kubelets write.

use std::{
    collections::{BTreeMap, HashMap},
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use dayshift_cluster::read::get_raw;
use dayshift_workload::{names::is_dns_label, selects};
use kube::Client;
use serde_json::Value;
use tokio::{
    net::TcpStream,
    sync::Mutex as Turn,
    time::{Instant, timeout},
};

use crate::{routes::Backend, service::ServiceName};

/// How many answers are remembered, and of how many Services.
const MAX_KNOWN: usize = 10_000;

/// How long a pod that is not what its slice says, or cannot be read, is not read again.
const DOUBT: Duration = Duration::from_secs(2);

/// How long the API server may take to answer.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// PodVerifier that were looked at.
#[derive(Clone)]
pub(crate) struct PodVerifier {
    client: Client,
    seen: Arc<Mutex<VerifiedPods>>,
}

type BackendKey = (ServiceName, Backend);

#[derive(Default)]
struct VerifiedPods {
    /// What is known: until when what is in doubt is not read again, nothing of a pod that is right.
    known: HashMap<BackendKey, Option<Instant>>,
    /// Held while a pod of the Service is read: a thousand connections read it once.
    turns: HashMap<ServiceName, Arc<Turn<()>>>,
}

impl PodVerifier {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            seen: Arc::default(),
        }
    }

    /// Whether the Service selects that pod, and the pod has that address. A pod that is right stays so for
    /// as long as a slice has it with this UID.
    pub(crate) async fn has(
        &self,
        service: &ServiceName,
        selector: &BTreeMap<String, String>,
        backend: &Backend,
    ) -> bool {
        let key = (service.clone(), backend.clone());
        if let Some(is_right) = self.seen().answer(&key) {
            return is_right;
        }
        let turn = self.seen().turn(service);
        let _turn = turn.lock().await;
        if let Some(is_right) = self.seen().answer(&key) {
            return is_right;
        }
        let is_right = self.read(service, selector, backend).await;
        self.seen().note(key, is_right);
        is_right
    }

    async fn read(
        &self,
        service: &ServiceName,
        selector: &BTreeMap<String, String>,
        backend: &Backend,
    ) -> bool {
        let address = &backend.address;
        let path = format!(
            "/api/v1/namespaces/{}/pods/{}",
            service.namespace, backend.pod.name
        );
        let pod = &backend.pod;
        // Whoever wrote the slice wrote that name.
        let may_be = *pod.namespace == *service.namespace && pod.name.split('.').all(is_dns_label);
        let is_right = may_be
            && match timeout(READ_TIMEOUT, get_raw(&self.client, &path)).await {
                Ok(Ok(pod)) => pod.is_some_and(|pod| is_pod(&pod, selector, backend)),
                Ok(Err(error)) => {
                    tracing::warn!(%service, %address, %error, "cannot read the pod of an address");
                    return false;
                }
                Err(_) => {
                    tracing::warn!(%service, %address, "the API server does not say whose an address is");
                    return false;
                }
            };
        if !is_right {
            tracing::warn!(
                %service,
                %address,
                "an EndpointSlice has an address that is of no pod of the Service; nothing goes there"
            );
        }
        is_right
    }

    fn seen(&self) -> MutexGuard<'_, VerifiedPods> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl VerifiedPods {
    /// Whether it is known to be right or wrong.
    fn answer(&self, key: &BackendKey) -> Option<bool> {
        match self.known.get(key)? {
            None => Some(true),
            Some(until) => (*until > Instant::now()).then_some(false),
        }
    }

    fn note(&mut self, key: BackendKey, is_right: bool) {
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        let doubt = (!is_right).then(|| Instant::now() + DOUBT);
        self.known.insert(key, doubt);
    }

    fn turn(&mut self, service: &ServiceName) -> Arc<Turn<()>> {
        if self.turns.len() >= MAX_KNOWN {
            self.turns.clear();
        }
        Arc::clone(self.turns.entry(service.clone()).or_default())
    }
}

fn is_pod(pod: &Value, selector: &BTreeMap<String, String>, backend: &Backend) -> bool {
    let labels: BTreeMap<String, String> =
        serde_json::from_value(pod["metadata"]["labels"].clone()).unwrap_or_default();
    let addresses = pod["status"]["podIPs"].as_array().into_iter().flatten();
    let mut addresses = addresses.filter_map(|ip| ip["ip"].as_str()?.parse::<IpAddr>().ok());
    // A pod of the host's network has the address of the node, on which others listen too.
    let is_of_host = pod["spec"]["hostNetwork"].as_bool() == Some(true);
    pod["metadata"]["uid"].as_str() == Some(&backend.pod.uid)
        && selects(selector, &labels)
        && !is_of_host
        && addresses.any(|address| address == backend.address.ip())
}

/// How long a pod may take to answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// A connection to any of these pods, in a random order: `None` where none takes one.
pub(crate) async fn connect_to_any(
    pods: &PodVerifier,
    service: &ServiceName,
    selector: &BTreeMap<String, String>,
    backends: &[Backend],
) -> Option<TcpStream> {
    let mut order: Vec<_> = backends.iter().collect();
    fastrand::shuffle(&mut order);
    for backend in order {
        if !pods.has(service, selector, backend).await {
            continue;
        }
        match timeout(CONNECT_TIMEOUT, TcpStream::connect(backend.address)).await {
            Ok(Ok(pod)) => {
                let _ = pod.set_nodelay(true);
                return Some(pod);
            }
            Ok(Err(error)) => {
                tracing::debug!(%service, address = %backend.address, %error, "a pod takes no connection");
            }
            Err(_) => {
                tracing::debug!(%service, address = %backend.address, "a pod does not answer");
            }
        }
    }
    None
}
