//! The counts of sleeping objects in the Secret of a SleepInfo.

use base64::{Engine, prelude::BASE64_STANDARD};
use dayshift_manifest::convert::{ChangeTarget, Conversion};

use crate::convert::converted::{convert, rule_ids};

const SLEEP_INFO: &str = "apiVersion: kube-green.com/v1alpha1\nkind: SleepInfo\nmetadata: {name: working-hours, namespace: team}\nspec:\n  weekdays: '1-5'\n  sleepAt: '20:00'\n  wakeUpAt: '08:00'\n  suspendCronJobs: true\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n";

const WEB: &str = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: team}\nspec: {replicas: 0}\n";

/// As kube-green's `controllers/sleepinfo/jsonpatch` writes them: a merge patch for each object.
const PATCHES: &str = r#"{"Deployment.apps":{"web":"{\"spec\":{\"replicas\":3}}"},"StatefulSet.apps":{"db":"{\"spec\":{\"replicas\":2}}"},"CronJob.batch":{"report":"{\"spec\":{\"suspend\":false}}"},"ReplicaSet.apps":{"x":"{\"spec\":{\"replicas\":9}}"}}"#;

fn secret(data: &[(&str, &str)]) -> String {
    let lines = data.iter().map(|(name, text)| {
        let text = BASE64_STANDARD.encode(text);
        format!("  {name}: {text}\n")
    });
    let lines: String = lines.collect();
    format!(
        "---\napiVersion: v1\nkind: Secret\nmetadata: {{name: sleepinfo-working-hours, namespace: team}}\ndata:\n{lines}"
    )
}

/// The added labels by object.
fn labels(conversion: &Conversion) -> Vec<(String, String)> {
    let changes = conversion.changes.iter();
    let labels = changes.flat_map(|change| {
        let ChangeTarget::Object(object) = &change.target else {
            panic!("{change:?}");
        };
        let of = object.to_string();
        change.labels.iter().map(move |(name, count)| {
            assert_eq!(name, "dayshift/saved-replicas");
            (of.clone(), count.clone())
        })
    });
    labels.collect()
}

fn expected(all: &[(&str, &str)]) -> Vec<(String, String)> {
    let all = all.iter();
    all.map(|(object, count)| ((*object).to_owned(), (*count).to_owned()))
        .collect()
}

#[test]
fn a_sleeping_workload_keeps_its_count_as_a_label() {
    let data = [
        ("operation-type", "SLEEP"),
        ("scheduled-at", "2027-01-01T20:00:00Z"),
        ("original-resource-info", PATCHES),
    ];
    let text = format!("{SLEEP_INFO}{WEB}{}", secret(&data));
    let conversion = convert(&text);
    assert_eq!(
        labels(&conversion),
        expected(&[
            ("Deployment team/web", "3"),
            ("StatefulSet team/db", "2"),
            ("CronJob team/report", "1"),
        ])
    );
    let saved = ["saved-count"; 3];
    assert_eq!(rule_ids(&conversion)[..1], ["delete-after"]);
    assert_eq!(rule_ids(&conversion)[1..], saved);
    let after = &conversion.findings[0];
    assert!(
        after
            .help
            .starts_with("once the objects have their labels: ")
            && after.message.contains("labels now"),
        "{after:?}"
    );
    // The Deployment in the file has its label now, and a second conversion changes nothing.
    let new = conversion.texts[0].clone().unwrap();
    assert_contains!(new, "dayshift/saved-replicas: \"3\"");
    let again = convert(&new);
    assert_eq!(
        labels(&again),
        expected(&[("StatefulSet team/db", "2"), ("CronJob team/report", "1")])
    );
}

#[test]
fn replaces_a_lower_saved_count_by_kube_greens() {
    let data = [
        ("operation-type", "SLEEP"),
        (
            "original-resource-info",
            r#"{"Deployment.apps":{"web":"{\"spec\":{\"replicas\":3}}"}}"#,
        ),
    ];
    // dayshift saves 0 if kube-green was first when both stopped the object.
    for (known, comes) in [("0", &["3"][..]), ("2", &["3"]), ("3", &[]), ("4", &[])] {
        let label = format!("namespace: team, labels: {{dayshift/saved-replicas: '{known}'}}}}");
        let web = WEB.replace("namespace: team}", &label);
        let conversion = convert(&format!("{SLEEP_INFO}{web}{}", secret(&data)));
        let labels: Vec<_> = labels(&conversion).into_iter().map(|it| it.1).collect();
        assert_eq!(labels, comes, "{known}");
    }
}

#[test]
fn awake_or_unreadable_workloads_get_no_label() {
    let awake = [
        ("operation-type", "WAKE_UP"),
        ("original-resource-info", PATCHES),
    ];
    for (secret, said_too) in [
        (secret(&awake), None),
        (String::new(), None),
        // The Secret of another SleepInfo.
        (
            secret(&[
                ("operation-type", "SLEEP"),
                ("original-resource-info", PATCHES),
            ])
            .replace("sleepinfo-working-hours", "sleepinfo-other"),
            None,
        ),
        (
            secret(&[
                ("operation-type", "SLEEP"),
                ("original-resource-info", "{\"Deployment"),
            ]),
            Some("not-read"),
        ),
        (
            secret(&[
                ("operation-type", "SLEEP"),
                (
                    "original-resource-info",
                    r#"{"Deployment.apps":{"web":"{\"spec\":{\"replicas\":-3}}"}}"#,
                ),
            ]),
            Some("not-read"),
        ),
        (secret(&[("operation-type", "SLEEP")]), None),
    ] {
        let conversion = convert(&format!("{SLEEP_INFO}{WEB}{secret}"));
        assert_eq!(labels(&conversion), [], "{secret}");
        let mut ids = vec!["delete-after"];
        ids.extend(said_too);
        assert_eq!(rule_ids(&conversion), ids, "{secret}");
        let after = &conversion.findings[0];
        assert_starts_with!(after.help, "while everything is awake");
    }
}
