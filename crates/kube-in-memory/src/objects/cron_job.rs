//! What the server fills in, and refuses, in CronJobs.

use k8s_openapi::api::batch::v1::CronJob;
use serde_json::{Value, json};

use super::fields::{self, Field, not_negative, object, or_else};
use super::job::check_template;
use super::metadata::text;
use super::{cron_schedule, pod_template};
use crate::cause::Cause;

/// The members of a bookmark's CronJob.
pub(super) const EMPTY: &str = r#","spec":{"schedule":"","jobTemplate":{"metadata":{},"spec":{"template":{"metadata":{},"spec":{"containers":null}}}}},"status":{}"#;

const JOB: &str = "spec.jobTemplate.spec";
const TEMPLATE: &str = "spec.jobTemplate.spec.template";
/// The longest name: the names of its Jobs end with a time.
const MAX_NAME: usize = 52;
/// The longest part of a zone's name.
const MAX_ZONE_PART: usize = 14;
/// What a Job's template counts.
const COUNTS: [&str; 5] = [
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
];

const FIELDS: [Field; 18] = [
    ("/spec", "CronJob.spec", "v1.CronJobSpec"),
    (
        "/spec/jobTemplate",
        "CronJobSpec.spec.jobTemplate",
        "v1.JobTemplateSpec",
    ),
    (
        "/spec/jobTemplate/metadata",
        "JobTemplateSpec.spec.jobTemplate.metadata",
        "v1.ObjectMeta",
    ),
    (
        "/spec/jobTemplate/spec",
        "JobTemplateSpec.spec.jobTemplate.spec",
        "v1.JobSpec",
    ),
    (
        "/spec/jobTemplate/spec/template",
        "JobSpec.spec.jobTemplate.spec.template",
        "v1.PodTemplateSpec",
    ),
    (
        "/spec/jobTemplate/spec/template/metadata",
        "PodTemplateSpec.spec.jobTemplate.spec.template.metadata",
        "v1.ObjectMeta",
    ),
    (
        "/spec/jobTemplate/spec/template/spec",
        "PodTemplateSpec.spec.jobTemplate.spec.template.spec",
        "v1.PodSpec",
    ),
    ("/spec/schedule", "CronJobSpec.spec.schedule", "string"),
    ("/spec/timeZone", "CronJobSpec.spec.timeZone", "string"),
    (
        "/spec/concurrencyPolicy",
        "CronJobSpec.spec.concurrencyPolicy",
        "string",
    ),
    ("/spec/suspend", "CronJobSpec.spec.suspend", "bool"),
    (
        "/spec/startingDeadlineSeconds",
        "CronJobSpec.spec.startingDeadlineSeconds",
        "int64",
    ),
    (
        "/spec/successfulJobsHistoryLimit",
        "CronJobSpec.spec.successfulJobsHistoryLimit",
        "int32",
    ),
    (
        "/spec/failedJobsHistoryLimit",
        "CronJobSpec.spec.failedJobsHistoryLimit",
        "int32",
    ),
    (
        "/spec/jobTemplate/spec/parallelism",
        "JobSpec.spec.jobTemplate.spec.parallelism",
        "int32",
    ),
    (
        "/spec/jobTemplate/spec/completions",
        "JobSpec.spec.jobTemplate.spec.completions",
        "int32",
    ),
    (
        "/spec/jobTemplate/spec/backoffLimit",
        "JobSpec.spec.jobTemplate.spec.backoffLimit",
        "int32",
    ),
    (
        "/spec/jobTemplate/spec/activeDeadlineSeconds",
        "JobSpec.spec.jobTemplate.spec.activeDeadlineSeconds",
        "int64",
    ),
];

pub(super) fn decode(object: &mut Value, old: Option<&Value>) -> Result<(), String> {
    fields::decode::<CronJob>(object, old, FIELDS, |known| {
        serde_json::to_value(known.spec)
    })
}

