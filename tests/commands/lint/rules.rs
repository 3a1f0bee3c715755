//! Each rule and the position of its finding.

use super::program::{found, web};
use crate::program::dayshift_with;

const HOURS: &str = "dayshift/hours: \"Mon-Fri 09:00-19:00\"";

/// Annotations of a Deployment, and the rules that they violate with the line and column of each finding. The
/// first annotation is on line 6.
const ANNOTATIONS: &str = "
HOURS => none
HOURS | strat: x => unknown-annotation 7:5
HOURS | replicas: 2 => not-text 7:24
HOURS | HOURS => duplicate-annotation 7:22
HOURS | stop: '19:00' => hours-beside-times 6:22
start: Mon-Fry 09:00 | stop: '25:00' => bad-times 6:25, bad-times 7:21
hours: 9-17 => bad-hours 6:21
scale: Mon 08:00 = five => bad-scale 6:33
scale: Mon 08:00 = 5 | replicas: '3' => scale-beside-others 6:21
HOURS | timezone: Asia/Tokio => bad-timezone 7:24
HOURS | replicas: two => bad-count 7:24
HOURS | jitter: 2h => bad-jitter 7:22
HOURS | wake-on-request: soon => bad-wake-on-request 7:31
wake-on-request: soon | hours: 9-17 => bad-wake-on-request 6:31, bad-hours 7:21
HOURS | except: Christmas => bad-except 7:22
HOURS | treat-as: '2026-12-24 = Sun; 2026-12-24 = Mon' => bad-treat-as 7:43
HOURS | treat-as: 'calendar:makeup = Fri' => bad-treat-as 7:34
HOURS | treat-as: '2026-05-09 = Mon' => past-date 7:25
# Monday counts as Tuesday, and the date in two years is too far away.
HOURS | treat-as: '2026-12-14 = Tue' => unchanged-dates 7:25
# The number of boundaries on these days does not matter.
scale: '* 9 * * Mon-Fri = 2; 0 19 * * * = 0' | treat-as: '2026-12-14 = Tue' => too-often 6:22, unchanged-dates 7:25
HOURS | treat-as: '2028-12-15 = Tue' => none
HOURS | treat-as: '2026-12-12 = Tue' => none
treat-as: '2026-12-12 = Tue' => no-effect 6:25
HOURS | extra: '2026-12-05 09:00; 2026-12-06 09:00-18:00' => bad-extra 7:33
stop-after: '31d' => bad-stop-after 6:27
stop-after: '8h since birth' => bad-stop-after 6:30
stop-after: '8h' | notice: 15m => none
start: 'Mon-Fri 09:00' | stop-after: 8h => none
scale: '08:00 = 5; 19:00 = 0' | stop-after: 8h => scale-beside-others 6:22
HOURS | extra: '2026-11-01..2026-11-08 09:00-18:00' => past-date 7:22
HOURS | extra: '2026-11-01 09:00-18:00; 2026-12-05 09:00-18:00' => past-date 7:22
scale: 'Mon-Fri 08:00 = 5; 19:00 = 0' | extra: '2026-12-05 09:00-18:00' => scale-beside-others 6:22
extra: '2026-12-05 09:00-18:00' => no-effect 6:22
HOURS | after: 'sts/db; svc/Cache, 5m' => bad-after 7:30
after: 'sts/db' => no-effect 6:22
HOURS | pause: 'yes' | enforce: maybe => bad-override 7:22, bad-override 8:23
wake-until: 2026-11-27 22:00 => bad-override 6:26
HOURS | pause: 2026-11-19 22:00 | wake-until: 2026-11-20 00:00 | sleep-until: 2026-11-20 00:01 => past-until 7:21, past-until 8:26
stop: '19:00' => stop-without-start 6:21
start: '09:00' => start-without-stop 6:22
start: '09:00' | stop: 'Fri 19:00; daily 09:00' => same-instant 7:32
start: '09:00; 02:30' | stop: '19:00' | BERLIN => clock-change-gap 6:29
hours: '02:30-19:00' | BERLIN => clock-change-gap 6:22
# An hourly boundary also happens at the end of the gap.
start: '0 * * * *' | stop: '19:30' | BERLIN => none
start: 2025-01-01 09:00 | stop: '19:00' => no-future-boundary 6:21
hours: 00:00-24:00 => no-future-boundary 6:21
# An additional window has not ended, or it has.
start: 2025-01-01 09:00 | stop: '19:00' | extra: 2099-12-05 09:00-18:00 => none
start: 2025-01-01 09:00 | stop: '19:00' | extra: 2025-12-05 09:00-18:00 => no-future-boundary 6:21, past-date 8:21
start: 09:00; 2025-01-01 08:00 | stop: '19:00' => past-date 6:28
HOURS | except: 2026-11-19 => past-date 7:22
HOURS | except: 2026-11-20 => none
BERLIN => no-effect 6:24
start: '09:00' | enforce: 'true' => start-without-stop 6:22, no-effect 7:24
HOURS | replicas: '1' | stop-replicas: '1' => stop-not-below-start 7:25
HOURS | error: x => error-annotation 7:5
HOURS | override-began: '2026-11-20T10:00:00Z' => error-annotation 7:5
dayshift.io/stop-replicas: '1' => lookalike-prefix 6:5
Dayshift/start: '09:00' => lookalike-prefix 6:5
start: '* 9 * * 1-5; 08:00' | stop: '19:00' => too-often 6:22
hours: 00:00-23:59 => one-minute 6:21
hours: 'Mon 23:59-24:00; Tue 08:00-09:00' => one-minute 6:22
start: '09:00' | stop: '09:01' => one-minute 7:21
hours: '00:00-23:58; Sun 10:00-10:02' => none
HOURS | timezone: Etc/GMT-5 => fixed-offset 7:24
HOURS | timezone: EST => fixed-offset 7:24
HOURS | timezone: EST5EDT => none
HOURS | timezone: Etc/GMT => none
HOURS | timezone: Etc/GMT-0 => none
start: '* * * * * *' | stop: '19:00' => too-often 6:22, same-instant 7:21
start: 'first Mon 09:00; 0 9 1-7 * 1' | stop: '0 19 1 * *; 0 20 1,15 * 1-5' => either-day 6:39, either-day 7:33
scale: '0 8 8-14 * Tue = 5; 20:00 = 0' => either-day 6:22
hours: 09:00-19:00; Sat 20:00-20:30 | jitter: 31m => jitter-beyond-window 7:22
hours: 09:00-19:00; Sat 20:00-20:30 | jitter: 30m => none
hours: 09:00-19:00; Sat 20:00-20:30 | notice: 31m => notice-beyond-window 7:22
hours: 09:00-19:00; Sat 20:00-20:30 | notice: 30m => none
# The second start does not shorten the window.
start: '09:00; 18:45' | stop: '19:00' | notice: 30m => none
HOURS | notice: 31m | wake-on-request: 30m; while-used => notice-beyond-window 7:22
HOURS | notice: 30m | wake-on-request: 30m; while-used => none
notice: 31m | stop-after: 30m => notice-beyond-window 6:22
downscaler/uptime: Mon-Fri 09:00-19:00 UTC | downscaler/exclude: 'true' => other-tool 6:5
hours: '{{ .Values.hours }}' => not-rendered 6:21
HOURS | timezone: ${ZONE} => not-rendered 7:24
HOURS | lint.dayshift/nope: x => bad-suppression 7:5
HOURS | lint.dayshift/same-instant: x => unused-suppression 7:5
";

