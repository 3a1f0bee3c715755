//! Reading Events: those of one object, dayshift's own in a namespace, and those that report waiting
//! starts.

use std::{cmp::Reverse, collections::HashMap, hash::Hash};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_text::cut_chars;
use dayshift_workload::{
    WorkloadRef,
    events::{EventReason, STARTS_WAIT_INTERVAL},
};
use futures::{StreamExt as _, stream};
use kube::Client;
use serde_json::Value;

use crate::{
    decode::{kind_api::collection_path, protobuf::CORE_ROOT},
    read::{
        list::{AT_ONCE, FindError, RawList, list_raw_where},
        query::Query,
    },
};

/// The reporting controller of dayshift's Events.
pub(crate) const REPORTER: &str = "dayshift";

/// The maximum length of a message in characters. `events.k8s.io` allows no longer ones, but the core API does.
const MAX_MESSAGE: usize = 1_024;
/// The maximum length of the other strings of an Event in characters. No Kubernetes name is longer.
const MAX_TEXT: usize = 253;

/// An Event for display. Its strings can have any content, and are cut if they are too long: any user can write
/// Events of a megabyte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedEvent {
    /// The last occurrence.
    pub at: Option<DateTime<Utc>>,
    /// The namespace of the object.
    pub namespace: String,
    /// The kind and name of the object, such as `Deployment/web`.
    pub object: String,
    /// `Normal` or `Warning`.
    pub level: String,
    /// The reason, in one word.
    pub reason: String,
    /// The message.
    pub message: String,
}

/// Lists the Events of an object, the newest first.
///
/// # Errors
/// If the user may not list Events, or the API server fails.
pub async fn events_of(
    client: &Client,
    object: &WorkloadRef,
) -> Result<Vec<ListedEvent>, FindError> {
    let (kind, name) = (object.kind.name(), &object.name);
    let fields = format!("involvedObject.kind={kind},involvedObject.name={name}");
    let of_object = |event: &Value| is_of(event, object).then(|| listed_event(event));
    let found = list_events(client, Some(&*object.namespace), &fields, of_object).await;
    found.map(newest_first)
}

/// Lists dayshift's own Events in a namespace, the newest first.
///
/// # Errors
/// If the user may not list Events, or the API server fails.
pub async fn events_in(client: &Client, namespace: &str) -> Result<Vec<ListedEvent>, FindError> {
    let fields = format!("reportingComponent={REPORTER}");
    let own = |event: &Value| is_own(event).then(|| listed_event(event));
    let found = list_events(client, Some(namespace), &fields, own).await;
    found.map(newest_first)
}

fn newest_first(mut events: Vec<ListedEvent>) -> Vec<ListedEvent> {
    events.sort_by_key(|event| Reverse(event.at));
    events
}

/// How late the next Event about waiting starts can be.
const MAX_EVENT_DELAY: TimeDelta = TimeDelta::minutes(1);

/// The namespaces with starts that wait for a start slot, according to the Events of their Namespaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitingStarts {
    /// The time of the last such Event, by namespace.
    last_events: HashMap<Box<str>, DateTime<Utc>>,
}

impl WaitingStarts {
    /// Reads these Events in the namespaces of a query. Namespaces in which the user may not list Events
    /// are skipped.
    pub async fn find(client: &Client, query: &Query) -> Self {
        let about = "involvedObject.kind=Namespace,";
        let namespace = |event: &ListedEvent| {
            let namespace = event.object.strip_prefix("Namespace/")?;
            // A user can write such an Event in a namespace of their own about any Namespace.
            (namespace == event.namespace).then(|| namespace.into())
        };
        let last_events = last_events(client, query, about, EventReason::StartsWait, namespace);
        Self {
            last_events: last_events.await,
        }
    }

    /// Whether starts of the namespace are waiting.
    pub fn wait_in(&self, namespace: &str, now: DateTime<Utc>) -> bool {
        let last = self.last_events.get(namespace);
        last.is_some_and(|last| now - *last < STARTS_WAIT_INTERVAL + MAX_EVENT_DELAY)
    }
}

/// The workloads whose enforcement has reached the correction limit, as the Events on them report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CorrectionLimits {
    /// By namespace and object, such as `Deployment/web`, the time of the last Event.
    reached: HashMap<(Box<str>, Box<str>), DateTime<Utc>>,
}

impl CorrectionLimits {
    /// Reads the Events in the namespaces of a query. Namespaces in which the user may not list Events
    /// are skipped.
    pub async fn find(client: &Client, query: &Query) -> Self {
        let object = |event: &ListedEvent| {
            let (namespace, object) = (&*event.namespace, &*event.object);
            Some((namespace.into(), object.into()))
        };
        let reached = last_events(
            client,
            query,
            "",
            EventReason::CorrectionLimitReached,
            object,
        );
        Self {
            reached: reached.await,
        }
    }

