//! Whether the server's history goes on from what is known of it.
//!
//! etcd restored from a backup counts on from the backup's revision, and a watch that begins at a
//! later one shows nothing until that is reached again (Kubernetes' own clients then stand still).
//! What the server answers to a request of ours gives it away, and where a watch goes on early one is
//! made for that.

use std::{collections::HashMap, time::Duration};

use tokio::time::Instant;

use crate::{cluster::Version, workload::Kind};

/// Everything is listed anew no more often than this: two servers that know different histories may
/// take turns.
const RELIST_INTERVAL: Duration = Duration::from_secs(60);

/// A question that was not answered is asked again after this.
const AGAIN_AFTER: Duration = Duration::from_secs(5);

/// The newest version of each kind, and whether the server has fallen behind it.
#[derive(Default)]
pub(in crate::controller) struct History {
    newest: HashMap<Kind, Version>,
    went_back: bool,
    relisted_at: Option<Instant>,
    /// What the server is to be asked, and when.
    question: Option<(VersionQuestion, Instant)>,
}

/// How far is the server, which may have an older history than the watch of a kind that goes on?
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::controller) struct VersionQuestion {
    pub(in crate::controller) kind: Kind,
    /// In which namespace it is watched; all where none is named.
    pub(in crate::controller) namespace: Option<String>,
    /// From where the watch goes on.
    pub(in crate::controller) version: Version,
}

/// What was known when a write was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::controller) struct KnownVersions {
    /// The version of the object that is written to.
    pub(in crate::controller) object: Version,
    /// The newest version of its kind that a watch had shown.
    pub(in crate::controller) newest: Version,
}

impl History {
    /// A watch shows this version of an object.
    pub(in crate::controller) fn note_shown(&mut self, kind: Kind, version: Version) {
        let newest = self.newest.entry(kind).or_default();
        if *newest == Version::default() || newest.is_before(version) {
            *newest = version;
        }
    }

    /// What is known now, where an object of this kind is known in this version.
    pub(in crate::controller) fn known(&self, kind: Kind, object: Version) -> KnownVersions {
        let newest = self.newest.get(&kind).copied().unwrap_or_default();
        KnownVersions { object, newest }
    }

    /// A write of ours has made this version of an object. It is newer than all that was known when
    /// the write was sent, unless the write has changed nothing; it may well be older than what was
    /// shown while it was under way.
    pub(in crate::controller) fn note_write(&mut self, version: Version, known: KnownVersions) {
        self.went_back |= version.is_before(known.newest) && version != known.object;
    }

    /// The server has answered with this version of something that is known in another.
    pub(in crate::controller) fn note_answer(&mut self, version: Version, known: Version) {
        self.went_back |= version.is_before(known);
    }

    /// A watch goes on early: the server is asked how far it is. One stands for all: they are broken
    /// together.
    pub(in crate::controller) fn ask(&mut self, question: VersionQuestion, now: Instant) {
        self.question = Some((question, now));
    }

    /// The server has not answered.
    pub(in crate::controller) fn ask_again(&mut self, question: VersionQuestion, now: Instant) {
        self.question.get_or_insert((question, now + AGAIN_AFTER));
    }

    /// When the server is to be asked how far it is.
    pub(in crate::controller) fn next_question(&self) -> Option<Instant> {
        self.question.as_ref().map(|(_, at)| *at)
    }

    /// What the server is to be asked now.
    pub(in crate::controller) fn take_question(&mut self, now: Instant) -> Option<VersionQuestion> {
        let (question, _) = self.question.take_if(|(_, at)| *at <= now)?;
        Some(question)
    }

    /// Whether everything is to be listed anew now, because the history went back. What is shown
    /// from then on counts.
    pub(in crate::controller) fn take_relist(&mut self, now: Instant) -> bool {
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
        history.note_shown(KIND, version(newest));
        history
    }

    #[test]
    fn a_write_before_what_was_shown_is_of_an_older_history() {
        for (written, expected) in [
            (91, false),
            (80, false), // it has changed nothing
            (89, true),
            (7, true),
        ] {
            let mut history = shown(90);
            history.note_shown(KIND, version(80));
            let known = history.known(KIND, version(80));
            history.note_shown(KIND, version(92)); // while the write was under way
            history.note_write(version(written), known);
            assert_eq!(history.take_relist(Instant::now()), expected, "{written}");
        }
    }

    #[test]
    fn a_kind_of_which_nothing_was_shown_says_nothing() {
        let mut history = shown(90);
        let known = history.known(Kind::STATEFUL_SET, version(6));
        history.note_write(version(7), known);
        assert!(!history.take_relist(Instant::now()));
    }

    #[test]
    fn everything_is_listed_once_a_minute_at_most_and_counts_from_then_on() {
        let (mut history, mut now) = (shown(90), Instant::now());
        history.note_answer(version(8), version(9));
        assert!(history.take_relist(now) && !history.take_relist(now));
        let known = history.known(KIND, version(7));
        history.note_write(version(8), known);
        now += RELIST_INTERVAL;
        assert!(!history.take_relist(now), "nothing was shown since");
        history.note_answer(version(8), version(9));
        assert!(history.take_relist(now));
        history.note_answer(version(8), version(9));
        assert!(!history.take_relist(now), "so soon");
        assert!(history.take_relist(now + RELIST_INTERVAL));
    }
}
