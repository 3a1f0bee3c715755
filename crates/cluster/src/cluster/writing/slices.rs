//! EndpointSlices of `dayshift activator`, and the wake of a workload by a request.

use dayshift_workload::{AnnotationChange, Observed, other_controllers::ACTIVATOR};
use http::{Request, header};
use serde_json::Value;

use crate::cluster::writing::{error::PatchError, guard::wake_patch, writer::Writer};

/// The root of the API of EndpointSlices.
pub(crate) const SLICES_ROOT: &str = "/apis/discovery.k8s.io/v1/";

impl Writer {
    /// Writes annotations of an override, if the object has the observed inputs and state.
    ///
    /// # Errors
    /// As for [`Writer::patch`].
    pub async fn wake(
        &self,
        observed: &Observed,
        annotations: &[AnnotationChange],
    ) -> Result<(), PatchError> {
        let patch = wake_patch(observed, annotations, self.prefix());
        self.send_patch(&observed.object, &patch).await?;
        Ok(())
    }

    /// Applies an EndpointSlice on the server's side: replicas that want the same slice write the same
    /// one.
    ///
    /// # Errors
    /// As for [`Writer::patch`]; a missing permission to create is one too.
    pub async fn apply_slice(
        &self,
        namespace: &str,
        name: &str,
        slice: &Value,
    ) -> Result<(), PatchError> {
        let uri = format!(
            "{}?fieldManager={ACTIVATOR}&force=true",
            path(namespace, name)
        );
        let request =
            Request::patch(uri).header(header::CONTENT_TYPE, "application/apply-patch+yaml");
        self.send(request, slice.to_string().into_bytes())
            .await?
            .body(PatchError::sort)?;
        Ok(())
    }

    /// Deletes an EndpointSlice, if it is the one with this UID.
    ///
    /// # Errors
    /// As for [`Writer::patch`].
    pub async fn delete_slice(
        &self,
        namespace: &str,
        name: &str,
        uid: &str,
    ) -> Result<(), PatchError> {
        let request =
            Request::delete(path(namespace, name)).header(header::CONTENT_TYPE, "application/json");
        let body = serde_json::json!({"preconditions": {"uid": uid}});
        self.send(request, body.to_string().into_bytes())
            .await?
            .body(PatchError::sort)?;
        Ok(())
    }
}

fn path(namespace: &str, name: &str) -> String {
    format!("{SLICES_ROOT}namespaces/{namespace}/endpointslices/{name}")
}
