//! The only code that sends writes: guarded patches, Events, and the EndpointSlices of `dayshift
//! activator`. [`Writer`] also reads single objects, because a conflict must be followed by a read with
//! the same limits.

mod error;
mod events;
mod jobs;
mod patch;

pub use self::{
    error::{AnnounceError, FailureKind, PatchError, ReadError, Unavailable},
    events::EventObject,
    jobs::JobPages,
    patch::{Patch, guarded_patch},
};

use std::{collections::BTreeMap, fmt, time::Duration};

use bytes::Bytes;
use chrono::{DateTime, Utc};
use dayshift_text::{cut_bytes, escape_json, printable};
use dayshift_workload::{
    AnnotationChange, Change, Kind, Observed, Prefix, TEAM_CONFIG_MAP, WorkloadRef,
    events::EventText,
    other_controllers::{ACTIVATOR, COMMANDS, CONTROLLER},
};
use http::{HeaderMap, Request, header};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Client, client::Body, core::Status};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{
    connect::{
        compact::FullObject,
        middleware::{MAX_MESSAGE, bounded, is_malformed, is_too_large, retry_after},
        redact::redacted_chain,
    },
    decode::views::SpecMembers,
    decode::{
        kind_api::{KindApi, collection_path},
        metadata::Part as _,
        protobuf::{CONFIG_MAPS, CORE_ROOT},
        views::WithManagers,
        workload::{Trim, Version, Workload},
    },
    delays::MAX_RETRY_AFTER,
    read::{
        events::REPORTER,
        namespaces::{NAMESPACES_PATH, NamespaceMeta},
        services::{EndpointSlice, SLICES_ROOT},
        team_defaults::WholeTeamDefaults,
    },
    write::{
        error::{ApiResponse, proxy_status},
        events::event_body,
        patch::{annotation_patch, namespace_patch, team_patch, wake_patch},
    },
};

/// The time limit of one request. If a patch took effect although its response was late, sending it
/// again does no harm: its tests fail, and the object is read again.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// The version of a list.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ListVersion {
    metadata: ListVersionMeta,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ListVersionMeta {
    resource_version: String,
}

/// Sends writes with one annotation prefix and one field manager. Of the objects in responses, it keeps only the
/// parts that dayshift reads, because many responses can arrive at the same time.
#[derive(Clone)]
pub struct Writer {
    client: Client,
    prefix: Prefix,
    instance: String,
    /// The field manager, as in `managedFields`.
    manager: &'static str,
    /// The time limit of one request; `None` if the client sets it.
    limit: Option<Duration>,
}

impl Writer {
    /// Makes the controller's writer. `instance` is its name in Events, for example that of the pod.
    pub const fn new(client: Client, prefix: Prefix, instance: String) -> Self {
        Self {
            client,
            prefix,
            instance,
            manager: CONTROLLER,
            limit: Some(REQUEST_TIMEOUT),
        }
    }

    /// Makes the writer of a command. Its client,
    /// [`with_retry_after`](crate::connect::with_retry_after), sets the time limit.
    pub fn for_command(client: Client, prefix: Prefix) -> Self {
        Self {
            limit: None,
            manager: COMMANDS,
            ..Self::new(client, prefix, REPORTER.to_owned())
        }
    }

    /// Makes the writer of `dayshift activator`.
    pub const fn for_activator(client: Client, prefix: Prefix, instance: String) -> Self {
        let mut writer = Self::new(client, prefix, instance);
        writer.manager = ACTIVATOR;
        writer
    }

    /// Copies the writer with another time limit for each request.
    #[must_use]
    pub fn with_timeout(&self, limit: Duration) -> Self {
        Self {
            limit: Some(limit),
            ..self.clone()
        }
    }

    pub(crate) const fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// Applies the change if the object is still as observed, and returns the new object.
    ///
    /// # Errors
    /// [`PatchError`] distinguishes a conflict, a rejection and an unavailable server.
    pub async fn patch(
        &self,
        observed: &Observed,
        change: &Change,
    ) -> Result<Workload, PatchError> {
        let patch = guarded_patch(observed, change, &self.prefix);
        self.send_patch(&observed.object, &patch).await
    }

    /// Writes a user's annotations if the inputs of the object are still as observed, and returns the
    /// new object.
    ///
    /// # Errors
    /// See [`Writer::patch`].
    pub async fn annotate(
        &self,
        observed: &Observed,
        annotations: &[AnnotationChange],
    ) -> Result<Workload, PatchError> {
        let patch = annotation_patch(observed, annotations, &self.prefix);
        self.send_patch(&observed.object, &patch).await
    }

