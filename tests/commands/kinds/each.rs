//! Workloads of each kind in the commands that read files.

use crate::program::dayshift_with;

const EVERY_KIND: &str = r#"
apiVersion: batch/v1
kind: CronJob
metadata:
  name: report
  annotations:
    dayshift/hours: "Mon-Fri 09:00-19:00"
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: web
  annotations:
    dayshift/hours: "Mon-Fri 09:00-19:00"
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 3
  maxReplicas: 5
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: queue
  annotations:
    dayshift/hours: "Mon-Fri 09:00-19:00"
    dayshift/stop-replicas: "2"
---
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata:
  name: shop
  annotations:
    dayshift/hours: "Mon-Fri 09:00-19:00"
spec:
  replicas: 3
"#;

const KINDS: &str = "deployments,statefulsets,cronjobs,hpa,so,rollouts.argoproj.io";

/// The exit status, and the lines of both outputs with single spaces.
fn dayshift(args: &[&str], input: &str) -> (i32, Vec<String>, Vec<String>) {
    let ended = dayshift_with(&[], args, input);
    let lines = |text: &str| {
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        text.lines().map(words).collect::<Vec<_>>()
    };
    (ended.status, lines(&ended.out), lines(&ended.err))
}

#[test]
fn a_plan_shows_each_kind_with_the_unit_of_its_count() {
    let monday = ["--from", "2026-11-23", "--days", "1", "--kinds", KINDS];
    let args = [&["plan", "-f", "-", "-o", "table"], &monday[..]].concat();
    let (status, table, output) = dayshift(&args, EVERY_KIND);
    assert_eq!((status, output.is_empty()), (0, true), "{output:?}");
    let expected = [
        "NAMESPACE NAME TIME ACTION REPLICAS",
        "default cj/report Mon 2026-11-23 09:00 UTC start active",
        "default cj/report Mon 2026-11-23 19:00 UTC stop suspended",
        "default hpa/web Mon 2026-11-23 09:00 UTC start <saved>",
        "default hpa/web Mon 2026-11-23 19:00 UTC stop min 1",
        "default so/queue Mon 2026-11-23 09:00 UTC start active",
        "default so/queue Mon 2026-11-23 19:00 UTC stop paused",
        "default rollouts.argoproj.io/shop Mon 2026-11-23 09:00 UTC start <saved>",
        "default rollouts.argoproj.io/shop Mon 2026-11-23 19:00 UTC stop 0",
    ];
    assert_eq!(table, expected);

    let args = [&["plan", "-f", "-", "-o", "chart"], &monday[..]].concat();
    let chart = dayshift(&args, EVERY_KIND).1;
    for line in [
        "default/cj/report",
        "10 of 24 hours running, 14 suspended (58%).",
        "A start lets it run, a stop suspends it.",
        "default/hpa/web",
        "10 of 24 hours running, 14 at minReplicas 1 (58%).",
        "A start lets it scale, a stop pauses it.",
    ] {
        assert!(chart.iter().any(|it| it == line), "{line}: {chart:#?}");
    }
}

#[test]
fn lint_recommends_the_flag_and_permissions_of_a_kind() {
    let (status, output, _) = dayshift(&["lint", "-"], EVERY_KIND);
    assert_eq!(status, 0, "an info is no problem: {output:#?}");
    let helps: Vec<_> = output
        .iter()
        .filter(|line| line.contains("= help: run dayshift"))
        .collect();
    let run = "= help: run dayshift, and lint, with --kinds=deployments,statefulsets,cronjobs";
    let apply = "kubectl apply -f manifests/kinds";
    assert_eq!(
        helps,
        [
            &format!(
                "{run},horizontalpodautoscalers; {apply}/horizontalpodautoscalers.yaml gives it the permissions"
            ),
            &format!("{run},scaledobjects; {apply}/scaledobjects.yaml gives it the permissions"),
            &format!(
                "{run},rollouts.argoproj.io; dayshift kinds -o yaml --kinds=deployments,statefulsets,cronjobs,rollouts.argoproj.io prints the permissions"
            ),
        ]
    );
    let (status, output, _) = dayshift(&["lint", "--kinds", KINDS, "-"], EVERY_KIND);
    assert_eq!(status, 0);
    assert!(
        !output.iter().any(|line| line.contains("opt-in-kind")),
        "{output:#?}"
    );
}

#[test]
fn lint_rejects_a_count_on_a_cron_job() {
    let with_count = EVERY_KIND.replacen(
        "annotations:\n",
        "annotations:\n    dayshift/replicas: \"3\"\n",
        1,
    );
    let (status, output, _) = dayshift(&["lint", "-"], &with_count);
    assert_eq!(status, 1);
    assert_starts_with!(
        output[0],
        "error[bad-count]: `3` has no meaning on a CronJob"
    );
    let help = output.iter().find(|line| line.starts_with("= help"));
    assert_eq!(help.unwrap(), "= help: remove the annotation");
}

#[test]
fn the_sandbox_simulates_every_kind() {
    let args = ["sandbox", "--from", "2026-11-23", "--for", "2d", "-"];
    for kinds in [
        &["--kinds", KINDS][..],
        &["--kinds", "deployments,rollouts.argoproj.io"],
    ] {
        let (status, stdout, stderr) = dayshift(&[&args[..], kinds].concat(), EVERY_KIND);
        assert_eq!(status, 0, "{stderr:?}");
        let of = |name: &str| {
            let lines = stdout.iter().filter(|line| line.contains(name));
            let lines = lines
                .filter_map(|line| line.split_once(" UTC "))
                .map(|it| it.1);
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(
            of("default/cj/report"),
            [
                "adopt default/cj/report active adopted, nothing scaled; next start 09:00",
                "start default/cj/report active no change; next stop 19:00",
                "stop default/cj/report suspended next start Tue 09:00",
                "start default/cj/report active next stop 19:00",
                "stop default/cj/report suspended next start Wed 09:00",
            ]
        );
        for (name, last) in [
            ("hpa/web", "3 -> 1"),
            ("so/queue", "paused"),
            ("rollouts.argoproj.io/shop", "3 -> 0"),
        ] {
            let reported = of(&format!("default/{name}"));
            let expected = format!("stop default/{name} {last} next start Wed 09:00");
            assert_eq!(reported.last(), Some(&expected), "{reported:#?}");
        }
        let made_up = "note: default/cj/report has no spec.jobTemplate, which a cluster requires; the sandbox adds it";
        assert_eq!(stderr, [made_up]);
    }
}
