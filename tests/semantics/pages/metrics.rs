//! `docs/reference/metrics.md` lists each metric with its type, labels and help, as a scrape has
//! them.

use std::{collections::BTreeMap, future::pending, sync::Arc, time::Duration};

use dayshift_cluster::clock::Clock;
use dayshift_controller::{Settings, Telemetry, run};
use dayshift_schedule::CalendarName;
use kube_in_memory::Api;
use serde_json::json;
use tokio::time::timeout;

const PAGE: &str = include_str!("../../../docs/reference/metrics.md");

const SOURCE: &str = include_str!("../../../crates/controller/src/telemetry/metrics.rs");

/// A metric on the page: its type, labels and help.
type MetricRow = (String, Vec<String>, String);

/// The suffixes of a histogram's samples in Prometheus, and the label of its buckets.
const OF_HISTOGRAMS: [&str; 3] = ["_bucket", "_count", "_sum"];

fn documented() -> BTreeMap<String, MetricRow> {
    let rows = PAGE.lines().filter(|line| line.starts_with("| `"));
    let metric = |row: &str| {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let [_, name, kind, labels, meaning, ask, _] = cells[..] else {
            panic!("not five columns: {row}");
        };
        let name = name.trim_matches('`').to_owned();
        assert!(
            ask.contains(&name),
            "{name}: the example queries another metric"
        );
        let labels = labels.split(", ").filter(|it| !it.is_empty());
        let labels = labels.map(|it| it.trim_matches('`').to_owned()).collect();
        (name, (kind.to_owned(), labels, meaning.to_owned()))
    };
    rows.map(metric).collect()
}

/// The metrics in a scrape, by the names of their samples.
fn scraped(text: &str) -> BTreeMap<String, MetricRow> {
    let after = |prefix: &str| -> BTreeMap<&str, &str> {
        let lines = text.lines().filter_map(|line| line.strip_prefix(prefix));
        lines.map(|line| line.split_once(' ').unwrap()).collect()
    };
    let (types, helps) = (after("# TYPE "), after("# HELP "));
    let samples: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let metric = |(family, kind): (&&str, &&str)| {
        let name = match *kind {
            "counter" => format!("{family}_total"),
            "info" => format!("{family}_info"),
            _ => (*family).to_owned(),
        };
        let labels = samples.iter().find_map(|sample| {
            let rest = sample.strip_prefix(&name)?;
            let rest = OF_HISTOGRAMS
                .iter()
                .find_map(|suffix| rest.strip_prefix(suffix))
                .unwrap_or(rest);
            let (labels, _) = rest.strip_prefix('{')?.split_once('}')?;
            let names = labels.split(',').map(|it| it.split('=').next().unwrap());
            let names = names.filter(|it| !["", "le"].contains(it));
            Some(names.map(str::to_owned).collect())
        });
        let meaning = helps[family].to_owned();
        (
            name,
            ((*kind).to_owned(), labels.unwrap_or_default(), meaning),
        )
    };
    types.iter().map(metric).collect()
}

#[tokio::test(start_paused = true)]
async fn each_metric_is_on_the_page_as_it_is_scraped() {
    let clock = Clock::simulated("2026-11-20T10:00:00Z".parse().unwrap());
    let api = Api::new({
        let clock = clock.clone();
        move || clock.now()
    });
    api.namespace("lab");
    let mut web = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "namespace": "lab", "name": "web", "annotations": {"dayshift/stop": "2 0 10 * * *"},
        },
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "web"}]},
            },
        },
    });
    api.create(web.clone()).unwrap();
    web["metadata"]["name"] = "held".into();
    web["metadata"]["annotations"]["dayshift/pause"] = "true".into();
    web["metadata"]["annotations"]["dayshift/override-by"] = "jane".into();
    api.create(web).unwrap();
    let reported = Arc::new(Telemetry::new(clock.now()));
    let settings = Settings {
        per_namespace_metrics: true,
        per_workload_metrics: true,
        per_user_metrics: true,
        ..Settings::default()
    };
    let controller = run(api.client(), clock, settings, reported.clone(), pending());
    let ended = timeout(Duration::from_secs(5), controller).await;
    assert!(ended.is_err(), "the controller ended");
    let name = CalendarName::parse("de").unwrap();
    reported.set_schedules_valid(true);
    reported.set_calendar_end(&name, Some(chrono::NaiveDate::default()));
    reported.set_calendar_valid(&name, true);
    assert_eq!(documented(), scraped(&reported.render()));
}

/// A metric without a sample is not in a scrape, so the test above cannot find it.
#[test]
fn each_metric_that_is_registered_is_on_the_page() {
    let documented = documented();
    let calls = SOURCE.split("ours.").skip(1).filter_map(|call| {
        let (_, arguments) = call.split_once('(')?;
        let (_, name) = arguments.split(')').next()?.split_once('"')?;
        Some(name.split_once('"')?.0)
    });
    let names: Vec<_> = calls.collect();
    assert!(names.len() > 12, "{names:?}");
    for name in names {
        let is_it = |shown: &String| shown.starts_with(&format!("dayshift_{name}"));
        assert!(documented.keys().any(is_it), "{name}");
    }
}
