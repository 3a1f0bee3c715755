//! The audit log of the API server: who asked for what, when, and what came of it.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use chrono::DateTime;
use serde::Deserialize;

use crate::support::blocking::block_on;
use crate::support::timing::wait::eventually;

/// Everything the server was asked since it started, but by Kubernetes' own controllers.
pub(crate) struct Audit {
    log: PathBuf,
    client: kube::Client,
    marks: AtomicU32,
}

/// A place in the log: the offset of a line in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark(u64);

/// A request, answered; or a watch, begun.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// When the first byte had arrived, in microseconds since 1970.
    pub(crate) received: i64,
    /// When it was answered, likewise.
    pub(crate) answered: i64,
    /// `admin` is the test itself; see [`Request::is_dayshift`].
    pub(crate) user: String,
    /// Whom that user was for the server; empty where nobody else.
    pub(crate) impersonated: String,
    pub(crate) user_agent: String,
    /// `get`, `list`, `watch`, `patch`, `create`, …
    pub(crate) verb: String,
    pub(crate) uri: String,
    /// `deployments`, or with its subresource `deployments/scale`; empty for paths such as
    /// `/readyz`.
    pub(crate) resource: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) code: u16,
}

/// The kinds that stories scale.
pub(crate) const WORKLOADS: [&str; 15] = [
    "deployments",
    "statefulsets",
    "cronjobs",
    "horizontalpodautoscalers",
    "scaledobjects",
    "rollouts",
    "kites",
    "planes",
    "clusters",
    "postgresclusters",
    "virtualmachines",
    "shoots",
    "robots",
    "postgresqls",
    "rabbitmqclusters",
];

impl Request {
    /// Whether dayshift's ServiceAccount has asked, that of any Namespace.
    pub(crate) fn is_dayshift(&self) -> bool {
        self.user.starts_with("system:serviceaccount:") && self.user.ends_with(":dayshift")
    }

    /// Whether it is about workloads, not Events.
    pub(crate) fn is_of_workload(&self) -> bool {
        WORKLOADS.contains(&&*self.resource)
    }

    /// A change of a workload that the server has made.
    pub(crate) fn is_made(&self) -> bool {
        self.is_write() && self.is_of_workload() && self.code == 200
    }

    /// A list of one object at most: how far is the server, or what time is it there?
    pub(crate) fn is_small_list(&self) -> bool {
        self.verb == "list" && self.uri.ends_with("?limit=1")
    }

    /// Anything but `get`, `list` and `watch`.
    pub(crate) fn is_write(&self) -> bool {
        !matches!(self.verb.as_str(), "get" | "list" | "watch")
    }
}

impl Audit {
    pub(crate) fn new(log: PathBuf, client: kube::Client) -> Self {
        Self {
            log,
            client,
            marks: AtomicU32::new(0),
        }
    }

    /// The present end of the log: see [`Audit::since`].
    pub(crate) fn mark(&self) -> Mark {
        self.settled()
    }

    /// What the server has answered after `mark` and before this call, in order of arrival.
    pub(crate) fn since(&self, mark: Mark) -> Vec<Request> {
        self.read(mark, |_| true)
    }

    /// Those of [`Audit::since`] that dayshift's ServiceAccount has made in `namespace`.
    pub(crate) fn by_dayshift(&self, mark: Mark, namespace: &str) -> Vec<Request> {
        // Other stories fill most of the log: their lines are not worth reading.
        let mut requests = self.read(mark, |line| line.contains(namespace));
        requests.retain(|request| request.is_dayshift() && request.namespace == namespace);
        requests
    }

    /// Those of [`Audit::since`] that somebody else has changed workloads with in `namespace`, or
    /// their counts. What Kubernetes' own controllers do is not in the log.
    pub(crate) fn changes_by_others(&self, mark: Mark, namespace: &str) -> Vec<Request> {
        let mut requests = self.read(mark, |line| line.contains(namespace));
        requests.retain(|request| {
            let resource = request.resource.split('/').next().unwrap_or_default();
            let is_of_workload = WORKLOADS.contains(&resource);
            !request.is_dayshift()
                && request.namespace == namespace
                && is_of_workload
                && request.is_write()
                && request.code == 200
        });
        requests
    }

    fn read(&self, mark: Mark, wanted: impl Fn(&str) -> bool) -> Vec<Request> {
        let text = self.bytes(mark.0, self.settled().0).unwrap();
        let text = String::from_utf8(text).unwrap();
        let mut latest: HashMap<String, Request> = HashMap::new();
        for line in text.lines().filter(|line| wanted(line)) {
            let line: Line = serde_json::from_str(line).unwrap();
            // A watch has a line when it begins and one when it ends.
            latest.insert(line.audit_id.clone(), line.into());
        }
        let mut requests: Vec<Request> = latest
            .into_values()
            .filter(|request| !request.uri.starts_with(MARK))
            .collect();
        requests.sort_by_key(|request| request.received);
        requests
    }

    /// The end of the whole lines of the log, once a request of our own, made now, has come out
    /// there.
    fn settled(&self) -> Mark {
        let uri = format!("{MARK}{};", self.marks.fetch_add(1, Ordering::Relaxed));
        let begin = fs::metadata(&self.log).map_or(0, |log| log.len());
        let request = http::Request::get(&uri).body(Vec::new()).unwrap();
        block_on(self.client.request_text(request)).unwrap();
        eventually("the audit log is written", || {
            let mut new = self.bytes(begin, u64::MAX).ok()?;
            new.truncate(new.iter().rposition(|byte| *byte == b'\n')? + 1);
            let end = begin + new.len() as u64;
            // The first line may be the rest of one that was being written.
            let new = String::from_utf8_lossy(&new);
            new.contains(&uri).then_some(Mark(end))
        })
    }

    /// The bytes of the log from one place to another, or to its end.
    fn bytes(&self, from: u64, to: u64) -> io::Result<Vec<u8>> {
        let mut log = File::open(&self.log)?;
        log.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        log.take(to - from).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

const MARK: &str = "/version?mark=";

/// A line of the log, <https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/>.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    #[serde(rename = "auditID")]
    audit_id: String,
    request_received_timestamp: String,
    stage_timestamp: String,
    verb: String,
    #[serde(rename = "requestURI")]
    request_uri: String,
    #[serde(default)]
    user: LineUser,
    #[serde(default)]
    impersonated_user: LineUser,
    #[serde(default)]
    user_agent: String,
    #[serde(default)]
    object_ref: WorkloadRef,
    #[serde(default)]
    response_status: ResponseStatus,
}

/// Nobody, for a token that the server does not take.
#[derive(Default, Deserialize)]
#[serde(default)]
struct LineUser {
    username: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WorkloadRef {
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ResponseStatus {
    code: u16,
}

impl From<Line> for Request {
    fn from(line: Line) -> Self {
        let micros = |text: &str| {
            DateTime::parse_from_rfc3339(text)
                .unwrap()
                .timestamp_micros()
        };
        let object = line.object_ref;
        let resource = match object.subresource.as_str() {
            "" => object.resource,
            subresource => format!("{}/{subresource}", object.resource),
        };
        Self {
            received: micros(&line.request_received_timestamp),
            answered: micros(&line.stage_timestamp),
            user: line.user.username,
            impersonated: line.impersonated_user.username,
            user_agent: line.user_agent,
            verb: line.verb,
            uri: line.request_uri,
            resource,
            namespace: object.namespace,
            name: object.name,
            code: line.response_status.code,
        }
    }
}
