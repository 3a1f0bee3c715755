//! The number of pods of a workload, and the CPU and memory that each of them requests.

use serde_json::Value;

use crate::{
    kinds::{definition::PodGroup, kind::Kind},
    object_spec::{ObjectSpec, requests_of},
    requests::ResourceRequests,
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
    /// the mean requests of a replica.
    pub fn from_spec(kind: &Kind, spec: &ObjectSpec) -> Self {
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
