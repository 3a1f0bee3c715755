//! With another prefix, findings name annotations by it, and repeat the author's texts verbatim.

use dayshift_manifest::{SourceFile, convert::Converter};
use dayshift_workload::Prefix;

use super::{clocks::utc, converted::annotated};

const CRON_HPA: &str = "apiVersion: autoscaling.alibabacloud.com/v1beta1
kind: CronHorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
";

const SCALED_OBJECT: &str = "apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: web, annotations: {autoscaling.keda.sh/paused: 'true'}}
spec:
  scaleTargetRef: {name: web}
";

const TRIGGER: &str = "  triggers:
  - type: cron
    metadata: {timezone: UTC, start: 0 8 * * *, end: 0 20 * * *, desiredReplicas: '3'}
";

const ASLEEP: &str = "apiVersion: kube-green.com/v1alpha1
kind: SleepInfo
metadata: {name: night}
spec: {weekdays: '*', sleepAt: '20:00', wakeUpAt: '08:00'}
---
apiVersion: v1
kind: Secret
metadata: {name: sleepinfo-night}
stringData: {operation-type: SLEEP, original-resource-info: nope}
";

/// The findings of a file with a prefix.
fn message_of(text: &str, prefix: &str) -> String {
    let converter = Converter {
        now: utc("2027-01-01T00:00:00Z"),
        prefix: Prefix::parse(prefix).unwrap(),
        namespace: "default".to_owned(),
        defaults: Default::default(),
        flags: Vec::new(),
        flagged: Vec::new(),
        keeps: false,
    };
    let findings = converter
        .convert(&[SourceFile::new("web.yaml", text)])
        .findings;
    let lines = findings
        .into_iter()
        .map(|it| format!("{}\n{}\n", it.message, it.help));
    lines.collect()
}

#[test]
fn names_annotations_by_the_given_prefix() {
    let deployment = |key, text| annotated("Deployment", &[(key, text)]);
    let office = "Mon-Fri 08:00-20:00 UTC";
    for (name, text) in [
        ("stop-replicas", deployment("downtime-replicas", "x")),
        ("saved-replicas", deployment("original-replicas", "x")),
        ("saved-replicas", deployment("original-replicas", "3")),
        ("enforce", deployment("grace-period", "48h")),
        ("enforce", deployment("grace-period", "1h")),
        ("exclude", deployment("upscale-period", "never")),
        (
            "except",
            deployment(
                "uptime",
                "Mon-Fri 08:00-20:00 UTC, from 2027-11-27T13:00:00+01:00",
            ),
        ),
        (
            "start",
            annotated(
                "Deployment",
                &[
                    (
                        "upscale-period",
                        "2027-03-01T08:00:00Z-2027-03-01T09:00:00Z",
                    ),
                    ("downscale-period", office),
                ],
            ),
        ),
        (
            "sleep-until",
            annotated("Namespace", &[("force-downtime", "true")]),
        ),
        ("except", format!("{CRON_HPA}  excludeDates: [nope]\n")),
        (
            "except",
            format!("{CRON_HPA}  excludeDates: ['* * * 15 11 *']\n"),
        ),
        (
            "scale",
            format!("{SCALED_OBJECT}  advanced: {{scalingModifiers: {{formula: a}}}}\n{TRIGGER}"),
        ),
        ("pause", format!("{SCALED_OBJECT}{TRIGGER}")),
        (
            "scale",
            format!(
                "{SCALED_OBJECT}{TRIGGER}{}",
                TRIGGER.replace("  triggers:\n", "").replace("UTC", "CET")
            ),
        ),
        ("saved-replicas", ASLEEP.to_owned()),
        (
            "hours",
            format!("web:\n  annotations:\n    downscaler/uptime: {office}\n"),
        ),
    ] {
        for prefix in ["dayshift", "ours.example.com"] {
            let message_of = message_of(&text, prefix);
            assert_contains!(message_of, format!("{prefix}/{name}"), "{text}");
            assert!(
                prefix == "dayshift" || !message_of.contains("dayshift/"),
                "{text}\n{message_of}"
            );
        }
    }
}

#[test]
fn repeats_texts_verbatim_with_any_prefix() {
    let deployment = |key, text| annotated("Deployment", &[(key, text)]);
    for text in [
        deployment("uptime", "dayshift/9"),
        deployment("exclude-until", "dayshift/9"),
        deployment("downtime-replicas", "dayshift/9"),
        deployment("original-replicas", "dayshift/9"),
        deployment("grace-period", "dayshift/9"),
        deployment("exclude", "dayshift/9"),
        deployment("dayshift/9", "x"),
        format!("{CRON_HPA}  excludeDates: [dayshift/9]\n"),
        format!("{CRON_HPA}  jobs: [{{name: up, targetSize: 3, schedule: dayshift/9}}]\n"),
        ASLEEP.replace("20:00", "dayshift/9"),
        format!(
            "{SCALED_OBJECT}{}",
            TRIGGER.replace("0 8 * * *", "dayshift/9")
        ),
        "web:\n  dayshift/9:\n    downscaler/uptime: always\n".to_owned(),
    ] {
        let message_of = message_of(&text, "ours.example.com");
        assert!(message_of.contains("dayshift/9"), "{text}\n{message_of}");
        assert_lacks!(message_of, "ours.example.com/9", "{text}");
    }
}
