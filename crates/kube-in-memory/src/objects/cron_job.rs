//! CronJobs: defaults and validation.

use std::sync::LazyLock;

use k8s_openapi::api::batch::v1::CronJob;
use serde_json::{Value, json};

use crate::{
    cause::Cause,
    objects::{
        fields::{self, fill, keep_status, not_negative, omit},
        job::{COUNTS, check_template},
        metadata::text,
        pod_template,
    },
};

/// The fields of a CronJob in a bookmark.
pub(super) const EMPTY: &str = r#","spec":{"schedule":"","jobTemplate":{"metadata":{},"spec":{"template":{"metadata":{},"spec":{"containers":null}}}}},"status":{}"#;

const JOB: &str = "spec.jobTemplate.spec";
const TEMPLATE: &str = "spec.jobTemplate.spec.template";
/// The maximum length of a name, to which its Jobs append a time.
const MAX_NAME: usize = 52;

const FIELDS: &str = "spec v1.CronJobSpec
    spec.jobTemplate v1.JobTemplateSpec
    spec.jobTemplate.metadata v1.ObjectMeta
    spec.jobTemplate.spec v1.JobSpec
    spec.jobTemplate.spec.template v1.PodTemplateSpec
    spec.jobTemplate.spec.template.metadata v1.ObjectMeta
    spec.jobTemplate.spec.template.spec v1.PodSpec
    spec.schedule string
    spec.timeZone string
    spec.concurrencyPolicy string
    spec.suspend bool
    spec.startingDeadlineSeconds int64
    spec.successfulJobsHistoryLimit int32
    spec.failedJobsHistoryLimit int32
    spec.jobTemplate.spec.parallelism int32
    spec.jobTemplate.spec.completions int32
    spec.jobTemplate.spec.backoffLimit int32
    spec.jobTemplate.spec.activeDeadlineSeconds int64";

static DEFAULTS: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "concurrencyPolicy": "Allow",
        "suspend": false,
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 1,
        "schedule": "",
        "jobTemplate": {"metadata": {}, "spec": {"template": {}}},
    })
});

pub(super) fn decode(object: &mut Value, old: Option<&Value>) -> Result<(), String> {
    fields::decode::<CronJob>(object, old, ("CronJob", FIELDS), |known| {
        serde_json::to_value(known.spec)
    })
}

/// Sets the defaults of `batch/v1`.
pub(super) fn complete(new: &mut Value, old: Option<&Value>) {
    keep_status(new, old, json!({}));
    omit(&mut new["spec"], &[("concurrencyPolicy", json!(""))]);
    fill(&mut new["spec"], &DEFAULTS);
    pod_template::complete(&mut new["spec"]["jobTemplate"]["spec"]["template"]);
}

/// Validates policy, counts and the job template. A schedule is required, but its syntax is not checked.
pub(super) fn check(new: &Value, old: Option<&Value>, causes: &mut Vec<Cause>) {
    let spec = &new["spec"];
    if spec["schedule"].as_str().is_none_or(str::is_empty) {
        causes.push(Cause::required("spec.schedule", ""));
    }
    not_negative(new, "spec.startingDeadlineSeconds", causes);
    let policy = &spec["concurrencyPolicy"];
    let policies = ["Allow", "Forbid", "Replace"];
    if policy
        .as_str()
        .is_none_or(|policy| !policies.contains(&policy))
    {
        let field = "spec.concurrencyPolicy";
        causes.push(Cause::not_supported(field, policy, &policies));
    }
    check_job(new, causes);
    not_negative(new, "spec.successfulJobsHistoryLimit", causes);
    not_negative(new, "spec.failedJobsHistoryLimit", causes);
    let name = text(new, "name");
    if old.is_none() && name.len() > MAX_NAME {
        let why = format!("must be no more than {MAX_NAME} characters");
        causes.push(Cause::invalid_text("metadata.name", name, &why));
    }
}

fn check_job(new: &Value, causes: &mut Vec<Cause>) {
    for count in COUNTS {
        not_negative(new, &format!("{JOB}.{count}"), causes);
    }
    let job = &new["spec"]["jobTemplate"]["spec"];
    check_template(&job["template"], TEMPLATE, causes);
    let selector = &job["selector"];
    if !selector.is_null() {
        let why = "`selector` will be auto-generated";
        let field = format!("{JOB}.selector");
        causes.push(Cause::invalid(&field, selector, why));
    }
}
