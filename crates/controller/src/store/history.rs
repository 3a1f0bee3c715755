//! Whether the server's history continues from the known one.
//!
//! etcd restored from a backup continues from the backup's revision, and a watch that begins at a
//! later one shows nothing until the server reaches it again (Kubernetes' own clients stand still
//! meanwhile). The responses to our requests reveal that, and if a watch continues earlier than usual
//! the controller sends a request for that purpose.

use std::{collections::HashMap, time::Duration};

use dayshift_cluster::decode::Version;
use dayshift_workload::Kind;

use crate::object::rare::KnownVersions;

/// The least time between two relists of everything: two servers with different histories may take
/// turns.
const RELIST_INTERVAL: Duration = Duration::from_secs(60);

/// When a question without a response is asked again.
const AGAIN_AFTER: Duration = Duration::from_secs(5);

/// The newest version of each kind, and whether the server has fallen behind it.
#[derive(Default)]
pub(crate) struct History {
    newest: HashMap<Kind, Version>,
    went_back: bool,
    relisted_at: Option<Duration>,
    /// The next question to the server, and when.
    question: Option<(VersionQuestion, Duration)>,
}

/// Asks how far the server is: its history may be older than the watch of a kind that continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VersionQuestion {
    pub(crate) kind: Kind,
    /// The namespace of the watch; `None` for all.
    pub(crate) namespace: Option<String>,
    /// The version from which the watch continues.
    pub(crate) version: Version,
}

impl History {
    /// A watch shows this version of an object.
    pub(crate) fn note_shown(&mut self, kind: &Kind, version: Version) {
        let newest = self.newest.entry(kind.clone()).or_default();
        if *newest == Version::default() || newest.is_before(version) {
            *newest = version;
        }
    }

    /// The versions that are known now, given that of an object of this kind.
    pub(crate) fn known(&self, kind: &Kind, object: Version) -> KnownVersions {
        let newest = self.newest.get(kind).copied().unwrap_or_default();
        KnownVersions { object, newest }
    }

    /// A write of ours has made this version of an object. It is newer than every version known
    /// when the write was sent, unless the write changed nothing; it may be older than versions
    /// shown meanwhile.
    pub(crate) fn note_write(&mut self, version: Version, known: KnownVersions) {
        self.went_back |= version.is_before(known.newest) && version != known.object;
    }

    /// The server has responded with this version of an object that is known in another.
    pub(crate) fn note_response(&mut self, version: Version, known: Version) {
        self.went_back |= version.is_before(known);
    }

    /// The server has not responded.
    pub(crate) fn ask_again(&mut self, question: VersionQuestion, now: Duration) {
        self.ask(question, now + AGAIN_AFTER);
    }

    /// A watch continues earlier than usual: asks how far the server is. One question is asked for
    /// all watches, which break together: that of the newest version. A server that has fallen
    /// behind the newest may be ahead of a kind that seldom changes.
    pub(crate) fn ask(&mut self, question: VersionQuestion, at: Duration) {
        self.question = Some(match self.question.take() {
            None => (question, at),
            Some((other, due)) if other.version.is_before(question.version) => {
                (question, at.min(due))
            }
            Some((other, due)) => (other, at.min(due)),
        });
    }

    /// When to ask the server how far it is.
    pub(crate) fn next_question(&self) -> Option<Duration> {
        self.question.as_ref().map(|(_, at)| *at)
    }

    /// Takes the question to ask now.
    pub(crate) fn take_question(&mut self, now: Duration) -> Option<VersionQuestion> {
        let (question, _) = self.question.take_if(|(_, at)| *at <= now)?;
        Some(question)
    }

    /// Whether to list everything again now, because the history went back. Versions shown from then
    /// on count.
    pub(crate) fn take_relist(&mut self, now: Duration) -> bool {
        let is_soon = self
            .relisted_at
            .is_some_and(|at| now < at + RELIST_INTERVAL);
        if !self.went_back || is_soon {
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

    fn version(number: u32) -> Version {
        Version::parse(&number.to_string())
    }

    /// A history of which this version was shown.
    fn shown(newest: u32) -> History {
        let mut history = History::default();
        history.note_shown(&KIND, version(newest));
        history
    }

    #[test]
    fn a_write_older_than_a_shown_version_is_of_an_older_history() {
        for (written, expected) in [
            (91, false),
            (80, false), // it has changed nothing
            (89, true),
            (7, true),
        ] {
            let mut history = shown(90);
            history.note_shown(&KIND, version(80));
            let known = history.known(&KIND, version(80));
            history.note_shown(&KIND, version(92)); // while the write was under way
            history.note_write(version(written), known);
            assert_eq!(
                history.take_relist(Duration::from_secs(100)),
                expected,
                "{written}"
            );
        }
    }

    #[test]
    fn a_kind_of_which_nothing_was_shown_does_not_count() {
        let mut history = shown(90);
        let known = history.known(&Kind::STATEFUL_SET, version(6));
        history.note_write(version(7), known);
        assert!(!history.take_relist(Duration::from_secs(100)));
    }

    /// A watch of CronJobs that seldom change continues from 40; the server was restored at 70 and
    /// Deployments were known up to 100.
    #[test]
    fn the_question_of_the_newest_watch_is_asked() {
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
                history.ask(question(number), now);
            }
            assert_eq!(
                history.take_question(now),
                Some(question(100)),
                "{versions:?}"
            );

            history.ask_again(question(100), now);
            assert_eq!(history.next_question(), Some(later));
            history.ask(question(40), now);
            assert_eq!(history.take_question(now), Some(question(100)), "at once");

            history.ask(question(100), now);
            history.ask_again(question(40), now);
            assert_eq!(history.take_question(now), Some(question(100)));
            assert_eq!(history.take_question(later), None);
        }
    }

    #[test]
    fn everything_is_listed_again_at_most_once_a_minute() {
        let (mut history, mut now) = (shown(90), Duration::from_secs(100));
        history.note_response(version(8), version(9));
        assert!(history.take_relist(now) && !history.take_relist(now));
        let known = history.known(&KIND, version(7));
        history.note_write(version(8), known);
        now += RELIST_INTERVAL;
        assert!(!history.take_relist(now), "nothing was shown since");
        history.note_response(version(8), version(9));
        assert!(history.take_relist(now));
        history.note_response(version(8), version(9));
        assert!(!history.take_relist(now), "so soon");
        assert!(history.take_relist(now + RELIST_INTERVAL));
    }
}
