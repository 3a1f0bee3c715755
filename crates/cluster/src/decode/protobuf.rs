//! Decoding of Kubernetes protobuf, the API server's native encoding, to JSON with only the fields that
//! dayshift reads.
//!
//! The messages are those of `k8s.io/api/apps/v1/generated.proto` and of apimachinery's `meta/v1` and
//! `runtime`. Other fields, such as the managed fields, are skipped by their length; JSON would have to
//! be parsed to its end.

use std::{
    fmt::Debug,
    io::{self, Write},
    marker::PhantomData,
};

use bytes::{Buf as _, Bytes, BytesMut};
use chrono::{DateTime, SecondsFormat};
use dayshift_schedule::cut_too_long;
use dayshift_workload::{Key, Kind};
use prost::Message;
use serde::{
    Serialize, Serializer,
    ser::{Error as _, SerializeMap as _, SerializeSeq as _},
};

use crate::decode::{
    kind_api::{KindApi, ProtobufMessage},
    pod_template::{requests_in_protobuf, serialize_requests},
    workload::LAST_APPLIED,
};

/// A response that is not protobuf of the announced type.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Malformed {
    #[error("the API server's response is not Kubernetes protobuf")]
    Magic,
    #[error("the API server announces an event of {0} bytes, and at most {MAX_EVENT} are read")]
    TooLong(usize),
    #[error("the API server's response is malformed: {0}")]
    Message(#[from] prost::DecodeError),
    #[error("the API server has responded with a {0}, which was not requested")]
    Kind(String),
    #[error("the API server's response is larger in JSON than the limit")]
    LargeJson,
    #[error("the API server's response cannot be converted to JSON: {0}")]
    Json(serde_json::Error),
}

impl From<serde_json::Error> for Malformed {
    fn from(error: serde_json::Error) -> Self {
        // Only the limit causes an I/O error, because the JSON is written to memory.
        match error.is_io() {
            true => Self::LargeJson,
            false => Self::Json(error),
        }
    }
}

/// The prefix of each message (`k8s.io/apimachinery/pkg/runtime/serializer/protobuf`).
const MAGIC: &[u8] = b"k8s\0";

/// The API path below which ConfigMaps are.
pub(crate) const CORE_ROOT: &str = "/api/v1/";

/// The collection of ConfigMaps.
pub(crate) const CONFIG_MAPS: &str = "configmaps";

/// The largest event of a watch that is read, in bytes. The API server accepts objects of at most
/// 3 MiB, and each watch can hold one event.
pub(crate) const MAX_EVENT: usize = 4 << 20;

/// Converts a workload, a list of workloads or a Status to JSON, as in the JSON response to the same
/// request but without the unused fields.
///
/// # Errors
/// If the bytes are anything else, or their JSON has more than `max` bytes: a byte can need six of them.
pub(crate) fn to_json(response: Bytes, max: usize) -> Result<Vec<u8>, Malformed> {
    let mut json = BoundedBytes {
        bytes: Vec::new(),
        max,
    };
    write(response, &mut json)?;
    Ok(json.bytes)
}

/// Bytes that fail to grow beyond a limit.
struct BoundedBytes {
    bytes: Vec<u8>,
    max: usize,
}

impl Write for BoundedBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.max {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The length-prefixed frames of a watch, which arrive in pieces of any size.
#[derive(Debug, Default)]
pub(crate) struct Frames(BytesMut);

impl Frames {
    /// Whether a part of an event is buffered.
    pub(crate) fn are_within_event(&self) -> bool {
        !self.0.is_empty()
    }

    /// Appends a piece and returns the events that are complete now, each as a line of JSON.
    ///
    /// # Errors
    /// If a frame does not contain an event.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Result<Vec<u8>, Malformed> {
        self.0.extend_from_slice(piece);
        let mut lines = Vec::new();
        while let Some(length) = self.0.get(..4) {
            let length = length
                .iter()
                .fold(0, |sum, byte| sum << 8 | usize::from(*byte));
            if length > MAX_EVENT {
                return Err(Malformed::TooLong(length));
            }
            if self.0.len() < 4 + length {
                break;
            }
            self.0.advance(4);
            let event = EventMessage::decode(self.0.split_to(length).freeze())?;
            lines.extend_from_slice(b"{\"type\":");
            serde_json::to_writer(&mut lines, &event.kind)?;
            lines.extend_from_slice(b",\"object\":");
            write(event.object.unwrap_or_default().raw, &mut lines)?;
            lines.extend_from_slice(b"}\n");
        }
        Ok(lines)
    }
}

