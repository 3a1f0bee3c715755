//! Directories of files for different clusters.

use dayshift_manifest::{
    SourceFile,
    convert::{Converter, SpanDefaults, Topic},
};
use dayshift_workload::Prefix;

use super::clocks::utc;

const WEB: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n";

const CRON: &str = "apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: web
spec:
  scaleTargetRef: {name: web}
  triggers:
  - type: cron
    metadata: {timezone: UTC, start: 0 9 * * 1-5, end: 0 19 * * 1-5, desiredReplicas: '3'}
";

const SLEEP: &str = "apiVersion: kube-green.com/v1alpha1
kind: SleepInfo
metadata:
  name: web
spec: {weekdays: 1-5, sleepAt: '19:00', wakeUpAt: '09:00', timeZone: UTC, includeRef: [{kind: Deployment, apiVersion: apps/v1, name: web}]}
";

type Files<'a> = &'a [(&'a str, &'a str)];

/// Which files are changed, and the number of findings about unclear objects.
fn changed<'a>(files: &[(&'a str, &str)]) -> (Vec<&'a str>, usize) {
    let sources = files
        .iter()
        .map(|(name, text)| SourceFile::new(*name, *text));
    let sources: Vec<_> = sources.collect();
    let converter = Converter {
        now: utc("2027-01-01T00:00:00Z"),
        prefix: Prefix::default(),
        namespace: "default".to_owned(),
        defaults: SpanDefaults::default(),
        flags: Vec::new(),
        flagged: Vec::new(),
        keeps: false,
    };
    let converted = converter.convert(&sources);
    let texts = converted.texts.iter().zip(files);
    let changed = texts.filter(|(text, _)| text.is_some());
    let findings = converted.findings.iter();
    let unclear = findings.filter(|it| it.rule == Topic::Unclear).count();
    (changed.map(|(_, file)| file.0).collect(), unclear)
}

fn in_team(text: &str) -> String {
    text.replace("  name: web\n", "  name: web\n  namespace: team\n")
}

#[test]
fn changes_nothing_in_the_directory_of_another_cluster() {
    for asks in [CRON, SLEEP] {
        let (web, asks_in_team) = (in_team(WEB), in_team(asks));
        let (web, asks_in_team) = (&*web, &*asks_in_team);
        let rows: [(Files<'_>, &[&str], usize); 6] = [
            (
                &[("dev/web.yaml", WEB), ("dev/asks.yaml", asks)],
                &["dev/web.yaml"],
                0,
            ),
            (&[("prod/web.yaml", WEB), ("dev/asks.yaml", asks)], &[], 1),
            (&[("web.yaml", WEB), ("dev/asks.yaml", asks)], &[], 1),
            (
                &[("apps/web.yaml", web), ("keda/asks.yaml", asks_in_team)],
                &["apps/web.yaml"],
                0,
            ),
            (&[("prod/web.yaml", web), ("dev/asks.yaml", asks)], &[], 0),
            (
                &[("prod/web.yaml", WEB), ("dev/asks.yaml", asks_in_team)],
                &[],
                0,
            ),
        ];
        for (files, expected, unclear) in rows {
            assert_eq!(changed(files), (expected.to_vec(), unclear), "{files:?}");
        }
    }
}

#[test]
fn prefers_the_same_directory_in_any_order() {
    for files in [
        [
            ("prod/web.yaml", WEB),
            ("dev/web.yaml", WEB),
            ("dev/keda.yaml", CRON),
        ],
        [
            ("dev/keda.yaml", CRON),
            ("dev/web.yaml", WEB),
            ("prod/web.yaml", WEB),
        ],
    ] {
        assert_eq!(changed(&files), (vec!["dev/web.yaml"], 0), "{files:?}");
    }
    let two = [
        ("dev/a.yaml", WEB),
        ("dev/b.yaml", WEB),
        ("dev/keda.yaml", CRON),
    ];
    assert_eq!(
        changed(&two),
        (Vec::new(), 1),
        "the name is ambiguous in two files"
    );
    let both = format!("{WEB}---\n{CRON}");
    let file = [("dev/a.yaml", WEB), ("dev/both.yaml", &*both)];
    assert_eq!(
        changed(&file),
        (vec!["dev/both.yaml"], 0),
        "the workload in the same file is chosen"
    );
}
