//! Connections to pods.

use std::{collections::BTreeMap, time::Duration};

use tokio::{net::TcpStream, time::timeout};

use crate::connections::pods::Pods;
use crate::routes::Backend;
use crate::service::ServiceName;

/// How long a pod may take to answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// A connection to any of these pods, in a random order: `None` where none takes one.
pub(crate) async fn connect_to_any(
    pods: &Pods,
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
