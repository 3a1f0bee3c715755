//! Converts the schedules of other tools to dayshift's annotations: `dayshift convert`.
//!
//! A [`Converter`] reads files and returns a [`Conversion`]: new texts, in which only the changed
//! annotations differ, and findings. A setting without an equivalent stays as it is and is
//! reported. `docs/guides/migrate.md` has the rules, and the versions of the other tools that they
//! were read from.

mod apply_requests;
mod conversion;
mod cron_hpa;
mod document;
mod downscaler;
mod edit;
mod keda;
mod kube_green;
mod manual;
mod requests;
mod week;
mod work;

use std::collections::{BTreeMap, HashMap};

use crate::{
    convert::{document::Document, work::ConversionRun},
    source::SourceFile,
};

pub use self::conversion::{
    ChangeTarget, Conversion, ConversionFinding, Converter, ObjectChange, ObjectRef,
    SharedSchedule, SpanDefaults, Topic,
};

impl Converter {
    /// Converts all objects of the sources.
    pub fn convert(&self, sources: &[SourceFile]) -> Conversion {
        let mut work = ConversionRun {
            converter: self,
            sources,
            documents: Vec::new(),
            index: HashMap::new(),
            pending: BTreeMap::new(),
            conversion: Conversion::default(),
        };
        let mut trees = Vec::new();
        for (at, source) in sources.iter().enumerate() {
            let (nodes, error) = source.documents();
            let mut report = |place, message, help| {
                let finding =
                    ConversionFinding::new(Topic::Syntax, Some((at, place)), message, help);
                work.conversion.findings.push(finding);
            };
            if let Some(error) = error {
                report(
                    error.place,
                    error.message,
                    "correct the file; it stays as it is",
                );
                trees.push(None);
                continue;
            }
            for node in &nodes {
                if let Some(message) = source.not_an_object(node) {
                    let help =
                        "give a file of Kubernetes objects, or the output of kubectl get -o yaml";
                    report(node.place.clone(), message, help);
                }
                Document::all(node, at, &self.namespace, &mut |document| {
                    work.documents.push(document);
                });
            }
            trees.push(Some(nodes));
        }
        work.make_index();
        work.annotations();
        work.requests();
        work.flags();
        work.report_manual_conversions(&trees);
        work.write(&trees);
        let mut conversion = work.conversion;
        let order = |finding: &ConversionFinding| {
            let place = finding.place.as_ref();
            place.map_or((usize::MAX, 0), |(at, place)| (*at, place.span.start))
        };
        conversion.findings.sort_by_key(order);
        conversion
    }

    /// The findings of files that are not read, such as Terraform files.
    pub fn check_skipped(&self, skipped: &[SourceFile]) -> Vec<ConversionFinding> {
        let finding = |file: &SourceFile| manual::skipped_file_finding(file.name(), file.text());
        skipped.iter().filter_map(finding).collect()
    }
}

#[cfg(test)]
mod tests {
    use dayshift_workload::Prefix;

    use super::*;

