//! Severities, and the help of findings.

use super::program::{lint_of, web};
use crate::program::dayshift_with;
use crate::rows::rows;

#[test]
fn reports_a_count_in_a_manifest_if_the_rule_is_enabled() {
    let ordinary = web(&["dayshift/hours: 'Mon-Fri 09:00-19:00'"]) + "spec:\n  replicas: 3\n";
    let suppressed = ordinary.replace(
        "spec:",
        "    lint.dayshift/replicas-in-manifest: 'Argo CD ignores it'\nspec:",
    );
    for text in [&ordinary, &suppressed] {
        let quiet = dayshift_with(&[], &["lint", "--fail-on", "info", "-"], text);
        assert_eq!(quiet.status, 0, "{quiet:?}");
        assert_starts_with!(quiet.out, "0 errors, 0 warnings");
    }
    for (args, status) in [
        (&["--enable", "replicas-in-manifest"][..], 1),
        (&["--enable=replicas-in-manifest,replicas-in-manifest"], 1),
        (
            &[
                "--enable",
                "replicas-in-manifest",
                "--disable",
                "replicas-in-manifest",
            ],
            0,
        ),
        // The other rules are always checked.
        (&["--enable", "either-day"], 2),
    ] {
        let args = [&["lint", "--fail-on", "info", "-"], args].concat();
        let ended = dayshift_with(&[], &args, &ordinary);
        assert_eq!(ended.status, status, "{ended:?}");
    }
    let (status, out, _) = lint_of(&["--fail-on", "info", "-"], &suppressed);
    assert_eq!(status, 0, "{out}");
    assert_contains!(out, "(1 suppressed)");
}

#[test]
fn a_message_without_a_quote_names_the_annotation() {
    let text = web(&[
        "dayshift/stop: '19:00'",
        "dayshift/stop: '20:00'",
        "dayshift/start: [a]",
        "dayshift/wake-until: '2027-01-01 10:00'",
    ]);
    let (_, out, _) = lint_of(&["-"], &text);
    for expected_text in [
        "error[duplicate-annotation]: dayshift/stop is given twice, in lines 6 and 7, ",
        "error[not-text]: dayshift/start is a list, but ",
    ] {
        assert_contains!(out, expected_text);
    }
}

#[test]
fn an_info_is_not_a_problem() {
    let ordinary = web(&["dayshift/hours: 'Mon-Fri 09:00-19:00'"]) + "spec:\n  replicas: 3\n";
    let (status, out, _) = lint_of(&["-"], &ordinary);
    assert_eq!(status, 0, "{out}");
    assert_starts_with!(out, "info[replicas-in-manifest]");
    assert_ends_with!(
        out,
        "0 errors, 0 warnings, 1 info in 1 workload of 1 file\n"
    );
    for expected_text in [
        "kubectl apply edit-last-applied deploy/web -n default",
        "write dayshift/replicas: \"3\"",
    ] {
        assert_contains!(out, expected_text);
    }
    for args in [
        ["--min-severity", "warning"],
        ["--disable", "replicas-in-manifest"],
    ] {
        let (status, out, _) = lint_of(&[&args[..], &["-"]].concat(), &ordinary);
        assert_eq!(status, 0, "{args:?}");
        assert_eq!(
            out, "0 errors, 0 warnings in 1 workload of 1 file\n",
            "{args:?}"
        );
    }
    let (status, _, err) = lint_of(&["--disable", "replicas-in-manifst", "-"], &ordinary);
    assert_eq!(status, 2);
    assert_contains!(err, "replicas-in-manifest");
    let warned = web(&["dayshift/stop: '19:00'"]);
    assert_eq!(lint_of(&["-"], &warned).0, 1);
    assert_eq!(lint_of(&["--min-severity", "error", "-"], &warned).0, 0);
    // A build can be stricter or more tolerant.
    for (args, expected) in [
        (&["--fail-on", "info"][..], 1),
        (&["--fail-on", "info", "--min-severity", "warning"], 1),
        (
            &["--fail-on", "info", "--disable", "replicas-in-manifest"],
            0,
        ),
        (&["--fail-on", "warning"], 0),
    ] {
        let args = [args, &["-"]].concat();
        assert_eq!(lint_of(&args, &ordinary).0, expected, "{args:?}");
    }
    assert_eq!(lint_of(&["--fail-on", "error", "-"], &warned).0, 0);
    let args = ["--fail-on", "warning", "--min-severity", "error", "-"];
    assert_eq!(lint_of(&args, &warned).0, 1);
    for (format, expected_text) in [
        ("github", "::notice title=replicas-in-manifest"),
        ("sarif", "\"level\": \"note\""),
        ("junit", "failures=\"0\""),
        ("json", "\"infos\": 1"),
    ] {
        let (status, out, _) = lint_of(&["-o", format, "-"], &ordinary);
        assert_eq!(status, 0, "{format}");
        assert!(out.contains(expected_text), "{format}: {out}");
        assert!(!out.contains("<failure"), "{format}: {out}");
    }
}

