//! The schedules and time zones of CronJobs.

use serde_json::json;

use super::super::table::{CRON_JOBS, Case, REPORT, case};
use super::{cron_job, with};

/// A case that creates a CronJob for each schedule.
fn schedules(name: &'static str, texts: &[&str]) -> Case {
    let numbered = texts.iter().enumerate();
    numbered.fold(case(name), |case, (number, text)| {
        let job = cron_job(&format!("job-{number}"));
        case.post(CRON_JOBS, with(job, "/spec/schedule", json!(text)))
    })
}

fn zone(name: &'static str, zone: &str) -> Case {
    let job = cron_job("report");
    case(name).post(CRON_JOBS, with(job, "/spec/timeZone", json!(zone)))
}

/// Texts that robfig/cron accepts, and its errors for others.
pub fn cases() -> Vec<Case> {
    vec![
        schedules(
            "accepted schedules",
            &[
                "* * * * *",
                "? ? ? ? ?",
                "0 0 1 1 0",
                " 0  3 * * * ",
                "0 0 31 2 *",
                "*/15 0-23/2 1,15 JAN,Dec SUN-sat",
                "5/10 * * * *",
                ",1 * * * *",
                ", * * * *",
                "*-9 * * * *",
                "+1 * * * *",
                "0 0 * * 6/2",
                "@yearly",
                "@annually",
                "@monthly",
                "@weekly",
                "@daily",
                "@midnight",
                "@hourly",
                "@every 1h30m",
                "@every 1.5s",
                "@every -1m",
                "@every 0",
            ],
        ),
        schedules(
            "rejected schedules",
            &[
                "",
                " ",
                "now",
                "0 3 * *",
                "0 0 3 * * *",
                "60 * * * *",
                "60/5 * * * *",
                "0 24 * * *",
                "0 0 0 * *",
                "0 0 32 * *",
                "0 0 * 13 *",
                "0 0 * 0 *",
                "0 0 * * 7",
                "0 0 * * mon-sun",
                "0 0 * * monday",
                "5-1 * * * *",
                "1-2-3 * * * *",
                "1/2/3 * * * *",
                "*/0 * * * *",
                "*/x * * * *",
                "*/-1 * * * *",
                "-1 * * * *",
                "1- * * * *",
                "x y * * *",
                "99999999999999999999 * * * *",
                "@never",
                "@Daily",
                "@every",
                "@every x",
                "@every 5",
                "@every 5y",
                "@every ",
            ],
        ),
        schedules(
            "a zone in the schedule",
            &["TZ=UTC 0 3 * * *", "CRON_TZ=UTC 0 3 * * *", "0 TZ * * *"],
        ),
        case("no schedule").post(
            CRON_JOBS,
            with(cron_job("report"), "/spec/schedule", json!(null)),
        ),
        case("a schedule that is a number").post(
            CRON_JOBS,
            with(cron_job("report"), "/spec/schedule", json!(5)),
        ),
        case("another schedule")
            .given_at(CRON_JOBS, cron_job("report"))
            .merge_patch(REPORT, json!({"spec": {"schedule": "0 4 * * *"}}))
            .merge_patch(REPORT, json!({"spec": {"schedule": "0 4 * *"}}))
            .merge_patch(REPORT, json!({"spec": {"schedule": null}}))
            .merge_patch(REPORT, json!({"spec": {"schedule": "TZ=UTC 0 3 * * *"}})),
        zone("a zone", "Etc/UTC"),
        zone("an empty zone", ""),
        zone("the local zone of the server", "Local"),
        zone("a zone that is a path", "../UTC"),
        zone("a zone with a blank", "Asia/To kyo"),
    ]
}
