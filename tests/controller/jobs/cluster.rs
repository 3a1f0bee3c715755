//! CronJobs and their Jobs, as the CronJob controller creates them.

use kube_in_memory::Api;
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, cron_job};

/// The Jobs of one CronJob.
pub(super) struct Jobs {
    api: Api,
    pub(super) uid: String,
}

impl Jobs {
    /// Whether a Job is suspended, and by which controller.
    pub(super) fn suspended(&self, name: &str) -> (Value, Value) {
        let job = self.api.get("Job", "dev", name).unwrap();
        let by = &job["metadata"]["labels"]["dayshift/suspended-by"];
        (job["spec"]["suspend"].clone(), by.clone())
    }

    /// Suspends or resumes a Job manually.
    pub(super) fn suspend(&self, name: &str, suspend: bool) {
        let patch = json!({"spec": {"suspend": suspend}});
        self.api.merge("Job", "dev", name, &patch).unwrap();
    }
}

/// Queries about Jobs for these scenarios.
pub(super) trait Cluster {
    /// The number of requests about Jobs with this verb so far.
    fn job_requests(&self, verb: &str) -> usize;

    /// The Events about Jobs of an object, oldest first.
    fn reported(&self, name: &str) -> Vec<String>;
}

impl Cluster for Sandbox {
    fn job_requests(&self, verb: &str) -> usize {
        let requests = self.api.requests().into_iter();
        let of_jobs = requests.filter(|line| line.resource == "jobs" && line.verb == verb);
        of_jobs.count()
    }

    fn reported(&self, name: &str) -> Vec<String> {
        let mut events = self.api.list("Event");
        events.retain(|it| it["regarding"]["name"] == name);
        events.sort_by_key(|it| it["eventTime"].as_str().unwrap().to_owned());
        let text = |it: &Value, key: &str| it[key].as_str().unwrap().to_owned();
        let events = events.iter();
        let texts = events.map(|it| format!("{}: {}", text(it, "reason"), text(it, "note")));
        texts.filter(|it| it.starts_with("Jobs")).collect()
    }
}

/// A CronJob in office hours with `stop-jobs`, and running Jobs.
pub(super) fn cron_job_with_jobs(scenario: &Sandbox, name: &str, jobs: &[&str]) -> Jobs {
    let object = cron_job(name).hours("Mon-Fri 09:00-19:00");
    scenario.apply(object.annotation("dayshift/stop-jobs", "true"));
    for job in jobs {
        make(scenario, job_of(scenario, name, job));
    }
    let object = scenario.api.get("CronJob", "dev", name).unwrap();
    Jobs {
        api: scenario.api.clone(),
        uid: object["metadata"]["uid"].as_str().unwrap().to_owned(),
    }
}

/// A running Job of that CronJob.
pub(crate) fn job_of(scenario: &Sandbox, cron_job: &str, name: &str) -> Value {
    let owner = scenario.api.get("CronJob", "dev", cron_job).unwrap();
    let mut spec = owner["spec"]["jobTemplate"]["spec"].clone();
    spec["suspend"] = json!(false);
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {
            "name": name, "namespace": "dev", "labels": {"job-name": name},
            "ownerReferences": [{
                "apiVersion": "batch/v1", "kind": "CronJob", "name": cron_job,
                "uid": owner["metadata"]["uid"], "controller": true,
            }],
        },
        "spec": spec,
    })
}

/// Creates an object at the simulated time.
pub(crate) fn make(scenario: &Sandbox, object: Value) {
    let made = scenario.block_on(async { scenario.api.create(object) });
    made.unwrap();
}

pub(super) fn job(scenario: &Sandbox, name: &str) -> Value {
    scenario.api.get("Job", "dev", name).unwrap()
}
