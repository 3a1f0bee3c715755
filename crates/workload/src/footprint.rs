//! The CPU and memory that one replica of a workload requests, calculated as Kubernetes' scheduler does.

use crate::{
    kinds::{definition::PodGroup, kind::Kind},
    quantity::{nanos, whole},
};

/// The number and requests of the replicas in one unit of an object's count. The number is 1 for a
/// Deployment, the number of instances for a database with an on/off field, and 0 if unknown, for
/// example for a CronJob.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Footprint {
    /// The number of replicas.
    pub replicas: u32,
    /// The requests of each replica.
    pub requests: ResourceRequests,
}

/// A node of a `spec`, in a file or in a live object, as needed for a [`Footprint`].
pub trait SpecNode: Copy {
    /// A member, unless it is `null`.
    fn member(self, name: &str) -> Option<Self>;
    /// The items of a list; empty for other values.
    fn items(self) -> impl Iterator<Item = Self>;
    /// A whole number.
    fn number(self) -> Option<u32>;
    /// `true` or `false`.
    fn flag(self) -> Option<bool>;
    /// Calls `read` with a string or the text of a number; `None` for other values.
    fn written<R>(self, read: impl FnOnce(&str) -> R) -> Option<R>;
}

/// Whether a node is not disabled with `enabled: false`, as operators do for parts that should not
/// run.
fn is_enabled<T: SpecNode>(node: T) -> bool {
    node.member("enabled").and_then(T::flag) != Some(false)
}

/// Whether an item of a list runs: it is enabled and does not have `suspend: true`.
fn is_running<T: SpecNode>(item: T) -> bool {
    is_enabled(item) && item.member("suspend").and_then(T::flag) != Some(true)
}

fn at<T: SpecNode>(node: T, path: &[String]) -> Option<T> {
    path.iter().try_fold(node, |parent, name| {
        parent.member(name).filter(|child| is_enabled(*child))
    })
}

/// Calls `show` with each node at a path through lists.
fn each<T: SpecNode>(node: T, path: &[String], show: &mut impl FnMut(T)) {
    match path {
        [] => show(node),
        [token, rest @ ..] if token == PodGroup::EACH => node
            .items()
            .filter(|item| is_running(*item))
            .for_each(|item| each(item, rest, show)),
        [_, rest @ ..] => at(node, &path[..1])
            .into_iter()
            .for_each(|child| each(child, rest, show)),
    }
}

/// The number of pods in a group. It is 0 if the object with the number is missing, and 1 if only
/// the number is missing. `None` if the number is invalid, or if it is missing directly below
/// `spec`.
fn instances<T: SpecNode>(node: T, group: &PodGroup) -> Option<u32> {
    let Some([above @ .., name]) = group.instances.as_deref() else {
        return Some(1);
    };
    let Some(holder) = at(node, above) else {
        return Some(0);
    };
    let number_or = |name: &str, unsaid| holder.member(name).map_or(unsaid, T::number);
    let beside = |name: Option<&str>, unsaid| name.map_or(unsaid, |name| number_or(name, unsaid));
    let is_spec = group.list.is_empty() && above.is_empty();
    let unsaid = (!is_spec).then_some(u32::from(group.at_least.is_none()));
    let number = number_or(name, unsaid)?.max(beside(group.at_least.as_deref(), Some(0))?);
    Some(number.saturating_mul(beside(group.times.as_deref(), Some(1))?))
}

/// The requests of a pod template, or of the `resources` of the node itself.
fn requests_of<T: SpecNode>(node: T) -> ResourceRequests {
    if node.member("spec").is_some() {
        ResourceRequests::from_template(node)
    } else {
        effective_requests(Resources::read(node))
    }
}

impl Footprint {
    /// The footprint of a kind if nothing else is known about the object.
    pub fn for_kind(kind: &Kind) -> Self {
        Self {
            replicas: u32::from(kind.counts().is_replicas()),
            requests: ResourceRequests::default(),
        }
    }

