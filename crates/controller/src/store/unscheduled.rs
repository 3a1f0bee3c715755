//! Objects without a schedule, in a compact form, because a cluster can have many of them. They are needed if
//! their Namespace gets a schedule, or if a start depends on them.

use std::sync::Arc;

use chrono::DateTime;
use dayshift_cluster::{Workload, decode::Version};
use dayshift_workload::{
    CountField, CountKind, Footprint, Inputs, Kind, Labels, Observed, Readiness, Replicas,
    VolumeRetention, WorkloadRef,
};

/// An object without a schedule: the values that are needed if its Namespace gets a schedule, or if a
/// start depends on it.
pub(crate) struct UnscheduledObject {
    uid: Uid,
    version: Version,
    /// `None` for [`CountField::Present`].
    count_field: Option<Box<CountField>>,
    replicas: Replicas,
    footprint: Footprint,
    readiness: Readiness,
    /// When it was created, in seconds since 1970. They last until 2106.
    created: u32,
    volumes: VolumeRetention,
    counts: CountKind,
    has_labels: bool,
    has_annotations: bool,
    deleting: bool,
}

/// A UID. API servers use UUIDs, which are stored as numbers in half the memory of their text.
#[derive(Debug, PartialEq, Eq)]
enum Uid {
    Uuid([u8; 16]),
    Text(Box<str>),
}

impl Uid {
    fn new(text: &str) -> Self {
        match parse_uuid(text) {
            Some(number) => Self::Uuid(number.to_be_bytes()),
            None => Self::Text(text.into()),
        }
    }

    fn text(&self) -> Arc<str> {
        match self {
            Self::Uuid(bytes) => {
                let digits = format!("{:032x}", u128::from_be_bytes(*bytes));
                let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
                parts.join("-").into()
            }
            Self::Text(text) => (&**text).into(),
        }
    }
}

/// Parses a UUID in the usual form: lowercase, with four dashes.
fn parse_uuid(text: &str) -> Option<u128> {
    if text.len() != 36 {
        return None;
    }
    let mut number: u128 = 0;
    for (position, byte) in text.bytes().enumerate() {
        let digit = match (position, byte) {
            (8 | 13 | 18 | 23, b'-') => continue,
            (8 | 13 | 18 | 23, _) => return None,
            (_, b'0'..=b'9') => byte - b'0',
            (_, b'a'..=b'f') => byte - b'a' + 10,
            _ => return None,
        };
        number = number << 4 | u128::from(digit);
    }
    Some(number)
}

impl UnscheduledObject {
    /// Converts an object without annotations or labels of dayshift.
    pub(super) fn from_workload(kind: &Kind, workload: &Workload) -> Self {
        let (replicas, count_field) = workload.count(kind);
        let spec = workload.spec();
        Self {
            uid: Uid::new(workload.uid()),
            version: workload.version(),
            count_field: boxed(count_field),
            replicas,
            footprint: Footprint::from_spec(kind, spec),
            readiness: workload.readiness(kind),
            created: u32::try_from(workload.created()).unwrap_or_default(),
            volumes: spec.volumes(),
            counts: spec.counts(kind),
            has_labels: workload.has_labels(),
            has_annotations: workload.has_annotations(),
            deleting: workload.is_deleting(),
        }
    }

    /// Converts an observed object, after the last annotation or label of dayshift was removed.
    pub(super) fn from_observed(observed: &Observed, version: Version) -> Self {
        Self {
            uid: Uid::new(&observed.object.uid),
            version,
            count_field: boxed(observed.count_field.clone()),
            replicas: observed.replicas,
            footprint: observed.footprint,
            readiness: observed.readiness,
            created: u32::try_from(observed.created.timestamp()).unwrap_or_default(),
            volumes: observed.inputs.volumes(),
            counts: observed.inputs.counts(),
            has_labels: observed.has_labels,
            has_annotations: observed.has_annotations,
            deleting: observed.deleting,
        }
    }

    /// Whether this object is newer than the same object in a watch event.
    pub(super) fn is_newer_than(&self, workload: &Workload) -> bool {
        self.uid == Uid::new(workload.uid()) && workload.version().is_before(self.version)
    }

    /// The count and the readiness; `None` if the object is being deleted.
    pub(super) fn count(&self) -> Option<(Replicas, Readiness)> {
        (!self.deleting).then_some((self.replicas, self.readiness))
    }

    /// Converts back to an observation.
    pub(super) fn into_observed(
        self,
        kind: &Kind,
        namespace: Arc<str>,
        name: Arc<str>,
    ) -> (Observed, Version) {
        let count_field = self.count_field.map_or(CountField::Present, |field| *field);
        let observed = Observed {
            object: WorkloadRef {
                kind: kind.clone(),
                namespace,
                name,
                uid: self.uid.text(),
            },
            replicas: self.replicas,
            footprint: self.footprint,
            readiness: self.readiness,
            created: DateTime::from_timestamp(self.created.into(), 0).unwrap_or_default(),
            // The next watch event shows it.
            revision: None,
            count_field,
            inputs: Inputs::default()
                .with_counts(self.counts)
                .with_volumes(self.volumes),
            labels: Labels::default(),
            error: None,
            override_began: None,
            inherited: None,
            has_labels: self.has_labels,
            has_annotations: self.has_annotations,
            deleting: self.deleting,
        };
        (observed, self.version)
    }
}

/// Allocates memory only for the few count fields that are not [`CountField::Present`].
fn boxed(field: CountField) -> Option<Box<CountField>> {
    (field != CountField::Present).then(|| Box::new(field))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_uid_is_preserved_exactly() {
        for text in [
            "00000000-0000-0000-0000-000000000000",
            "0b0e7a5c-5a1f-4f0e-9f6b-0123456789ab",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
            "0B0E7A5C-5A1F-4F0E-9F6B-0123456789AB",
            "0b0e7a5c5a1f4f0e9f6b0123456789ab",
            "0b0e7a5c-5a1f-4f0e-9f6b-0123456789abc",
            "0b0e7a5c-5a1f-4f0e-9f6b0-123456789ab",
            "web",
            "",
        ] {
            assert_eq!(&*Uid::new(text).text(), text);
        }
        let uuid = Uid::new("0b0e7a5c-5a1f-4f0e-9f6b-0123456789ab");
        assert!(matches!(uuid, Uid::Uuid(_)));
    }
}
