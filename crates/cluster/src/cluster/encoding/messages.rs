//! The messages of `k8s.io/api/apps/v1/generated.proto` and of apimachinery's `meta/v1` and
//! `runtime`, with the fields that dayshift reads. All others, the managed fields first, are
//! skipped by their length, and so are the parts of a pod template that request nothing.

use std::fmt::Debug;

use bytes::Bytes;
use chrono::{DateTime, SecondsFormat};
use dayshift_schedule::cut_too_long;
use prost::Message;
use serde::{
    Serialize, Serializer,
    ser::{Error as _, SerializeMap as _},
};

use crate::cluster::{
    encoding::pod_template::requests, pod_template::Template, workload::LAST_APPLIED,
};

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Unknown {
    #[prost(message, optional, tag = "1")]
    pub(crate) types: Option<TypeMeta>,
    #[prost(bytes = "bytes", tag = "2")]
    pub(crate) raw: Bytes,
}

#[derive(Clone, PartialEq, Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TypeMeta {
    #[prost(string, tag = "1")]
    pub(crate) api_version: String,
    #[prost(string, tag = "2")]
    pub(crate) kind: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct WatchEvent {
    #[prost(string, tag = "1")]
    pub(crate) kind: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) object: Option<RawExtension>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct RawExtension {
    #[prost(bytes = "bytes", tag = "1")]
    pub(crate) raw: Bytes,
}

pub(crate) type Deployment = Object<WorkloadSpec, DeploymentStatus>;
pub(crate) type DeploymentList = List<WorkloadSpec, DeploymentStatus>;
pub(crate) type StatefulSet = Object<WorkloadSpec, StatefulSetStatus>;
pub(crate) type StatefulSetList = List<WorkloadSpec, StatefulSetStatus>;
pub(crate) type CronJob = Object<CronJobSpec, Unread>;
pub(crate) type CronJobList = List<CronJobSpec, Unread>;
/// A HorizontalPodAutoscaler.
pub(crate) type Autoscaler = Object<AutoscalerSpec, Unread>;
pub(crate) type AutoscalerList = List<AutoscalerSpec, Unread>;

/// A message whose fields are read.
pub(crate) trait Part: Message + Default + Clone + PartialEq + Debug + Serialize {}

impl<T: Message + Default + Clone + PartialEq + Debug + Serialize> Part for T {}

#[derive(Clone, PartialEq, Message, Serialize)]
pub(crate) struct List<S: Part, T: Part> {
    #[prost(message, optional, tag = "1")]
    pub(crate) metadata: Option<ListMeta>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) items: Vec<Object<S, T>>,
}

#[derive(Clone, PartialEq, Message, Serialize)]
pub(crate) struct Object<S: Part, T: Part> {
    #[prost(message, optional, tag = "1")]
    pub(crate) metadata: Option<ObjectMeta>,
    #[prost(message, optional, tag = "2")]
    pub(crate) spec: Option<S>,
    #[prost(message, optional, tag = "3")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<T>,
}

#[derive(Clone, Copy, PartialEq, Eq, Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeploymentStatus {
    #[prost(int64, optional, tag = "1")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) observed_generation: Option<i64>,
    #[prost(int32, optional, tag = "7")]
    pub(crate) ready_replicas: Option<i32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StatefulSetStatus {
    #[prost(int64, optional, tag = "1")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) observed_generation: Option<i64>,
    #[prost(int32, optional, tag = "3")]
    pub(crate) ready_replicas: Option<i32>,
}

/// A status of which nothing is read.
#[derive(Clone, Copy, PartialEq, Eq, Message, Serialize)]
pub(crate) struct Unread {}

#[derive(Clone, PartialEq, Eq, Message, Serialize)]
pub(crate) struct WorkloadSpec {
    #[prost(int32, optional, tag = "1")]
    pub(crate) replicas: Option<i32>,
    /// A `PodTemplateSpec`, of which only the requests are read.
    #[prost(bytes = "bytes", tag = "3")]
    #[serde(
        serialize_with = "requests_of",
        skip_serializing_if = "Bytes::is_empty"
    )]
    pub(crate) template: Bytes,
    /// Only a StatefulSet has it; a Deployment has no field of that number.
    #[prost(message, optional, tag = "10")]
    #[serde(
        rename = "persistentVolumeClaimRetentionPolicy",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) claim_retention: Option<ClaimRetention>,
}