    /// Reads a Namespace.
    ///
    /// # Errors
    /// If it does not exist, or the API server cannot be reached or rejects the request.
    pub async fn read_namespace(&self, name: &str) -> Result<NamespaceMeta, ReadError> {
        let request = Request::get(format!("{NAMESPACES_PATH}/{name}"));
        let response = self.get(request).await?;
        Ok(namespace_in(&response, name)?)
    }

    /// Writes a user's annotations on a Namespace if the changed ones are still as observed, and returns
    /// the new Namespace.
    ///
    /// # Errors
    /// See [`Writer::patch`].
    pub async fn annotate_namespace(
        &self,
        namespace: &NamespaceMeta,
        annotations: &[AnnotationChange],
    ) -> Result<NamespaceMeta, PatchError> {
        let patch = namespace_patch(namespace, annotations, &self.prefix);
        let name = namespace.metadata.name.as_deref().unwrap_or_default();
        let response = self
            .patch_path(format!("{NAMESPACES_PATH}/{name}"), &patch)
            .await?;
        Ok(namespace_in(&response, name)?)
    }

    /// Reads the ConfigMap with the defaults of the team in a namespace; `None` if there is none.
    ///
    /// # Errors
    /// If the API server cannot be reached or rejects the request.
    pub async fn read_team_defaults(
        &self,
        namespace: &str,
    ) -> Result<Option<WholeTeamDefaults>, ReadError> {
        match self.get(Request::get(team_path(namespace))).await {
            Ok(response) => Ok(Some(config_map_in(&response)?)),
            Err(ReadError::Gone) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes a user's override among the defaults of the team in a namespace, if all overrides there are
    /// still as observed, and returns the new ConfigMap. Creates it if it does not exist.
    ///
    /// # Errors
    /// See [`Writer::patch`].
    pub async fn write_team_defaults(
        &self,
        namespace: &str,
        observed: Option<&WholeTeamDefaults>,
        changes: &[AnnotationChange],
    ) -> Result<WholeTeamDefaults, PatchError> {
        if let Some(WholeTeamDefaults(observed)) = observed {
            let patch = team_patch(observed, changes);
            let response = self.patch_path(team_path(namespace), &patch).await?;
            return Ok(config_map_in(&response)?);
        }
        let texts = changes.iter();
        let texts = texts.filter_map(|(key, text)| Some((key.name(), text.as_deref()?)));
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": TEAM_CONFIG_MAP, "namespace": namespace},
            "data": texts.collect::<BTreeMap<_, _>>(),
        });
        let uri = format!("{}?fieldManager={}", teams_path(namespace), self.manager);
        let request = Request::post(uri).header(header::CONTENT_TYPE, "application/json");
        let body = serde_json::to_vec(&object).map_err(malformed)?;
        let response = self.send(request, body).await?.body(PatchError::classify)?;
        Ok(config_map_in(&response)?)
    }

    /// Sends a patch of an object, and returns the new object.
    ///
    /// # Errors
    /// As for [`Writer::patch`].
    pub async fn send_patch(
        &self,
        object: &WorkloadRef,
        patch: &Patch,
    ) -> Result<Workload, PatchError> {
        let response = self.patch_path(KindApi::path_of(object), patch).await?;
        let members = SpecMembers::for_kind(&object.kind);
        let mut workload: Workload = members.decode(&response).map_err(malformed)?;
        workload.trim(&object.kind, &self.prefix);
        let is_requested = is_requested_object(&workload, object) && workload.uid() == &*object.uid;
        Ok(expect_requested(workload, is_requested, object)?)
    }

    pub(crate) async fn patch_path(
        &self,
        path: String,
        patch: &Patch,
    ) -> Result<Bytes, PatchError> {
        let uri = format!("{path}?fieldManager={}", self.manager);
        let request =
            Request::patch(uri).header(header::CONTENT_TYPE, "application/json-patch+json");
        let body = serialize_like_go(patch).map_err(malformed)?;
        self.send(request, body).await?.body(PatchError::classify)
    }

