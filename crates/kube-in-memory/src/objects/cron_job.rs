//! CronJobs: defaults, validation, and the syntax of `spec.schedule`.

use std::sync::LazyLock;

use k8s_openapi::api::batch::v1::CronJob;
use serde_json::{Value, json};

use crate::{
    cause::Cause,
    objects::{
        fields::{self, fill, keep_status, not_negative, omit},
        job::{COUNTS, check_template},
        metadata::text,
        names::go_error,
        pod_template,
    },
};

/// The fields of a CronJob in a bookmark.
pub(super) const EMPTY: &str = r#","spec":{"schedule":"","jobTemplate":{"metadata":{},"spec":{"template":{"metadata":{},"spec":{"containers":null}}}}},"status":{}"#;

const JOB: &str = "spec.jobTemplate.spec";
const TEMPLATE: &str = "spec.jobTemplate.spec.template";
/// The maximum length of a name, to which its Jobs append a time.
const MAX_NAME: usize = 52;
/// The maximum length of each part of a time zone.
const MAX_ZONE_PART: usize = 14;

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

/// Validates schedule, time zone, policies, counts and the job template.
pub(super) fn check(new: &Value, old: Option<&Value>, causes: &mut Vec<Cause>) {
    let spec = &new["spec"];
    check_schedule(spec, old, causes);
    not_negative(new, "spec.startingDeadlineSeconds", causes);
    if old.is_none_or(|old| old["spec"]["timeZone"] != spec["timeZone"]) {
        check_zone(&spec["timeZone"], causes);
    }
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

fn check_schedule(spec: &Value, old: Option<&Value>, causes: &mut Vec<Cause>) {
    let field = "spec.schedule";
    let schedule = |spec: &Value| spec["schedule"].as_str().unwrap_or_default().to_owned();
    let text = schedule(spec);
    if text.is_empty() {
        causes.push(Cause::required(field, ""));
        return;
    }
    if let Err(why) = check_cron(&text) {
        causes.push(Cause::invalid_text(field, &text, &why));
    }
    // A value that an older server accepted can stay.
    let allowed = old.is_some_and(|old| schedule(&old["spec"]).contains("TZ"));
    if text.contains("TZ") && !allowed {
        let why = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
        causes.push(Cause::invalid_text(field, &text, why));
    }
}

/// Only the syntax is checked, not whether the zone exists.
fn check_zone(zone: &Value, causes: &mut Vec<Cause>) {
    let Some(name) = zone.as_str() else { return };
    let mut refuse = |why: &str| causes.push(Cause::invalid_text("spec.timeZone", name, why));
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
        causes.push(Cause::invalid(&field, selector, why));
    }
}

/// The fields of a schedule: minimum, maximum, and names.
const CRON_FIELDS: [(u64, u64, &[&str]); 5] = [
    (0, 59, &[]),
    (0, 23, &[]),
    (1, 31, &[]),
    (
        1,
        12,
        &[
            "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
        ],
    ),
    (0, 6, &["sun", "mon", "tue", "wed", "thu", "fri", "sat"]),
];
const DESCRIPTORS: &str = "@yearly @annually @monthly @weekly @daily @midnight @hourly";
const UNITS: [&str; 8] = ["ns", "us", "µs", "μs", "ms", "s", "m", "h"];

/// Validates a schedule. A time zone before it is not checked.
fn check_cron(text: &str) -> Result<(), String> {
    let has_zone = text.starts_with("TZ=") || text.starts_with("CRON_TZ=");
    let text = match text.split_once(' ') {
        Some((_, rest)) if has_zone => rest.trim(),
        _ => text,
    };
    if let Some(duration) = text.strip_prefix("@every ") {
        return check_duration(duration)
            .map_err(|why| format!("failed to parse duration {text}: time: {why}"));
    }
    if text.starts_with('@') {
        let known = DESCRIPTORS.split(' ').any(|known| known == text);
        return known
            .then_some(())
            .ok_or_else(|| format!("unrecognized descriptor: {text}"));
    }
    let given: Vec<_> = text.split_whitespace().collect();
    if given.len() != CRON_FIELDS.len() {
        let (wanted, found, shown) = (CRON_FIELDS.len(), given.len(), given.join(" "));
        return Err(format!(
            "expected exactly {wanted} fields, found {found}: [{shown}]"
        ));
    }
    for (text, (least, most, names)) in given.into_iter().zip(CRON_FIELDS) {
        for range in text.split(',').filter(|range| !range.is_empty()) {
            check_range(range, least, most, names)?;
        }
    }
    Ok(())
}

/// Validates a number, name, range or star, with an optional step.
fn check_range(text: &str, least: u64, most: u64, names: &[&str]) -> Result<(), String> {
    let parts: Vec<_> = text.split('/').collect();
    let ends: Vec<_> = parts[0].split('-').collect();
    let value = |text: &str| {
        let name = text.to_lowercase();
        let named = names.iter().position(|known| *known == name);
        named.map_or_else(|| number(text), |place| Ok(place as u64 + least))
    };
    let (start, mut end) = match ends.as_slice() {
        ["*" | "?", ..] => (least, most),
        [only] => (value(only)?, value(only)?),
        [start, end] => (value(start)?, value(end)?),
        _ => return Err(format!("too many hyphens: {text}")),
    };
    let step = match parts.as_slice() {
        [_] => 1,
        [_, step] => number(step)?,
        _ => return Err(format!("too many slashes: {text}")),
    };
    if parts.len() == 2 && ends.len() == 1 {
        end = most;
    }
    if start < least {
        Err(format!(
            "beginning of range ({start}) below minimum ({least}): {text}"
        ))
    } else if end > most {
        Err(format!(
            "end of range ({end}) above maximum ({most}): {text}"
        ))
    } else if start > end {
        Err(format!(
            "beginning of range ({start}) beyond end of range ({end}): {text}"
        ))
    } else if step == 0 {
        Err(format!("step of range should be a positive number: {text}"))
    } else {
        Ok(())
    }
}

/// Parses a number like Go's `Atoi`.
fn number(text: &str) -> Result<u64, String> {
    let number: i64 = text.parse().map_err(|error| {
        let why = go_error(&error);
        format!("failed to parse int from {text}: strconv.Atoi: parsing {text:?}: {why}")
    })?;
    u64::try_from(number).map_err(|_| format!("negative number ({number}) not allowed: {text}"))
}

/// Validates a duration like Go's `ParseDuration`, for example `1h30m`.
fn check_duration(whole: &str) -> Result<(), String> {
    let mut rest = whole.strip_prefix(['-', '+']).unwrap_or(whole);
    if rest == "0" {
        return Ok(());
    }
    let invalid = || format!("invalid duration {whole:?}");
    if rest.is_empty() {
        return Err(invalid());
    }
    while !rest.is_empty() {
        let is_number = |c: char| c.is_ascii_digit() || c == '.';
        let (number, after) = rest.split_at(rest.find(|c| !is_number(c)).unwrap_or(rest.len()));
        let dots = number.matches('.').count();
        if dots > 1 || number.len() == dots {
            return Err(invalid());
        }
        let (unit, next) = after.split_at(after.find(is_number).unwrap_or(after.len()));
        if unit.is_empty() {
            return Err(format!("missing unit in duration {whole:?}"));
        }
        if !UNITS.contains(&unit) {
            return Err(format!("unknown unit {unit:?} in duration {whole:?}"));
        }
        rest = next;
    }
    Ok(())
}
