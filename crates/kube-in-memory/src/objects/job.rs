//! Jobs: the defaults and validation that matter to a client that suspends and resumes them.

use std::sync::LazyLock;

use k8s_openapi::api::batch::v1::Job;
use serde_json::{Value, json};

use super::fields::{self, fill, keep_status, not_negative};
use super::pod_template;
use crate::cause::Cause;

/// The fields of a Job in a bookmark.
pub(super) const EMPTY: &str =
    r#","spec":{"template":{"metadata":{},"spec":{"containers":null}}},"status":{}"#;

/// The fields that must not be negative.
pub(super) const COUNTS: [&str; 5] = [
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
];

const FIELDS: &str = "spec v1.JobSpec
    spec.suspend bool
    spec.parallelism int32
    spec.completions int32
    spec.backoffLimit int32
    spec.activeDeadlineSeconds int64
    spec.template v1.PodTemplateSpec";

static DEFAULTS: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "suspend": false,
        "backoffLimit": 6,
        "completionMode": "NonIndexed",
        "podReplacementPolicy": "TerminatingOrFailed",
    })
});

pub(super) fn decode(object: &mut Value, old: Option<&Value>) -> Result<(), String> {
    fields::decode::<Job>(object, old, ("Job", FIELDS), |known| {
        serde_json::to_value(known.spec)
    })
}

/// Sets the defaults of `batch/v1`.
pub(super) fn complete(new: &mut Value, old: Option<&Value>) {
    keep_status(new, old, json!({}));
    let spec = &mut new["spec"];
    if spec.get("completions").is_none() {
        fill(spec, &json!({"parallelism": 1, "completions": 1}));
    }
    fill(spec, &DEFAULTS);
    pod_template::complete(&mut spec["template"]);
}

/// Validates counts and the restart policy.
pub(super) fn check(new: &Value, _: Option<&Value>, causes: &mut Vec<Cause>) {
    for count in COUNTS {
        not_negative(new, &format!("spec.{count}"), causes);
    }
    check_template(&new["spec"]["template"], "spec.template", causes);
}

/// Validates a pod template at this path. The server first reports errors that apply to all pod templates,
/// then those that apply only to Jobs.
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
            let known = ["Always", "OnFailure", "Never"];
            for known in [&known[..], &known[1..]] {
                causes.push(Cause::not_supported(&field, policy, known));
            }
        }
    }
}
