//! The object of an Event.

use std::{fmt, sync::Arc};

use chrono::{DateTime, SecondsFormat, Utc};
use dayshift_text::cut_bytes;
use dayshift_workload::{WorkloadRef, events::EventText, sha256_prefix};
use serde_json::{Value, json};

use crate::read::{events::REPORTER, namespaces::ObservedNamespace};

/// The object of an Event: a workload, or a Namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventObject {
    /// `apps/v1`
    pub api_version: &'static str,
    /// `Deployment`
    pub kind: &'static str,
    /// The namespace of the Event: for a Namespace, itself, so that its users can see the Event.
    pub namespace: Arc<str>,
    /// The name.
    pub name: Arc<str>,
    /// The UID.
    pub uid: Arc<str>,
}

impl From<&WorkloadRef> for EventObject {
    fn from(object: &WorkloadRef) -> Self {
        Self {
            api_version: object.kind.api_version(),
            kind: object.kind.name(),
            namespace: object.namespace.clone(),
            name: object.name.clone(),
            uid: object.uid.clone(),
        }
    }
}

impl From<&ObservedNamespace> for EventObject {
    fn from(namespace: &ObservedNamespace) -> Self {
        Self::namespace((&*namespace.name).into(), (&*namespace.uid).into())
    }
}

impl EventObject {
    /// A Namespace. The UID is empty where it is not known: `kubectl describe` does not show such an
    /// Event, and `kubectl get events` does.
    pub fn namespace(name: Arc<str>, uid: Arc<str>) -> Self {
        Self {
            api_version: "v1",
            kind: "Namespace",
            namespace: name.clone(),
            name,
            uid,
        }
    }

    /// How an Event of it is named, and the field that says so: by the server, or, where it tells once
    /// of an instant, the same by each scaler.
    pub(crate) fn event_name(&self, once_of: Option<DateTime<Utc>>) -> (&'static str, String) {
        // Before the dot that follows, a dot or a dash at the end of a cut name would make it an invalid
        // DNS name (RFC 1123), which the server refuses.
        let short = cut_bytes(&self.name, 200).trim_end_matches(['.', '-']);
        let Some(at) = once_of else {
            return ("generateName", format!("{short}.dayshift-"));
        };
        let object = [self.kind, &*self.namespace, &*self.name, &*self.uid];
        let (at, hash) = (
            at.format("%Y%m%dt%H%M%Sz"),
            sha256_prefix(&object.join("/")),
        );
        ("name", format!("{short}.dayshift-{at}-{hash:016x}"))
    }
}

/// `dev/web`.
impl fmt::Display for EventObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// The longest note of an Event that the API server accepts, in bytes.
const MAX_NOTE: usize = 1024;

/// An Event of the group events.k8s.io, which requires every field given here.
pub(super) fn event_body(
    object: &EventObject,
    event: &EventText,
    at: DateTime<Utc>,
    instance: &str,
) -> Value {
    let kind = if event.reason.is_warning() {
        "Warning"
    } else {
        "Normal"
    };
    let (key, name) = object.event_name(event.once_of);
    json!({
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {key: name, "namespace": &*object.namespace},
        "eventTime": at.to_rfc3339_opts(SecondsFormat::Micros, true),
        "reportingController": REPORTER,
        "reportingInstance": instance,
        "action": "Scale",
        "reason": event.reason.to_string(),
        "type": kind,
        "note": cut_bytes(&event.text, MAX_NOTE),
        "regarding": {
            "apiVersion": object.api_version, "kind": object.kind,
            "namespace": &*object.namespace, "name": &*object.name, "uid": &*object.uid,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_event_is_a_dns_name_wherever_that_of_the_object_is_cut() {
        let is_label =
            |label: &str| !label.is_empty() && !label.starts_with('-') && !label.ends_with('-');
        for middle in [".", "-", "a", "--", "-a.b-c"] {
            for length in 190..=205 {
                let name = format!("{}{middle}{}", "a".repeat(length), "b".repeat(20));
                let object = EventObject::namespace(name.into(), "".into());
                for (once_of, field, rest) in [
                    (None, "generateName", "x2x4z"),
                    (Some(DateTime::UNIX_EPOCH), "name", ""),
                ] {
                    let (key, name) = object.event_name(once_of);
                    let name = name + rest;
                    assert_eq!(key, field);
                    assert!(name.len() <= 253 && name.split('.').all(is_label), "{name}");
                }
            }
        }
    }

    /// A later version that gave other names would tell of the same stop again.
    #[test]
    fn the_name_of_what_is_told_once_stays_the_same() {
        let object = EventObject::namespace("dev".into(), "1".into());
        let (_, name) = object.event_name(Some(DateTime::UNIX_EPOCH));
        assert_eq!(name, "dev.dayshift-19700101t000000z-3d10c2246e2072d4");
    }
}
