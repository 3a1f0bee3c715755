//! Jobs: the defaults and validation that matter to a client that suspends and resumes them.

use k8s_openapi::api::batch::v1::Job;
use serde_json::{Value, json};

use super::fields::{self, Field, not_negative, object, or_else};
use super::pod_template;
use crate::cause::Cause;

/// The fields of a Job in a bookmark.
pub(super) const EMPTY: &str =
    r#","spec":{"template":{"metadata":{},"spec":{"containers":null}}},"status":{}"#;

/// The fields that must not be negative.
const COUNTS: [&str; 5] = [
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
];

const FIELDS: [Field; 7] = [
    ("/spec", "Job.spec", "v1.JobSpec"),
    ("/spec/suspend", "JobSpec.spec.suspend", "bool"),
    ("/spec/parallelism", "JobSpec.spec.parallelism", "int32"),
    ("/spec/completions", "JobSpec.spec.completions", "int32"),
    ("/spec/backoffLimit", "JobSpec.spec.backoffLimit", "int32"),
    (
        "/spec/activeDeadlineSeconds",
        "JobSpec.spec.activeDeadlineSeconds",
        "int64",
    ),
    (
        "/spec/template",
        "JobSpec.spec.template",
        "v1.PodTemplateSpec",
    ),
];

pub(super) fn decode(object: &mut Value, old: Option<&Value>) -> Result<(), String> {
    fields::decode::<Job>(object, old, FIELDS, |known| {
        serde_json::to_value(known.spec)
    })
}

/// Sets the defaults of `batch/v1`. Only the controller can set the status.
pub(super) fn complete(new: &mut Value, old: Option<&Value>) {
    new["status"] = old.map_or_else(|| json!({}), |old| old["status"].clone());
    let Some(spec) = object(&mut new["spec"]) else {
        return;
    };
    or_else(spec, "suspend", || json!(false));
    or_else(spec, "backoffLimit", || json!(6));
    or_else(spec, "completionMode", || json!("NonIndexed"));
    or_else(spec, "podReplacementPolicy", || {
        json!("TerminatingOrFailed")
    });
    if !spec.contains_key("completions") {
        or_else(spec, "parallelism", || json!(1));
        or_else(spec, "completions", || json!(1));
    }
    pod_template::complete(spec.entry("template").or_insert_with(|| json!({})));
}

/// Validates counts and the restart policy.
pub(super) fn check(new: &Value, _: Option<&Value>, causes: &mut Vec<Cause>) {
    for count in COUNTS {
        not_negative(new, &format!("spec.{count}"), causes);
    }
    check_template(&new["spec"]["template"], "spec.template", causes);
}

/// Validates a pod template at this path. The server reports the errors of any pod before those of a Job's
/// pod.
pub(super) fn check_template(template: &Value, field: &str, causes: &mut Vec<Cause>) {
    pod_template::check(template, field, causes);
    let policy = &template["spec"]["restartPolicy"];
    let field = format!("{field}.spec.restartPolicy");
    match policy.as_str() {
        Some("OnFailure" | "Never") => {}
        Some("Always") | None => {
            let why = r#"valid values: "OnFailure", "Never""#;
            causes.push(Cause::required(&field, why));
        }
        Some(_) => {
            for known in [
                &["Always", "OnFailure", "Never"][..],
                &["OnFailure", "Never"],
            ] {
                causes.push(Cause::not_supported(&field, &policy.to_string(), known));
            }
        }
    }
}
