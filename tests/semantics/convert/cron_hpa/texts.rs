//! Fields of a CronHorizontalPodAutoscaler that its controller reads in another way, or not at all.

use dayshift_manifest::convert::Conversion;

use super::{cron_hpa, utc_jobs};
use crate::convert::converted::{change, rule_ids};
use crate::rows::rows;

fn jobs(exclude: &[&str], schedules: &[&str]) -> String {
    let jobs: Vec<_> = schedules.iter().map(|it| ((*it).to_owned(), 1)).collect();
    cron_hpa(exclude, &jobs)
}

/// The converted steps.
fn scale(conversion: &Conversion) -> &str {
    &change(conversion).set[0].1
}

/// A nickname loses the excluded days of the week, like the fields that it abbreviates.
#[test]
fn removes_excluded_days_from_a_nickname() {
    for (schedule, expected) in [
        ("@daily", "Sat-Thu 00:00 = 1"),
        ("@midnight", "Sat-Thu 00:00 = 1"),
        ("@weekly", "Sun 00:00 = 1"),
        ("@hourly", "0 * * * 1,2,3,4,6,0 = 1"),
    ] {
        let with_nickname = utc_jobs(&jobs(&["* * * * * 5"], &[schedule]));
        assert_eq!(scale(&with_nickname), expected, "{schedule}");
        assert_eq!(rule_ids(&with_nickname), ["delete-after"]);
    }
    for schedule in ["@monthly", "@yearly", "@annually"] {
        let conversion = utc_jobs(&jobs(&["* * * * * 5"], &[schedule]));
        assert_eq!(
            (conversion.changes.len(), rule_ids(&conversion)),
            (0, vec!["not-read"])
        );
        let without = utc_jobs(&jobs(&[], &[schedule]));
        assert_eq!(scale(&without), format!("{schedule} = 1"));
    }
}

/// Only a text that matches every second of a day excludes that day: `IsTodayOff` of the
/// controller's `cronjob.go` checks whether it matches again within the hour.
#[test]
fn reports_an_exclusion_without_whole_days() {
    for exclude in [
        "@daily",
        "@weekly",
        "@yearly",
        "0 0 0 15 11 *",
        "0 0 20 * * 5",
        "0 0 0 * * *",
    ] {
        let conversion = utc_jobs(&jobs(&[exclude], &["0 0 8 * * *"]));
        assert_eq!(
            rule_ids(&conversion),
            ["delete-after", "exclude-dates"],
            "{exclude}"
        );
        let message = &conversion.findings[1].message;
        assert!(
            message.contains(exclude) && message.contains("whole days"),
            "{message}"
        );
        assert_eq!(change(&conversion).set.len(), 2, "{exclude}: no except");
    }
    for exclude in [
        "@dayly",
        "* * 15",
        "@every 1h",
        "* * * 35 11 *",
        "* * * * * 9",
    ] {
        let conversion = utc_jobs(&jobs(&[exclude], &["0 0 8 * * *"]));
        let message = &conversion.findings[1].message;
        assert_contains!(message, "not a date that the controller reads");
    }
    for exclude in ["* * * * * 5", "? ? ? ? * 5", "* * * 15 11 *", "* * * 15 11"] {
        let conversion = utc_jobs(&jobs(&[exclude], &["0 0 8 * * *"]));
        assert!(scale(&conversion).contains("Sat-Thu") || change(&conversion).set.len() == 3);
    }
}

#[test]
fn keeps_seconds_with_excluded_days() {
    let conversion = utc_jobs(&jobs(&["* * * * * 5"], &["30 0 8 * * *"]));
    assert_eq!(scale(&conversion), "30 0 8 * * 1,2,3,4,6,0 = 1");
}

