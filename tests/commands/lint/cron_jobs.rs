//! CronJobs whose times are outside their running hours, and their Jobs.

use super::program::{found, web};

fn cron_job(annotations: &[&str], spec: &str) -> String {
    format!(
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\n  annotations:\n    {}\nspec: {{{spec}}}\n",
        annotations.join("\n    ")
    )
}

#[test]
fn finds_a_cron_job_that_never_runs() {
    let office = "dayshift/hours: 'Mon-Fri 09:00-19:00'";
    let tokyo = "dayshift/timezone: Asia/Tokyo";
    for (annotations, spec, never) in [
        (&[office][..], "schedule: '0 3 * * *'", true),
        (&[office], "schedule: '0 12 * * *'", false),
        (&[office], "schedule: '0 12 * * Sun'", true),
        (&[office], "schedule: '0 9 * * Mon'", false),
        (&[office], "schedule: '0 19 * * *'", true),
        (&[office], "schedule: '@midnight'", true),
        (&[office], "schedule: '* * * * *'", false),
        (&[office], "schedule: '*/5 20-23 * * *'", true),
        // Once a year, on a Thursday.
        (&[office], "schedule: '0 10 31 12 *'", false),
        (&[office], "schedule: '0 10 27 12 *'", true),
        // 12:00 in UTC is 21:00 in Tokyo.
        (&[office, tokyo], "schedule: '0 12 * * *'", true),
        (
            &[office, tokyo],
            "schedule: '0 12 * * *', timeZone: Asia/Tokyo",
            false,
        ),
        (&[office, tokyo], "schedule: '0 3 * * *'", false),
        (
            &["dayshift/start: '22:00'", "dayshift/stop: '06:00'"],
            "schedule: '30 5 * * *'",
            false,
        ),
        (
            &["dayshift/start: '22:00'", "dayshift/stop: '06:00'"],
            "schedule: '30 6 * * *'",
            true,
        ),
        // The time zone is unknown.
        (&[office], "schedule: 'TZ=UTC 0 3 * * *'", false),
        (&[office], "schedule: '0 3 * * *', timeZone: Nowhere", false),
        (&["team: a"], "schedule: '0 3 * * *'", false),
    ] {
        let text = cron_job(annotations, spec);
        let expected: &[&str] = if never { &["never-runs"] } else { &[] };
        let found = found(&text);
        let rules: Vec<_> = found
            .iter()
            .map(|it| it.split(' ').next().unwrap())
            .collect();
        assert_eq!(rules, expected, "{text}");
    }
}

#[test]
fn stop_jobs_requires_a_cron_job_with_a_stop() {
    let leave = "dayshift/stop-jobs: 'true'";
    let (office, no_spec) = ("dayshift/hours: 'Mon-Fri 09:00-19:00'", "");
    for (text, expected) in [
        (cron_job(&[office, leave], no_spec), &[][..]),
        (
            cron_job(&["dayshift/start: '09:00'", leave], no_spec),
            &["start-without-stop 6:22", "no-effect 7:26"],
        ),
        (
            cron_job(&[office, &leave.replace("true", "ja")], no_spec),
            &["bad-override 7:26"],
        ),
        (web(&[office, leave]), &["bad-override 7:26"]),
        (
            web(&[office, leave])
                .replace("apps/v1", "v1")
                .replace("Deployment", "Namespace")
                .replace("name: web", "name: default"),
            &["no-effect 7:26"],
        ),
    ] {
        assert_eq!(found(&text), expected, "{text}");
    }
}
