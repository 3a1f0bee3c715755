//! Cron expressions with both day fields, and the proposal for the days that match both.

use super::program::{found, web};
use crate::program::dayshift_with;
use crate::rows::rows;

/// The proposed expression is valid and means the days that match both fields.
#[test]
fn proposes_the_days_that_match_both_fields() {
    for [line, expected] in rows(
        "
            dayshift/start: '0 9 1-7 * Mon; 08:00' => for the days that are both, write `first Mon 09:00`
            dayshift/scale: '30 8 15-21 * 2,4 = 5; 20:00 = 0' => write `third Tue,third Thu 08:30 = 5`
            dayshift/scale: '30 8 1,15 * 1-5=5; 20:00 = 0' => as days within the month, such as `first Mon 09:00`
        "
    ) {
        let ended = dayshift_with(&[], &["lint", "--from", "2026-11-20", "-"], &web(&[line]));
        ended.assert_out("info[either-day]");
        ended.assert_out(expected);
        if let Some((before, rest)) = expected.split_once("write `") {
            assert!(before.is_empty() || before.starts_with("for the days"));
            let text = rest.trim_end_matches('`');
            let key = line.split(':').next().unwrap();
            let right = web(&[&format!("{key}: '{text}'")]);
            let found = found(&right);
            assert!(
                found.iter().all(|it| it.starts_with("start-without")),
                "{found:?}"
            );
        }
    }
}