/// A `StatefulSetPersistentVolumeClaimRetentionPolicy`.
#[derive(Clone, PartialEq, Eq, Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClaimRetention {
    #[prost(string, optional, tag = "2")]
    pub(crate) when_scaled: Option<String>,
}

/// Of `k8s.io/api/batch/v1/generated.proto`.
#[derive(Clone, PartialEq, Eq, Message, Serialize)]
pub(crate) struct CronJobSpec {
    #[prost(bool, optional, tag = "4")]
    pub(crate) suspend: Option<bool>,
}

/// Of `k8s.io/api/autoscaling/v2/generated.proto`.
#[derive(Clone, PartialEq, Eq, Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AutoscalerSpec {
    #[prost(int32, optional, tag = "2")]
    pub(crate) min_replicas: Option<i32>,
    #[prost(message, repeated, tag = "4")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) metrics: Vec<MetricSpec>,
}

#[derive(Clone, PartialEq, Eq, Message, Serialize)]
pub(crate) struct MetricSpec {
    #[prost(string, tag = "1")]
    #[serde(rename = "type")]
    pub(crate) kind: String,
}

#[derive(Clone, PartialEq, Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ObjectMeta {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, tag = "3")]
    pub(crate) namespace: String,
    #[prost(string, tag = "5")]
    pub(crate) uid: String,
    #[prost(string, tag = "6")]
    pub(crate) resource_version: String,
    #[prost(int64, optional, tag = "7")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) generation: Option<i64>,
    #[prost(message, optional, tag = "9")]
    pub(crate) deletion_timestamp: Option<Time>,
    #[prost(message, repeated, tag = "11")]
    #[serde(serialize_with = "as_map", skip_serializing_if = "Vec::is_empty")]
    pub(crate) labels: Vec<Entry>,
    #[prost(message, repeated, tag = "12")]
    #[serde(serialize_with = "as_map", skip_serializing_if = "Vec::is_empty")]
    pub(crate) annotations: Vec<Entry>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Entry {
    #[prost(string, tag = "1")]
    pub(crate) key: String,
    #[prost(bytes = "bytes", tag = "2")]
    pub(crate) text: Bytes,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(crate) struct Time {
    #[prost(int64, tag = "1")]
    pub(crate) seconds: i64,
}

#[derive(Clone, PartialEq, Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListMeta {
    #[prost(string, tag = "2")]
    pub(crate) resource_version: String,
    #[prost(string, tag = "3")]
    #[serde(rename = "continue")]
    pub(crate) continue_token: String,
}

#[derive(Clone, PartialEq, Message, Serialize)]
pub(crate) struct Status {
    #[prost(string, tag = "2")]
    pub(crate) status: String,
    #[prost(string, tag = "3")]
    pub(crate) message: String,
    #[prost(string, tag = "4")]
    pub(crate) reason: String,
    #[prost(message, optional, tag = "5")]
    pub(crate) details: Option<StatusDetails>,
    #[prost(int32, tag = "6")]
    pub(crate) code: i32,
}

#[derive(Clone, PartialEq, Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StatusDetails {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, tag = "2")]
    pub(crate) group: String,
    #[prost(string, tag = "3")]
    pub(crate) kind: String,
    #[prost(message, repeated, tag = "4")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) causes: Vec<StatusCause>,
    #[prost(int32, tag = "5")]
    pub(crate) retry_after_seconds: i32,
    #[prost(string, tag = "6")]
    pub(crate) uid: String,
}

#[derive(Clone, PartialEq, Message, Serialize)]
pub(crate) struct StatusCause {
    #[prost(string, tag = "1")]
    pub(crate) reason: String,
    #[prost(string, tag = "2")]
    pub(crate) message: String,
    #[prost(string, tag = "3")]
    pub(crate) field: String,
}

fn requests_of<S: Serializer>(template: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
    Template::from(requests(template)).serialize(serializer)
}

fn as_map<S: Serializer>(entries: &[Entry], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(entries.len()))?;
    for Entry { key, text } in entries {
        let text = if key == LAST_APPLIED { &[] } else { &**text };
        let text = str::from_utf8(text).map_err(S::Error::custom)?;
        map.serialize_entry(key, cut_too_long(text))?;
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
