//! The resource requests of a pod template in protobuf. Nothing else of the template is kept.

use dayshift_workload::{PodRequests, ResourceList, ResourceRequests, Resources};
use prost::{
    bytes::Buf as _,
    encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field},
};
use serde::{Serialize, Serializer};

/// Writes a pod template that contains only these requests, at pod level.
pub(crate) fn serialize_requests<S: Serializer>(
    requests: ResourceRequests,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let quantities = Quantities {
        cpu: requests.cpu_nanos,
        memory: requests.memory_bytes,
    };
    let resources = Only("resources", Only("requests", quantities));
    Only("spec", resources).serialize(serializer)
}

/// An object with one member.
struct Only<T>(&'static str, T);

impl<T: Serialize> Serialize for Only<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(self.0, &self.1)])
    }
}

#[derive(Serialize)]
struct Quantities {
    #[serde(serialize_with = "nanos")]
    cpu: u64,
    memory: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref)]
fn nanos<S: Serializer>(cpu: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{cpu}n"))
}

/// The field numbers of `k8s.io/api/core/v1/generated.proto` that lead to a request.
const TEMPLATE_SPEC: u32 = 2;
const POD_CONTAINERS: u32 = 2;
const POD_INIT_CONTAINERS: u32 = 20;
const POD_OVERHEAD: u32 = 32;
const POD_RESOURCES: u32 = 40;
const CONTAINER_RESOURCES: u32 = 8;
const CONTAINER_RESTART_POLICY: u32 = 24;
const LIMITS: u32 = 1;
const REQUESTS: u32 = 2;
const ENTRY_KEY: u32 = 1;
const ENTRY_VALUE: u32 = 2;
const QUANTITY_TEXT: u32 = 1;

/// Sums the requests of a `PodTemplateSpec` in protobuf. Malformed parts request nothing.
pub(crate) fn requests_in_protobuf(template: &[u8]) -> ResourceRequests {
    let mut pod = PodRequests::default();
    let content_of = |wanted| move |(field, bytes)| (field == wanted).then_some(bytes);
    for (field, bytes) in Fields(template)
        .filter_map(content_of(TEMPLATE_SPEC))
        .flat_map(Fields)
    {
        match field {
            POD_CONTAINERS => pod.container(container_in(bytes).0),
            POD_INIT_CONTAINERS => match container_in(bytes) {
                (resources, true) => pod.sidecar(resources),
                (resources, false) => pod.init_container(resources),
            },
            POD_OVERHEAD => add_quantity(&mut pod.overhead, bytes),
            POD_RESOURCES => pod.resources = resources_in(bytes),
            _ => {}
        }
    }
    pod.total()
}

fn container_in(bytes: &[u8]) -> (Resources, bool) {
    let (mut found, mut is_sidecar) = (Resources::default(), false);
    for (field, bytes) in Fields(bytes) {
        match field {
            CONTAINER_RESOURCES => found = resources_in(bytes),
            CONTAINER_RESTART_POLICY => is_sidecar = bytes == b"Always",
            _ => {}
        }
    }
    (found, is_sidecar)
}

fn resources_in(bytes: &[u8]) -> Resources {
    let mut found = Resources::default();
    for (field, entry) in Fields(bytes) {
        match field {
            LIMITS => add_quantity(&mut found.limits, entry),
            REQUESTS => add_quantity(&mut found.requests, entry),
            _ => {}
        }
    }
    found
}

/// Adds an entry of a map from resources to quantities.
fn add_quantity(quantities: &mut ResourceList, entry: &[u8]) {
    let (mut resource, mut quantity) = (None, None);
    for (field, bytes) in Fields(entry) {
        match field {
            ENTRY_KEY => resource = str::from_utf8(bytes).ok(),
            ENTRY_VALUE => {
                let mut texts = Fields(bytes).filter(|(field, _)| *field == QUANTITY_TEXT);
                quantity = texts.next().and_then(|(_, text)| str::from_utf8(text).ok());
            }
            _ => {}
        }
    }
    if let (Some(resource), Some(quantity)) = (resource, quantity) {
        quantities.insert(resource, quantity);
    }
}

/// The length-delimited fields of a message (strings, maps and messages) with their numbers. Other
/// fields are skipped, and a malformed field ends the message.
struct Fields<'b>(&'b [u8]);

