//! The CPU and memory that a pod requests, calculated as Kubernetes' scheduler does from quantities:
//! `100m`, `1.5Gi`, `1e3`
//! (<https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/>).

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

/// The factor to billionths. Kubernetes stores nothing finer, and rounds up.
pub const NANOS: u64 = 1_000_000_000;

/// More digits than any quantity in use has. If a string has more, the rest only rounds up.
const MAX_DIGITS: u128 = 10_u128.pow(19);

/// The quantity in billionths, at most `u64::MAX`. `None` if the string is not a quantity or is
/// negative.
fn nanos(text: &str) -> Option<u64> {
    u64::try_from(exact(text)?).ok().or(Some(u64::MAX))
}

/// The quantity in whole units, rounded up.
pub(super) fn whole(text: &str) -> Option<u64> {
    let whole = exact(text)?.div_ceil(NANOS.into());
    u64::try_from(whole).ok().or(Some(u64::MAX))
}

fn exact(text: &str) -> Option<u128> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_negative = text.starts_with('-');
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let end = unsigned.find(|c| !is_number(c));
    let (number, suffix) = unsigned.split_at(end.unwrap_or(unsigned.len()));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    // Kubernetes reads a quantity without a digit as 0.
    if text.is_empty() || fraction.contains('.') {
        return None;
    }
    let (power_of_two, power_of_ten) = power(suffix)?;
    let (mut digits, mut scale, mut is_cut) = (0, power_of_ten.saturating_add(9), false);
    for (place, digit) in whole.bytes().chain(fraction.bytes()).enumerate() {
        let is_fraction = place >= whole.len();
        if digits < MAX_DIGITS {
            digits = digits * 10 + u128::from(digit - b'0');
            scale -= i32::from(is_fraction);
        } else {
            is_cut |= digit != b'0';
            scale += i32::from(!is_fraction);
        }
    }
    let digits = digits
        .saturating_add(is_cut.into())
        .saturating_mul(1 << power_of_two);
    let factor = 10_u128.checked_pow(scale.unsigned_abs());
    Some(match (factor, scale >= 0) {
        _ if digits == 0 => 0,
        _ if is_negative => return None,
        (Some(factor), true) => digits.saturating_mul(factor),
        (Some(factor), false) => digits.div_ceil(factor),
        (None, true) => u128::MAX,
        (None, false) => 1,
    })
}

/// The powers of two and of ten of a suffix.
fn power(suffix: &str) -> Option<(u32, i32)> {
    Some(match suffix {
        "" => (0, 0),
        "n" => (0, -9),
        "u" => (0, -6),
        "m" => (0, -3),
        "k" => (0, 3),
        "M" => (0, 6),
        "G" => (0, 9),
        "T" => (0, 12),
        "P" => (0, 15),
        "E" => (0, 18),
        "Ki" => (10, 0),
        "Mi" => (20, 0),
        "Gi" => (30, 0),
        "Ti" => (40, 0),
        "Pi" => (50, 0),
        "Ei" => (60, 0),
        _ => (
            0,
            suffix.strip_prefix(['e', 'E'])?.parse::<i16>().ok()?.into(),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_quantities_like_kubernetes() {
        for (text, expected) in [
            ("1", 1_000_000_000),
            ("100m", 100_000_000),
            ("0.5", 500_000_000),
            (".5", 500_000_000),
            ("5.", 5_000_000_000),
            ("+2", 2_000_000_000),
            ("250u", 250_000),
            ("7n", 7),
            ("0.1n", 1), // rounded up
            ("1.0000000001", 1_000_000_001),
            ("0", 0),
            ("000", 0),
            ("0.000", 0),
            ("-0", 0),
            ("m", 0),
            (".", 0),
            ("+", 0),
            ("1e-9", 1),
            ("1e-30", 1),
            ("25e-2", 250_000_000),
            ("1E1", 10_000_000_000),
            ("12345678901234567890123", u64::MAX),
            ("1E", u64::MAX),
            ("1e300", u64::MAX),
        ] {
            assert_eq!(nanos(text), Some(expected), "{text}");
        }
        for (text, expected) in [
            ("128974848", 128_974_848),
            ("1e3", 1000),
            ("1E3", 1000),
            ("1k", 1000),
            ("1G", 1_000_000_000),
            ("128Mi", 134_217_728),
            ("1.5Gi", 1_610_612_736),
            ("0.1Ki", 103), // 102.4
            ("1m", 1),
            ("129e6", 129_000_000),
            ("2Ti", 2_199_023_255_552),
            ("1E", 1_000_000_000_000_000_000),
            ("1Ei", 1_152_921_504_606_846_976),
            ("99Ei", u64::MAX),
        ] {
            assert_eq!(whole(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn rejects_strings_that_are_not_quantities() {
        for text in [
            "",
            "-1",
            "-100m",
            "abc",
            "1KB",
            "1 Gi",
            "1Gi ",
            " 1",
            "1.2.3",
            "1e",
            "1ee3",
            "1e1.5",
            "0x10",
            "1_000",
            "1,5",
            "１",
            "1mm",
            "NaN",
            "inf",
            "++1",
            "1e99999999999",
        ] {
            assert_eq!((nanos(text), whole(text)), (None, None), "{text}");
        }
    }
}
