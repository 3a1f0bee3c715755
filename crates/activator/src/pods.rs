//! Connections to ready pods, after the API server has confirmed the pod.
//!
//! Users who can write EndpointSlices can put any address there (CVE-2021-25740), and the activator can reach
//! addresses that they cannot. So it reads the pod itself, whose status only kubelets write.

use std::{
    collections::{BTreeMap, HashMap},
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use dayshift_cluster::{log_limit::LogLimit, read::get_raw};
use dayshift_workload::{names::is_dns_label, selects};
use kube::Client;
use serde_json::Value;
use tokio::{
    net::TcpStream,
    sync::Mutex as Turn,
    time::{Instant, timeout},
};

use crate::{routes::Backend, service::ServiceName};

/// The maximum number of cached answers, and of namespaces with a lock.
const MAX_KNOWN: usize = 10_000;

/// A cached answer is used for this long. After a pod is deleted, its address can soon belong to another one.
const MAX_AGE: Duration = Duration::from_secs(2);

/// The time limit for reading a pod.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// Confirms with the API server that a pod has an address and that its Service selects it.
#[derive(Clone)]
pub(crate) struct PodVerifier {
    client: Client,
    logs: LogLimit,
    seen: Arc<Mutex<VerifiedPods>>,
}

type BackendKey = (ServiceName, Backend);

#[derive(Default)]
struct VerifiedPods {
    /// The recent answers with their times.
    known: HashMap<BackendKey, (bool, Instant)>,
    /// A lock for reading pods of a namespace: concurrent connections read a pod once, and a namespace with
    /// many false addresses causes one request at a time.
    turns: HashMap<Arc<str>, Arc<Turn<()>>>,
}

impl PodVerifier {
    pub(crate) fn new(client: Client, logs: LogLimit) -> Self {
        Self {
            client,
            logs,
            seen: Arc::default(),
        }
    }

    /// Whether the Service selects the pod with this UID, and the pod has the address. The answer is at most
    /// [`MAX_AGE`] old.
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
        let turn = self.seen().turn(&service.namespace);
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
        // Nothing validates the name in an EndpointSlice.
        let may_be = *pod.namespace == *service.namespace && pod.name.split('.').all(is_dns_label);
        let is_right = may_be
            && match timeout(READ_TIMEOUT, get_raw(&self.client, &path)).await {
                Ok(Ok(pod)) => pod.is_some_and(|pod| is_pod(&pod, selector, backend)),
                Ok(Err(error)) => {
                    if let Some(suppressed) = self.logs.allow(&service.namespace) {
                        tracing::warn!(%service, %address, %error, suppressed, "cannot read a pod");
                    }
                    return false;
                }
                Err(_) => {
                    if let Some(suppressed) = self.logs.allow(&service.namespace) {
                        tracing::warn!(%service, %address, suppressed, "reading a pod timed out");
                    }
                    return false;
                }
            };
        if !is_right && let Some(suppressed) = self.logs.allow(&service.namespace) {
            tracing::warn!(
                %service,
                %address,
                suppressed,
                "an EndpointSlice has an address that belongs to no pod of the Service; it gets no connections"
            );
        }
        is_right
    }

    fn seen(&self) -> MutexGuard<'_, VerifiedPods> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl VerifiedPods {
    /// The cached answer, if it is recent.
    fn answer(&self, key: &BackendKey) -> Option<bool> {
        let (is_right, at) = self.known.get(key)?;
        (at.elapsed() < MAX_AGE).then_some(*is_right)
    }

    fn note(&mut self, key: BackendKey, is_right: bool) {
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        self.known.insert(key, (is_right, Instant::now()));
    }

    fn turn(&mut self, namespace: &Arc<str>) -> Arc<Turn<()>> {
        if self.turns.len() >= MAX_KNOWN {
            self.turns.clear();
        }
        Arc::clone(self.turns.entry(namespace.clone()).or_default())
    }
}