    /// The changes of objects, and the findings as their id and message with the help.
    fn convert(text: &str) -> (Vec<String>, Vec<(&'static str, String)>) {
        let converter = Converter {
            now: "2026-11-22T12:00:00Z".parse().unwrap(),
            prefix: Prefix::default(),
            namespace: "default".to_owned(),
            defaults: SpanDefaults::default(),
            flags: Vec::new(),
            flagged: Vec::new(),
            keeps: false,
        };
        let conversion = converter.convert(&[SourceFile::new("a.yaml", text)]);
        let changes = conversion.changes.iter().map(|change| {
            let target = match &change.target {
                ChangeTarget::Object(object) => object.to_string(),
                ChangeTarget::All {
                    kinds, namespace, ..
                } => format!("{kinds} in {namespace}"),
            };
            let pairs = change.set.iter().chain(&change.labels);
            let pairs: Vec<_> = pairs
                .map(|(name, text)| format!("{name}: {text}"))
                .collect();
            format!("{target}: {}", pairs.join(", "))
        });
        let findings = conversion.findings.iter();
        let findings = findings.map(|finding| {
            (
                finding.rule.id(),
                format!("{}; {}", finding.message, finding.help),
            )
        });
        (changes.collect(), findings.collect())
    }

    fn sleep_info(name: &str, spec: &str) -> String {
        format!(
            "---\n{{apiVersion: kube-green.com/v1alpha1, kind: SleepInfo, metadata: {{name: {name}, namespace: team}}, spec: {{{spec}}}}}\n"
        )
    }

    fn find<'f>(findings: &'f [(&str, String)], part: &str) -> &'f (&'f str, String) {
        let found = findings.iter().find(|finding| finding.1.contains(part));
        found.unwrap_or_else(|| panic!("{part}: {findings:?}"))
    }

    #[test]
    fn writes_nothing_for_a_rejected_sleep_info() {
        let one = sleep_info(
            "a",
            "weekdays: '1-5', sleepAt: '20:00', wakeUpAt: '08:00', suspendCronJobs: true",
        );
        let other = sleep_info("b", "weekdays: '1-5', sleepAt: '18:00', wakeUpAt: '09:00'");
        let (changes, findings) = convert(&(one + &other));
        let [change] = &changes[..] else {
            panic!("{changes:?}");
        };
        assert!(
            change.starts_with("Namespace team: dayshift/start: Mon-Fri 08:00"),
            "{change}"
        );
        assert_eq!(
            find(&findings, "already schedules the same workload").0,
            "several"
        );
        let deletions = findings
            .iter()
            .filter(|finding| finding.0 == "delete-after");
        assert_eq!(deletions.count(), 1, "{findings:?}");
    }

    #[test]
    fn merges_sleep_infos_on_different_days() {
        let one = sleep_info(
            "a",
            "weekdays: '1-4', sleepAt: '20:00', wakeUpAt: '08:00', suspendCronJobs: true",
        );
        let other = sleep_info(
            "b",
            "weekdays: '5', sleepAt: '18:00', wakeUpAt: '10:00', suspendCronJobs: true",
        );
        let (changes, findings) = convert(&(one.clone() + &other));
        assert_eq!(
            changes,
            [
                "Namespace team: dayshift/start: Mon-Thu 08:00; Fri 10:00, dayshift/stop: Mon-Thu 20:00; Fri 18:00, dayshift/timezone: UTC"
            ],
            "{findings:?}"
        );
        let zone = other.replace("weekdays", "timeZone: Asia/Tokyo, weekdays");
        let kinds = other.replace(", suspendCronJobs: true", "");
        for other in [zone, kinds] {
            let (_, findings) = convert(&(one.clone() + &other));
            assert_eq!(
                find(&findings, "already schedules the same workload").0,
                "several",
                "{other}"
            );
        }
    }

    #[test]
    fn reports_flags_and_variables_of_a_downscaler() {
        let flag = "dayshift convert --default-uptime 'Mon-Fri 08:00-20:00 CET' -n NAMESPACE";
        for (text, command) in [
            (
                "{kind: Deployment, apiVersion: apps/v1, metadata: {name: a}, spec: {template: {spec: {containers: [{args: [--interval, '30', --default-uptime, 'Mon-Fri 08:00-20:00 CET']}]}}}}",
                flag,
            ),
            (
                "{kind: Deployment, apiVersion: apps/v1, metadata: {name: a}, spec: {template: {spec: {containers: [{env: [{name: DEFAULT_UPTIME, value: 'Mon-Fri 08:00-20:00 CET'}]}]}}}}",
                flag,
            ),
            (
                "{kind: ConfigMap, apiVersion: v1, metadata: {name: a}, data: {DEFAULT_UPTIME: 'Mon-Fri 08:00-20:00 CET'}}",
                flag,
            ),
            (
                "arguments: ['--default-uptime=Mon-Fri 08:00-20:00 CET']",
                flag,
            ),
            (
                "{kind: Kustomization, patches: [{patch: \"- op: add\\n  value: '--default-uptime=Mon-Fri 08:00-20:00 CET'\\n\"}]}",
                flag,
            ),
            ("arguments: ['--interval=30', '--default-timezone=CET']", ""),
        ] {
            let (_, findings) = convert(text);
            match command {
                "" => assert!(findings.is_empty(), "{text}: {findings:?}"),
                command => assert_eq!(find(&findings, command).0, "by-hand", "{text}"),
            }
        }
    }

    #[test]
    fn names_schedules_that_convert_does_not_read() {
        for (version, kind) in [
            ("autoscaling.cce.io/v2alpha1", "CronHorizontalPodAutoscaler"),
            ("core.rekuberate.io/v1alpha1", "SleepCycle"),
            ("elasti.truefoundry.com/v1alpha1", "ElastiService"),
            ("hibernator.ardikabs.com/v1alpha1", "HibernatePlan"),
        ] {
            let (_, findings) = convert(&format!(
                "{{apiVersion: {version}, kind: {kind}, metadata: {{name: a}}}}"
            ));
            assert_eq!(
                find(&findings, "which convert does not read").0,
                "no-equivalent"
            );
        }
    }

    #[test]
    fn explains_cron_triggers_without_an_equivalent() {
        let scaled = |triggers: &str| {
            format!(
                "{{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {{name: a}}, spec: {{scaleTargetRef: {{name: web}}, triggers: [{triggers}]}}}}"
            )
        };
        let cron = |count: u32| {
            format!(
                "{{type: cron, metadata: {{timezone: Europe/Berlin, start: 0 8 * * 1-5, end: 0 20 * * 1-5, desiredReplicas: '{count}'}}}}"
            )
        };
        let http = "{type: external-push, metadata: {scalerAddress: 'keda-add-ons-http-external-scaler.keda:9090'}}";
        let (_, findings) = convert(&scaled(&format!("{}, {http}", cron(2))));
        let (rule, text) = find(&findings, "a pause also ends the wakes by its HTTP trigger");
        assert_eq!(*rule, "triggers");
        assert!(
            text.contains("dayshift/hours and dayshift/wake-on-request"),
            "{text}"
        );
        let (changes, findings) = convert(&scaled(&cron(0)));
        assert_eq!(changes, [""; 0]);
        let expected = "write dayshift/stop: \"Mon-Fri 08:00\" and dayshift/start: \"Mon-Fri 20:00\" and dayshift/timezone: \"Europe/Berlin\"";
        assert_eq!(find(&findings, expected).0, "no-equivalent");
    }

    #[test]
    fn rejects_documents_that_are_not_objects() {
        let (_, findings) = convert("No resources found\n");
        assert_eq!(find(&findings, "not an object").0, "syntax");
    }
}