    /// Reads a workload.
    ///
    /// # Errors
    /// If it does not exist, or the API server cannot be reached or rejects the request.
    pub async fn read(&self, object: &WorkloadRef) -> Result<Workload, ReadError> {
        let response = self.get(Request::get(KindApi::path_of(object))).await?;
        let members = SpecMembers::for_kind(&object.kind);
        let mut workload: Workload = members.decode(&response).map_err(malformed)?;
        workload.trim(&object.kind, &self.prefix);
        let is_requested = is_requested_object(&workload, object);
        Ok(expect_requested(workload, is_requested, object)?)
    }

    /// Reads a workload with its field managers.
    ///
    /// # Errors
    /// If it does not exist, or the API server cannot be reached or rejects the request.
    pub async fn read_managers(&self, object: &WorkloadRef) -> Result<WithManagers, ReadError> {
        let request = Request::get(KindApi::path_of(object)).extension(FullObject);
        let response = self.get(request).await?;
        let mut read: WithManagers = serde_json::from_slice(&response).map_err(malformed)?;
        read.trim(&object.kind, &self.prefix);
        let is_requested = is_requested_object(&read.workload, object);
        Ok(expect_requested(read, is_requested, object)?)
    }

    /// Lists at most one object of a kind, and returns the server's current version. The response also
    /// has the server's `Date`.
    ///
    /// # Errors
    /// If the API server cannot be reached or rejects the request.
    pub async fn current_version(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
    ) -> Result<Version, ReadError> {
        let uri = format!("{}?limit=1", KindApi::new(kind).path(namespace));
        let response = self.get(Request::get(uri)).await?;
        // The object is skipped: any user can have written it.
        let list: ListVersion = serde_json::from_slice(&response).map_err(malformed)?;
        Ok(Version::parse(&list.metadata.resource_version))
    }

    /// Sends an Event about an object.
    ///
    /// # Errors
    /// If the API server cannot be reached or rejects the Event.
    pub async fn announce(
        &self,
        object: &EventObject,
        event: &EventText,
        at: DateTime<Utc>,
    ) -> Result<(), AnnounceError> {
        let uri = format!(
            "/apis/events.k8s.io/v1/namespaces/{}/events",
            object.namespace
        );
        let request = Request::post(uri).header(header::CONTENT_TYPE, "application/json");
        let body = serde_json::to_vec(&event_body(object, event, at, &self.instance))
            .map_err(malformed)?;
        let response = self.send(request, body).await?;
        // Another controller, or this one before a restart, has already sent it.
        if event.once_of.is_some() && response.is_conflict() {
            return Ok(());
        }
        response.body(AnnounceError::classify)?;
        Ok(())
    }

    async fn get(&self, request: http::request::Builder) -> Result<Bytes, ReadError> {
        let response = self.send(request, Vec::new()).await?;
        response.body(ReadError::classify)
    }

    pub(crate) async fn send(
        &self,
        request: http::request::Builder,
        body: Vec<u8>,
    ) -> Result<ApiResponse, Unavailable> {
        let request = request.body(Body::from(body)).map_err(malformed)?;
        let Some(limit) = self.limit else {
            return self.exchange(request).await;
        };
        timeout(limit, self.exchange(request))
            .await
            .map_err(|_| Unavailable::timed_out(limit))?
    }

    async fn exchange(&self, request: Request<Body>) -> Result<ApiResponse, Unavailable> {
        let response = self.client.send(request).await;
        let response = response.map_err(|error| no_usable_response(&error))?;
        let (code, retry_after) = (response.status(), requested_pause(response.headers()));
        let body = bounded(response.into_body()).await;
        let body = body.map_err(|error| no_usable_response(&kube::Error::Service(error)))?;
        if code.is_success() {
            return Ok(ApiResponse::Success(body));
        }
        let mut status: Status = serde_json::from_slice(&body).unwrap_or_else(|_| {
            let text = String::from_utf8_lossy(&body);
            proxy_status(cut_bytes(text.trim(), 200), code)
        });
        // The message can quote a user's text, or be the text of a webhook. It is used in Events and logs.
        let message = printable(cut_bytes(&status.message, MAX_MESSAGE));
        status.message = cut_bytes(&message, MAX_MESSAGE).to_owned();
        Ok(ApiResponse::Failure {
            code,
            status: Box::new(status),
            retry_after,
        })
    }
}