fn is_pod(pod: &Value, selector: &BTreeMap<String, String>, backend: &Backend) -> bool {
    let labels: BTreeMap<String, String> =
        serde_json::from_value(pod["metadata"]["labels"].clone()).unwrap_or_default();
    let addresses = pod["status"]["podIPs"].as_array().into_iter().flatten();
    let mut addresses = addresses.filter_map(|ip| ip["ip"].as_str()?.parse::<IpAddr>().ok());
    // A pod in the host network has the address of the node, where other processes listen too.
    let is_of_host = pod["spec"]["hostNetwork"].as_bool() == Some(true);
    // A pod that has ended, or that a finalizer keeps, still shows its address, which can belong to another pod.
    let has_address =
        pod["status"]["phase"] == "Running" && pod["metadata"]["deletionTimestamp"].is_null();
    pod["metadata"]["uid"].as_str() == Some(&backend.pod.uid)
        && selects(selector, &labels)
        && !is_of_host
        && has_address
        && addresses.any(|address| address == backend.address.ip())
}

/// The maximum number of pods that are tried for a connection.
const MAX_TRIES: usize = 10;

/// The time limit for connecting to a pod.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// Connects to one of these pods in random order. Returns `None` if none accepts.
pub(crate) async fn connect_to_any(
    pods: &PodVerifier,
    service: &ServiceName,
    selector: &BTreeMap<String, String>,
    backends: &[Backend],
) -> Option<TcpStream> {
    let mut order: Vec<_> = backends.iter().collect();
    fastrand::shuffle(&mut order);
    for backend in order.into_iter().take(MAX_TRIES) {
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

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use http::{Request, Response};
    use kube::client::Body;
    use serde_json::json;
    use tokio::time::advance;
    use tower::service_fn;

    use super::*;
    use crate::{service::PodName, test_cluster::name};

    fn selector() -> BTreeMap<String, String> {
        [("app".to_owned(), "web".to_owned())].into()
    }

    fn backend() -> Backend {
        Backend {
            address: "10.0.0.1:80".parse().unwrap(),
            pod: PodName {
                namespace: "dev".into(),
                name: "web-1".into(),
                uid: "p".into(),
            },
        }
    }

    #[test]
    fn pod_has_its_address_only_while_it_runs() {
        let pod = |phase: &str, deletion: Value| {
            json!({
                "metadata": {"uid": "p", "labels": {"app": "web"}, "deletionTimestamp": deletion},
                "status": {"phase": phase, "podIPs": [{"ip": "10.0.0.1"}]},
            })
        };
        let deleted = json!("2026-11-25T22:00:00Z");
        for (phase, deletion, expected) in [
            ("Running", Value::Null, true),
            ("Succeeded", Value::Null, false),
            ("Failed", Value::Null, false),
            ("Pending", Value::Null, false),
            ("Running", deleted, false),
        ] {
            let pod = pod(phase, deletion);
            assert_eq!(is_pod(&pod, &selector(), &backend()), expected, "{pod}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn pod_that_is_deleted_gets_no_connections_after_seconds() {
        let reads = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&reads);
        let api = service_fn(move |_: Request<Body>| {
            let uid = match count.fetch_add(1, Ordering::Relaxed) {
                0 => "p",
                // Another pod with the same name and address.
                _ => "q",
            };
            let pod = json!({
                "metadata": {"uid": uid, "labels": {"app": "web"}},
                "status": {"phase": "Running", "podIPs": [{"ip": "10.0.0.1"}]},
            });
            let response = Response::new(Body::from(pod.to_string().into_bytes()));
            async { Ok::<_, Infallible>(response) }
        });
        let pods = PodVerifier::new(Client::new(api, "dev"), LogLimit::new(10));
        let (selector, backend) = (selector(), backend());
        let web = name("dev", "web");
        assert!(pods.has(&web, &selector, &backend).await);
        assert!(pods.has(&web, &selector, &backend).await);
        assert_eq!(reads.load(Ordering::Relaxed), 1);
        advance(MAX_AGE).await;
        assert!(!pods.has(&web, &selector, &backend).await);
    }
}
