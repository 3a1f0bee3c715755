//! Each rule and the position of its finding.

use super::program::{found, web};
use crate::program::dayshift_with;

#[test]
fn each_rule_finds_its_problem_at_the_right_position() {
    let hours = "dayshift/hours: \"Mon-Fri 09:00-19:00\"";
    let berlin = "dayshift/timezone: Europe/Berlin";
    let other = |text: &str| text.to_owned();
    let mut wrong = Vec::new();
    for (text, expected) in [
        (web(&[hours]), vec![]),
        (other("a: [1\n"), vec!["syntax 1:4"]),
        (
            other(
                "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: three}}",
            ),
            vec!["bad-object 1:81"],
        ),
        (
            web(&[hours, "dayshift/strat: x"]),
            vec!["unknown-annotation 7:5"],
        ),
        (web(&[hours, "dayshift/replicas: 2"]), vec!["not-text 7:24"]),
        (web(&[hours, hours]), vec!["duplicate-annotation 7:22"]),
        (
            web(&[hours, "dayshift/stop: '19:00'"]),
            vec!["hours-beside-times 6:22"],
        ),
        (
            web(&["dayshift/start: Mon-Fry 09:00", "dayshift/stop: '25:00'"]),
            vec!["bad-times 6:25", "bad-times 7:21"],
        ),
        (web(&["dayshift/hours: 9-17"]), vec!["bad-hours 6:21"]),
        (
            web(&["dayshift/scale: Mon 08:00 = five"]),
            vec!["bad-scale 6:33"],
        ),
        (
            web(&["dayshift/scale: Mon 08:00 = 5", "dayshift/replicas: '3'"]),
            vec!["scale-beside-others 6:21"],
        ),
        (
            web(&[hours, "dayshift/timezone: Asia/Tokio"]),
            vec!["bad-timezone 7:24"],
        ),
        (
            web(&[hours, "dayshift/replicas: two"]),
            vec!["bad-count 7:24"],
        ),
        (
            web(&[hours, "dayshift/jitter: 2h"]),
            vec!["bad-jitter 7:22"],
        ),
        (
            web(&[hours, "dayshift/wake-on-request: soon"]),
            vec!["bad-wake-on-request 7:31"],
        ),
        (
            web(&["dayshift/wake-on-request: soon", "dayshift/hours: 9-17"]),
            vec!["bad-wake-on-request 6:31", "bad-hours 7:21"],
        ),
        (
            web(&[hours, "dayshift/except: Christmas"]),
            vec!["bad-except 7:22"],
        ),
        (
            web(&[
                hours,
                "dayshift/treat-as: '2026-12-24 = Sun; 2026-12-24 = Mon'",
            ]),
            vec!["bad-treat-as 7:43"],
        ),
        (
            web(&[hours, "dayshift/treat-as: 'calendar:makeup = Fri'"]),
            vec!["bad-treat-as 7:34"],
        ),
        (
            web(&[hours, "dayshift/treat-as: '2026-05-09 = Mon'"]),
            vec!["past-date 7:25"],
        ),
        // Monday counts as Tuesday, and the date in two years is too far away.
        (
            web(&[hours, "dayshift/treat-as: '2026-12-14 = Tue'"]),
            vec!["unchanged-dates 7:25"],
        ),
        // The number of boundaries on these days does not matter.
        (
            web(&[
                "dayshift/scale: '* 9 * * Mon-Fri = 2; 0 19 * * * = 0'",
                "dayshift/treat-as: '2026-12-14 = Tue'",
            ]),
            vec!["too-often 6:22", "unchanged-dates 7:25"],
        ),
        (
            web(&[hours, "dayshift/treat-as: '2028-12-15 = Tue'"]),
            vec![],
        ),
        (
            web(&[hours, "dayshift/treat-as: '2026-12-12 = Tue'"]),
            vec![],
        ),
        (
            web(&["dayshift/treat-as: '2026-12-12 = Tue'"]),
            vec!["no-effect 6:25"],
        ),
        (
            web(&[
                hours,
                "dayshift/extra: '2026-12-05 09:00; 2026-12-06 09:00-18:00'",
            ]),
            vec!["bad-extra 7:33"],
        ),
        (
            web(&["dayshift/stop-after: '31d'"]),
            vec!["bad-stop-after 6:27"],
        ),
        (
            web(&["dayshift/stop-after: '8h since birth'"]),
            vec!["bad-stop-after 6:30"],
        ),
        (
            web(&["dayshift/stop-after: '8h'", "dayshift/notice: 15m"]),
            vec![],
        ),
        (
            web(&["dayshift/start: 'Mon-Fri 09:00'", "dayshift/stop-after: 8h"]),
            vec![],
        ),
        (
            web(&[
                "dayshift/scale: '08:00 = 5; 19:00 = 0'",
                "dayshift/stop-after: 8h",
            ]),
            vec!["scale-beside-others 6:22"],
        ),
        (
            web(&[
                hours,
                "dayshift/extra: '2026-11-01..2026-11-08 09:00-18:00'",
            ]),
            vec!["past-date 7:22"],
        ),
        (
            web(&[
                hours,
                "dayshift/extra: '2026-11-01 09:00-18:00; 2026-12-05 09:00-18:00'",
            ]),
            vec!["past-date 7:22"],
        ),
        (
            web(&[
                "dayshift/scale: 'Mon-Fri 08:00 = 5; 19:00 = 0'",
                "dayshift/extra: '2026-12-05 09:00-18:00'",
            ]),
            vec!["scale-beside-others 6:22"],
        ),
        (
            web(&["dayshift/extra: '2026-12-05 09:00-18:00'"]),
            vec!["no-effect 6:22"],
        ),
        (
            web(&[hours, "dayshift/after: 'sts/db; svc/Cache, 5m'"]),
            vec!["bad-after 7:30"],
        ),
        (web(&["dayshift/after: 'sts/db'"]), vec!["no-effect 6:22"]),
        (
            web(&[hours, "dayshift/pause: 'yes'", "dayshift/enforce: maybe"]),
            vec!["bad-override 7:22", "bad-override 8:23"],
        ),
        (
            web(&["dayshift/wake-until: 2026-11-27 22:00"]),
            vec!["bad-override 6:26"],
        ),
        (
            web(&[
                hours,
                "dayshift/pause: 2026-11-19 22:00",
                "dayshift/wake-until: 2026-11-20 00:00",
                "dayshift/sleep-until: 2026-11-20 00:01",
            ]),
            vec!["past-until 7:21", "past-until 8:26"],
        ),
        (
            web(&["dayshift/stop: '19:00'"]),
            vec!["stop-without-start 6:21"],
        ),
        (
            web(&["dayshift/start: '09:00'"]),
            vec!["start-without-stop 6:22"],
        ),
        (
            web(&[
                "dayshift/start: '09:00'",
                "dayshift/stop: 'Fri 19:00; daily 09:00'",
            ]),
            vec!["same-instant 7:32"],
        ),
        (
            web(&[
                "dayshift/start: '09:00; 02:30'",
                "dayshift/stop: '19:00'",
                berlin,
            ]),
            vec!["clock-change-gap 6:29"],
        ),
        (
            web(&["dayshift/hours: '02:30-19:00'", berlin]),
            vec!["clock-change-gap 6:22"],
        ),
        // An hourly boundary also happens at the end of the gap.
        (
            web(&[
                "dayshift/start: '0 * * * *'",
                "dayshift/stop: '19:30'",
                berlin,
            ]),
            vec![],
        ),
        (
            web(&["dayshift/start: 2025-01-01 09:00", "dayshift/stop: '19:00'"]),
            vec!["no-future-boundary 6:21"],
        ),
        (
            web(&["dayshift/hours: 00:00-24:00"]),
            vec!["no-future-boundary 6:21"],
        ),
        // An additional window has not ended, or it has.
        (
            web(&[
                "dayshift/start: 2025-01-01 09:00",
                "dayshift/stop: '19:00'",
                "dayshift/extra: 2099-12-05 09:00-18:00",
            ]),
            vec![],
        ),
        (
            web(&[
                "dayshift/start: 2025-01-01 09:00",
                "dayshift/stop: '19:00'",
                "dayshift/extra: 2025-12-05 09:00-18:00",
            ]),
            vec!["no-future-boundary 6:21", "past-date 8:21"],
        ),
        (
            web(&[
                "dayshift/start: 09:00; 2025-01-01 08:00",
                "dayshift/stop: '19:00'",
            ]),
            vec!["past-date 6:28"],
        ),
        (
            web(&[hours, "dayshift/except: 2026-11-19"]),
            vec!["past-date 7:22"],
        ),
        (web(&[hours, "dayshift/except: 2026-11-20"]), vec![]),
        (web(&[berlin]), vec!["no-effect 6:24"]),
        (
            web(&["dayshift/start: '09:00'", "dayshift/enforce: 'true'"]),
            vec!["start-without-stop 6:22", "no-effect 7:24"],
        ),
        (
            web(&[
                hours,
                "dayshift/replicas: '1'",
                "dayshift/stop-replicas: '1'",
            ]),
            vec!["stop-not-below-start 7:25"],
        ),
        (
            web(&[hours]) + "spec:\n  replicas: 3\n",
            vec!["replicas-in-manifest 8:13"],
        ),
        (
            web(&[hours])
                + "---\n{kind: HorizontalPodAutoscaler, spec: {scaleTargetRef: {kind: Deployment, name: web}}}\n",
            vec!["autoscaler 8:81"],
        ),
        (
            web(&[hours, "dayshift/replicas: '1'"])
                + "---\n{kind: HorizontalPodAutoscaler, spec: {scaleTargetRef: {kind: Deployment, name: web}}}\n",
            vec![],
        ),
        (
            web(&[hours]) + "  labels: {dayshift/state: stopped, dayshift/saved-replicas: '3'}\n",
            vec!["state-labels 7:12"],
        ),
        (
            web(&[hours, "dayshift/error: x"]),
            vec!["error-annotation 7:5"],
        ),
        (
            web(&[hours, "dayshift/override-began: '2026-11-20T10:00:00Z'"]),
            vec!["error-annotation 7:5"],
        ),
        (
            web(&["dayshift.io/stop-replicas: '1'"]),
            vec!["lookalike-prefix 6:5"],
        ),
        (
            web(&["Dayshift/start: '09:00'"]),
            vec!["lookalike-prefix 6:5"],
        ),
        (
            web(&[hours]) + "  labels: {dayshift/timezone: UTC}\n",
            vec!["schedule-as-label 7:12"],
        ),
        (
            web(&[hours]) + "spec: {template: {metadata: {annotations: {dayshift/jitter: 5m}}}}\n",
            vec!["on-pod-template 7:44"],
        ),
        (
            web(&[hours]) + "annotations: {dayshift/stop: '19:00'}\n",
            vec!["misplaced-annotation 7:15"],
        ),
        (
            web(&[]).replace("annotations", "annotation") + "\n    dayshift/strat: x\n",
            vec!["misplaced-annotation 8:5"],
        ),
        (
            web(&[hours])
                + "spec: {annotations: {dayshift/jitter: 5m}, selector: {matchLabels: {dayshift/state: x}}}\n",
            vec!["misplaced-annotation 7:22"],
        ),
        (
            web(&[hours]) + "spec: {template: {spec: {containers: [{env: {dayshift/stop: x}}]}}}\n",
            vec!["misplaced-annotation 7:46"],
        ),
        (
            web(&[
                "dayshift/start: '* 9 * * 1-5; 08:00'",
                "dayshift/stop: '19:00'",
            ]),
            vec!["too-often 6:22"],
        ),
        (
            web(&["dayshift/hours: 00:00-23:59"]),
            vec!["one-minute 6:21"],
        ),
        (
            web(&["dayshift/hours: 'Mon 23:59-24:00; Tue 08:00-09:00'"]),
            vec!["one-minute 6:22"],
        ),
        (
            web(&["dayshift/start: '09:00'", "dayshift/stop: '09:01'"]),
            vec!["one-minute 7:21"],
        ),
        (
            web(&["dayshift/hours: '00:00-23:58; Sun 10:00-10:02'"]),
            vec![],
        ),
        (
            web(&[hours, "dayshift/timezone: Etc/GMT-5"]),
            vec!["fixed-offset 7:24"],
        ),
        (
            web(&[hours, "dayshift/timezone: EST"]),
            vec!["fixed-offset 7:24"],
        ),
        (web(&[hours, "dayshift/timezone: EST5EDT"]), vec![]),
        (web(&[hours, "dayshift/timezone: Etc/GMT"]), vec![]),
        (web(&[hours, "dayshift/timezone: Etc/GMT-0"]), vec![]),
        (
            web(&["dayshift/start: '* * * * * *'", "dayshift/stop: '19:00'"]),
            vec!["too-often 6:22", "same-instant 7:21"],
        ),
        (
            web(&[
                "dayshift/start: 'first Mon 09:00; 0 9 1-7 * 1'",
                "dayshift/stop: '0 19 1 * *; 0 20 1,15 * 1-5'",
            ]),
            vec!["either-day 6:39", "either-day 7:33"],
        ),
        (
            web(&["dayshift/scale: '0 8 8-14 * Tue = 5; 20:00 = 0'"]),
            vec!["either-day 6:22"],
        ),
        (
            web(&[
                "dayshift/hours: 09:00-19:00; Sat 20:00-20:30",
                "dayshift/jitter: 31m",
            ]),
            vec!["jitter-beyond-window 7:22"],
        ),
        (
            web(&[
                "dayshift/hours: 09:00-19:00; Sat 20:00-20:30",
                "dayshift/jitter: 30m",
            ]),
            vec![],
        ),
        (
            web(&[
                "dayshift/hours: 09:00-19:00; Sat 20:00-20:30",
                "dayshift/notice: 31m",
            ]),
            vec!["notice-beyond-window 7:22"],
        ),
        (
            web(&[
                "dayshift/hours: 09:00-19:00; Sat 20:00-20:30",
                "dayshift/notice: 30m",
            ]),
            vec![],
        ),
        // The second start does not shorten the window.
        (
            web(&[
                "dayshift/start: '09:00; 18:45'",
                "dayshift/stop: '19:00'",
                "dayshift/notice: 30m",
            ]),
            vec![],
        ),
        (
            web(&[
                hours,
                "dayshift/notice: 31m",
                "dayshift/wake-on-request: 30m; while-used",
            ]),
            vec!["notice-beyond-window 7:22"],
        ),
        (
            web(&[
                hours,
                "dayshift/notice: 30m",
                "dayshift/wake-on-request: 30m; while-used",
            ]),
            vec![],
        ),
        (
            web(&["dayshift/notice: 31m", "dayshift/stop-after: 30m"]),
            vec!["notice-beyond-window 6:22"],
        ),
        (
            web(&[
                "downscaler/uptime: Mon-Fri 09:00-19:00 UTC",
                "downscaler/exclude: 'true'",
            ]),
            vec!["other-tool 6:5"],
        ),
        (
            other(
                "{apiVersion: kube-green.com/v1alpha1, kind: SleepInfo, metadata: {name: night}}",
            ),
            vec!["other-tool 1:1"],
        ),
        (
            web(&[hours]).replace("apps/v1", "extensions/v1beta1"),
            vec!["other-kind 6:5"],
        ),
        (
            other(
                "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\npatches: []\n",
            ),
            vec!["not-rendered 3:1"],
        ),
        (
            web(&["dayshift/hours: '{{ .Values.hours }}'"]),
            vec!["not-rendered 6:21"],
        ),
        (
            web(&[hours, "dayshift/timezone: ${ZONE}"]),
            vec!["not-rendered 7:24"],
        ),
        (
            web(&[hours]) + "spec:\n  replicas: '{{ .Values.replicas }}'\n",
            vec!["not-rendered 8:13"],
        ),
        (
            other(
                "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec: {}\npatches: []\n",
            ),
            vec![],
        ),
        (
            web(&[hours]).replace("kind: Deployment", "kind: DaemonSet"),
            vec!["other-kind 6:5"],
        ),
        (
            web(&[hours, "lint.dayshift/nope: x"]),
            vec!["bad-suppression 7:5"],
        ),
        (
            web(&[hours, "lint.dayshift/same-instant: x"]),
            vec!["unused-suppression 7:5"],
        ),
    ] {
        let found = found(&text);
        if found != expected {
            wrong.push(format!("{text}{found:?} {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