    /// Whether the limit was reached for an object since its last transition.
    pub fn is_reached(&self, object: &WorkloadRef, since: DateTime<Utc>) -> bool {
        let name = format!("{}/{}", object.kind.name(), object.name);
        let key = (object.namespace.as_ref().into(), name.into());
        self.reached.get(&key).is_some_and(|at| *at >= since)
    }
}

/// The times of dayshift's last Events with this reason in the namespaces of a query, by their keys. `about`
/// is a further field selector with a comma. Namespaces in which the user may not list Events are skipped.
async fn last_events<K: Eq + Hash>(
    client: &Client,
    query: &Query,
    about: &str,
    reason: EventReason,
    key: impl Fn(&ListedEvent) -> Option<K>,
) -> HashMap<K, DateTime<Utc>> {
    let reason = reason.to_string();
    let fields = format!("reportingComponent={REPORTER},{about}reason={reason}");
    let last = |event: &Value| {
        let event = is_own(event).then(|| listed_event(event))?;
        let at = event.at.filter(|_| event.reason == reason)?;
        Some((key(&event)?, at))
    };
    let list_in = |namespace| list_events(client, namespace, &fields, last);
    let mut last_events = HashMap::new();
    let mut results = stream::iter(query.places())
        .map(list_in)
        .buffer_unordered(AT_ONCE);
    while let Some(events) = results.next().await {
        for (key, at) in events.unwrap_or_default() {
            let last = last_events.entry(key).or_insert(at);
            *last = at.max(*last);
        }
    }
    last_events
}

/// Lists the Events of a namespace, or of all namespaces, that match a field selector, and returns what `kept`
/// keeps of them.
async fn list_events<K>(
    client: &Client,
    namespace: Option<&str>,
    fields: &str,
    kept: impl Fn(&Value) -> Option<K>,
) -> Result<Vec<K>, FindError> {
    let kept = |event: Value| kept(&event);
    let path = collection_path(CORE_ROOT, namespace, "events");
    let mut list = list_raw_where(client, &path, &[("fieldSelector", fields)], kept).await?;
    if matches!(list, RawList::Absent) {
        let path = collection_path("/apis/events.k8s.io/v1/", namespace, "events");
        list = list_raw_where(client, &path, &[], kept).await?;
    }
    match list {
        RawList::Items(items) => Ok(items.into_iter().flatten().collect()),
        RawList::Absent => Ok(Vec::new()),
        RawList::Forbidden(message) => Err(FindError::Rejected(message)),
    }
}

/// Whether dayshift sent the Event. Works for both Event APIs.
fn is_own(event: &Value) -> bool {
    let names = ["reportingController", "reportingComponent"];
    names.iter().any(|name| event[*name] == REPORTER)
}

/// The object of an Event. Works for both Event APIs.
fn object_of(event: &Value) -> Option<&Value> {
    let fields = ["involvedObject", "regarding"].into_iter();
    fields
        .map(|field| &event[field])
        .find(|object| object.is_object())
}

/// Whether the Event is about this object, and not about an earlier object with the same name.
fn is_of(event: &Value, object: &WorkloadRef) -> bool {
    object_of(event).is_some_and(|regarding| {
        regarding["kind"] == object.kind.name()
            && regarding["name"] == *object.name
            && regarding["uid"]
                .as_str()
                .is_none_or(|uid| *uid == *object.uid)
    })
}

fn listed_event(event: &Value) -> ListedEvent {
    let text = |names: &[&str]| {
        let found = names.iter().find_map(|name| event[*name].as_str());
        found.unwrap_or_default()
    };
    let cut = |text| cut_chars(text, MAX_TEXT).to_owned();
    let last = event["series"]["lastObservedTime"].as_str();
    let times = ["lastTimestamp", "deprecatedLastTimestamp", "eventTime"];
    let at = last.or_else(|| times.iter().find_map(|name| event[*name].as_str()));
    let at = at.or_else(|| event["metadata"]["creationTimestamp"].as_str());
    let field = |field: &str| object_of(event).and_then(|object| object[field].as_str());
    ListedEvent {
        namespace: cut(field("namespace").unwrap_or_default()),
        object: [field("kind"), field("name")]
            .map(|name| cut(name.unwrap_or_default()))
            .join("/"),
        at: at.and_then(|at| at.parse().ok()),
        level: cut(text(&["type"])),
        reason: cut(text(&["reason"])),
        message: cut_chars(text(&["message", "note"]), MAX_MESSAGE).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn event_of_megabytes_is_kept_in_part() {
        let long = "é".repeat(1_000_000);
        let event = listed_event(&json!({
            "involvedObject": {"namespace": &long, "kind": &long, "name": &long},
            "type": &long, "reason": &long, "message": &long, "metadata": {"annotations": {"a": &long}},
        }));
        assert_eq!(event.message.chars().count(), MAX_MESSAGE);
        let bytes = format!("{event:?}").len();
        assert!(bytes < 6_000, "{bytes}");
    }
}
