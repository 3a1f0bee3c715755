//! The builder for cases.

use serde_json::Value;

/// The collection of most cases, in the namespace of the case.
pub const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/{ns}/deployments";
/// The object of most cases.
pub const WEB: &str = "/apis/apps/v1/namespaces/{ns}/deployments/web";
/// The StatefulSets in the namespace of the case.
pub const STATEFUL_SETS: &str = "/apis/apps/v1/namespaces/{ns}/statefulsets";
/// The StatefulSet of most cases about them.
pub const DB: &str = "/apis/apps/v1/namespaces/{ns}/statefulsets/db";
/// The CronJobs in the namespace of the case.
pub const CRON_JOBS: &str = "/apis/batch/v1/namespaces/{ns}/cronjobs";
/// The CronJob of most cases about them.
pub const REPORT: &str = "/apis/batch/v1/namespaces/{ns}/cronjobs/report";
/// The Jobs in the namespace of the case.
pub const JOBS: &str = "/apis/batch/v1/namespaces/{ns}/jobs";
/// The Job of most cases about them.
pub const REPORT_1: &str = "/apis/batch/v1/namespaces/{ns}/jobs/report-1";
/// The Events in the namespace of the case.
pub const EVENTS: &str = "/apis/events.k8s.io/v1/namespaces/{ns}/events";

/// A sequence of requests whose responses are compared.
pub struct Case {
    pub name: &'static str,
    pub steps: Vec<Step>,
}

/// A request. In `path` and `body`, `{ns}` is the namespace of the case; `{rv}`, `{uid}` and `{continue}`
/// come from the last response that has one, and `{rv0}` from the first.
pub struct Step {
    pub method: &'static str,
    pub path: String,
    pub headers: Vec<(&'static str, &'static str)>,
    pub body: String,
    /// The number of watch lines to read, or 0 to read to the end.
    pub lines: usize,
    /// Compare defaults too.
    pub whole: bool,
    /// Ignore bookmarks of a watch before lines are counted.
    pub without_bookmarks: bool,
    /// Compare only these groups or resources. Empty for all.
    pub only: Vec<&'static str>,
    /// Compare field managers, and whether a new version was stored.
    pub owners: bool,
    /// The request should succeed, and its response is not compared.
    pub given: bool,
    /// The action on the server before the request.
    pub before: Option<Before>,
}

/// An action that no API request can perform.
#[derive(Clone, Copy)]
pub enum Before {
    /// Etcd is compacted.
    Compaction,
    /// A policy denies scaling a Deployment to zero.
    Policy,
    /// A custom kind of `custom.example.com/v1alpha1` with a status subresource is served.
    Served(&'static str),
    /// The kind is no longer served.
    Withdrawn(&'static str),
}

/// A case in an empty namespace.
pub fn case(name: &'static str) -> Case {
    Case {
        name,
        steps: Vec::new(),
    }
}

impl Case {
    pub fn ask(
        mut self,
        method: &'static str,
        path: &str,
        content: &'static str,
        body: &str,
    ) -> Self {
        self.steps.push(Step {
            method,
            path: path.to_owned(),
            headers: if content.is_empty() {
                vec![]
            } else {
                vec![("content-type", content)]
            },
            body: body.to_owned(),
            lines: 0,
            whole: false,
            without_bookmarks: false,
            only: Vec::new(),
            owners: false,
            given: false,
            before: None,
        });
        self
    }

    pub fn get(self, path: &str) -> Self {
        self.ask("GET", path, "", "")
    }

    pub fn post(self, path: &str, body: Value) -> Self {
        self.ask("POST", path, "application/json", &body.to_string())
    }

    pub fn put(self, path: &str, body: Value) -> Self {
        self.ask("PUT", path, "application/json", &body.to_string())
    }

    pub fn delete(self, path: &str) -> Self {
        self.ask("DELETE", path, "", "")
    }

    pub fn json_patch(self, path: &str, body: Value) -> Self {
        self.ask(
            "PATCH",
            path,
            "application/json-patch+json",
            &body.to_string(),
        )
    }

    pub fn merge_patch(self, path: &str, body: Value) -> Self {
        self.ask(
            "PATCH",
            path,
            "application/merge-patch+json",
            &body.to_string(),
        )
    }

    /// Creates this Deployment first.
    pub fn given(self, deployment: Value) -> Self {
        self.given_at(DEPLOYMENTS, deployment)
    }

    /// Creates this object first.
    pub fn given_at(self, path: &str, object: Value) -> Self {
        let mut case = self.post(path, object);
        case.last().given = true;
        case
    }

    /// Reads this number of watch events.
    pub fn watch(self, path: &str, lines: usize) -> Self {
        let mut case = self.get(path);
        case.last().lines = lines;
        case
    }

    /// Compares the last response including defaults.
    pub fn whole(mut self) -> Self {
        self.last().whole = true;
        self
    }

    /// Ignores bookmarks in the last response, except the one that ends the initial events. A real server
    /// sends up to two at the end of a watch of a few seconds, if any other client has written meanwhile.
    pub fn without_bookmarks(mut self) -> Self {
        self.last().without_bookmarks = true;
        self
    }

    /// Compares only these groups or resources of the last response.
    pub fn only(mut self, names: &[&'static str]) -> Self {
        self.last().only = names.to_vec();
        self
    }

    /// Compares the field managers in the last response.
    pub fn owners(mut self) -> Self {
        self.last().owners = true;
        self
    }

    /// Sets a header of the last request.
    pub fn header(mut self, name: &'static str, value: &'static str) -> Self {
        self.last().headers.push((name, value));
        self
    }

    /// Performs this action before the last request.
    pub fn after(mut self, before: Before) -> Self {
        self.last().before = Some(before);
        self
    }

    fn last(&mut self) -> &mut Step {
        self.steps.last_mut().unwrap()
    }
}
