//! What dayshift says of who has put a count back, and what it cost to know.

use chrono::DateTime;

use crate::e2e::test_namespace::TestNamespace;
use crate::support::{Request, eventually, too_late};

/// Asserts that the controller has read the Deployment once after the last change by somebody else,
/// and told who it was within 2 s; returns what it told.
pub(super) fn told_once(team: &TestNamespace<'_>, name: &str) -> String {
    let told = team.await_event(name, "Reverted");
    let changes = team.changes_by_others();
    let change = changes.last().map(|it| it.answered);
    // The server's log may be a moment behind.
    let (read, event) = eventually("the read and the Event are in the log", || {
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
            let what = format!("the Event came ({read:#?} {event:#?})");
            too_late(&what, change, late as f64 / 1e6, 2.0);
        }
    }
    assert_eq!(count(team, name), 1);
    told
}

/// Asserts that nobody was told to have put it back.
pub(super) fn never_told(team: &TestNamespace<'_>, name: &str) {
    assert_eq!(count(team, name), 0);
}

fn count(team: &TestNamespace<'_>, name: &str) -> usize {
    let all = team.events(name).into_iter();
    all.filter(|(reason, _)| reason == "Reverted").count()
}

/// What `dayshift status` shows.
pub(super) fn status(team: &TestNamespace<'_>) -> String {
    team.plane()
        .shell(&format!("dayshift status -n {}", team.name()))
        .stdout
}
