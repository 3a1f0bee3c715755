//! Files are edited by position, so that everything else stays verbatim.

use super::converted::{convert, rule_ids};

/// The text after a conversion.
fn after(text: &str) -> String {
    let conversion = convert(text);
    assert!(
        !rule_ids(&conversion).contains(&"not-editable"),
        "{text}: {conversion:?}"
    );
    conversion.texts[0]
        .clone()
        .unwrap_or_else(|| text.to_owned())
}

/// A Deployment with these lines as its metadata.
fn deployment(metadata: &str) -> String {
    format!("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n{metadata}spec: {{}} # the end\n")
}

#[test]
fn keeps_comments_order_and_quotes() {
    for (before, expected) in [
        // Each style of quotes, and a comment at the end of the line.
        (
            "  annotations:\n    a: 1  # one\n    # why\n    downscaler/uptime: \"Mon-Fri 08:00-20:00 UTC\"  # hours\n    b: 2\n  name: web\n",
            "  annotations:\n    a: 1  # one\n    # why\n    dayshift/hours: \"Mon-Fri 08:00-20:00\"\n    dayshift/timezone: \"UTC\"  # hours\n    b: 2\n  name: web\n",
        ),
        (
            "  name: web\n  annotations:\n    downscaler/uptime: 'Mon-Fri 08:00-20:00 UTC'\n",
            "  name: web\n  annotations:\n    dayshift/hours: 'Mon-Fri 08:00-20:00'\n    dayshift/timezone: 'UTC'\n",
        ),
        (
            "  name: web\n  annotations:\n      downscaler/uptime: Mon-Sun 08:00-20:00 UTC\n",
            "  name: web\n  annotations:\n      dayshift/hours: \"08:00-20:00\"\n      dayshift/timezone: UTC\n",
        ),
        // A folded text, and one that is quoted over several lines.
        (
            "  name: web\n  annotations:\n    downscaler/uptime: >-\n      Mon-Fri 08:00-20:00\n      UTC\n    z: 1\n",
            "  name: web\n  annotations:\n    dayshift/hours: \"Mon-Fri 08:00-20:00\"\n    dayshift/timezone: \"UTC\"\n    z: 1\n",
        ),
        (
            "  name: web\n  annotations:\n    downscaler/uptime: \"Mon-Fri\n      08:00-20:00 UTC\"\n",
            "  name: web\n  annotations:\n    dayshift/hours: \"Mon-Fri 08:00-20:00\"\n    dayshift/timezone: \"UTC\"\n",
        ),
        // A value that is not text.
        (
            "  name: web\n  annotations:\n    downscaler/exclude: true\n    downscaler/downtime-replicas: 1\n",
            "  name: web\n  annotations:\n    dayshift/exclude: \"true\"\n    dayshift/stop-replicas: \"1\"\n",
        ),
        // Flow maps.
        (
            "  name: web\n  annotations: {a: b, downscaler/exclude: 'true', c: d}\n",
            "  name: web\n  annotations: {a: b, dayshift/exclude: 'true', c: d}\n",
        ),
        (
            "  name: web\n  annotations: {a: b, downscaler/exclude-until: 2019-01-01, c: d}\n",
            "  name: web\n  annotations: {a: b, c: d}\n",
        ),
        (
            "  name: web\n  annotations: {a: b, downscaler/exclude-until: 2019-01-01}\n",
            "  name: web\n  annotations: {a: b}\n",
        ),
        // The saved count becomes a label, wherever the labels are.
        (
            "  name: web # its name\n  annotations:\n    downscaler/original-replicas: \"3\"\n",
            "  name: web # its name\n  labels:\n    dayshift/saved-replicas: \"3\"\n",
        ),
        (
            "  name: web\n  labels:\n    # ours\n    app: web\n  annotations:\n    # kept\n    downscaler/original-replicas: \"3\"\n",
            "  name: web\n  labels:\n    # ours\n    dayshift/saved-replicas: \"3\"\n    app: web\n  annotations: {}\n    # kept\n",
        ),
        (
            "  labels: {}\n  name: web\n  annotations:\n    downscaler/original-replicas: \"3\"  # last\n    a: b\n",
            "  labels:\n    dayshift/saved-replicas: \"3\"\n  name: web\n  annotations:\n    # last\n    a: b\n",
        ),
        (
            "  name: web\n  annotations: {downscaler/original-replicas: '3'}\n",
            "  name: web\n  labels:\n    dayshift/saved-replicas: \"3\"\n",
        ),
        // If a key occurs twice, the last one applies, and both are removed.
        (
            "  name: web\n  annotations:\n    downscaler/exclude: 'false'\n    downscaler/exclude: 'true'\n",
            "  name: web\n  annotations:\n    dayshift/exclude: 'true'\n",
        ),
    ] {
        let (before, expected) = (deployment(before), deployment(expected));
        assert_eq!(after(&before), expected, "{before}");
        // Line endings of Windows are kept.
        let (before, expected) = (before.replace('\n', "\r\n"), expected.replace('\n', "\r\n"));
        assert_eq!(after(&before), expected, "{before:?}");
    }
}