#[test]
fn each_rule_finds_its_problem_at_the_right_position() {
    let annotation = |text: &str| match text.split(':').next() {
        Some("HOURS") => HOURS.to_owned(),
        Some("BERLIN") => "dayshift/timezone: Europe/Berlin".to_owned(),
        Some(key) if key.contains('/') => text.to_owned(),
        _ => format!("dayshift/{text}"),
    };
    let rows = ANNOTATIONS.trim().lines();
    let mut wrong = Vec::new();
    for row in rows.filter(|row| !row.starts_with('#')) {
        let (texts, expected) = row.split_once(" => ").unwrap();
        let texts: Vec<_> = texts.split(" | ").map(annotation).collect();
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        let found = found(&web(&texts)).join(", ");
        if found != expected.replace("none", "") {
            wrong.push(format!("{row}, but found {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_rule_about_a_whole_object_finds_its_problem_at_the_right_position() {
    let autoscaler = "---\n{kind: HorizontalPodAutoscaler, spec: {scaleTargetRef: {kind: Deployment, name: web}}}\n";
    let web_and = |rest: &str| web(&[HOURS]) + rest + "\n";
    for (text, expected) in [
        ("a: [1\n".to_owned(), "syntax 1:4"),
        (
            "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: three}}".to_owned(),
            "bad-object 1:81",
        ),
        (web_and("spec:\n  replicas: 3"), "replicas-in-manifest 8:13"),
        (web_and(autoscaler), "autoscaler 8:81"),
        (web(&[HOURS, "dayshift/replicas: '1'"]) + autoscaler, ""),
        (
            web_and("  labels: {dayshift/state: stopped, dayshift/saved-replicas: '3'}"),
            "state-labels 7:12",
        ),
        (web_and("  labels: {dayshift/timezone: UTC}"), "schedule-as-label 7:12"),
        (
            web_and("spec: {template: {metadata: {annotations: {dayshift/jitter: 5m}}}}"),
            "on-pod-template 7:44",
        ),
        (web_and("annotations: {dayshift/stop: '19:00'}"), "misplaced-annotation 7:15"),
        (
            web(&[]).replace("annotations", "annotation") + "\n    dayshift/strat: x\n",
            "misplaced-annotation 8:5",
        ),
        (
            web_and("spec: {annotations: {dayshift/jitter: 5m}, selector: {matchLabels: {dayshift/state: x}}}"),
            "misplaced-annotation 7:22",
        ),
        (
            web_and("spec: {template: {spec: {containers: [{env: {dayshift/stop: x}}]}}}"),
            "misplaced-annotation 7:46",
        ),
        (
            "{apiVersion: kube-green.com/v1alpha1, kind: SleepInfo, metadata: {name: night}}".to_owned(),
            "other-tool 1:1",
        ),
        (web(&[HOURS]).replace("apps/v1", "extensions/v1beta1"), "other-kind 6:5"),
        (web(&[HOURS]).replace("kind: Deployment", "kind: DaemonSet"), "other-kind 6:5"),
        (
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\npatches: []\n".to_owned(),
            "not-rendered 3:1",
        ),
        (
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec: {}\npatches: []\n".to_owned(),
            "",
        ),
        (web_and("spec:\n  replicas: '{{ .Values.replicas }}'"), "not-rendered 8:13"),
    ] {
        assert_eq!(found(&text).join(", "), expected, "{text}");
    }
}

/// The schedule has 60 boundaries between 9 and 10, whatever the current minute is.
#[test]
fn too_often_does_not_depend_on_the_minute() {
    let text = web(&["dayshift/start: '* 9 * * *'", "dayshift/stop: '18:00'"]);
    for now in ["08:59", "09:00", "09:31", "09:59", "10:00"] {
        let now = format!("2026-11-23 {now}");
        let ended = dayshift_with(&[], &["lint", "--from", &now, "-"], &text);
        let message = "`* 9 * * *` runs 60 times an hour, not once";
        assert!(ended.out.contains(message), "{now}: {ended:?}");
    }
}
