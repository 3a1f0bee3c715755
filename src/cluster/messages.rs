//! The messages of `k8s.io/api/apps/v1/generated.proto` and of apimachinery's `meta/v1` and
//! `runtime`, with the fields that are read. All others, the pod template and the managed fields
//! first, are stepped over by their length.

use bytes::Bytes;
use chrono::{DateTime, SecondsFormat};
use prost::Message;
use serde::{Serialize, Serializer, ser::Error as _, ser::SerializeMap as _};

use super::workload::LAST_APPLIED;

#[derive(Clone, PartialEq, Message)]
pub(super) struct Unknown {
    #[prost(message, optional, tag = "1")]
    pub(super) types: Option<TypeMeta>,
    #[prost(bytes = "bytes", tag = "2")]
    pub(super) raw: Bytes,
}

#[derive(Clone, PartialEq, Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TypeMeta {
    #[prost(string, tag = "1")]
    pub(super) api_version: String,
    #[prost(string, tag = "2")]
    pub(super) kind: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct WatchEvent {
    #[prost(string, tag = "1")]
    pub(super) kind: String,
    #[prost(message, optional, tag = "2")]
    pub(super) object: Option<RawExtension>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct RawExtension {
    #[prost(bytes = "bytes", tag = "1")]
    pub(super) raw: Bytes,
}

#[derive(Clone, PartialEq, Message, Serialize)]
pub(super) struct WorkloadList {
    #[prost(message, optional, tag = "1")]
    pub(super) metadata: Option<ListMeta>,
    #[prost(message, repeated, tag = "2")]
    pub(super) items: Vec<Workload>,
}

/// A Deployment or a StatefulSet: the fields that are read have the same numbers in both.
#[derive(Clone, PartialEq, Message, Serialize)]
pub(super) struct Workload {
    #[prost(message, optional, tag = "1")]
    pub(super) metadata: Option<ObjectMeta>,
    #[prost(message, optional, tag = "2")]
    pub(super) spec: Option<WorkloadSpec>,
}

#[derive(Clone, PartialEq, Message, Serialize)]
pub(super) struct WorkloadSpec {
    #[prost(int32, optional, tag = "1")]
    pub(super) replicas: Option<i32>,
}

#[derive(Clone, PartialEq, Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ObjectMeta {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, tag = "3")]
    pub(super) namespace: String,
    #[prost(string, tag = "5")]
    pub(super) uid: String,
    #[prost(string, tag = "6")]
    pub(super) resource_version: String,
    #[prost(message, optional, tag = "9")]
    pub(super) deletion_timestamp: Option<Time>,
    #[prost(message, repeated, tag = "11")]
    #[serde(serialize_with = "as_map", skip_serializing_if = "Vec::is_empty")]
    pub(super) labels: Vec<Entry>,
    #[prost(message, repeated, tag = "12")]
    #[serde(serialize_with = "as_map", skip_serializing_if = "Vec::is_empty")]
    pub(super) annotations: Vec<Entry>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Entry {
    #[prost(string, tag = "1")]
    pub(super) key: String,
    #[prost(bytes = "bytes", tag = "2")]
    pub(super) text: Bytes,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(super) struct Time {
    #[prost(int64, tag = "1")]
    pub(super) seconds: i64,
}

#[derive(Clone, PartialEq, Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListMeta {
    #[prost(string, tag = "2")]
    pub(super) resource_version: String,
    #[prost(string, tag = "3")]
    #[serde(rename = "continue")]
    pub(super) continue_token: String,
}

#[derive(Clone, PartialEq, Message, Serialize)]
pub(super) struct Status {
    #[prost(string, tag = "2")]
    pub(super) status: String,
    #[prost(string, tag = "3")]
    pub(super) message: String,
    #[prost(string, tag = "4")]
    pub(super) reason: String,
    #[prost(message, optional, tag = "5")]
    pub(super) details: Option<StatusDetails>,
    #[prost(int32, tag = "6")]
    pub(super) code: i32,
}

#[derive(Clone, PartialEq, Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StatusDetails {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, tag = "2")]
    pub(super) group: String,
    #[prost(string, tag = "3")]
    pub(super) kind: String,
    #[prost(message, repeated, tag = "4")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) causes: Vec<StatusCause>,
    #[prost(int32, tag = "5")]
    pub(super) retry_after_seconds: i32,
    #[prost(string, tag = "6")]
    pub(super) uid: String,
}

#[derive(Clone, PartialEq, Message, Serialize)]
pub(super) struct StatusCause {
    #[prost(string, tag = "1")]
    pub(super) reason: String,
    #[prost(string, tag = "2")]
    pub(super) message: String,
    #[prost(string, tag = "3")]
    pub(super) field: String,
}

fn as_map<S: Serializer>(entries: &[Entry], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(entries.len()))?;
    for Entry { key, text } in entries {
        let text = if key == LAST_APPLIED { &[] } else { &**text };
        map.serialize_entry(key, str::from_utf8(text).map_err(S::Error::custom)?)?;
    }
    map.end()
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let time = DateTime::from_timestamp(self.seconds, 0)
            .ok_or_else(|| S::Error::custom("a time beyond all calendars"))?;
        serializer.serialize_str(&time.to_rfc3339_opts(SecondsFormat::Secs, true))
    }
}