#[test]
fn keeps_json() {
    let object = r#"{
	"apiVersion": "apps/v1",
	"kind": "Deployment",
	"metadata": {
		"name": "web",
		"annotations": {
			"downscaler/uptime": "Mon-Fri 08:00-20:00 UTC",
			"downscaler/original-replicas": "2"
		}
	}
}
"#;
    let expected = r#"{
	"apiVersion": "apps/v1",
	"kind": "Deployment",
	"metadata": {
		"name": "web",
		"labels": {
			"dayshift/saved-replicas": "2"
		},
		"annotations": {
			"dayshift/hours": "Mon-Fri 08:00-20:00",
			"dayshift/timezone": "UTC"
		}
	}
}
"#;
    assert_eq!(after(object), expected);
    let flat: String = object.split_whitespace().collect::<Vec<_>>().join(" ");
    let list =
        format!("{{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [{flat}, {flat}]}}");
    let converted: serde_json::Value = serde_json::from_str(&after(&list)).unwrap();
    for item in converted["items"].as_array().unwrap() {
        assert_eq!(item["metadata"]["labels"]["dayshift/saved-replicas"], "2");
        let annotations = item["metadata"]["annotations"].as_object().unwrap();
        assert_eq!(annotations.len(), 2);
    }
}

/// kubectl flattens nested lists too.
#[test]
fn finds_objects_in_nested_lists() {
    let object = "- metadata:\n      name: NAME\n      annotations:\n        downscaler/uptime: Mon-Fri 08:00-20:00 UTC\n";
    let list = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: apps/v1\n  kind: DeploymentList\n  items:\n  ";
    let text = format!(
        "{list}{}  {}",
        object.replace("NAME", "a"),
        object.replace("NAME", "b")
    );
    let expected = text.replace(
        "downscaler/uptime: Mon-Fri 08:00-20:00 UTC",
        "dayshift/hours: Mon-Fri 08:00-20:00\n        dayshift/timezone: UTC",
    );
    assert_eq!(after(&text), expected);
}

#[test]
fn replaces_the_last_annotation_by_a_label() {
    let object = r#"{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "annotations": {"downscaler/original-replicas": "2"}}}"#;
    let expected = r#"{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "labels": {"dayshift/saved-replicas": "2"}}}"#;
    assert_eq!(after(object), expected);
}

