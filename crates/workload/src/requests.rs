//! The CPU and memory that a pod requests, calculated as Kubernetes' scheduler does.

use crate::quantity::{nanos, whole};

/// The requests of one replica; 0 if it requests none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ResourceRequests {
    /// CPU in billionths of a core.
    pub cpu_nanos: u64,
    /// Memory in bytes.
    pub memory_bytes: u64,
}

impl ResourceRequests {
    /// Whether it requests both CPU and memory.
    pub const fn are_complete(self) -> bool {
        self.cpu_nanos > 0 && self.memory_bytes > 0
    }

    pub(crate) fn combine(self, other: Self, of: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            cpu_nanos: of(self.cpu_nanos, other.cpu_nanos),
            memory_bytes: of(self.memory_bytes, other.memory_bytes),
        }
    }
}

/// A list of quantities, such as `requests` or `limits`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResourceList {
    cpu_nanos: Option<u64>,
    memory_bytes: Option<u64>,
}

impl ResourceList {
    /// Sets the quantity of a resource. Invalid quantities and other resources are ignored.
    pub fn insert(&mut self, resource: &str, amount: &str) {
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

/// The `resources` of a container or of a whole pod.
#[derive(Clone, Copy, Debug, Default)]
pub struct Resources {
    /// Its `requests`.
    pub requests: ResourceList,
    /// Its `limits`.
    pub limits: ResourceList,
}

impl Resources {
    /// The requests of a container: its limit if it has no request.
    pub(crate) fn effective(self) -> ResourceRequests {
        let requests = self.requests.or(self.limits);
        requests.or_requests(ResourceRequests::default())
    }
}

/// Adds up the requests of a pod
/// (<https://kubernetes.io/docs/concepts/workloads/pods/init-containers/#resource-sharing-within-containers>):
/// the sum of its containers and sidecars, or the largest step of its initialization if that is
/// more. Requests of the pod itself replace them, and its overhead is added. If a container has a
/// limit but no request, it requests its limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct PodRequests {
    /// The `resources` of the pod itself.
    pub resources: Resources,
    /// Its `overhead`.
    pub overhead: ResourceList,
    /// The memory of its virtual machine, which it requests if its `resources` do not set it
    /// (KubeVirt's `renderresources.go`).
    pub guest: ResourceList,
    together: ResourceRequests,
    sidecars: ResourceRequests,
    largest_step: ResourceRequests,
}

impl PodRequests {
    /// Adds a container.
    pub fn container(&mut self, resources: Resources) {
        self.together = self
            .together
            .combine(resources.effective(), u64::saturating_add);
    }

    /// Adds the next init container, which runs only together with the sidecars before it.
    pub fn init_container(&mut self, resources: Resources) {
        let step = self.init_step(resources);
        self.largest_step = self.largest_step.combine(step, u64::max);
    }

    /// Adds the next init container with `restartPolicy: Always`, which keeps running together with
    /// all later containers.
    pub fn sidecar(&mut self, resources: Resources) {
        let step = self.init_step(resources);
        self.container(resources);
        self.sidecars = step;
        self.largest_step = self.largest_step.combine(step, u64::max);
    }

    /// The requests while the next init container starts.
    fn init_step(&self, resources: Resources) -> ResourceRequests {
        self.sidecars
            .combine(resources.effective(), u64::saturating_add)
    }

    /// The total requests.
    pub fn total(&self) -> ResourceRequests {
        let containers = self.together.combine(self.largest_step, u64::max);
        let limit = self
            .resources
            .limits
            .or_requests(ResourceRequests::default());
        let guest = self.guest.or_requests(ResourceRequests::default());
        let unless_none = |of, limit| if of == 0 { limit } else { of };
        let containers = containers.combine(limit, unless_none);
        let containers = containers.combine(guest, unless_none);
        let pod = self.resources.requests.or_requests(containers);
        let overhead = self.overhead.or_requests(ResourceRequests::default());
        pod.combine(overhead, u64::saturating_add)
    }
}
