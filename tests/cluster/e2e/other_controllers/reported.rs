//! Reports about the manager that reverted a count, and their cost.

use chrono::DateTime;

use crate::e2e::test_namespace::TestNamespace;
use crate::support::{Request, eventually, too_late};

/// Asserts that the controller read the Deployment once after another client's last change, and
/// reported the manager within 2 s; returns the report.
pub(super) fn assert_reported_once(team: &TestNamespace<'_>, name: &str) -> String {
    let reported = team.await_event(name, "Reverted");
    let changes = team.changes_by_others();
    let change = changes.last().map(|it| it.answered);
    // The server's log can be a moment behind.
    let (read, event) = eventually("the read and the Event are in the audit log", || {
        let requests = team.requests();
        let reads = requests.iter().filter(|it| it.verb == "get");
        let reads: Vec<Request> = reads.cloned().collect();
        assert!(reads.len() <= 1, "{reads:#?}");
        let read = reads.into_iter().next()?;
        let mut events = requests.into_iter().filter(|it| it.resource == "events");
        let event = events.find(|it| it.received > read.received)?;
        Some((read, event))
    });
    if let Some(change) = change {
        let late = event.answered - change;
        if late >= 2_000_000 {
            let change = DateTime::from_timestamp_micros(change).unwrap();
            let event = format!("the Event came ({read:#?} {event:#?})");
            too_late(&event, change, late as f64 / 1e6, 2.0);
        }
    }
    assert_eq!(count(team, name), 1);
    reported
}

/// Asserts that no revert was reported.
pub(super) fn assert_never_reported(team: &TestNamespace<'_>, name: &str) {
    assert_eq!(count(team, name), 0);
}

fn count(team: &TestNamespace<'_>, name: &str) -> usize {
    let all = team.events(name).into_iter();
    all.filter(|(reason, _)| reason == "Reverted").count()
}

/// The output of `dayshift status`.
pub(super) fn status(team: &TestNamespace<'_>) -> String {
    team.plane()
        .shell(&format!("dayshift status -n {}", team.name()))
        .stdout
}
