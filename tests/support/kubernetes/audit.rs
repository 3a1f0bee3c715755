//! The audit log of the API server.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use chrono::DateTime;
use serde::Deserialize;

use crate::support::blocking::block_on;
use crate::support::timing::wait::eventually;

/// All requests since the start of the server, except those of Kubernetes' own controllers.
pub(crate) struct Audit {
    log: PathBuf,
    client: kube::Client,
    marks: AtomicU32,
}

/// A position in the log: the offset of a line in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark(u64);

/// A completed request, or the beginning of a watch.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The time of the first byte in microseconds since 1970.
    pub(crate) received: i64,
    /// The time of the response in microseconds since 1970.
    pub(crate) answered: i64,
    /// The user. `admin` is the test itself; see [`Request::is_dayshift`].
    pub(crate) user: String,
    /// The impersonated user, or empty.
    pub(crate) impersonated: String,
    pub(crate) user_agent: String,
    /// For example `get`, `list`, `watch`, `patch` or `create`.
    pub(crate) verb: String,
    pub(crate) uri: String,
    /// For example `deployments` or `deployments/scale`. Empty for paths such as `/readyz`.
    pub(crate) resource: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) code: u16,
}

/// The kinds that the scenarios scale.
pub(crate) const WORKLOADS: [&str; 14] = [
    "deployments",
    "statefulsets",
    "cronjobs",
    "horizontalpodautoscalers",
    "scaledobjects",
    "rollouts",
    "kites",
    "clusters",
    "postgresclusters",
    "virtualmachines",
    "shoots",
    "robots",
    "postgresqls",
    "rabbitmqclusters",
];

impl Request {
    /// Whether dayshift's ServiceAccount of any namespace sent it.
    pub(crate) fn is_dayshift(&self) -> bool {
        self.user.starts_with("system:serviceaccount:") && self.user.ends_with(":dayshift")
    }

    /// Whether its resource is a workload.
    pub(crate) fn is_of_workload(&self) -> bool {
        WORKLOADS.contains(&&*self.resource)
    }

    /// Whether it changed a workload successfully.
    pub(crate) fn is_made(&self) -> bool {
        self.is_write() && self.is_of_workload() && self.code == 200
    }

    /// A list of at most one object, which dayshift uses to probe the server.
    pub(crate) fn is_small_list(&self) -> bool {
        self.verb == "list" && self.uri.ends_with("?limit=1")
    }

    /// Whether the verb is not `get`, `list` or `watch`.
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

    /// The current end of the log, for [`Audit::since`].
    pub(crate) fn mark(&self) -> Mark {
        self.settled()
    }

    /// The requests that were completed since `mark`, in order of arrival.
    pub(crate) fn since(&self, mark: Mark) -> Vec<Request> {
        self.read(mark, |_| true)
    }

    /// The requests of dayshift's ServiceAccount in `namespace` since `mark`.
    pub(crate) fn by_dayshift(&self, mark: Mark, namespace: &str) -> Vec<Request> {
        // Other scenarios fill most of the log, so irrelevant lines are not parsed.
        let mut requests = self.read(mark, |line| line.contains(namespace));
        requests.retain(|request| request.is_dayshift() && request.namespace == namespace);
        requests
    }

    /// The changes of workloads in `namespace` by other users since `mark`. The log does not contain
    /// Kubernetes' own controllers.
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
            // A watch has a line at its beginning and one at its end.
            latest.insert(line.audit_id.clone(), line.into());
        }
        let mut requests: Vec<Request> = latest
            .into_values()
            .filter(|request| !request.uri.starts_with(MARK))
            .collect();
        requests.sort_by_key(|request| request.received);
        requests
    }

    /// The end of the complete lines, after a request that this function sends has been logged.
    fn settled(&self) -> Mark {
        let uri = format!("{MARK}{};", self.marks.fetch_add(1, Ordering::Relaxed));
        let begin = fs::metadata(&self.log).map_or(0, |log| log.len());
        let request = http::Request::get(&uri).body(Vec::new()).unwrap();
        block_on(self.client.request_text(request)).unwrap();
        eventually("the audit log is written", || {
            let mut new = self.bytes(begin, u64::MAX).ok()?;
            new.truncate(new.iter().rposition(|byte| *byte == b'\n')? + 1);
            let end = begin + new.len() as u64;
            // The first line might be incomplete.
            let new = String::from_utf8_lossy(&new);
            new.contains(&uri).then_some(Mark(end))
        })
    }

    /// The bytes between two positions, or to the end.
    fn bytes(&self, from: u64, to: u64) -> io::Result<Vec<u8>> {
        let mut log = File::open(&self.log)?;
        log.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        log.take(to - from).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

const MARK: &str = "/version?mark=";

/// A line of the log (<https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/>).
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

/// Empty if the server rejected the token.
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