impl<'b> Iterator for Fields<'b> {
    type Item = (u32, &'b [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        while self.0.has_remaining() {
            let (field, wire) = decode_key(&mut self.0).ok()?;
            if wire != WireType::LengthDelimited {
                skip_field(wire, field, &mut self.0, DecodeContext::default()).ok()?;
                continue;
            }
            let length = usize::try_from(decode_varint(&mut self.0).ok()?).ok()?;
            let (bytes, rest) = self.0.split_at_checked(length)?;
            self.0 = rest;
            return Some((field, bytes));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use dayshift_workload::ObjectSpec;
    use serde_json::{Value, json};

    use super::*;

    /// Expected sums in millicores and MiB, calculated manually from the Kubernetes documentation of
    /// init containers, sidecars, pod overhead and pod-level resources.
    fn cases() -> Vec<(Value, u64, u64)> {
        let requests = |cpu: &str, memory: &str| json!({"resources": {"requests": {"cpu": cpu, "memory": memory}}});
        let sidecar = |cpu: &str, memory: &str| {
            let mut sidecar = requests(cpu, memory);
            sidecar["restartPolicy"] = json!("Always");
            sidecar
        };
        let limited = json!({"resources": {"limits": {"cpu": "2", "memory": "1Gi"}}});
        let partly = json!({"resources": {
            "requests": {"cpu": "100m"}, "limits": {"cpu": "2", "memory": "1Gi"},
        }});
        let web = requests("250m", "128Mi");
        vec![
            (json!({"containers": []}), 0, 0),
            (json!({"containers": [{"name": "web"}]}), 0, 0),
            (json!({"containers": [web]}), 250, 128),
            (
                json!({"containers": [web, web, requests("1", "1Gi")]}),
                1500,
                1280,
            ),
            (json!({"containers": [limited]}), 2000, 1024),
            (json!({"containers": [partly, web]}), 350, 1152),
            // An init container ends before the others start.
            (
                json!({"containers": [web], "initContainers": [requests("1", "64Mi")]}),
                1000,
                128,
            ),
            (
                json!({"containers": [web], "initContainers": [requests("100m", "1Gi"), requests("200m", "2Gi")]}),
                250,
                2048,
            ),
            // A sidecar keeps running.
            (
                json!({"containers": [web], "initContainers": [sidecar("50m", "32Mi")]}),
                300,
                160,
            ),
            // Containers after a sidecar run beside it, those before it do not.
            (
                json!({"containers": [web], "initContainers": [
                    requests("400m", "1Mi"), sidecar("50m", "32Mi"), requests("300m", "200Mi"),
                ]}),
                400,
                232,
            ),
            (
                json!({"containers": [web], "initContainers": [
                    sidecar("50m", "32Mi"), sidecar("20m", "8Mi"), requests("1", "1Mi"),
                ]}),
                1070,
                168,
            ),
            (
                json!({"containers": [web], "overhead": {"cpu": "10m", "memory": "20Mi"}}),
                260,
                148,
            ),
            // Pod-level requests take precedence, for each resource separately.
            (
                json!({"containers": [web], "resources": {"requests": {"cpu": "2"}}}),
                2000,
                128,
            ),
            (
                json!({"containers": [web], "resources": {"limits": {"cpu": "2", "memory": "3Gi"}}}),
                250,
                128,
            ),
            (
                json!({"containers": [{}], "resources": {"limits": {"memory": "3Gi"}}}),
                0,
                3072,
            ),
            (
                json!({"containers": [web], "overhead": {"cpu": "10m"},
                       "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}),
                1010,
                1024,
            ),
            // A malformed quantity is ignored and does not hide the others.
            (
                json!({"containers": [requests("many", "128Mi"), web]}),
                250,
                256,
            ),
            (json!({"containers": [requests("-1", ""), web]}), 250, 128),
            (
                json!({"containers": [{"resources": {"requests": {"cpu": "1", "nvidia.com/gpu": "1"}}}]}),
                1000,
                0,
            ),
        ]
    }

    fn field(number: u32, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        prost::encoding::encode_varint(u64::from(number << 3 | 2), &mut out);
        prost::encoding::encode_varint(bytes.len() as u64, &mut out);
        out.extend(bytes);
        out
    }

    /// Encodes a map as the API server does: k8s.io/api/core/v1/generated.proto.
    fn map(number: u32, quantities: &Value) -> Vec<u8> {
        let each = quantities.as_object().into_iter().flatten();
        each.flat_map(|(name, quantity)| {
            let quantity = field(1, quantity.as_str().unwrap().as_bytes());
            let entry = [field(1, name.as_bytes()), field(2, &quantity)].concat();
            field(number, &entry)
        })
        .collect()
    }

    fn resources_of(value: &Value) -> Vec<u8> {
        [map(1, &value["limits"]), map(2, &value["requests"])].concat()
    }

    fn template(spec: &Value) -> Vec<u8> {
        let container = |number, value: &Value| {
            let mut of = field(1, b"name");
            of.extend([0x48, 1]); // field 9, a varint
            of.extend(field(8, &resources_of(&value["resources"])));
            if let Some(policy) = value["restartPolicy"].as_str() {
                of.extend(field(24, policy.as_bytes()));
            }
            field(number, &of)
        };
        let all = |number, name: &str| -> Vec<u8> {
            let each = spec[name].as_array().into_iter().flatten();
            each.flat_map(|value| container(number, value)).collect()
        };
        let pod = [
            field(1, b"a volume"),
            all(2, "containers"),
            all(20, "initContainers"),
            map(32, &spec["overhead"]),
            field(40, &resources_of(&spec["resources"])),
        ];
        [field(1, b"metadata"), field(2, &pod.concat())].concat()
    }

    #[test]
    fn json_and_protobuf_templates_have_the_same_requests() {
        for (spec, cpu, memory) in cases() {
            let expected = ResourceRequests {
                cpu_nanos: cpu * 1_000_000,
                memory_bytes: memory << 20,
            };
            assert_eq!(requests_in_protobuf(&template(&spec)), expected, "{spec}");
            let whole = json!({"metadata": {"labels": {"app": "web"}}, "spec": spec});
            let short = serialize_requests(expected, serde_json::value::Serializer).unwrap();
            for template in [whole, short] {
                let json = json!({ "template": template });
                assert_eq!(ObjectSpec::from_value(&json).requests(), expected, "{json}");
                let read: ObjectSpec = serde_json::from_str(&json.to_string()).unwrap();
                assert_eq!(read.requests(), expected, "{json}");
            }
        }
    }

    #[test]
    fn a_truncated_or_corrupted_template_requests_nothing() {
        let whole = template(&json!({"containers": [
            {"resources": {"requests": {"cpu": "250m", "memory": "128Mi"}}},
        ]}));
        for end in 0..whole.len() {
            requests_in_protobuf(&whole[..end]);
            let mut odd = whole.clone();
            odd[end] ^= 0xff;
            requests_in_protobuf(&odd);
        }
        assert_eq!(
            requests_in_protobuf(&[0xff; 40]),
            ResourceRequests::default()
        );
    }
}
