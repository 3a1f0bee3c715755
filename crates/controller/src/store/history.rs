//! Detects resourceVersion rollbacks: etcd was restored from a backup.
//!
//! Then the server continues from the revision of the backup. A watch from a later revision shows nothing
//! until the server reaches that revision again, and the clients of Kubernetes itself wait too. Responses
//! to writes and reads show a rollback. If a watch fails or ends before its requested duration,
//! the controller also requests the current version of the server when it resumes the watch.

use std::{collections::HashMap, time::Duration};

use dayshift_cluster::decode::Version;
use dayshift_workload::Kind;

use crate::{ids::WatchId, object::rare::KnownVersions};

/// The minimum time between two relists. Without it, two servers with different histories behind one
/// address could cause a relist with each response.
const RELIST_INTERVAL: Duration = Duration::from_secs(60);

/// The delay before a version question without a response is sent again.
const AGAIN_AFTER: Duration = Duration::from_secs(5);

/// The newest observed version of each watch, and whether a response has shown a rollback.
#[derive(Default)]
pub(crate) struct History {
    /// The watch of one namespace can be ahead of that of another, and the response to a patch that changes nothing
    /// has the version of an earlier change by a user. So a write is compared only with the watch of its object.
    newest: HashMap<WatchId, Version>,
    has_rolled_back: bool,
    relisted_at: Option<Duration>,
    /// The next question to the server, and the elapsed time at which to send it.
    question: Option<(VersionQuestion, Duration)>,
}

/// A question to the server for its current version, to compare it with the version of a resumed watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VersionQuestion {
    pub(crate) kind: Kind,
    /// The namespace of the watch; `None` for all namespaces.
    pub(crate) namespace: Option<String>,
    /// The version from which the watch was resumed.
    pub(crate) version: Version,
}

impl History {
    /// Records the version of an object from a watch.
    pub(crate) fn record_observed(&mut self, watch: WatchId, version: Version) {
        let newest = self.newest.entry(watch).or_default();
        if *newest == Version::default() || newest.is_before(version) {
            *newest = version;
        }
    }

    /// The known versions to compare with the response to a write: that of the object, and the newest
    /// one of its watch.
    pub(crate) fn known(&self, watch: WatchId, object: Version) -> KnownVersions {
        let newest = self.newest.get(&watch).copied().unwrap_or_default();
        KnownVersions { object, newest }
    }

    /// Records the version in the response to a write. Without a rollback, it is newer than all
    /// versions that were known when the write was sent, unless the write has changed nothing.
    pub(crate) fn record_write(&mut self, version: Version, known: KnownVersions) {
        self.has_rolled_back |= version.is_before(known.newest) && version != known.object;
    }

    /// Records a version in a response, and the known version that it should not be older than.
    pub(crate) fn record_response(&mut self, version: Version, known: Version) {
        self.has_rolled_back |= version.is_before(known);
    }

    /// Plans a question again, because the server has not responded.
    pub(crate) fn plan_question_again(&mut self, question: VersionQuestion, now: Duration) {
        self.plan_question(question, now + AGAIN_AFTER);
    }

    /// Plans a question at `at`, because a watch was resumed. Watches are usually interrupted together,
    /// so only the question with the newest version is sent: a server that was rolled back might still
    /// be ahead of a kind that seldom changes.
    pub(crate) fn plan_question(&mut self, question: VersionQuestion, at: Duration) {
        self.question = Some(match self.question.take() {
            None => (question, at),
            Some((other, due)) if other.version.is_before(question.version) => {
                (question, at.min(due))
            }
            Some((other, due)) => (other, at.min(due)),
        });
    }

    /// When to send the next question.
    pub(crate) fn next_question(&self) -> Option<Duration> {
        self.question.as_ref().map(|(_, at)| *at)
    }

    /// Takes the question if it is due.
    pub(crate) fn take_question(&mut self, now: Duration) -> Option<VersionQuestion> {
        let (question, _) = self.question.take_if(|(_, at)| *at <= now)?;
        Some(question)
    }

    /// Whether all objects should be listed again, because of a rollback. If so, forgets all versions.
    pub(crate) fn take_relist(&mut self, now: Duration) -> bool {
        let is_soon = self
            .relisted_at
            .is_some_and(|at| now < at + RELIST_INTERVAL);
        if !self.has_rolled_back || is_soon {
            return false;
        }
        *self = Self {
            relisted_at: Some(now),
            ..Self::default()
        };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind = Kind::DEPLOYMENT;
    const WATCH: WatchId = 1;

    fn version(number: u32) -> Version {
        Version::parse(&number.to_string())
    }

    /// A history in which this version was observed.
    fn with_observed(newest: u32) -> History {
        let mut history = History::default();
        history.record_observed(WATCH, version(newest));
        history
    }

    #[test]
    fn a_write_with_an_older_version_than_known_shows_a_rollback() {
        for (written, expected) in [
            (91, false),
            (80, false), // it has changed nothing
            (89, true),
            (7, true),
        ] {
            let mut history = with_observed(90);
            history.record_observed(WATCH, version(80));
            let known = history.known(WATCH, version(80));
            history.record_observed(WATCH, version(92)); // while the write was in flight
            history.record_write(version(written), known);
            assert_eq!(
                history.take_relist(Duration::from_secs(100)),
                expected,
                "{written}"
            );
        }
    }

    /// Of different kinds, or of different namespaces.
    #[test]
    fn versions_of_different_watches_are_not_compared_after_a_write() {
        let mut history = with_observed(90);
        let known = history.known(WATCH + 1, version(6));
        history.record_write(version(7), known);
        assert!(!history.take_relist(Duration::from_secs(100)));
    }

    /// For example, the watch of CronJobs, which seldom change, is resumed from 40, the server was
    /// restored at 70, and Deployments were known up to 100.
    #[test]
    fn only_the_question_with_the_newest_version_is_sent() {
        let question = |number| VersionQuestion {
            kind: KIND,
            namespace: None,
            version: version(number),
        };
        let now = Duration::from_secs(100);
        let later = now + AGAIN_AFTER;
        for versions in [[100, 40, 70], [40, 100, 70], [40, 70, 100]] {
            let mut history = History::default();
            for number in versions {
                history.plan_question(question(number), now);
            }
            assert_eq!(
                history.take_question(now),
                Some(question(100)),
                "{versions:?}"
            );

            history.plan_question_again(question(100), now);
            assert_eq!(history.next_question(), Some(later));
            history.plan_question(question(40), now);
            assert_eq!(history.take_question(now), Some(question(100)), "at once");

            history.plan_question(question(100), now);
            history.plan_question_again(question(40), now);
            assert_eq!(history.take_question(now), Some(question(100)));
            assert_eq!(history.take_question(later), None);
        }
    }

    #[test]
    fn everything_is_listed_again_at_most_once_a_minute() {
        let (mut history, mut now) = (with_observed(90), Duration::from_secs(100));
        history.record_response(version(8), version(9));
        assert!(history.take_relist(now) && !history.take_relist(now));
        let known = history.known(WATCH, version(7));
        history.record_write(version(8), known);
        now += RELIST_INTERVAL;
        assert!(!history.take_relist(now), "no version is known");
        history.record_response(version(8), version(9));
        assert!(history.take_relist(now));
        history.record_response(version(8), version(9));
        assert!(!history.take_relist(now), "too soon");
        assert!(history.take_relist(now + RELIST_INTERVAL));
    }
}