#[test]
fn adds_annotations_to_objects_without_any() {
    let info = "apiVersion: kube-green.com/v1alpha1\nkind: SleepInfo\nmetadata: {name: a, namespace: team}\nspec: {weekdays: '1-5', sleepAt: '20:00', suspendCronJobs: true}\n---\n";
    for (namespace, expected) in [
        (
            "metadata:\n  name: team\n",
            "metadata:\n  name: team\n  annotations:\n    dayshift/stop: \"Mon-Fri 20:00\"\n    dayshift/timezone: \"UTC\"\n",
        ),
        (
            "metadata:\n  name: team  # ours\n",
            "metadata:\n  name: team  # ours\n  annotations:\n    dayshift/stop: \"Mon-Fri 20:00\"\n    dayshift/timezone: \"UTC\"\n",
        ),
        (
            "metadata:\n  name: \"team\"\n  labels: {a: b}\n",
            "metadata:\n  name: \"team\"\n  annotations:\n    dayshift/stop: \"Mon-Fri 20:00\"\n    dayshift/timezone: \"UTC\"\n  labels: {a: b}\n",
        ),
        (
            "metadata: {name: team}\n",
            "metadata: {name: team, annotations: {dayshift/stop: Mon-Fri 20:00, dayshift/timezone: UTC}}\n",
        ),
        (
            "metadata:\n  annotations:\n    a: b\n  name: team\n",
            "metadata:\n  annotations:\n    dayshift/stop: Mon-Fri 20:00\n    dayshift/timezone: UTC\n    a: b\n  name: team\n",
        ),
        (
            "metadata:\n  annotations:\n  name: team\n",
            "metadata:\n  annotations:\n    dayshift/stop: \"Mon-Fri 20:00\"\n    dayshift/timezone: \"UTC\"\n  name: team\n",
        ),
    ] {
        let head = format!("{info}apiVersion: v1\nkind: Namespace\n");
        let converted = after(&format!("{head}{namespace}"));
        let expected = format!("{head}{expected}")
            .replace("\"Mon-Fri 20:00\"", "\u{1}")
            .replace("Mon-Fri 20:00", "\u{1}");
        let converted = converted
            .replace("\"Mon-Fri 20:00\"", "\u{1}")
            .replace("Mon-Fri 20:00", "\u{1}");
        assert_eq!(
            converted.replace("\"UTC\"", "UTC"),
            expected.replace("\"UTC\"", "UTC"),
            "{namespace}"
        );
    }
}

#[test]
fn changes_nothing_in_a_second_conversion() {
    let text = deployment(
        "  name: web\n  annotations:\n    downscaler/uptime: Mon-Fri 08:00-20:00 UTC\n    downscaler/downtime-replicas: 1\n    downscaler/force-uptime: 'false'\n",
    );
    let once = after(&text);
    let twice = convert(&once);
    assert_eq!(
        (twice.texts, twice.changes, twice.findings),
        (vec![None], vec![], vec![])
    );
}

#[test]
fn unchangeable_yaml_is_reported_with_the_text_to_write() {
    let anchor = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata:\n    name: a\n    annotations: &all\n      downscaler/exclude: 'true'\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata:\n    name: b\n    annotations: *all\n";
    let merge = deployment("  name: web\n  annotations:\n    <<: {downscaler/exclude: 'true'}\n");
    let value =
        deployment("  name: web\n  annotations:\n    a: &x 'true'\n    downscaler/exclude: *x\n");
    let anchored =
        deployment("  name: web\n  annotations:\n    downscaler/exclude: &x 'true'\n    a: *x\n");
    let complex =
        deployment("  name: web\n  annotations:\n    ? downscaler/exclude\n    : 'true'\n");
    for text in [anchor, &merge, &value, &anchored, &complex] {
        let conversion = convert(text);
        let is_said =
            |it: &&dayshift_manifest::convert::ConversionFinding| it.rule.id() == "not-editable";
        let finding = conversion.findings.iter().find(is_said);
        let finding = finding.unwrap_or_else(|| panic!("{text}\n{conversion:?}"));
        assert_contains!(finding.help, "dayshift/exclude: \"true\"");
        assert_eq!(conversion.texts, [None], "{text}");
    }
}
