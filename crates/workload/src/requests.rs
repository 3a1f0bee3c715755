//! What one replica requests, by the rule of Kubernetes' scheduler.

use super::kinds::kind::Kind;
use super::kinds::row::Size;
use super::quantity::{nanos, whole};

/// The replicas for which 1 of an object's count stands: 1 of a Deployment, all instances of a database
/// with a switch, and 0 where nothing says that there are any, as of a CronJob.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Footprint {
    /// How many they are.
    pub replicas: u32,
    /// What each of them requests.
    pub requests: ResourceRequests,
}

impl Footprint {
    /// The footprint of an object of this kind, where nothing is known of the object itself.
    pub fn of_kind(kind: Kind) -> Self {
        Self {
            replicas: u32::from(kind.counts().is_replicas()),
            requests: ResourceRequests::default(),
        }
    }

    /// The footprint of an object of this kind, by what it says: the requests of its pod template, and
    /// the number and the `resources` at a path, as the tokens of a JSON pointer.
    pub fn read(
        kind: Kind,
        template: impl FnOnce() -> ResourceRequests,
        number: impl FnOnce(&[&str]) -> Option<u32>,
        resources: impl FnOnce(&[&str]) -> Resources,
    ) -> Self {
        let Some(Size {
            instances,
            resources: path,
        }) = kind.size()
        else {
            let requests = template();
            return Self {
                requests,
                ..Self::of_kind(kind)
            };
        };
        Self {
            replicas: instances.map_or(Some(1), number).unwrap_or_default(),
            requests: path.map_or_else(template, |path| asked(resources(path))),
        }
    }
}

/// What one replica requests by its pod template; 0 of what it requests none of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ResourceRequests {
    /// CPU, in billionths of a core.
    pub cpu_nanos: u64,
    /// Memory, in bytes.
    pub memory_bytes: u64,
}

impl ResourceRequests {
    /// Whether it requests both CPU and memory.
    pub const fn are_complete(self) -> bool {
        self.cpu_nanos > 0 && self.memory_bytes > 0
    }

    fn of_each(self, other: Self, of: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            cpu_nanos: of(self.cpu_nanos, other.cpu_nanos),
            memory_bytes: of(self.memory_bytes, other.memory_bytes),
        }
    }
}

/// A list of amounts, such as `requests` or `limits`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Amounts {
    cpu_nanos: Option<u64>,
    memory_bytes: Option<u64>,
}

impl Amounts {
    /// Takes in one of the list. What is no amount is left out, and so is every other resource.
    pub fn take_in(&mut self, resource: &str, amount: &str) {
        match resource {
            "cpu" => self.cpu_nanos = nanos(amount),
            "memory" => self.memory_bytes = whole(amount),
            _ => {}
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            cpu_nanos: self.cpu_nanos.or(other.cpu_nanos),
            memory_bytes: self.memory_bytes.or(other.memory_bytes),
        }
    }

    fn or_requests(self, other: ResourceRequests) -> ResourceRequests {
        ResourceRequests {
            cpu_nanos: self.cpu_nanos.unwrap_or(other.cpu_nanos),
            memory_bytes: self.memory_bytes.unwrap_or(other.memory_bytes),
        }
    }
}

/// The `resources` of a container, or of a whole pod.
#[derive(Clone, Copy, Debug, Default)]
pub struct Resources {
    /// Its `requests`.
    pub requests: Amounts,
    /// Its `limits`.
    pub limits: Amounts,
}

/// Adds up what a pod requests
/// (<https://kubernetes.io/docs/concepts/workloads/pods/init-containers/#resource-sharing-within-containers>):
/// its containers and sidecars together, or the largest step of its initialization where that is
/// more; what stands on the pod itself in place of that; and its overhead. A container with a limit
/// and no request requests its limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct PodRequests {
    /// The `resources` of the pod itself.
    pub resources: Resources,
    /// Its `overhead`.
    pub overhead: Amounts,
    together: ResourceRequests,
    sidecars: ResourceRequests,
    largest_step: ResourceRequests,
}

impl PodRequests {
    /// Takes in a container.
    pub fn container(&mut self, resources: Resources) {
        self.together = self.together.of_each(asked(resources), u64::saturating_add);
    }

    /// Takes in the next init container: a sidecar (`restartPolicy: Always`) runs on beside all
    /// that come after it.
    pub fn init_container(&mut self, resources: Resources, is_sidecar: bool) {
        let step = self.sidecars.of_each(asked(resources), u64::saturating_add);
        if is_sidecar {
            self.container(resources);
            self.sidecars = step;
        }
        self.largest_step = self.largest_step.of_each(step, u64::max);
    }

    /// What it comes to.
    pub fn total(&self) -> ResourceRequests {
        let containers = self.together.of_each(self.largest_step, u64::max);
        let limit = self
            .resources
            .limits
            .or_requests(ResourceRequests::default());
        let unless_none = |of, limit| if of == 0 { limit } else { of };
        let containers = containers.of_each(limit, unless_none);
        let pod = self.resources.requests.or_requests(containers);
        let overhead = self.overhead.or_requests(ResourceRequests::default());
        pod.of_each(overhead, u64::saturating_add)
    }
}

fn asked(resources: Resources) -> ResourceRequests {
    let asked = resources.requests.or(resources.limits);
    asked.or_requests(ResourceRequests::default())
}
