//! The default schedule of a scaler, as every command but `run` is told it: by the same flags.

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

fn label(cluster: &Cluster, name: &str, labels: &[(&str, &str)]) {
    for (label, text) in labels {
        let label = format!("dayshift/{label}");
        cluster.api.label("dev", name, &label, Some(text)).unwrap();
    }
}

#[test]
fn status_and_plan_say_what_goes_by_the_default_of_the_scaler() {
    let cluster = evening();
    cluster.api.namespace("kube-system");
    let zone = Some("Europe/Berlin");
    let annotate = |key, text| cluster.api.annotate_of("Namespace", "", "dev", key, text);
    annotate("dayshift/timezone", zone).unwrap();
    cluster.deployment("own", 1, &[("hours", "09:00-17:00")]);
    cluster.deployment("plain", 1, &[]);
    cluster.deployment("out", 1, &[("exclude", "true")]);
    // A plan is not of the server's time, but of its own.
    let plan = ["plan", "--from=2026-11-20 20:00"];
    for (command, own) in [(&["status"][..], "\"object\""), (&plan[..], "null")] {
        let dayshift = |args: &[&str]| cluster.dayshift(&[command, args].concat());
        let ran = dayshift(&["-A", "-o", "json", HOURS]);
        let expected = [format!("\"own\" {own}"), "\"plain\" \"scaler\"".to_owned()];
        assert_eq!(rows(&ran), expected, "{command:?}");
        assert!(ran.out.contains("2026-11-23T08:00:00+01:00"), "{ran:?}");
        // The Namespace's own schedule comes first, where it counts.
        annotate("dayshift/hours", Some("10:00-11:00")).unwrap();
        let ran = dayshift(&["-o", "json", HOURS]);
        assert_eq!(rows(&ran)[1], "\"plain\" \"namespace\"", "{command:?}");
        let ran = dayshift(&["-o", "json", HOURS, "--namespace-defaults=false"]);
        assert_eq!(rows(&ran)[1], "\"plain\" \"scaler\"", "{command:?}");
        annotate("dayshift/hours", None).unwrap();
    }
    let wide = cluster.dayshift(&["status", "-o", "wide", HOURS]).out;
    assert_eq!(wide.matches(" scaler\n").count(), 1, "{wide}");
    let chart = cluster.dayshift(&["plan", "-o", "chart", HOURS]).out;
    let says = "The schedule is the default of the scaler.";
    assert_eq!(chart.matches(says).count(), 1, "{chart}");
}

/// The flag of a running scaler is not to be seen, but what it writes is.
#[test]
fn without_the_flag_status_tells_from_the_labels() {
    let cluster = evening();
    cluster.deployment("web", 0, &[]);
    let stopped = [
        ("state", "stopped"),
        ("last", "2026-11-20T18.00.00Z"),
        ("next", "2026-11-23T07.00.00Z"),
        ("saved-replicas", "3"),
    ];
    label(&cluster, "web", &stopped);
    let ran = cluster.dayshift(&["status", "-o", "json"]);
    assert_eq!(rows(&ran), ["\"web\" \"scaler\""]);
    let ran = cluster.dayshift(&["status"]);
    let note = "note: dev/web: scheduled by the default of the scaler, as its labels say";
    assert!(ran.out.contains(note), "{ran:?}");
    assert_eq!(ran.status, 0);
    // With it, it is as any other.
    let ran = cluster.dayshift(&["status", HOURS, "--timezone=Europe/Berlin"]);
    assert!(ran.out.contains("start Mon 08:00 CET"), "{ran:?}");
    assert!(!ran.out.contains("note:"), "{ran:?}");
}

#[test]
fn one_workload_is_woken_with_the_flag_of_the_scaler() {
    let cluster = evening();
    cluster.deployment("web", 0, &[]);
    let wake = ["wake", "web", "--no-wait", "--until", "2099-12-24 18:00"];
    let ran = cluster.dayshift(&wake);
    assert_eq!(ran.status, 1, "{ran:?}");
    let advice = "--default-hours";
    assert!(ran.err.contains(advice), "{ran:?}");
    let zone = "--timezone=Europe/Berlin";
    let ran = cluster.dayshift(&[&wake[..], &[HOURS, zone]].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    let until = cluster.annotation("web", "wake-until");
    assert_eq!(until.as_deref(), Some("2099-12-24T18:00:00+01:00"));
}

#[test]
fn a_default_schedule_is_checked_wherever_it_is_given() {
    let cluster = evening();
    for command in ["status", "plan", "lint -", "wake web --for=1h", "sandbox"] {
        let words: Vec<_> = command.split(' ').chain(["--default-hours=9-5"]).collect();
        let ran = cluster.dayshift(&words);
        assert_eq!(ran.status, 2, "{command}: {ran:?}");
        let said = "--default-hours: `9`";
        assert!(ran.err.contains(said), "{command}: {ran:?}");
    }
}

#[test]
fn files_are_read_with_the_default_of_the_scaler() {
    let cluster = evening();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("web.yaml");
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
    // A count that waits for a schedule has one, and nobody meant the autoscaler.
    let ran = cluster.dayshift(&["lint", file]);
    assert!(ran.out.contains("no-effect"), "{ran:?}");
    let ran = cluster.dayshift(&["lint", file, HOURS]);
    assert_eq!(
        (ran.status, ran.out.contains("no-effect")),
        (0, false),
        "{ran:?}"
    );
    // What is tried in the sandbox is what runs.
    let ran = cluster.dayshift(&[
        "sandbox",
        file,
        "--from=2026-11-20 18:00",
        "--for=2h",
        HOURS,
    ]);
    assert!(ran.out.contains("default/web"), "{ran:?}");
    assert!(ran.out.contains("19:00"), "{ran:?}");
}
