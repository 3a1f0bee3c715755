//! The number of pods of a workload, and the CPU and memory that each of them requests.

use serde_json::Value;

use crate::{
    kinds::{definition::PodGroup, kind::Kind},
    object_spec::{ObjectSpec, requests_of},
    replicas::Replicas,
    requests::{NANOS, ResourceRequests},
};

/// More than any node has. The API server accepts such requests, but their pods cannot run.
const MAX_REQUESTS: ResourceRequests = ResourceRequests {
    cpu_nanos: 4096 * NANOS,
    memory_bytes: 64 << 40,
};

/// The pods that Kubernetes supports in a cluster
/// (<https://kubernetes.io/docs/setup/best-practices/cluster-large/>).
const MAX_REPLICAS: u64 = 150_000;

/// The requests of 5,000 nodes with 128 cores and 1 TiB each.
const MAX_TOTAL: ResourceRequests = ResourceRequests {
    cpu_nanos: 640_000 * NANOS,
    memory_bytes: 5000 << 40,
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

/// Whether a part of a `spec` is not disabled with `enabled: false`, as operators do for parts that should
/// not run.
fn is_enabled(part: &Value) -> bool {
    part["enabled"] != false
}

/// Whether an item of a list runs: it is enabled and does not have `suspend: true`.
fn is_running(item: &Value) -> bool {
    is_enabled(item) && item["suspend"] != true
}

fn at<'v>(part: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(part, |parent, name| {
        let child = parent.get(name).filter(|child| !child.is_null());
        child.filter(|child| is_enabled(child))
    })
}

/// Calls `show` with each part at a path through lists.
fn each(part: &Value, path: &[String], show: &mut impl FnMut(&Value)) {
    match path {
        [] => show(part),
        [token, rest @ ..] if token == PodGroup::EACH => {
            let items = part.as_array().into_iter().flatten();
            items
                .filter(|item| is_running(item))
                .for_each(|item| each(item, rest, show));
        }
        [_, rest @ ..] => at(part, &path[..1])
            .into_iter()
            .for_each(|child| each(child, rest, show)),
    }
}

/// The number of pods in a group. It is 0 if the object with the number is missing, and 1 if only
/// the number is missing. `None` if the number is invalid, or if it is missing directly below
/// `spec`.
fn instances(part: &Value, group: &PodGroup) -> Option<u32> {
    let Some([above @ .., name]) = group.instances.as_deref() else {
        return Some(1);
    };
    let Some(holder) = at(part, above) else {
        return Some(0);
    };
    let number_or = |name: &str, unsaid| match &holder[name] {
        Value::Null => unsaid,
        number => u32::try_from(number.as_u64()?).ok(),
    };
    let beside = |name: Option<&str>, unsaid| name.map_or(unsaid, |name| number_or(name, unsaid));
    let is_spec = group.list.is_empty() && above.is_empty();
    let unsaid = (!is_spec).then_some(u32::from(group.at_least.is_none()));
    let number = number_or(name, unsaid)?.max(beside(group.at_least.as_deref(), Some(0))?);
    Some(number.saturating_mul(beside(group.times.as_deref(), Some(1))?))
}

impl Footprint {
    /// The footprint of a kind if nothing else is known about the object.
    pub fn for_kind(kind: &Kind) -> Self {
        Self {
            replicas: u32::from(kind.counts().is_replicas()),
            requests: ResourceRequests::default(),
        }
    }

    /// The footprint of an object: the requests of its pod template, or the sum of its pod groups with
    /// the mean requests of a replica. A request that is larger than any node counts as missing.
    pub fn from_spec(kind: &Kind, spec: &ObjectSpec) -> Self {
        let footprint = Self::as_requested(kind, spec);
        let at_most = |one: u64, max: u64| if one > max { 0 } else { one };
        let requests = footprint.requests.combine(MAX_REQUESTS, at_most);
        Self {
            requests,
            ..footprint
        }
    }

    fn as_requested(kind: &Kind, spec: &ObjectSpec) -> Self {
        if kind.pod_groups().is_empty() {
            return Self {
                requests: spec.requests(),
                ..Self::for_kind(kind)
            };
        }
        let root = spec.root();
        let (mut sum, mut is_readable) = (Self::default(), true);
        for group in kind.pod_groups() {
            let mut add = |part: &Value| {
                let replicas = instances(part, group);
                is_readable &= replicas.is_some();
                let of_one = match group.resources.as_deref() {
                    Some(path) => at(part, path).map(requests_of).unwrap_or_default(),
                    None => spec.requests(),
                };
                sum.add(replicas.unwrap_or_default(), of_one);
            };
            each(&root, &group.list, &mut add);
        }
        if is_readable {
            sum.mean()
        } else {
            Self::default()
        }
    }

    /// The part of a count that savings include: at most as many replicas as the largest cluster can run.
    /// Users can write any count, and one of billions would hide the savings of all other workloads.
    pub fn countable(self, count: Replicas) -> Replicas {
        let replicas = u64::from(self.replicas);
        let fits = |max: u64, one: u64| {
            let all = one.saturating_mul(replicas);
            max.checked_div(all).unwrap_or(u64::MAX)
        };
        let most = fits(MAX_REPLICAS, 1)
            .min(fits(MAX_TOTAL.cpu_nanos, self.requests.cpu_nanos))
            .min(fits(MAX_TOTAL.memory_bytes, self.requests.memory_bytes));
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        count.min(Replicas::new(most))
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::savings::StoppedCapacity;

    fn footprint(cpu: &str, memory: &str) -> Footprint {
        let requests = json!({"requests": {"cpu": cpu, "memory": memory}});
        let spec = json!({"template": {"spec": {"containers": [{"resources": requests}]}}});
        Footprint::from_spec(&Kind::DEPLOYMENT, &ObjectSpec::from_value(&spec))
    }

    #[test]
    fn requests_that_no_node_has_are_missing() {
        for (cpu, memory, expected) in [
            ("4096", "64Ti", (4096 * NANOS, 64 << 40)),
            ("4096001m", "64Ti", (0, 64 << 40)),
            ("1e12", "1Gi", (0, 1 << 30)),
            ("1", "65Ti", (NANOS, 0)),
            ("1e300", "99Ei", (0, 0)),
        ] {
            let ResourceRequests {
                cpu_nanos,
                memory_bytes,
            } = footprint(cpu, memory).requests;
            assert_eq!((cpu_nanos, memory_bytes), expected, "{cpu} {memory}");
        }
    }

    #[test]
    fn count_that_no_cluster_can_run_is_counted_in_part() {
        for (cpu, memory, count, expected) in [
            ("0", "0", 150_000, 150_000),
            ("0", "0", u32::MAX, 150_000),
            ("0", "64Ti", u32::MAX, 78),
            ("4096", "0", u32::MAX, 156),
            ("4096", "64Ti", 3, 3),
        ] {
            let count = Replicas::new(count);
            let counted = StoppedCapacity::new(count, footprint(cpu, memory)).replicas;
            assert_eq!(counted, expected, "{count} of {cpu} {memory}");
        }
        let database = Footprint {
            replicas: u32::MAX,
            ..Footprint::default()
        };
        let counted = StoppedCapacity::new(Replicas::ONE, database);
        assert_eq!(counted, StoppedCapacity::default());
    }
}
