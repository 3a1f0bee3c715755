//! What a case of the table is made of.

use serde_json::Value;

/// The collection that most cases are about; each case has a namespace of its own.
pub const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/{ns}/deployments";
/// The object that most cases are about.
pub const WEB: &str = "/apis/apps/v1/namespaces/{ns}/deployments/web";
/// The StatefulSets of the case's namespace.
pub const STATEFUL_SETS: &str = "/apis/apps/v1/namespaces/{ns}/statefulsets";
/// The StatefulSet that the cases about them are about.
pub const DB: &str = "/apis/apps/v1/namespaces/{ns}/statefulsets/db";
/// The CronJobs of the case's namespace.
pub const CRON_JOBS: &str = "/apis/batch/v1/namespaces/{ns}/cronjobs";
/// The CronJob that the cases about them are about.
pub const REPORT: &str = "/apis/batch/v1/namespaces/{ns}/cronjobs/report";
/// The Jobs of the case's namespace.
pub const JOBS: &str = "/apis/batch/v1/namespaces/{ns}/jobs";
/// The Job that the cases about them are about.
pub const REPORT_1: &str = "/apis/batch/v1/namespaces/{ns}/jobs/report-1";
/// The Events of the case's namespace.
pub const EVENTS: &str = "/apis/events.k8s.io/v1/namespaces/{ns}/events";

/// A short story of requests; each answer is compared.
pub struct Case {
    pub name: &'static str,
    pub steps: Vec<Step>,
}

/// One request. In `path` and `body`, `{ns}` is the case's namespace; `{rv}`, `{uid}` and
/// `{continue}` are those of the last answer that had one, `{rv0}` of the case's first answer.
pub struct Step {
    pub method: &'static str,
    pub path: String,
    pub headers: Vec<(&'static str, &'static str)>,
    pub body: String,
    /// How many lines of a watch to read; 0 where the answer is read to its end.
    pub lines: usize,
    /// Compare the defaults that the server fills in too.
    pub whole: bool,
    /// Of a watch, leave out the bookmarks that come by chance, before lines are counted.
    pub without_bookmarks: bool,
    /// Of groups and resources, compare those of these names; empty for all.
    pub only: Vec<&'static str>,
    /// Compare who owns which field, and whether a new version was stored.
    pub owners: bool,
    /// It has to succeed, and how is no matter.
    pub given: bool,
    /// What is done to the server first.
    pub before: Option<Before>,
}

/// What no request to the API can do.
#[derive(Clone, Copy)]
pub enum Before {
    /// All history is forgotten: etcd is compacted.
    Compaction,
    /// A policy refuses to change a Deployment to zero replicas.
    Policy,
    /// A custom kind of `custom.example.com/v1alpha1` is served, with a status of its own.
    Served(&'static str),
    /// It is served no more.
    Withdrawn(&'static str),
}

/// Begins a case with an empty namespace.
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

    /// There is this Deployment.
    pub fn given(self, deployment: Value) -> Self {
        self.given_at(DEPLOYMENTS, deployment)
    }

    /// There is this object in a collection.
    pub fn given_at(self, path: &str, object: Value) -> Self {
        let mut case = self.post(path, object);
        case.last().given = true;
        case
    }

    /// Reads this many events of a watch.
    pub fn watch(self, path: &str, lines: usize) -> Self {
        let mut case = self.get(path);
        case.last().lines = lines;
        case
    }

    /// The last answer is compared with all its defaults.
    pub fn whole(mut self) -> Self {
        self.last().whole = true;
        self
    }

    /// The last answer is compared but for bookmarks, where they do not end the initial events.
    /// A real server sends none, one or two before the end of a watch of two or three seconds: only
    /// if it has heard of a later version meanwhile, which anybody's write to anything may cause,
    /// and as its clock stands within the second.
    pub fn without_bookmarks(mut self) -> Self {
        self.last().without_bookmarks = true;
        self
    }

    /// Of the groups or resources in the last answer only these are compared.
    pub fn only(mut self, names: &[&'static str]) -> Self {
        self.last().only = names.to_vec();
        self
    }

    /// The last answer is compared with who owns what.
    pub fn owners(mut self) -> Self {
        self.last().owners = true;
        self
    }

    /// The last request has another header.
    pub fn header(mut self, name: &'static str, value: &'static str) -> Self {
        self.last().headers.push((name, value));
        self
    }

    /// This is done before the last request.
    pub fn after(mut self, before: Before) -> Self {
        self.last().before = Some(before);
        self
    }

    fn last(&mut self) -> &mut Step {
        self.steps.last_mut().unwrap()
    }
}