fn write(mut message: Bytes, json: &mut impl Write) -> Result<(), Malformed> {
    if !message.starts_with(MAGIC) {
        return Err(Malformed::Magic);
    }
    message.advance(MAGIC.len());
    let Unknown { types, raw } = Unknown::decode(message)?;
    let types = types.unwrap_or_default();
    match (&*types.api_version, &*types.kind) {
        (_, "Status") => return typed(&types, &Status::decode(raw)?, json),
        ("v1", "ConfigMap" | "ConfigMapList") => {
            return objects::<ConfigMapMessage>(&types, raw, json);
        }
        _ => {}
    }
    let name = types.kind.strip_suffix("List").unwrap_or(&types.kind);
    let kind = Kind::built_in(&types.api_version, name);
    match kind.and_then(|kind| KindApi::new(&kind).message()) {
        Some(ProtobufMessage::Deployment) => objects::<Deployment>(&types, raw, json),
        Some(ProtobufMessage::StatefulSet) => objects::<StatefulSet>(&types, raw, json),
        Some(ProtobufMessage::CronJob) => objects::<CronJob>(&types, raw, json),
        Some(ProtobufMessage::Autoscaler) => objects::<Autoscaler>(&types, raw, json),
        None => Err(Malformed::Kind(types.kind)),
    }
}

/// Writes an object, or a list of them.
fn objects<O: DecodedMessage>(
    types: &TypeMeta,
    raw: Bytes,
    json: &mut impl Write,
) -> Result<(), Malformed> {
    if types.kind.ends_with("List") {
        typed(types, &MessageList::<O>::decode(raw)?, json)
    } else {
        typed(types, &O::decode(raw)?, json)
    }
}

fn typed(types: &TypeMeta, rest: &impl Serialize, json: &mut impl Write) -> Result<(), Malformed> {
    #[derive(Serialize)]
    struct Typed<'a, T> {
        #[serde(flatten)]
        types: &'a TypeMeta,
        #[serde(flatten)]
        rest: &'a T,
    }
    Ok(serde_json::to_writer(json, &Typed { types, rest })?)
}

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
pub(crate) struct EventMessage {
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

pub(crate) type Deployment = MessageObject<WorkloadSpec, DeploymentStatus>;
pub(crate) type StatefulSet = MessageObject<WorkloadSpec, StatefulSetStatus>;
pub(crate) type CronJob = MessageObject<CronJobSpec, SkippedStatus>;
/// A HorizontalPodAutoscaler.
pub(crate) type Autoscaler = MessageObject<AutoscalerSpec, SkippedStatus>;

/// A message that is decoded to JSON.
pub(crate) trait DecodedMessage:
    Message + Default + Clone + PartialEq + Debug + Serialize
{
}

impl<T: Message + Default + Clone + PartialEq + Debug + Serialize> DecodedMessage for T {}

/// A list whose objects are decoded one at a time while it is written: a decoded one can need ten times
/// its bytes.
#[derive(Serialize)]
pub(crate) struct MessageList<O: DecodedMessage> {
    metadata: Option<ListMeta>,
    #[serde(serialize_with = "items_of::<_, O>")]
    items: Vec<Bytes>,
    #[serde(skip)]
    object: PhantomData<O>,
}

#[derive(Clone, PartialEq, Message)]
struct EncodedList {
    #[prost(message, optional, tag = "1")]
    metadata: Option<ListMeta>,
    #[prost(bytes = "bytes", repeated, tag = "2")]
    items: Vec<Bytes>,
}

impl<O: DecodedMessage> MessageList<O> {
    fn decode(raw: Bytes) -> Result<Self, prost::DecodeError> {
        let EncodedList { metadata, items } = EncodedList::decode(raw)?;
        Ok(Self {
            metadata,
            items,
            object: PhantomData,
        })
    }
}

fn items_of<S: Serializer, O: DecodedMessage>(
    items: &[Bytes],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut list = serializer.serialize_seq(Some(items.len()))?;
    for item in items {
        let object = O::decode(item.clone()).map_err(S::Error::custom)?;
        list.serialize_element(&object)?;
    }
    list.end()
}

#[derive(Clone, PartialEq, Message, Serialize)]
pub(crate) struct MessageObject<S: DecodedMessage, T: DecodedMessage> {
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

#[derive(Clone, PartialEq, Eq, Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StatefulSetStatus {
    #[prost(int64, optional, tag = "1")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) observed_generation: Option<i64>,
    #[prost(int32, optional, tag = "3")]
    pub(crate) ready_replicas: Option<i32>,
    #[prost(bytes = "bytes", tag = "7")]
    #[serde(serialize_with = "lossy_text", skip_serializing_if = "Bytes::is_empty")]
    pub(crate) update_revision: Bytes,
}

/// A status without any field that dayshift reads.
#[derive(Clone, Copy, PartialEq, Eq, Message, Serialize)]
pub(crate) struct SkippedStatus {}

#[derive(Clone, PartialEq, Eq, Message, Serialize)]
pub(crate) struct WorkloadSpec {
    #[prost(int32, optional, tag = "1")]
    pub(crate) replicas: Option<i32>,
    /// A `PodTemplateSpec`, reduced to its requests.
    #[prost(bytes = "bytes", tag = "3")]
    #[serde(
        serialize_with = "requests_of",
        skip_serializing_if = "Bytes::is_empty"
    )]
    pub(crate) template: Bytes,
    /// Only StatefulSets have it. Deployments have no field with this number.
    #[prost(message, optional, tag = "10")]
    #[serde(
        rename = "persistentVolumeClaimRetentionPolicy",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) claim_retention: Option<ClaimRetentionMessage>,
}

