//! What the server fills in, and refuses, in Jobs: what a client that suspends and resumes them sees.

use k8s_openapi::api::batch::v1::Job;
use serde_json::{Value, json};

use super::fields::{self, Field, not_negative, object, or_else};
use super::pod_template;
use crate::cause::Cause;

/// The members of a bookmark's Job.
pub(super) const EMPTY: &str =
    r#","spec":{"template":{"metadata":{},"spec":{"containers":null}}},"status":{}"#;

/// What a Job counts.
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

/// Fills in the defaults of `batch/v1`; the status is the Job controller's alone.
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

/// Refuses negative counts and pods that restart for ever.
pub(super) fn check(new: &Value, _: Option<&Value>, causes: &mut Vec<Cause>) {
    for count in COUNTS {
        not_negative(new, &format!("spec.{count}"), causes);
    }
    check_template(&new["spec"]["template"], "spec.template", causes);
}

/// Checks the pods of a Job at this field. The server asks what any pod may have first, then what a Job's
/// may.
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