    /// The footprint of an object according to its `spec`: the requests of its pod template, or the
    /// sum of its pod groups with the mean requests of a replica.
    pub fn from_spec<T: SpecNode>(
        kind: &Kind,
        template: impl Fn() -> ResourceRequests,
        spec: Option<T>,
    ) -> Self {
        if kind.pod_groups().is_empty() {
            let requests = template();
            return Self {
                requests,
                ..Self::for_kind(kind)
            };
        }
        let (mut sum, mut is_readable) = (Self::default(), true);
        for group in kind.pod_groups() {
            let mut add = |node: T| {
                let replicas = instances(node, group);
                is_readable &= replicas.is_some();
                let of_one = group.resources.as_deref().map_or_else(&template, |path| {
                    at(node, path).map_or_else(ResourceRequests::default, requests_of)
                });
                sum.add(replicas.unwrap_or_default(), of_one);
            };
            spec.into_iter()
                .for_each(|spec| each(spec, &group.list, &mut add));
        }
        if is_readable {
            sum.mean()
        } else {
            Self::default()
        }
    }

    fn add(&mut self, replicas: u32, of_one: ResourceRequests) {
        self.replicas = self.replicas.saturating_add(replicas);
        let add = |sum: u64, one: u64| sum.saturating_add(one.saturating_mul(u64::from(replicas)));
        self.requests = self.requests.combine(of_one, add);
    }

    /// Converts the sum of the requests into their mean.
    fn mean(self) -> Self {
        let replicas = u64::from(self.replicas).max(1);
        let mean = |sum: u64, _| sum / replicas;
        let requests = self.requests.combine(ResourceRequests::default(), mean);
        Self { requests, ..self }
    }
}

/// The requests of one replica; 0 if it requests none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ResourceRequests {
    /// CPU in billionths of a core.
    pub cpu_nanos: u64,
    /// Memory in bytes.
    pub memory_bytes: u64,
}

impl ResourceRequests {
    /// Reads a pod template. Parts with an unexpected form request nothing.
    pub fn from_template<T: SpecNode>(template: T) -> Self {
        let Some(spec) = template.member("spec") else {
            return Self::default();
        };
        let resources = |of: T| {
            let found = of.member("resources");
            found.map_or_else(Resources::default, Resources::read)
        };
        let domain = spec.member("domain");
        let guest = domain.and_then(|domain| domain.member("memory")?.member("guest"));
        let mut pod = PodRequests {
            resources: resources(domain.unwrap_or(spec)),
            overhead: ResourceList::read(spec, "overhead"),
            ..PodRequests::default()
        };
        pod.guest.memory_bytes = guest.and_then(|guest| guest.written(whole)?);
        let list = |name| spec.member(name).into_iter().flat_map(T::items);
        for container in list("containers") {
            pod.container(resources(container));
        }
        for container in list("initContainers") {
            let policy = container.member("restartPolicy");
            let is_sidecar = policy.and_then(|policy| policy.written(|policy| policy == "Always"));
            match is_sidecar {
                Some(true) => pod.sidecar(resources(container)),
                _ => pod.init_container(resources(container)),
            }
        }
        pod.total()
    }

    /// Whether it requests both CPU and memory.
    pub const fn are_complete(self) -> bool {
        self.cpu_nanos > 0 && self.memory_bytes > 0
    }

    fn combine(self, other: Self, of: impl Fn(u64, u64) -> u64) -> Self {
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
    fn read<T: SpecNode>(of: T, name: &str) -> Self {
        let Some(list) = of.member(name) else {
            return Self::default();
        };
        let amount =
            |resource, read: fn(&str) -> Option<u64>| list.member(resource)?.written(read)?;
        Self {
            cpu_nanos: amount("cpu", nanos),
            memory_bytes: amount("memory", whole),
        }
    }

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
    fn read<T: SpecNode>(node: T) -> Self {
        Self {
            requests: ResourceList::read(node, "requests"),
            limits: ResourceList::read(node, "limits"),
        }
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
            .combine(effective_requests(resources), u64::saturating_add);
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
            .combine(effective_requests(resources), u64::saturating_add)
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

fn effective_requests(resources: Resources) -> ResourceRequests {
    let requests = resources.requests.or(resources.limits);
    requests.or_requests(ResourceRequests::default())
}
