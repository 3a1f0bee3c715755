//! The requests of a pod template in JSON, added up while it is read: nothing else is kept.

use std::fmt;

use dayshift_workload::{PodRequests, ResourceRequests, Resources};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

/// Reads a pod template. Parts of another form than Kubernetes' request nothing: a custom kind may
/// have anything there.
pub(super) fn requests<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<ResourceRequests, D::Error> {
    let mut seen = Seen::default();
    let part = Part {
        at: At::Template,
        seen: &mut seen,
    };
    part.deserialize(deserializer)?;
    Ok(seen.pod.total())
}

/// The sums so far.
#[derive(Default)]
struct Seen {
    pod: PodRequests,
    /// Those of the container, or of the list of the pod, that is being read.
    resources: Resources,
    is_sidecar: bool,
}

/// A place in the template.
#[derive(Clone, Copy)]
enum At {
    Template,
    Spec,
    Domain,
    GuestMemory,
    Containers { are_init: bool },
    Container,
    RestartPolicy,
    Resources,
    Amounts { are_limits: bool },
    Amount { is_limit: bool, of: &'static str },
}

/// The names on the way to a request.
#[derive(Clone, Copy, Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum Name {
    Spec,
    Containers,
    InitContainers,
    RestartPolicy,
    Domain,
    Guest,
    Resources,
    Overhead,
    Requests,
    Limits,
    Cpu,
    Memory,
    #[serde(other)]
    Other,
}

impl At {
    fn below(self, name: Name) -> Option<Self> {
        Some(match (self, name) {
            (Self::Template, Name::Spec) => Self::Spec,
            (Self::Spec, Name::Containers) => Self::Containers { are_init: false },
            (Self::Spec, Name::InitContainers) => Self::Containers { are_init: true },
            (Self::Spec, Name::Domain) => Self::Domain,
            (Self::Spec | Self::Domain | Self::Container, Name::Resources) => Self::Resources,
            (Self::Domain, Name::Memory) => Self::GuestMemory,
            (Self::GuestMemory, Name::Guest) => Self::Amount {
                is_limit: false,
                of: "memory",
            },
            (Self::Spec, Name::Overhead) | (Self::Resources, Name::Requests) => {
                Self::Amounts { are_limits: false }
            }
            (Self::Resources, Name::Limits) => Self::Amounts { are_limits: true },
            (Self::Container, Name::RestartPolicy) => Self::RestartPolicy,
            (Self::Amounts { are_limits }, Name::Cpu | Name::Memory) => Self::Amount {
                is_limit: are_limits,
                of: if matches!(name, Name::Cpu) {
                    "cpu"
                } else {
                    "memory"
                },
            },
            _ => return None,
        })
    }
}

struct Part<'s> {
    at: At,
    seen: &'s mut Seen,
}

impl Part<'_> {
    fn below(&mut self, at: At) -> Part<'_> {
        Part {
            at,
            seen: self.seen,
        }
    }

    fn text(self, text: &str) {
        let seen = self.seen;
        match self.at {
            At::RestartPolicy => seen.is_sidecar = text == "Always",
            At::Amount { is_limit: true, of } => seen.resources.limits.insert(of, text),
            At::Amount {
                is_limit: false,
                of,
            } => seen.resources.requests.insert(of, text),
            _ => {}
        }
    }
}

impl<'de> DeserializeSeed<'de> for Part<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Part<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key()? {
            let Some(at) = self.at.below(name) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            map.next_value_seed(self.below(at))?;
            let taken = |seen: &mut Seen| std::mem::take(&mut seen.resources);
            match (self.at, at) {
                (At::Spec | At::Domain, At::Resources) => {
                    self.seen.pod.resources = taken(self.seen);
                }
                (At::Spec, At::Amounts { .. }) => {
                    self.seen.pod.overhead = taken(self.seen).requests;
                }
                (At::Domain, At::GuestMemory) => self.seen.pod.guest = taken(self.seen).requests,
                _ => {}
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        let At::Containers { are_init } = self.at else {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(());
        };
        while seq.next_element_seed(self.below(At::Container))?.is_some() {
            let resources = std::mem::take(&mut self.seen.resources);
            let is_sidecar = std::mem::take(&mut self.seen.is_sidecar);
            if are_init {
                self.seen.pod.init_container(resources, is_sidecar);
            } else {
                self.seen.pod.container(resources);
            }
        }
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.text(text);
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.text(&number.to_string());
        Ok(())
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        self.text(&number.to_string());
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// A pod template that requests so much, and has nothing else in it.
#[derive(Serialize)]
pub(super) struct Template {
    spec: Spec,
}

#[derive(Serialize)]
struct Spec {
    resources: OfPod,
}

#[derive(Serialize)]
struct OfPod {
    requests: Amounts,
}

#[derive(Serialize)]
struct Amounts {
    cpu: Nanos,
    memory: u64,
}

struct Nanos(u64);

impl Serialize for Nanos {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}n", self.0))
    }
}

impl From<ResourceRequests> for Template {
    fn from(requests: ResourceRequests) -> Self {
        let requests = Amounts {
            cpu: Nanos(requests.cpu_nanos),
            memory: requests.memory_bytes,
        };
        Self {
            spec: Spec {
                resources: OfPod { requests },
            },
        }
    }
}