#[test]
fn help_explains_an_unsupported_kind() {
    let cron_job = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: [a]}\n";
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: [a]}\n";
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: [a]}\n";
    for (input, kind) in [
        (cron_job, "cronjob"),
        (deployment, "deployment"),
        (namespace, "namespace"),
    ] {
        let (status, out, _) = lint_of(&["-"], input);
        assert_eq!(status, 1, "{out}");
        let help = format!("see `kubectl explain {kind}` for its fields");
        assert_contains!(out, help);
    }
}

/// With `generateName`, the API server generates the name of a Job or Pod.
#[test]
fn accepts_a_generated_name() {
    let text = web(&["dayshift/hours: 'Mon-Fry 09:00-19:00'"]);
    let text = text.replace("  name: web", "  generateName: web-");
    let (status, out, _) = lint_of(&["-"], &text);
    assert_eq!(status, 1, "{out}");
    assert_contains!(out, "error[bad-hours]");
    assert_contains!(out, "web-xxxxx");
}

#[test]
fn help_keeps_the_text_of_the_user() {
    let hours = "dayshift/hours: '09:00-19:00'";
    let label = web(&[hours]) + "  labels: {dayshift/stop: 'Fri 17:00'}\n";
    let template = web(&[hours])
        + "spec: {template: {metadata: {annotations: {dayshift/timezone: Asia/Tokyo}}}}\n";
    for (input, help) in [
        (
            web(&["dayshift/uptime: 'Mon-Fri 08:00-18:00'"]),
            "write dayshift/hours: \"Mon-Fri 08:00-18:00\"",
        ),
        (
            web(&["dayshift/strat: 'daily 07:00'"]),
            "write dayshift/start: \"daily 07:00\"",
        ),
        (
            web(&["dayshift/strat: soon"]),
            "write dayshift/start with a valid text, for example \"Mon-Fri 09:00\"",
        ),
        (
            web(&[hours, "dayshift/replicas: 2"]),
            "write dayshift/replicas: \"2\"",
        ),
        (
            web(&[hours, "dayshift/enforce: true"]),
            "write dayshift/enforce: \"true\"",
        ),
        (
            web(&[hours, "dayshift/timezone: Asia/Tokio"]),
            "write dayshift/timezone: \"Asia/Tokyo\"",
        ),
        (
            web(&["dayshift/hours: Mon-Fry 08:00-17:00"]),
            "write dayshift/hours: \"Mon-Fri 08:00-17:00\"",
        ),
        (
            web(&["dayshift/hours: 9-17"]),
            "write dayshift/hours: \"09:00-17:00\"",
        ),
        (
            web(&["dayshift/start: '* 9 * * 1-5'"]),
            "write for example `0 9 * * 1-5`",
        ),
        (
            web(&["dayshift/start: '* * * * * *'"]),
            "write for example `0 0 * * * *`",
        ),
        (
            web(&["downscaler/uptime: '08:00-18:00'"]),
            "write dayshift/hours: \"08:00-18:00\"",
        ),
        (
            web(&["dayshift.io/stop: 'Fri 17:00'"]),
            "write dayshift/stop: \"Fri 17:00\"",
        ),
        (
            label,
            "move it to metadata.annotations: dayshift/stop: \"Fri 17:00\"",
        ),
        (
            template,
            "of the workload: dayshift/timezone: \"Asia/Tokyo\"",
        ),
        (
            web(&[hours]).replace("apps/v1", "extensions/v1beta1"),
            "write apiVersion: apps/v1",
        ),
    ] {
        let (_, out, _) = lint_of(&["-"], &input);
        assert!(out.contains(help), "{input}{help}\n{out}");
    }
}

