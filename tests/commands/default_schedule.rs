//! The default schedule of the controller, with the same flags in commands that read files.

use crate::{fake_server::Cluster, program::Ended};

const HOURS: &str = "--default-hours=Mon-Fri 08:00-19:00";

/// Friday, 20:00 in Berlin.
fn evening() -> Cluster {
    let now = "2026-11-20T19:00:00Z".parse().unwrap();
    Cluster::at(move || now)
}

fn rows(ran: &Ended) -> Vec<String> {
    let document = ran.json();
    let rows = document["workloads"].as_array().unwrap().iter();
    let mut rows: Vec<_> = rows
        .map(|it| format!("{} {}", it["name"], it["from"]))
        .collect();
    rows.sort();
    rows
}

#[test]
fn each_command_validates_a_default_schedule() {
    let cluster = evening();
    for command in ["plan", "lint -", "sandbox"] {
        let words: Vec<_> = command.split(' ').chain(["--default-hours=9-5"]).collect();
        let ran = cluster.dayshift(&words);
        assert_eq!(ran.status, 2, "{command}: {ran:?}");
        let output = "'--default-hours <HOURS>': `9`";
        assert!(ran.err.contains(output), "{command}: {ran:?}");
    }
}

#[test]
fn files_inherit_the_default_schedule() {
    let cluster = evening();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("web.yaml");
    let head = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n";
    let hpa = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata:\n  name: h\n";
    let documents = [
        format!("{head}  name: web\n  annotations:\n    dayshift/replicas: \"2\"\n"),
        format!("{head}  name: dns\n  namespace: kube-system\n"),
        format!(
            "{hpa}spec:\n  scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: x}}\n"
        ),
    ];
    std::fs::write(&file, documents.join("---\n")).unwrap();
    let file = file.to_str().unwrap();
    let plan = |more: &[&str]| {
        let from = ["plan", "-f", file, "-o", "json", "--from=2026-11-20"];
        cluster.dayshift(&[&from[..], more].concat())
    };
    assert_eq!(rows(&plan(&[])), [] as [&str; 0]);
    assert_eq!(rows(&plan(&[HOURS])), ["\"web\" \"scaler\""]);
    let with_hpas = ["--kinds=deployments,horizontalpodautoscalers", HOURS];
    assert_eq!(
        rows(&plan(&with_hpas)),
        ["\"h\" \"scaler\"", "\"web\" \"scaler\""]
    );
    // A count without a schedule makes a workload inherit one. The default does not apply to the autoscaler.
    let ran = cluster.dayshift(&["lint", file]);
    ran.assert_out("no-effect");
    let ran = cluster.dayshift(&["lint", file, HOURS]);
    assert_eq!(
        (ran.status, ran.out.contains("no-effect")),
        (0, false),
        "{ran:?}"
    );
    // The sandbox behaves as the controller does.
    let ran = cluster.dayshift(&[
        "sandbox",
        file,
        "--from=2026-11-20 18:00",
        "--for=2h",
        HOURS,
    ]);
    ran.assert_out("default/web");
    ran.assert_out("19:00");
}