/// A `StatefulSetPersistentVolumeClaimRetentionPolicy`.
#[derive(Clone, PartialEq, Eq, Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClaimRetentionMessage {
    #[prost(string, optional, tag = "2")]
    pub(crate) when_scaled: Option<String>,
}

/// See `k8s.io/api/batch/v1/generated.proto`.
#[derive(Clone, PartialEq, Eq, Message, Serialize)]
pub(crate) struct CronJobSpec {
    #[prost(bool, optional, tag = "4")]
    pub(crate) suspend: Option<bool>,
}

/// See `k8s.io/api/autoscaling/v2/generated.proto`.
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
    #[prost(message, optional, tag = "8")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) creation_timestamp: Option<Time>,
    #[prost(message, optional, tag = "9")]
    pub(crate) deletion_timestamp: Option<Time>,
    #[prost(message, repeated, tag = "11")]
    #[serde(serialize_with = "as_map", skip_serializing_if = "Vec::is_empty")]
    pub(crate) labels: Vec<MapEntry>,
    #[prost(message, repeated, tag = "12")]
    #[serde(serialize_with = "as_map", skip_serializing_if = "Vec::is_empty")]
    pub(crate) annotations: Vec<MapEntry>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct MapEntry {
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

/// A ConfigMap with the values of known keys. See `k8s.io/api/core/v1/generated.proto`.
#[derive(Clone, PartialEq, Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConfigMapMessage {
    #[prost(message, optional, tag = "1")]
    pub(crate) metadata: Option<ObjectMeta>,
    #[prost(message, repeated, tag = "2")]
    #[serde(serialize_with = "known_keys")]
    pub(crate) data: Vec<MapEntry>,
    #[prost(message, repeated, tag = "3")]
    #[serde(serialize_with = "only_keys")]
    pub(crate) binary_data: Vec<MapEntry>,
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
    /// It can quote any text of the object.
    #[prost(bytes = "bytes", tag = "3")]
    #[serde(serialize_with = "lossy_text")]
    pub(crate) message: Bytes,
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
    #[prost(bytes = "bytes", tag = "2")]
    #[serde(serialize_with = "lossy_text")]
    pub(crate) message: Bytes,
    #[prost(string, tag = "3")]
    pub(crate) field: String,
}

fn requests_of<S: Serializer>(template: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
    serialize_requests(requests_in_protobuf(template), serializer)
}

fn as_map<S: Serializer>(entries: &[MapEntry], serializer: S) -> Result<S::Ok, S::Error> {
    write_map(entries, |key| key != LAST_APPLIED, serializer)
}

/// Writes the values of known keys.
fn known_keys<S: Serializer>(entries: &[MapEntry], serializer: S) -> Result<S::Ok, S::Error> {
    write_map(entries, |key| Key::from_name(key).is_some(), serializer)
}

