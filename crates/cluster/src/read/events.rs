//! The Events of one object, and dayshift's own in a namespace.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_workload::{
    WorkloadRef,
    events::{EventReason, STARTS_WAIT_INTERVAL},
};
use futures::{StreamExt as _, stream};
use kube::Client;
use serde_json::Value;

use crate::read::{
    list::{AT_ONCE, FindError, RawList, list_raw_where},
    query::Query,
};

/// The reporter of dayshift's Events.
pub(crate) const REPORTER: &str = "dayshift";

/// An Event for display: its texts may hold anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenEvent {
    /// When it last happened.
    pub at: Option<DateTime<Utc>>,
    /// What it is about, such as `Deployment/web`.
    pub object: String,
    /// `Normal` or `Warning`.
    pub level: String,
    /// The reason, one word.
    pub reason: String,
    /// What happened.
    pub message: String,
}

/// The Events of an object, the newest first.
/// # Errors
/// If the user may not list Events, or the server is absent or unwilling.
pub async fn events_of(client: &Client, object: &WorkloadRef) -> Result<Vec<SeenEvent>, FindError> {
    let (kind, name) = (object.kind.name(), &object.name);
    let fields = format!("involvedObject.kind={kind},involvedObject.name={name}");
    let namespace = Some(&*object.namespace);
    list_events(client, namespace, &fields, |it| is_of(it, object)).await
}

/// dayshift's own Events about the objects in a namespace, the newest first.
///
/// # Errors
/// If the user may not list Events, or the server is absent or unwilling.
pub async fn events_in(client: &Client, namespace: &str) -> Result<Vec<SeenEvent>, FindError> {
    let fields = format!("reportingComponent={REPORTER}");
    list_events(client, Some(namespace), &fields, is_own).await
}

/// How much later than usual the next Event of starts that wait may come.
const LATE: TimeDelta = TimeDelta::minutes(1);

/// Where starts wait until fewer workloads are starting, as the Events on Namespaces say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitingStarts {
    /// By namespace, when that was told last.
    told: HashMap<Box<str>, DateTime<Utc>>,
}

impl WaitingStarts {
    /// Reads them in the namespaces of a query, as far as the user may list Events.
    pub async fn find(client: &Client, query: &Query) -> Self {
        let fields = format!(
            "reportingComponent={REPORTER},involvedObject.kind=Namespace,reason={}",
            EventReason::StartsWait
        );
        let namespaces = match &*query.namespaces() {
            [] => vec![None],
            several => several.iter().map(|it| Some(*it)).collect(),
        };
        let list_in = |namespace| list_events(client, namespace, &fields, is_own);
        let mut told = HashMap::new();
        let mut answers = stream::iter(namespaces)
            .map(list_in)
            .buffer_unordered(AT_ONCE);
        while let Some(events) = answers.next().await {
            for event in events.unwrap_or_default() {
                let namespace = event.object.strip_prefix("Namespace/");
                let is_wait = event.reason == EventReason::StartsWait.to_string();
                if let (Some(namespace), Some(at), true) = (namespace, event.at, is_wait) {
                    let last = told.entry(namespace.into()).or_insert(at);
                    *last = at.max(*last);
                }
            }
        }
        Self { told }
    }

    /// Whether starts of a namespace wait now.
    pub fn wait_in(&self, namespace: &str, now: DateTime<Utc>) -> bool {
        let told = self.told.get(namespace);
        told.is_some_and(|told| now - *told < STARTS_WAIT_INTERVAL + LATE)
    }
}

/// The Events of a namespace, or of all, with these fields that `is_taken` accepts, the newest first.
async fn list_events(
    client: &Client,
    namespace: Option<&str>,
    fields: &str,
    is_taken: impl Fn(&Value) -> bool,
) -> Result<Vec<SeenEvent>, FindError> {
    let path_of = |api: &str| match namespace {
        Some(namespace) => format!("{api}/namespaces/{namespace}/events"),
        None => format!("{api}/events"),
    };
    let path = path_of("/api/v1");
    let mut list = list_raw_where(client, &path, &[("fieldSelector", fields)]).await?;
    if matches!(list, RawList::Absent) {
        let path = path_of("/apis/events.k8s.io/v1");
        list = list_raw_where(client, &path, &[]).await?;
    }
    match list {
        RawList::Items(items) => {
            let taken = items.iter().filter(|it| is_taken(it));
            let mut events: Vec<_> = taken.map(seen_event).collect();
            events.sort_by_key(|it| std::cmp::Reverse(it.at));
            Ok(events)
        }
        RawList::Absent => Ok(Vec::new()),
        RawList::Forbidden(message) => Err(FindError::Refused(message)),
    }
}

/// Whether dayshift has sent an Event of either API.
fn is_own(event: &Value) -> bool {
    let names = ["reportingController", "reportingComponent"];
    names.iter().any(|name| event[*name] == REPORTER)
}

/// The object of an Event of either API.
fn about(event: &Value) -> Option<&Value> {
    let fields = ["involvedObject", "regarding"].into_iter();
    fields.map(|field| &event[field]).find(|it| it.is_object())
}

/// Whether an Event of either API is about the object, and not about an earlier one of its name.
fn is_of(event: &Value, object: &WorkloadRef) -> bool {
    about(event).is_some_and(|about| {
        about["kind"] == object.kind.name()
            && about["name"] == *object.name
            && about["uid"].as_str().is_none_or(|uid| *uid == *object.uid)
    })
}

fn seen_event(event: &Value) -> SeenEvent {
    let text = |names: &[&str]| {
        let found = names.iter().find_map(|name| event[*name].as_str());
        found.unwrap_or_default().to_owned()
    };
    let last = event["series"]["lastObservedTime"].as_str();
    let times = ["lastTimestamp", "deprecatedLastTimestamp", "eventTime"];
    let at = last.or_else(|| times.iter().find_map(|name| event[*name].as_str()));
    let at = at.or_else(|| event["metadata"]["creationTimestamp"].as_str());
    let field = |field: &str| about(event).and_then(|it| it[field].as_str());
    SeenEvent {
        object: [field("kind"), field("name")]
            .map(Option::unwrap_or_default)
            .join("/"),
        at: at.and_then(|at| at.parse().ok()),
        level: text(&["type"]),
        reason: text(&["reason"]),
        message: text(&["message", "note"]),
    }
}