/// The help proposes a correction for this annotation, or else an example.
#[test]
fn help_proposes_a_correction_or_an_example() {
    for [line, help] in rows(
        r#"
            start: 0 9 * * fri-mon => write dayshift/start: "0 9 * * Fri,Sat,Sun,Mon"
            start: Mon/Wed/Fri 09:00 => write dayshift/start: "Mon,Wed,Fri 09:00"
            start: 2026-12-24 9:05:30 => write for example `09:00`
            start: 0 9 * * 1-5 2026 => write local dates and times such as `2026-12-24 18:00`
            start: 0 9 ? * MON-FRI * => write dayshift/start: "0 9 ? * MON-FRI"
            start: '@every 7m' => write the times instead, such as `Mon-Fri 09:00,13:30`
            start: 12/24/2026 18:00 => write dayshift/start: "2026-12-24 18:00"
            start: TZ=Asia/Tokyo 0 9 * * * => write dayshift/start: "0 9 * * *" and dayshift/timezone: "Asia/Tokyo"
            start: Mon-Fri 09:00; => write dayshift/start: "Mon-Fri 09:00"
            start: Mon-Fry 09:00; Sat-Sum 10am => write dayshift/start: "Mon-Fri 09:00; Sat-Sun 10:00"
            start: Mon-Fri 9-17 => write dayshift/hours: "Mon-Fri 09:00-17:00" instead of dayshift/start
            hours: 'Mon-Fri 09:00-17:00, Sat 10:00-14:00' => write dayshift/hours: "Mon-Fri 09:00-17:00; Sat 10:00-14:00"
            hours: 9:00 AM - 5:00 PM => write dayshift/hours: "09:00-17:00"
            hours: ０９:00-17:00 => write dayshift/hours: "09:00-17:00"
            scale: '08:00 = 5, 12:00 = 6' => write dayshift/scale: "08:00 = 5; 12:00 = 6"
            wake-until: 2026-12-24 22:00 => write hours, such as Mon-Fri 09:00-19:00, or start and stop, or remove the annotation
        "#,
    ) {
        check_help(&[&format!("dayshift/{line}")], help);
    }
    for [line, help] in rows(
        r#"
            except: 24.12.2026 => write dayshift/except: "2026-12-24"
            except: '2026-12-28..2026-01-03' => check the years, as in `2026-12-28..2027-01-03`
            replicas: '3.0' => write dayshift/replicas: "3"
            exclude: 'yes' => write dayshift/exclude: "true"
            enforce: 'on' => write dayshift/enforce: "true"
            pause: 24.12.2099 6pm => write dayshift/pause: "2099-12-24 18:00"
        "#,
    ) {
        let hours = "dayshift/hours: Mon-Fri 09:00-19:00";
        check_help(&[hours, &format!("dayshift/{line}")], help);
    }
}

fn check_help(annotations: &[&str], help: &str) {
    let (_, out, _) = lint_of(&["-"], &web(annotations));
    let line = format!("= help: {help}");
    assert!(
        out.lines().any(|output| output.trim_start() == line),
        "{line}\n{out}"
    );
}

/// `replicas` beside `scale` is an error, so no help should recommend it.
#[test]
fn help_for_scale_does_not_recommend_replicas() {
    let steps = "dayshift/scale: Mon 08:00 = 5; Mon 19:00 = 0";
    let controller = "---\n{kind: HorizontalPodAutoscaler, spec: {scaleTargetRef: {kind: Deployment, name: web}}}\n";
    let (_, out, _) = lint_of(
        &["-"],
        &(web(&[steps]) + "spec:\n  replicas: 3\n" + controller),
    );
    assert_contains!(out, "info[replicas-in-manifest]");
    assert_lacks!(out, "to have each start set it");
    assert_contains!(out, "it changes every count above 0 that the schedule sets");
    assert_contains!(out, "write dayshift/hours instead of dayshift/scale");
}