/// Writes all keys, and the values of those that are read.
fn write_map<S: Serializer>(
    entries: &[MapEntry],
    is_read: impl Fn(&str) -> bool,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(entries.len()))?;
    for MapEntry { key, text } in entries {
        let text = if is_read(key) { &**text } else { &[] };
        map.serialize_entry(key, cut_too_long(&String::from_utf8_lossy(text)))?;
    }
    map.end()
}

/// Writes a text that the API server does not validate. Clients that write protobuf can write bytes that
/// are not text. As in the JSON of the API server, they become replacement characters: an error would end
/// the watch of all objects.
fn lossy_text<S: Serializer>(text: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&String::from_utf8_lossy(text))
}

fn only_keys<S: Serializer>(entries: &[MapEntry], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(entries.iter().map(|entry| (&entry.key, ())))
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let time = DateTime::from_timestamp(self.seconds, 0)
            .ok_or_else(|| S::Error::custom("a time beyond all calendars"))?;
        serializer.serialize_str(&time.to_rfc3339_opts(SecondsFormat::Secs, true))
    }
}

#[cfg(test)]
mod tests {
    use base64::{Engine as _, prelude::BASE64_STANDARD};
    use serde_json::{Value, json};

    use super::*;

    /// Responses of kube-apiserver 1.36.3: to a patch whose `test` failed, to a patch with -9 replicas,
    /// and to a watch from a version that is no longer stored.
    const TEST_FAILED: &str = "azhzAAoMCgJ2MRIGU3RhdHVzEmkKBgoAEgAaABIHRmFpbHVyZRo+dGhlIHNlcnZlciByZWplY3RlZCBvdXIgcmVxdWVzdCBkdWUgdG8gYW4gZXJyb3IgaW4gb3VyIHJlcXVlc3QiB0ludmFsaWQqCgoAEgAaACgAMgAwpgMaACIA";
    const INVALID: &str = "azhzAAoMCgJ2MRIGU3RhdHVzEv0BCgYKABIAGgASB0ZhaWx1cmUaZkRlcGxveW1lbnQuYXBwcyAid2ViIiBpcyBpbnZhbGlkOiBzcGVjLnJlcGxpY2FzOiBJbnZhbGlkIHZhbHVlOiAtOTogbXVzdCBiZSBncmVhdGVyIHRoYW4gb3IgZXF1YWwgdG8gMCIHSW52YWxpZCp2CgN3ZWISBGFwcHMaCkRlcGxveW1lbnQiWQoRRmllbGRWYWx1ZUludmFsaWQSNUludmFsaWQgdmFsdWU6IC05OiBtdXN0IGJlIGdyZWF0ZXIgdGhhbiBvciBlcXVhbCB0byAwGg1zcGVjLnJlcGxpY2FzKAAyADCmAxoAIgA=";
    const EXPIRED: &str = "AAAAZQoFRVJST1ISXApaazhzAAoMCgJ2MRIGU3RhdHVzEkIKBgoAEgAaABIHRmFpbHVyZRojdG9vIG9sZCByZXNvdXJjZSB2ZXJzaW9uOiAxICgzNTA3NCkiB0V4cGlyZWQwmgMaACIA";

    fn recorded(text: &str) -> Bytes {
        BASE64_STANDARD.decode(text).unwrap().into()
    }

    fn json_of(message: Bytes) -> Value {
        serde_json::from_slice(&to_json(message, usize::MAX).unwrap()).unwrap()
    }