/// Fills in the defaults of `batch/v1`; the status is the CronJob controller's alone.
pub(super) fn complete(new: &mut Value, old: Option<&Value>) {
    new["status"] = old.map_or_else(|| json!({}), |old| old["status"].clone());
    let Some(spec) = object(&mut new["spec"]) else {
        return;
    };
    spec.retain(|key, value| key != "concurrencyPolicy" || *value != "");
    or_else(spec, "concurrencyPolicy", || json!("Allow"));
    or_else(spec, "suspend", || json!(false));
    or_else(spec, "successfulJobsHistoryLimit", || json!(3));
    or_else(spec, "failedJobsHistoryLimit", || json!(1));
    or_else(spec, "schedule", || json!(""));
    let Some(job) = object(spec.entry("jobTemplate").or_insert_with(|| json!({}))) else {
        return;
    };
    or_else(job, "metadata", || json!({}));
    if let Some(job) = object(job.entry("spec").or_insert_with(|| json!({}))) {
        pod_template::complete(job.entry("template").or_insert_with(|| json!({})));
    }
}

/// Refuses a schedule, a zone or a policy that is none, negative counts, and Jobs that would be
/// started for ever.
pub(super) fn check(new: &Value, old: Option<&Value>, causes: &mut Vec<Cause>) {
    let spec = &new["spec"];
    check_schedule(spec, old, causes);
    not_negative(new, "spec.startingDeadlineSeconds", causes);
    if old.is_none_or(|old| old["spec"]["timeZone"] != spec["timeZone"]) {
        check_zone(&spec["timeZone"], causes);
    }
    let policy = &spec["concurrencyPolicy"];
    let policies = ["Allow", "Forbid", "Replace"];
    if !policy
        .as_str()
        .is_some_and(|policy| policies.contains(&policy))
    {
        let field = "spec.concurrencyPolicy";
        causes.push(Cause::not_supported(field, &policy.to_string(), &policies));
    }
    check_job(new, causes);
    not_negative(new, "spec.successfulJobsHistoryLimit", causes);
    not_negative(new, "spec.failedJobsHistoryLimit", causes);
    let name = text(new, "name");
    if old.is_none() && name.len() > MAX_NAME {
        let why = format!("must be no more than {MAX_NAME} characters");
        causes.push(Cause::invalid("metadata.name", &format!("{name:?}"), &why));
    }
}

fn check_schedule(spec: &Value, old: Option<&Value>, causes: &mut Vec<Cause>) {
    let field = "spec.schedule";
    let schedule = |spec: &Value| spec["schedule"].as_str().unwrap_or_default().to_owned();
    let text = schedule(spec);
    if text.is_empty() {
        causes.push(Cause::required(field, ""));
        return;
    }
    let shown = format!("{text:?}");
    if let Err(why) = cron_schedule::check(&text) {
        causes.push(Cause::invalid(field, &shown, &why));
    }
    // One that was taken by an older server may stay.
    let allowed = old.is_some_and(|old| schedule(&old["spec"]).contains("TZ"));
    if text.contains("TZ") && !allowed {
        let why = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
        causes.push(Cause::invalid(field, &shown, why));
    }
}

/// Whether the zone exists is not looked up.
fn check_zone(zone: &Value, causes: &mut Vec<Cause>) {
    let Some(name) = zone.as_str() else { return };
    let mut refuse = |why: &str| {
        causes.push(Cause::invalid("spec.timeZone", &format!("{name:?}"), why));
    };
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-+".contains(&byte);
    let is_part = |part: &str| {
        !matches!(part, "" | "." | "..")
            && !part.starts_with('-')
            && part.len() <= MAX_ZONE_PART
            && part.bytes().all(allowed)
    };
    if name.is_empty() {
        refuse("timeZone must be nil or non-empty string");
    } else if !name.split('/').all(is_part) {
        refuse(&format!("unknown time zone {name}"));
    } else if name.eq_ignore_ascii_case("local") {
        refuse(
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",
        );
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
        causes.push(Cause::invalid(&field, &selector.to_string(), why));
    }
}