/// Serializes a patch as the API server would. The API server compares the JSON text of strings in a `test`
/// operation, not their values (evanphx/json-patch v4), and Go's encoder escapes five characters that JSON
/// allows.
fn serialize_like_go(patch: &Patch) -> serde_json::Result<Vec<u8>> {
    let escaped = |character| matches!(character, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
    let json = serde_json::to_string(patch)?;
    Ok(escape_json(&json, escaped).into_owned().into_bytes())
}

/// The pause that the server asks for, at most [`MAX_RETRY_AFTER`].
fn requested_pause(headers: &HeaderMap) -> Option<Duration> {
    Some(retry_after(headers)?.min(MAX_RETRY_AFTER))
}

fn no_response(error: &(impl std::error::Error + 'static)) -> Unavailable {
    Unavailable {
        reason: redacted_chain(error),
        retry_after: None,
        kind: FailureKind::Unreachable,
    }
}

/// The error for a missing response, and for one that was cut off, is larger than the limit or cannot be
/// decoded. The latter two concern one object, not the server.
fn no_usable_response(error: &kube::Error) -> Unavailable {
    let kind = match error {
        error if is_too_large(error) => FailureKind::TooLarge,
        error if is_malformed(error) => FailureKind::Failed,
        _ => FailureKind::Unreachable,
    };
    Unavailable {
        kind,
        ..no_response(error)
    }
}

/// The error for a malformed response or request. It concerns one object, not the server.
pub(crate) fn malformed(error: impl std::error::Error + 'static) -> Unavailable {
    Unavailable {
        kind: FailureKind::Failed,
        ..no_response(&error)
    }
}

/// Whether the response contains the requested object.
fn is_requested_object(workload: &Workload, object: &WorkloadRef) -> bool {
    (workload.namespace(), workload.name()) == (&*object.namespace, &*object.name)
}

/// Decodes the requested Namespace.
fn namespace_in(response: &[u8], name: &str) -> Result<NamespaceMeta, Unavailable> {
    let namespace: NamespaceMeta = serde_json::from_slice(response).map_err(malformed)?;
    let is_requested = namespace.metadata.name.as_deref() == Some(name);
    expect_requested(namespace, is_requested, &format_args!("Namespace {name}"))
}

fn teams_path(namespace: &str) -> String {
    collection_path(CORE_ROOT, Some(namespace), CONFIG_MAPS)
}

fn team_path(namespace: &str) -> String {
    format!("{}/{TEAM_CONFIG_MAP}", teams_path(namespace))
}

fn config_map_in(response: &[u8]) -> Result<WholeTeamDefaults, Unavailable> {
    let object: ConfigMap = serde_json::from_slice(response).map_err(malformed)?;
    let is_requested = object.metadata.name.as_deref() == Some(TEAM_CONFIG_MAP);
    let object = WholeTeamDefaults(object);
    expect_requested(
        object,
        is_requested,
        &format_args!("ConfigMap {TEAM_CONFIG_MAP}"),
    )
}

/// Returns the object if it is the requested one. A successful response can contain something else, such
/// as a `Status`, if another server responded; then nothing was done.
fn expect_requested<T>(
    response: T,
    is_requested: bool,
    object: &dyn fmt::Display,
) -> Result<T, Unavailable> {
    is_requested.then_some(response).ok_or_else(|| Unavailable {
        reason: format!("the response does not show {object}"),
        retry_after: None,
        kind: FailureKind::Failed,
    })
}

impl Writer {
    /// Writes the annotations of an override if inputs and state of the object are still as observed.
    ///
    /// # Errors
    /// See [`Writer::patch`].
    pub async fn wake(
        &self,
        observed: &Observed,
        annotations: &[AnnotationChange],
    ) -> Result<(), PatchError> {
        let patch = wake_patch(observed, annotations, self.prefix());
        self.send_patch(&observed.object, &patch).await?;
        Ok(())
    }

    /// Creates or updates an EndpointSlice with server-side apply. All replicas of the activator compute
    /// the same slice, so their writes do not conflict.
    ///
    /// # Errors
    /// See [`Writer::patch`].
    pub async fn apply_slice(
        &self,
        namespace: &str,
        name: &str,
        slice: &Value,
    ) -> Result<(), PatchError> {
        let uri = format!(
            "{}?fieldManager={ACTIVATOR}&force=true",
            slice_path(namespace, name)
        );
        let request =
            Request::patch(uri).header(header::CONTENT_TYPE, "application/apply-patch+yaml");
        self.send(request, slice.to_string().into_bytes())
            .await?
            .body(PatchError::classify)?;
        Ok(())
    }

    /// Deletes the EndpointSlice with this UID.
    ///
    /// # Errors
    /// See [`Writer::patch`].
    pub async fn delete_slice(
        &self,
        namespace: &str,
        name: &str,
        uid: &str,
    ) -> Result<(), PatchError> {
        let request = Request::delete(slice_path(namespace, name))
            .header(header::CONTENT_TYPE, "application/json");
        let body = serde_json::json!({"preconditions": {"uid": uid}});
        self.send(request, body.to_string().into_bytes())
            .await?
            .body(PatchError::classify)?;
        Ok(())
    }
}

fn slice_path(namespace: &str, name: &str) -> String {
    let slices = collection_path(SLICES_ROOT, Some(namespace), EndpointSlice::PLURAL);
    format!("{slices}/{name}")
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http::Response;
    use tower::service_fn;

    use super::*;

    /// A writer whose requests get this response.
    fn writer(response: String) -> Writer {
        let service = service_fn(move |_: Request<Body>| {
            let response = Response::new(Body::from(response.clone().into_bytes()));
            async { Ok::<_, Infallible>(response) }
        });
        let client = Client::new(service, "dev");
        Writer::new(client, Prefix::default(), "test".to_owned())
    }

    fn web() -> WorkloadRef {
        WorkloadRef {
            kind: Kind::DEPLOYMENT,
            namespace: "dev".into(),
            name: "web".into(),
            uid: "u".into(),
        }
    }

    #[tokio::test]
    async fn thousands_of_labels_in_a_response_are_not_kept() {
        let labels: BTreeMap<_, _> = (0..10_000).map(|label| (label.to_string(), "")).collect();
        let meta = json!({"name": "web", "namespace": "dev", "uid": "u", "labels": labels});
        let writer = writer(json!({"metadata": meta, "spec": {"replicas": 3}}).to_string());
        let web = web();
        let patch = patch::Operations::default().into_patch();
        let responses = [
            format!("{:?}", writer.read(&web).await.unwrap()),
            format!("{:?}", writer.read_managers(&web).await.unwrap()),
            format!("{:?}", writer.send_patch(&web, &patch).await.unwrap()),
        ];
        for response in responses {
            assert!(response.len() < 10_000, "{response:.300}");
        }
    }

    #[tokio::test]
    async fn long_message_of_a_webhook_is_cut() {
        // Each control character becomes several characters.
        for text in ["x", "\u{1}"] {
            assert_message_is_cut(text).await;
        }
    }

    async fn assert_message_is_cut(text: &str) {
        let message = format!(
            r#"admission webhook "w.example" denied the request: {}"#,
            text.repeat(1 << 20)
        );
        let status = Status::failure(&message, "Forbidden").with_code(403);
        let body = serde_json::to_vec(&status).unwrap();
        let service = service_fn(move |_: Request<Body>| {
            let response = Response::builder().status(403);
            let response = response.body(Body::from(body.clone())).unwrap();
            async { Ok::<_, Infallible>(response) }
        });
        let client = Client::new(service, "dev");
        let writer = Writer::new(client, Prefix::default(), "test".to_owned());
        let patch = patch::Operations::default().into_patch();
        let denied = writer.send_patch(&web(), &patch).await.unwrap_err();
        assert!(matches!(denied, PatchError::Rejected(_)));
        let text = denied.to_string();
        let expected = r#"403 Forbidden: admission webhook "w.example" denied the request: "#;
        assert!(text.contains(expected), "{text}");
        assert!(text.len() < 1_200, "{} bytes", text.len());
    }

    #[tokio::test]
    async fn object_of_a_user_does_not_hide_the_version_of_a_list() {
        let nested = "[".repeat(1_000) + &"]".repeat(1_000);
        let writer = writer(format!(
            r#"{{"metadata": {{"resourceVersion": "42"}}, "items": [{{"spec": {nested}}}]}}"#
        ));
        let version = writer.current_version(&Kind::DEPLOYMENT, None).await;
        assert_eq!(version.unwrap(), Version::parse("42"));
    }

    #[test]
    fn a_pause_requested_by_the_server_is_at_most_a_minute() {
        for (text, expected) in [
            ("7", Some(7)),
            ("3600", Some(60)),
            ("9000000000000", Some(60)),
            ("18446744073709551615", Some(60)),
            ("18446744073709551616", None),
            ("-1", None),
            ("Sun, 22 Nov 2026 00:00:00 GMT", None),
        ] {
            let headers = HeaderMap::from_iter([(header::RETRY_AFTER, text.parse().unwrap())]);
            let pause = requested_pause(&headers).map(|pause| pause.as_secs());
            assert_eq!(pause, expected, "{text}");
        }
    }
}
