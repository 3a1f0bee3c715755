//! What a CronHorizontalPodAutoscaler may say that its controller reads otherwise, or not at all.

use dayshift_manifest::convert::Conversion;

use super::{cron_hpa, utc_jobs};
use crate::convert::converted::{change, said};

fn jobs(exclude: &[&str], schedules: &[&str]) -> String {
    let jobs: Vec<_> = schedules.iter().map(|it| ((*it).to_owned(), 1)).collect();
    cron_hpa(exclude, &jobs)
}

/// The steps that are written.
fn scale(conversion: &Conversion) -> &str {
    &change(conversion).set[0].1
}

/// A nickname loses the excluded days of the week, as what it stands for does.
#[test]
fn a_nickname_keeps_to_the_excluded_days() {
    for (schedule, expected) in [
        ("@daily", "Sat-Thu 00:00 = 1"),
        ("@midnight", "Sat-Thu 00:00 = 1"),
        ("@weekly", "Sun 00:00 = 1"),
        ("@hourly", "0 * * * 1,2,3,4,6,0 = 1"),
    ] {
        let with_nickname = utc_jobs(&jobs(&["* * * * * 5"], &[schedule]));
        assert_eq!(scale(&with_nickname), expected, "{schedule}");
        assert_eq!(said(&with_nickname), ["delete-after"]);
    }
    for schedule in ["@monthly", "@yearly", "@annually"] {
        let conversion = utc_jobs(&jobs(&["* * * * * 5"], &[schedule]));
        assert_eq!(
            (conversion.changes.len(), said(&conversion)),
            (0, vec!["not-read"])
        );
        let without = utc_jobs(&jobs(&[], &[schedule]));
        assert_eq!(scale(&without), format!("{schedule} = 1"));
    }
}

/// Only a text that comes in every second of a day names the day: `IsTodayOff` of its `cronjob.go`
/// looks whether it comes once more in the hour.
#[test]
fn an_exclusion_that_names_no_whole_day_is_said() {
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
            said(&conversion),
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
        assert!(
            message.contains("not a date that the controller reads"),
            "{message}"
        );
    }
    for exclude in ["* * * * * 5", "? ? ? ? * 5", "* * * 15 11 *", "* * * 15 11"] {
        let conversion = utc_jobs(&jobs(&[exclude], &["0 0 8 * * *"]));
        assert!(scale(&conversion).contains("Sat-Thu") || change(&conversion).set.len() == 3);
    }
}

#[test]
fn the_second_stays_where_days_are_excluded() {
    let conversion = utc_jobs(&jobs(&["* * * * * 5"], &["30 0 8 * * *"]));
    assert_eq!(scale(&conversion), "30 0 8 * * 1,2,3,4,6,0 = 1");
}

#[test]
fn five_fields_are_said_to_begin_with_seconds() {
    let conversion = utc_jobs(&jobs(&[], &["30 8 * * 1-5"]));
    assert_eq!(said(&conversion), ["delete-after", "seconds-first"]);
    let finding = &conversion.findings[1];
    assert!(finding.help.contains("`0 30 8 * * 1-5`"), "{finding:?}");
    // What the help writes is what was meant.
    let meant = utc_jobs(&jobs(&[], &["0 30 8 * * 1-5"]));
    assert_eq!(
        (scale(&meant), said(&meant).len()),
        ("Mon-Fri 08:30 = 1", 1)
    );
}

#[test]
fn a_field_that_the_controller_does_not_know_is_said() {
    let text = jobs(&[], &["0 0 8 * * *"]);
    for (from, to, field) in [
        ("  jobs:", "  timezone: Asia/Shanghai\n  jobs:", "timezone"),
        (
            "      targetSize",
            "      timeZone: Asia/Shanghai\n      targetSize",
            "timeZone",
        ),
    ] {
        let conversion = utc_jobs(&text.replace(from, to));
        assert_eq!(said(&conversion), ["delete-after", "not-read"], "{to}");
        assert!(conversion.findings[1].message.contains(field));
        assert_eq!(change(&conversion).set[1].1, "UTC");
    }
}

#[test]
fn a_moment_that_is_over_is_left_out() {
    let past = "@date 2020-10-27 21:54:00";
    let conversion = utc_jobs(&jobs(&[], &[past, "0 0 8 * * *"]));
    assert_eq!(said(&conversion), ["delete-after", "over"]);
    assert_eq!(scale(&conversion), "08:00 = 1");
    let conversion = utc_jobs(&jobs(&[], &[past]));
    assert_eq!(
        (conversion.changes.len(), said(&conversion)),
        (0, vec!["over"])
    );
    let conversion = utc_jobs(&jobs(&[], &["@date 2027-10-27 21:54:00"]));
    assert_eq!(said(&conversion), ["delete-after", "once"]);
}

/// What is refused is still done by the other tool: nobody is told to delete it.
#[test]
fn a_refused_object_is_not_proposed_for_deletion() {
    let ties = cron_hpa(
        &[],
        &[("0 0 8 * * *".to_owned(), 1), ("0 0 8 * * *".to_owned(), 2)],
    );
    let (elsewhere, _) = ties.split_once("---").unwrap();
    for text in [&*ties, elsewhere] {
        let conversion = utc_jobs(text);
        assert_eq!(
            (conversion.changes.len(), said(&conversion)),
            (0, vec!["no-equivalent"]),
            "{text}"
        );
    }
    let again = ties.replace(
        "metadata:\n  name: web\n",
        "metadata:\n  name: web\n  annotations: {dayshift/hours: '08:00-20:00'}\n",
    );
    let conversion = utc_jobs(&again.replace("targetSize: 2", "targetSize: 1"));
    assert_eq!(said(&conversion), ["already-scheduled"]);
}

/// A target of any kind that has a count can be turned on.
#[test]
fn a_target_of_another_kind_has_to_be_turned_on() {
    let text = jobs(&[], &["0 0 8 * * *"]);
    for (version, kind, resource) in [
        ("argoproj.io/v1alpha1", "Rollout", "rollouts.argoproj.io"),
        (
            "data.fluid.io/v1alpha1",
            "JuiceFSRuntime",
            "juicefsruntimes.data.fluid.io",
        ),
        (
            "apps.openshift.io/v1",
            "DeploymentConfig",
            "deploymentconfigs.apps.openshift.io",
        ),
        ("example.com/v1", "Proxy", "proxies.example.com"),
    ] {
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
            let mut ids = said(&conversion);
            ids.sort_unstable();
            assert_eq!(ids, ["delete-after", "opt-in"], "{text}");
            let opt_in = conversion
                .findings
                .iter()
                .find(|it| it.rule.id() == "opt-in")
                .unwrap();
            let expected = format!("--kinds deployments,statefulsets,cronjobs,{resource}");
            assert!(opt_in.help.contains(&expected), "{}", opt_in.help);
            assert_eq!(scale(&conversion), "08:00 = 1");
        }
    }
    let of = text.replace(
        "apps/v1beta2\n    kind: Deployment",
        "apps/v1\n    kind: DaemonSet",
    );
    assert_eq!(said(&utc_jobs(&of)), ["other-kind"]);
}