    /// A Deployment as the API server encodes it, with an unknown field that must be skipped.
    fn deployment(name: &str) -> Bytes {
        let entry = |key: &str, text: &'static str| MapEntry {
            key: key.to_owned(),
            text: Bytes::from_static(text.as_bytes()),
        };
        let deployment = Deployment {
            metadata: Some(ObjectMeta {
                name: name.to_owned(),
                namespace: "dev".to_owned(),
                uid: "u".to_owned(),
                resource_version: "42".to_owned(),
                generation: Some(3),
                creation_timestamp: Some(Time {
                    seconds: 1_794_000_000,
                }),
                deletion_timestamp: Some(Time {
                    seconds: 1_795_000_000,
                }),
                labels: vec![entry("app", "café")],
                annotations: vec![entry("dayshift/stop", "19:00"), entry(LAST_APPLIED, "{…}")],
            }),
            spec: Some(WorkloadSpec {
                replicas: Some(0),
                template: Bytes::new(),
                claim_retention: None,
            }),
            status: Some(DeploymentStatus {
                observed_generation: Some(2),
                ready_replicas: Some(1),
            }),
        };
        let mut raw = deployment.encode_to_vec();
        raw.extend([0x9a, 0x06, 3, 0xff, 0xff, 0xff]); // field 99, three bytes
        unknown("Deployment", raw)
    }

    /// Only the values of annotations and the fields of a status can be any bytes.
    #[test]
    fn bytes_that_are_not_text_become_replacement_characters() {
        let stateful_set = StatefulSet {
            metadata: Some(ObjectMeta {
                annotations: vec![MapEntry {
                    key: "example.com/note".to_owned(),
                    text: Bytes::from_static(b"a\xffb"),
                }],
                ..ObjectMeta::default()
            }),
            spec: None,
            status: Some(StatefulSetStatus {
                update_revision: Bytes::from_static(b"web-\xc3"),
                ..StatefulSetStatus::default()
            }),
        };
        let json = json_of(unknown("StatefulSet", stateful_set.encode_to_vec()));
        assert_eq!(
            json["metadata"]["annotations"]["example.com/note"],
            "a\u{fffd}b"
        );
        assert_eq!(json["status"]["updateRevision"], "web-\u{fffd}");
    }

    /// A client that writes protobuf can write an annotation that is six times as long in JSON.
    #[test]
    fn a_list_that_is_too_large_in_json_is_an_error() {
        let item = Deployment {
            metadata: Some(ObjectMeta {
                name: "web".to_owned(),
                annotations: vec![MapEntry {
                    key: "example.com/note".to_owned(),
                    text: Bytes::from(vec![1; 4_000]),
                }],
                ..ObjectMeta::default()
            }),
            ..Deployment::default()
        };
        let list = EncodedList {
            metadata: Some(ListMeta::default()),
            items: vec![item.encode_to_vec().into(); 3],
        };
        let list = unknown("DeploymentList", list.encode_to_vec());
        assert!(list.len() < 13_000, "{}", list.len());
        let json = to_json(list.clone(), 80_000).unwrap();
        let json: Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(json["items"].as_array().unwrap().len(), 3);
        let error = to_json(list, 60_000).unwrap_err();
        assert!(matches!(error, Malformed::LargeJson), "{error}");
    }

    fn unknown(kind: &str, raw: Vec<u8>) -> Bytes {
        let types = TypeMeta {
            api_version: "apps/v1".to_owned(),
            kind: kind.to_owned(),
        };
        let unknown = Unknown {
            types: Some(types),
            raw: raw.into(),
        };
        [MAGIC, &unknown.encode_to_vec()].concat().into()
    }

    fn frame(kind: &str, object: Bytes) -> Vec<u8> {
        let event = EventMessage {
            kind: kind.to_owned(),
            object: Some(RawExtension { raw: object }),
        };
        let event = event.encode_to_vec();
        [
            &u32::try_from(event.len()).unwrap().to_be_bytes()[..],
            &event,
        ]
        .concat()
    }

    #[test]
    fn a_deployment_decodes_to_the_same_json() {
        assert_eq!(
            json_of(deployment("web")),
            json!({
                "apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {
                    "name": "web", "namespace": "dev", "uid": "u", "resourceVersion": "42",
                    "generation": 3,
                    "creationTimestamp": "2026-11-06T21:20:00Z",
                    "deletionTimestamp": "2026-11-18T11:06:40Z",
                    "labels": {"app": "café"},
                    "annotations": {"dayshift/stop": "19:00", LAST_APPLIED: ""},
                },
                "spec": {"replicas": 0},
                "status": {"observedGeneration": 2, "readyReplicas": 1},
            })
        );
    }

    /// The field numbers are written out from `StatefulSetSpec` in `k8s.io/api/apps/v1/generated.proto`.
    #[test]
    fn a_stateful_set_keeps_its_volume_retention_policy() {
        let text = |number: u8, text: &str| {
            let length = u8::try_from(text.len()).unwrap();
            [&[number << 3 | 2, length], text.as_bytes()].concat()
        };
        let policy = [text(1, "Retain"), text(2, "Delete")].concat();
        let policy = text(10, str::from_utf8(&policy).unwrap());
        let spec = [vec![1 << 3, 3], text(8, "db"), policy].concat();
        let raw = text(2, str::from_utf8(&spec).unwrap());
        assert_eq!(
            json_of(unknown("StatefulSet", raw))["spec"],
            json!({
                "replicas": 3, "persistentVolumeClaimRetentionPolicy": {"whenScaled": "Delete"},
            })
        );
    }

    #[test]
    fn a_failure_keeps_the_causes_that_distinguish_rejection_from_conflict() {
        let conflict: kube::core::Status =
            serde_json::from_value(json_of(recorded(TEST_FAILED))).unwrap();
        assert_eq!((conflict.code, &*conflict.reason), (422, "Invalid"));
        assert_eq!(conflict.details.unwrap().causes.len(), 0);

        let refusal: kube::core::Status =
            serde_json::from_value(json_of(recorded(INVALID))).unwrap();
        let cause = &refusal.details.unwrap().causes[0];
        assert_eq!(cause.field, "spec.replicas");
        assert!(
            refusal
                .message
                .starts_with("Deployment.apps \"web\" is invalid")
        );
    }

    #[test]
    fn events_are_decoded_from_pieces_of_any_size() {
        let stream = [
            frame("ADDED", deployment("web")),
            frame("DELETED", deployment("api")),
            recorded(EXPIRED).to_vec(),
        ]
        .concat();
        for size in 1..=stream.len() {
            let mut frames = Frames::default();
            let pieces = stream.chunks(size);
            let lines: Vec<u8> = pieces
                .flat_map(|piece| frames.push(piece).unwrap())
                .collect();
            let events: Vec<Value> = lines
                .split_inclusive(|byte| *byte == b'\n')
                .map(|line| serde_json::from_slice(line).unwrap())
                .collect();
            let seen = |place: usize, pointer: &str| events[place].pointer(pointer).unwrap();
            assert_eq!(events.len(), 3, "in pieces of {size}");
            assert_eq!(seen(0, "/object/metadata/name"), "web");
            assert_eq!(seen(1, "/type"), "DELETED");
            assert_eq!(seen(2, "/object/code"), 410);
            assert!(frames.0.is_empty());
        }
    }

    /// Field numbers are those of `ConfigMap` in `k8s.io/api/core/v1/generated.proto`.
    #[test]
    fn a_config_map_has_only_the_values_of_known_keys() {
        let field = |number: u8, content: &[u8]| {
            let length = u8::try_from(content.len()).unwrap();
            [&[number << 3 | 2, length], content].concat()
        };
        let entry = |key: &str, value: &[u8]| [field(1, key.as_bytes()), field(2, value)].concat();
        let metadata = [field(1, b"dayshift"), field(3, b"shop"), field(6, b"42")].concat();
        let raw = [
            field(1, &metadata),
            field(2, &entry("hours", b"09:00-19:00")),
            field(2, &entry("notes", b"secret")),
            field(2, &entry("timezone", b"Asia/\xff")),
            field(3, &entry("stop", &[0, 1])),
        ]
        .concat();
        let message = Unknown {
            types: Some(TypeMeta {
                api_version: "v1".to_owned(),
                kind: "ConfigMap".to_owned(),
            }),
            raw: raw.into(),
        };
        let json = json_of([MAGIC, &message.encode_to_vec()].concat().into());
        assert_eq!(
            json["data"],
            json!({"hours": "09:00-19:00", "notes": "", "timezone": "Asia/\u{fffd}"})
        );
        assert_eq!(json["binaryData"], json!({"stop": null}));
        assert_eq!(json["metadata"]["resourceVersion"], "42");
    }

    #[test]
    fn malformed_messages_and_unexpected_types_are_errors() {
        let whole = deployment("web");
        for end in 0..whole.len() - 1 {
            // A message that ends between two fields is complete, so not every prefix fails.
            let _: Result<Vec<u8>, Malformed> = to_json(whole.slice(..end), usize::MAX);
        }
        assert!(matches!(
            to_json(Bytes::from_static(b"{}"), 100),
            Err(Malformed::Magic)
        ));
        let secret = to_json(unknown("Secret", Vec::new()), 100).unwrap_err();
        assert!(
            secret
                .to_string()
                .contains("a Secret, which was not requested")
        );
        assert!(Frames::default().push(&[0, 0, 0, 1, 0xff]).is_err());
        let endless = Frames::default().push(&[0xff; 4]).unwrap_err();
        assert!(matches!(endless, Malformed::TooLong(0xffff_ffff)));
    }
}