#[test]
fn reports_five_fields_as_seconds_first() {
    let conversion = utc_jobs(&jobs(&[], &["30 8 * * 1-5"]));
    assert_eq!(rule_ids(&conversion), ["delete-after", "seconds-first"]);
    let finding = &conversion.findings[1];
    assert_contains!(finding.help, "`0 30 8 * * 1-5`");
    // The text in the help is correct.
    let meant = utc_jobs(&jobs(&[], &["0 30 8 * * 1-5"]));
    assert_eq!(
        (scale(&meant), rule_ids(&meant).len()),
        ("Mon-Fri 08:30 = 1", 1)
    );
}

#[test]
fn leaves_out_a_past_date() {
    let past = "@date 2020-10-27 21:54:00";
    let conversion = utc_jobs(&jobs(&[], &[past, "0 0 8 * * *"]));
    assert_eq!(rule_ids(&conversion), ["delete-after", "over"]);
    assert_eq!(scale(&conversion), "08:00 = 1");
    let conversion = utc_jobs(&jobs(&[], &[past]));
    assert_eq!(
        (conversion.changes.len(), rule_ids(&conversion)),
        (0, vec!["over"])
    );
    let conversion = utc_jobs(&jobs(&[], &["@date 2027-10-27 21:54:00"]));
    assert_eq!(rule_ids(&conversion), ["delete-after", "once"]);
}

/// If a schedule is rejected, the other tool is still needed, and the help should not propose to
/// delete its object.
#[test]
fn does_not_propose_to_delete_a_rejected_object() {
    let ties = cron_hpa(
        &[],
        &[("0 0 8 * * *".to_owned(), 1), ("0 0 8 * * *".to_owned(), 2)],
    );
    let (elsewhere, _) = ties.split_once("---").unwrap();
    for text in [&*ties, elsewhere] {
        let conversion = utc_jobs(text);
        assert_eq!(
            (conversion.changes.len(), rule_ids(&conversion)),
            (0, vec!["no-equivalent"]),
            "{text}"
        );
    }
    let again = ties.replace(
        "metadata:\n  name: web\n",
        "metadata:\n  name: web\n  annotations: {dayshift/hours: '08:00-20:00'}\n",
    );
    let conversion = utc_jobs(&again.replace("targetSize: 2", "targetSize: 1"));
    assert_eq!(rule_ids(&conversion), ["already-scheduled"]);
}

/// A target of any kind with a count can be named in `--kinds`.
#[test]
fn reports_a_target_that_kinds_must_name() {
    let text = jobs(&[], &["0 0 8 * * *"]);
    for [version, kind, resource] in rows(
        "
            argoproj.io/v1alpha1 => Rollout => rollouts.argoproj.io
            data.fluid.io/v1alpha1 => JuiceFSRuntime => juicefsruntimes.data.fluid.io
            apps.openshift.io/v1 => DeploymentConfig => deploymentconfigs.apps.openshift.io
            example.com/v1 => Proxy => proxies.example.com
        ",
    ) {
        let of = text.replace(
            "apps/v1beta2\n    kind: Deployment",
            &format!("{version}\n    kind: {kind}"),
        );
        let (elsewhere, file) = of.split_once("---").unwrap();
        let file = file.replace(
            "apps/v1\nkind: Deployment",
            &format!("{version}\nkind: {kind}"),
        );
        for text in [format!("{elsewhere}---{file}"), elsewhere.to_owned()] {
            let conversion = utc_jobs(&text);
            let mut ids = rule_ids(&conversion);
            ids.sort_unstable();
            assert_eq!(ids, ["delete-after", "opt-in"], "{text}");
            let opt_in = conversion
                .findings
                .iter()
                .find(|it| it.rule.id() == "opt-in")
                .unwrap();
            let expected = format!("--kinds deployments,statefulsets,cronjobs,{resource}");
            assert_contains!(opt_in.help, expected);
            assert_eq!(scale(&conversion), "08:00 = 1");
        }
    }
    let of = text.replace(
        "apps/v1beta2\n    kind: Deployment",
        "apps/v1\n    kind: DaemonSet",
    );
    assert_eq!(rule_ids(&utc_jobs(&of)), ["other-kind"]);
}
