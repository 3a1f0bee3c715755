//! The chart's page lists each of its values, and its alerts use metrics that exist.

use std::collections::BTreeSet;

const VALUES: &str = include_str!("../../../charts/dayshift/values.yaml");
const SCHEMA: &str = include_str!("../../../charts/dayshift/values.schema.json");
const PAGE: &str = include_str!("../../../charts/dayshift/README.md");
const CHART: &str = include_str!("../../../charts/dayshift/Chart.yaml");
const ALERTS: &str = include_str!("../../../charts/dayshift/files/alerts.yaml");
/// The input of promtool, which `.ci/nightly monitoring` runs.
const TRIED: &str = include_str!("../../cluster/e2e/monitoring/alerts.yaml");
const DASHBOARD: &str = include_str!("../../../charts/dayshift/files/dashboard.json");
const METRICS: &str = include_str!("../../../docs/reference/metrics.md");

/// Kubernetes defines the values below these.
const OF_KUBERNETES: [&str; 6] = [
    "podSecurityContext",
    "securityContext",
    "resources",
    "nodeSelector",
    "livenessProbe",
    "readinessProbe",
];

/// The paths of the values, at most two levels deep, as they are written.
fn values() -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    let mut top = "";
    for line in VALUES.lines() {
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        let is_parent = value.is_empty() && !OF_KUBERNETES.contains(&key);
        if key.trim_start().starts_with(['#', '-']) {
            continue;
        } else if !key.starts_with(' ') {
            top = key;
            if !is_parent {
                paths.insert(key.to_owned());
            }
        } else if key.trim_start().len() + 2 == key.len() && !OF_KUBERNETES.contains(&top) {
            paths.insert(format!("{top}.{}", key.trim_start()));
        }
    }
    paths
}

#[test]
fn each_value_is_on_the_page() {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `"));
    let documented: Vec<_> = rows.map(|row| row.split('`').next().unwrap()).collect();
    let listed: BTreeSet<_> = documented.iter().map(|&it| it.to_owned()).collect();
    assert_eq!(documented.len(), listed.len(), "twice");
    assert_eq!(listed, values());
}

#[test]
fn each_value_is_in_the_schema_and_no_other() {
    let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
    let mut allowed = BTreeSet::new();
    for (name, value) in schema["properties"].as_object().unwrap() {
        match value["properties"].as_object() {
            Some(members) => allowed.extend(members.keys().map(|it| format!("{name}.{it}"))),
            None => drop(allowed.insert(name.clone())),
        }
    }
    // Helm adds these to each chart.
    assert!(allowed.remove("global"));
    assert_eq!(allowed, values());
}

#[test]
fn the_chart_has_the_version_of_the_package() {
    for key in ["version", "appVersion"] {
        let line = format!("\n{key}: {}\n", env!("CARGO_PKG_VERSION"));
        assert_contains!(CHART, line);
    }
}

/// The metrics in lines of PromQL, each of which is on the page.
fn metrics_asked<'t>(lines: impl Iterator<Item = &'t str>) -> BTreeSet<&'t str> {
    let letter = |it: char| it.is_ascii_lowercase() || it == '_';
    let words = lines.flat_map(|line| line.split(move |it| !letter(it)));
    let asked: BTreeSet<_> = words
        .filter(|word| word.starts_with("dayshift_") || word.starts_with("process_"))
        .collect();
    for name in &asked {
        let name = name.strip_suffix("_bucket").unwrap_or(name);
        assert!(METRICS.contains(&format!("| `{name}` |")), "{name}");
    }
    asked
}

#[test]
fn alerts_use_existing_metrics() {
    let asked = metrics_asked(ALERTS.lines().filter(|line| line.contains(" expr: ")));
    assert!(asked.len() > 6, "{asked:?}");
}

#[test]
fn the_dashboard_uses_existing_metrics() {
    let dashboard: serde_json::Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let mut ids = BTreeSet::new();
    for panel in panels {
        let title = panel["title"].as_str().unwrap();
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "{title}");
        let targets = panel["targets"].as_array().unwrap();
        let asked = metrics_asked(targets.iter().map(|it| it["expr"].as_str().unwrap()));
        assert!(!asked.is_empty(), "{title}");
        assert_eq!(panel["datasource"]["uid"], "${datasource}", "{title}");
    }
    assert!(panels.len() > 9);
}

#[test]
fn each_alert_is_tested_firing_and_not_firing() {
    let alerts = ALERTS
        .lines()
        .filter_map(|line| line.split_once("- alert: "));
    let alerts: BTreeSet<_> = alerts.map(|(_, name)| name).collect();
    let lines: Vec<_> = TRIED.lines().map(str::trim).collect();
    let tried = |is_quiet: bool| -> BTreeSet<_> {
        let pairs = lines.windows(2);
        let pairs = pairs.filter(|it| (it[1] == "exp_alerts: []") == is_quiet);
        let names = pairs.filter_map(|it| it[0].strip_prefix("alertname: "));
        names.collect()
    };
    assert!(alerts.len() > 6, "{alerts:?}");
    assert_eq!((tried(true), tried(false)), (alerts.clone(), alerts));
}
